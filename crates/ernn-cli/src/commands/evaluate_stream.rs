//! `ernn evaluate --stream`: a model of sequences listens to whole recordings; misses against false alarms an hour.

use std::path::{Path, PathBuf};

use clap::Args;
use ernn::checkpoint::{Listening, MODEL_FILE, SavedModel, WorkingPoint};
use ernn::data;
use ernn::evaluate::{Detection, Point};
use ernn::names;
use ernn::names::counted;
use ernn::train::PastRun;
use serde::Serialize;

use super::listening;
use crate::failure::{Failure, Result};
use crate::output::{self, say, timed};
use crate::reading::ReadingFlags;

/// What only a stream has.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Streams without an end")]
pub struct StreamFlags {
    /// Listen to whole recordings (DATA with --labels events.csv, or a label a row): events found and missed, false alarms an hour
    #[arg(long)]
    stream: bool,
    /// With --stream: choose thresholds that give at most so many false alarms an hour, and keep them in the model
    #[arg(long, value_name = "PER_HOUR", requires = "stream")]
    false_alarms: Option<f64>,
    /// With --stream: classes that are no events [default: those called background, silence, noise, unknown or other]
    #[arg(long, value_name = "CLASS,..", value_delimiter = ',', requires = "stream")]
    background: Vec<String>,
}

impl StreamFlags {
    /// Whether recordings are listened to.
    pub fn asked(&self) -> bool {
        self.stream
    }
}

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    recordings: usize,
    listening: &'a Listening,
    #[serde(flatten)]
    found: WorkingPoint,
    curve: Vec<Point>,
}

/// Listens and reports; with a bound of false alarms, keeps the way that was chosen.
pub fn run(
    model: &Path,
    saved: &SavedModel,
    data: &str,
    flags: &StreamFlags,
    reading: &ReadingFlags,
    json: bool,
) -> Result<()> {
    if let Some(most) = flags.false_alarms.filter(|most| !(most.is_finite() && *most >= 0.0)) {
        return Err(Failure::Usage(format!(
            "--false-alarms: found {most}, expected a number an hour, 0 or more"
        )));
    }
    let options = reading.as_for(saved)?.options();
    let [window, hop] = reading.spans();
    let run = PastRun::read(model).ok().flatten();
    let mut way = listening::of(saved, window, hop, &options, run.as_ref())?;
    if !flags.background.is_empty() {
        way.background.clone_from(&flags.background);
        way.check(&saved.classes)?;
    }
    let mut streams = timed("reading the data", || data::open_streams(Path::new(data), &options))?;
    streams
        .sequences
        .notes
        .iter()
        .for_each(|note| say(&format!("note: {}", names::line(note))));
    streams.rate = streams.rate.or(listening::rate(saved, &options));
    if let Some(order) = super::channel_order(saved, data, &streams.sequences.feature_names)? {
        streams.sequences.part.reorder(&order);
    }
    let detection = timed("listening", || Detection::of(saved, &way, &streams))?;
    if let Some(most) = flags.false_alarms {
        way = detection.choose(most);
    }
    let found = detection.measured(&way);
    let report = Report {
        model,
        recordings: streams.sequences.part.len(),
        listening: &way,
        found,
        curve: detection.curve(&way),
    };
    let text = match json {
        true => None,
        false => Some(text(&report, saved, listening::rate(saved, &options).or(streams.rate))),
    };
    // Kept before anything is printed: who reads the table may close the pipe.
    if let Some(most) = flags.false_alarms {
        keep(model, saved, &way, most, found)?;
    }
    match text {
        Some(text) => output::print(&text)?,
        None => output::print_json(&report)?,
    }
    Ok(())
}

/// Keeps the way that was chosen in the model's file.
fn keep(model: &Path, saved: &SavedModel, way: &Listening, most: f64, found: WorkingPoint) -> Result<()> {
    if found.false_alarms_per_hour > most {
        say(&format!(
            "warning: no way of listening has at most {most} false alarms an hour here; this is the quietest"
        ));
    }
    let path = if model.is_dir() {
        model.join(MODEL_FILE)
    } else {
        PathBuf::from(model)
    };
    let mut saved = saved.clone();
    saved.decision.listening = Some(way.clone());
    saved.save(&path)?;
    say(&format!(
        "kept in {}: `ernn predict {} --stream` and every export listen so; these figures are of the recordings that chose it",
        names::line(path.display().to_string()),
        names::line(model.display().to_string())
    ));
    Ok(())
}

fn text(report: &Report, saved: &SavedModel, rate: Option<f64>) -> String {
    let way = report.listening;
    let span = |steps: usize| match rate {
        Some(rate) => format!("{:.2} s", steps as f64 / rate),
        None => counted(steps, "step"),
    };
    let mut lines = vec![
        format!(
            "{}, {:.2} hours, {}; a window of {} each {}",
            counted(report.recordings, "recording"),
            report.found.hours,
            counted(report.found.events, "event"),
            span(way.window),
            span(way.hop)
        ),
        "threshold   found   false alarms an hour   latency".to_string(),
    ];
    lines.extend(report.curve.iter().map(|point| {
        format!(
            "{:>9.4} {:>6.1} % {:>21.2} {:>8.2} s",
            point.on,
            percent(&point.found),
            point.found.false_alarms_per_hour,
            point.found.latency
        )
    }));
    let found = &report.found;
    lines.push(format!(
        "listening with {}, from {:.4} on, until {:.4}, {} in a row, {} of rest: {} of {} found ({:.1} %), {:.2} false alarms an hour, \
         told {:.2} s after an event's end",
        match way.average {
            0 | 1 => "single windows".to_string(),
            average => format!("the mean of {average} windows"),
        },
        way.on,
        way.off,
        counted(usize::from(way.least), "window"),
        counted(usize::from(way.rest), "window"),
        found.found,
        found.events,
        percent(found),
        found.false_alarms_per_hour,
        found.latency
    ));
    if !way.background.is_empty() {
        lines.push(format!("no events: {}", names::line(way.background.join(", "))));
    } else if saved.classes.len() > 1 {
        lines.push(
            "every class is an event: a class of what is none (background, with --background) keeps false alarms away"
                .to_string(),
        );
    }
    lines.join("\n")
}

fn percent(found: &WorkingPoint) -> f64 {
    100.0 * found.found as f64 / found.events.max(1) as f64
}
