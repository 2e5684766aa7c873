//! A recurrent matrix made a contraction: `R <- R min(1, limit / |R|_p)`, with the Schatten norm of order p = 64.
//!
//! ```text
//! |R|_2  <=  |R|_p = (sum of sigma_i^p)^(1/p)  <=  D^(1/p) |R|_2          p = 2 q, q = 32
//! |R|_p^p = trace (R^T R)^q            d|R|_p / dR = R (R^T R)^(q-1) / |R|_p^(p-1)
//! ```
//!
//! The spectral norm itself has no derivative where two singular values meet, and an estimate of it from below would not keep the
//! promise. The Schatten norm is smooth, bounds it from above for every matrix, and costs five squarings of a `[D,D]` matrix; it gives
//! away at most a factor of `D^(1/64)` (7 % at D = 64). In double precision throughout: the powers reach far.

use ernn_kernels::{Matrix, Real};

use super::pieces::product;

/// Squarings: `q = 2^SQUARINGS`.
const SQUARINGS: usize = 5;

/// The Schatten norm of a matrix and its gradient.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// `|R|_p`, at least the spectral norm.
    pub(super) norm: f64,
    /// `d|R|_p / dR`, `[D,D]`.
    gradient: Vec<f64>,
}

impl Bound {
    /// Of `R` `[D,D]`.
    pub(super) fn of<F: Real>(matrix: &[F], hidden: usize) -> Self {
        let matrix: Vec<f64> = matrix.iter().map(|value| value.to_f64()).collect();
        let square = |left: &[f64], right: &[f64]| {
            product(
                Matrix::new(left, hidden, hidden),
                Matrix::new(right, hidden, hidden),
                hidden * hidden,
            )
        };
        let view = Matrix::new(&matrix, hidden, hidden);
        let mut power = product(view.transposed(), view, hidden * hidden);
        let scale = trace(&power, hidden);
        if scale == 0.0 || !scale.is_finite() {
            return Bound {
                norm: scale,
                gradient: vec![0.0; matrix.len()],
            };
        }
        power.iter_mut().for_each(|value| *value /= scale);
        // G^(q-1) = G G^2 G^4 .. G^(q/2), with G = R^T R / scale.
        let mut rest = power.clone();
        for squaring in 1..=SQUARINGS {
            power = square(&power, &power);
            if squaring < SQUARINGS {
                rest = square(&rest, &power);
            }
        }
        let sum = trace(&power, hidden);
        let q = f64::from(1u32 << SQUARINGS);
        let norm = sum.powf(0.5 / q) * scale.sqrt();
        let mut gradient = square(&matrix, &rest);
        let factor = sum.powf(0.5 / q - 1.0) / scale.sqrt();
        gradient.iter_mut().for_each(|value| *value *= factor);
        Bound { norm, gradient }
    }

    /// The factor that brings the matrix to this norm at most.
    pub(super) fn factor(&self, limit: f64) -> f64 {
        // A matrix that is not finite stays so: the loss then says it.
        if self.norm > limit { limit / self.norm } else { 1.0 }
    }

    /// What is added to the gradient at `R` for the factor's dependence on `R`, given `<dL/dR', R>` of the scaled matrix `R'`.
    pub(super) fn through_factor<F: Real>(&self, limit: f64, inner: f64) -> Vec<F> {
        let scale = if self.norm > limit {
            -limit / (self.norm * self.norm) * inner
        } else {
            0.0
        };
        self.gradient.iter().map(|&value| F::from_f64(scale * value)).collect()
    }
}

fn trace(matrix: &[f64], hidden: usize) -> f64 {
    matrix.iter().step_by(hidden + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(hidden: usize, seed: usize) -> Vec<f64> {
        (0..hidden * hidden)
            .map(|index| ((index * 37 + seed * 11) % 101) as f64 / 50.0 - 1.0)
            .collect()
    }

    /// The spectral norm by many steps of the power method.
    fn spectral(matrix: &[f64], hidden: usize) -> f64 {
        let view = Matrix::new(matrix, hidden, hidden);
        let mut vector = vec![1.0; hidden];
        let mut norm = 0.0;
        for _ in 0..3000 {
            let image = product(view, Matrix::new(&vector, hidden, 1), hidden);
            vector = product(view.transposed(), Matrix::new(&image, hidden, 1), hidden);
            norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|value| *value /= norm);
        }
        norm.sqrt()
    }

    #[test]
    fn it_bounds_the_spectral_norm_closely_from_above() {
        for hidden in [1, 2, 7, 40] {
            for seed in 0..4 {
                let matrix = matrix(hidden, seed);
                let (bound, norm) = (Bound::of(&matrix, hidden).norm, spectral(&matrix, hidden));
                assert!(bound >= norm * (1.0 - 1e-12), "{bound} {norm}");
                assert!(
                    bound <= norm * (hidden as f64).powf(1.0 / 64.0) * (1.0 + 1e-12),
                    "{bound} {norm}"
                );
            }
        }
        // The identity has all singular values equal: the worst case.
        let identity: Vec<f64> = (0..64).map(|index| f64::from(index % 9 == 0)).collect();
        assert!((Bound::of(&identity, 8).norm - 8f64.powf(1.0 / 64.0)).abs() < 1e-12);
    }

    #[test]
    fn its_gradient_is_that_of_finite_differences() {
        let matrix = matrix(6, 3);
        let bound = Bound::of(&matrix, 6);
        for index in 0..36 {
            let at = |step: f64| {
                let mut matrix = matrix.clone();
                matrix[index] += step;
                Bound::of(&matrix, 6).norm
            };
            let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((bound.gradient[index] - expected).abs() < 1e-7);
        }
    }

    #[test]
    fn a_zero_matrix_is_left_alone() {
        let bound = Bound::of(&[0.0f32; 9], 3);
        assert_eq!((bound.norm, bound.factor(0.9)), (0.0, 1.0));
    }
}
