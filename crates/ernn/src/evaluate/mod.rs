//! Evaluate: a model and a part of a data set become numbers. Never prints, never changes the model.
//!
//! Sequences of similar length share a batch; results come back in the order of the part, and each one is the same bits
//! whatever it shared a batch with.

mod metric;
mod report;
mod stream;

use ernn_kernels::RowLoss;
pub use metric::Metric;
pub use report::{ClassReport, Evaluation};
pub use stream::Stream;
pub(crate) use stream::for_streams;

use crate::batch::{self, Batch, Streams};
use crate::cell::{CellConfig, StepSizes};
use crate::checkpoint::SavedModel;
use crate::data::{Task, View};
use crate::head;
use crate::model::{Model, State, Workspace};
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
///
/// # Errors
/// If the sequences do not fit the model, or it gives no class for a sequence.
pub fn predict<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Vec<Prediction>> {
    if saved.model.config().task != Task::Classification {
        return Err(unusable(
            "found a model that does not give classes of sequences, expected one that does".to_string(),
        ));
    }
    let logits = logits(&saved.model, &prepared(saved, part.into())?)?;
    Ok(rows(&logits, saved.classes.len()).map(prediction).collect())
}

/// Measures the model on raw labelled sequences, whose labels are indices into the model's classes.
pub fn evaluate<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Evaluation> {
    evaluate_normalized(&saved.model, &saved.classes, &prepared(saved, part.into())?)
}

/// Measures a model on sequences that are normalized already, by its task.
pub fn evaluate_normalized(model: &Model<f32>, classes: &[String], part: &View) -> Result<Evaluation> {
    let mut workspace = Workspace::default();
    let mut found = match model.config().task {
        Task::Classification => evaluate_classes(model, classes, part, &mut workspace),
        Task::StepClassification => evaluate_steps(model, part, &mut workspace),
        Task::NextToken => evaluate_text(model, part, &mut workspace),
        Task::Regression => evaluate_numbers(model, part, &mut workspace),
    }?;
    found.equilibria = workspace.take_equilibria();
    Ok(found)
}

fn evaluate_classes(
    model: &Model<f32>,
    classes: &[String],
    part: &View,
    workspace: &mut Workspace<f32>,
) -> Result<Evaluation> {
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
    let logits = logits_in(model, part, workspace)?;
    let scores = rows(&logits, classes.len())
        .zip(&labels)
        .map(|(row, &label)| (prediction(row).class, loss(row, label)));
    Ok(Evaluation::new(classes, &labels, scores))
}

fn evaluate_steps(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<Evaluation> {
    let mut batch = Batch::new();
    let mut total = Total::default();
    for members in batch::plan(part, BATCH, None) {
        batch.fill(part, &members, None);
        total.add(&model.step_losses(&batch, &mut State::default(), workspace)?);
    }
    Ok(total.evaluation(Task::StepClassification))
}

/// Each text from its beginning to its end in one stream, in windows of the length that the model has learned from.
fn evaluate_text(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<Evaluation> {
    let mut batch = Batch::new();
    let mut total = Total::default();
    let window = learned_steps(model).unwrap_or(WINDOW);
    for text in (0..part.len()).map(|text| part.tokens(text)) {
        let streams = Streams::new(text.len(), 1, window);
        let mut state = State::default();
        for window in 0..streams.batches() {
            batch.fill_text(text, &streams, window);
            total.add(&model.step_losses(&batch, &mut state, workspace)?);
        }
    }
    Ok(total.evaluation(Task::NextToken))
}

/// Steps of a window where the model does not care.
const WINDOW: usize = 1024;

/// Sums over steps.
#[derive(Default)]
struct Total {
    steps: usize,
    loss: f64,
    correct: usize,
}

impl Total {
    fn add(&mut self, rows: &[RowLoss<f32>]) {
        self.steps += rows.len();
        self.loss += rows.iter().map(|row| f64::from(row.loss)).sum::<f64>();
        self.correct += rows.iter().filter(|row| row.correct).count();
    }

    fn evaluation(&self, task: Task) -> Evaluation {
        Evaluation::of_steps(self.steps, self.loss, self.correct, task)
    }
}

fn evaluate_numbers(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<Evaluation> {
    let targets: Vec<f32> = (0..part.len()).filter_map(|index| part.number(index)).collect();
    if targets.len() != part.len() {
        let problem = format!(
            "found {} numbers for {} sequences, expected one each",
            targets.len(),
            part.len()
        );
        return Err(unusable(problem));
    }
    let error = |(&found, &target): (&f32, &f32)| (f64::from(found) - f64::from(target)).powi(2);
    let sum: f64 = logits_in(model, part, workspace)?.iter().zip(&targets).map(error).sum();
    Ok(Evaluation::of_numbers(targets.len(), sum / targets.len().max(1) as f64))
}

/// The logits of normalized sequences, `[sequences, classes]`, in the order of the part.
pub fn logits(model: &Model<f32>, part: &View) -> Result<Vec<f32>> {
    logits_in(model, part, &mut Workspace::default())
}

fn logits_in(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<Vec<f32>> {
    let classes = model.config().classes;
    let mut all = vec![0.0; part.len() * classes];
    let mut batch = Batch::new();
    for members in batch::plan(part, BATCH, None) {
        batch.fill(part, &members, None);
        let found = model.batch_logits(&batch, workspace)?;
        for (&member, row) in members.iter().zip(rows(&found, classes)) {
            all[member * classes..(member + 1) * classes].copy_from_slice(row);
        }
    }
    Ok(all)
}

/// What is worth saying about sequences that are longer than those the model learned its step sizes from: beyond their end the
/// last learned step size goes on.
pub fn length_note(model: &Model<f32>, longest: usize) -> Option<String> {
    if model.config().task == Task::NextToken {
        return None; // A text runs in windows.
    }
    let learned = learned_steps(model)?;
    (longest > learned).then(|| {
        format!(
            "found sequences of up to {longest} steps; the model learned step sizes for {learned} and goes on with the last one"
        )
    })
}

/// Steps for which a model has learned step sizes; none if its step sizes do not belong to steps.
fn learned_steps(model: &Model<f32>) -> Option<usize> {
    let learned = model.config().layers.iter().filter_map(|layer| match layer {
        CellConfig::Ernn(cell) if cell.learns_step_sizes_per_step() => Some(cell.max_steps),
        CellConfig::DeepTransition(cell) if cell.steps == StepSizes::PerStep => Some(cell.max_steps),
        _ => None,
    });
    learned.min()
}

/// Normalized as the training part was; refused if they do not fit the model.
pub(crate) fn prepared<'a>(saved: &SavedModel, part: View<'a>) -> Result<View<'a>> {
    let expected = saved.model.config().features();
    if part.is_tokens() != saved.model.config().embedding.is_some() {
        let kind = |tokens: bool| if tokens { "tokens" } else { "numbers" };
        let problem = format!("found {}, expected {}", kind(part.is_tokens()), kind(!part.is_tokens()));
        return Err(unusable(problem));
    }
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
