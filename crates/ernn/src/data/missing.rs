//! Missing values: refused, or filled channel by channel within each sequence.
//!
//! `interpolate` draws a straight line between the neighbours in time and holds the nearest value at both ends; `previous`
//! repeats the last value seen (the first one seen at the beginning); `zero` writes 0, before normalization.

use std::fmt;
use std::str::FromStr;

use super::raw::Raw;
use crate::{Error, Result};

/// What to do about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPolicy {
    /// An error that says how many there are and where the first one is.
    #[default]
    Refuse,
    /// A straight line between the neighbours in time.
    Interpolate,
    /// The last value seen.
    Previous,
    /// Zero, in the units of the file.
    Zero,
}

impl MissingPolicy {
    const ALL: [(MissingPolicy, &str); 4] = [
        (MissingPolicy::Refuse, "refuse"),
        (MissingPolicy::Interpolate, "interpolate"),
        (MissingPolicy::Previous, "previous"),
        (MissingPolicy::Zero, "zero"),
    ];
}

impl fmt::Display for MissingPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (_, name) = Self::ALL
            .iter()
            .find(|(policy, _)| policy == self)
            .unwrap_or(&Self::ALL[0]);
        formatter.pad(name)
    }
}

impl FromStr for MissingPolicy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found
            .map(|&(policy, _)| policy)
            .ok_or_else(|| Error::setting("missing", text, "refuse, interpolate, previous or zero"))
    }
}

/// Fills the NaNs of a part and remembers where they were; or refuses.
pub(crate) fn fill(raw: &mut Raw, policy: MissingPolicy) -> Result<()> {
    let values = raw.part.values.numbers().iter().enumerate();
    let gaps: Vec<usize> = values
        .filter(|(_, value)| value.is_nan())
        .map(|(position, _)| position)
        .collect();
    if gaps.is_empty() {
        return Ok(());
    }
    match policy {
        MissingPolicy::Refuse => {
            return Err(Error::Missing {
                path: raw.path.clone(),
                place: raw.first_missing.clone().unwrap_or_default(),
                count: gaps.len(),
            });
        }
        MissingPolicy::Zero => gaps.iter().for_each(|&position| raw.part.numbers_mut()[position] = 0.0),
        MissingPolicy::Interpolate | MissingPolicy::Previous => fill_channels(raw, policy)?,
    }
    raw.part.filled = gaps;
    Ok(())
}

fn fill_channels(raw: &mut Raw, policy: MissingPolicy) -> Result<()> {
    let features = raw.part.features;
    let mut channel = Vec::new();
    for sequence in 0..raw.part.len() {
        let range = raw.part.offsets[sequence] * features..raw.part.offsets[sequence + 1] * features;
        for feature in 0..features {
            let values = &mut raw.part.numbers_mut()[range.clone()];
            channel.clear();
            channel.extend(values.iter().skip(feature).step_by(features).copied());
            if !channel.iter().any(|value| value.is_nan()) {
                continue;
            }
            if channel.iter().all(|value| value.is_nan()) {
                return Err(nothing_known(raw, sequence, feature));
            }
            fill_channel(&mut channel, policy);
            let slots = values.iter_mut().skip(feature).step_by(features);
            slots.zip(&channel).for_each(|(slot, &value)| *slot = value);
        }
    }
    Ok(())
}

fn nothing_known(raw: &Raw, sequence: usize, feature: usize) -> Error {
    let name = raw
        .names
        .get(sequence)
        .cloned()
        .unwrap_or_else(|| (sequence + 1).to_string());
    let place = format!(", sequence {name}, {}", raw.feature_names[feature]);
    let expected = "at least one to fill the others from, or --missing zero";
    Error::format(&raw.path, place, "only missing values", expected)
}

/// One channel of one sequence, which has at least one value.
fn fill_channel(channel: &mut [f32], policy: MissingPolicy) {
    let mut before = None;
    let mut step = 0;
    while step < channel.len() {
        if !channel[step].is_nan() {
            before = Some(step);
            step += 1;
            continue;
        }
        let after = (step..channel.len()).find(|&later| !channel[later].is_nan());
        let end = after.unwrap_or(channel.len());
        for gap in step..end {
            channel[gap] = match (before, after) {
                (Some(left), Some(right)) if policy == MissingPolicy::Interpolate => {
                    let weight = (gap - left) as f64 / (right - left) as f64;
                    let (left, right) = (f64::from(channel[left]), f64::from(channel[right]));
                    (left + (right - left) * weight) as f32
                }
                (Some(left), _) => channel[left],
                (None, Some(right)) => channel[right],
                (None, None) => 0.0,
            };
        }
        step = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    fn filled(values: &[f32], policy: MissingPolicy) -> Vec<f32> {
        let mut values = values.to_vec();
        fill_channel(&mut values, policy);
        values
    }

    #[test]
    fn channels_are_filled_in_time() {
        let holes = [GAP, 1.0, GAP, GAP, 4.0, GAP];
        assert_eq!(
            filled(&holes, MissingPolicy::Interpolate),
            [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]
        );
        assert_eq!(filled(&holes, MissingPolicy::Previous), [1.0, 1.0, 1.0, 1.0, 4.0, 4.0]);
        assert_eq!(
            filled(&[-3e38, GAP, 3e38], MissingPolicy::Interpolate),
            [-3e38, 0.0, 3e38]
        );
    }

    fn raw() -> Raw {
        let mut raw = Raw::new("holes.csv".as_ref(), 2);
        raw.first_missing = Some(", line 3, column \"x\"".to_owned());
        raw.part.push(&[1.0, 5.0, GAP, 6.0, 3.0, GAP], None, None);
        raw.part.push(&[7.0, 8.0], None, None);
        raw
    }

    #[test]
    fn every_policy() {
        let error = raw().finish(MissingPolicy::Refuse).unwrap_err().to_string();
        assert_eq!(
            error,
            "holes.csv, line 3, column \"x\": the first of 2 missing values; choose --missing interpolate, previous or \
             zero to fill them"
        );
        for (policy, values) in [
            (MissingPolicy::Interpolate, [1.0, 5.0, 2.0, 6.0, 3.0, 6.0, 7.0, 8.0]),
            (MissingPolicy::Previous, [1.0, 5.0, 1.0, 6.0, 3.0, 6.0, 7.0, 8.0]),
            (MissingPolicy::Zero, [1.0, 5.0, 0.0, 6.0, 3.0, 0.0, 7.0, 8.0]),
        ] {
            let raw = raw().finish(policy).unwrap();
            assert_eq!(raw.part.values.numbers(), values, "{policy}");
            assert_eq!(raw.part.filled, [2, 5], "{policy}");
        }
    }

    #[test]
    fn a_channel_without_any_value_cannot_be_interpolated() {
        let mut raw = raw();
        raw.part.push(&[1.0, GAP], None, None);
        let error = raw.clone().finish(MissingPolicy::Previous).unwrap_err().to_string();
        assert!(
            error.starts_with("holes.csv, sequence 3, channel 2: found only missing values"),
            "{error}"
        );
        assert!(raw.finish(MissingPolicy::Zero).is_ok());
    }

    #[test]
    fn names_of_policies() {
        for (policy, name) in MissingPolicy::ALL {
            assert_eq!(name.parse::<MissingPolicy>().unwrap(), policy);
            assert_eq!(policy.to_string(), name);
        }
        let error = "drop".parse::<MissingPolicy>().unwrap_err().to_string();
        assert_eq!(
            error,
            "missing: found drop, expected refuse, interpolate, previous or zero"
        );
    }
}
