//! How a model of sequences listens to a stream without an end: windows, and when what it says of them is an event.

use ernn_core::listen::Rule;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How a stream without an end becomes windows, and their answers events: [`ernn_core::listen`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listening {
    /// Steps of a window.
    pub window: usize,
    /// Steps from the beginning of a window to that of the next.
    pub hop: usize,
    /// Windows whose probabilities are averaged.
    pub average: u16,
    /// The averaged probability from which on an event begins.
    pub on: f64,
    /// The averaged probability below which it ends.
    pub off: f64,
    /// Windows in a row that it takes to begin.
    pub least: u16,
    /// Windows after an event in which none begins.
    pub rest: u16,
    /// Classes that are no events, such as the background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
    /// What it gave on the recordings that chose it; none: it was not chosen by recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<WorkingPoint>,
}

/// What a way of listening gave on recordings with known events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingPoint {
    /// Hours of the recordings.
    pub hours: f64,
    /// Events in them.
    pub events: usize,
    /// Events that were told.
    pub found: usize,
    /// Events that were told and were none, an hour.
    pub false_alarms_per_hour: f64,
    /// Median of the seconds from the end of an event that was found to its telling; less than 0 before its end.
    pub latency: f64,
}

/// Names of classes that are no events, wherever they occur.
const BACKGROUND: [&str; 8] = [
    "background",
    "_background_",
    "silence",
    "_silence_",
    "noise",
    "unknown",
    "_unknown_",
    "other",
];

/// Windows under way at a time.
const MOST_COPIES: usize = 1024;

impl Listening {
    /// Windows of so many steps, four of them under way at a time, without any recording to choose the rest by.
    pub fn of_window(window: usize, classes: &[String]) -> Self {
        let background = classes
            .iter()
            .filter(|class| BACKGROUND.contains(&class.to_lowercase().as_str()));
        Listening {
            window,
            hop: window.div_ceil(4),
            average: 2,
            on: 0.7,
            off: 0.4,
            least: 1,
            rest: 4,
            background: background.cloned().collect(),
            chosen: None,
        }
    }

    /// For each of these classes whether it is an event.
    pub fn events_of(&self, classes: &[String]) -> Vec<bool> {
        classes.iter().map(|class| !self.background.contains(class)).collect()
    }

    /// The rule in whole numbers.
    pub fn rule<'a>(&self, is_event: &'a [bool]) -> Rule<'a> {
        let whole = |share: f64| (share * 32_768.0).round().clamp(0.0, 32_768.0) as u16;
        Rule {
            average: self.average.max(1),
            on: whole(self.on),
            off: whole(self.off.min(self.on)),
            least: self.least.max(1),
            rest: self.rest,
            is_event,
        }
    }

    /// # Errors
    /// If a number is out of range, or a class that is no event is none of the model's.
    pub fn check(&self, classes: &[String]) -> Result<()> {
        let refuse =
            |name: &str, found: &dyn std::fmt::Display, expected: &str| Err(Error::setting(name, found, expected));
        let longest = u32::MAX as usize;
        match self {
            _ if !(1..=longest).contains(&self.window) => refuse("window", &self.window, "at least 1 step"),
            _ if !(1..=self.window).contains(&self.hop) => refuse(
                "hop",
                &self.hop,
                &format!("1 to the {} steps of the window", self.window),
            ),
            _ if self.window.div_ceil(self.hop) > MOST_COPIES => {
                let least = self.window.div_ceil(MOST_COPIES);
                let expected = format!("at least {least}: each window under way, {MOST_COPIES} at most, is a state");
                refuse("hop", &self.hop, &expected)
            }
            _ if !(0.0..=1.0).contains(&self.on) => refuse("on", &self.on, "a probability from 0 to 1"),
            _ if !(0.0..=self.on).contains(&self.off) => {
                refuse("off", &self.off, &format!("0 to {}, where events begin", self.on))
            }
            _ => match self.background.iter().find(|class| !classes.contains(class)) {
                Some(class) => refuse(
                    "background",
                    class,
                    &format!("classes of the model: {}", classes.join(", ")),
                ),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let classes = ["walk".to_string(), "Silence".to_string()];
        let right = Listening::of_window(10, &classes);
        assert_eq!((right.hop, &right.background[..]), (3, &classes[1..]));
        right.check(&classes).unwrap();
        let refused = |change: fn(&mut Listening)| {
            let mut other = right.clone();
            change(&mut other);
            other.check(&classes).unwrap_err().to_string()
        };
        assert!(refused(|way| way.window = 0).starts_with("window: found 0"));
        assert!(refused(|way| way.hop = 11).starts_with("hop: found 11, expected 1 to the 10 steps"));
        assert!(
            refused(|way| (way.window, way.hop) = (1 << 20, 1)).starts_with("hop: found 1, expected at least 1024:")
        );
        assert!(refused(|way| way.on = f64::NAN).starts_with("on: found NaN"));
        assert!(refused(|way| way.off = 0.8).starts_with("off: found 0.8, expected 0 to 0.7"));
        assert!(refused(|way| way.background = vec!["run".to_string()]).starts_with("background: found run"));
        assert_eq!(right.rule(&[true, false]).on, 22_938);
    }
}
