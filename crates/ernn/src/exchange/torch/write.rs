//! A model becomes a state dict.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use super::{DIRECTIONS, Kind, MEAN, SCALE, TWO_DIRECTIONS, span_prefix};
use crate::cell::{Activation, CellConfig, GateActivation, Reset};
use crate::checkpoint::{SavedModel, write_atomically};
use crate::data::Normalization;
use crate::exchange::weights::Weights;
use crate::exchange::word;
use crate::model::Statistic;
use crate::{Error, Result};

/// Writes a model's state dict, atomically; gives what the file cannot hold, in sentences.
///
/// The recurrent module is called `rnn`, `gru` or `lstm` after its kind, the readout `readout`. Low-rank matrices are multiplied out.
///
/// # Errors
/// If torch's modules cannot compute what the model's cells do.
pub fn write(path: &Path, saved: &SavedModel) -> Result<Vec<String>> {
    let (bytes, notes) = to_bytes(saved)?;
    write_atomically(path, &bytes)?;
    Ok(notes)
}

/// The bytes of the file, and what it cannot hold; equal models give equal bytes.
pub fn to_bytes(saved: &SavedModel) -> Result<(Vec<u8>, Vec<String>)> {
    let config = saved.model.config();
    let kind = kind_of(&config.layers)?;
    let weights = Weights(&saved.model);
    let mut dict = Vec::new();
    for layer in 0..config.layers.len() {
        for direction in 0..config.directions() {
            put_cell(&weights, kind, [layer, direction], &mut dict);
        }
    }
    let readout = weights.matrix("readout.weight");
    let shape = readout.shape().to_vec();
    dict.push(Tensor::new("readout.weight".to_string(), shape, &readout.values));
    let bias = weights.values("readout.bias");
    dict.push(Tensor::new("readout.bias".to_string(), vec![bias.len()], &bias));
    let mut notes = weights.notes();
    if !saved.derivation.is_none() {
        notes.push(format!(
            "the model reads derived channels behind those of the data, which the file does not compute: {}",
            saved.derivation.names(&saved.feature_names)[saved.channels()..].join("; ")
        ));
    }
    if saved.normalization != Normalization::identity(config.input_size) {
        for (name, values) in [(MEAN, &saved.normalization.mean), (SCALE, &saved.normalization.scale)] {
            let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            dict.push(Tensor::new(name.to_string(), vec![values.len()], &values));
        }
        notes.push(format!(
            "the model expects normalized values, (x - mean) * scale: the file holds them as {MEAN} and {SCALE}, which torch's \
             own modules do not know"
        ));
    }
    let pooling = config.pooled();
    if pooling.sees_all_steps() {
        notes.push(format!("{}, which the file does not say", super::reads(pooling)));
    }
    if config.bidirectional && pooling.has(Statistic::Last) {
        notes.push(TWO_DIRECTIONS.to_string());
    }
    let nonlinearity = match &config.layers[0] {
        CellConfig::Rnn(rnn) => format!("nonlinearity {}; ", word(&rnn.activation)),
        _ => String::new(),
    };
    let classes = saved.classes.join(",");
    notes.push(format!("the file does not say: {nonlinearity}classes {classes}"));
    Ok((encode(&dict), notes))
}

/// The module that computes what these cells do; torch's layers are all alike.
fn kind_of(layers: &[CellConfig]) -> Result<Kind> {
    let kind = kind(&layers[0])?;
    for (index, layer) in layers.iter().enumerate().skip(1) {
        self::kind(layer)?;
        if !alike(&layers[0], layer) {
            let expected = format!(
                "{}, as layer 0: torch's layers have one kind, hidden size and nonlinearity",
                describe(&layers[0])
            );
            return Err(Error::setting(format!("layer {index}"), describe(layer), expected));
        }
    }
    Ok(kind)
}

fn alike(one: &CellConfig, other: &CellConfig) -> bool {
    one.hidden() == other.hidden() && one.name() == other.name() && describe(one) == describe(other)
}

/// Kind, hidden size and nonlinearity of a cell that torch has.
fn describe(cell: &CellConfig) -> String {
    let activation = match cell {
        CellConfig::Rnn(rnn) => word(&rnn.activation),
        _ => "tanh".to_string(),
    };
    format!("{} with {activation} of hidden size {}", cell.name(), cell.hidden())
}

/// The module, or why there is none.
fn kind(cell: &CellConfig) -> Result<Kind> {
    let name = cell.name();
    let refuse =
        |found: String, expected: String| Err(Error::setting("cell", format!("{name} with {found}"), expected));
    let gated = |kind: Kind, activation: Activation, gate: GateActivation| {
        let functions =
            |activation: String, gate: String| format!("activation {activation} and gate activation {gate}");
        if (activation, gate) == (Activation::Tanh, GateActivation::Sigmoid) {
            return Ok(kind);
        }
        let expected = format!(
            "{}, which torch's {name} has",
            functions("tanh".to_string(), "sigmoid".to_string())
        );
        refuse(functions(word(&activation), word(&gate)), expected)
    };
    match cell {
        CellConfig::Rnn(rnn) if matches!(rnn.activation, Activation::Tanh | Activation::Relu) => Ok(Kind::Rnn),
        CellConfig::Rnn(rnn) => {
            let expected = "tanh or relu, which torch's rnn has".to_string();
            refuse(format!("activation {}", word(&rnn.activation)), expected)
        }
        CellConfig::Gru(gru) if gru.reset == Reset::Before => refuse(
            "the reset before the product".to_string(),
            "the reset after it, which torch's gru has: the two compute different things".to_string(),
        ),
        CellConfig::Gru(gru) => gated(Kind::Gru, gru.activation, gru.gate_activation),
        CellConfig::Lstm(lstm) => gated(Kind::Lstm, lstm.activation, lstm.gate_activation),
        _ => Err(Error::setting(
            "cell",
            name,
            "rnn, gru or lstm: torch has no module for others",
        )),
    }
}

fn put_cell(weights: &Weights, kind: Kind, [layer, direction]: [usize; 2], dict: &mut Vec<Tensor>) {
    let prefix = span_prefix(layer, direction);
    let module = kind.name();
    let mut put = |part: &str, shape: &[usize], values: &[f64]| {
        let name = format!("{module}.{part}_l{layer}{}", DIRECTIONS[direction]);
        dict.push(Tensor::new(name, shape.to_vec(), values));
    };
    for (part, letter) in [("weight_ih", "W"), ("weight_hh", "U")] {
        let matrix = weights.factors(&prefix, letter).product();
        put(part, &matrix.shape(), &matrix.values);
    }
    let input = weights.values(&format!("{prefix}b"));
    let mut state = vec![0.0; input.len()];
    if kind == Kind::Gru {
        let own = weights.values(&format!("{prefix}b_n"));
        state[input.len() - own.len()..].copy_from_slice(&own);
    }
    put("bias_ih", &[input.len()], &input);
    put("bias_hh", &[state.len()], &state);
}

/// A tensor of the file.
struct Tensor {
    name: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn new(name: String, shape: Vec<usize>, values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
        Tensor { name, shape, bytes }
    }
}

fn encode(dict: &[Tensor]) -> Vec<u8> {
    let views = dict.iter().map(|tensor| {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), &tensor.bytes);
        (&tensor.name, view.expect("as many bytes as the shape says"))
    });
    safetensors::serialize(views, None).expect("tensors of different names")
}
