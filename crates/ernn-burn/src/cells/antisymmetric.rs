//! AntisymmetricRNN.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, Rank};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of an AntisymmetricRNN.
///
/// ```text
/// h' = h + eps phi((Wh - Wh^T - gamma I) h + W x + b)
/// ```
///
/// Source: Chang, Chen, Haber, Chi, ICLR 2019, eq. 15.
#[derive(Config, Debug)]
pub struct AntisymmetricConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `Wh`.
    #[config(default = "library::AntisymmetricConfig::default().rank")]
    pub rank: Rank,
    /// `phi`.
    #[config(default = "library::AntisymmetricConfig::default().activation")]
    pub activation: Activation,
    /// `eps`, the step size, not learned.
    #[config(default = "library::AntisymmetricConfig::default().epsilon")]
    pub epsilon: f64,
    /// `gamma`, the diffusion, not learned.
    #[config(default = "library::AntisymmetricConfig::default().gamma")]
    pub gamma: f64,
    /// `s`: Wh is drawn from normal(0, s^2 / D).
    #[config(default = "library::AntisymmetricConfig::default().deviation")]
    pub deviation: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl AntisymmetricConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&AntisymmetricConfig> for RecurrentConfig {
    fn from(config: &AntisymmetricConfig) -> Self {
        let cell = library::AntisymmetricConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            activation: config.activation,
            epsilon: config.epsilon,
            gamma: config.gamma,
            deviation: config.deviation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Antisymmetric(cell)).with_batch_first(config.batch_first)
    }
}
