//! What is said of quantiles that were predicted, in the unit of the numbers.
//!
//! ```text
//! pinball loss   1/(N Q) sum_nq max(tau_q e, (tau_q - 1) e)      e = y[n] - x[n,q], y true, x predicted
//! coverage       1/N sum_n [x[n,1] <= y[n] <= x[n,Q]]            near tau_Q - tau_1 where the quantiles are right
//! ```
//!
//! A network may give quantiles that cross; what it says are its outputs in order, which are nowhere further from the truth (Chernozhukov,
//! Fernandez-Val and Galichon, Quantile and Probability Curves Without Crossing, Econometrica 2010).

use serde::{Deserialize, Serialize};

use super::report::mean;
use crate::head::pinball;

/// How quantiles of numbers fare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuantileReport {
    /// The quantiles.
    pub quantiles: Vec<f64>,
    /// Mean over all of them; in the unit of the numbers.
    pub mean_pinball_loss: f64,
    /// Of each quantile.
    pub pinball_losses: Vec<f64>,
    /// Share of the true numbers between the first and the last quantile; none for a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
}

impl QuantileReport {
    /// Of rows (quantiles in order, true number).
    pub(super) fn new(quantiles: &[f64], rows: &[(&[f64], f64)]) -> Self {
        let loss = |place: usize, quantile: f64| {
            mean(
                rows.iter()
                    .map(|(said, target)| pinball(quantile, target - said[place])),
            )
        };
        let losses: Vec<f64> = quantiles
            .iter()
            .enumerate()
            .map(|(place, &own)| loss(place, own))
            .collect();
        let inside = |(said, target): &(&[f64], f64)| said[0] <= *target && *target <= said[said.len() - 1];
        QuantileReport {
            quantiles: quantiles.to_vec(),
            mean_pinball_loss: mean(losses.iter().copied()),
            pinball_losses: losses,
            coverage: (quantiles.len() > 1).then(|| mean(rows.iter().map(|row| f64::from(u8::from(inside(row)))))),
        }
    }

    /// Several reports, each of so many numbers, as one of all; none if one lacks it.
    pub(super) fn pooled(parts: &[(usize, Option<&QuantileReport>)]) -> Option<Self> {
        let parts: Vec<(f64, &QuantileReport)> = parts
            .iter()
            .map(|(count, part)| Some((*count as f64, (*part)?)))
            .collect::<Option<_>>()?;
        let (_, first) = parts.first()?;
        let count = parts.iter().map(|(count, _)| count).sum::<f64>().max(1.0);
        let mean_of = |value: &dyn Fn(&QuantileReport) -> Option<f64>| {
            let values: Option<Vec<f64>> = parts.iter().map(|(weight, part)| Some(weight * value(part)?)).collect();
            values.map(|values| values.iter().sum::<f64>() / count)
        };
        let losses = (0..first.quantiles.len()).map(|place| mean_of(&|part| part.pinball_losses.get(place).copied()));
        Some(QuantileReport {
            quantiles: first.quantiles.clone(),
            mean_pinball_loss: mean_of(&|part| Some(part.mean_pinball_loss))?,
            pinball_losses: losses.collect::<Option<_>>()?,
            coverage: mean_of(&|part| part.coverage),
        })
    }

    /// The share of the numbers that the first and the last quantile should have between them.
    pub fn expected_coverage(&self) -> Option<f64> {
        let [first, .., last] = self.quantiles[..] else {
            return None;
        };
        Some(last - first)
    }
}

/// The place of the quantile that is nearest to the median, the first of equals.
pub(crate) fn nearest_to_median(quantiles: &[f64]) -> usize {
    let far = |place: usize| (quantiles[place] - 0.5).abs();
    (0..quantiles.len()).fold(0, |best, place| if far(place) < far(best) { place } else { best })
}

/// Puts the quantiles of each target in order, `[.., quantiles]`; without quantiles nothing happens.
pub(super) fn in_order(outputs: &mut [f32], quantiles: usize) {
    if quantiles > 1 {
        outputs
            .chunks_mut(quantiles)
            .for_each(|row| row.sort_by(f32::total_cmp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: [[f64; 3]; 5] = [
        [2.0, 2.5, 3.5],
        [-0.25, 0.0, 0.5],
        [1.0, 2.0, 2.0],
        [6.0, 8.0, 9.0],
        [4.0, 4.5, 5.0],
    ];
    const TRUE: [f64; 5] = [3.0, -0.5, 2.0, 7.0, 4.25];

    fn report(range: std::ops::Range<usize>) -> QuantileReport {
        let rows: Vec<(&[f64], f64)> = range.map(|row| (&SAID[row][..], TRUE[row])).collect();
        QuantileReport::new(&[0.1, 0.5, 0.9], &rows)
    }

    /// The numbers of `reference/pinball.py`.
    #[test]
    fn losses_and_coverage_are_those_of_scikit_learn() {
        let found = report(0..5);
        for (loss, expected) in found.pinball_losses.iter().zip([0.11, 0.225, 0.085]) {
            assert!((loss - expected).abs() < 1e-12, "{found:?}");
        }
        assert!((found.mean_pinball_loss - 0.14).abs() < 1e-12);
        assert_eq!((found.coverage, found.expected_coverage()), (Some(0.8), Some(0.8)));
    }

    #[test]
    fn parts_are_pooled_exactly() {
        let (one, other, all) = (report(0..2), report(2..5), report(0..5));
        let pooled = QuantileReport::pooled(&[(2, Some(&one)), (3, Some(&other))]).unwrap();
        assert!((pooled.mean_pinball_loss - all.mean_pinball_loss).abs() < 1e-12);
        assert!((pooled.pinball_losses[2] - all.pinball_losses[2]).abs() < 1e-12);
        assert!((pooled.coverage.unwrap() - 0.8).abs() < 1e-12);
        assert_eq!(QuantileReport::pooled(&[(2, Some(&one)), (3, None)]), None);
    }

    #[test]
    fn one_quantile_covers_nothing_and_crossing_ones_are_put_in_order() {
        let found = QuantileReport::new(&[0.9], &[(&[1.0], 3.0)]);
        assert_eq!((found.coverage, found.expected_coverage()), (None, None));
        assert!((found.mean_pinball_loss - 1.8).abs() < 1e-12);
        assert_eq!([nearest_to_median(&[0.1, 0.4, 0.6]), nearest_to_median(&[0.9])], [1, 0]);
        let mut outputs = [3.0, 1.0, 2.0, -1.0, 0.0, 5.0];
        in_order(&mut outputs, 3);
        assert_eq!(outputs, [1.0, 2.0, 3.0, -1.0, 0.0, 5.0]);
        in_order(&mut outputs[..2], 1);
        assert_eq!(outputs[..2], [1.0, 2.0]);
    }
}
