//! Cells: one file per recurrent cell, with its formula, its parameters, its folding and the folding's vjp.
//!
//! Every cell becomes a recurrence of one of the kernels' families once its parameters are folded ([`Folded`]). A cell
//! folds once per optimizer step ([`CellConfig::fold`]), the kernel runs over the whole sequence, and [`CellConfig::unfold`]
//! takes the gradient back through the folding.

mod antisymmetric;
mod contraction;
mod deep_transition;
mod equilibrium;
mod ernn;
mod fastgrnn;
mod fastrnn;
mod folded;
mod gated_antisymmetric;
mod gru;
mod lstm;
mod pieces;
mod rnn;
mod rounding;
mod settings;
mod solver;
mod span;
mod spectral;
mod stacked;
mod ugrnn;

use std::borrow::Cow;

use ernn_kernels::Real;
use rand::Rng;
use serde::{Deserialize, Serialize};

pub use self::antisymmetric::AntisymmetricConfig;
pub use self::deep_transition::DeepTransitionConfig;
pub use self::equilibrium::FoldedEquilibrium;
pub use self::ernn::{ErnnConfig, Projection, Sign, Start, StepSizes};
pub use self::fastgrnn::FastGrnnConfig;
pub use self::fastrnn::FastRnnConfig;
pub use self::folded::{
    CellRunner, Folded, FoldedDeep, FoldedGated, FoldedGradient, FoldedLayer, FoldedLeaky, FoldedRecurrent, Piece,
};
pub use self::gated_antisymmetric::GatedAntisymmetricConfig;
pub use self::gru::{GruConfig, Reset};
pub use self::lstm::LstmConfig;
pub use self::rnn::RnnConfig;
pub use self::settings::{Activation, GateActivation, Rank};
pub(crate) use self::settings::{LARGEST, check_positive};
pub use self::solver::{Equilibria, EquilibriumGradient, Solver, SolverSettings};
pub use self::span::Span;
pub use self::spectral::SpectralConfig;
pub(crate) use self::stacked::reorder;
pub use self::ugrnn::UgrnnConfig;
use crate::Result;
pub use ernn_kernels::equilibrium::Outcome;

/// What every cell offers to the model; implemented in the cell's own file.
pub(crate) trait Cell {
    /// Vectors of the hidden size that the kernel keeps of each step for the way back.
    const KEPT: usize;
    /// Whether no input makes the state larger than a number that the settings tell.
    fn is_bounded(&self) -> bool;
    /// Checks the settings.
    fn check(&self) -> Result<()>;
    /// The parameters as `(name, shape)`, with weight decay and learning-rate scale where they differ from a matrix's.
    fn tensors(&self, inputs: usize) -> Vec<Tensor>;
    /// Initial values of all tensors, one after the other.
    fn initialize<F: Real>(&self, inputs: usize, rng: &mut impl Rng, parameters: &mut [F]);
    /// The folded recurrence.
    fn fold<F: Real>(&self, inputs: usize, parameters: &[F]) -> Folded<F>;
    /// Adds the gradient of the parameters, given that of the folded recurrence.
    fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]);
}

/// A tensor of a cell before it has a place in the flat vector.
pub(crate) struct Tensor {
    name: Cow<'static, str>,
    shape: Vec<usize>,
    decay: bool,
    learning_rate_scale: f64,
}

impl Tensor {
    /// A matrix: weight decay applies.
    pub(crate) fn matrix(name: impl Into<Cow<'static, str>>, rows: usize, columns: usize) -> Self {
        Tensor {
            name: name.into(),
            shape: vec![rows, columns],
            decay: true,
            learning_rate_scale: 1.0,
        }
    }

    /// A vector or scalar: no weight decay.
    pub(crate) fn vector(name: impl Into<Cow<'static, str>>, len: usize) -> Self {
        Tensor {
            name: name.into(),
            shape: vec![len],
            decay: false,
            learning_rate_scale: 1.0,
        }
    }
}

/// Everything that follows from the list of cells: the variants, their names, and a way to call the cell inside of each.
macro_rules! cells {
    ($dollar:tt $($(#[$documentation:meta])* $name:literal $variant:ident($settings:ty);)*) => {
        /// A recurrent cell and its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum CellConfig {
            $($(#[$documentation])* #[serde(rename = $name)] $variant($settings),)*
        }

        /// Calls a method of the cell inside.
        macro_rules! each {
            ($dollar config:expr, $dollar cell:ident => $dollar call:expr) => {
                match $dollar config {
                    $(CellConfig::$variant($dollar cell) => $dollar call,)*
                }
            };
        }

        impl CellConfig {
            /// The names of all cells, as in `--cell`.
            pub const KINDS: &[&str] = &[$($name),*];

            /// The cell of this name with its default settings.
            pub fn of_kind(kind: &str) -> Option<CellConfig> {
                match kind {
                    $($name => Some(CellConfig::$variant(<$settings>::default())),)*
                    _ => None,
                }
            }

            /// The name as in `--cell`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(CellConfig::$variant(_) => $name,)*
                }
            }
        }
    };
}

cells! {
    $
    /// Equilibriated recurrent network.
    "ernn" Ernn(ErnnConfig);
    /// Plain (Elman) recurrent network.
    "rnn" Rnn(RnnConfig);
    /// FastRNN: a residual connection with two learned scalars.
    "fastrnn" FastRnn(FastRnnConfig);
    /// FastGRNN: one matrix for gate and candidate.
    "fastgrnn" FastGrnn(FastGrnnConfig);
    /// Update-gate network.
    "ugrnn" Ugrnn(UgrnnConfig);
    /// Gated recurrent unit.
    "gru" Gru(GruConfig);
    /// Long short-term memory.
    "lstm" Lstm(LstmConfig);
    /// AntisymmetricRNN.
    "antisymmetric" Antisymmetric(AntisymmetricConfig);
    /// AntisymmetricRNN with gating.
    "gated-antisymmetric" GatedAntisymmetric(GatedAntisymmetricConfig);
    /// SpectralRNN: singular values near 1.
    "spectral" Spectral(SpectralConfig);
    /// ERNN with several layers inside one step.
    "deep-transition" DeepTransition(DeepTransitionConfig);
}

impl CellConfig {
    /// The same cell of another hidden size.
    pub fn with_hidden(mut self, hidden: usize) -> Self {
        each!(&mut self, cell => cell.hidden = hidden);
        self
    }

    /// `D`, the size of the hidden state.
    pub fn hidden(&self) -> usize {
        each!(self, cell => cell.hidden)
    }

    /// Numbers that the kernel keeps of each step of a sequence for the way back.
    pub(crate) fn kept(&self) -> usize {
        fn vectors<C: Cell>(_: &C) -> usize {
            C::KEPT
        }
        each!(self, cell => vectors(cell)) * self.hidden()
    }

    /// Whether no input makes the state larger than a number that the settings tell.
    pub fn is_bounded(&self) -> bool {
        each!(self, cell => cell.is_bounded())
    }

    /// What a person should know who takes this cell with these settings.
    pub fn notes(&self) -> Vec<&'static str> {
        match self {
            CellConfig::Ernn(cell) => cell.notes(),
            _ => Vec::new(),
        }
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
    pub fn unfold<F: Real>(&self, inputs: usize, parameters: &[F], folded: &FoldedGradient<F>, gradient: &mut [F]) {
        each!(self, cell => cell.unfold(inputs, parameters, folded, gradient));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_bounded_by_a_bounded_activation_of_a_cell_that_adds_nothing() {
        let bounded = |kind: &str, activation: Activation| {
            let mut cell = CellConfig::of_kind(kind).unwrap();
            each!(&mut cell, cell => cell.activation = activation);
            cell.is_bounded()
        };
        for kind in CellConfig::KINDS {
            let forgets = ["rnn", "gru", "ugrnn", "spectral"].contains(kind);
            assert_eq!(bounded(kind, Activation::Tanh), forgets, "{kind}");
            assert!(!bounded(kind, Activation::Relu), "{kind}");
        }
    }
}
