//! Whole numbers beside floating ones, on labeled sequences.

use ernn_core::int::math::SUM_PLACES;
use ernn_core::int::{Model, Session, State};
use ernn_core::largest;

use crate::Result;
use crate::checkpoint::SavedModel;
use crate::data::Task;
use crate::evaluate::{NumberAnswers, NumberReport};
use crate::export::unit::Unit;
use crate::export::{Samples, parity};

/// What an `int8` model says beside the library.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Accuracy {
    /// Sequences.
    pub sequences: usize,
    /// Of them, those for which both say the same class, or the same labels, at the end.
    pub alike: usize,
    /// Share of right classes in `f32`, of labels of sequences all of whose labels are right; none without labels.
    pub float: Option<f64>,
    /// The same in `int8`.
    pub int8: Option<f64>,
    /// Errors in `f32` and in `int8`, of numbers; none where the true ones are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<[NumberReport; 2]>,
    /// The largest difference of a logit at the end of a sequence, as a share of the largest there or of 1; of numbers in deviations.
    pub largest_difference: f64,
    /// Numbers that did not fit, over all steps.
    pub saturations: u64,
}

/// Runs both over all sequences.
///
/// # Errors
/// If the samples do not fit the model.
pub fn measure(saved: &SavedModel, image: &[u8], samples: &Samples) -> Result<Accuracy> {
    let outputs = saved.model.config().classes;
    let (unit, several) = (Unit::of(saved), parity::several(saved));
    let expected = parity::expected(saved, samples)?;
    let (found, saturations) = int_logits(image, samples);
    let last = |logits: &[f32]| logits[logits.len().saturating_sub(outputs)..].to_vec();
    let (mut right, mut accuracy) = ([0; 2], Accuracy::default());
    let mut said: [Vec<f32>; 2] = Default::default();
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let found = to_float(found, unit.as_ref());
        let (expected, found) = (last(expected), last(&found));
        let classes = [largest(&expected), largest(&found)];
        let labels = samples.indicators.get(index);
        accuracy.sequences += 1;
        accuracy.alike += usize::from(parity::says_alike(&expected, &found, several));
        accuracy.largest_difference =
            accuracy
                .largest_difference
                .max(parity::difference(&expected, &found, unit.as_ref()));
        said[0].extend(&expected);
        said[1].extend(&found);
        for (right, row) in right.iter_mut().zip([&expected, &found]) {
            *right += usize::from(labels.is_some_and(|labels| has_labels(row, labels)));
        }
        if let Some(&label) = samples.labels.get(index) {
            right
                .iter_mut()
                .zip(classes)
                .for_each(|(right, class)| *right += usize::from(class == label as usize));
        }
    }
    accuracy.saturations = saturations.iter().map(|&count| u64::from(count)).sum();
    let config = saved.model.config();
    if unit.is_some() && samples.numbers.len() == accuracy.sequences * config.targets() {
        let report = |said: Vec<f32>| NumberAnswers::of(config, &said, &samples.numbers).report();
        accuracy.numbers = Some(said.map(report));
    }
    let judged = match several {
        true => samples.indicators.len() == accuracy.sequences,
        false => samples.labels.len() == accuracy.sequences && saved.model.config().task == Task::Classification,
    };
    if judged {
        let [float, int8] = right.map(|right| Some(right as f64 / accuracy.sequences.max(1) as f64));
        (accuracy.float, accuracy.int8) = (float, int8);
    }
    Ok(accuracy)
}

/// Whether logits say exactly these labels.
fn has_labels(logits: &[f32], labels: &[u8]) -> bool {
    logits
        .iter()
        .zip(labels)
        .all(|(&logit, &holds)| (logit >= 0.0) == (holds == 1))
}

/// Logits `[steps, outputs]`, of a model of numbers in their units.
fn to_float(logits: &[i32], unit: Option<&Unit>) -> Vec<f32> {
    let outputs = logits
        .iter()
        .map(|&logit| f64::from(logit) / f64::from(1 << SUM_PLACES));
    match unit {
        None => outputs.map(|output| output as f32).collect(),
        Some(unit) => outputs
            .enumerate()
            .map(|(place, output)| unit.number(place % unit.scales.len(), output) as f32)
            .collect(),
    }
}

/// The logits after every step, by `ernn-core`, and the numbers of each sequence that did not fit.
pub fn int_logits(image: &[u8], samples: &Samples) -> (Vec<Vec<i32>>, Vec<u32>) {
    let model = Model::parse(image).expect("an image that was just made");
    match model.state_bits() {
        8 => logits_of::<i8>(&model, samples),
        _ => logits_of::<i16>(&model, samples),
    }
}

fn logits_of<S: State>(model: &Model, samples: &Samples) -> (Vec<Vec<i32>>, Vec<u32>) {
    let sizes = model.sizes();
    let (mut values, mut scratch) = (vec![S::default(); sizes.state], vec![0; sizes.scratch]);
    let mut session = Session::new(model, &mut values).expect("a state of the model's size and bits");
    let mut saturations = Vec::new();
    let mut run = |sequence: &Vec<f32>| {
        session.reset();
        let mut all = Vec::new();
        for step in sequence.chunks_exact(samples.features) {
            let mut logits = vec![0; sizes.outputs];
            if model.reads_tokens() {
                session.push_token(&mut scratch, step[0] as usize)
            } else {
                session.push(&mut scratch, step)
            }
            .and_then(|()| session.logits(&mut scratch, &mut logits))
            .expect("samples that the library has taken");
            all.extend(logits);
        }
        saturations.push(session.saturations());
        all
    };
    let logits = samples.sequences.iter().map(&mut run).collect();
    (logits, saturations)
}
