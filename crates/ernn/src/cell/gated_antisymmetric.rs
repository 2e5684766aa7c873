//! AntisymmetricRNN with gating (Chang, Chen, Haber, Chi, ICLR 2019, eq. 16):
//!
//! ```text
//! p  = (Wh - Wh^T - gamma I) h
//! z  = sigma(p + W_z x + b_z)      c = phi(p + W_c x + b_c)
//! h' = h + eps z c
//! ```
//!
//! Shapes: W [2D,d] and b [2D] in the order z, c; Wh [D,D] (or A [D,r], B [r,D]); eps and gamma are fixed. Folding: the matrix
//! as [`super::antisymmetric`], one product for both.

use ernn_kernels::Real;
use ernn_kernels::gated::Gates;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::antisymmetric::AntisymmetricConfig;
use super::pieces::{add, cut, cut_mut, fill_normal};
use super::{Activation, Cell, Folded, FoldedGated, FoldedGradient, GateActivation, Rank, Tensor};
use crate::Result;

/// Settings of a gated AntisymmetricRNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatedAntisymmetricConfig {
    /// `D`.
    pub hidden: usize,
    /// Rank of `Wh`.
    pub rank: Rank,
    /// `sigma`.
    pub gate_activation: GateActivation,
    /// `phi`.
    pub activation: Activation,
    /// `eps`, the step size, not learned.
    pub epsilon: f64,
    /// `gamma`, the diffusion, not learned.
    pub gamma: f64,
    /// `s`: Wh is drawn from normal(0, s^2 / D).
    pub deviation: f64,
}

impl Default for GatedAntisymmetricConfig {
    fn default() -> Self {
        let plain = AntisymmetricConfig::default();
        GatedAntisymmetricConfig {
            hidden: plain.hidden,
            rank: plain.rank,
            gate_activation: GateActivation::Sigmoid,
            activation: plain.activation,
            epsilon: plain.epsilon,
            gamma: plain.gamma,
            deviation: plain.deviation,
        }
    }
}

impl GatedAntisymmetricConfig {
    /// The cell without its gate.
    fn plain(&self) -> AntisymmetricConfig {
        AntisymmetricConfig {
            hidden: self.hidden,
            rank: self.rank,
            activation: self.activation,
            epsilon: self.epsilon,
            gamma: self.gamma,
            deviation: self.deviation,
        }
    }

    /// Lengths of W, b, and Wh or A, B.
    fn lengths(&self, inputs: usize) -> [usize; 4] {
        let [first, second] = self.rank.lengths(self.hidden, self.hidden);
        [2 * self.hidden * inputs, 2 * self.hidden, first, second]
    }
}

impl Cell for GatedAntisymmetricConfig {
    const KEPT: usize = 3;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        self.plain().check()
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let hidden = self.hidden;
        let mut tensors = vec![Tensor::matrix("W", 2 * hidden, inputs), Tensor::vector("b", 2 * hidden)];
        tensors.extend(self.rank.tensors(hidden, hidden, "Wh", ["A", "B"]));
        tensors
    }

    /// As the cell without a gate: W from normal(0, 1/d), b 0, Wh from normal(0, s^2/D).
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let [w, b, first, second] = cut_mut(parameters, self.lengths(inputs));
        fill_normal(rng, 1.0 / (inputs as f64).sqrt(), w);
        b.fill(F::ZERO);
        self.plain().initialize_recurrent(rng, first, second);
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let [w, b, first, second] = cut(parameters, self.lengths(inputs));
        let mut bias = b.to_vec();
        bias.resize(3 * self.hidden, F::ZERO); // p has none
        Folded::Gated(FoldedGated {
            gates: Gates::Antisymmetric,
            inputs,
            hidden: self.hidden,
            input_weight: w.to_vec(),
            bias,
            recurrent: self.plain().fold_recurrent(first, second),
            gate: self.gate_activation.into(),
            activation: self.activation.into(),
            scalars: [F::from_f64(self.epsilon), F::ZERO],
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, _: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.gated();
        let [w, b, first, second] = cut_mut(gradient, self.lengths(inputs));
        add(w, &folded.input_weight);
        add(b, &folded.bias[..2 * self.hidden]);
        self.plain()
            .unfold_recurrent(&folded.left, &folded.right, first, second);
    }
}
