//! AntisymmetricRNN with gating.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, GateActivation, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of an AntisymmetricRNN with gating.
///
/// ```text
/// p = (Wh - Wh^T - gamma I) h
/// z = sigma(p + W_z x + b_z)      c = phi(p + W_c x + b_c)      h' = h + eps z c
/// ```
///
/// Source: Chang, Chen, Haber, Chi, ICLR 2019, eq. 16.
#[derive(Config, Debug)]
pub struct GatedAntisymmetricConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `Wh`.
    #[config(default = "library::GatedAntisymmetricConfig::default().rank")]
    pub rank: Rank,
    /// `sigma`.
    #[config(default = "library::GatedAntisymmetricConfig::default().gate_activation")]
    pub gate_activation: GateActivation,
    /// `phi`.
    #[config(default = "library::GatedAntisymmetricConfig::default().activation")]
    pub activation: Activation,
    /// `eps`, the step size, not learned.
    #[config(default = "library::GatedAntisymmetricConfig::default().epsilon")]
    pub epsilon: f64,
    /// `gamma`, the diffusion, not learned.
    #[config(default = "library::GatedAntisymmetricConfig::default().gamma")]
    pub gamma: f64,
    /// `s`: Wh is drawn from normal(0, s^2 / D).
    #[config(default = "library::GatedAntisymmetricConfig::default().deviation")]
    pub deviation: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl GatedAntisymmetricConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&GatedAntisymmetricConfig> for RecurrentConfig {
    fn from(config: &GatedAntisymmetricConfig) -> Self {
        let cell = library::GatedAntisymmetricConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            gate_activation: config.gate_activation,
            activation: config.activation,
            epsilon: config.epsilon,
            gamma: config.gamma,
            deviation: config.deviation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::GatedAntisymmetric(cell)).with_batch_first(config.batch_first)
    }
}
