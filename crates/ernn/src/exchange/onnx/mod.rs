//! ONNX files (onnx.ai), for ONNX Runtime and whatever else runs them.
//!
//! ```text
//! in   input [batch,steps,d], 32-bit floats as they are measured     sequence_lens [batch], 32-bit integers, each at least 1
//!      (of a model of tokens: tokens [batch,steps], 64-bit integers)
//! out  logits and probabilities [batch,C]; value [batch,1] of a regression; of every step [batch,steps,C]
//! ```
//!
//! Batch and steps are free. The normalization is part of the graph, the metadata holds `classes`, `feature_names` and `vocabulary` as
//! JSON, and `task`. What stands behind a sequence's end counts nothing.
//!
//! Cells are written as they are folded (`crate::cell::Folded`): what the operators RNN, GRU and LSTM compute becomes one of them
//! (`operators.rs`), everything else a `Scan` (`scan.rs`). The bytes are written without a library (`wire.rs`, `proto.rs`).
//!
//! Before anything is written, the bytes are read again and run, operator by operator (`run/`), and the logits held against the
//! model's (`parity.rs`).

mod derived;
mod gated;
mod graph;
mod layers;
mod leaky;
mod operators;
mod parity;
mod pieces;
mod proto;
mod run;
mod scan;
pub(crate) mod wire;

use std::path::Path;

use crate::checkpoint::{SavedModel, write_atomically};
use crate::data::{Task, list};
use crate::exchange::word;
use crate::{Error, Result};

/// Largest message that protocol buffers allow, 2^31 - 1 bytes.
const MOST_BYTES: usize = i32::MAX as usize;

/// Writes a model as an ONNX file, atomically, once what was written gives the model's logits; gives what a user should know, the
/// largest difference among it, in sentences.
///
/// # Errors
/// If a cell is solved to its equilibrium, the file's logits are not the model's, it would be too large, or it cannot be written.
pub fn write(path: &Path, saved: &SavedModel) -> Result<Vec<String>> {
    let (bytes, notes) = to_bytes(saved)?;
    write_atomically(path, &bytes)?;
    Ok(notes)
}

/// The bytes of the file, and what a user should know; equal models give equal bytes.
///
/// # Errors
/// As [`write()`].
pub fn to_bytes(saved: &SavedModel) -> Result<(Vec<u8>, Vec<String>)> {
    let (graph, own) = layers::graph(saved)?;
    let model = proto::Model {
        graph,
        metadata: metadata(saved),
    };
    let bytes = model.encode();
    if bytes.len() > MOST_BYTES {
        return Err(problem(format!(
            "{} bytes, more than a file of this kind can have",
            bytes.len()
        )));
    }
    let mut notes = interface(saved);
    notes.push(means(saved, own));
    notes.push(parity::check(&bytes, saved)?.to_string());
    Ok((bytes, notes))
}

fn problem(problem: String) -> Error {
    Error::data("the ONNX file", problem)
}

fn metadata(saved: &SavedModel) -> Vec<(String, String)> {
    let list = |names: &[String]| serde_json::to_string(names).unwrap_or_default();
    let mut metadata = vec![("task".to_string(), word(&saved.model.config().task))];
    for (name, values) in [
        ("classes", &saved.classes),
        ("feature_names", &saved.feature_names),
        ("vocabulary", &saved.vocabulary),
    ] {
        if !values.is_empty() {
            metadata.push((name.to_string(), list(values)));
        }
    }
    metadata
}

/// What goes in and what comes out.
fn interface(saved: &SavedModel) -> Vec<String> {
    let config = saved.model.config();
    let input = match &config.embedding {
        Some(embedding) => format!(
            "{} [batch, steps], int64 below {}",
            layers::TOKENS,
            embedding.vocabulary
        ),
        None => format!(
            "{} [batch, steps, {}], float32, not normalized",
            layers::INPUT,
            saved.channels()
        ),
    };
    let output = match config.task {
        Task::Classification => format!(
            "{} and {} [batch, {}]",
            layers::LOGITS,
            layers::PROBABILITIES,
            config.classes
        ),
        Task::MultiLabel => format!(
            "{} and {} [batch, {}], a probability a label: several can hold",
            layers::LOGITS,
            layers::PROBABILITIES,
            config.classes
        ),
        Task::Regression => format!("{} [batch, {}]", layers::VALUE, config.classes),
        Task::StepRegression => format!(
            "{} [batch, steps, {}], of no meaning behind a sequence's end",
            layers::VALUE,
            config.classes
        ),
        Task::StepClassification | Task::NextToken => {
            let names = format!("{} and {}", layers::LOGITS, layers::PROBABILITIES);
            format!(
                "{names} [batch, steps, {}], of no meaning behind a sequence's end",
                config.classes
            )
        }
    };
    let mut notes = vec![format!(
        "opset {}; inputs {input}, and {} [batch], int32; outputs {output}",
        proto::OPSET,
        layers::LENGTHS
    )];
    if !saved.derivation.is_none() {
        notes.push("the file derives the model's further channels itself".to_string());
    }
    if config.classes > 1 && config.task.is_of_numbers() {
        notes.push(format!("{}: {}", layers::VALUE, list(&saved.output_names())));
    }
    if config.quantiles.len() > 1 {
        notes
            .push("the file gives quantiles as the network does; where they cross, sort those of a target".to_string());
    }
    if config.task == Task::NextToken {
        notes.push("every call begins a text: the file carries no state on".to_string());
    }
    notes
}

/// By which operators the layers are computed.
fn means(saved: &SavedModel, own: usize) -> String {
    let layers = &saved.model.config().layers;
    let names: Vec<&str> = layers.iter().map(|cell| cell.name()).collect();
    let cells = names.join(", ");
    match own {
        own if own == layers.len() => format!("layers ({cells}) by the operators of ONNX"),
        0 => format!("layers ({cells}) by Scan"),
        _ => format!("layers ({cells}) by the operators of ONNX where there is one, else by Scan"),
    }
}
