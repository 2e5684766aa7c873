//! The pinball loss of quantiles (Koenker and Bassett, Regression Quantiles, Econometrica 1978): e = y[n,t] - x[n,t,q], y true, x predicted.
//!
//! ```text
//! loss       1/(N T Q) sum_ntq max(tau_q e, (tau_q - 1) e)
//! dx[n,t,q]  1/(N T Q) (e > 0 ? -tau_q : e < 0 ? 1 - tau_q : 0)
//! ```
//!
//! Shapes: x [sequences, targets, quantiles], y [sequences, targets], tau [quantiles]. As `mean_pinball_loss` of scikit-learn; its best
//! single answer is the quantile tau of y.

use ernn_kernels::Real;

/// The loss of an error `true - predicted` at a quantile.
pub fn pinball<F: Real>(quantile: f64, error: F) -> F {
    let side = if error < F::ZERO { quantile - 1.0 } else { quantile };
    F::from_f64(side) * error
}

/// Its slope in what was predicted.
fn slope<F: Real>(quantile: f64, error: F) -> F {
    match () {
        () if error > F::ZERO => F::from_f64(-quantile),
        () if error < F::ZERO => F::from_f64(1.0 - quantile),
        // Zero, and what is no number, stays.
        () => error,
    }
}

/// Mean pinball loss of predictions; sets their gradient.
///
/// # Panics
/// If there is not one prediction for each target and quantile.
pub fn pinball_loss<F: Real>(quantiles: &[f64], predictions: &[F], targets: &[f32], gradient: &mut Vec<F>) -> F {
    let share = F::ONE / F::from_f64(predictions.len().max(1) as f64);
    pinball_loss_sum(quantiles, predictions, targets, share, gradient) * share
}

/// The sum of the losses of some of a batch's predictions; sets the gradient of `share` times it.
///
/// # Panics
/// As [`pinball_loss`].
pub fn pinball_loss_sum<F: Real>(
    quantiles: &[f64],
    predictions: &[F],
    targets: &[f32],
    share: F,
    gradient: &mut Vec<F>,
) -> F {
    assert_eq!(
        predictions.len(),
        targets.len() * quantiles.len(),
        "one prediction for each target and quantile"
    );
    let mut loss = F::ZERO;
    gradient.clear();
    for (row, &target) in predictions.chunks_exact(quantiles.len()).zip(targets) {
        for (&found, &quantile) in row.iter().zip(quantiles) {
            let error = F::from_f64(f64::from(target)) - found;
            loss += pinball(quantile, error);
            gradient.push(slope(quantile, error) * share);
        }
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of `reference/pinball.py`, which asks scikit-learn.
    #[test]
    fn the_loss_is_that_of_scikit_learn() {
        let targets = [1.0, -1.0, 2.5, 0.5, 0.5, -1.75f32];
        let predictions = [0.3, -1.2, 4.0, 0.5, 1.5, -3.0f64];
        for (quantile, expected) in [
            (0.1, 0.410_833_333_333_333_3),
            (0.5, 0.387_5),
            (0.9, 0.364_166_666_666_666_66),
        ] {
            let loss = pinball_loss(&[quantile], &predictions, &targets, &mut Vec::new());
            assert!((loss - expected).abs() < 1e-12, "{quantile} {loss}");
        }
        let several: Vec<f64> = predictions.iter().flat_map(|&found| [found; 3]).collect();
        let loss = pinball_loss(&[0.1, 0.5, 0.9], &several, &targets, &mut Vec::new());
        assert!((loss - 0.387_5).abs() < 1e-12, "{loss}");
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (quantiles, targets) = ([0.1, 0.75], [1.0, -1.0f32]);
        let predictions = [0.3, -1.2, 4.0, -0.75f64];
        let (mut gradient, mut unused) = (Vec::new(), Vec::new());
        pinball_loss(&quantiles, &predictions, &targets, &mut gradient);
        for index in 0..predictions.len() {
            let mut loss_at = |shift: f64| {
                let mut moved = predictions;
                moved[index] += shift;
                pinball_loss(&quantiles, &moved, &targets, &mut unused)
            };
            let slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
            assert!((slope - gradient[index]).abs() < 1e-8, "{index}");
        }
    }

    #[test]
    fn no_error_has_no_slope_and_nothing_is_hidden() {
        let mut gradient = Vec::new();
        assert_eq!(pinball_loss(&[0.3], &[2.0f32], &[2.0], &mut gradient), 0.0);
        assert_eq!(gradient, [0.0]);
        assert!(pinball_loss(&[0.3], &[f32::NAN], &[2.0], &mut gradient).is_nan() && gradient[0].is_nan());
        assert_eq!(pinball_loss::<f32>(&[0.3], &[], &[], &mut gradient), 0.0);
    }
}
