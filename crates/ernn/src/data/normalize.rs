//! Normalization: each channel to mean 0 and variance 1 over the training part.
//!
//! ```text
//! x' = (x - mean) * scale        scale = 1 / standard deviation (of the population); 0 for a constant channel
//! ```
//!
//! Statistics are summed in `f64` and skip values that were missing. The subtraction and product are in `f64` too, so two huge
//! finite values cannot overflow on the way.

use super::values::{Images, plain_table};
use super::{Part, Values, View};
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

    /// Takes the statistics of sequences, which should be those to train on. All pixels of a picture share those of their color;
    /// tokens have none.
    ///
    /// # Errors
    /// If there is no value, or an infinite one.
    pub fn fit(view: &View) -> Result<Normalization> {
        if view.steps() == 0 {
            return Err(problem("no values to take the mean and deviation of".to_owned()));
        }
        match view.first_part().map(|part| &part.values) {
            Some(Values::Images(images)) => Ok(Self::fit_pictures(view, images)),
            Some(Values::Tokens(_)) => Ok(Self::identity(view.features())),
            _ => Self::fit_numbers(view),
        }
    }

    fn fit_numbers(view: &View) -> Result<Normalization> {
        let (features, channels) = (view.features(), view.channels());
        let mut moments = vec![Moments::default(); features];
        view.each_unnormalized(|values, filled| {
            let mut filled = filled.peekable();
            for (step, row) in values.chunks_exact(features).enumerate() {
                for (feature, (&value, moments)) in row.iter().zip(&mut moments).enumerate() {
                    // What is derived of filled values counts: it says how large such a channel is where they stand.
                    let own = feature < channels;
                    let is_filled = own && filled.next_if_eq(&(step * channels + feature)).is_some();
                    if !is_filled && !value.is_nan() {
                        moments.add(f64::from(value));
                    }
                }
            }
        });
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

    /// How often each byte occurs says it all.
    fn fit_pictures(view: &View, images: &Images) -> Normalization {
        let mut counts = vec![[0u64; 256]; images.colors];
        for picture in view.pictures() {
            for pixel in picture.chunks_exact(images.colors) {
                for (counts, &byte) in counts.iter_mut().zip(pixel) {
                    counts[usize::from(byte)] += 1;
                }
            }
        }
        let of_color = counts.iter().map(|counts| {
            let total = counts.iter().sum::<u64>().max(1) as f64;
            let sum = |power: i32| {
                let values = counts.iter().enumerate();
                values
                    .map(|(byte, &count)| count as f64 * (byte as f64).powi(power))
                    .sum::<f64>()
            };
            let mean = sum(1) / total;
            let deviation = (sum(2) / total - mean * mean).max(0.0).sqrt();
            let scale = if deviation > 0.0 { 255.0 / deviation } else { 0.0 };
            ((mean / 255.0) as f32, scale as f32)
        });
        let (mean, scale): (Vec<f32>, Vec<f32>) = of_color.unzip();
        Normalization {
            mean: mean.repeat(images.row),
            scale: scale.repeat(images.row),
        }
    }

    /// Normalizes the numbers of a part in place; pictures and tokens stay as they are.
    ///
    /// # Errors
    /// If the part has another number of channels, or a value is not finite before or after; the part is then as it was.
    pub fn apply(&self, part: &mut Part) -> Result<()> {
        View::of(part).normalized(self)?;
        let features = part.features.max(1);
        for row in part.numbers_mut().chunks_exact_mut(features) {
            self.apply_row(row);
        }
        Ok(())
    }

    /// Normalizes one step; `false` if a value is not finite before or after.
    pub fn apply_row(&self, row: &mut [f32]) -> bool {
        let mut finite = true;
        for ((value, &mean), &scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            finite &= value.is_finite();
            *value = normalized(*value, mean, scale);
            finite &= value.is_finite();
        }
        finite
    }

    /// Refuses numbers `[length, features]`, of which the first of a step are the data's channels, that are not finite before or after;
    /// `place` is the place of the sequence among those looked at.
    pub(super) fn check(&self, values: &[f32], channels: usize, place: usize) -> Result<()> {
        for (step, row) in values.chunks_exact(self.mean.len().max(1)).enumerate() {
            let bad = |(&value, (&mean, &scale)): (&f32, (&f32, &f32))| {
                !value.is_finite() || !normalized(value, mean, scale).is_finite()
            };
            let mut pairs = row.iter().zip(self.mean.iter().zip(&self.scale));
            if let Some(feature) = pairs.position(bad) {
                let kind = if feature < channels { "" } else { "derived " };
                return Err(problem(format!(
                    "sequence {}, step {}, {kind}channel {}: found {}, expected a finite number, not too far from the mean {} of the \
                     training part in units of its deviation",
                    place + 1,
                    step + 1,
                    feature + 1,
                    row[feature],
                    self.mean[feature]
                )));
            }
        }
        Ok(())
    }
}

/// In `f64`, so that two huge finite values cannot overflow on the way; a constant channel becomes exactly zero.
fn normalized(value: f32, mean: f32, scale: f32) -> f32 {
    if scale == 0.0 && value.is_finite() {
        return 0.0;
    }
    ((f64::from(value) - f64::from(mean)) * f64::from(scale)) as f32
}

/// A normalization made ready for reading: numbers in long runs, bytes through tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// Means and scales of several steps one after the other, so that a loop over them is long; empty: as they are.
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The number for each byte of each color.
    tables: Vec<[f32; 256]>,
}

/// Numbers of a run at least.
const RUN: usize = 64;

impl Reader {
    /// Gives values as they are.
    pub fn plain(part: Option<&Part>) -> Self {
        let colors = match part.map(|part| &part.values) {
            Some(Values::Images(images)) => images.colors,
            _ => 0,
        };
        Reader {
            tables: vec![plain_table(); colors],
            ..Reader::default()
        }
    }

    /// Normalizes the values of parts like this one, with so many features after derived ones were added.
    ///
    /// # Errors
    /// If the numbers of features differ.
    pub fn new(part: Option<&Part>, found: usize, normalization: &Normalization) -> Result<Self> {
        let mut reader = Self::plain(part);
        if part.is_none() {
            return Ok(reader);
        }
        let expected = normalization.mean.len();
        if found != expected {
            return Err(problem(format!(
                "{found} channels, but the normalization was made for {expected}"
            )));
        }
        let channels = normalization.mean.iter().zip(&normalization.scale);
        for (table, (&mean, &scale)) in reader.tables.iter_mut().zip(channels) {
            table
                .iter_mut()
                .for_each(|value| *value = normalized(*value, mean, scale));
        }
        let times = RUN.div_ceil(found.max(1));
        let repeated = |values: &[f32]| values.repeat(times).into_iter().map(f64::from).collect();
        reader.mean = repeated(&normalization.mean);
        reader.scale = repeated(&normalization.scale);
        Ok(reader)
    }

    pub fn tables(&self) -> &[[f32; 256]] {
        &self.tables
    }

    /// Writes finite numbers, normalized: `values * 0` is 0 for a constant channel.
    pub fn numbers(&self, values: &[f32], out: &mut [f32]) {
        if self.mean.is_empty() {
            out.copy_from_slice(values);
            return;
        }
        let run = self.mean.len();
        for (values, out) in values.chunks(run).zip(out.chunks_mut(run)) {
            for ((out, &value), (&mean, &scale)) in out.iter_mut().zip(values).zip(self.mean.iter().zip(&self.scale)) {
                *out = read(value, mean, scale);
            }
        }
    }

    /// [`Reader::numbers`] of numbers that already lie where they are wanted.
    pub fn in_place(&self, values: &mut [f32]) {
        if self.mean.is_empty() {
            return;
        }
        for values in values.chunks_mut(self.mean.len()) {
            for (value, (&mean, &scale)) in values.iter_mut().zip(self.mean.iter().zip(&self.scale)) {
                *value = read(*value, mean, scale);
            }
        }
    }
}

/// Adding 0 makes a negative zero positive.
fn read(value: f32, mean: f64, scale: f64) -> f32 {
    ((f64::from(value) - mean) * scale + 0.0) as f32
}

fn problem(problem: String) -> Error {
    Error::data("normalization", problem)
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

    fn fit(part: &Part) -> Result<Normalization> {
        Normalization::fit(&View::of(part))
    }

    #[test]
    fn mean_zero_and_variance_one() {
        let mut data = part(2, &[1.0, 1000.5, 2.0, 1001.5, 3.0, 1002.5, 6.0, 999.5]);
        let normalization = fit(&data).unwrap();
        assert_eq!(normalization.mean, [3.0, 1001.0]);
        normalization.apply(&mut data).unwrap();
        for feature in 0..2 {
            let channel: Vec<f32> = data.values.numbers().iter().skip(feature).step_by(2).copied().collect();
            let mean = channel.iter().sum::<f32>() / 4.0;
            let variance = channel.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / 4.0;
            assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_constant_channel_becomes_exactly_zero_also_in_another_part() {
        let constant = part(1, &[7.1, 7.1, 7.1]);
        let normalization = fit(&constant).unwrap();
        assert_eq!((normalization.mean[0], normalization.scale[0]), (7.1, 0.0));
        let mut other = part(1, &[7.1, 3e38, -3e38]);
        normalization.apply(&mut other).unwrap();
        assert_eq!(
            other
                .values
                .numbers()
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>(),
            [0, 0, 0]
        );
    }

    #[test]
    fn filled_values_do_not_count() {
        let mut data = part(2, &[1.0, 5.0, 9.0, 5.0, 3.0, 5.0, 8.0, 7.0]);
        data.filled = vec![2, 6];
        let normalization = fit(&data).unwrap();
        assert_eq!(normalization.mean, [2.0, 5.5]);
        assert_eq!(normalization.scale[0], 1.0);
        data.numbers_mut()[2] = f32::NAN;
        data.numbers_mut()[6] = f32::NAN;
        data.filled.clear();
        assert_eq!(fit(&data).unwrap(), normalization);
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
            fit(&data).unwrap().apply(&mut data).unwrap();
            assert!(
                data.values.numbers().iter().all(|value| value.abs() < 4.0),
                "{values:?} {:?}",
                data.values.numbers()
            );
        }
    }

    #[test]
    fn what_cannot_be_normalized_is_refused() {
        let normalization = fit(&part(1, &[0.0, 1e-38])).unwrap();
        let error = normalization.apply(&mut part(1, &[0.0, 1e30])).unwrap_err().to_string();
        assert!(error.contains("sequence 1, step 2, channel 1"), "{error}");
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(normalization.apply(&mut part(1, &[0.0, bad])).is_err());
            assert!(Normalization::identity(1).apply(&mut part(1, &[bad])).is_err());
        }
        assert!(fit(&part(1, &[0.0, f32::INFINITY])).is_err());
        assert!(fit(&part(1, &[f32::INFINITY])).is_err());
        assert!(fit(&Part::new(3)).is_err());
        let error = normalization.apply(&mut part(2, &[0.0, 1.0])).unwrap_err().to_string();
        assert_eq!(error, "normalization: 2 channels, but the normalization was made for 1");
    }
}
