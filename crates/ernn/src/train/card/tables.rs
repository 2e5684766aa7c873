//! What a model card says of each class or label.

use std::fmt::Write;

use super::figures::percent;
use crate::data::list;
use crate::evaluate::{Evaluation, LabelsReport};
use crate::names::markdown;

/// A class with fewer sequences to train on is named among the limits.
const FEW: usize = 20;

/// How each class or label fares, as a table; nothing where neither is counted.
pub(super) fn per_class(found: &Evaluation) -> String {
    let classes = found.per_class.iter().map(|class| {
        (
            &class.name,
            class.support,
            class.precision,
            class.recall,
            class.f1,
            None,
        )
    });
    let labels = found.labels.iter().flat_map(|labels| &labels.per_label).map(|label| {
        let precision = Some(share(label.average_precision));
        (
            &label.name,
            label.support,
            label.precision,
            label.recall,
            label.f1,
            precision,
        )
    });
    let (head, rule) = match found.labels {
        Some(_) => ("| label | measured with | average precision |", "|---|---|---|"),
        None => ("| class | measured with |", "|---|---|"),
    };
    let mut text = format!("\n{head} precision | recall | F1 |\n{rule}---|---|---|\n");
    let mut rows = 0;
    for (name, support, precision, recall, f1, average) in classes.chain(labels) {
        let average = average.map_or_else(String::new, |average| format!("{average} | "));
        let _ = writeln!(
            text,
            "| {} | {support} | {average}{} | {} | {} |",
            markdown(name),
            share(precision),
            share(recall),
            share(f1)
        );
        rows += 1;
    }
    if rows == 0 { String::new() } else { text }
}

/// The figures of all labels together, behind the mean average precision.
pub(super) fn of_labels(labels: &LabelsReport) -> String {
    let mut text = String::new();
    if let Some(always) = labels.always_the_same {
        let _ = write!(text, "; always the same probabilities: {}", percent(always));
    }
    for (name, share) in [("macro F1", labels.macro_f1), ("micro F1", labels.micro_f1)] {
        if let Some(share) = share {
            let _ = write!(text, ", {name} {}", percent(share));
        }
    }
    let _ = write!(text, ", all labels right {}", percent(labels.exact_match));
    text
}

/// The classes or labels of which there is little to learn from.
pub(super) fn few_of(kind: &str, what: &str, names: &[String], counts: &[usize]) -> Option<String> {
    let few = names.iter().zip(counts).filter(|(_, count)| **count < FEW);
    let few: Vec<String> = few.map(|(name, count)| format!("{name} ({count})")).collect();
    (!few.is_empty()).then(|| {
        format!(
            "{kind} with fewer than {FEW} {what}s to learn from: {}.",
            markdown(&list(&few))
        )
    })
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_string(), percent)
}
