//! What a model of numbers says, in the units of the numbers that it was trained on.
//!
//! ```text
//! f32     y = output                                    the readout has the scale in it
//! int8    y = mean + deviation output / 2^16            outputs have 16 places: on the scale, whatever the unit is, they fit and are fine
//! ```
//!
//! Differences are counted in deviations: a thousandth of a number far from 0 would be much, of one near 0 nothing.

use crate::checkpoint::SavedModel;
use crate::data::TargetScale;

/// Mean and deviation of the numbers that each output of a model of numbers was trained on; 0 and 1 where it does not know them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// One an output.
    pub scales: Vec<TargetScale>,
    /// Outputs that belong to one target, in rising order: its quantiles; 1 without quantiles.
    pub quantiles: usize,
}

impl Unit {
    /// None for a model that says something else.
    pub fn of(saved: &SavedModel) -> Option<Self> {
        let config = saved.model.config();
        if !config.task.is_of_numbers() {
            return None;
        }
        let quantiles = config.quantiles.len().max(1);
        let plain = TargetScale {
            mean: 0.0,
            deviation: 1.0,
        };
        let known = &saved.provenance.targets;
        let scale = |output: usize| known.get(output / quantiles).copied().unwrap_or(plain);
        Some(Unit {
            scales: (0..config.classes).map(scale).collect(),
            quantiles,
        })
    }

    /// The readout `(weight, bias)` of the numbers on their scales.
    pub fn scaled(&self, weight: &[f32], bias: &[f32]) -> [Vec<f32>; 2] {
        let inputs = weight.len() / self.scales.len();
        let rows = weight.chunks_exact(inputs).zip(&self.scales);
        let weight = rows.flat_map(|(row, scale)| row.iter().map(|&value| (f64::from(value) / scale.deviation) as f32));
        let bias = bias.iter().zip(&self.scales);
        [
            weight.collect(),
            bias.map(|(&value, scale)| scale.scaled(value)).collect(),
        ]
    }

    /// The number of an output on its scale.
    pub fn number(&self, place: usize, output: f64) -> f64 {
        let scale = &self.scales[place];
        scale.mean + scale.deviation * output
    }

    /// The numbers of a row of outputs on their scales, the quantiles of a target in order.
    pub fn numbers(&self, outputs: impl Iterator<Item = f64>) -> Vec<f32> {
        let mut numbers: Vec<f32> = outputs
            .enumerate()
            .map(|(place, output)| self.number(place, output) as f32)
            .collect();
        self.in_order(&mut numbers);
        numbers
    }

    /// Puts the quantiles of each target in order.
    pub fn in_order(&self, numbers: &mut [f32]) {
        if self.quantiles > 1 {
            numbers
                .chunks_mut(self.quantiles)
                .for_each(|row| row.sort_by(f32::total_cmp));
        }
    }

    /// How far a number that is computed in 32 bits may be from the one that is stored.
    pub fn bound(scale: &TargetScale) -> f32 {
        (1e-5 * (scale.mean.abs() + scale.deviation)) as f32
    }

    /// How far two rows of numbers are from each other, in deviations; what 32 bits cannot tell apart is no difference.
    pub fn difference(&self, expected: &[f32], found: &[f32]) -> f64 {
        let pairs = expected.iter().zip(found).zip(&self.scales);
        pairs.fold(0.0, |most: f64, ((&expected, &found), scale)| {
            most.max(difference(expected, found, scale.deviation))
        })
    }
}

fn difference(expected: f32, found: f32, deviation: f64) -> f64 {
    let [expected, found] = [expected, found].map(f64::from);
    let fine = 8.0 * f64::from(f32::EPSILON) * expected.abs();
    let difference = ((expected - found).abs() - fine) / deviation;
    if difference.is_nan() {
        return f64::INFINITY;
    }
    difference.max(0.0)
}

/// What the outputs of a model of numbers are called: the column of the data, the quantile, or both; none of a model of classes.
pub(super) fn output_names(saved: &SavedModel) -> Vec<String> {
    if !saved.model.config().task.is_of_numbers() {
        return Vec::new();
    }
    let config = saved.model.config();
    let names = match (config.classes, target_name(saved)) {
        (1, Some(name)) if config.quantiles.is_empty() => vec![name],
        _ => saved.output_names(),
    };
    names.iter().map(crate::names::line).collect()
}

/// The name of the only column with the numbers that a model was trained on.
pub(super) fn target_name(saved: &SavedModel) -> Option<String> {
    let settings: toml::Table = saved.provenance.settings.parse().ok()?;
    let name = settings.get("data")?.get("table")?.get("target")?.as_str()?;
    Some(crate::names::line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(quantiles: usize) -> Unit {
        let of = |mean, deviation| TargetScale { mean, deviation };
        Unit {
            scales: vec![of(300.0, 0.5), of(-1.0, 2.0)],
            quantiles,
        }
    }

    #[test]
    fn numbers_are_compared_in_deviations() {
        let unit = unit(1);
        assert!((unit.difference(&[301.0, 0.0], &[301.5, 0.0]) - 1.0).abs() < 1e-2);
        assert!((unit.difference(&[301.0, 0.0], &[301.0, 1.0]) - 0.5).abs() < 1e-2);
        assert_eq!(unit.difference(&[300.0, 0.0], &[300.00003, 0.0]), 0.0);
        assert_eq!(unit.difference(&[300.0, 0.0], &[f32::NAN, 0.0]), f64::INFINITY);
        let [weight, bias] = unit.scaled(&[1.0, 2.0, 3.0, 4.0], &[301.0, 1.0]);
        assert_eq!((weight, bias), (vec![2.0, 4.0, 1.5, 2.0], vec![2.0, 1.0]));
        assert_eq!((unit.number(0, 2.0), unit.number(1, 2.0)), (301.0, 3.0));
        assert_eq!(
            unit.scales.iter().map(Unit::bound).collect::<Vec<_>>(),
            [3.005e-3, 3e-5]
        );
    }

    #[test]
    fn quantiles_do_not_cross() {
        assert_eq!(unit(1).numbers([0.0, 1.0].into_iter()), [300.0, 1.0]);
        assert_eq!(unit(2).numbers([0.0, 1.0].into_iter()), [1.0, 300.0]);
    }
}
