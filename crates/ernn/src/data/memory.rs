//! Sequences that a program holds in memory become a part, as those of a file do.

use std::path::Path;

use super::raw::Raw;
use super::{MissingPolicy, Part, Values};
use crate::{Error, Result};

/// A part of sequences one after the other in `values` `[steps of all, features]`; sequence `i` is the steps
/// `offsets[i]..offsets[i+1]`. Missing values are NaN and are treated as those of files; `source` names the sequences in errors.
///
/// # Errors
/// If there is no sequence, one has no step, there is no channel, the offsets do not fit the values, or values are missing and the
/// policy is to refuse them.
pub fn in_memory(
    source: &str,
    features: usize,
    offsets: Vec<usize>,
    values: Vec<f32>,
    policy: MissingPolicy,
) -> Result<Part> {
    let refuse = |problem: String| Err(Error::data(source, problem));
    if features == 0 {
        return refuse("found sequences of 0 channels, expected at least 1".to_owned());
    }
    let steps = offsets.last().copied().unwrap_or(0);
    if offsets.first() != Some(&0) || !offsets.is_sorted() || steps.checked_mul(features) != Some(values.len()) {
        let found = format!(
            "offsets up to {steps} for {} values of {features} channels",
            values.len()
        );
        return refuse(format!(
            "found {found}, expected offsets that rise from 0 to the number of steps"
        ));
    }
    if let Some(empty) = offsets.windows(2).position(|pair| pair[0] == pair[1]) {
        return refuse(format!("sequence {}: found 0 steps, expected at least 1", empty + 1));
    }
    let first_missing = values.iter().position(|value| value.is_nan()).map(|position| {
        let (step, channel) = (position / features, position % features + 1);
        let sequence = offsets.partition_point(|&offset| offset <= step);
        let step = step - offsets[sequence - 1] + 1;
        format!(", sequence {sequence}, step {step}, channel {channel} (NaN)")
    });
    let raw = Raw {
        part: Part {
            features,
            offsets,
            values: Values::Numbers(values),
            ..Part::default()
        },
        first_missing,
        ..Raw::new(Path::new(source), features)
    };
    Ok(raw.finish(policy)?.part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f32 = f32::NAN;

    fn refusal(features: usize, offsets: &[usize], values: &[f32]) -> String {
        let found = in_memory("X", features, offsets.to_vec(), values.to_vec(), MissingPolicy::Refuse);
        found.unwrap_err().to_string()
    }

    #[test]
    fn sequences_are_taken_as_they_are() {
        let part = in_memory("X", 2, vec![0, 1, 3], vec![1.0; 6], MissingPolicy::Refuse).unwrap();
        let mut expected = Part::new(2);
        expected.push(&[1.0; 2], None, None);
        expected.push(&[1.0; 4], None, None);
        assert_eq!(part, expected);
    }

    #[test]
    fn missing_values_are_refused_with_their_place_or_filled() {
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, NAN, 7.0, NAN];
        let error = refusal(2, &[0, 1, 4], &values);
        assert!(
            error.starts_with("X, sequence 2, step 2, channel 2 (NaN): the first of 2 missing"),
            "{error}"
        );
        let part = in_memory("X", 2, vec![0, 1, 4], values, MissingPolicy::Previous).unwrap();
        assert_eq!(
            (part.sequence(1), &part.filled[..]),
            (&[3.0, 4.0, 5.0, 4.0, 7.0, 4.0][..], &[5, 7][..])
        );
    }

    #[test]
    fn what_is_no_sequence_is_refused() {
        assert_eq!(refusal(1, &[0], &[]), "X: found no sequence, expected at least one");
        assert_eq!(
            refusal(1, &[0, 1, 1], &[1.0]),
            "X: sequence 2: found 0 steps, expected at least 1"
        );
        assert_eq!(
            refusal(0, &[0], &[]),
            "X: found sequences of 0 channels, expected at least 1"
        );
        for offsets in [&[][..], &[1, 2], &[0, 3], &[0, 2, 1]] {
            assert!(
                refusal(1, offsets, &[1.0, 2.0]).contains("expected offsets that rise"),
                "{offsets:?}"
            );
        }
    }
}
