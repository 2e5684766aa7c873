//! Cells: one file per recurrent cell, with its formula, its parameters, its folding and the folding's vjp.
//!
//! Every cell of the leaky family becomes the one recurrence of [`ernn_kernels::leaky`] once its parameters are folded. A cell
//! folds once per optimizer step ([`CellConfig::fold`]), the kernel runs over the whole sequence, and [`CellConfig::unfold`]
//! takes the gradient back through the folding.

mod antisymmetric;
mod ernn;
mod fastrnn;
mod folded;
mod rnn;
mod settings;
mod span;

use ernn_kernels::Real;
use ernn_kernels::leaky::LeakyGradient;
use rand::Rng;
use serde::{Deserialize, Serialize};

pub use self::antisymmetric::AntisymmetricConfig;
pub use self::ernn::{ErnnConfig, Projection, Sign, Start, StepSizes};
pub use self::fastrnn::FastRnnConfig;
pub use self::folded::{Folded, FoldedRecurrent};
pub use self::rnn::RnnConfig;
pub use self::settings::{Activation, Rank};
pub use self::span::Span;
use crate::Result;

/// A recurrent cell and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CellConfig {
    /// Equilibriated recurrent network.
    Ernn(ErnnConfig),
    /// Plain (Elman) recurrent network.
    Rnn(RnnConfig),
    /// FastRNN: a residual connection with two learned scalars.
    #[serde(rename = "fastrnn")]
    FastRnn(FastRnnConfig),
    /// AntisymmetricRNN.
    Antisymmetric(AntisymmetricConfig),
}

/// What every cell offers to the model; implemented in the cell's own file.
pub(crate) trait Cell {
    /// Checks the settings.
    fn check(&self) -> Result<()>;
    /// The parameters as `(name, shape)`, with weight decay and learning-rate scale where they differ from a matrix's.
    fn tensors(&self, inputs: usize) -> Vec<Tensor>;
    /// Initial values of all tensors, one after the other.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]);
    /// The folded recurrence.
    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F>;
    /// Adds the gradient of the parameters, given that of the folded recurrence.
    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &LeakyGradient<F>, gradient: &mut [F]);
}

/// A tensor of a cell before it has a place in the flat vector.
pub(crate) struct Tensor {
    name: &'static str,
    shape: Vec<usize>,
    decay: bool,
    learning_rate_scale: f64,
}

impl Tensor {
    /// A matrix: weight decay applies.
    pub(crate) fn matrix(name: &'static str, rows: usize, columns: usize) -> Self {
        Tensor {
            name,
            shape: vec![rows, columns],
            decay: true,
            learning_rate_scale: 1.0,
        }
    }

    /// A vector or scalar: no weight decay.
    pub(crate) fn vector(name: &'static str, len: usize) -> Self {
        Tensor {
            name,
            shape: vec![len],
            decay: false,
            learning_rate_scale: 1.0,
        }
    }
}

/// Calls a method of the cell inside.
macro_rules! each {
    ($config:expr, $cell:ident => $call:expr) => {
        match $config {
            CellConfig::Ernn($cell) => $call,
            CellConfig::Rnn($cell) => $call,
            CellConfig::FastRnn($cell) => $call,
            CellConfig::Antisymmetric($cell) => $call,
        }
    };
}

impl CellConfig {
    /// The name as in `--cell`.
    pub fn name(&self) -> &'static str {
        match self {
            CellConfig::Ernn(_) => "ernn",
            CellConfig::Rnn(_) => "rnn",
            CellConfig::FastRnn(_) => "fastrnn",
            CellConfig::Antisymmetric(_) => "antisymmetric",
        }
    }

    /// `D`, the size of the hidden state.
    pub fn hidden(&self) -> usize {
        each!(self, cell => cell.hidden)
    }

    /// Checks the settings.
    pub fn check(&self) -> Result<()> {
        each!(self, cell => cell.check())
    }

    /// The parameters for inputs of this size; names get `prefix`, the first starts at `start`.
    pub fn spans(&self, inputs: usize, prefix: &str, mut start: usize) -> Vec<Span> {
        let place = |tensor: Tensor| {
            let span = Span {
                name: format!("{prefix}{}", tensor.name),
                shape: tensor.shape,
                start,
                decay: tensor.decay,
                learning_rate_scale: tensor.learning_rate_scale,
            };
            start += span.len();
            span
        };
        each!(self, cell => cell.tensors(inputs))
            .into_iter()
            .map(place)
            .collect()
    }

    /// Number of parameters for inputs of this size.
    pub fn parameter_count(&self, inputs: usize) -> usize {
        self.spans(inputs, "", 0).last().map_or(0, |span| span.range().end)
    }

    /// Draws initial parameters.
    pub fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]) {
        each!(self, cell => cell.initialize(inputs, rng, parameters));
    }

    /// The folded recurrence of these parameters.
    pub fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F> {
        each!(self, cell => cell.fold(inputs, parameters))
    }

    /// Adds to `gradient` the gradient of the parameters, given that of the folded recurrence (the folding's vjp).
    pub fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &LeakyGradient<F>, gradient: &mut [F]) {
        each!(self, cell => cell.unfold(inputs, parameters, folded, gradient));
    }
}
