//! A model becomes a folder, in the layout of EdgeML's current PyTorch version.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::{Flavor, Kind, npy};
use crate::cell::{CellConfig, Reset};
use crate::checkpoint::{SavedModel, remove_unfinished, temporary_name};
use crate::data::Normalization;
use crate::exchange::matrix::{Factors, Matrix};
use crate::exchange::weights::Weights;
use crate::exchange::word;
use crate::model::Pooling;
use crate::{Error, Result};

/// Writes a new folder: it appears with all files in it or not at all. Gives what the files cannot hold, in sentences.
///
/// # Errors
/// If EdgeML has no such model, or something lies at `path` already.
pub fn write(path: &Path, saved: &SavedModel) -> Result<Vec<String>> {
    let (kind, notes) = check(saved)?;
    let files = files(saved, kind);
    remove_unfinished(path);
    let temporary = temporary_name(path);
    let outcome = write_and_rename(path, &temporary, &files);
    outcome.map_err(|source| {
        // What lies there is of no use to anyone.
        let _ = fs::remove_dir_all(&temporary);
        Error::io(path, "write")(source)
    })?;
    Ok(notes)
}

fn write_and_rename(path: &Path, temporary: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "something lies there already",
        ));
    }
    fs::create_dir(temporary)?;
    for (name, bytes) in files {
        let mut file = File::create(temporary.join(format!("{name}.npy")))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    fs::rename(temporary, path)
}

/// The cell, and what the files cannot hold.
fn check(saved: &SavedModel) -> Result<(Kind, Vec<String>)> {
    let config = saved.model.config();
    if config.layers.len() != 1 {
        let found = config.layers.len();
        return Err(Error::setting("layers", found, "1: the files have no place for more"));
    }
    if config.bidirectional {
        let expected = "false: EdgeML's cells read forwards";
        return Err(Error::setting("bidirectional", true, expected));
    }
    if config.pooling != Pooling::Last {
        let expected = "last: EdgeML's readout reads the last state";
        return Err(Error::setting("pooling", word(&config.pooling), expected));
    }
    let (kind, gate, activation) = match &config.layers[0] {
        CellConfig::FastRnn(cell) => (Kind::FastRnn, None, cell.activation),
        CellConfig::FastGrnn(cell) => (Kind::FastGrnn, Some(cell.gate_activation), cell.activation),
        CellConfig::Ugrnn(cell) => (Kind::Ugrnn, Some(cell.gate_activation), cell.activation),
        CellConfig::Lstm(cell) => (Kind::Lstm, Some(cell.gate_activation), cell.activation),
        CellConfig::Gru(cell) if cell.reset == Reset::Before => {
            (Kind::Gru, Some(cell.gate_activation), cell.activation)
        }
        CellConfig::Gru(_) => {
            let expected = "the reset before it, which EdgeML's GRU has: the two compute different things";
            return Err(Error::setting("cell", "gru with the reset after the product", expected));
        }
        other => {
            let expected =
                "fastrnn, fastgrnn, ugrnn, gru (with the reset before the product) or lstm: EdgeML has no others";
            return Err(Error::setting("cell", other.name(), expected));
        }
    };
    let gate = gate.map_or_else(String::new, |gate| {
        format!(", gate nonlinearity {}", edgemls(&word(&gate)))
    });
    let mut notes = vec![format!(
        "the files do not say: update nonlinearity {}{gate}; classes {}",
        edgemls(&word(&activation)),
        saved.classes.join(",")
    )];
    if kind == Kind::Lstm {
        notes.push("matrix 1 is i and matrix 2 is f, as in EdgeML's PyTorch version; TensorFlow's has them the other way round".to_string());
    }
    if !saved.derivation.is_none() {
        notes.push(format!(
            "the model reads derived channels behind those of the data, which the files do not compute: {}",
            saved.derivation.names(&saved.feature_names)[saved.channels()..].join("; ")
        ));
    }
    if saved.normalization != Normalization::identity(config.input_size) {
        notes.push(
            "mean.npy and std.npy hold one number a channel; EdgeML's own have one a column of the flattened sequence: repeat \
             them for each step"
                .to_string(),
        );
    }
    notes.extend(Weights(&saved.model).notes());
    Ok((kind, notes))
}

/// EdgeML's name of a nonlinearity.
fn edgemls(name: &str) -> &str {
    match name {
        "hard-tanh" => "quantTanh",
        "hard-sigmoid" => "quantSigm",
        other => other,
    }
}

/// Names and contents.
fn files(saved: &SavedModel, kind: Kind) -> Vec<(String, Vec<u8>)> {
    const PREFIX: &str = "layers.0.";
    let weights = Weights(&saved.model);
    let mut files = Vec::new();
    let mut put = |name: &str, bytes| files.push((name.to_string(), bytes));
    for letter in ["W", "U"] {
        for (name, matrix) in named(letter, weights.factors(PREFIX, letter), kind) {
            put(&name, npy::single(&matrix.shape(), &matrix.values));
        }
    }
    for (ours, names) in kind.biases() {
        let values = weights.values(&format!("{PREFIX}{ours}"));
        let hidden = values.len() / names.len();
        for (name, part) in names.iter().zip(values.chunks_exact(hidden)) {
            put(name, npy::single(&[1, hidden], part));
        }
    }
    for name in kind.scalars() {
        let value = weights.values(&format!("{PREFIX}{name}"));
        put(name, npy::single(&[1, 1], &value));
    }
    let readout = weights.matrix("readout.weight").transposed();
    put("FC", npy::single(&readout.shape(), &readout.values));
    let bias = weights.values("readout.bias");
    put("FCbias", npy::single(&[bias.len()], &bias));
    let normalization = &saved.normalization;
    if *normalization != Normalization::identity(normalization.mean.len()) {
        let shape = [normalization.mean.len()];
        let mean: Vec<f64> = normalization.mean.iter().map(|&value| f64::from(value)).collect();
        // In double precision, so that the scale comes back as it was; a scale of 0 is an infinite deviation.
        let deviation: Vec<f64> = (normalization.scale.iter())
            .map(|&scale| 1.0 / f64::from(scale))
            .collect();
        put("mean", npy::double(&shape, &mean));
        put("std", npy::double(&shape, &deviation));
    }
    files
}

/// A matrix, its factors or its groups under EdgeML's names, for rows.
fn named(letter: &str, factors: Factors, kind: Kind) -> Vec<(String, Matrix)> {
    let numbers = kind.matrices(Flavor::PyTorch);
    let name = |number: usize| format!("{letter}{number}");
    if numbers.is_empty() {
        return match factors {
            Factors::Full(matrix) => vec![(letter.to_string(), matrix.transposed())],
            Factors::Low(left, right) => vec![(name(1), right.transposed()), (name(2), left.transposed())],
        };
    }
    let (stacked, shared) = match factors {
        Factors::Full(matrix) => (matrix, None),
        Factors::Low(left, right) => (left, Some(right)),
    };
    let shared = shared.map(|shared| (letter.to_string(), shared.transposed()));
    let groups = stacked.groups(numbers.len());
    let groups = numbers
        .iter()
        .zip(groups)
        .map(|(&number, group)| (name(number), group.transposed()));
    shared.into_iter().chain(groups).collect()
}
