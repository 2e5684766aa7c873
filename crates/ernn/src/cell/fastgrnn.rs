//! FastGRNN (Kusupati et al., FastGRNN, NeurIPS 2018, section 3.2): a gate that shares its matrices with the candidate.
//!
//! ```text
//! p  = W x + U h
//! z  = sigma(p + b_z)      c = phi(p + b_h)
//! h' = (sigmoid(zeta) (1 - z) + sigmoid(nu)) c + z h
//! ```
//!
//! Shapes: W [D,d] (or W1 [D,r_w], W2 [r_w,d]), U [D,D] (or U1 [D,r], U2 [r,D]), b_z [D], b_h [D], zeta [1], nu [1], initially 1
//! and -4. Dense matrices make it the paper's FastGRNN-LSQ.

use ernn_kernels::Real;
use ernn_kernels::gated::Gates;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::{add, cut_mut, sigmoid};
use super::stacked::Stacked;
use super::{Activation, Cell, Folded, FoldedGated, FoldedGradient, GateActivation, Rank, Tensor};
use crate::{Error, Result};

/// Settings of a FastGRNN; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FastGrnnConfig {
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
    /// Initial `zeta`.
    pub zeta: f64,
    /// Initial `nu`.
    pub nu: f64,
}

impl Default for FastGrnnConfig {
    fn default() -> Self {
        FastGrnnConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            gate_activation: GateActivation::Sigmoid,
            activation: Activation::Tanh,
            zeta: 1.0,
            nu: -4.0,
        }
    }
}

impl FastGrnnConfig {
    fn matrices(&self, inputs: usize) -> Stacked {
        Stacked {
            inputs,
            hidden: self.hidden,
            input_rank: self.input_rank,
            rank: self.rank,
            input_order: &[0],
            state_order: &[0],
        }
    }
}

impl Cell for FastGrnnConfig {
    const KEPT: usize = 3;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("zeta", self.zeta), ("nu", self.nu)] {
            if !value.is_finite() {
                return Err(Error::setting(name, value, "a finite number"));
            }
        }
        Stacked::check(self.hidden, self.input_rank, self.rank)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.matrices(inputs).tensors();
        tensors.extend([
            Tensor::vector("b_z", self.hidden),
            Tensor::vector("b_h", self.hidden),
            Tensor::vector("zeta", 1),
            Tensor::vector("nu", 1),
        ]);
        tensors
    }

    /// Biases of z 1, so that the state is kept at first; those of the candidate 0.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let rest = self.matrices(inputs).initialize(rng, parameters);
        let [z, c, scalars] = cut_mut(rest, [self.hidden, self.hidden, 2]);
        z.fill(F::ONE);
        c.fill(F::ZERO);
        scalars.copy_from_slice(&[F::from_f64(self.zeta), F::from_f64(self.nu)]);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let matrices = self.matrices(inputs);
        let (biases, scalars) = parameters[matrices.len()..].split_at(2 * self.hidden);
        let mut bias = biases.to_vec();
        bias.resize(3 * self.hidden, F::ZERO); // p has none
        let activations = (self.gate_activation, self.activation);
        Folded::Gated(FoldedGated {
            scalars: [sigmoid(scalars[0]), sigmoid(scalars[1])],
            ..matrices.fold_gated(Gates::FastGrnn, activations, parameters, bias)
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let matrices = self.matrices(inputs);
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        let rest = matrices.unfold(parameters, outer, gradient);
        let (biases, at_scalars) = rest.split_at_mut(2 * self.hidden);
        let scalars = &parameters[parameters.len() - 2..];
        add(biases, &folded.bias[..2 * self.hidden]);
        for ((out, &x), &outer) in at_scalars.iter_mut().zip(scalars).zip(&folded.scalars) {
            let y = sigmoid(x);
            *out += outer * y * (F::ONE - y);
        }
    }
}
