//! What `ernn export` can make of a model: one value of `--to` each.

use std::path::Path;

use clap::ValueEnum;
use ernn::checkpoint::SavedModel;
use ernn::exchange::{edgeml, onnx, torch};

/// A form for another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// A .safetensors file with the state dict of nn.RNN, nn.LSTM or nn.GRU and a linear readout
    Torch,
    /// A folder of .npy files in the layout of EdgeML's PyTorch version
    Edgeml,
    /// An ONNX file of any model, run and compared before it is written
    Onnx,
}

impl Target {
    /// Writes the model; gives what that form cannot hold, in sentences.
    pub fn write(self, saved: &SavedModel, path: &Path) -> ernn::Result<Vec<String>> {
        match self {
            Target::Torch => torch::write(path, saved),
            Target::Edgeml => edgeml::write(path, saved),
            Target::Onnx => onnx::write(path, saved),
        }
    }
}
