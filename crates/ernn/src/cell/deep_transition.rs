//! Deep-transition ERNN: ERNN (arXiv 1908.08574) whose `f` is a network of several layers inside one inner step.
//!
//! ```text
//! z       = h^(i) + h_{k-1}       (or h^(i) - h_{k-1}; as super::ernn, and so are h^(0) and eta)
//! a_1     = phi(U z + W x + b)    a_j = phi(U_j a_{j-1} + b_j)    f = a_L
//! h^(i+1) = h^(i) + eta_k^(i) (f - gamma z)                       i = 0..K-1, h_k = h^(K)
//! ```
//!
//! The paper's theory allows any `f`; its experiments have one layer. Shapes: U [w_1,D], W [w_1,d], b [w_1], U_j [w_j,w_{j-1}],
//! b_j [w_j], the last width is D; eta [T,K] or [1,K]. Without further widths it is a dense ERNN with `P = I`.

use ernn_kernels::Real;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::ernn::MAX_STEPS;
use super::pieces::{add, fill_normal, fill_uniform};
use super::settings::{check_eta, check_hidden, check_not_negative, check_positive};
use super::{
    Activation, Cell, ErnnConfig, Folded, FoldedDeep, FoldedGradient, FoldedLayer, Sign, Start, StepSizes, Tensor,
};
use crate::{Error, Result};

/// Most layers inside a step.
const MAX_LAYERS: usize = 64;

/// Settings of a deep-transition ERNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeepTransitionConfig {
    /// `D`.
    pub hidden: usize,
    /// Widths of the layers before the last one, whose width is `D`.
    pub widths: Vec<usize>,
    /// `K`.
    pub iterations: usize,
    /// `phi`, after every layer.
    pub activation: Activation,
    /// Where the inner iteration starts.
    pub start: Start,
    /// Sign before `h_{k-1}`.
    pub sign: Sign,
    /// Step sizes per step or per iteration.
    pub steps: StepSizes,
    /// Initial step size.
    pub eta: f64,
    /// The learning rate of the step sizes, as a factor to that of the matrices.
    pub eta_learning_rate: f64,
    /// `gamma`, not learned.
    pub gamma: f64,
    /// `T`: time steps with a step size of their own; those of the longest sequence of training and validation part, or of the window of a text.
    pub max_steps: usize,
    /// Standard deviation of the initial `W`.
    pub deviation: f64,
}

impl Default for DeepTransitionConfig {
    fn default() -> Self {
        let plain = ErnnConfig::default();
        DeepTransitionConfig {
            hidden: plain.hidden,
            widths: vec![32],
            iterations: plain.iterations,
            activation: plain.activation,
            start: plain.start,
            sign: plain.sign,
            steps: plain.steps,
            eta: plain.eta,
            eta_learning_rate: plain.eta_learning_rate,
            gamma: plain.gamma,
            max_steps: plain.max_steps,
            deviation: plain.deviation,
        }
    }
}

/// The tensors of a cell, each with its numbers.
struct Parts<T> {
    input: T,
    /// Matrix and bias of each layer.
    layers: Vec<(T, T)>,
    eta: T,
}

impl DeepTransitionConfig {
    /// Rows and columns of each layer's matrix.
    fn sizes(&self) -> Vec<(usize, usize)> {
        let rows = || self.widths.iter().copied().chain([self.hidden]);
        rows().zip([self.hidden].into_iter().chain(rows())).collect()
    }

    fn rows(&self) -> usize {
        match self.steps {
            StepSizes::PerStep => self.max_steps,
            StepSizes::PerIteration => 1,
        }
    }

    /// Cuts the parameters (or their gradient) in the order of [`Cell::tensors`]; `take` removes a head of this length.
    fn cut<T>(&self, inputs: usize, mut take: impl FnMut(usize) -> T) -> Parts<T> {
        let sizes = self.sizes();
        Parts {
            input: take(sizes[0].0 * inputs),
            layers: sizes
                .into_iter()
                .map(|(rows, columns)| (take(rows * columns), take(rows)))
                .collect(),
            eta: take(self.rows() * self.iterations),
        }
    }

    fn parts<'a, F>(&self, inputs: usize, mut values: &'a [F]) -> Parts<&'a [F]> {
        self.cut(inputs, |len| {
            let (head, tail) = values.split_at(len);
            values = tail;
            head
        })
    }

    fn parts_mut<'a, F>(&self, inputs: usize, mut values: &'a mut [F]) -> Parts<&'a mut [F]> {
        self.cut(inputs, |len| {
            let (head, tail) = std::mem::take(&mut values).split_at_mut(len);
            values = tail;
            head
        })
    }
}

impl Cell for DeepTransitionConfig {
    const KEPT: usize = 1;

    fn is_bounded(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        check_hidden(self.hidden)?;
        if self.widths.len() >= MAX_LAYERS {
            let found = format!("{} widths", self.widths.len());
            return Err(Error::setting("widths", found, "fewer than 64"));
        }
        if let Some(&width) = self.widths.iter().find(|width| !(1..=65_536).contains(*width)) {
            return Err(Error::setting("widths", width, "numbers from 1 to 65536"));
        }
        if !(1..=1000).contains(&self.iterations) {
            return Err(Error::setting("iterations", self.iterations, "a number from 1 to 1000"));
        }
        if !(1..=MAX_STEPS).contains(&self.max_steps) {
            let expected = format!("a number from 1 to {MAX_STEPS}");
            return Err(Error::setting("max_steps", self.max_steps, expected));
        }
        check_eta(self.eta)?;
        check_not_negative("gamma", self.gamma)?;
        check_not_negative("eta_learning_rate", self.eta_learning_rate)?;
        check_positive("deviation", self.deviation)
    }

    fn tensors(&self, inputs: usize) -> Vec<Tensor> {
        let sizes = self.sizes();
        let mut tensors = vec![Tensor::matrix("W", sizes[0].0, inputs)];
        for (index, (rows, columns)) in sizes.into_iter().enumerate() {
            let suffix = match index {
                0 => String::new(),
                later => format!("_{}", later + 1),
            };
            tensors.push(Tensor::matrix(format!("U{suffix}"), rows, columns));
            tensors.push(Tensor::vector(format!("b{suffix}"), rows));
        }
        tensors.push(Tensor {
            shape: vec![self.rows(), self.iterations],
            learning_rate_scale: self.eta_learning_rate,
            ..Tensor::vector("eta", 0)
        });
        tensors
    }

    /// W as an ERNN's, the other matrices uniform in +-1/sqrt(columns), biases 0.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        let parts = self.parts_mut(inputs, parameters);
        fill_normal(rng, self.deviation, parts.input);
        for ((weight, bias), (_, columns)) in parts.layers.into_iter().zip(self.sizes()) {
            fill_uniform(rng, 1.0 / (columns as f64).sqrt(), weight);
            bias.fill(F::ZERO);
        }
        parts.eta.fill(F::from_f64(self.eta));
    }

    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        let parts = self.parts(inputs, parameters);
        let gamma = F::from_f64(self.gamma);
        let (start_scale, previous_scale) = self.start.scales(self.sign);
        let layers = parts.layers.into_iter().zip(self.sizes());
        Folded::Deep(FoldedDeep {
            inputs,
            hidden: self.hidden,
            input_weight: parts.input.to_vec(),
            layers: layers
                .map(|((weight, bias), (width, _))| FoldedLayer {
                    width,
                    weight: weight.to_vec(),
                    bias: bias.to_vec(),
                })
                .collect(),
            activation: self.activation.into(),
            iterations: self.iterations,
            start_scale,
            previous_scale,
            decay: parts.eta.iter().map(|&eta| F::ONE - gamma * eta).collect(),
            gain: parts.eta.to_vec(),
        })
    }

    fn unfold<F: Real>(&self, inputs: usize, _: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        let folded = folded.deep();
        let parts = self.parts_mut(inputs, gradient);
        add(parts.input, &folded.input_weight);
        let found = folded.weights.iter().zip(&folded.biases);
        for ((weight, bias), (at_weight, at_bias)) in parts.layers.into_iter().zip(found) {
            add(weight, at_weight);
            add(bias, at_bias);
        }
        let gamma = F::from_f64(self.gamma);
        for ((out, &gain), &decay) in parts.eta.iter_mut().zip(&folded.gain).zip(&folded.decay) {
            *out += gain - gamma * decay;
        }
    }
}
