//! What became of recordings, in numbers and in a sentence or two.

use std::fmt;

use super::clock::trimmed;
use crate::names::counted;

/// What became of the recordings of one part.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RecordingFacts {
    /// Recordings: series, persons or files.
    pub recordings: usize,
    /// Rows of all of them.
    pub rows: usize,
    /// Seconds from the first to the last row of each, added up without the gaps; none if nobody knows the times.
    pub seconds: Option<f64>,
    /// Rows a second, as they were found; none without times.
    pub found_rate: Option<f64>,
    /// Steps a second of the windows; none if nobody said.
    pub rate: Option<f64>,
    /// Times between two rows that were too long to fill.
    pub gaps: usize,
    /// The longest of them, in seconds.
    pub longest_gap: Option<f64>,
    /// Steps of a window; none if whole pieces are sequences.
    pub window: Option<usize>,
    /// Steps from a window to the next.
    pub hop: Option<usize>,
    /// Steps behind each window whose values are to be predicted; 0 where none are.
    #[serde(skip_serializing_if = "is_none")]
    pub horizon: usize,
    /// Windows that were kept.
    pub windows: usize,
    /// Windows left out because no label covers enough of them.
    pub mixed: usize,
    /// Windows left out because too much of them has no label.
    pub unlabelled: usize,
    /// Windows left out because they lie in two blocks of the only recording.
    pub across: usize,
    /// Pieces left out because they are shorter than a window.
    pub short: usize,
    /// Blocks of time that the only recording was divided into; 0 for several recordings.
    pub blocks: usize,
}

impl RecordingFacts {
    /// Sentences for a person: what there is, and what was left out and why.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.what()];
        all.extend(self.left_out());
        if self.blocks > 0 {
            all.push(format!(
                "one {}: {} of time that follow each other are its groups, and no split divides one; recordings of other persons or \
                 days would tell more",
                if self.recordings == 1 { "recording" } else { "group" },
                counted(self.blocks, "block")
            ));
        }
        all
    }

    fn what(&self) -> String {
        let mut text = counted(self.recordings, "recording");
        if let Some(seconds) = self.seconds {
            text += &format!(" of {} in all", duration(seconds));
        }
        text += &format!(", {}", counted(self.rows, "row"));
        match (self.found_rate, self.rate) {
            (Some(found), Some(rate)) if (found / rate - 1.0).abs() > 0.002 => {
                text += &format!(" at {} Hz, put onto {} Hz", trimmed(found, 2), trimmed(rate, 3));
            }
            (_, Some(rate)) => text += &format!(" at {} Hz", trimmed(rate, 3)),
            (Some(found), None) => text += &format!(" at about {} Hz", trimmed(found, 2)),
            (None, None) => {}
        }
        if let Some(longest) = self.longest_gap {
            text += &format!(", {} of up to {}", counted(self.gaps, "gap"), duration(longest));
        }
        text += &match (self.window, self.hop) {
            (Some(window), Some(hop)) => format!(
                "; {} of {window} steps{}{}, one every {hop}",
                counted(self.windows, "window"),
                self.rate
                    .map_or_else(String::new, |rate| format!(" ({} s)", trimmed(window as f64 / rate, 3))),
                match self.horizon {
                    0 => String::new(),
                    steps => format!(" and {} to predict", counted(steps, "step")),
                }
            ),
            _ => format!("; {}", counted(self.windows, "sequence")),
        };
        text
    }

    fn left_out(&self) -> Option<String> {
        let unlabelled = match self.horizon {
            0 => "without a label for enough of it",
            _ => "with a missing value to predict",
        };
        let short = match self.horizon {
            0 => "shorter than a window",
            _ => "shorter than a window and what follows it",
        };
        let reasons = [
            (self.mixed, "window", "in which no label covers enough"),
            (self.unlabelled, "window", unlabelled),
            (self.across, "window", "on the border of two blocks"),
            (self.short, "piece", short),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, what, why)| format!("{} {why}", counted(count, what)))
            .collect();
        (!reasons.is_empty()).then(|| format!("left out: {}", reasons.join(", ")))
    }
}

impl fmt::Display for RecordingFacts {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.sentences().join("\n"))
    }
}

fn is_none(steps: &usize) -> bool {
    *steps == 0
}

/// A time as a person says it.
fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{} s", trimmed(short, 2)),
        middle if middle < 7200.0 => format!("{} min", trimmed(middle / 60.0, 1)),
        long => format!("{} h", trimmed(long / 3600.0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_there_is_and_what_was_left_out() {
        let facts = RecordingFacts {
            recordings: 2,
            rows: 123_456,
            seconds: Some(9000.0),
            found_rate: Some(49.7),
            rate: Some(50.0),
            gaps: 1,
            longest_gap: Some(2.5),
            window: Some(128),
            hop: Some(64),
            windows: 1234,
            mixed: 7,
            short: 1,
            ..RecordingFacts::default()
        };
        assert_eq!(
            facts.sentences(),
            [
                "2 recordings of 2.5 h in all, 123,456 rows at 49.7 Hz, put onto 50 Hz, 1 gap of up to 2.5 s; 1,234 windows of 128 steps \
                 (2.56 s), one every 64",
                "left out: 7 windows in which no label covers enough, 1 piece shorter than a window"
            ]
        );
        let plain = RecordingFacts {
            recordings: 1,
            rows: 5,
            windows: 1,
            ..RecordingFacts::default()
        };
        assert_eq!(plain.to_string(), "1 recording, 5 rows; 1 sequence");
    }
}
