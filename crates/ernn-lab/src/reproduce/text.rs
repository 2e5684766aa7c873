//! The table for people: paper | ours | difference.

use super::{Table, TableRow};
use crate::compare::{Spread, aligned};
use ernn::evaluate::Metric;

/// What people see where a number is not known.
const NOTHING: &str = "-";

impl Table {
    /// Headline and aligned table, in Markdown.
    pub fn to_markdown(&self) -> String {
        let table = self
            .table
            .as_ref()
            .map_or_else(String::new, |table| format!(", {table}"));
        let quick = if self.variant.ends_with("-quick") {
            " Tiny version: the numbers say that it runs, and nothing else."
        } else {
            ""
        };
        format!(
            "{} ({}{table}), protocol {}.{quick}\n\n{}",
            self.title,
            self.experiment,
            self.variant,
            self.markdown_rows()
        )
    }

    pub(crate) fn markdown_rows(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let mut cells = cells(row, self.metric);
            if let Some((_, ours)) = cells.iter_mut().find(|(name, text)| name == "ours" && text == NOTHING)
                && row.finished > 0
            {
                *ours = "no test part".to_string();
            }
            cells
        });
        let (mut names, mut lines) = (Vec::new(), Vec::new());
        for row in rows {
            let (row_names, values): (Vec<String>, Vec<String>) = row.into_iter().unzip();
            names = row_names;
            lines.push(values);
        }
        lines.insert(0, names);
        aligned(&lines)
    }
}

/// Column names and texts of a row; the same for every way to show a table.
pub(crate) fn cells(row: &TableRow, metric: Metric) -> Vec<(String, String)> {
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| NOTHING.to_string(), |value| format!("{value:.decimals$}"))
    };
    let paper = row.paper.figure(metric).map(|figure| metric.text(figure));
    [
        ("row", row.title.clone()),
        (&format!("paper: {}", metric.title()), or_nothing(paper)),
        ("ours", ours(row, metric)),
        (
            "difference",
            or_nothing(row.difference.map(|value| metric.difference_text(value))),
        ),
        (
            "lowest to highest",
            or_nothing(row.test.map(|spread| extremes(spread, metric))),
        ),
        (
            "validation",
            or_nothing(row.validation.map(|spread| metric.text(spread.mean))),
        ),
        (
            "paper: KB",
            or_nothing(row.paper.kilobytes.map(|size| size.to_string())),
        ),
        ("KB", number(row.size_kb, 1)),
        ("paper: training, s", number(row.paper.train_seconds(), 0)),
        ("training, s", number(row.train_seconds, 1)),
        (
            "paper: one sequence, ms",
            or_nothing(row.paper.test_milliseconds.map(|time| time.to_string())),
        ),
        ("one sequence, ms", number(row.latency_milliseconds, 3)),
        ("seeds", seeds(row)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

fn or_nothing(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOTHING.to_string())
}

/// `94.42 ± 0.31`.
pub(crate) fn mean(spread: Spread, metric: Metric) -> String {
    match spread.deviation {
        Some(deviation) => format!("{} ± {}", metric.text(spread.mean), metric.text(deviation)),
        None => metric.text(spread.mean),
    }
}

fn ours(row: &TableRow, metric: Metric) -> String {
    match row.test {
        Some(spread) => mean(spread, metric),
        None if row.diverged > 0 => "diverged".to_string(),
        None if row.cut_short > 0 => "cut short".to_string(),
        None => NOTHING.to_string(),
    }
}

fn extremes(spread: Spread, metric: Metric) -> String {
    format!("{} to {}", metric.text(spread.lowest), metric.text(spread.highest))
}

/// `2/3, 1 cut short`.
fn seeds(row: &TableRow) -> String {
    let mut text = format!("{}/{}", row.finished, row.seeds);
    for (count, what) in [(row.cut_short, "cut short"), (row.diverged, "diverged")] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text
}
