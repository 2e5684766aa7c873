//! Losses of numbers: e[n] = x[n] - y[n], x predicted, y true.
//!
//! ```text
//! mse     1/N sum_n e[n]^2                                              dx[n] = 2/N e[n]
//! mae     1/N sum_n |e[n]|                                              dx[n] = 1/N sign e[n], 0 at 0
//! huber   1/N sum_n (|e[n]| <= 1 ? e[n]^2 / 2 : |e[n]| - 1/2)           dx[n] = 1/N clamp(e[n], -1, 1)
//! ```
//!
//! As `torch.nn.MSELoss`, `L1Loss` and `HuberLoss(delta=1)`. A run scales its targets to a standard deviation of 1, so that delta is one
//! standard deviation of them.

use ernn_kernels::Real;
use serde::{Deserialize, Serialize};

/// What a run makes small where it learns numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberLoss {
    /// The mean squared error; its best single answer is the mean.
    #[default]
    Mse,
    /// The mean absolute error; its best single answer is the median, and outliers pull little.
    Mae,
    /// Squared near zero, absolute beyond one standard deviation of the targets.
    Huber,
}

impl NumberLoss {
    /// The one that asks for nothing.
    pub fn is_default(&self) -> bool {
        *self == NumberLoss::default()
    }

    /// The loss of an error.
    pub fn of<F: Real>(self, error: F) -> F {
        let size = error.abs();
        match self {
            NumberLoss::Mse => error * error,
            NumberLoss::Mae => size,
            NumberLoss::Huber if size <= F::ONE => F::from_f64(0.5) * error * error,
            NumberLoss::Huber => size - F::from_f64(0.5),
        }
    }

    /// Its slope.
    fn slope<F: Real>(self, error: F) -> F {
        let sign = match () {
            () if error > F::ZERO => F::ONE,
            () if error < F::ZERO => -F::ONE,
            // Zero, and what is no number, stays.
            () => error,
        };
        match self {
            NumberLoss::Mse => F::from_f64(2.0) * error,
            NumberLoss::Mae => sign,
            NumberLoss::Huber if error.abs() <= F::ONE => error,
            NumberLoss::Huber => sign,
        }
    }
}

/// Mean loss of predictions `[sequences, targets]`; sets their gradient.
///
/// # Panics
/// If there is not one target a prediction.
pub fn number_loss<F: Real>(kind: NumberLoss, predictions: &[F], targets: &[f32], gradient: &mut Vec<F>) -> F {
    let share = F::ONE / F::from_f64(targets.len().max(1) as f64);
    number_loss_sum(kind, predictions, targets, share, gradient) * share
}

/// The sum of the losses of some of a batch's predictions; sets the gradient of `share` times it.
///
/// # Panics
/// If there is not one target a prediction.
pub fn number_loss_sum<F: Real>(
    kind: NumberLoss,
    predictions: &[F],
    targets: &[f32],
    share: F,
    gradient: &mut Vec<F>,
) -> F {
    assert_eq!(predictions.len(), targets.len(), "one target a prediction");
    let pairs = predictions.iter().zip(targets);
    gradient.clear();
    gradient.extend(pairs.map(|(&found, &target)| found - F::from_f64(f64::from(target))));
    let loss: F = gradient.iter().map(|&error| kind.of(error)).sum();
    gradient
        .iter_mut()
        .for_each(|error| *error = kind.slope(*error) * share);
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [NumberLoss; 3] = [NumberLoss::Mse, NumberLoss::Mae, NumberLoss::Huber];

    #[test]
    fn squared_errors_and_their_slopes() {
        let mut gradient = Vec::new();
        let loss = number_loss(NumberLoss::Mse, &[1.0f64, 4.0], &[3.0, 4.0], &mut gradient);
        assert_eq!((loss, gradient), (2.0, vec![-2.0, 0.0]));
        for kind in KINDS {
            assert_eq!(number_loss::<f32>(kind, &[], &[], &mut Vec::new()), 0.0);
        }
    }

    /// The numbers of `reference/number_losses.py`.
    #[test]
    fn losses_and_slopes_are_those_of_the_formulas() {
        let predictions = [0.3, -1.2, 4.0, 0.75, 1.5, -3.0f64];
        let targets = [1.0, -1.0, 2.5, 0.5, 0.5, -1.75f32];
        let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0);
        for (kind, expected, slopes) in [
            (
                NumberLoss::Mse,
                0.900_833_333_333_333_3,
                [-0.7 * third, -0.2 * third, 0.5, 0.25 * third, third, -1.25 * third],
            ),
            (
                NumberLoss::Mae,
                0.816_666_666_666_666_8,
                [-sixth, -sixth, sixth, sixth, sixth, -sixth],
            ),
            (
                NumberLoss::Huber,
                0.424_375,
                [-0.7 * sixth, -0.2 * sixth, sixth, 0.25 * sixth, sixth, -sixth],
            ),
        ] {
            let mut gradient = Vec::new();
            let loss = number_loss(kind, &predictions, &targets, &mut gradient);
            assert!((loss - expected).abs() < 1e-12, "{kind:?} {loss}");
            for (found, expected) in gradient.iter().zip(slopes) {
                assert!((found - expected).abs() < 1e-12, "{kind:?} {gradient:?}");
            }
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (predictions, targets) = ([0.3, -1.2, 4.0, 0.75f64], [1.0, -1.0, 2.5, 0.5f32]);
        for kind in KINDS {
            let (mut gradient, mut unused) = (Vec::new(), Vec::new());
            number_loss(kind, &predictions, &targets, &mut gradient);
            for index in 0..predictions.len() {
                let mut loss_at = |shift: f64| {
                    let mut moved = predictions;
                    moved[index] += shift;
                    number_loss(kind, &moved, &targets, &mut unused)
                };
                let slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
                assert!((slope - gradient[index]).abs() < 1e-8, "{kind:?} {index}");
            }
        }
    }

    #[test]
    fn an_error_of_nothing_has_no_slope_and_nothing_is_hidden() {
        for kind in KINDS {
            let mut gradient = Vec::new();
            assert_eq!(number_loss(kind, &[2.0f32], &[2.0], &mut gradient), 0.0);
            assert_eq!(gradient, [0.0]);
            assert!(number_loss(kind, &[f32::NAN], &[2.0], &mut gradient).is_nan() && gradient[0].is_nan());
            assert!(!number_loss(kind, &[f32::INFINITY], &[2.0], &mut gradient).is_finite());
        }
    }
}
