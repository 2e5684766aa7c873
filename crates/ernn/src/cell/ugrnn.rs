//! UGRNN, the update-gate network (Collins, Sohl-Dickstein, Sussillo, ICLR 2017):
//!
//! ```text
//! z = sigma(W_z x + U_z h + b_z)      c = phi(W_c x + U_c h + b_c)      h' = z h + (1 - z) c
//! ```
//!
//! Shapes: W [2D,d] (or W1 [2D,r_w], W2 [r_w,d]), U [2D,D] (or U1 [2D,r], U2 [r,D]), b [2D], in the order z, c.

use ernn_kernels::Real;
use ernn_kernels::gated::Gates;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::{add, cut, cut_mut};
use super::stacked::Stacked;
use super::{Activation, Cell, Folded, FoldedGated, FoldedGradient, GateActivation, Rank, Tensor};
use crate::Result;

/// Settings of a UGRNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UgrnnConfig {
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

impl Default for UgrnnConfig {
    fn default() -> Self {
        UgrnnConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            gate_activation: GateActivation::Sigmoid,
            activation: Activation::Tanh,
        }
    }
}

impl UgrnnConfig {
    fn matrices(&self, inputs: usize) -> Stacked {
        Stacked {
            inputs,
            hidden: self.hidden,
            input_rank: self.input_rank,
            rank: self.rank,
            input_order: &[0, 1],
            state_order: &[0, 1],
        }
    }

    /// Lengths of the matrices' tensors and of b.
    fn lengths(&self, inputs: usize) -> [usize; 5] {
        let [w1, w2, u1, u2] = self.matrices(inputs).lengths();
        [w1, w2, u1, u2, 2 * self.hidden]
    }
}

impl Cell for UgrnnConfig {
    fn check(&self) -> Result<()> {
        Stacked::check(self.hidden, self.input_rank, self.rank)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.matrices(inputs).tensors();
        tensors.push(Tensor::vector("b", 2 * self.hidden));
        tensors
    }

    /// Biases of z 1, so that the state is kept at first; those of c 0.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let [w1, w2, u1, u2, b] = cut_mut(parameters, self.lengths(inputs));
        self.matrices(inputs).initialize(rng, [w1, w2, u1, u2]);
        let (z, c) = b.split_at_mut(self.hidden);
        z.fill(F::ONE);
        c.fill(F::ZERO);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w1, w2, u1, u2, b] = cut(parameters, self.lengths(inputs));
        let matrices = self.matrices(inputs);
        Folded::Gated(FoldedGated {
            gates: Gates::Ugrnn,
            inputs,
            hidden: self.hidden,
            input_weight: matrices.fold_input([w1, w2, u1, u2]),
            bias: b.to_vec(),
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
        add(db, &folded.bias);
    }
}
