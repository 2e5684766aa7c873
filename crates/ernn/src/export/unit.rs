//! What a model of numbers says, in the unit of the numbers that it was trained on.
//!
//! ```text
//! f32     y = output                                    the readout has the scale in it
//! int8    y = mean + deviation output / 2^16            outputs have 16 places: on the scale, whatever the unit is, they fit and are fine
//! ```
//!
//! Differences are counted in deviations: a thousandth of a number far from 0 would be much, of one near 0 nothing.

use crate::checkpoint::SavedModel;
use crate::data::Task;

/// Mean and deviation of the numbers that a model of numbers was trained on; 0 and 1 where it does not know them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub mean: f64,
    pub deviation: f64,
}

impl Unit {
    /// None for a model that says something else.
    pub fn of(saved: &SavedModel) -> Option<Self> {
        let unit = match saved.provenance.targets {
            Some(scale) => Unit {
                mean: scale.mean,
                deviation: scale.deviation,
            },
            None => Unit {
                mean: 0.0,
                deviation: 1.0,
            },
        };
        (saved.model.config().task == Task::Regression).then_some(unit)
    }

    /// The readout `(weight, bias)` of the number on its scale.
    pub fn scaled(self, weight: &[f32], bias: &[f32]) -> [Vec<f32>; 2] {
        let weight = weight.iter().map(|&value| (f64::from(value) / self.deviation) as f32);
        let bias = bias
            .iter()
            .map(|&value| ((f64::from(value) - self.mean) / self.deviation) as f32);
        [weight.collect(), bias.collect()]
    }

    /// The number of an output on its scale.
    pub fn number(self, output: f64) -> f64 {
        self.mean + self.deviation * output
    }

    /// How far two numbers are from each other, in deviations; what 32 bits cannot tell apart is no difference.
    pub fn difference(self, expected: f32, found: f32) -> f64 {
        let [expected, found] = [expected, found].map(f64::from);
        let fine = 8.0 * f64::from(f32::EPSILON) * expected.abs();
        let difference = ((expected - found).abs() - fine) / self.deviation;
        if difference.is_nan() {
            return f64::INFINITY;
        }
        difference.max(0.0)
    }
}

/// The name of the column with the numbers that a model was trained on.
pub(super) fn target_name(saved: &SavedModel) -> Option<String> {
    let settings: toml::Table = saved.provenance.settings.parse().ok()?;
    let name = settings.get("data")?.get("table")?.get("target")?.as_str()?;
    Some(crate::names::line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_in_deviations() {
        let unit = Unit {
            mean: 300.0,
            deviation: 0.5,
        };
        assert!((unit.difference(301.0, 301.5) - 1.0).abs() < 1e-2);
        assert_eq!(unit.difference(300.0, 300.00003), 0.0);
        assert_eq!(unit.difference(300.0, f32::NAN), f64::INFINITY);
        let [weight, bias] = unit.scaled(&[1.0], &[301.0]);
        assert_eq!((weight[0], bias[0]), (2.0, 2.0));
        assert_eq!(unit.number(2.0), 301.0);
    }
}
