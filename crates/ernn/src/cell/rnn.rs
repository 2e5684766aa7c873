//! RNN, the plain recurrent network (Elman, 1990): `h' = phi(W x + U h + b)`, W and U dense or of low rank.
//!
//! Shapes: W [D,d] (or W1 [D,r_w], W2 [r_w,d]), U [D,D] (or U1 [D,r], U2 [r,D]), b [D]. Folding: `a = 0`, `e = 1`, `R = U`.

use ernn_kernels::Real;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::{add, fill_uniform};
use super::stacked::Stacked;
use super::{Activation, Cell, Folded, FoldedGradient, FoldedLeaky, Rank, Tensor};
use crate::Result;

/// Settings of a plain RNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RnnConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `U`.
    pub rank: Rank,
    /// Rank of `W`.
    pub input_rank: Rank,
    /// `phi`.
    pub activation: Activation,
}

impl Default for RnnConfig {
    fn default() -> Self {
        RnnConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            activation: Activation::Tanh,
        }
    }
}

impl RnnConfig {
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

    /// Number of parameters.
    pub(super) fn len(&self, inputs: usize) -> usize {
        self.matrices(inputs).len() + self.hidden
    }

    /// The folded cell, for cells that are one but for their step sizes.
    pub(super) fn fold_leaky<F: Real>(&self, inputs: usize, parameters: &[F]) -> FoldedLeaky<F> {
        let matrices = self.matrices(inputs);
        FoldedLeaky {
            inputs,
            hidden: self.hidden,
            input_weight: matrices.fold_input(parameters),
            bias: parameters[matrices.len()..].to_vec(),
            recurrent: matrices.fold_recurrent(parameters),
            activation: self.activation.into(),
            iterations: 1,
            start_scale: F::ONE,
            previous_scale: F::ZERO,
            decay: vec![F::ZERO],
            gain: vec![F::ONE],
            learned_steps: false,
        }
    }
}

impl Cell for RnnConfig {
    const KEPT: usize = 2;

    fn is_bounded(&self) -> bool {
        self.activation.is_bounded()
    }

    fn check(&self) -> Result<()> {
        Stacked::check(self.hidden, self.input_rank, self.rank)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.matrices(inputs).tensors();
        tensors.push(Tensor::vector("b", self.hidden));
        tensors
    }

    /// b uniform in +-1/sqrt(D), as torch's, and the matrices as [`Stacked::initialize`].
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let b = self.matrices(inputs).initialize(rng, parameters);
        fill_uniform(rng, 1.0 / (self.hidden as f64).sqrt(), b);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        Folded::Leaky(self.fold_leaky(inputs, parameters))
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.leaky();
        let outer = [&folded.input_weight[..], &folded.left, &folded.right];
        let db = self.matrices(inputs).unfold(parameters, outer, gradient);
        add(db, &folded.bias);
    }
}
