//! What a model of numbers says of sequences beside what is true, and the figures of it.

use super::numbers::NumberReport;
use super::quantiles::{QuantileReport, in_order, nearest_to_median};
use crate::checkpoint::SavedModel;
use crate::model::ModelConfig;

/// What a model says of numbers, and what is known of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NumberAnswers {
    /// What was said, `[sequences, targets, quantiles]`, quantiles in order.
    pub said: Vec<f64>,
    /// What is true, `[sequences, targets]`.
    pub targets: Vec<f64>,
    /// Which quantiles; none: one number a target.
    pub quantiles: Vec<f64>,
    /// What each target is called.
    pub names: Vec<String>,
    /// The mean of each target where it was trained on; empty where that is not known.
    pub trained_means: Vec<f64>,
}

impl NumberAnswers {
    /// Of a model by itself, which knows nothing of the numbers that it was trained on.
    pub fn of(config: &ModelConfig, outputs: &[f32], targets: &[f32]) -> Self {
        let mut said = outputs.to_vec();
        in_order(&mut said, config.quantiles.len());
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        NumberAnswers {
            said: wide(&said),
            targets: wide(targets),
            quantiles: config.quantiles.clone(),
            names: (1..=config.targets()).map(|target| target.to_string()).collect(),
            trained_means: Vec::new(),
        }
    }

    /// With what a saved model knows.
    pub fn known_to(self, saved: &SavedModel) -> Self {
        NumberAnswers {
            names: saved.target_names(),
            trained_means: saved.provenance.targets.iter().map(|scale| scale.mean).collect(),
            ..self
        }
    }

    /// Sequences.
    pub fn len(&self) -> usize {
        self.targets.len() / self.names.len().max(1)
    }

    /// (predicted, true), `[sequences, targets]`: of quantiles the one nearest to the median.
    pub fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        let each = self.quantiles.len().max(1);
        let place = nearest_to_median(&self.quantiles);
        let rows = self.said.chunks_exact(each).zip(&self.targets);
        rows.map(move |(row, &target)| (row[place], target))
    }

    /// The figures of all, and of each target where there are several.
    pub fn report(&self) -> NumberReport {
        let count = self.names.len();
        let mut reports: Vec<NumberReport> = (0..count).map(|target| self.of_target(target)).collect();
        match reports.len() {
            1 => reports.swap_remove(0),
            _ => NumberReport::of_targets(self.len(), reports),
        }
    }

    fn of_target(&self, target: usize) -> NumberReport {
        let count = self.names.len();
        let pairs: Vec<(f64, f64)> = self.pairs().skip(target).step_by(count).collect();
        let report = NumberReport::new(&pairs, self.trained_means.get(target).copied());
        let each = self.quantiles.len().max(1);
        let rows = self.said.chunks_exact(each).zip(&self.targets);
        let rows: Vec<(&[f64], f64)> = rows.map(|(row, &own)| (row, own)).skip(target).step_by(count).collect();
        NumberReport {
            name: (count > 1).then(|| self.names[target].clone()),
            quantiles: (!self.quantiles.is_empty()).then(|| QuantileReport::new(&self.quantiles, &rows)),
            ..report
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> NumberAnswers {
        NumberAnswers {
            said: vec![1.0, 10.0, 2.0, 30.0, 3.0, 20.0],
            targets: vec![1.5, 11.0, 2.0, 28.0, 2.0, 21.0],
            names: vec!["a".to_string(), "b".to_string()],
            trained_means: vec![2.0, 20.0],
            ..NumberAnswers::default()
        }
    }

    #[test]
    fn targets_have_figures_of_their_own_and_together() {
        let found = answers().report();
        let of = |pairs: &[(f64, f64)], mean| NumberReport::new(pairs, Some(mean));
        let a = of(&[(1.0, 1.5), (2.0, 2.0), (3.0, 2.0)], 2.0);
        let b = of(&[(10.0, 11.0), (30.0, 28.0), (20.0, 21.0)], 20.0);
        assert_eq!(found.targets[0].name.as_deref(), Some("a"));
        for (own, expected) in found.targets.iter().zip([&a, &b]) {
            assert_eq!(own.mean_absolute_error, expected.mean_absolute_error);
            assert_eq!((own.r2, &own.always_mean), (expected.r2, &expected.always_mean));
        }
        assert!(
            (found.mean_absolute_error - (1.5 + 4.0) / 6.0).abs() < 1e-12,
            "{found:?}"
        );
        assert!((found.root_mean_squared_error.powi(2) - (1.25 + 6.0) / 6.0).abs() < 1e-12);
        assert_eq!(found.r2, Some((a.r2.unwrap() + b.r2.unwrap()) / 2.0));
        assert_eq!((found.pairs.len(), found.name), (0, None), "no picture of two units");
    }

    #[test]
    fn parts_of_several_targets_are_pooled_exactly() {
        let all = answers();
        let part = |range: std::ops::Range<usize>| NumberAnswers {
            said: all.said[2 * range.start..2 * range.end].to_vec(),
            targets: all.targets[2 * range.start..2 * range.end].to_vec(),
            ..all.clone()
        };
        let (one, other) = (part(0..1).report(), part(1..3).report());
        let (pooled, all) = (NumberReport::pooled(&[(1, &one), (2, &other)]), all.report());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(pooled.mean_absolute_error, all.mean_absolute_error));
        assert!(close(pooled.r2.unwrap(), all.r2.unwrap()), "{pooled:?} {all:?}");
        assert!(close(pooled.targets[1].r2.unwrap(), all.targets[1].r2.unwrap()));
        assert_eq!(pooled.targets[1].name.as_deref(), Some("b"));
    }

    #[test]
    fn the_median_stands_for_quantiles() {
        let quantiles = NumberAnswers {
            said: vec![0.0, 1.0, 4.0, 1.0, 2.0, 3.0],
            targets: vec![1.5, 4.0],
            quantiles: vec![0.1, 0.5, 0.9],
            names: vec!["y".to_string()],
            trained_means: Vec::new(),
        };
        let found = quantiles.report();
        assert_eq!(found.mean_absolute_error, 1.25);
        let own = found.quantiles.unwrap();
        assert_eq!((own.coverage, found.targets.len()), (Some(0.5), 0));
    }
}
