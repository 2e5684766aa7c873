//! The leaky family: one recurrence for ERNN, RNN, FastRNN, AntisymmetricRNN and SpectralRNN, once folded.
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
mod forward;
mod sequence;

pub(crate) use backward::{BackwardTask, backward_block};
pub(crate) use forward::{ForwardTask, forward_block};
pub use sequence::SequenceRunner;
pub(crate) use sequence::{SequenceTask, run_sequence};

use crate::blocks::{BackwardBlock, ForwardBlock, Layout, Recurrence};
use crate::pack::Packed;
use crate::{Activation, Isa, Real};

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

impl<F> Recurrent<'_, F> {
    /// Rank, or 0 for a dense matrix.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Recurrent::Dense(_) => 0,
            Recurrent::LowRank { rank, .. } => *rank,
        }
    }

    /// Numbers in `R` and nothing, or in `A` and `B`.
    pub(crate) fn lengths(&self) -> [usize; 2] {
        match self {
            Recurrent::Dense(weight) => [weight.len(), 0],
            Recurrent::LowRank { left, right, .. } => [left.len(), right.len()],
        }
    }

    /// Panics unless the matrix is `[rows, columns]`.
    pub(crate) fn check(&self, rows: usize, columns: usize) {
        match self {
            Recurrent::Dense(weight) => assert_eq!(weight.len(), rows * columns, "R is [D,D]"),
            Recurrent::LowRank { rank, left, right, .. } => {
                assert!(*rank > 0, "the rank is at least 1");
                assert_eq!(left.len(), rows * rank, "A is [D,r]");
                assert_eq!(right.len(), columns * rank, "B is [r,D]");
            }
        }
    }
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
    /// Steps of the sequence that were run before, in another piece: the first step here has the step sizes of this row.
    pub first_step: usize,
}

impl<F: Real> Leaky<'_, F> {
    /// Rank, or 0 for a dense `R`.
    pub(crate) fn rank(&self) -> usize {
        self.recurrent.rank()
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
        let row = step.saturating_add(self.first_step);
        let index = row.min(self.decay.len() / self.iterations - 1) * self.iterations + iteration;
        (self.decay[index], self.gain[index], index)
    }

    /// Panics unless all slices have the sizes that the docs say: a broken caller, never bad data.
    pub(crate) fn check(&self) {
        let (d, hidden, k) = (self.inputs, self.hidden, self.iterations);
        assert!(d > 0 && hidden > 0 && k > 0, "sizes of a cell are at least 1");
        assert_eq!(self.input_weight.len(), hidden * d, "W is [D,d]");
        assert_eq!(self.bias.len(), hidden, "b is [D]");
        self.recurrent.check(hidden, hidden);
        assert!(
            self.decay.len() >= k && self.decay.len().is_multiple_of(k),
            "a is [rows,K]"
        );
        assert_eq!(self.decay.len(), self.gain.len(), "a and e have one shape");
    }
}

/// Gradients of a folded cell, each of its parameter's shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakyGradient<F> {
    /// Of `W`.
    pub input_weight: Vec<F>,
    /// Of `b`.
    pub bias: Vec<F>,
    /// Of `R` if dense, else of `A`.
    pub left: Vec<F>,
    /// Of `B`; empty for a dense `R`.
    pub right: Vec<F>,
    /// Of `a` (zeros unless the step sizes are learned).
    pub decay: Vec<F>,
    /// Of `e` (zeros unless the step sizes are learned).
    pub gain: Vec<F>,
    /// Of `c`, one number; only the equilibrium family fills it.
    pub identity: Vec<F>,
}

impl<F> Leaky<'_, F> {
    /// Sizes of the gradient's parts.
    fn gradient_sizes(&self) -> [usize; 6] {
        let [left, right] = self.recurrent.lengths();
        [
            self.input_weight.len(),
            self.bias.len(),
            left,
            right,
            self.decay.len(),
            self.gain.len(),
        ]
    }
}

impl<F: Real> Recurrence<F> for Leaky<'_, F> {
    type Gradient = LeakyGradient<F>;

    fn layout(&self, isa: Isa) -> Layout {
        self.check();
        let (hidden, rank, lanes) = (self.hidden, self.rank(), isa.lanes::<F>());
        Layout {
            inputs: self.inputs,
            hidden,
            memory: 0,
            saved: hidden,
            codes: rank,
            gradients: self.gradient_sizes().to_vec(),
            forward_scratch: forward::scratch_len(hidden, rank, lanes),
            backward_scratch: backward::scratch_len(hidden, rank, self.iterations, lanes),
        }
    }

    fn pack_forward(&self, packs: &mut Vec<Packed<F>>) {
        forward::pack(self, packs);
    }

    fn pack_backward(&self, packs: &mut Vec<Packed<F>>) {
        backward::pack(self, packs);
    }

    fn forward_block(&self, isa: Isa, block: ForwardBlock<F>) {
        F::leaky_forward(isa, ForwardTask { cell: self, block });
    }

    fn backward_block(&self, isa: Isa, block: BackwardBlock<F>) {
        F::leaky_backward(isa, BackwardTask { cell: self, block });
    }

    fn parts<'g>(&self, gradient: &'g mut LeakyGradient<F>) -> Vec<&'g mut Vec<F>> {
        vec![
            &mut gradient.input_weight,
            &mut gradient.bias,
            &mut gradient.left,
            &mut gradient.right,
            &mut gradient.decay,
            &mut gradient.gain,
        ]
    }
}
