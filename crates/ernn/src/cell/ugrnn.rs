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

use super::pieces::add;
use super::stacked::Stacked;
use super::{Activation, Cell, Folded, FoldedGradient, GateActivation, Rank, Tensor};
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
}

impl Cell for UgrnnConfig {
    const KEPT: usize = 3;

    fn is_bounded(&self) -> bool {
        self.activation.is_bounded()
    }

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
        let b = self.matrices(inputs).initialize(rng, parameters);
        let (z, c) = b.split_at_mut(self.hidden);
        z.fill(F::ONE);
        c.fill(F::ZERO);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let matrices = self.matrices(inputs);
        let b = &parameters[matrices.len()..];
        let activations = (self.gate_activation, self.activation);
        Folded::Gated(matrices.fold_gated(Gates::Ugrnn, activations, parameters, b.to_vec()))
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        let db = self.matrices(inputs).unfold(parameters, outer, gradient);
        add(db, &folded.bias);
    }
}
