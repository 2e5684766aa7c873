//! The leaky family: one recurrence for ERNN, RNN, FastRNN, AntisymmetricRNN and (later) SpectralRNN, once folded.
//!
//! ```text
//! u_t     = W x_t + b
//! z^0     = c0 h_{t-1}
//! z^{i+1} = a[t,i] z^i + e[t,i] phi(R z^i + u_t)      i = 0..K-1
//! h_t     = z^K - s h_{t-1}
//! ```
//!
//! `R` is dense `[D,D]` or `c I + A B` with `A [D,r]`, `B [r,D]`: then a step costs `4 D r` flops instead of `2 D^2`.
//! Saved for the backward pass are `h_t`, one more number a unit and step, and `B z^0`, whatever `K` is: for `K = 1` the number
//! is `phi(..)`, so that nothing is computed twice; for `K > 1` it is `u_t`, and the inner iterations are run again.

mod backward;
mod blocks;
mod forward;
mod sequence;

pub(crate) use backward::{BackwardTask, backward_block};
pub use blocks::{LeakyGradient, StateGradient, Trace, backward, forward, infer};
pub(crate) use forward::{ForwardTask, forward_block};
pub use sequence::SequenceRunner;
pub(crate) use sequence::{SequenceTask, run_sequence};

use crate::{Activation, Real};

/// The recurrent matrix `R`.
#[derive(Clone, Copy, Debug)]
pub enum Recurrent<'a, F> {
    /// `R`, `[D,D]` row-major.
    Dense(&'a [F]),
    /// `c I + A B`.
    LowRank {
        /// `r`.
        rank: usize,
        /// `c`.
        identity: F,
        /// `A`, `[D,r]` row-major.
        left: &'a [F],
        /// `B`, `[r,D]` row-major.
        right: &'a [F],
    },
}

/// A folded cell of the leaky family; the letters are those of the module's formula.
#[derive(Clone, Copy, Debug)]
pub struct Leaky<'a, F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[D,d]` row-major.
    pub input_weight: &'a [F],
    /// `b`, `[D]`.
    pub bias: &'a [F],
    /// `R`.
    pub recurrent: Recurrent<'a, F>,
    /// `phi`.
    pub activation: Activation,
    /// `K`, at least 1.
    pub iterations: usize,
    /// `c0`.
    pub start_scale: F,
    /// `s`.
    pub previous_scale: F,
    /// `a`, `[rows,K]`; steps beyond the last row use the last row.
    pub decay: &'a [F],
    /// `e`, `[rows,K]`.
    pub gain: &'a [F],
    /// Whether the gradients of `a` and `e` are wanted.
    pub learned_steps: bool,
}

impl<F: Real> Leaky<'_, F> {
    /// Rank, or 0 for a dense `R`.
    pub(crate) fn rank(&self) -> usize {
        match self.recurrent {
            Recurrent::Dense(_) => 0,
            Recurrent::LowRank { rank, .. } => rank,
        }
    }

    /// `c`, 0 for a dense `R`.
    pub(crate) fn identity(&self) -> F {
        match self.recurrent {
            Recurrent::Dense(_) => F::ZERO,
            Recurrent::LowRank { identity, .. } => identity,
        }
    }

    /// The step sizes `(a, e)` of one iteration, and their index.
    #[inline(always)]
    pub(crate) fn step_sizes(&self, step: usize, iteration: usize) -> (F, F, usize) {
        let index = step.min(self.decay.len() / self.iterations - 1) * self.iterations + iteration;
        (self.decay[index], self.gain[index], index)
    }

    /// Panics unless all slices have the sizes that the docs say: a broken caller, never bad data.
    pub(crate) fn check(&self) {
        let (d, hidden, k) = (self.inputs, self.hidden, self.iterations);
        assert!(d > 0 && hidden > 0 && k > 0, "sizes of a cell are at least 1");
        assert_eq!(self.input_weight.len(), hidden * d, "W is [D,d]");
        assert_eq!(self.bias.len(), hidden, "b is [D]");
        match self.recurrent {
            Recurrent::Dense(weight) => assert_eq!(weight.len(), hidden * hidden, "R is [D,D]"),
            Recurrent::LowRank { rank, left, right, .. } => {
                assert!(rank > 0, "the rank is at least 1");
                assert_eq!(left.len(), hidden * rank, "A is [D,r]");
                assert_eq!(right.len(), hidden * rank, "B is [r,D]");
            }
        }
        assert!(
            self.decay.len() >= k && self.decay.len().is_multiple_of(k),
            "a is [rows,K]"
        );
        assert_eq!(self.decay.len(), self.gain.len(), "a and e have one shape");
    }
}
