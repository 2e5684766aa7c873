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

use super::pieces::{add, cut, cut_mut};
use super::stacked::{Stacked, reorder, reorder_back};
use super::{Activation, Cell, Folded, FoldedGated, FoldedGradient, GateActivation, Rank, Tensor};
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

    /// Lengths of the matrices' tensors and of b.
    fn lengths(&self, inputs: usize) -> [usize; 5] {
        let [w1, w2, u1, u2] = self.matrices(inputs).lengths();
        [w1, w2, u1, u2, 4 * self.hidden]
    }
}

impl Cell for LstmConfig {
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
        let [w1, w2, u1, u2, b] = cut_mut(parameters, self.lengths(inputs));
        self.matrices(inputs).initialize(rng, [w1, w2, u1, u2]);
        b.fill(F::ZERO);
        b[FORGET * self.hidden..(FORGET + 1) * self.hidden].fill(F::ONE);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w1, w2, u1, u2, b] = cut(parameters, self.lengths(inputs));
        let matrices = self.matrices(inputs);
        Folded::Gated(FoldedGated {
            gates: Gates::Lstm,
            inputs,
            hidden: self.hidden,
            input_weight: matrices.fold_input([w1, w2, u1, u2]),
            bias: reorder(b, ORDER),
            recurrent: matrices.fold_recurrent([w1, w2, u1, u2]),
            gate: self.gate_activation.into(),
            activation: self.activation.into(),
            scalars: [F::ZERO; 2],
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let [w1, w2, u1, u2, _] = cut(parameters, self.lengths(inputs));
        let [dw1, dw2, du1, du2, db] = cut_mut(gradient, self.lengths(inputs));
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        self.matrices(inputs)
            .unfold([w1, w2, u1, u2], outer, [dw1, dw2, du1, du2]);
        add(db, &reorder_back(&folded.bias, ORDER));
    }
}
