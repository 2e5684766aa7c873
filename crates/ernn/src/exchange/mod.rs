//! Exchange: models that other programs trained become a [`SavedModel`], and back.
//!
//! - [`torch`]: a state dict of `torch.nn.RNN`, `LSTM` or `GRU` and a linear readout, in a `.safetensors` file.
//! - [`edgeml`]: a folder of `.npy` files of EdgeML's FastRNN, FastGRNN, UGRNN, GRU or LSTM.
//! - [`onnx`]: an ONNX file of any model; written only, and run before it is.
//!
//! What a foreign file does not say comes in [`ImportOptions`]. What had to be assumed, or has no place in the other program's
//! files, is said in notes: nothing changes a model in silence.

mod draft;
pub mod edgeml;
mod matrix;
pub mod onnx;
pub mod torch;
mod weights;

use crate::cell::{Activation, GateActivation};
use crate::checkpoint::SavedModel;
use crate::model::Pooling;
use crate::{Error, Result};

/// What no foreign file says; the defaults are those of the other program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// The cells' `phi`.
    pub activation: Option<Activation>,
    /// The gates' `sigma`.
    pub gate_activation: Option<GateActivation>,
    /// Which states the readout sees; the last one by default.
    pub pooling: Option<Pooling>,
    /// Class names in the order of the logits; `0`, `1`, ... by default.
    pub classes: Option<Vec<String>>,
    /// One name a value of a step; `channel 1`, `channel 2`, ... by default, as for data without names.
    pub feature_names: Option<Vec<String>>,
}

impl ImportOptions {
    /// The gates' function of a cell with gates.
    fn gate(&self) -> GateActivation {
        self.gate_activation.unwrap_or(GateActivation::Sigmoid)
    }

    /// Refuses a gate's function for a cell without gates.
    fn no_gate(&self, cell: &str) -> Result<()> {
        match self.gate_activation {
            None => Ok(()),
            Some(gate) => Err(Error::setting(
                "gate_activation",
                word(&gate),
                format!("none: a cell of kind {cell} has no gate"),
            )),
        }
    }
}

/// A model that was read, and what had to be assumed or left out.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model.
    pub model: SavedModel,
    /// Sentences for whoever reads it.
    pub notes: Vec<String>,
}

/// A setting as it stands in files, e.g. `hard-tanh`.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_string()
}
