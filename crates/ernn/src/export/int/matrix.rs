//! A matrix as `int8` with a scale a row.
//!
//! ```text
//! w_ij ~ q_ij s_i        s_i 2^places = m_i / 2^shift       q_ij in -127..127, m_i an u16, one shift for all rows
//! ```
//!
//! The factor `m_i` is rounded up first and the weights are rounded in its units, so that rounding it costs nothing.
//! `sum_j |q_ij| <= 65535`, so that no sum over values of 16 bits leaves 32 bits.

use super::compensation::{Moment, rounded_row};
use super::compressed::smallest;
use crate::export::plan::Tensor;
use crate::{Error, Result};

/// The largest weight.
const LARGEST: f64 = 127.0;
/// The largest sum of a row's weights.
const ROW_SUM: i64 = 65_535;

/// The two tensors of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scaled {
    weights: Vec<i8>,
    /// The shift (later with the storage above it), then the factors.
    factors: Vec<u16>,
}

impl Scaled {
    /// In the smallest storage.
    pub fn into_tensors(mut self) -> Vec<Tensor> {
        let columns = self.weights.len() / (self.factors.len() - 1);
        let (storage, bytes) = smallest(self.weights, columns);
        self.factors[0] |= u16::from(storage) << 8;
        vec![Tensor::I8(bytes), Tensor::U16(self.factors)]
    }
}

/// `places`: those of the product less those of the values that the matrix is multiplied by; `seen`: what those were on data.
///
/// # Errors
/// If a weight is so large that the factor of its row does not fit.
pub(super) fn matrix(values: &[f32], columns: usize, places: i32, seen: &Moment) -> Result<Scaled> {
    let passing = seen.passing(columns);
    let unit = 2f64.powi(places);
    let rows = values.chunks_exact(columns);
    let largest = |row: &[f32]| {
        row.iter()
            .fold(0.0, |largest: f64, &value| largest.max(f64::from(value).abs()))
    };
    let scales: Vec<f64> = rows.clone().map(|row| largest(row) / LARGEST * unit).collect();
    // A row whose sum is too large gets a larger factor: there must be room for it.
    let needed = |(row, &scale): (&[f32], &f64)| {
        let sum: f64 = row.iter().map(|&value| f64::from(value).abs() * unit).sum();
        1.1 * scale.max(sum / ROW_SUM as f64)
    };
    let most = rows.clone().zip(&scales).map(needed).fold(0.0, f64::max);
    let fits = |shift: &i32| most * 2f64.powi(*shift) <= 65_000.0;
    let Some(shift) = (0..48).rev().find(fits) else {
        let found = format!(
            "weights up to {:.3e}",
            f64::from(values.iter().fold(0.0, |most: f32, value| most.max(value.abs())))
        );
        let expected = "smaller ones, which the format can hold";
        return Err(Error::setting("weight", found, expected));
    };
    let mut scaled = Scaled {
        weights: Vec::with_capacity(values.len()),
        factors: vec![shift as u16],
    };
    for (row, scale) in rows.zip(scales) {
        let mut factor = (scale * 2f64.powi(shift)).ceil().max(1.0);
        loop {
            let step = factor / 2f64.powi(shift) / unit;
            let whole = rounded_row(row, step, LARGEST, passing.as_ref());
            if whole.iter().map(|&weight| i64::from(weight).abs()).sum::<i64>() <= ROW_SUM || factor >= 65_535.0 {
                scaled.weights.extend(whole);
                scaled.factors.push(factor as u16);
                break;
            }
            factor = (factor * 1.05).ceil().min(65_535.0);
        }
    }
    Ok(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the device makes of a weight.
    fn back(scaled: &Scaled, columns: usize, places: i32) -> Vec<f64> {
        let shift = 2f64.powi(-i32::from(scaled.factors[0]));
        let factor = |row: usize| f64::from(scaled.factors[row + 1]) * shift / 2f64.powi(places);
        let weights = scaled.weights.iter().enumerate();
        weights
            .map(|(place, &weight)| f64::from(weight) * factor(place / columns))
            .collect()
    }

    #[test]
    fn weights_come_back_within_half_a_step_of_their_row() {
        let values: Vec<f32> = (0..60)
            .map(|place| ((place * 37 % 61) as f32 - 30.0) * 0.01 * (1 + place / 20 * 50) as f32)
            .collect();
        for places in [-3, 0, 4, 12] {
            let scaled = matrix(&values, 20, places, &Moment::default()).unwrap();
            for (row, (exact, found)) in values.chunks(20).zip(back(&scaled, 20, places).chunks(20)).enumerate() {
                let largest = exact
                    .iter()
                    .fold(0.0, |largest: f64, &value| largest.max(f64::from(value.abs())));
                for (&exact, found) in exact.iter().zip(found) {
                    assert!(
                        (f64::from(exact) - found).abs() <= largest / 127.0 * 0.51,
                        "row {row}: {exact} {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn zeros_stay_zeros() {
        let scaled = matrix(&[0.0, 0.0, 1.0, 0.0, 0.0, -1e-9], 2, 1, &Moment::default()).unwrap();
        assert_eq!(
            scaled.weights.iter().filter(|&&weight| weight != 0).count(),
            1,
            "the last one is nothing beside 1"
        );
        assert_eq!(scaled.weights[2], 127);
    }

    #[test]
    fn no_row_can_overflow_a_sum() {
        let scaled = matrix(&vec![1.0; 3000], 3000, 0, &Moment::default()).unwrap();
        let sum: i64 = scaled.weights.iter().map(|&weight| i64::from(weight)).sum();
        assert!(sum <= 65_535 && sum > 60_000, "{sum}");
        let mean = back(&scaled, 3000, 0).iter().sum::<f64>() / 3000.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn weights_that_no_factor_holds_are_refused() {
        let error = matrix(&[1e9], 1, 16, &Moment::default()).unwrap_err().to_string();
        assert!(error.contains("weights up to 1.000e9"), "{error}");
    }
}
