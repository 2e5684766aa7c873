//! The numbers of a comparison, one row a variant.

use serde::Serialize;

use super::difference::{Difference, Pairs};
use super::plan::{ITERATIONS, Row};
use super::vary::Varied;
use ernn::evaluate::{FoldReport, Metric, Spread, mean};
use ernn::train::PastRun;

/// The numbers of all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Name of the data set.
    pub dataset: String,
    /// The part that accuracies are of; none before the first run has ended.
    pub part: Option<String>,
    /// The seeds of every row.
    pub seeds: Vec<u64>,
    /// Whether all runs have ended.
    pub complete: bool,
    /// One a variant; the best one first where settings were varied.
    pub rows: Vec<TableRow>,
    /// How the runs of two rows belong together.
    pub pairs: Pairs,
    /// The best settings of each kind of row, where settings were varied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub best: Vec<Best>,
}

/// The row of a kind that the validation part likes best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Best {
    /// The cell, and its inner iterations if it has them.
    pub kind: String,
    /// Name of the row.
    pub row: String,
    /// Its complete settings, a file in the folder of the comparison; they do not retrain.
    pub file: String,
}

impl Table {
    /// Puts the best row first, and rows without a score last.
    pub(super) fn sort(&mut self) {
        self.rows.sort_by(|one, other| {
            let better = |row: &TableRow| {
                let sign = if row.metric.higher_is_better() { -1.0 } else { 1.0 };
                row.score.map_or(f64::INFINITY, |score| sign * score.mean)
            };
            better(one).total_cmp(&better(other))
        });
    }
}

/// The numbers of a row. Means are over the runs that came to their end; a diverged run has no accuracy to speak of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableRow {
    /// Name of the row and of its folder.
    pub name: String,
    /// Kind of the cells.
    pub cell: String,
    /// What it has of its own, where settings were varied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<Varied>,
    /// Hidden size (of the first layer).
    pub hidden: usize,
    /// Inner iterations K, of cells that have them.
    pub iterations: Option<i64>,
    /// What the score is.
    pub metric: Metric,
    /// Accuracy, or what else the task is judged by, over the seeds, and their folds where there are some.
    pub score: Option<Spread>,
    /// Numbers in the model.
    pub parameters: usize,
    /// Size as the paper counts it: 4 bytes for each parameter that is not zero, without those of the embedding, 1 KB being 1,024 bytes. Before
    /// the first run has ended, all parameters count.
    pub kilobytes: f64,
    /// Mean wall time of the training.
    pub train_seconds: Option<f64>,
    /// Mean wall time up to the epoch that was selected, without retraining.
    pub seconds_to_best: Option<f64>,
    /// Time of one sequence on one thread, the median of many.
    pub latency_milliseconds: Option<f64>,
    /// Runs that have ended, the diverged ones among them.
    pub seeds_done: usize,
    /// Runs that are asked for.
    pub seeds: usize,
    /// Runs in which loss or gradient stopped being numbers.
    pub diverged: usize,
    /// Whether all runs have ended.
    pub complete: bool,
    /// The score of each run that came to its end, and of each of its folds.
    pub values: Vec<Value>,
    /// How far it is behind the best row; none for that one, and where there are fewer than two pairs of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Difference>,
}

/// The score of one run, or of one of its folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The seed.
    pub seed: u64,
    /// The fold, from 1; none where there are no folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// Accuracy, or what else the task is judged by.
    pub score: f64,
}

fn values_of(run: &PastRun) -> Vec<Value> {
    let seed = run.settings.training.seed;
    let Some(folds) = &run.folds else {
        let score = run.evaluation.score().1;
        return vec![Value {
            seed,
            fold: None,
            score,
        }];
    };
    let value = |fold: &FoldReport| {
        fold.score.map(|score| Value {
            seed,
            fold: Some(fold.fold),
            score,
        })
    };
    folds.folds.iter().filter_map(value).collect()
}

impl TableRow {
    /// The numbers of a row from those of its runs that have ended.
    pub(super) fn new(row: &Row, ended: &[PastRun], seeds: usize, latency_milliseconds: Option<f64>) -> Self {
        let finished: Vec<&PastRun> = ended.iter().filter(|run| run.is_finished()).collect();
        let scores: Vec<Value> = finished.iter().flat_map(|run| values_of(run)).collect();
        let values = |value: fn(&PastRun) -> f64| finished.iter().map(|run| value(run)).collect::<Vec<f64>>();
        TableRow {
            name: row.name.clone(),
            cell: row.settings.cell().to_string(),
            varied: row.varied.clone(),
            hidden: row.settings.model.layers[0].hidden(),
            iterations: row
                .settings
                .layer_setting(ITERATIONS)
                .as_ref()
                .and_then(toml::Value::as_integer),
            metric: ended.first().map_or(Metric::default(), |run| run.evaluation.score().0),
            score: Spread::of(&scores.iter().map(|value| value.score).collect::<Vec<f64>>()),
            parameters: row.parameters,
            kilobytes: mean(&values(PastRun::size_without_embedding)).unwrap_or(row.parameters as f64 * 4.0 / 1024.0),
            train_seconds: mean(&values(|run| run.train_seconds)),
            seconds_to_best: mean(&values(PastRun::seconds_to_best))
                .filter(|_| finished.iter().any(|run| run.folds.is_none())),
            latency_milliseconds,
            seeds_done: ended.len(),
            seeds,
            diverged: ended.len() - finished.len(),
            complete: ended.len() == seeds,
            values: scores,
            behind: None,
        }
    }
}
