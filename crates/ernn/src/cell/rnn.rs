//! RNN, the plain recurrent network (Elman, 1990): `h' = phi(W x + U h + b)`, U dense or `U1 U2`.
//!
//! Shapes: W [D,d], b [D], U [D,D] (or U1 [D,r], U2 [r,D]). Folding: `a = 0`, `e = 1`, `R = U`.

use ernn_kernels::Real;
use ernn_kernels::leaky::LeakyGradient;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::folded::{add, cut, cut_mut, fill_uniform};
use super::settings::check_hidden;
use super::{Activation, Cell, Folded, FoldedRecurrent, Rank, Tensor};
use crate::Result;

/// Settings of a plain RNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RnnConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `U`.
    pub rank: Rank,
    /// `phi`.
    pub activation: Activation,
}

impl Default for RnnConfig {
    fn default() -> Self {
        RnnConfig {
            hidden: 64,
            rank: Rank::Full,
            activation: Activation::Tanh,
        }
    }
}

impl RnnConfig {
    /// Lengths of W, b, and U or U1, U2.
    pub(super) fn lengths(&self, inputs: usize) -> [usize; 4] {
        let [first, second] = self.rank.lengths(self.hidden);
        [self.hidden * inputs, self.hidden, first, second]
    }
}

impl Cell for RnnConfig {
    fn check(&self) -> Result<()> {
        check_hidden(self.hidden)?;
        self.rank.check(self.hidden)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let hidden = self.hidden;
        let mut tensors = vec![Tensor::matrix("W", hidden, inputs), Tensor::vector("b", hidden)];
        tensors.extend(self.rank.tensors(hidden, "U", ["U1", "U2"]));
        tensors
    }

    /// Uniform in +-1/sqrt(D), as torch's; the factors of a low-rank `U` in +-(r D)^(-1/4), so that `U` is of like size.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let bound = 1.0 / (self.hidden as f64).sqrt();
        let [w, b, first, second] = cut_mut(parameters, self.lengths(inputs));
        fill_uniform(rng, bound, w);
        fill_uniform(rng, bound, b);
        let factor = match self.rank {
            Rank::Full => bound,
            Rank::Low(rank) => ((rank * self.hidden) as f64).powf(-0.25),
        };
        fill_uniform(rng, factor, first);
        fill_uniform(rng, factor, second);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w, b, first, second] = cut(parameters, self.lengths(inputs));
        let recurrent = match self.rank {
            Rank::Full => FoldedRecurrent::Dense(first.to_vec()),
            Rank::Low(rank) => FoldedRecurrent::LowRank {
                rank,
                identity: F::ZERO,
                left: first.to_vec(),
                right: second.to_vec(),
            },
        };
        Folded {
            inputs,
            hidden: self.hidden,
            input_weight: w.to_vec(),
            bias: b.to_vec(),
            recurrent,
            activation: self.activation.into(),
            iterations: 1,
            start_scale: F::ONE,
            previous_scale: F::ZERO,
            decay: vec![F::ZERO],
            gain: vec![F::ONE],
            learned_steps: false,
        }
    }

    fn unfold<F: Real>(&self, inputs: usize, _: &[F], folded: &LeakyGradient<F>, gradient: &mut [F]) {
        let [w, b, first, second] = cut_mut(gradient, self.lengths(inputs));
        add(w, &folded.input_weight);
        add(b, &folded.bias);
        add(first, &folded.left);
        add(second, &folded.right);
    }
}
