//! LSTM (Hochreiter and Schmidhuber, 1997; with a forget gate, no peepholes):
//!
//! ```text
//! i, f, o = sigma(W_* x + U_* h + b_*)      g = phi(W_g x + U_g h + b_g)
//! c' = f c + i g                            h' = o phi(c')
//! ```
//!
//! Shapes: W [4D,d] (or W1 [4D,r_w], W2 [r_w,d]), U [4D,D] (or U1 [4D,r], U2 [r,D]), b [4D], gates in torch's order i, f, g, o.
//! torch has two biases, which only ever occur as their sum.

use ernn_kernels::Real;
use ernn_kernels::gated::Gates;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::add;
use super::stacked::{Stacked, reorder, reorder_back};
use super::{Activation, Cell, Folded, FoldedGradient, GateActivation, Rank, Tensor};
use crate::Result;

/// The kernel has its gates in front: i, f, o, g.
const ORDER: &[usize] = &[0, 1, 3, 2];
const FORGET: usize = 1;

/// Settings of an LSTM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LstmConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `U`.
    pub rank: Rank,
    /// Rank of `W`.
    pub input_rank: Rank,
    /// `sigma`.
    pub gate_activation: GateActivation,
    /// `phi`.
    pub activation: Activation,
}

impl Default for LstmConfig {
    fn default() -> Self {
        LstmConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            gate_activation: GateActivation::Sigmoid,
            activation: Activation::Tanh,
        }
    }
}

impl LstmConfig {
    fn matrices(&self, inputs: usize) -> Stacked {
        Stacked {
            inputs,
            hidden: self.hidden,
            input_rank: self.input_rank,
            rank: self.rank,
            input_order: ORDER,
            state_order: ORDER,
        }
    }
}

impl Cell for LstmConfig {
    const KEPT: usize = 5;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        Stacked::check(self.hidden, self.input_rank, self.rank)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.matrices(inputs).tensors();
        tensors.push(Tensor::vector("b", 4 * self.hidden));
        tensors
    }

    /// Biases 0, those of the forget gate 1 (Jozefowicz et al., 2015).
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let b = self.matrices(inputs).initialize(rng, parameters);
        b.fill(F::ZERO);
        b[FORGET * self.hidden..(FORGET + 1) * self.hidden].fill(F::ONE);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let matrices = self.matrices(inputs);
        let b = &parameters[matrices.len()..];
        let activations = (self.gate_activation, self.activation);
        Folded::Gated(matrices.fold_gated(Gates::Lstm, activations, parameters, reorder(b, ORDER)))
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        let db = self.matrices(inputs).unfold(parameters, outer, gradient);
        add(db, &reorder_back(&folded.bias, ORDER));
    }
}
