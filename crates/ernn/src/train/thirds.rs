//! When a run with sparsity thins the matrices of its cells: the thirds of a pass.
//!
//! ```text
//! steps 0 .. n/3        dense
//! steps n/3 .. 2n/3     after every 15th step the small entries become 0; they may grow back until the next time
//! steps 2n/3 .. n       before the first one the same, and from then on the support is fixed
//! ```
//!
//! n: steps of the pass (epochs times batches). Source: Kusupati et al., FastGRNN, NeurIPS 2018, section 3.3, with the steps of
//! EdgeML's trainer (`fastTrainer.py`). That one also sets to 0, after each other step of the second third, what the last
//! thresholding did not keep; what is to grow back then has one step for it instead of 15.

use crate::cell::Span;
use crate::optim;

/// Steps from one thresholding to the next.
const EVERY: u64 = 15;

/// The thirds of one pass, and what is thinned in them.
pub(super) struct Thirds {
    sparsity: f64,
    matrices: Vec<Span>,
    second: u64,
    last: u64,
}

impl Thirds {
    /// The thirds of a pass of so many steps; none without sparsity.
    pub fn new(sparsity: f64, spans: &[Span], steps: u64) -> Option<Self> {
        (sparsity > 0.0).then(|| Thirds {
            sparsity,
            matrices: spans.iter().filter(|span| is_cell_matrix(span)).cloned().collect(),
            second: steps / 3,
            last: 2 * steps / 3,
        })
    }

    /// Whether the parameters are to be thresholded after this step, counted from 0.
    pub fn thresholds_after(&self, step: u64) -> bool {
        (self.second..self.last).contains(&step) && step.is_multiple_of(EVERY)
    }

    /// Whether this step, counted from 0, works on a fixed support.
    pub fn is_fixed(&self, step: u64) -> bool {
        step >= self.last
    }

    /// The support that thresholding leaves.
    pub fn support(&self, parameters: &[f32]) -> Vec<bool> {
        optim::support(parameters, &self.matrices, self.sparsity)
    }
}

/// The matrices of the cells and their factors: not the readout, no bias, no step size.
fn is_cell_matrix(span: &Span) -> bool {
    span.decay && span.name.starts_with("layers.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thirds(steps: u64) -> Thirds {
        Thirds::new(0.5, &[], steps).unwrap()
    }

    #[test]
    fn every_fifteenth_step_of_the_second_third() {
        let found = |steps| -> Vec<u64> {
            let thirds = thirds(steps);
            (0..steps).filter(|&step| thirds.thresholds_after(step)).collect()
        };
        assert_eq!(found(100), [45, 60]);
        assert_eq!(found(135), [45, 60, 75]);
        assert_eq!(found(9), [] as [u64; 0]);
    }

    #[test]
    fn the_last_step_of_any_pass_has_a_fixed_support() {
        for steps in 1..40 {
            let thirds = thirds(steps);
            assert!(thirds.is_fixed(steps - 1), "{steps} steps");
            let fixed = (0..steps).filter(|&step| thirds.is_fixed(step)).count() as u64;
            assert_eq!(fixed, steps.div_ceil(3), "{steps} steps");
            assert!((0..steps).all(|step| !(thirds.is_fixed(step) && thirds.thresholds_after(step))));
        }
    }

    #[test]
    fn only_matrices_of_cells_are_thinned() {
        let span = |name: &str, start, decay| Span {
            name: name.to_string(),
            shape: vec![2],
            start,
            decay,
            learning_rate_scale: 1.0,
        };
        let spans = [
            span("layers.0.W", 0, true),
            span("layers.0.b", 2, false),
            span("layers.1.U1", 4, true),
            span("readout.weight", 6, true),
        ];
        let thirds = Thirds::new(0.5, &spans, 3).unwrap();
        let support = thirds.support(&[1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0]);
        assert_eq!(support, [false, true, true, true, true, false, true, true]);
        assert!(Thirds::new(0.0, &spans, 3).is_none());
    }
}
