//! Models that say something at each step: their figures, and what they say.

use super::number_answers::NumberAnswers;
use super::segments::Segments;
use super::{
    BATCH, Evaluation, Prediction, loss, must_be, no_answer, not_finite, prediction, prepared, quantiles, rows, smooth,
    unusable,
};
use crate::Result;
use crate::batch::{self, Batch};
use crate::checkpoint::{Decision, SavedModel};
use crate::data::{Task, UNLABELLED, View};
use crate::model::{Model, Workspace};

/// Each step that has a label is an example; segments go through windows that follow each other.
pub(super) fn evaluate_steps(
    model: &Model<f32>,
    classes: &[String],
    part: &View,
    decision: &Decision,
    workspace: &mut Workspace<f32>,
) -> Result<Evaluation> {
    let found = step_logits_in(model, part, workspace)?;
    let mut labels = Vec::new();
    let (mut losses, mut said) = (Vec::new(), Vec::new());
    let called = smooth::smoothed(part, &found, classes.len(), decision.penalty());
    for (index, logits) in found.iter().enumerate() {
        let own = part.step_labels(index);
        if let Some(label) = own
            .iter()
            .find(|&&label| label != UNLABELLED && label as usize >= classes.len())
        {
            let problem = format!("found class number {label}, expected one below {}", classes.len());
            return Err(unusable(problem));
        }
        for ((row, &label), &class) in rows(logits, classes.len())
            .zip(own)
            .zip(&called[index])
            .filter(|((_, label), _)| **label != UNLABELLED)
        {
            labels.push(label);
            losses.push(loss(row, label));
            said.push(Prediction {
                class: class as usize,
                ..prediction(row)
            });
        }
    }
    if labels.is_empty() {
        return Err(unusable("found no step with a label, expected some".to_owned()));
    }
    let mut evaluation = Evaluation::of_predictions(classes, &labels, &said, losses.into_iter());
    evaluation.segments = Some(Segments::of(part, &called));
    Ok(evaluation)
}

/// The logits of each step, `[steps, classes]` for each sequence, in the order of the part.
pub(super) fn step_logits_in(model: &Model<f32>, part: &View, workspace: &mut Workspace<f32>) -> Result<Vec<Vec<f32>>> {
    let classes = model.config().classes;
    let mut all = vec![Vec::new(); part.len()];
    let mut batch = Batch::new();
    for members in batch::plan(part, BATCH, None) {
        batch.fill(part, &members, None);
        let found = model.step_logits(&batch, workspace)?;
        let mut rest = &found[..];
        for member in members {
            let (own, others) = rest.split_at(part.length(member) * classes);
            all[member] = own.to_vec();
            rest = others;
        }
    }
    Ok(all)
}

/// What the model says at each step of raw sequences; `names` as in [`super::predict_named`].
///
/// # Errors
/// If the sequences do not fit the model, it gives no class for each step, or what it gives is not finite.
pub fn predict_steps<'a>(
    saved: &SavedModel,
    part: impl Into<View<'a>>,
    names: &[String],
) -> Result<Vec<Vec<Prediction>>> {
    must_be(saved, Task::StepClassification)?;
    let part = prepared(saved, part.into())?;
    let found = finite_step_logits(saved, &part, names)?;
    let classes = saved.classes.len();
    let called = smooth::smoothed(&part, &found, classes, saved.decision.penalty());
    let answer = |(row, &class): (&[f32], &u32)| Prediction {
        class: class as usize,
        ..prediction(row)
    };
    Ok(found
        .iter()
        .zip(&called)
        .map(|(logits, called)| rows(logits, classes).zip(called).map(answer).collect())
        .collect())
}

/// The same of each step that has numbers.
pub(super) fn step_number_answers(
    model: &Model<f32>,
    part: &View,
    workspace: &mut Workspace<f32>,
) -> Result<NumberAnswers> {
    let (outputs, targets) = (model.config().classes, model.config().targets());
    let (mut said, mut numbers) = (Vec::new(), Vec::new());
    for (index, found) in step_logits_in(model, part, workspace)?.iter().enumerate() {
        let own: Vec<f32> = part.step_numbers(index).collect();
        let steps = rows(found, outputs).zip(own.chunks_exact(targets));
        for (row, own) in steps.filter(|(_, own)| !own[0].is_nan()) {
            said.extend_from_slice(row);
            numbers.extend_from_slice(own);
        }
    }
    if numbers.is_empty() {
        return Err(unusable(
            "found no step with a number to predict, expected some".to_owned(),
        ));
    }
    Ok(NumberAnswers {
        of_steps: true,
        ..NumberAnswers::of(model.config(), &said, &numbers)
    })
}

/// The numbers that a model gives at each step of raw sequences, `[steps, targets, quantiles]` of each, quantiles in order; `names` as in
/// [`super::predict_named`].
///
/// # Errors
/// If the sequences do not fit the model, it gives no number for each step, or one is not finite.
pub fn predict_step_numbers<'a>(
    saved: &SavedModel,
    part: impl Into<View<'a>>,
    names: &[String],
) -> Result<Vec<Vec<f32>>> {
    must_be(saved, Task::StepRegression)?;
    let part = prepared(saved, part.into())?;
    let mut found = finite_step_logits(saved, &part, names)?;
    let quantiles = saved.model.config().quantiles.len();
    found
        .iter_mut()
        .for_each(|numbers| quantiles::in_order(numbers, quantiles));
    Ok(found)
}

/// The logits of each step of prepared sequences, all finite; `names` as in [`super::predict_named`].
fn finite_step_logits(saved: &SavedModel, part: &View, names: &[String]) -> Result<Vec<Vec<f32>>> {
    let found = step_logits_in(&saved.model, part, &mut Workspace::default())?;
    let bad = (0..found.len()).find_map(|sequence| Some((sequence, not_finite(&found[sequence])?)));
    match bad {
        Some((sequence, value)) => Err(unusable(no_answer(part, sequence, names, value))),
        None => Ok(found),
    }
}
