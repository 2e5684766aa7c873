//! What is said of numbers that were predicted, in their own unit.
//!
//! ```text
//! mean absolute error        1/N sum_n |x[n] - y[n]|
//! root mean squared error    sqrt(1/N sum_n (x[n] - y[n])^2)
//! R2                         1 - sum_n (x[n] - y[n])^2 / sum_n (y[n] - mean y)^2      mean y: of the part that is looked at
//! ```
//!
//! x: predicted, y: true. Beside them stands the answer of who knows nothing: always the mean of the sequences that were trained on. All
//! sums can be put together again from the means, so that several parts are pooled exactly.

use serde::{Deserialize, Serialize};

use super::quantiles::QuantileReport;
use super::report::mean;

/// Errors of numbers that were predicted; of several targets together their means, of which a large unit makes the most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberReport {
    /// Which of several targets this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether steps have these numbers, and not sequences.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_steps: bool,
    /// In the unit of the numbers.
    pub mean_absolute_error: f64,
    /// In the unit of the numbers.
    pub root_mean_squared_error: f64,
    /// Share of the variance that is explained; none where all true numbers are alike. Of several targets the mean of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// Mean of the true numbers.
    pub target_mean: f64,
    /// Standard deviation of the true numbers.
    pub target_deviation: f64,
    /// The errors of saying always the mean of the sequences that were trained on; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_mean: Option<AlwaysMean>,
    /// (predicted, true) of some of the numbers, spread evenly over all: what a picture shows. None of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[f32; 2]>,
    /// What is said without a model, where the numbers are the next values of channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
    /// How the quantiles fare, where some are predicted; the errors are then those of the one nearest to the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<QuantileReport>,
    /// Each of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NumberReport>,
}

/// Pairs at most.
const PAIRS: usize = 400;

/// The errors of one answer to everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlwaysMean {
    /// The answer; of several models the mean of theirs.
    pub answer: f64,
    /// In the unit of the numbers.
    pub mean_absolute_error: f64,
    /// In the unit of the numbers.
    pub root_mean_squared_error: f64,
}

/// The errors of an answer that needs no model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// What it says.
    pub name: String,
    /// In the unit of the numbers.
    pub mean_absolute_error: f64,
    /// In the unit of the numbers.
    pub root_mean_squared_error: f64,
}

impl Baseline {
    /// Of pairs (said, true).
    pub(super) fn new(name: &str, pairs: &[(f64, f64)]) -> Self {
        let mean_of = |value: &dyn Fn(f64) -> f64| mean(pairs.iter().map(|(said, target)| value(said - target)));
        Baseline {
            name: name.to_string(),
            mean_absolute_error: mean_of(&f64::abs),
            root_mean_squared_error: mean_of(&|error| error.powi(2)).sqrt(),
        }
    }

    /// Those that all parts, each of so many numbers, have, of all together.
    fn pooled(parts: &[(usize, &NumberReport)]) -> Vec<Self> {
        let first = parts.first().map_or(&[][..], |(_, part)| &part.baselines);
        let count = parts.iter().map(|(count, _)| count).sum::<usize>().max(1) as f64;
        let pooled = |own: &Baseline| {
            let of_part = |(count, part): &(usize, &NumberReport)| {
                let own = part.baselines.iter().find(|other| other.name == own.name)?;
                let share = *count as f64;
                Some([
                    share * own.mean_absolute_error,
                    share * own.root_mean_squared_error.powi(2),
                ])
            };
            let all: Option<Vec<[f64; 2]>> = parts.iter().map(of_part).collect();
            let sum = |place: usize| Some(all.as_ref()?.iter().map(|own| own[place]).sum::<f64>() / count);
            Some(Baseline {
                name: own.name.clone(),
                mean_absolute_error: sum(0)?,
                root_mean_squared_error: sum(1)?.sqrt(),
            })
        };
        first.iter().filter_map(pooled).collect()
    }
}

impl NumberReport {
    /// Of pairs (predicted, true); `trained_mean` is the mean of the numbers that were trained on.
    pub fn new(pairs: &[(f64, f64)], trained_mean: Option<f64>) -> Self {
        let mean_of = |value: &dyn Fn(f64, f64) -> f64| mean(pairs.iter().map(|&(found, target)| value(found, target)));
        let target_mean = mean_of(&|_, target| target);
        let error = mean_of(&|found, target| (found - target).powi(2));
        let variance = mean_of(&|_, target| (target - target_mean).powi(2));
        NumberReport {
            mean_absolute_error: mean_of(&|found, target| (found - target).abs()),
            root_mean_squared_error: error.sqrt(),
            r2: r2(error, variance),
            target_mean,
            target_deviation: variance.sqrt(),
            always_mean: trained_mean.map(|answer| AlwaysMean {
                answer,
                mean_absolute_error: mean_of(&|_, target| (answer - target).abs()),
                root_mean_squared_error: mean_of(&|_, target| (answer - target).powi(2)).sqrt(),
            }),
            pairs: spread(
                pairs
                    .iter()
                    .map(|&(found, target)| [found as f32, target as f32])
                    .collect(),
            ),
            ..NumberReport::default()
        }
    }

    /// Of several targets of so many sequences; a picture shows them together if they have one unit.
    pub(super) fn of_targets(sequences: usize, targets: Vec<NumberReport>, one_unit: bool) -> Self {
        let parts: Vec<(usize, &NumberReport)> = targets.iter().map(|target| (sequences, target)).collect();
        let own = targets.iter().map(|target| target.r2).collect::<Option<Vec<f64>>>();
        let r2 = own.filter(|all| !all.is_empty()).map(|all| mean(all.iter().copied()));
        let pooled = NumberReport::pooled(&parts);
        NumberReport {
            r2,
            name: None,
            pairs: if one_unit { pooled.pairs } else { Vec::new() },
            targets: targets
                .iter()
                .map(|target| NumberReport {
                    pairs: Vec::new(),
                    ..target.clone()
                })
                .collect(),
            ..pooled
        }
    }

    /// Several reports, each of so many numbers, as one of all.
    pub fn pooled(parts: &[(usize, &NumberReport)]) -> Self {
        let targets = parts.first().map_or(0, |(_, part)| part.targets.len());
        if targets > 0 && parts.iter().all(|(_, part)| part.targets.len() == targets) {
            let pooled = |target: usize| {
                let own: Vec<_> = parts
                    .iter()
                    .map(|&(count, part)| (count, &part.targets[target]))
                    .collect();
                NumberReport::pooled(&own)
            };
            let sequences = parts.iter().map(|(count, _)| count).sum();
            let all = NumberReport::of_targets(sequences, (0..targets).map(pooled).collect(), false);
            let pairs = parts.iter().flat_map(|(_, part)| part.pairs.iter().copied());
            return NumberReport {
                pairs: spread(pairs.collect()),
                ..all
            };
        }
        let count = parts.iter().map(|(count, _)| count).sum::<usize>().max(1) as f64;
        let mean_of = |value: &dyn Fn(&NumberReport) -> f64| {
            parts
                .iter()
                .map(|&(count, part)| count as f64 * value(part))
                .sum::<f64>()
                / count
        };
        let target_mean = mean_of(&|part| part.target_mean);
        let error = mean_of(&|part| part.root_mean_squared_error.powi(2));
        let variance = mean_of(&|part| part.target_deviation.powi(2) + (part.target_mean - target_mean).powi(2));
        let always: Option<Vec<(f64, &AlwaysMean)>> = parts
            .iter()
            .map(|(count, part)| Some((*count as f64, part.always_mean.as_ref()?)))
            .collect();
        let mean_of_always = |all: &[(f64, &AlwaysMean)], value: &dyn Fn(&AlwaysMean) -> f64| {
            all.iter().map(|(weight, always)| weight * value(always)).sum::<f64>() / count
        };
        let quantiles: Vec<_> = parts
            .iter()
            .map(|(count, part)| (*count, part.quantiles.as_ref()))
            .collect();
        NumberReport {
            name: parts.first().and_then(|(_, part)| part.name.clone()),
            of_steps: parts.iter().any(|(_, part)| part.of_steps),
            baselines: Baseline::pooled(parts),
            quantiles: QuantileReport::pooled(&quantiles),
            targets: Vec::new(),
            mean_absolute_error: mean_of(&|part| part.mean_absolute_error),
            root_mean_squared_error: error.sqrt(),
            r2: r2(error, variance),
            target_mean,
            target_deviation: variance.sqrt(),
            always_mean: always.filter(|all| !all.is_empty()).map(|all| AlwaysMean {
                answer: mean_of_always(&all, &|always| always.answer),
                mean_absolute_error: mean_of_always(&all, &|always| always.mean_absolute_error),
                root_mean_squared_error: mean_of_always(&all, &|always| always.root_mean_squared_error.powi(2)).sqrt(),
            }),
            pairs: spread(parts.iter().flat_map(|(_, part)| part.pairs.iter().copied()).collect()),
        }
    }
}

/// At most so many, spread evenly over all.
fn spread(pairs: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    let count = pairs.len().min(PAIRS);
    (0..count).map(|place| pairs[place * pairs.len() / count]).collect()
}

fn r2(error: f64, variance: f64) -> Option<f64> {
    (variance > 0.0).then(|| 1.0 - error / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(f64, f64); 5] = [(2.5, 3.0), (0.0, -0.5), (2.0, 2.0), (8.0, 7.0), (4.5, 4.0)];

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    #[test]
    fn as_scikit_learn_has_it() {
        // sklearn.metrics: mean_absolute_error, root_mean_squared_error, r2_score of the first four: its own example.
        let found = NumberReport::new(&PAIRS[..4], Some(1.0));
        assert!(close(found.mean_absolute_error, 0.5) && close(found.root_mean_squared_error.powi(2), 0.375));
        assert!(close(found.r2.unwrap(), 0.948_608_137_044_967_9), "{found:?}");
        let always = found.always_mean.unwrap();
        assert!(close(always.mean_absolute_error, (2.0 + 1.5 + 1.0 + 6.0) / 4.0));
        assert!(close(
            always.root_mean_squared_error.powi(2),
            (4.0 + 2.25 + 1.0 + 36.0) / 4.0
        ));
    }

    #[test]
    fn parts_are_pooled_exactly() {
        let [one, other] = [&PAIRS[..2], &PAIRS[2..]].map(|pairs| NumberReport::new(pairs, Some(3.0)));
        let pooled = NumberReport::pooled(&[(2, &one), (3, &other)]);
        let all = NumberReport::new(&PAIRS, Some(3.0));
        for (found, expected) in [
            (pooled.mean_absolute_error, all.mean_absolute_error),
            (pooled.root_mean_squared_error, all.root_mean_squared_error),
            (pooled.r2.unwrap(), all.r2.unwrap()),
            (pooled.target_deviation, all.target_deviation),
            (
                pooled.always_mean.unwrap().root_mean_squared_error,
                all.always_mean.unwrap().root_mean_squared_error,
            ),
        ] {
            assert!(close(found, expected), "{found} {expected}");
        }
    }

    #[test]
    fn a_picture_gets_some_pairs_of_all() {
        let pairs: Vec<(f64, f64)> = (0..1000).map(|number| (f64::from(number), 0.5)).collect();
        let report = NumberReport::new(&pairs, None);
        assert_eq!(
            (report.pairs.len(), report.pairs[0], report.pairs[399][0]),
            (400, [0.0, 0.5], 997.0)
        );
        assert_eq!(
            NumberReport::pooled(&[(1000, &report), (1000, &report)]).pairs.len(),
            400
        );
        assert_eq!(NumberReport::new(&pairs[..3], None).pairs.len(), 3);
    }

    #[test]
    fn numbers_that_are_alike_explain_nothing() {
        assert_eq!(NumberReport::new(&[(1.0, 2.0), (3.0, 2.0)], None).r2, None);
        assert_eq!(NumberReport::new(&[], None).mean_absolute_error, 0.0);
    }
}
