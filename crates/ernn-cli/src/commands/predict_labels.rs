//! `ernn predict` of models with several labels: those found, and the probability of each.

use ernn::data::Sequences;
use ernn::evaluate::{Answer, Ensemble, THRESHOLD, called_labels};
use serde_json::{Map, Value, json};

use super::predict::{Form, Format, beginning, head, json_line, problems, quoted};
use crate::failure::Result;
use crate::output::{significant, timed};

/// A line a sequence, and why some have no answer.
pub(super) fn lines(models: &Ensemble, sequences: &Sequences, form: Form) -> Result<(String, Vec<String>)> {
    let answers = timed("prediction", || models.label_each(&sequences.part, &sequences.names))?;
    let names = &models.first().classes;
    let mut lines = String::new();
    if form.format == Format::Csv {
        lines += &format!("{},{}\n", head(sequences), columns(names));
    }
    for (index, answer) in answers.iter().enumerate() {
        lines += &match (form.format, answer) {
            (Format::Csv, answer) => format!(
                "{},{}\n",
                beginning(sequences, index),
                cells(names, answer, form.digits)
            ),
            (Format::Json, Ok(row)) => json_line(sequences, index, entries(names, row, form.digits)),
            (Format::Json, Err(problem)) => {
                let nothing = json!({"labels": null, "probabilities": null, "problem": problem});
                json_line(sequences, index, nothing)
            }
        };
    }
    Ok((lines, problems(answers)))
}

/// The header of what [`cells`] gives.
pub(super) fn columns(names: &[String]) -> String {
    let probabilities = names.iter().map(|name| format!(",{}", quoted(&format!("p_{name}"))));
    format!("labels{}", probabilities.collect::<String>())
}

/// The labels found, joined by `|`, and the probability of each; all empty without an answer.
pub(super) fn cells(names: &[String], answer: &Answer<Vec<f64>>, digits: usize) -> String {
    let Ok(row) = answer else {
        return ",".repeat(names.len());
    };
    let probabilities = row.iter().map(|&value| format!(",{}", significant(value, digits)));
    let called = quoted(&called_labels(names, row));
    format!("{called}{}", probabilities.collect::<String>())
}

/// The same as entries of a JSON object.
pub(super) fn entries(names: &[String], row: &[f64], digits: usize) -> Value {
    let pairs = names.iter().zip(row);
    let pairs = pairs.map(|(name, &value)| (name.clone(), significant(value, digits)));
    let probabilities: Map<String, Value> = pairs.collect();
    let called = names.iter().zip(row).filter(|(_, value)| **value >= THRESHOLD);
    let called: Vec<&String> = called.map(|(name, _)| name).collect();
    json!({"labels": called, "probabilities": probabilities})
}
