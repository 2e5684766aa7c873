//! What `ernn export` can make of a model: one value of `--to` each.

use std::path::Path;

use clap::ValueEnum;
use ernn::checkpoint::SavedModel;
use ernn::exchange::{edgeml, onnx, torch};

use super::export_device::{self, DeviceFlags};
use crate::failure::{Failure, Result};
use crate::output::say;
use crate::reading::ReadingFlags;

/// A form for another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// A .safetensors file with the state dict of nn.RNN, nn.LSTM or nn.GRU and a linear readout
    Torch,
    /// A folder of .npy files in the layout of EdgeML's PyTorch version
    Edgeml,
    /// The model file itself: tensors by their names, settings and normalization in its metadata
    Safetensors,
    /// An ONNX file of any model, run and compared before it is written
    Onnx,
    /// A folder with a C99 header, source and self-test
    C,
    /// A folder with a no_std Rust crate
    Rust,
    /// A folder with a WebAssembly module and a page that runs it (needs clang and lld)
    Web,
}

impl Target {
    /// Writes the model, and says what that form cannot hold or what came of it; `from` and `path`: the model's file or run folder, and where it goes.
    pub fn write(
        self,
        saved: &SavedModel,
        (from, path): (&Path, &Path),
        device: &DeviceFlags,
        reading: &ReadingFlags,
    ) -> Result<()> {
        let notes = match self {
            Target::C => return export_device::to_c(saved, (from, path), device, reading),
            Target::Rust => return export_device::to_rust(saved, (from, path), device, reading),
            Target::Web => return export_device::to_web(saved, (from, path), device, reading),
            Target::Torch | Target::Edgeml | Target::Safetensors | Target::Onnx if device.given().is_some() => {
                let flag = device.given().unwrap_or_default();
                return Err(Failure::Usage(format!("{flag} is for --to c, rust and web alone")));
            }
            Target::Safetensors => {
                saved.save(path)?;
                Vec::new()
            }
            Target::Torch => torch::write(path, saved)?,
            Target::Edgeml => edgeml::write(path, saved)?,
            Target::Onnx => onnx::write(path, saved)?,
        };
        for note in notes {
            say(&format!("note: {note}"));
        }
        Ok(())
    }
}
