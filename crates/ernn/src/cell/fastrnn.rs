//! FastRNN: `c = phi(W x + U h + b)`, `h' = sigmoid(beta) h + sigmoid(alpha) c`, W and U dense or of low rank.
//!
//! Source: Kusupati et al., FastGRNN, NeurIPS 2018, section 3.1. Shapes: as [`super::rnn`], and alpha [1], beta [1], initially
//! -3 and 3. Folding: as the RNN's, with `a = sigmoid(beta)`, `e = sigmoid(alpha)`.

use ernn_kernels::Real;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::sigmoid;
use super::rnn::RnnConfig;
use super::{Activation, Cell, Folded, FoldedGradient, FoldedLeaky, Rank, Tensor};
use crate::{Error, Result};

/// Settings of a FastRNN; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FastRnnConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `U`.
    pub rank: Rank,
    /// Rank of `W`.
    pub input_rank: Rank,
    /// `phi`.
    pub activation: Activation,
    /// Initial `alpha`.
    pub alpha: f64,
    /// Initial `beta`.
    pub beta: f64,
}

impl Default for FastRnnConfig {
    fn default() -> Self {
        FastRnnConfig {
            hidden: 64,
            rank: Rank::Full,
            input_rank: Rank::Full,
            activation: Activation::Tanh,
            alpha: -3.0,
            beta: 3.0,
        }
    }
}

impl FastRnnConfig {
    /// The RNN inside.
    fn inner(&self) -> RnnConfig {
        RnnConfig {
            hidden: self.hidden,
            rank: self.rank,
            input_rank: self.input_rank,
            activation: self.activation,
        }
    }

    fn inner_len(&self, inputs: usize) -> usize {
        self.inner().len(inputs)
    }
}

impl Cell for FastRnnConfig {
    const KEPT: usize = 2;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !value.is_finite() {
                return Err(Error::setting(name, value, "a finite number"));
            }
        }
        self.inner().check()
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let mut tensors = self.inner().tensors(inputs);
        tensors.extend([Tensor::vector("alpha", 1), Tensor::vector("beta", 1)]);
        tensors
    }

    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let (inner, scalars) = parameters.split_at_mut(self.inner_len(inputs));
        self.inner().initialize(inputs, rng, inner);
        scalars.copy_from_slice(&[F::from_f64(self.alpha), F::from_f64(self.beta)]);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let (inner, scalars) = parameters.split_at(self.inner_len(inputs));
        Folded::Leaky(FoldedLeaky {
            decay: vec![sigmoid(scalars[1])],
            gain: vec![sigmoid(scalars[0])],
            learned_steps: true,
            ..self.inner().fold_leaky(inputs, inner)
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let at = self.inner_len(inputs);
        let (inner, scalars) = parameters.split_at(at);
        let (inner_gradient, scalar_gradients) = gradient.split_at_mut(at);
        self.inner().unfold(inputs, inner, folded, inner_gradient);
        let outer = [folded.leaky().gain[0], folded.leaky().decay[0]];
        for ((out, &x), outer) in scalar_gradients.iter_mut().zip(scalars).zip(outer) {
            let y = sigmoid(x);
            *out += outer * y * (F::ONE - y);
        }
    }
}
