//! Figures of a model card, in words and tables.

use std::fmt::Write;

use super::tables::of_labels;
use crate::data::Task;
use crate::evaluate::{Evaluation, figures, statistics};

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

pub(super) fn interval(low: f64, high: f64) -> String {
    format!("95 % interval {} to {}", percent(low), percent(high))
}

/// What a part says, with an interval where its sequences are counted.
pub(super) fn numbers(found: &Evaluation, task: Task) -> String {
    let mut text = pooled(found, task);
    let right: usize = (0..found.confusion.len())
        .map(|class| found.confusion[class][class])
        .sum();
    if task == Task::Classification
        && let Some([low, high]) = statistics::share_interval(right, found.examples, 0.05)
    {
        let _ = write!(text, "; {}, each sequence counted for itself", interval(low, high));
    }
    text
}

pub(super) fn pooled(found: &Evaluation, task: Task) -> String {
    let (metric, value) = found.score();
    let mut text = metric.phrase(value);
    if let (Some(numbers), true) = (&found.numbers, task.is_of_numbers()) {
        let _ = write!(text, ", MAE {}", figures(numbers.mean_absolute_error));
        if let Some(r2) = numbers.r2 {
            let _ = write!(text, ", R2 {r2:.3}");
        }
        if let Some(always) = &numbers.always_mean {
            let _ = write!(
                text,
                "; always the mean of what was trained on: RMSE {}",
                figures(always.root_mean_squared_error)
            );
        }
        return text;
    }
    if let Some(labels) = &found.labels {
        text += &of_labels(labels);
    }
    if let (Some(_), Some(right)) = (found.perplexity, found.accuracy) {
        let _ = write!(text, ", {} of the next tokens right", percent(right));
    }
    for (name, share) in [
        ("balanced accuracy", found.balanced_accuracy),
        ("macro F1", found.macro_f1),
    ] {
        if let Some(share) = share {
            let _ = write!(text, ", {name} {}", percent(share));
        }
    }
    let _ = write!(text, ", loss {:.4}", found.loss);
    text
}
