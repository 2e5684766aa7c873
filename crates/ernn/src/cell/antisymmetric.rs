//! AntisymmetricRNN: `h' = h + eps phi((Wh - Wh^T - gamma I) h + W x + b)`, Wh dense or `A B`.
//!
//! Source: Chang, Chen, Haber, Chi, ICLR 2019, eq. 15 (its V is W here). Shapes: W [D,d], b [D], Wh [D,D] (or A [D,r],
//! B [r,D]); eps and gamma are fixed. Folding: `a = 1`, `e = eps`, `R = Wh - Wh^T - gamma I`; low rank: `R = [A, -B^T] [B; A^T] -
//! gamma I`, of rank 2r.

use ernn_kernels::Real;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::pieces::{add, cut, cut_mut, fill_normal};
use super::settings::{check_hidden, check_not_negative, check_positive};
use super::{Activation, Cell, Folded, FoldedGradient, FoldedLeaky, FoldedRecurrent, Rank, Tensor};
use crate::Result;

/// Settings of an AntisymmetricRNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AntisymmetricConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `Wh`.
    pub rank: Rank,
    /// `phi`.
    pub activation: Activation,
    /// `eps`, the step size, not learned.
    pub epsilon: f64,
    /// `gamma`, the diffusion, not learned.
    pub gamma: f64,
    /// `s`: Wh is drawn from normal(0, s^2 / D).
    pub deviation: f64,
}

impl Default for AntisymmetricConfig {
    fn default() -> Self {
        AntisymmetricConfig {
            hidden: 64,
            rank: Rank::Full,
            activation: Activation::Tanh,
            epsilon: 0.1,
            gamma: 0.01,
            deviation: 1.0,
        }
    }
}

impl AntisymmetricConfig {
    fn lengths(&self, inputs: usize) -> [usize; 4] {
        let [first, second] = self.rank.lengths(self.hidden, self.hidden);
        [self.hidden * inputs, self.hidden, first, second]
    }

    /// `Wh - Wh^T - gamma I`.
    pub(super) fn fold_recurrent<F: Real>(&self, first: &[F], second: &[F]) -> FoldedRecurrent<F> {
        let hidden = self.hidden;
        let gamma = F::from_f64(self.gamma);
        match self.rank {
            Rank::Full => {
                let mut weight = vec![F::ZERO; hidden * hidden];
                for row in 0..hidden {
                    for column in 0..hidden {
                        weight[row * hidden + column] = first[row * hidden + column] - first[column * hidden + row];
                    }
                    weight[row * hidden + row] -= gamma;
                }
                FoldedRecurrent::Dense(weight)
            }
            Rank::Low(rank) => {
                let mut left = vec![F::ZERO; hidden * 2 * rank];
                let mut right = second.to_vec();
                right.resize(2 * rank * hidden, F::ZERO);
                for row in 0..hidden {
                    for column in 0..rank {
                        left[row * 2 * rank + column] = first[row * rank + column];
                        left[row * 2 * rank + rank + column] = -second[column * hidden + row];
                        right[(rank + column) * hidden + row] = first[row * rank + column];
                    }
                }
                FoldedRecurrent::LowRank {
                    rank: 2 * rank,
                    identity: -gamma,
                    left,
                    right,
                }
            }
        }
    }
}

impl AntisymmetricConfig {
    /// Wh from normal(0, s^2/D) (paper, section 5), the factors of a low-rank Wh so that their product has that variance.
    pub(super) fn initialize_recurrent<F: Real>(&self, rng: &mut impl Rng, first: &mut [F], second: &mut [F]) {
        let deviation = self.deviation / (self.hidden as f64).sqrt();
        let factor = match self.rank {
            Rank::Full => deviation,
            Rank::Low(rank) => (deviation / (rank as f64).sqrt()).sqrt(),
        };
        fill_normal(rng, factor, first);
        fill_normal(rng, factor, second);
    }

    /// The vjp of [`Self::fold_recurrent`], added.
    pub(super) fn unfold_recurrent<F: Real>(&self, at_left: &[F], at_right: &[F], first: &mut [F], second: &mut [F]) {
        let hidden = self.hidden;
        match self.rank {
            Rank::Full => {
                for row in 0..hidden {
                    for column in 0..hidden {
                        first[row * hidden + column] += at_left[row * hidden + column] - at_left[column * hidden + row];
                    }
                }
            }
            Rank::Low(rank) => {
                for row in 0..hidden {
                    for column in 0..rank {
                        let (left, right) = (row * 2 * rank, (rank + column) * hidden + row);
                        first[row * rank + column] += at_left[left + column] + at_right[right];
                        second[column * hidden + row] +=
                            at_right[column * hidden + row] - at_left[left + rank + column];
                    }
                }
            }
        }
    }
}

impl Cell for AntisymmetricConfig {
    const KEPT: usize = 2;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        check_hidden(self.hidden)?;
        self.rank.check(self.hidden)?;
        check_positive("epsilon", self.epsilon)?;
        check_not_negative("gamma", self.gamma)?;
        check_not_negative("deviation", self.deviation)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let hidden = self.hidden;
        let mut tensors = vec![Tensor::matrix("W", hidden, inputs), Tensor::vector("b", hidden)];
        tensors.extend(self.rank.tensors(hidden, hidden, "Wh", ["A", "B"]));
        tensors
    }

    /// W from normal(0, 1/d), b 0.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let [w, b, first, second] = cut_mut(parameters, self.lengths(inputs));
        fill_normal(rng, 1.0 / (inputs as f64).sqrt(), w);
        b.fill(F::ZERO);
        self.initialize_recurrent(rng, first, second);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w, b, first, second] = cut(parameters, self.lengths(inputs));
        Folded::Leaky(FoldedLeaky {
            inputs,
            hidden: self.hidden,
            input_weight: w.to_vec(),
            bias: b.to_vec(),
            recurrent: self.fold_recurrent(first, second),
            activation: self.activation.into(),
            iterations: 1,
            start_scale: F::ONE,
            previous_scale: F::ZERO,
            decay: vec![F::ONE],
            gain: vec![F::from_f64(self.epsilon)],
            learned_steps: false,
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, _: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.leaky();
        let [w, b, first, second] = cut_mut(gradient, self.lengths(inputs));
        add(w, &folded.input_weight);
        add(b, &folded.bias);
        self.unfold_recurrent(&folded.left, &folded.right, first, second);
    }
}
