//! The numbers of an experiment: the paper's, ours, and the difference.

use serde::Serialize;

use super::{Experiment, Paper, RunRecord, Variant};
use crate::compare::Spread;
use ernn::evaluate::Metric;
use ernn::train::Ending;

/// All rows of an experiment in one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Name of the experiment.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// The paper's table or figure.
    pub table: Option<String>,
    /// Protocol, and whether it is the tiny version.
    pub variant: String,
    /// What rows are judged by.
    pub metric: Metric,
    /// In the order of the experiment.
    pub rows: Vec<TableRow>,
}

/// A row: its runs in numbers. Values are as shown: accuracies in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableRow {
    /// Name of the row.
    pub name: String,
    /// Its name in the paper.
    pub title: String,
    /// What the paper says.
    pub paper: Paper,
    /// On the test part, over the seeds that came to their end.
    pub test: Option<Spread>,
    /// Ours less the paper's.
    pub difference: Option<f64>,
    /// On the validation part, over all seeds but those that diverged.
    pub validation: Option<Spread>,
    /// Size of the model, without its embedding.
    pub size_kb: Option<f64>,
    /// Numbers in the model.
    pub parameters: Option<usize>,
    /// Mean wall time of the training.
    pub train_seconds: Option<f64>,
    /// Time of one sequence on one thread.
    pub latency_milliseconds: Option<f64>,
    /// Runs that came to their end.
    pub finished: usize,
    /// Runs whose time was over before their end.
    pub cut_short: usize,
    /// Runs in which loss or gradient stopped being numbers.
    pub diverged: usize,
    /// Runs that are asked for.
    pub seeds: usize,
}

impl Table {
    /// The numbers of an experiment from its result files.
    pub fn new(experiment: &Experiment, variant: Variant, seeds: usize, records: &[RunRecord]) -> Self {
        let row = |row: &super::Row| {
            let own: Vec<&RunRecord> = records.iter().filter(|record| record.row == row.name).collect();
            TableRow::new(&row.name, &row.title, &row.paper, experiment.metric, seeds, &own)
        };
        Table {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            table: experiment.table.clone(),
            variant: variant.to_string(),
            metric: experiment.metric,
            rows: experiment.rows.iter().map(row).collect(),
        }
    }
}

impl TableRow {
    /// The numbers of a row from its result files.
    pub(crate) fn new(
        name: &str,
        title: &str,
        paper: &Paper,
        metric: Metric,
        seeds: usize,
        records: &[&RunRecord],
    ) -> Self {
        let with = |ending: &dyn Fn(Ending) -> bool| {
            let of = records.iter().filter(|record| ending(record.ending));
            of.copied().collect::<Vec<&RunRecord>>()
        };
        let finished = with(&|ending| matches!(ending, Ending::Finished | Ending::EarlyStopped));
        let shown = |values: &[&RunRecord], value: fn(&RunRecord) -> Option<f64>| {
            let values: Vec<f64> = values.iter().filter_map(|record| value(record)).collect();
            Spread::of(&values.into_iter().map(|value| metric.shown(value)).collect::<Vec<_>>())
        };
        let mean = |values: Vec<f64>| Spread::of(&values).map(|spread| spread.mean);
        let test = shown(&finished, |record| record.test);
        TableRow {
            name: name.to_string(),
            title: title.to_string(),
            paper: paper.clone(),
            test,
            difference: test.and_then(|test| Some(test.mean - paper.figure(metric)?)),
            validation: shown(&with(&|ending| ending != Ending::Diverged), |record| record.validation),
            size_kb: records.first().map(|record| record.size_without_embedding()),
            parameters: records.first().map(|record| record.parameters),
            train_seconds: mean(finished.iter().map(|record| record.train_seconds).collect()),
            latency_milliseconds: records.iter().find_map(|record| record.latency_milliseconds),
            finished: finished.len(),
            cut_short: with(&|ending| ending == Ending::Interrupted).len(),
            diverged: with(&|ending| ending == Ending::Diverged).len(),
            seeds,
        }
    }
}
