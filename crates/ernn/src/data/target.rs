//! Numbers to predict, one or several a sequence or a step, on the scale on which they are learned: each target on its own.
//!
//! ```text
//! z[n] = (y[n] - m) / s          m: mean, s: standard deviation of the numbers of the sequences to train on (1 if they are all alike); of steps those that have numbers
//! y[n] = s (w h[n] + b) + m = (s w) h[n] + (s b + m)     what the readout (w, b) of z gives as a number in the data's own unit
//! ```
//!
//! Statistics come from the sequences to train on alone, in double precision.

use serde::{Deserialize, Serialize};

use super::View;
use crate::{Error, Result};

/// Mean and standard deviation of numbers to predict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetScale {
    /// Their mean, which is what a model that knows nothing says.
    pub mean: f64,
    /// Their standard deviation (of a whole population), 1 where it is 0.
    pub deviation: f64,
}

impl TargetScale {
    /// Of each target of these sequences; none if they have none.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn fit(view: &View) -> Result<Vec<Self>> {
        (0..view.targets()).map(|target| Self::fit_one(view, target)).collect()
    }

    fn fit_one(view: &View, target: usize) -> Result<Self> {
        let targets = view.targets();
        let known = |number: &f32| !number.is_nan();
        let numbers = (0..view.len()).flat_map(|index| {
            let of_steps = view.step_numbers(index).skip(target).step_by(targets).filter(known);
            view.numbers_of(index).nth(target).into_iter().chain(of_steps)
        });
        let numbers: Vec<f64> = numbers.map(f64::from).collect();
        if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
            let problem = format!(
                "{} {}: found {}, expected a finite number to predict",
                if view.numbers_of(0).next().is_some() {
                    "sequence"
                } else {
                    "number"
                },
                place + 1,
                numbers[place]
            );
            return Err(Error::data("the sequences", problem));
        }
        let count = numbers.len().max(1) as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        let alike = numbers.iter().all(|&number| number == numbers[0]);
        let deviation = if alike || variance == 0.0 { 1.0 } else { variance.sqrt() };
        Ok(TargetScale { mean, deviation })
    }

    /// A number on the scale that is learned.
    pub fn scaled(&self, number: f32) -> f32 {
        ((f64::from(number) - self.mean) / self.deviation) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Part;

    fn part(numbers: &[f32]) -> Part {
        let mut part = Part::new(1);
        numbers.iter().for_each(|_| part.push(&[0.0], None, None));
        part.numbers = numbers.to_vec();
        part
    }

    fn fit(numbers: &[f32]) -> Option<TargetScale> {
        TargetScale::fit(&View::of(&part(numbers))).unwrap().pop()
    }

    #[test]
    fn mean_and_deviation_of_a_population() {
        // numpy: mean([10, 20, 60]), std([10, 20, 60])
        let scale = fit(&[10.0, 20.0, 60.0]).unwrap();
        assert_eq!(scale.mean, 30.0);
        assert!((scale.deviation - 21.602_468_994_692_867).abs() < 1e-12, "{scale:?}");
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn numbers_that_are_all_alike_keep_their_unit() {
        let (mean, deviation) = (f64::from(0.1f32), 1.0);
        let scale = fit(&[0.1; 7]).unwrap();
        assert!(
            (scale.mean - mean).abs() < 1e-15 && scale.deviation == deviation,
            "{scale:?}"
        );
    }

    #[test]
    fn a_view_gives_numbers_on_the_scale() {
        let part = part(&[10.0, 20.0, 60.0]);
        let view = View::of(&part);
        let scales = TargetScale::fit(&view).unwrap();
        let scaled = view.clone().scaled(&scales);
        let first = |view: &View, index| view.numbers_of(index).next();
        assert_eq!((first(&view, 2), first(&scaled, 0)), (Some(60.0), Some(-0.925_820_1)));
        let mean: f32 = (0..3).filter_map(|index| first(&scaled, index)).sum();
        assert!(mean.abs() < 1e-6);
    }

    #[test]
    fn each_target_has_its_own_scale() {
        let mut part = part(&[10.0, 20.0]);
        part.numbers = vec![10.0, -1.0, 20.0, -3.0];
        let view = View::chosen(&part, &[1, 0]);
        let scales = TargetScale::fit(&view).unwrap();
        let of = |mean, deviation| TargetScale { mean, deviation };
        assert_eq!(scales, [of(15.0, 5.0), of(-2.0, 1.0)]);
        assert_eq!(view.scaled(&scales).numbers_of(0).collect::<Vec<_>>(), [1.0, -1.0]);
    }

    #[test]
    fn steps_without_numbers_count_for_nothing() {
        let mut part = Part::new(1);
        part.push(&[0.0; 3], None, None);
        part.push(&[0.0; 2], None, None);
        let nothing = f32::NAN;
        part.step_numbers = vec![10.0, 1.0, nothing, nothing, 20.0, 3.0, nothing, nothing, 60.0, 5.0];
        let view = View::of(&part);
        let scales = TargetScale::fit(&view).unwrap();
        // numpy: nanmean, nanstd of each column
        assert_eq!([scales[0].mean, scales[1].mean], [30.0, 3.0]);
        assert!((scales[0].deviation - 21.602_468_994_692_867).abs() < 1e-12);
        let scaled: Vec<f32> = view.scaled(&scales).step_numbers(1).collect();
        assert!(
            scaled[0].is_nan() && scaled[1].is_nan() && (scaled[2] - 1.388_730_2).abs() < 1e-6,
            "{scaled:?}"
        );
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let error = TargetScale::fit(&View::of(&part(&[1.0, f32::NAN]))).unwrap_err();
        assert!(error.to_string().contains("sequence 2: found NaN"), "{error}");
    }
}
