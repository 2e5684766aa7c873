//! The deep family: ERNN with a network of several layers inside each inner step.
//!
//! ```text
//! z^0     = c0 h_{t-1}
//! a_1     = phi(U z^i + W x_t + b_1)
//! a_j     = phi(U_j a_{j-1} + b_j)                    j = 2..L
//! z^{i+1} = a[t,i] z^i + e[t,i] a_L                   i = 0..K-1
//! h_t     = z^K - s h_{t-1}
//! ```
//!
//! | | shape |
//! |---|---|
//! | `W` | `[w_1,d]` |
//! | `U`, `b_1` | `[w_1,D]`, `[w_1]` |
//! | `U_j`, `b_j` | `[w_j,w_{j-1}]`, `[w_j]`; `w_L = D` |
//! | `a`, `e` | `[rows,K]`; steps beyond the last row use the last row |
//!
//! This is the leaky family with a network in the place of `phi(R z + u)`; one layer is a dense leaky cell. Of a step only `h_t`
//! is kept: the backward pass runs its inner iterations again from `h_{t-1}`, so memory depends neither on `K` nor on the layers.

mod backward;
mod forward;
mod sequence;

pub(crate) use backward::{BackwardTask, backward_block};
pub(crate) use forward::{ForwardTask, forward_block};
pub use sequence::SequenceRunner;
pub(crate) use sequence::{SequenceTask, run_sequence};

use crate::blocks::{BackwardBlock, ForwardBlock, Layout, Recurrence};
use crate::pack::Packed;
use crate::panels::slot_rows;
use crate::{Activation, Isa, Real};

/// One layer of the network inside the inner step.
#[derive(Clone, Copy, Debug)]
pub struct DeepLayer<'a, F> {
    /// `w_j`; that of the last layer is `D`.
    pub width: usize,
    /// `U_j`, `[w_j,w_{j-1}]` row-major; of the first layer `U`, `[w_1,D]`.
    pub weight: &'a [F],
    /// `b_j`, `[w_j]`.
    pub bias: &'a [F],
}

/// A folded cell of the deep family; the letters are those of the module's formula.
#[derive(Clone, Copy, Debug)]
pub struct Deep<'a, F> {
    /// `d`.
    pub inputs: usize,
    /// `D`.
    pub hidden: usize,
    /// `W`, `[w_1,d]` row-major.
    pub input_weight: &'a [F],
    /// The layers, at least one.
    pub layers: &'a [DeepLayer<'a, F>],
    /// `phi`, the same after every layer.
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

/// Sizes that all passes need.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// `w_1`.
    first: usize,
    /// `w_1 + .. + w_L`: deltas of all layers.
    layers: usize,
    /// `D + w_1 + .. + w_L`: `z^i`, then the outputs of all layers, each next to the one that it is made from.
    network: usize,
}

impl<F: Real> Deep<'_, F> {
    #[inline(always)]
    fn sizes(&self) -> Sizes {
        let mut layers = 0;
        for layer in self.layers {
            layers += layer.width;
        }
        Sizes {
            first: self.layers[0].width,
            layers,
            network: self.hidden + layers,
        }
    }

    /// Columns of a layer's matrix.
    #[inline(always)]
    fn columns(&self, layer: usize) -> usize {
        if layer == 0 {
            self.hidden
        } else {
            self.layers[layer - 1].width
        }
    }

    /// The step sizes `(a, e)` of one iteration, and their index.
    #[inline(always)]
    fn step_sizes(&self, step: usize, iteration: usize) -> (F, F, usize) {
        let row = step.saturating_add(self.first_step);
        let index = row.min(self.decay.len() / self.iterations - 1) * self.iterations + iteration;
        (self.decay[index], self.gain[index], index)
    }

    /// Panics unless all slices have the sizes that the docs say: a broken caller, never bad data.
    fn check(&self) {
        let (d, hidden, k) = (self.inputs, self.hidden, self.iterations);
        assert!(d > 0 && hidden > 0 && k > 0, "sizes of a cell are at least 1");
        assert!(!self.layers.is_empty(), "there is at least one layer");
        assert_eq!(self.input_weight.len(), self.layers[0].width * d, "W is [w_1,d]");
        for (index, layer) in self.layers.iter().enumerate() {
            assert!(layer.width > 0, "sizes of a cell are at least 1");
            let size = layer.width * self.columns(index);
            assert_eq!(layer.weight.len(), size, "U_j is [w_j,w_(j-1)]");
            assert_eq!(layer.bias.len(), layer.width, "b_j is [w_j]");
        }
        let last = self.layers[self.layers.len() - 1].width;
        assert_eq!(last, hidden, "the last layer is as wide as the state");
        assert!(
            self.decay.len() >= k && self.decay.len().is_multiple_of(k),
            "a is [rows,K]"
        );
        assert_eq!(self.decay.len(), self.gain.len(), "a and e have one shape");
    }
}

/// Gradients of a folded cell, each of its parameter's shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeepGradient<F> {
    /// Of `W`.
    pub input_weight: Vec<F>,
    /// Of each layer's `U_j`.
    pub weights: Vec<Vec<F>>,
    /// Of each layer's `b_j`.
    pub biases: Vec<Vec<F>>,
    /// Of `a` (zeros unless the step sizes are learned).
    pub decay: Vec<F>,
    /// Of `e` (zeros unless the step sizes are learned).
    pub gain: Vec<F>,
}

impl<F: Real> Recurrence<F> for Deep<'_, F> {
    type Gradient = DeepGradient<F>;

    fn layout(&self, isa: Isa) -> Layout {
        self.check();
        let lanes = isa.lanes::<F>();
        let mut gradients = vec![self.input_weight.len()];
        for layer in self.layers {
            gradients.extend([layer.weight.len(), layer.bias.len()]);
        }
        gradients.extend([self.decay.len(), self.gain.len()]);
        Layout {
            inputs: self.inputs,
            hidden: self.hidden,
            memory: 0,
            saved: 0,
            codes: 0,
            gradients,
            forward_scratch: forward::scratch_len(&self.sizes(), lanes),
            backward_scratch: backward::scratch_len(self, lanes),
        }
    }

    fn pack_forward(&self, packs: &mut Vec<Packed<F>>) {
        forward::pack(self, packs);
    }

    fn pack_backward(&self, packs: &mut Vec<Packed<F>>) {
        backward::pack(self, packs);
    }

    fn forward_block(&self, isa: Isa, block: ForwardBlock<F>) {
        F::deep_forward(isa, ForwardTask { cell: self, block });
    }

    fn backward_block(&self, isa: Isa, block: BackwardBlock<F>) {
        F::deep_backward(isa, BackwardTask { cell: self, block });
    }

    fn parts<'g>(&self, gradient: &'g mut DeepGradient<F>) -> Vec<&'g mut Vec<F>> {
        let DeepGradient {
            input_weight,
            weights,
            biases,
            decay,
            gain,
        } = gradient;
        weights.resize_with(self.layers.len(), Vec::new);
        biases.resize_with(self.layers.len(), Vec::new);
        let mut parts = vec![input_weight];
        for (weight, bias) in weights.iter_mut().zip(biases) {
            parts.extend([weight, bias]);
        }
        parts.extend([decay, gain]);
        parts
    }
}

/// Numbers from one slot of `features` to the next.
#[inline(always)]
fn slot(features: usize, row: usize) -> usize {
    slot_rows(features) * row
}
