//! Runs that belong into one table, and the rows of that table.

use crate::compare::Spread;
use crate::evaluate::Metric;
use crate::reproduce::{RunRecord, TableRow};

/// One table: an experiment under one protocol, a comparison, or the single runs on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Tells it from other groups, as `har-2/honest`.
    pub key: String,
    /// Headline.
    pub title: String,
    /// What it is of the paper, how the results came about, what they are worth.
    pub notes: Vec<String>,
    /// Never empty.
    pub rows: Vec<GroupRow>,
}

/// A row: the runs of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Name of the row.
    pub name: String,
    /// Its runs, by seed; at least one.
    pub runs: Vec<RunRecord>,
}

impl Group {
    /// What its rows are judged by.
    pub fn metric(&self) -> Metric {
        self.rows[0].runs[0].metric
    }

    /// The numbers of its rows.
    pub(super) fn table(&self) -> Vec<TableRow> {
        let metric = self.metric();
        let row = |row: &GroupRow| {
            let first = &row.runs[0];
            let runs: Vec<&RunRecord> = row.runs.iter().collect();
            TableRow::new(&row.name, &first.row_title, &first.paper, metric, row.runs.len(), &runs)
        };
        self.rows.iter().map(row).collect()
    }

    /// A sentence for each run that did not come to its end.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let metric = self.metric();
        let runs = self
            .rows
            .iter()
            .flat_map(|row| row.runs.iter().map(move |run| (row, run)));
        let unfinished = runs.filter(|(_, run)| run.cut_short);
        let sentence = |(row, run): (&GroupRow, &RunRecord)| {
            let validation = run
                .validation
                .map(|value| format!("; validation {}", metric.phrase(value)));
            let validation = validation.unwrap_or_default();
            let how = match &run.error {
                Some(error) => format!("diverged ({error})"),
                None => format!(
                    "cut short after {} of {} epochs",
                    run.epochs, run.settings.training.epochs
                ),
            };
            format!("{}, seed {}: {how}{validation}", row.name, run.seed)
        };
        unfinished.map(sentence).collect()
    }
}

impl GroupRow {
    /// One curve of the row: the mean of every epoch that all its runs have reached; those that diverged have none.
    pub(super) fn mean_curve(&self, curve: impl Fn(&RunRecord) -> &[f64]) -> Vec<f64> {
        let curves: Vec<&[f64]> = self.sound_runs().map(curve).filter(|curve| !curve.is_empty()).collect();
        let epochs = curves.iter().map(|curve| curve.len()).min().unwrap_or(0);
        let at = |epoch: usize| curves.iter().map(|curve| curve[epoch]).collect::<Vec<f64>>();
        (0..epochs)
            .filter_map(|epoch| Spread::of(&at(epoch)).map(|spread| spread.mean))
            .collect()
    }

    /// All but those that diverged.
    pub(super) fn sound_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.iter().filter(|run| run.error.is_none())
    }
}
