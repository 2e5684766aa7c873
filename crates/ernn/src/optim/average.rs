//! A running average of the parameters (Polyak and Juditsky, 1992; here with exponential forgetting).
//!
//! ```text
//! average <- k average + (1 - k) parameters        k = min(keep, t / (t + 9)) at step t = 1, 2, ...
//! ```
//!
//! [length] both. The small `k` of the first steps forgets the initial values. At a constant learning rate the parameters walk
//! around a minimum; their average lies nearer to it.

use ernn_kernels::Real;

/// Moves `average` towards `parameters` after step `step` (from 1); an empty average starts as the parameters.
pub fn average<F: Real>(keep: f64, step: u64, parameters: &[F], average: &mut Vec<F>) {
    if average.is_empty() {
        average.extend_from_slice(parameters);
        return;
    }
    let step = step as f64;
    let keep = keep.min(step / (step + 9.0));
    let (keep, take) = (F::from_f64(keep), F::from_f64(1.0 - keep));
    for (average, &value) in average.iter_mut().zip(parameters) {
        *average = keep * *average + take * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_constant_parameters_and_smooths_alternating_ones() {
        let mut constant = vec![5.0];
        let mut alternating = Vec::new();
        for step in 1..=2000 {
            average(0.99, step, &[1.0], &mut constant);
            average(0.99, step, &[if step % 2 == 0 { 1.0 } else { -1.0 }], &mut alternating);
        }
        assert!((constant[0] - 1.0_f64).abs() < 1e-6);
        assert!(alternating[0].abs() < 0.01_f64);
    }
}
