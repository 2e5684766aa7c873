//! How labels fare of which several can hold: all together, and a table with each.

use ernn::evaluate::{LabelReport, LabelsReport};
use ernn::names;

use crate::output::{grouped, percent};
use crate::table::{Cell, Table};
use crate::terminal::COLUMNS;

/// Means and the table; `score` stands before them.
pub fn text(found: &LabelsReport, colors: bool) -> String {
    let mut text = format!(
        "micro F1 {}, macro F1 {}, all labels right {}",
        share(found.micro_f1),
        share(found.macro_f1),
        percent(found.exact_match)
    );
    if let Some(always) = found.always_the_same {
        text += &format!(
            "\nalways the same probabilities: mean average precision {}",
            percent(always)
        );
    }
    let absent: Vec<String> = found.absent().into_iter().map(String::from).collect();
    if !absent.is_empty() {
        text += &format!(
            "\nno sequence has {}: left out of the mean average precision",
            names::joined(&absent)
        );
    }
    let mut lines = vec![text, String::new()];
    lines.extend(per_label(&found.per_label).lines(COLUMNS, colors));
    lines.join("\n")
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), percent)
}

fn per_label(labels: &[LabelReport]) -> Table {
    let cell = |value: Option<f64>| Cell::from(share(value));
    let mut table = Table::new([
        "label",
        "sequences",
        "called",
        " recall",
        "precision",
        "     F1",
        "average precision",
    ]);
    for label in labels {
        table.row([
            names::line(&label.name).into(),
            grouped(label.support).into(),
            grouped(label.called).into(),
            cell(label.recall),
            cell(label.precision),
            cell(label.f1),
            cell(label.average_precision),
        ]);
    }
    table
}
