//! SpectralRNN.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of a SpectralRNN.
///
/// ```text
/// h' = phi(W x + R h + b)      R = Q_u diag(s) Q_v^T, Q products of reflections, s near 1
/// ```
///
/// Source: Zhang, Lei, Dhillon, ICML 2018.
#[derive(Config, Debug)]
pub struct SpectralConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// `n`, reflections in each of the two factors; 0: a quarter of D.
    #[config(default = "library::SpectralConfig::default().reflections")]
    pub reflections: usize,
    /// `r`: singular values lie in [1 - r, 1 + r].
    #[config(default = "library::SpectralConfig::default().radius")]
    pub radius: f64,
    /// `phi`.
    #[config(default = "library::SpectralConfig::default().activation")]
    pub activation: Activation,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl SpectralConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&SpectralConfig> for RecurrentConfig {
    fn from(config: &SpectralConfig) -> Self {
        let cell = library::SpectralConfig {
            hidden: config.d_hidden,
            reflections: config.reflections,
            radius: config.radius,
            activation: config.activation,
        };
        RecurrentConfig::new(config.d_input, CellConfig::Spectral(cell)).with_batch_first(config.batch_first)
    }
}
