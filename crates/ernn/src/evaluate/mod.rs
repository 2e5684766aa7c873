//! Evaluate: a model and a part of a data set become numbers. Never prints, never changes the model.
//!
//! Sequences of similar length share a batch; results come back in the order of the part, and each one is the same bits
//! whatever it shared a batch with.

mod answers;
mod calibrate;
mod detection;
mod ensemble;
mod folds;
mod generate;
mod labels;
mod listen;
mod metric;
mod number_answers;
mod numbers;
mod quantiles;
mod report;
mod segments;
mod smooth;
mod spread;
pub mod statistics;
mod steps;
mod stream;

pub use answers::{Answer, label_each, number_each, predict_each};
pub use calibrate::{Reliability, ReliabilityBin, Unknown};
pub(crate) use calibrate::{calibration, calibration_of, unknown_by, unknown_of};
pub use detection::{Detection, Point};
pub use ensemble::Ensemble;
pub(crate) use ensemble::is_averaged;
pub use ernn_core::listen::Event;
use ernn_kernels::RowLoss;
pub use folds::{FoldReport, FoldResult, FoldsReport, GroupReport};
pub use generate::{Generator, NextToken, Sampling};
pub use labels::{LabelReport, LabelsReport, THRESHOLD};
pub use listen::{Heard, Listener};
pub use metric::{Metric, figures};
pub(crate) use number_answers::NumberAnswers;
pub use numbers::{AlwaysMean, Baseline, NumberReport};
pub use quantiles::QuantileReport;
pub(crate) use quantiles::nearest_to_median;
pub use report::{ClassReport, Evaluation};
pub use segments::{Segments, Timeline};
pub(crate) use smooth::choose_penalty;
pub use spread::{Spread, mean};
use steps::{evaluate_steps, step_logits_in, step_number_answers};
pub use steps::{predict_step_numbers, predict_steps};
pub use stream::Stream;
pub(crate) use stream::for_streams;

use crate::batch::{self, Batch, Streams};
use crate::cell::{CellConfig, StepSizes};
use crate::checkpoint::{Decision, SavedModel, UNKNOWN};
use crate::data::{Task, UNLABELLED, View};
use crate::head::{self, NumberLoss};
use crate::model::{Model, State, Workspace};
use crate::{Error, Result};

/// Sequences in a batch: enough to fill several blocks for each thread, little enough to stay small in memory.
const BATCH: usize = 256;

/// What the model says about one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Index into the model's classes: the one of the highest probability, the first of equals; of steps what the steps around it say as well
    /// ([`crate::checkpoint::Decision::switch_penalty`]).
    pub class: usize,
    /// Probability of each class.
    pub probabilities: Vec<f64>,
}

/// Classifies raw sequences (they are normalized here as the training part was).
///
/// # Errors
/// If the sequences do not fit the model, it gives no class for a sequence, or what it gives is not finite.
pub fn predict<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Vec<Prediction>> {
    predict_named(saved, part, &[])
}

/// [`predict`], with a name for each sequence, by which errors call it; without names it is its number from 1.
///
/// # Errors
/// As [`predict`].
pub fn predict_named<'a>(saved: &SavedModel, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<Prediction>> {
    must_be(saved, Task::Classification)?;
    let logits = finite_logits(&saved.model, &prepared(saved, part.into())?, names)?;
    Ok(rows(&logits, saved.classes.len()).map(prediction).collect())
}

/// The numbers that a regression model gives for each raw sequence, `[sequences, targets, quantiles]`, quantiles in order; `names` as in
/// [`predict_named`].
///
/// # Errors
/// If the sequences do not fit the model, it gives no number for a sequence, or one is not finite.
pub fn predict_numbers<'a>(saved: &SavedModel, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<f32>> {
    must_be(saved, Task::Regression)?;
    let mut numbers = finite_logits(&saved.model, &prepared(saved, part.into())?, names)?;
    quantiles::in_order(&mut numbers, saved.model.config().quantiles.len());
    Ok(numbers)
}

/// The probability of each label for each raw sequence, where several can hold; `names` as in [`predict_named`].
///
/// # Errors
/// If the sequences do not fit the model, it gives no such labels, or what it gives is not finite.
pub fn predict_labels<'a>(saved: &SavedModel, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<Vec<f64>>> {
    must_be(saved, Task::MultiLabel)?;
    let logits = finite_logits(&saved.model, &prepared(saved, part.into())?, names)?;
    Ok(rows(&logits, saved.classes.len()).map(label_probabilities).collect())
}

/// The names of the labels whose probabilities are at least 1/2, joined by `|`.
pub fn called_labels(names: &[String], probabilities: &[f64]) -> String {
    let pairs = names.iter().zip(probabilities);
    let called: Vec<&str> = pairs
        .filter(|(_, share)| **share >= THRESHOLD)
        .map(|(name, _)| name.as_str())
        .collect();
    called.join("|")
}

fn must_be(saved: &SavedModel, task: Task) -> Result<()> {
    if saved.model.config().task == task {
        return Ok(());
    }
    let what = match task {
        Task::Regression => "a number for a sequence",
        Task::StepRegression => "a number for each step",
        Task::StepClassification => "a class for each step",
        Task::MultiLabel => "several labels for a sequence",
        _ => "classes of sequences",
    };
    Err(unusable(format!(
        "found a model that does not give {what}, expected one that does"
    )))
}

/// The name of the class that was said, or [`UNKNOWN`] where the model has learned to say so.
pub fn called<'a>(saved: &'a SavedModel, said: &Prediction) -> &'a str {
    match saved.decision.is_known(said.probabilities[said.class]) {
        true => &saved.classes[said.class],
        false => UNKNOWN,
    }
}

/// Measures the model on raw labelled sequences, whose labels are indices into the model's classes.
///
/// # Errors
/// If the sequences do not fit the model, or its loss on them is not finite.
pub fn evaluate<'a>(saved: &SavedModel, part: impl Into<View<'a>>) -> Result<Evaluation> {
    let part = prepared(saved, part.into())?;
    let found = evaluate_prepared(saved, &part)?;
    if found.loss.is_finite() {
        return Ok(found);
    }
    if matches!(
        saved.model.config().task,
        Task::Classification | Task::Regression | Task::MultiLabel
    ) {
        // Again, but only in trouble: says which sequence it is.
        finite_logits(&saved.model, &part, &[])?;
    }
    Err(unusable(format!(
        "found a loss of {}, expected a finite number",
        found.loss
    )))
}

/// [`evaluate_normalized`], numbers beside those that the model was trained on.
pub fn evaluate_prepared(saved: &SavedModel, part: &View) -> Result<Evaluation> {
    measured(&saved.model, &saved.classes, part, Some(saved))
}

/// [`evaluate_normalized`] as a training watches itself: the loss of numbers is the one that is made small.
pub(crate) fn evaluate_in_training(
    model: &Model<f32>,
    classes: &[String],
    part: &View,
    loss: NumberLoss,
) -> Result<Evaluation> {
    let own = loss == NumberLoss::Mse || !model.config().quantiles.is_empty();
    if !model.config().task.is_of_numbers() || own {
        return evaluate_normalized(model, classes, part);
    }
    let mut workspace = Workspace::default();
    let answers = number_answers(model, part, &mut workspace)?;
    let losses = answers.pairs().map(|(found, target)| loss.of(found - target));
    Ok(Evaluation {
        loss: report::mean(losses),
        equilibria: workspace.take_equilibria(),
        ..Evaluation::of_numbers(&answers)
    })
}

/// Measures a model on sequences that are normalized already, by its task. The loss may be infinite or NaN: a training deals with
/// that in its own way.
pub fn evaluate_normalized(model: &Model<f32>, classes: &[String], part: &View) -> Result<Evaluation> {
    measured(model, classes, part, None)
}

/// `saved`: the model with what else is known of it.
fn measured(model: &Model<f32>, classes: &[String], part: &View, saved: Option<&SavedModel>) -> Result<Evaluation> {
    let mut workspace = Workspace::default();
    let none = Decision::default();
    let decision = saved.map_or(&none, |saved| &saved.decision);
    let mut found = match model.config().task {
        Task::Classification => evaluate_classes(model, classes, part, decision, &mut workspace),
        Task::StepClassification => evaluate_steps(model, classes, part, decision, &mut workspace),
        Task::NextToken => evaluate_text(model, part, &mut workspace),
        Task::MultiLabel => {
            let indicators = indicators_of(part, classes.len())?;
            logits_in(model, part, &mut workspace).map(|logits| of_labels(classes, &logits, &indicators))
        }
        Task::Regression | Task::StepRegression => {
            let answers = number_answers(model, part, &mut workspace)?;
            Ok(Evaluation::of_numbers(&match saved {
                Some(saved) => answers.known_to(saved, part),
                None => answers,
            }))
        }
    }?;
    found.equilibria = workspace.take_equilibria();
    Ok(found)
}

fn evaluate_classes(
    model: &Model<f32>,
    classes: &[String],
    part: &View,
    decision: &Decision,
    workspace: &mut Workspace<f32>,
) -> Result<Evaluation> {
    let labels = labels_of(part, classes.len())?;
    let logits = logits_in(model, part, workspace)?;
    let said: Vec<Prediction> = rows(&logits, classes.len()).map(prediction).collect();
    let losses = rows(&logits, classes.len())
        .zip(&labels)
        .map(|(row, &label)| loss(row, label));
    Ok(Evaluation {
        unknown: decision.unknown_below.map(|_| Unknown::of(decision, &said, &labels)),
        ..Evaluation::of_predictions(classes, &labels, &said, losses)
    })
}

/// The class of each sequence; refused if one has none.
fn labels_of(part: &View, classes: usize) -> Result<Vec<u32>> {
    let labels = part.labels();
    if labels.len() != part.len() {
        let problem = format!(
            "found {} labels for {} sequences, expected one each",
            labels.len(),
            part.len()
        );
        return Err(unusable(problem));
    }
    if let Some(label) = labels.iter().find(|&&label| label as usize >= classes) {
        let problem = format!("found class number {label}, expected one below {classes}");
        return Err(unusable(problem));
    }
    Ok(labels)
}

/// The logits `[examples, classes]` of all examples of a prepared part that have a class, sequences or steps, and these classes.
pub(crate) fn judged_logits(model: &Model<f32>, part: &View) -> Result<(Vec<f32>, Vec<u32>)> {
    let classes = model.config().classes;
    if model.config().task == Task::Classification {
        return Ok((logits(model, part)?, labels_of(part, classes)?));
    }
    let (mut kept, mut labels) = (Vec::new(), Vec::new());
    for (index, logits) in step_logits_in(model, part, &mut Workspace::default())?
        .iter()
        .enumerate()
    {
        for (row, &label) in rows(logits, classes).zip(part.step_labels(index)) {
            if label != UNLABELLED {
                kept.extend_from_slice(row);
                labels.push(label);
            }
        }
    }
    Ok((kept, labels))
}

/// The place of the largest number, the first of equals.
pub(crate) fn first_largest<F: PartialOrd>(row: &[F]) -> usize {
    (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
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
    Ok(total.evaluation())
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

    fn evaluation(&self) -> Evaluation {
        Evaluation::of_tokens(self.steps, self.loss, self.correct)
    }
}

/// What the model says of each sequence, and what is true.
fn number_answers(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<NumberAnswers> {
    if model.config().task == Task::StepRegression {
        return step_number_answers(model, part, workspace);
    }
    let targets = numbers_of(part, model.config().targets())?;
    let found = logits_in(model, part, workspace)?;
    Ok(NumberAnswers::of(model.config(), &found, &targets))
}

/// The labels of logits, both `[sequences, labels]`, measured.
fn of_labels(classes: &[String], logits: &[f32], indicators: &[u8]) -> Evaluation {
    let losses = logits.iter().zip(indicators);
    let loss: f64 = losses
        .map(|(&logit, &holds)| head::label_loss(f64::from(logit), holds == 1))
        .sum();
    let report = LabelsReport::new(classes, &label_probabilities(logits), indicators);
    let sequences = logits.len() / classes.len().max(1);
    Evaluation::of_labels(sequences, loss / logits.len().max(1) as f64, report)
}

/// The probability of each label.
fn label_probabilities(logits: &[f32]) -> Vec<f64> {
    logits.iter().map(|&logit| head::sigmoid(f64::from(logit))).collect()
}

/// Which labels the sequences have, `[sequences, labels]`; refused if nobody says it.
fn indicators_of(part: &View, labels: usize) -> Result<Vec<u8>> {
    let found: Vec<u8> = (0..part.len())
        .flat_map(|index| part.indicators(index))
        .copied()
        .collect();
    if found.len() == part.len() * labels {
        return Ok(found);
    }
    let problem = match found.len() {
        0 => format!("found sequences without labels, expected to know which of {labels} labels each has"),
        found => format!(
            "found {found} indicators for {} sequences, expected {labels} for each",
            part.len()
        ),
    };
    Err(unusable(problem))
}

/// The numbers of each sequence, `[sequences, targets]`; refused if one has none.
fn numbers_of(part: &View, targets: usize) -> Result<Vec<f32>> {
    let numbers: Vec<f32> = (0..part.len()).flat_map(|index| part.numbers_of(index)).collect();
    if numbers.len() != part.len() * targets {
        let each = match targets {
            1 => "one".to_string(),
            several => several.to_string(),
        };
        let problem = format!(
            "found {} numbers for {} sequences, expected {each} each",
            numbers.len(),
            part.len()
        );
        return Err(unusable(problem));
    }
    Ok(numbers)
}

/// The logits of normalized sequences, `[sequences, classes]`, in the order of the part.
pub fn logits(model: &Model<f32>, part: &View) -> Result<Vec<f32>> {
    logits_in(model, part, &mut Workspace::default())
}

/// [`logits`], all finite; `names` as in [`predict_named`].
fn finite_logits(model: &Model<f32>, part: &View, names: &[String]) -> Result<Vec<f32>> {
    let logits = logits(model, part)?;
    must_be_finite(model, &logits, part, names)?;
    Ok(logits)
}

/// Refuses logits of which one is not finite; `names` as in [`predict_named`].
fn must_be_finite(model: &Model<f32>, logits: &[f32], part: &View, names: &[String]) -> Result<()> {
    for (sequence, row) in rows(logits, model.config().classes).enumerate() {
        if let Some(value) = not_finite(row) {
            return Err(unusable(no_answer(part, sequence, names, value)));
        }
    }
    Ok(())
}

/// Names a sequence whose output is no number.
fn no_answer(part: &View, sequence: usize, names: &[String], value: f32) -> String {
    let number = (sequence + 1).to_string();
    let name = names.get(sequence).unwrap_or(&number);
    let steps = part.length(sequence);
    format!("sequence {name} of {steps} steps: found an output of {value}, expected finite numbers")
}

/// The first number that is infinite or none at all.
fn not_finite(row: &[f32]) -> Option<f32> {
    row.iter().copied().find(|value| !value.is_finite())
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
pub fn prepared<'a>(saved: &SavedModel, part: View<'a>) -> Result<View<'a>> {
    must_fit(saved, &part)?;
    part.derived(&saved.derivation)?.normalized(&saved.normalization)
}

fn must_fit(saved: &SavedModel, part: &View) -> Result<()> {
    let expected = saved.channels();
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
    Ok(())
}

fn unusable(problem: String) -> Error {
    Error::data("the sequences", problem)
}

fn rows(logits: &[f32], classes: usize) -> impl Iterator<Item = &[f32]> {
    logits.chunks_exact(classes.max(1))
}

fn prediction(row: &[f32]) -> Prediction {
    let mut probabilities = widened(row);
    head::softmax(&mut probabilities, row.len());
    Prediction {
        class: first_largest(row),
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
