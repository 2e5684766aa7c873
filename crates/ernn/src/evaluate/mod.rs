//! Evaluate: a model and a part of a data set become numbers. Never prints, never changes the model.
//!
//! Sequences of similar length share a batch; results come back in the order of the part, and each one is the same bits
//! whatever it shared a batch with.

mod report;

pub use report::{ClassReport, Evaluation};

use crate::batch::{self, Batch};
use crate::cell::{CellConfig, StepSizes};
use crate::checkpoint::SavedModel;
use crate::data::View;
use crate::head;
use crate::model::{Model, Workspace};
use crate::{Error, Result};

/// Sequences in a batch: enough to fill several blocks for each thread, little enough to stay small in memory.
const BATCH: usize = 256;

/// What the model says about one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Index into the model's classes: the one of the highest probability, the first of equals.
    pub class: usize,
    /// Probability of each class.
    pub probabilities: Vec<f64>,
}

/// Classifies raw sequences (they are normalized here as the training part was).
pub fn predict<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Vec<Prediction>> {
    let logits = logits(&saved.model, &prepared(saved, part.into())?)?;
    Ok(rows(&logits, saved.classes.len()).map(prediction).collect())
}

/// Measures the model on raw labelled sequences, whose labels are indices into the model's classes.
pub fn evaluate<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Evaluation> {
    evaluate_normalized(&saved.model, &saved.classes, &prepared(saved, part.into())?)
}

/// Measures a model on labelled sequences that are normalized already.
pub fn evaluate_normalized(model: &Model<f32>, classes: &[String], part: &View) -> Result<Evaluation> {
    let labels = part.labels();
    if labels.len() != part.len() {
        let problem = format!(
            "found {} labels for {} sequences, expected one each",
            labels.len(),
            part.len()
        );
        return Err(unusable(problem));
    }
    if let Some(label) = labels.iter().find(|&&label| label as usize >= classes.len()) {
        let problem = format!("found class number {label}, expected one below {}", classes.len());
        return Err(unusable(problem));
    }
    let logits = logits(model, part)?;
    let scores = rows(&logits, classes.len())
        .zip(&labels)
        .map(|(row, &label)| (prediction(row).class, loss(row, label)));
    Ok(Evaluation::new(classes, &labels, scores))
}

/// The logits of normalized sequences, `[sequences, classes]`, in the order of the part.
pub fn logits(model: &Model<f32>, part: &View) -> Result<Vec<f32>> {
    let classes = model.config().classes;
    let mut all = vec![0.0; part.len() * classes];
    let mut batch = Batch::new();
    let mut workspace = Workspace::default();
    for members in batch::plan(part, BATCH, None) {
        batch.fill(part, &members, None);
        let found = model.logits(&batch.inputs, &mut workspace)?;
        for (&member, row) in members.iter().zip(rows(&found, classes)) {
            all[member * classes..(member + 1) * classes].copy_from_slice(row);
        }
    }
    Ok(all)
}

/// What is worth saying about sequences that are longer than those the model learned its step sizes from: beyond their end the
/// last learned step size goes on.
pub fn length_note(model: &Model<f32>, longest: usize) -> Option<String> {
    let learned = model.config().layers.iter().filter_map(|layer| match layer {
        CellConfig::Ernn(cell) if cell.steps == StepSizes::PerStep => Some(cell.max_steps),
        CellConfig::DeepTransition(cell) if cell.steps == StepSizes::PerStep => Some(cell.max_steps),
        _ => None,
    });
    let learned = learned.min()?;
    (longest > learned).then(|| {
        format!(
            "found sequences of up to {longest} steps; the model learned step sizes for {learned} and goes on with the last one"
        )
    })
}

fn prepared<'a>(saved: &SavedModel, part: View<'a>) -> Result<View<'a>> {
    let expected = saved.model.config().input_size;
    if part.features() != expected {
        let names = saved.feature_names.join(", ");
        let problem = format!("found {} values a step, expected {expected} ({names})", part.features());
        return Err(unusable(problem));
    }
    part.normalized(&saved.normalization)
}

fn unusable(problem: String) -> Error {
    Error::Data {
        dataset: "the sequences".to_string(),
        problem,
    }
}

fn rows(logits: &[f32], classes: usize) -> impl Iterator<Item = &[f32]> {
    logits.chunks_exact(classes.max(1))
}

fn prediction(row: &[f32]) -> Prediction {
    let mut probabilities = widened(row);
    head::softmax(&mut probabilities, row.len());
    let better = |best, class| if row[class] > row[best] { class } else { best };
    Prediction {
        class: (0..row.len()).fold(0, better),
        probabilities,
    }
}

fn loss(row: &[f32], label: u32) -> f64 {
    head::cross_entropy(&widened(row), row.len(), &[label], None, &mut Vec::new())
}

/// Sums over a whole part are taken in double precision.
fn widened(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&logit| f64::from(logit)).collect()
}
