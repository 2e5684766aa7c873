//! `ernn import`: a model that another program trained becomes a model file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ernn::cell::{Activation, GateActivation};
use ernn::exchange::edgeml::Flavor;
use ernn::exchange::{ImportOptions, Imported, edgeml, torch};
use ernn::model::Pooling;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::reading::named;

/// Arguments of `ernn import`.
#[derive(Args)]
#[command(after_help = FORMATS)]
pub struct Arguments {
    /// File or folder of the other program
    path: PathBuf,
    /// The other program
    #[arg(long, value_enum, value_name = "PROGRAM")]
    from: Source,
    /// Where the model goes: a file that does not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    unsaid: UnsaidFlags,
    #[command(flatten)]
    own: ProgramFlags,
}

const FORMATS: &str = "\
torch: a .safetensors file of the state dict of one nn.RNN, nn.LSTM or nn.GRU (any number of layers, one direction or two) and \
a linear readout of the last states; in Python: safetensors.torch.save_file(module.state_dict(), file).

edgeml: a folder of .npy files of FastRNN, FastGRNN, UGRNN, GRU or LSTM (full or low rank), with FC.npy and FCbias.npy.";

/// What no file says.
#[derive(Args)]
#[command(next_help_heading = "What the file does not say")]
struct UnsaidFlags {
    /// Nonlinearity of the cells: relu, tanh, sigmoid, hard-tanh (EdgeML: quantTanh) or hard-sigmoid (quantSigm) [default: tanh]
    #[arg(long, value_name = "NAME", value_parser = activation::<Activation>)]
    activation: Option<Activation>,
    /// Nonlinearity of the gates: sigmoid or hard-sigmoid (EdgeML: quantSigm) [default: sigmoid]
    #[arg(long, value_name = "NAME", value_parser = activation::<GateActivation>)]
    gate_activation: Option<GateActivation>,
    /// What the readout sees of the last layer: last (state), mean (of all states), mean-max, mean-max-last or mean-std-max (side by
    /// side, in this order: mean, deviation, largest, last) [default: last]
    #[arg(long, value_name = "NAME", value_parser = named::<Pooling>)]
    pooling: Option<Pooling>,
    /// Class names, in the order of the logits [default: 0,1,...]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Names of the values of a step [default: channel 1,channel 2,...]
    #[arg(long, value_name = "X,Y,...", value_delimiter = ',')]
    feature_names: Option<Vec<String>>,
}

/// What only one of the programs needs.
#[derive(Args)]
#[command(next_help_heading = "For one program")]
struct ProgramFlags {
    /// torch: name of the readout, e.g. fc, where several tensors could be it; other tensors are then left out
    #[arg(long, value_name = "NAME")]
    readout: Option<String>,
    /// edgeml: which version wrote an LSTM: its matrices 1 and 2 differ, and no file says so
    #[arg(long, value_enum, value_name = "VERSION")]
    edgeml_flavor: Option<FlavorName>,
    /// edgeml: leave mean.npy and std.npy out; the data then has to come normalized
    #[arg(long)]
    no_normalization: bool,
}

/// A program whose models can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    Torch,
    Edgeml,
}

/// EdgeML's versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FlavorName {
    Tensorflow,
    Pytorch,
}

impl From<FlavorName> for Flavor {
    fn from(name: FlavorName) -> Self {
        match name {
            FlavorName::Tensorflow => Flavor::TensorFlow,
            FlavorName::Pytorch => Flavor::PyTorch,
        }
    }
}

/// Runs `ernn import`.
pub fn run(arguments: &Arguments) -> Result<()> {
    super::must_be_free("--out", &arguments.out)?;
    let Imported { model, notes } = read(arguments)?;
    for note in notes {
        say(&format!("note: {note}"));
    }
    model.save(&arguments.out)?;
    let config = model.model.config();
    let layers: Vec<String> = (config.layers.iter())
        .map(|layer| format!("{} {}", layer.name(), layer.hidden()))
        .collect();
    output::print(&format!(
        "{}: {}{}, {} values a step, {} classes, {}",
        arguments.out.display(),
        if config.bidirectional { "bidirectional " } else { "" },
        layers.join(" + "),
        config.input_size,
        config.classes,
        output::size(model.model.parameters().len(), model.nonzero_parameters()),
    ))?;
    Ok(())
}

fn read(arguments: &Arguments) -> Result<Imported> {
    let UnsaidFlags {
        activation,
        gate_activation,
        pooling,
        classes,
        feature_names,
    } = &arguments.unsaid;
    let options = ImportOptions {
        activation: *activation,
        gate_activation: *gate_activation,
        pooling: *pooling,
        classes: classes.clone(),
        feature_names: feature_names.clone(),
    };
    let own = &arguments.own;
    Ok(match arguments.from {
        Source::Torch => {
            belongs("--edgeml-flavor", "edgeml", own.edgeml_flavor.is_some())?;
            belongs("--no-normalization", "edgeml", own.no_normalization)?;
            torch::read(&arguments.path, &options, own.readout.as_deref())?
        }
        Source::Edgeml => {
            belongs("--readout", "torch", own.readout.is_some())?;
            let flavor = own.edgeml_flavor.map(Flavor::from);
            edgeml::read(&arguments.path, &options, flavor, !own.no_normalization)?
        }
    })
}

/// Refuses a flag of the other program.
fn belongs(flag: &str, program: &str, given: bool) -> Result<()> {
    match given {
        true => Err(Failure::Usage(format!("{flag} is for --from {program} alone"))),
        false => Ok(()),
    }
}

/// A nonlinearity by our name or EdgeML's.
fn activation<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    match text {
        "quantTanh" => named("hard-tanh"),
        "quantSigm" => named("hard-sigmoid"),
        "quantSigm4" => Err("EdgeML's quantSigm4, (x + 2) / 4 between 0 and 1, is not supported".to_string()),
        other => named(other),
    }
}
