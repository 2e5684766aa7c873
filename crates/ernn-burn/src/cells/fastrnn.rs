//! FastRNN.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a FastRNN.
///
/// ```text
/// c = phi(W x + U h + b)      h' = sigmoid(beta) h + sigmoid(alpha) c
/// ```
///
/// Source: Kusupati et al., FastGRNN, NeurIPS 2018, section 3.1.
#[derive(Config, Debug)]
pub struct FastRnnConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::FastRnnConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::FastRnnConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `phi`.
    #[config(default = "library::FastRnnConfig::default().activation")]
    pub activation: Activation,
    /// Initial `alpha`.
    #[config(default = "library::FastRnnConfig::default().alpha")]
    pub alpha: f64,
    /// Initial `beta`.
    #[config(default = "library::FastRnnConfig::default().beta")]
    pub beta: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl FastRnnConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&FastRnnConfig> for RecurrentConfig {
    fn from(config: &FastRnnConfig) -> Self {
        let cell = library::FastRnnConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            activation: config.activation,
            alpha: config.alpha,
            beta: config.beta,
        };
        RecurrentConfig::new(config.d_input, CellConfig::FastRnn(cell)).with_batch_first(config.batch_first)
    }
}
