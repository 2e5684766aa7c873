//! FastGRNN; with dense matrices, as by default, FastGRNN-LSQ.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, GateActivation, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a FastGRNN; with dense matrices, as by default, FastGRNN-LSQ.
///
/// ```text
/// p  = W x + U h
/// z  = sigma(p + b_z)      c = phi(p + b_h)
/// h' = (sigmoid(zeta) (1 - z) + sigmoid(nu)) c + z h
/// ```
///
/// Source: Kusupati et al., FastGRNN, NeurIPS 2018, section 3.2.
#[derive(Config, Debug)]
pub struct FastGrnnConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::FastGrnnConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::FastGrnnConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `sigma`.
    #[config(default = "library::FastGrnnConfig::default().gate_activation")]
    pub gate_activation: GateActivation,
    /// `phi`.
    #[config(default = "library::FastGrnnConfig::default().activation")]
    pub activation: Activation,
    /// Initial `zeta`.
    #[config(default = "library::FastGrnnConfig::default().zeta")]
    pub zeta: f64,
    /// Initial `nu`.
    #[config(default = "library::FastGrnnConfig::default().nu")]
    pub nu: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl FastGrnnConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&FastGrnnConfig> for RecurrentConfig {
    fn from(config: &FastGrnnConfig) -> Self {
        let cell = library::FastGrnnConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            gate_activation: config.gate_activation,
            activation: config.activation,
            zeta: config.zeta,
            nu: config.nu,
        };
        RecurrentConfig::new(config.d_input, CellConfig::FastGrnn(cell)).with_batch_first(config.batch_first)
    }
}
