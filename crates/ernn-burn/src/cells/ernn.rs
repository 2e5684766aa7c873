//! ERNN.

use burn::config::Config;
use burn::tensor::Device;
use ernn::cell as library;
use ernn::cell::{Activation, CellConfig, EquilibriumGradient, Projection, Rank, Sign, Solver, Start, StepSizes};

use crate::{Recurrent, RecurrentConfig};

/// Configuration of an ERNN.
///
/// ```text
/// z = h + h_{t-1}     h <- h + eta[t,i] (phi(P (U z + W x_t + b)) - gamma z)     i = 0..K-1
/// P = U = I + V H     from h_{t-1} (start `Previous`) or 0 (`Zero`);  sign `Minus`: z = h - h_{t-1}
/// ```
///
/// Source: Kag, Zhang, Saligrama, arXiv 1908.08574. Where a step size is learned for each time step (`steps`), set `max_steps` to the
/// length of the longest sequence.
#[derive(Config, Debug)]
pub struct ErnnConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Rank of `U - I`, or a dense `U`.
    #[config(default = "library::ErnnConfig::default().rank")]
    pub rank: Rank,
    /// `K`.
    #[config(default = "library::ErnnConfig::default().iterations")]
    pub iterations: usize,
    /// `phi`.
    #[config(default = "library::ErnnConfig::default().activation")]
    pub activation: Activation,
    /// Where the inner iteration starts.
    #[config(default = "library::ErnnConfig::default().start")]
    pub start: Start,
    /// Sign before `h_{k-1}`.
    #[config(default = "library::ErnnConfig::default().sign")]
    pub sign: Sign,
    /// Step sizes per step or per iteration.
    #[config(default = "library::ErnnConfig::default().steps")]
    pub steps: StepSizes,
    /// Initial step size.
    #[config(default = "library::ErnnConfig::default().eta")]
    pub eta: f64,
    /// `gamma`, not learned.
    #[config(default = "library::ErnnConfig::default().gamma")]
    pub gamma: f64,
    /// `P`.
    #[config(default = "library::ErnnConfig::default().projection")]
    pub projection: Projection,
    /// `T`: time steps with a step size of their own; the training part's longest sequence.
    #[config(default = "library::ErnnConfig::default().max_steps")]
    pub max_steps: usize,
    /// Standard deviation of the initial matrices.
    #[config(default = "library::ErnnConfig::default().deviation")]
    pub deviation: f64,
    /// How the state is found.
    #[config(default = "library::ErnnConfig::default().solver")]
    pub solver: Solver,
    /// How the gradient goes through an equilibrium.
    #[config(default = "library::ErnnConfig::default().gradient")]
    pub gradient: EquilibriumGradient,
    /// An equilibrium has been found when `max |phi(..) - gamma z|` is at most `tolerance + relative_tolerance * max |gamma z|`.
    #[config(default = "library::ErnnConfig::default().tolerance")]
    pub tolerance: f64,
    /// See `tolerance`.
    #[config(default = "library::ErnnConfig::default().relative_tolerance")]
    pub relative_tolerance: f64,
    /// Iterations of a step at most, on the way to an equilibrium.
    #[config(default = "library::ErnnConfig::default().max_iterations")]
    pub max_iterations: usize,
    /// The norm of `P U` is at most this share of `gamma`; 0: not bounded.
    #[config(default = "library::ErnnConfig::default().contract")]
    pub contract: f64,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl ErnnConfig {
    /// Initialize a new layer; see [`RecurrentConfig::init`].
    pub fn init(&self, device: &Device) -> Recurrent {
        RecurrentConfig::from(self).init(device)
    }
}

impl From<&ErnnConfig> for RecurrentConfig {
    fn from(config: &ErnnConfig) -> Self {
        let cell = library::ErnnConfig {
            hidden: config.d_hidden,
            rank: config.rank,
            iterations: config.iterations,
            activation: config.activation,
            start: config.start,
            sign: config.sign,
            steps: config.steps,
            eta: config.eta,
            gamma: config.gamma,
            projection: config.projection,
            max_steps: config.max_steps,
            deviation: config.deviation,
            solver: config.solver,
            gradient: config.gradient,
            tolerance: config.tolerance,
            relative_tolerance: config.relative_tolerance,
            max_iterations: config.max_iterations,
            contract: config.contract,
            ..library::ErnnConfig::default()
        };
        RecurrentConfig::new(config.d_input, CellConfig::Ernn(cell)).with_batch_first(config.batch_first)
    }
}
