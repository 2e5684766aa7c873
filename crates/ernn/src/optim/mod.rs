//! Optimizers over one flat parameter vector with named spans.
//!
//! ```text
//! gradient -> first_not_finite -> clip_global_norm -> Optimizer::step(learning rate of the epoch) -> new parameters
//! ```
//!
//! Shapes: parameters, gradient and every state tensor are `[length]`, tiled by the model's spans. A span says whether weight
//! decay applies to it and scales its learning rate. Every rule equals torch's of the same name.

mod adam;
mod average;
mod gradient;
mod schedule;
mod sgd;
mod sparsity;

use ernn_kernels::Real;
use serde::{Deserialize, Serialize};

use crate::cell::Span;
use crate::{Error, Result};

pub use adam::{Adam, AdamW};
pub use average::average;
pub use gradient::{clip_global_norm, first_not_finite, global_norm};
pub use schedule::Schedule;
pub use sgd::Sgd;
pub use sparsity::{entries_kept, nonzero, restrict, support};

/// Which optimizer, with its settings; `kind = "adam"`, `"adamw"` or `"sgd"` in a configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OptimizerConfig {
    /// Adam, weight decay as an L2 term of the gradient.
    Adam(Adam),
    /// Adam with decoupled weight decay.
    #[serde(rename = "adamw")]
    AdamW(AdamW),
    /// Stochastic gradient descent with momentum.
    Sgd(Sgd),
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        OptimizerConfig::Adam(Adam::default())
    }
}

impl OptimizerConfig {
    /// The optimizer of this name with its default settings.
    pub fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "adam" => Some(OptimizerConfig::Adam(Adam::default())),
            "adamw" => Some(OptimizerConfig::AdamW(AdamW::default())),
            "sgd" => Some(OptimizerConfig::Sgd(Sgd::default())),
            _ => None,
        }
    }

    /// The pull of the matrices towards zero, to change it.
    pub fn weight_decay_mut(&mut self) -> &mut f64 {
        match self {
            OptimizerConfig::Adam(adam) => &mut adam.weight_decay,
            OptimizerConfig::AdamW(adam) => &mut adam.weight_decay,
            OptimizerConfig::Sgd(sgd) => &mut sgd.weight_decay,
        }
    }

    /// The names of the state tensors that a checkpoint keeps.
    fn state_names(&self) -> &'static [&'static str] {
        match self {
            OptimizerConfig::Adam(_) | OptimizerConfig::AdamW(_) => &["first-moment", "second-moment"],
            OptimizerConfig::Sgd(_) => &["momentum"],
        }
    }
}

/// An optimizer: settings, number of steps taken, and state tensors as long as the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer<F> {
    config: OptimizerConfig,
    length: usize,
    steps: u64,
    state: Vec<Vec<F>>,
}

impl<F: Real> Optimizer<F> {
    /// An optimizer for `length` parameters that has taken no step.
    pub fn new(config: OptimizerConfig, length: usize) -> Self {
        let state = config.state_names().iter().map(|_| vec![F::ZERO; length]).collect();
        Optimizer {
            config,
            length,
            steps: 0,
            state,
        }
    }

    /// Moves the parameters by one step against the gradient.
    ///
    /// # Panics
    /// If parameters, gradient, state and spans do not have one length.
    pub fn step(&mut self, parameters: &mut [F], gradient: &[F], learning_rate: f64, spans: &[Span]) {
        assert_eq!(parameters.len(), self.length, "parameters of another model");
        assert_eq!(gradient.len(), self.length, "a gradient of another model");
        let covered: usize = spans.iter().map(Span::len).sum();
        assert_eq!(covered, self.length, "spans that do not tile the parameters");
        self.steps += 1;
        for span in spans {
            let range = span.range();
            let (parameters, gradient) = (&mut parameters[range.clone()], &gradient[range.clone()]);
            let rate = learning_rate * span.learning_rate_scale;
            let adam = match &self.config {
                OptimizerConfig::Adam(adam) => adam.rule(self.steps, rate, span.decay),
                OptimizerConfig::AdamW(adam) => adam.rule(self.steps, rate, span.decay),
                OptimizerConfig::Sgd(sgd) => {
                    sgd.apply(rate, span.decay, parameters, gradient, &mut self.state[0][range]);
                    continue;
                }
            };
            let [first, second] = self.state.as_mut_slice() else {
                unreachable!("Adam has two state tensors");
            };
            adam.apply(parameters, gradient, &mut first[range.clone()], &mut second[range]);
        }
    }

    /// The settings.
    pub fn config(&self) -> &OptimizerConfig {
        &self.config
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Names and values of the state tensors, each as long as the parameters: with [`Optimizer::steps`] all that
    /// [`Optimizer::restore`] needs.
    pub fn state(&self) -> impl Iterator<Item = (&'static str, &[F])> {
        let names = self.config.state_names().iter().copied();
        names.zip(self.state.iter().map(Vec::as_slice))
    }

    /// Forgets what it knows of parameters outside the support. Decaying on without a gradient it would come to denormal numbers,
    /// which are slow.
    pub fn forget_outside(&mut self, support: &[bool]) {
        for state in &mut self.state {
            restrict(state, support);
        }
    }

    /// Takes up a saved state; `tensor` gives a state tensor by its name.
    ///
    /// # Errors
    /// If a tensor is absent or not as long as the parameters; nothing has changed then.
    pub fn restore<'a>(&mut self, steps: u64, tensor: impl Fn(&str) -> Option<&'a [F]>) -> Result<()> {
        let load = |&name: &&str| {
            let found = tensor(name);
            found.filter(|values| values.len() == self.length).ok_or_else(|| {
                let found = found.map_or("nothing".to_string(), |values| format!("{} values", values.len()));
                let expected = format!("{} values", self.length);
                Error::setting(format!("optimizer state {name}"), found, expected)
            })
        };
        let loaded: Vec<&[F]> = self.config.state_names().iter().map(load).collect::<Result<_>>()?;
        for (state, loaded) in self.state.iter_mut().zip(loaded) {
            state.copy_from_slice(loaded);
        }
        self.steps = steps;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
