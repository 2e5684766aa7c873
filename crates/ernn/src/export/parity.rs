//! Whether a device computes what the library computes.

use ernn_core::float;

use super::samples::Samples;
use super::unit::Unit;
use crate::checkpoint::SavedModel;
use crate::data::Task;
use crate::evaluate::for_streams;
use crate::{Error, Result};

/// Of a `f32` export: the largest difference of a logit that is allowed, as a share of the largest logit, or of 1.
///
/// Both add the same numbers in the same order; the library fuses products and additions, a device does not, so each sum differs in its
/// last bits, and recurrences carry that on.
pub const FLOAT_BOUND: f64 = 1e-3;

/// How near an export comes to the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Parity {
    /// Sequences that were compared.
    pub sequences: usize,
    /// Steps of them; the logits after each are compared.
    pub steps: usize,
    /// The largest difference of a logit, as a share of the largest logit there or of 1; of numbers in deviations of those trained on.
    pub largest_difference: f64,
    /// What is allowed.
    pub bound: f64,
    /// Sequences that end with another class, or with other labels.
    pub other_classes: usize,
    /// Whether several labels can hold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_labels: bool,
    /// Whether the model gives numbers, which have no class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_numbers: bool,
}

/// The logits of the library after every step, `[steps, outputs]`, for each sequence.
///
/// # Errors
/// If a value is not finite once it is normalized, or a token is not known.
pub(super) fn expected(saved: &SavedModel, samples: &Samples) -> Result<Vec<Vec<f32>>> {
    let mut runner = for_streams(&saved.model)?.runner();
    let mut all = Vec::with_capacity(samples.sequences.len());
    for (index, sequence) in samples.sequences.iter().enumerate() {
        runner.reset();
        let mut logits = Vec::new();
        for row in prepared(saved, sequence, index)? {
            logits.extend(runner.push(&row)?);
        }
        all.push(logits);
    }
    Ok(all)
}

/// The steps of a sequence as the first layer reads them.
fn prepared(saved: &SavedModel, sequence: &[f32], index: usize) -> Result<Vec<Vec<f32>>> {
    let problem = |problem: &str| Error::data("the sequences", format!("sequence {}: {problem}", index + 1));
    if let Some(embedding) = &saved.model.config().embedding {
        let known = |&token: &f32| match token as usize {
            token if token < embedding.vocabulary => Ok(saved.model.embed(&[token as u32])),
            token => Err(problem(&format!(
                "found token {token}, expected one below {}",
                embedding.vocabulary
            ))),
        };
        return sequence.iter().map(known).collect();
    }
    let deriver = saved.derivation.ready(saved.channels());
    let mut memory = deriver.memory();
    let steps = sequence.chunks_exact(saved.channels()).enumerate();
    let mut rows = steps.map(|(place, step)| deriver.step(place == 0, step, &mut memory));
    rows.try_fold(Vec::new(), |mut rows, mut row| {
        if !saved.normalization.apply_row(&mut row) {
            return Err(problem(
                "found a value that is not finite, or too far from the training data's mean",
            ));
        }
        rows.push(row);
        Ok(rows)
    })
}

/// Runs an image in `ernn-core` beside the library.
///
/// # Errors
/// If they differ by more than [`FLOAT_BOUND`], or the samples do not fit the model.
pub fn check_float(saved: &SavedModel, image: &[u8], samples: &Samples) -> Result<Parity> {
    let expected = expected(saved, samples)?;
    let found = device_logits(image, samples);
    let outputs = saved.model.config().classes;
    let parity = Parity::of(&expected, &found, outputs, Unit::of(saved).as_ref(), several(saved));
    parity.judged()?;
    Ok(parity)
}

/// The logits after every step, by `ernn-core`.
pub fn device_logits(image: &[u8], samples: &Samples) -> Vec<Vec<f32>> {
    let model = float::Model::parse(image).expect("an image that was just made");
    let sizes = model.sizes();
    let (mut values, mut scratch) = (vec![0.0; sizes.state], vec![0.0; sizes.scratch]);
    let mut session = float::Session::new(&model, &mut values).expect("a state of the model's size");
    let mut run = |sequence: &Vec<f32>| {
        session.reset();
        let mut all = Vec::new();
        for step in sequence.chunks_exact(samples.features) {
            let mut logits = vec![0.0; sizes.outputs];
            if model.reads_tokens() {
                session.push_token(&mut scratch, step[0] as usize)
            } else {
                session.push(&mut scratch, step)
            }
            .and_then(|()| session.logits(&mut scratch, &mut logits))
            .expect("samples that the library has taken");
            all.extend(logits);
        }
        all
    };
    samples.sequences.iter().map(&mut run).collect()
}

impl Parity {
    /// Compares logits `[steps, outputs]` of each sequence.
    pub(super) fn of(
        expected: &[Vec<f32>],
        found: &[Vec<f32>],
        outputs: usize,
        unit: Option<&Unit>,
        several: bool,
    ) -> Self {
        let mut parity = Parity {
            bound: FLOAT_BOUND,
            of_numbers: unit.is_some(),
            of_labels: several,
            sequences: expected.len(),
            ..Parity::default()
        };
        for (expected, found) in expected.iter().zip(found) {
            let mut steps = expected.chunks_exact(outputs).zip(found.chunks_exact(outputs));
            for (expected, found) in steps.clone() {
                parity.steps += 1;
                parity.largest_difference = parity.largest_difference.max(difference(expected, found, unit));
            }
            if let Some((expected, found)) = steps.next_back() {
                parity.other_classes += usize::from(!says_alike(expected, found, several));
            }
        }
        parity
    }

    fn judged(&self) -> Result<()> {
        // What is no number is no small difference either.
        if self.largest_difference <= self.bound {
            return Ok(());
        }
        let (what, of) = match self.of_numbers {
            true => ("numbers", "deviations"),
            false => ("logits", "of the largest"),
        };
        let problem = format!(
            "{what} that differ from the library's by {:.1e} {of}, expected at most {:.1e}; nothing was written",
            self.largest_difference, self.bound
        );
        Err(Error::data("the export", problem))
    }
}

/// Whether several of the model's outputs can hold.
pub(super) fn several(saved: &SavedModel) -> bool {
    saved.model.config().task == Task::MultiLabel
}

/// Whether two rows of logits say the same class, or the same labels where several can hold.
pub(super) fn says_alike(expected: &[f32], found: &[f32], several: bool) -> bool {
    match several {
        true => expected
            .iter()
            .zip(found)
            .all(|(expected, found)| (*expected >= 0.0) == (*found >= 0.0)),
        false => ernn_core::largest(expected) == ernn_core::largest(found),
    }
}

/// The largest difference of two rows of logits, as a share of the largest of them or of 1, or in a unit; infinite if one is no number.
pub(super) fn difference(expected: &[f32], found: &[f32], unit: Option<&Unit>) -> f64 {
    if let Some(unit) = unit {
        return unit.difference(expected, found);
    }
    let largest = expected
        .iter()
        .fold(1.0, |largest: f64, &value| largest.max(f64::from(value).abs()));
    let differences = expected.iter().zip(found);
    differences.fold(0.0, |most: f64, (&expected, &found)| {
        let difference = (f64::from(expected) - f64::from(found)).abs() / largest;
        if difference.is_nan() {
            f64::INFINITY
        } else {
            most.max(difference)
        }
    })
}
