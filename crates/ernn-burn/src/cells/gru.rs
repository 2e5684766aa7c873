//! GRU (Cho et al., 2014).

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, GateActivation, Rank, Reset};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a GRU (Cho et al., 2014).
///
/// ```text
/// r, z = sigma(W_* x + U_* h + b_*)
/// n  = phi(W_n x + b[n] + r * (U_n h + b_n))     reset `After` the product, as Burn, torch and cuDNN
/// n  = phi(W_n x + b[n] + U_n (r * h))           reset `Before` the product, as the paper
/// h' = (1 - z) n + z h
/// ```
///
/// Gates in the order r, z, n.
#[derive(Config, Debug)]
pub struct GruConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U`.
    #[config(default = "library::GruConfig::default().rank")]
    pub rank: Rank,
    /// Rank of `W`.
    #[config(default = "library::GruConfig::default().input_rank")]
    pub input_rank: Rank,
    /// `sigma`.
    #[config(default = "library::GruConfig::default().gate_activation")]
    pub gate_activation: GateActivation,
    /// `phi`.
    #[config(default = "library::GruConfig::default().activation")]
    pub activation: Activation,
    /// Reset after or before the product.
    #[config(default = "library::GruConfig::default().reset")]
    pub reset: Reset,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl GruConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&GruConfig> for RecurrentConfig {
    fn from(config: &GruConfig) -> Self {
        let cell = library::GruConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            input_rank: config.input_rank,
            gate_activation: config.gate_activation,
            activation: config.activation,
            reset: config.reset,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Gru(cell)).with_batch_first(config.batch_first)
    }
}
