//! Which differences between rows are more than noise.
//!
//! Each row is held against the best one, run by run: those of the same seed, and of the same fold. Folds, and validation parts that each
//! seed draws anew, overlap in what they train on; their test is corrected for it (`evaluate::statistics`). Probabilities are corrected for
//! the number of rows (Holm).

use serde::Serialize;

use super::table::{Table, TableRow};
use ernn::evaluate::statistics::{holm, paired};
use ernn::names::counted;

/// What a probability must lie below to be more than noise.
const LEVEL: f64 = 0.05;

/// How the runs of two rows belong together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Pairs {
    /// What makes a pair.
    pub over: Over,
    /// Sequences held out over sequences trained on, where each pair draws both anew; else 0.
    pub ratio: f64,
}

/// What makes a pair of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The seed: the same sequences judge all runs.
    Seeds,
    /// The seed, which draws the validation part that judges.
    Splits,
    /// The seed and the fold.
    Folds,
}

impl Pairs {
    /// The same sequences judge all runs.
    pub fn seeds() -> Self {
        Pairs {
            over: Over::Seeds,
            ratio: 0.0,
        }
    }

    /// Each seed draws what judges.
    pub fn splits(ratio: f64) -> Self {
        Pairs {
            over: Over::Splits,
            ratio,
        }
    }

    /// Folds judge.
    pub fn folds(ratio: f64) -> Self {
        Pairs {
            over: Over::Folds,
            ratio,
        }
    }

    /// What the differences say, and what they do not.
    pub(super) fn sentence(self, comparisons: usize) -> String {
        let how = match self.over {
            Over::Seeds => {
                "paired over the seeds (t-test). All runs are judged by the same sequences: it says what other seeds would do, not what other \
                 sequences would"
            }
            Over::Splits => {
                "paired over the seeds, each with a validation part of its own (corrected resampled t-test)"
            }
            Over::Folds => "paired over seeds and folds (corrected resampled t-test, Nadeau and Bengio 2003)",
        };
        format!(
            "Behind the best: mean difference ± standard error, {how}; p corrected for {} (Holm).",
            counted(comparisons, "comparison")
        )
    }
}

/// How far a row is behind the best one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The best row.
    pub best: String,
    /// Pairs of runs.
    pub pairs: usize,
    /// Mean of its score minus that of the best.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Probability of such a difference between rows that are alike, corrected for the number of rows.
    pub p: f64,
    /// Whether it is more than noise: p below 0.05.
    pub more_than_noise: bool,
}

/// Holds every row against the best one.
pub(super) fn to_the_best(table: &mut Table) {
    let better = |row: &&TableRow| {
        let sign = if row.metric.higher_is_better() { -1.0 } else { 1.0 };
        row.score.map_or(f64::INFINITY, |score| sign * score.mean)
    };
    let best = table
        .rows
        .iter()
        .min_by(|one, other| better(one).total_cmp(&better(other)));
    let Some(best) = best.filter(|best| best.score.is_some()).cloned() else {
        return;
    };
    let tests: Vec<_> = table
        .rows
        .iter()
        .map(|row| match row.name == best.name {
            true => None,
            false => {
                let differences = differences(row, &best);
                paired(&differences, table.pairs.ratio).map(|test| (test, differences.len()))
            }
        })
        .collect();
    let probabilities: Vec<f64> = tests.iter().flatten().map(|(test, _)| test.p).collect();
    let mut corrected = holm(&probabilities).into_iter();
    for (row, test) in table.rows.iter_mut().zip(tests) {
        row.behind = test.map(|(test, pairs)| {
            let p = corrected.next().expect("one a test");
            Difference {
                best: best.name.clone(),
                pairs,
                mean: test.mean,
                error: test.error,
                p,
                more_than_noise: p < LEVEL,
            }
        });
    }
}

fn differences(row: &TableRow, best: &TableRow) -> Vec<f64> {
    let pair = |value: &super::table::Value| {
        let other = best
            .values
            .iter()
            .find(|other| (other.seed, other.fold) == (value.seed, value.fold))?;
        Some(value.score - other.score)
    };
    row.values.iter().filter_map(pair).collect()
}
