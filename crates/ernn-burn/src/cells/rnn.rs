//! Plain recurrent network (Elman, 1990).

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a plain recurrent network (Elman, 1990).
///
/// ```text
/// h' = phi(W x + U h + b)
/// ```
#[derive(Config, Debug)]
pub struct RnnConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::RnnConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::RnnConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `phi`.
    #[config(default = "library::RnnConfig::default().activation")]
    pub activation: Activation,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl RnnConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&RnnConfig> for RecurrentConfig {
    fn from(config: &RnnConfig) -> Self {
        let cell = library::RnnConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            activation: config.activation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Rnn(cell)).with_batch_first(config.batch_first)
    }
}
