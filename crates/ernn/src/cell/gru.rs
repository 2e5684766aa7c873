//! GRU (Cho et al., 2014):
//!
//! ```text
//! r, z = sigma(W_* x + U_* h + b_*)
//! n  = phi(W_n x + b[n] + r * (U_n h + b_n))     reset after the product, as torch and cuDNN
//! n  = phi(W_n x + b[n] + U_n (r * h))           reset before the product, as the paper
//! h' = (1 - z) n + z h
//! ```
//!
//! Shapes: W [3D,d] (or W1 [3D,r_w], W2 [r_w,d]), U [3D,D] (or U1 [3D,r], U2 [r,D]), b [3D], gates in torch's order r, z, n; and
//! b_n [D] for the reset after the product, where it is not the same as b[n].

use ernn_kernels::Real;
use ernn_kernels::gated::Gates;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::add;
use super::stacked::{Stacked, reorder, reorder_back};
use super::{Activation, Cell, Folded, FoldedGradient, GateActivation, Rank, Tensor};
use crate::Result;

/// The kernel's groups of `W` and `b`: n, r, z (and n of the state) for the reset after the product.
const AFTER: &[usize] = &[2, 0, 1];
const IN_ORDER: &[usize] = &[0, 1, 2];
const UPDATE: usize = 1;

/// Where a GRU forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// `r * (U_n h + b_n)`.
    After,
    /// `U_n (r * h)`.
    Before,
}

/// Settings of a GRU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GruConfig {
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
    /// Reset after or before the product.
    pub reset: Reset,
}

impl Default for GruConfig {
    fn default() -> Self {
        GruConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            gate_activation: GateActivation::Sigmoid,
            activation: Activation::Tanh,
            reset: Reset::After,
        }
    }
}

impl GruConfig {
    fn order(&self) -> &'static [usize] {
        match self.reset {
            Reset::After => AFTER,
            Reset::Before => IN_ORDER,
        }
    }

    fn matrices(&self, inputs: usize) -> Stacked {
        Stacked {
            inputs,
            hidden: self.hidden,
            input_rank: self.input_rank,
            rank: self.rank,
            input_order: self.order(),
            state_order: IN_ORDER,
        }
    }
}

impl Cell for GruConfig {
    const KEPT: usize = 3;

    fn is_bounded(&self) -> bool {
        self.activation.is_bounded()
    }

    fn check(&self) -> Result<()> {
        Stacked::check(self.hidden, self.input_rank, self.rank)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.matrices(inputs).tensors();
        tensors.push(Tensor::vector("b", 3 * self.hidden));
        if self.reset == Reset::After {
            tensors.push(Tensor::vector("b_n", self.hidden));
        }
        tensors
    }

    /// Biases 0, those of z 1: the state is kept at first, as by the LSTM's forget gate.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let biases = self.matrices(inputs).initialize(rng, parameters);
        biases.fill(F::ZERO);
        biases[UPDATE * self.hidden..(UPDATE + 1) * self.hidden].fill(F::ONE);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let matrices = self.matrices(inputs);
        let (b, b_n) = parameters[matrices.len()..].split_at(3 * self.hidden);
        let mut bias = reorder(b, self.order());
        bias.extend_from_slice(b_n);
        let gates = match self.reset {
            Reset::After => Gates::GruAfter,
            Reset::Before => Gates::GruBefore,
        };
        let activations = (self.gate_activation, self.activation);
        Folded::Gated(matrices.fold_gated(gates, activations, parameters, bias))
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        let biases = self.matrices(inputs).unfold(parameters, outer, gradient);
        let (db, db_n) = biases.split_at_mut(3 * self.hidden);
        let (bias, state_bias) = folded.bias.split_at(3 * self.hidden);
        add(db, &reorder_back(bias, self.order()));
        add(db_n, state_bias);
    }
}
