//! What a model of numbers says of sequences beside what is true, and the figures of it.

use super::numbers::{Baseline, NumberReport};
use super::quantiles::{QuantileReport, in_order, nearest_to_median};
use crate::checkpoint::SavedModel;
use crate::data::{Forecast, View};
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
    /// What is said without a model, `[sequences, targets]`, each with its name.
    pub baselines: Vec<(String, Vec<f64>)>,
    /// All targets have one unit: a picture may show them together.
    pub one_unit: bool,
    /// They are those of steps, and not of sequences.
    pub of_steps: bool,
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
            ..NumberAnswers::default()
        }
    }

    /// With what a saved model knows of the sequences that it was asked about.
    pub fn known_to(self, saved: &SavedModel, part: &View) -> Self {
        let forecast = saved.provenance.forecast.as_ref();
        NumberAnswers {
            names: saved.target_names(),
            trained_means: saved.provenance.targets.iter().map(|scale| scale.mean).collect(),
            baselines: forecast.map_or_else(Vec::new, |forecast| baselines(forecast, part)),
            one_unit: forecast.is_some_and(|forecast| forecast.channels.len() == 1),
            ..self
        }
    }

    /// Sequences, or steps.
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
            _ => NumberReport::of_targets(self.len(), reports, self.one_unit),
        }
    }

    /// (said, true) of a target.
    fn pairs_of(&self, said: &[f64], target: usize) -> Vec<(f64, f64)> {
        let pairs = said.iter().copied().zip(self.targets.iter().copied());
        pairs.skip(target).step_by(self.names.len()).collect()
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
            of_steps: self.of_steps,
            quantiles: (!self.quantiles.is_empty()).then(|| QuantileReport::new(&self.quantiles, &rows)),
            baselines: self
                .baselines
                .iter()
                .map(|(name, said)| Baseline::new(name, &self.pairs_of(said, target)))
                .collect(),
            ..report
        }
    }
}

/// The last value, and the value one season earlier where a season was named and every sequence has one.
fn baselines(forecast: &Forecast, part: &View) -> Vec<(String, Vec<f64>)> {
    let features = part.channels();
    let of = |said: &dyn Fn(&[f32]) -> Option<Vec<f32>>| {
        let all: Option<Vec<Vec<f32>>> = (0..part.len()).map(|index| said(part.numbers(index))).collect();
        all.map(|all| all.concat().into_iter().map(f64::from).collect::<Vec<f64>>())
    };
    let last = of(&|values| (!values.is_empty()).then(|| forecast.last_values(values, features)));
    let season = of(&|values| forecast.last_season(values, features));
    let name = format!(
        "the value one season ({} steps) earlier",
        forecast.season.unwrap_or_default()
    );
    let named = [("the last value".to_string(), last), (name, season)];
    named
        .into_iter()
        .filter_map(|(name, said)| Some((name, said?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Part;

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
            ..NumberAnswers::default()
        };
        let found = quantiles.report();
        assert_eq!(found.mean_absolute_error, 1.25);
        let own = found.quantiles.unwrap();
        assert_eq!((own.coverage, found.targets.len()), (Some(0.5), 0));
    }

    #[test]
    fn a_forecast_is_judged_beside_the_last_value_and_the_last_season() {
        let mut part = Part::new(1);
        part.push(&[1.0, 5.0, 2.0], None, None);
        part.push(&[4.0, 4.0, 8.0], None, None);
        part.numbers = vec![1.0, 4.0, 4.0, 5.0];
        let forecast = |season| Forecast {
            channels: vec![0],
            horizon: 2,
            season,
        };
        let view = View::of(&part);
        let found = baselines(&forecast(Some(3)), &view);
        assert_eq!(found[0], ("the last value".to_string(), vec![2.0, 2.0, 8.0, 8.0]));
        assert_eq!(
            found[1],
            (
                "the value one season (3 steps) earlier".to_string(),
                vec![1.0, 5.0, 4.0, 4.0]
            )
        );
        assert_eq!(baselines(&forecast(Some(4)), &view).len(), 1, "no sequence is so long");
        let answers = NumberAnswers {
            said: vec![1.0; 4],
            targets: part.numbers.iter().map(|&number| f64::from(number)).collect(),
            names: vec!["x+1".to_string(), "x+2".to_string()],
            baselines: found,
            one_unit: true,
            ..NumberAnswers::default()
        };
        let report = answers.report();
        assert_eq!(report.baselines[1].mean_absolute_error, 0.5);
        assert_eq!(
            report.baselines[0].root_mean_squared_error,
            ((1.0 + 4.0 + 16.0 + 9.0f64) / 4.0).sqrt()
        );
        assert_eq!(
            (report.targets[0].baselines[0].mean_absolute_error, report.pairs.len()),
            (2.5, 4)
        );
        let pooled = NumberReport::pooled(&[(2, &report), (2, &report)]);
        assert_eq!((pooled.baselines[1].mean_absolute_error, pooled.pairs.len()), (0.5, 8));
    }
}
