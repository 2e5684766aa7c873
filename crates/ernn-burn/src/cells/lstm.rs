//! LSTM (Hochreiter and Schmidhuber, 1997; with a forget gate, no peepholes).

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, GateActivation, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of an LSTM (Hochreiter and Schmidhuber, 1997; with a forget gate, no peepholes).
///
/// ```text
/// i, f, o = sigma(W_* x + U_* h + b_*)      g = phi(W_g x + U_g h + b_g)
/// c' = f c + i g                            h' = o phi(c')
/// ```
///
/// Gates in the order i, f, g, o. The whole state is `h`, then `c`.
#[derive(Config, Debug)]
pub struct LstmConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::LstmConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::LstmConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `sigma`.
    #[config(default = "library::LstmConfig::default().gate_activation")]
    pub gate_activation: GateActivation,
    /// `phi`.
    #[config(default = "library::LstmConfig::default().activation")]
    pub activation: Activation,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl LstmConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&LstmConfig> for RecurrentConfig {
    fn from(config: &LstmConfig) -> Self {
        let cell = library::LstmConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            gate_activation: config.gate_activation,
            activation: config.activation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Lstm(cell)).with_batch_first(config.batch_first)
    }
}
