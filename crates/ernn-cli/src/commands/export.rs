//! `ernn export`: a model for another program.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use ernn::checkpoint::SavedModel;
use ernn::exchange::{edgeml, onnx, torch};
use ernn::export;

use super::export_device::{DeviceFlags, device_names};
use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::reading::ReadingFlags;

/// Arguments of `ernn export`.
#[derive(Args)]
pub struct Arguments {
    /// Model file or run folder
    model: PathBuf,
    /// What the model becomes
    #[arg(long, value_enum)]
    to: Target,
    /// Where it goes: a name that does not exist yet
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceFlags,
    #[command(flatten)]
    reading: ReadingFlags,
}

/// Runs `ernn export`.
pub fn run(arguments: &Arguments) -> Result<()> {
    super::must_be_free("--out", &arguments.out)?;
    let saved = super::models::load(&arguments.model)?;
    if !arguments.device.names_data() && arguments.reading != ReadingFlags::default() {
        let text = "flags that say how data is read go with --calibrate alone, which names the data";
        return Err(Failure::Usage(text.to_string()));
    }
    let (device, out) = (&arguments.device, &arguments.out);
    match (arguments.to, device.given()) {
        (Target::Device(target), _) => device.write(target, &saved, (&arguments.model, out), &arguments.reading)?,
        (Target::Program(_), Some(flag)) => {
            let names = device_names("", " and ");
            return Err(Failure::Usage(format!("{flag} is for --to {names} alone")));
        }
        (Target::Program(program), None) => {
            super::make_parents(out)?;
            program.write(&saved, out)?;
        }
    }
    output::print(&out.display().to_string())?;
    Ok(())
}

/// A form for another program or for a device.
#[derive(Clone, Copy, Debug)]
enum Target {
    Program(Program),
    Device(export::Target),
}

impl ValueEnum for Target {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Target>> = LazyLock::new(|| {
            let programs = Program::value_variants().iter().copied().map(Target::Program);
            programs.chain(export::Target::ALL.map(Target::Device)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Target::Program(program) => program.to_possible_value(),
            Target::Device(target) => Some(PossibleValue::new(target.name()).help(target.help())),
        }
    }
}

/// A form for another program.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Program {
    /// A .safetensors file with the state dict of nn.RNN, nn.LSTM or nn.GRU and a linear readout
    Torch,
    /// A folder of .npy files in the layout of EdgeML's PyTorch version
    Edgeml,
    /// The model file itself: tensors by their names, settings and normalization in its metadata
    Safetensors,
    /// An ONNX file of any model, run and compared before it is written
    Onnx,
}

impl Program {
    /// Writes the model, and says what that form cannot hold.
    fn write(self, saved: &SavedModel, path: &Path) -> Result<()> {
        let notes = match self {
            Program::Torch => torch::write(path, saved)?,
            Program::Edgeml => edgeml::write(path, saved)?,
            Program::Safetensors => saved.save(path).map(|()| Vec::new())?,
            Program::Onnx => onnx::write(path, saved)?,
        };
        notes.iter().for_each(|note| say(&format!("note: {note}")));
        Ok(())
    }
}
