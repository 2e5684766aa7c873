//! An answer for each sequence: one that has none, because its values or what the model makes of them are not finite, keeps no other
//! from its answer.

use super::quantiles::in_order;
use super::{Prediction, label_probabilities, logits, must_be, must_fit, no_answer, not_finite, prediction, rows};
use crate::checkpoint::SavedModel;
use crate::data::{Task, View};
use crate::{Error, Result};

/// What the model says of a sequence, or why it says nothing.
pub type Answer<T> = std::result::Result<T, String>;

/// Classifies raw sequences as [`predict_named`](super::predict_named) does, each for itself.
///
/// # Errors
/// If the sequences do not fit the model, or it gives no class for a sequence.
pub fn predict_each<'a>(
    saved: &SavedModel,
    part: impl Into<View<'a>>,
    names: &[String],
) -> Result<Vec<Answer<Prediction>>> {
    must_be(saved, Task::Classification)?;
    each(saved, part.into(), names, prediction)
}

/// The numbers for each raw sequence, `[targets, quantiles]`, as [`predict_numbers`](super::predict_numbers) gives them, each for itself.
///
/// # Errors
/// If the sequences do not fit the model, or it gives no number for a sequence.
pub fn number_each<'a>(
    saved: &SavedModel,
    part: impl Into<View<'a>>,
    names: &[String],
) -> Result<Vec<Answer<Vec<f32>>>> {
    must_be(saved, Task::Regression)?;
    each(saved, part.into(), names, |row| {
        let mut numbers = row.to_vec();
        in_order(&mut numbers, saved.model.config().quantiles.len());
        numbers
    })
}

/// The probability of each label for each raw sequence, each for itself; several labels can hold.
///
/// # Errors
/// If the sequences do not fit the model, or it gives no labels of which several can hold.
pub fn label_each<'a>(
    saved: &SavedModel,
    part: impl Into<View<'a>>,
    names: &[String],
) -> Result<Vec<Answer<Vec<f64>>>> {
    must_be(saved, Task::MultiLabel)?;
    each(saved, part.into(), names, label_probabilities)
}

fn each<T>(
    saved: &SavedModel,
    mut part: View,
    names: &[String],
    answer: impl Fn(&[f32]) -> T,
) -> Result<Vec<Answer<T>>> {
    must_fit(saved, &part)?;
    part = part.derived(&saved.derivation)?;
    let refusals: Vec<Option<String>> = (0..part.len())
        .map(|index| part.refusal(index, &saved.normalization).map(without_origin))
        .collect();
    let taken: Vec<usize> = (0..part.len()).filter(|&index| refusals[index].is_none()).collect();
    part.choose(&taken);
    let names: Vec<String> = taken.iter().map(|&index| name(names, index)).collect();
    let part = part.normalized(&saved.normalization)?;
    let found = logits(&saved.model, &part)?;
    let mut found = rows(&found, saved.model.config().classes).enumerate();
    let mut next = || {
        let (sequence, row) = found.next().expect("a row of logits for each sequence");
        match not_finite(row) {
            Some(value) => Err(no_answer(&part, sequence, &names, value)),
            None => Ok(answer(row)),
        }
    };
    Ok(refusals
        .into_iter()
        .map(|refusal| refusal.map_or_else(&mut next, Err))
        .collect())
}

fn name(names: &[String], index: usize) -> String {
    names.get(index).cloned().unwrap_or_else(|| (index + 1).to_string())
}

/// What an error says of a sequence, without the place that it speaks for.
fn without_origin(error: Error) -> String {
    match error {
        Error::Data { problem, .. } => problem,
        other => other.to_string(),
    }
}
