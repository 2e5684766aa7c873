//! Normalization: each channel to mean 0 and variance 1 over the training part.
//!
//! ```text
//! x' = (x - mean) * scale        scale = 1 / standard deviation (of the population); 0 for a constant channel
//! ```
//!
//! Statistics are summed in `f64` and skip values that were missing. The subtraction and product are in `f64` too, so two huge
//! finite values cannot overflow on the way.

use super::Part;
use crate::{Error, Result};

/// Mean and scale of each channel.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Normalization {
    /// What is subtracted.
    pub mean: Vec<f32>,
    /// What the difference is multiplied by: 1 / standard deviation, or 0 for a constant channel.
    pub scale: Vec<f32>,
}

impl Normalization {
    /// Changes nothing.
    pub fn identity(features: usize) -> Normalization {
        Normalization {
            mean: vec![0.0; features],
            scale: vec![1.0; features],
        }
    }

    /// Takes the statistics of a part, which should be the training part.
    ///
    /// # Errors
    /// If the part holds no value, or an infinite one.
    pub fn fit(part: &Part) -> Result<Normalization> {
        if part.values.is_empty() {
            return Err(problem("no values to take the mean and deviation of".to_owned()));
        }
        let mut moments = vec![Moments::default(); part.features];
        let mut filled = part.filled.iter().copied().peekable();
        for (step, row) in part.values.chunks_exact(part.features).enumerate() {
            for (feature, (&value, moments)) in row.iter().zip(&mut moments).enumerate() {
                if filled.next_if_eq(&(step * part.features + feature)).is_none() && !value.is_nan() {
                    moments.add(f64::from(value));
                }
            }
        }
        let mut normalization = Normalization::default();
        for (feature, moments) in moments.iter().enumerate() {
            let (mean, scale) = moments
                .mean_and_scale()
                .ok_or_else(|| problem(format!("channel {} holds an infinite value", feature + 1)))?;
            normalization.mean.push(mean);
            normalization.scale.push(scale);
        }
        Ok(normalization)
    }

    /// Normalizes a part in place. A constant channel becomes exactly zero.
    ///
    /// # Errors
    /// If the part has another number of channels, or a value is not finite before or after; the part is then half done.
    pub fn apply(&self, part: &mut Part) -> Result<()> {
        if part.features != self.mean.len() {
            return Err(problem(format!(
                "{} channels, but the normalization was made for {}",
                part.features,
                self.mean.len()
            )));
        }
        let mut finite = true;
        for row in part.values.chunks_exact_mut(part.features.max(1)) {
            finite &= self.apply_row(row);
        }
        if finite { Ok(()) } else { Err(self.not_finite(part)) }
    }

    /// Normalizes one step; `false` if a value is not finite before or after.
    pub fn apply_row(&self, row: &mut [f32]) -> bool {
        let mut finite = true;
        for ((value, &mean), &scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            finite &= value.is_finite();
            *value = if scale == 0.0 && value.is_finite() {
                0.0
            } else {
                ((f64::from(*value) - f64::from(mean)) * f64::from(scale)) as f32
            };
            finite &= value.is_finite();
        }
        finite
    }

    fn not_finite(&self, part: &Part) -> Error {
        let position = part
            .values
            .iter()
            .position(|value| !value.is_finite())
            .unwrap_or_default();
        let (step, feature) = (position / part.features, position % part.features);
        let sequence = part.offsets.partition_point(|&offset| offset <= step).saturating_sub(1);
        problem(format!(
            "sequence {}, step {}, channel {}: not a finite number, or too far from the mean {} of the training part in \
             units of its deviation",
            sequence + 1,
            step - part.offsets[sequence] + 1,
            feature + 1,
            self.mean[feature]
        ))
    }
}

fn problem(problem: String) -> Error {
    Error::Data {
        dataset: "normalization".to_owned(),
        problem,
    }
}

/// Running mean and sum of squared differences (Welford), with the extremes to tell a constant channel exactly.
#[derive(Clone, Copy)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (value - self.mean);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// `None` if a value was infinite. A channel without any value counts as constant.
    fn mean_and_scale(&self) -> Option<(f32, f32)> {
        if self.least >= self.most {
            let mean = if self.count > 0.0 { self.least as f32 } else { 0.0 };
            return mean.is_finite().then_some((mean, 0.0));
        }
        let deviation = (self.squares / self.count).sqrt();
        // Tiny deviations would overflow the scale: the largest finite one still brings the channel to order one.
        let scale = (1.0 / deviation).min(f64::from(f32::MAX)) as f32;
        self.mean.is_finite().then_some((self.mean as f32, scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(features: usize, values: &[f32]) -> Part {
        let mut part = Part::new(features);
        part.push(values, None, None);
        part
    }

    #[test]
    fn mean_zero_and_variance_one() {
        let mut data = part(2, &[1.0, 1000.5, 2.0, 1001.5, 3.0, 1002.5, 6.0, 999.5]);
        let normalization = Normalization::fit(&data).unwrap();
        assert_eq!(normalization.mean, [3.0, 1001.0]);
        normalization.apply(&mut data).unwrap();
        for feature in 0..2 {
            let channel: Vec<f32> = data.values.iter().skip(feature).step_by(2).copied().collect();
            let mean = channel.iter().sum::<f32>() / 4.0;
            let variance = channel.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / 4.0;
            assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_constant_channel_becomes_exactly_zero_also_in_another_part() {
        let constant = part(1, &[7.1, 7.1, 7.1]);
        let normalization = Normalization::fit(&constant).unwrap();
        assert_eq!((normalization.mean[0], normalization.scale[0]), (7.1, 0.0));
        let mut other = part(1, &[7.1, 3e38, -3e38]);
        normalization.apply(&mut other).unwrap();
        assert_eq!(
            other.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
            [0, 0, 0]
        );
    }

    #[test]
    fn filled_values_do_not_count() {
        let mut data = part(2, &[1.0, 5.0, 9.0, 5.0, 3.0, 5.0, 8.0, 7.0]);
        data.filled = vec![2, 6];
        let normalization = Normalization::fit(&data).unwrap();
        assert_eq!(normalization.mean, [2.0, 5.5]);
        assert_eq!(normalization.scale[0], 1.0);
        data.values[2] = f32::NAN;
        data.values[6] = f32::NAN;
        data.filled.clear();
        assert_eq!(Normalization::fit(&data).unwrap(), normalization);
    }

    #[test]
    fn huge_and_tiny_values_stay_finite() {
        for values in [
            [3e38, -3e38, 0.0, 1.0],
            [3e38, 3.1e38, 3.2e38, 3.3e38],
            [1e-45, 0.0, 0.0, 0.0],
            [1e-40, 2e-40, 3e-40, 4e-40],
            [f32::MAX, f32::MIN, f32::MAX, f32::MIN],
        ] {
            let mut data = part(1, &values);
            Normalization::fit(&data).unwrap().apply(&mut data).unwrap();
            assert!(
                data.values.iter().all(|value| value.abs() < 4.0),
                "{values:?} {:?}",
                data.values
            );
        }
    }

    #[test]
    fn what_cannot_be_normalized_is_refused() {
        let normalization = Normalization::fit(&part(1, &[0.0, 1e-38])).unwrap();
        let error = normalization.apply(&mut part(1, &[0.0, 1e30])).unwrap_err().to_string();
        assert!(error.contains("sequence 1, step 2, channel 1"), "{error}");
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(normalization.apply(&mut part(1, &[0.0, bad])).is_err());
            assert!(Normalization::identity(1).apply(&mut part(1, &[bad])).is_err());
        }
        assert!(Normalization::fit(&part(1, &[0.0, f32::INFINITY])).is_err());
        assert!(Normalization::fit(&part(1, &[f32::INFINITY])).is_err());
        assert!(Normalization::fit(&Part::new(3)).is_err());
        let error = normalization.apply(&mut part(2, &[0.0, 1.0])).unwrap_err().to_string();
        assert_eq!(error, "normalization: 2 channels, but the normalization was made for 1");
    }
}
