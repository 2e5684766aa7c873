//! Deep-transition ERNN: several layers inside one inner step.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, Sign, Start, StepSizes};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a deep-transition ERNN: several layers inside one inner step.
///
/// ```text
/// z = h + h_{t-1}     a_1 = phi(U z + W x_t + b)     a_j = phi(U_j a_{j-1} + b_j)     h <- h + eta[t,i] (a_L - gamma z)
/// ```
///
/// Otherwise as [`super::ErnnConfig`].
#[derive(Config, Debug)]
pub struct DeepTransitionConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Widths of the layers before the last one, whose width is `D`.
    #[config(default = "library::DeepTransitionConfig::default().widths")]
    pub widths: Vec<usize>,
    /// `K`.
    #[config(default = "library::DeepTransitionConfig::default().iterations")]
    pub iterations: usize,
    /// `phi`, after every layer.
    #[config(default = "library::DeepTransitionConfig::default().activation")]
    pub activation: Activation,
    /// Where the inner iteration starts.
    #[config(default = "library::DeepTransitionConfig::default().start")]
    pub start: Start,
    /// Sign before `h_{k-1}`.
    #[config(default = "library::DeepTransitionConfig::default().sign")]
    pub sign: Sign,
    /// Step sizes per step or per iteration.
    #[config(default = "library::DeepTransitionConfig::default().steps")]
    pub steps: StepSizes,
    /// Initial step size.
    #[config(default = "library::DeepTransitionConfig::default().eta")]
    pub eta: f64,
    /// `gamma`, not learned.
    #[config(default = "library::DeepTransitionConfig::default().gamma")]
    pub gamma: f64,
    /// `T`: time steps with a step size of their own; the training part's longest sequence.
    #[config(default = "library::DeepTransitionConfig::default().max_steps")]
    pub max_steps: usize,
    /// Standard deviation of the initial `W`.
    #[config(default = "library::DeepTransitionConfig::default().deviation")]
    pub deviation: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl DeepTransitionConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&DeepTransitionConfig> for RecurrentConfig {
    fn from(config: &DeepTransitionConfig) -> Self {
        let cell = library::DeepTransitionConfig {
            hidden: config.d_hidden,
            widths: config.widths.clone(),
            iterations: config.iterations,
            activation: config.activation,
            start: config.start,
            sign: config.sign,
            steps: config.steps,
            eta: config.eta,
            gamma: config.gamma,
            max_steps: config.max_steps,
            deviation: config.deviation,
            ..library::DeepTransitionConfig::default()
        };
        RecurrentConfig::new(config.d_input, CellConfig::DeepTransition(cell)).with_batch_first(config.batch_first)
    }
}
