//! UGRNN, the update-gate network.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, GateActivation, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a UGRNN, the update-gate network.
///
/// ```text
/// z = sigma(W_z x + U_z h + b_z)      c = phi(W_c x + U_c h + b_c)      h' = z h + (1 - z) c
/// ```
///
/// Source: Collins, Sohl-Dickstein, Sussillo, ICLR 2017.
#[derive(Config, Debug)]
pub struct UgrnnConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::UgrnnConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::UgrnnConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `sigma`.
    #[config(default = "library::UgrnnConfig::default().gate_activation")]
    pub gate_activation: GateActivation,
    /// `phi`.
    #[config(default = "library::UgrnnConfig::default().activation")]
    pub activation: Activation,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl UgrnnConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&UgrnnConfig> for RecurrentConfig {
    fn from(config: &UgrnnConfig) -> Self {
        let cell = library::UgrnnConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            gate_activation: config.gate_activation,
            activation: config.activation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Ugrnn(cell)).with_batch_first(config.batch_first)
    }
}
