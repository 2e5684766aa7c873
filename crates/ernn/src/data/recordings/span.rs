//! A length in steps or in time: `128`, `2.56s`, `250ms`, `30min`, `1h`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result};

const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("min", 60.0), ("h", 3600.0), ("s", 1.0)];
const EXPECTED: &str = "a whole number of steps such as 128, or a time such as 2.56s, 250ms, 5min or 1h, above 0";

/// A length in steps or in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Rows, or steps of the grid.
    Steps(usize),
    /// Seconds.
    Seconds(f64),
}

impl Span {
    /// The length in steps of a grid of `rate` steps a second, at least 1.
    ///
    /// # Errors
    /// If the length is a time and nobody knows the rate, or is less than half a step.
    pub fn steps(self, flag: &str, rate: Option<f64>) -> Result<usize> {
        let seconds = match self {
            Span::Steps(steps) => return Ok(steps),
            Span::Seconds(seconds) => seconds,
        };
        let Some(rate) = rate else {
            return Err(Error::setting(
                flag,
                self,
                "--rate with the steps a second, to count its steps",
            ));
        };
        match (seconds * rate).round() as usize {
            0 => Err(Error::setting(
                flag,
                self,
                format!("at least one step, {} s at {rate} Hz", 1.0 / rate),
            )),
            steps => Ok(steps),
        }
    }

    /// The length in seconds, where `step` is that of one step.
    pub(crate) fn seconds(self, step: f64) -> f64 {
        match self {
            Span::Steps(steps) => steps as f64 * step,
            Span::Seconds(seconds) => seconds,
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Span::Steps(steps) => write!(formatter, "{steps}"),
            Span::Seconds(seconds) => write!(formatter, "{seconds}s"),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let refused = || format!("found {text:?}, expected {EXPECTED}");
        let text = text.trim();
        let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
        let span = match unit {
            None => Span::Steps(text.parse().map_err(|_| refused())?),
            Some((unit, seconds)) => {
                let number = text[..text.len() - unit.len()].trim_end();
                Span::Seconds(number.parse::<f64>().map_err(|_| refused())? * seconds)
            }
        };
        match span {
            Span::Steps(1..) => Ok(span),
            Span::Seconds(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(span),
            _ => Err(refused()),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Span::Steps(steps) => serializer.serialize_u64(*steps as u64),
            Span::Seconds(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        /// What stands in a settings file.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Steps(usize),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Steps(0) => Err(D::Error::custom(format!("found 0, expected {EXPECTED}"))),
            Written::Steps(steps) => Ok(Span::Steps(steps)),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_steps_and_in_time() {
        for (text, span) in [
            ("128", Span::Steps(128)),
            ("2.56s", Span::Seconds(2.56)),
            ("250 ms", Span::Seconds(0.25)),
            ("2min", Span::Seconds(120.0)),
            ("1h", Span::Seconds(3600.0)),
        ] {
            assert_eq!(text.parse(), Ok(span), "{text}");
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for text in ["0", "-1", "1.5", "s", "-2s", "0ms", "1e999s", "12 days", ""] {
            let found = text.parse::<Span>().unwrap_err();
            assert!(found.contains(&format!("found {text:?}")), "{found}");
        }
    }

    #[test]
    fn a_time_needs_a_rate() {
        assert_eq!(Span::Seconds(2.56).steps("window", Some(50.0)).unwrap(), 128);
        assert_eq!(Span::Steps(7).steps("window", None).unwrap(), 7);
        let found = Span::Seconds(2.56).steps("window", None).unwrap_err().to_string();
        assert!(found.contains("--rate") && found.contains("2.56s"), "{found}");
        let found = Span::Seconds(0.001).steps("hop", Some(50.0)).unwrap_err().to_string();
        assert!(found.contains("at least one step"), "{found}");
    }
}
