//! A folder becomes a model.

use std::collections::HashMap;
use std::path::Path;

use super::npy::Folder;
use super::{Flavor, Kind};
use crate::cell::{
    Activation, CellConfig, FastGrnnConfig, FastRnnConfig, GruConfig, LstmConfig, Rank, Reset, UgrnnConfig,
};
use crate::data::Normalization;
use crate::exchange::draft::{Draft, rank};
use crate::exchange::matrix::{Factors, Matrix};
use crate::exchange::{ImportOptions, Imported};
use crate::model::{ModelConfig, Pooling};
use crate::{Error, Result};

/// Reads a folder. An LSTM needs the `flavor`; `normalize` says whether `mean.npy` and `std.npy` are used where they are.
///
/// # Errors
/// If the files are of no cell or of several, if one is missing or has another shape than the others ask for, or if `mean.npy`
/// and `std.npy` differ from step to step.
pub fn read(path: &Path, options: &ImportOptions, flavor: Option<Flavor>, normalize: bool) -> Result<Imported> {
    let folder = Folder(path);
    let kind = kind(&folder)?;
    let mut notes = Vec::new();
    let last = kind.biases().iter().flat_map(|(_, files)| *files).last();
    let hidden = folder.vector(last.expect("every cell has a bias"), None)?.len();
    let [input, state] = matrices(&folder, kind, flavor, hidden, &mut notes)?;
    let inputs = input.columns();
    let pooling = options.pooling.unwrap_or(Pooling::Last);
    let width = hidden * pooling.statistics().len();
    let readout = folder.matrix("FC", &format!("shape [{width}, classes]"))?;
    if readout.rows != width || readout.columns < 2 {
        let expected = format!("shape [{width}, classes], at least two classes");
        return Err(folder.error_in("FC", format!("shape {:?}", readout.shape()), expected));
    }
    let layers = vec![cell(kind, hidden, rank(&input), rank(&state), options)?];
    notes.extend(assumed(kind, options));
    let config = ModelConfig {
        pooling,
        ..ModelConfig::new(inputs, readout.columns, layers)
    };
    let mut draft = Draft {
        path,
        origin: "EdgeML folder",
        config,
        normalization: normalization(&folder, inputs, normalize)?,
        notes,
        tensors: HashMap::new(),
    };
    const PREFIX: &str = "layers.0.";
    draft.put_factors(PREFIX, "W", input);
    draft.put_factors(PREFIX, "U", state);
    for (ours, files) in kind.biases() {
        let parts: Vec<Vec<f64>> = files
            .iter()
            .map(|file| folder.vector(file, Some(hidden)))
            .collect::<Result<_>>()?;
        draft.put(format!("{PREFIX}{ours}"), parts.concat());
    }
    for name in kind.scalars() {
        draft.put(format!("{PREFIX}{name}"), folder.vector(name, Some(1))?);
    }
    draft.put("readout.weight".to_string(), readout.transposed().values);
    let bias = folder.vector("FCbias", Some(readout.columns))?;
    draft.put("readout.bias".to_string(), bias);
    draft.finish(options)
}

/// Which cell the files are of. Old folders lack biases, so matrices with a higher number count as much: the missing file is then
/// named when it is read, and a GRU is never taken for a UGRNN.
fn kind(folder: &Folder) -> Result<Kind> {
    if !folder.0.is_dir() {
        return Err(folder.error("no folder", "a folder of EdgeML's .npy files"));
    }
    let own = [
        (Kind::FastGrnn, ["zeta", "nu"]),
        (Kind::FastRnn, ["alpha", "beta"]),
        (Kind::Lstm, ["Bf", "Bi"]),
        (Kind::Gru, ["Br", "Br"]),
    ];
    let found = own.iter().flat_map(|(kind, names)| {
        let name = names.iter().find(|name| folder.has(name))?;
        Some((*kind, *name))
    });
    match found.collect::<Vec<_>>()[..] {
        [(kind, _)] => return Ok(kind),
        [(_, one), (_, other), ..] => {
            let found = format!("{one}.npy and {other}.npy, which belong to different cells");
            return Err(folder.error(found, "the files of one cell"));
        }
        [] => {}
    }
    let any = |names: &[&str]| names.iter().any(|name| folder.has(name));
    if any(&["W4", "U4"]) {
        Ok(Kind::Lstm)
    } else if any(&["W3", "U3"]) {
        Ok(Kind::Gru)
    } else if any(&["W2", "U2", "Bg"]) {
        Ok(Kind::Ugrnn)
    } else {
        let expected = "the files of a cell: zeta.npy (FastGRNN), alpha.npy (FastRNN), Br.npy (GRU), Bf.npy (LSTM) or Bg.npy and \
                        Bh.npy (UGRNN)";
        Err(folder.error("none of them", expected))
    }
}

/// What no file says and no option told.
fn assumed(kind: Kind, options: &ImportOptions) -> Option<String> {
    let activation = options
        .activation
        .is_none()
        .then_some("the update's as tanh (--activation)");
    let gates = kind != Kind::FastRnn && options.gate_activation.is_none();
    let gates = gates.then_some("the gates' as sigmoid (--gate-activation)");
    let taken: Vec<&str> = activation.into_iter().chain(gates).collect();
    (!taken.is_empty()).then(|| format!("no file says the nonlinearities: taken {}", taken.join(", ")))
}

fn cell(kind: Kind, hidden: usize, input_rank: Rank, rank: Rank, options: &ImportOptions) -> Result<CellConfig> {
    let activation = options.activation.unwrap_or(Activation::Tanh);
    let gate_activation = options.gate();
    Ok(match kind {
        Kind::FastRnn => {
            options.no_gate("fastrnn")?;
            CellConfig::FastRnn(FastRnnConfig {
                hidden,
                rank,
                input_rank,
                activation,
                ..FastRnnConfig::default()
            })
        }
        Kind::FastGrnn => CellConfig::FastGrnn(FastGrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            ..FastGrnnConfig::default()
        }),
        Kind::Ugrnn => CellConfig::Ugrnn(UgrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
        Kind::Gru => CellConfig::Gru(GruConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            reset: Reset::Before,
        }),
        Kind::Lstm => CellConfig::Lstm(LstmConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
    })
}

/// W and U as they are here.
fn matrices(
    folder: &Folder,
    kind: Kind,
    flavor: Option<Flavor>,
    hidden: usize,
    notes: &mut Vec<String>,
) -> Result<[Factors; 2]> {
    let flavor = match (kind, flavor) {
        (_, Some(flavor)) => flavor,
        (Kind::Lstm, None) => {
            let expected = "tensorflow or pytorch: matrices 1 and 2 of an LSTM are f and i in the one, i and f in the other, and \
                            no file says which";
            return Err(Error::setting("--edgeml-flavor", "none", expected));
        }
        (_, None) => Flavor::PyTorch,
    };
    let numbers = kind.matrices(flavor);
    let found = if numbers.is_empty() {
        let [mut input, mut state] = [Chain::read(folder, "W")?, Chain::read(folder, "U")?];
        if kind == Kind::FastGrnn {
            turn(&mut input, &mut state, hidden, notes);
        }
        [
            input.check(folder, None, hidden)?,
            state.check(folder, Some(hidden), hidden)?,
        ]
    } else {
        let input = gates(folder, "W", numbers, None, hidden)?;
        [input, gates(folder, "U", numbers, Some(hidden), hidden)?]
    };
    let small = |factors: Factors| match &factors {
        // Such factors are larger than their product, and no cell here has them.
        Factors::Low(left, _) if left.columns > hidden => {
            notes.push(format!(
                "a rank of {} with {hidden} units: multiplied out",
                left.columns
            ));
            Factors::Full(factors.product())
        }
        _ => factors,
    };
    Ok(found.map(small))
}

/// A matrix without a number, or its two factors, as the files have it.
struct Chain {
    names: Vec<String>,
    matrices: Vec<Matrix>,
}

impl Chain {
    fn read(folder: &Folder, letter: &str) -> Result<Self> {
        let factors = [format!("{letter}1"), format!("{letter}2")];
        let low = factors.iter().any(|name| folder.has(name));
        if low && folder.has(letter) {
            let found = format!("both {letter}.npy and its factors {letter}1.npy, {letter}2.npy");
            return Err(folder.error(found, "one or the other"));
        }
        let names = if low {
            factors.to_vec()
        } else {
            vec![letter.to_string()]
        };
        let matrices = (names.iter()).map(|name| folder.matrix(name, "a matrix"));
        Ok(Chain {
            matrices: matrices.collect::<Result<_>>()?,
            names,
        })
    }

    /// Whether the shapes are those of rows times this: `rows` (where known) first and `columns` last.
    fn fits(&self, rows: Option<usize>, columns: usize) -> bool {
        self.misfit(rows, columns).is_none()
    }

    /// The first file whose shape does not fit, and the shape that would.
    fn misfit(&self, rows: Option<usize>, columns: usize) -> Option<(usize, String)> {
        let first = &self.matrices[0];
        let rows_text = rows.map_or_else(|| "d".to_string(), |rows| rows.to_string());
        let last = self.matrices.len() - 1;
        if rows.is_some_and(|rows| rows != first.rows) || (last == 0 && first.columns != columns) {
            let inner = if last == 0 {
                columns.to_string()
            } else {
                "rank".to_string()
            };
            return Some((0, format!("shape [{rows_text}, {inner}]")));
        }
        let wanted = [first.columns, columns];
        (last == 1 && self.matrices[1].shape() != wanted).then(|| (1, format!("shape {wanted:?}")))
    }

    fn turned(&self) -> Self {
        Chain {
            names: self.names.clone(),
            matrices: self.matrices.iter().map(Matrix::transposed).collect(),
        }
    }

    /// For columns instead of rows.
    fn check(self, folder: &Folder, rows: Option<usize>, columns: usize) -> Result<Factors> {
        if let Some((index, expected)) = self.misfit(rows, columns) {
            let found = format!("shape {:?}", self.matrices[index].shape());
            return Err(folder.error_in(&self.names[index], found, expected));
        }
        Ok(match &self.matrices[..] {
            [one] => Factors::Full(one.transposed()),
            [first, second] => Factors::Low(second.transposed(), first.transposed()),
            _ => unreachable!("a matrix or two factors"),
        })
    }
}

/// Turns all matrices of a FastGRNN if only that fits.
fn turn(input: &mut Chain, state: &mut Chain, hidden: usize, notes: &mut Vec<String>) {
    let fits = |input: &Chain, state: &Chain| input.fits(None, hidden) && state.fits(Some(hidden), hidden);
    let [turned_input, turned_state] = [input.turned(), state.turned()];
    let turned = fits(&turned_input, &turned_state);
    match (fits(input, state), turned) {
        (false, true) => {
            notes.push(
                "the matrices are transposed, as an early PyTorch FastGRNN and the CUDA one have them".to_string(),
            );
            (*input, *state) = (turned_input, turned_state);
        }
        (true, true) => {
            let note = "the shapes fit EdgeML's usual layout and the transposed one of an early PyTorch FastGRNN and of the CUDA one: \
                        taken as the usual one";
            notes.push(note.to_string());
        }
        (_, false) => {}
    }
}

/// Matrices with numbers, each dense or behind one factor that all share.
fn gates(folder: &Folder, letter: &str, numbers: &[usize], rows: Option<usize>, hidden: usize) -> Result<Factors> {
    let text = |rows: Option<usize>| rows.map_or_else(|| "d".to_string(), |rows| rows.to_string());
    let checked = |name: &str, rows: Option<usize>, columns: Option<usize>| {
        let columns_text = columns.map_or_else(|| "rank".to_string(), |columns| columns.to_string());
        let expected = format!("shape [{}, {columns_text}]", text(rows));
        let matrix = folder.matrix(name, &expected)?;
        let fits = |size: Option<usize>, found: usize| size.is_none_or(|size| size == found);
        if fits(rows, matrix.rows) && fits(columns, matrix.columns) {
            return Ok(matrix);
        }
        Err(folder.error_in(name, format!("shape {:?}", matrix.shape()), expected))
    };
    let shared = match folder.has(letter) {
        true => Some(checked(letter, rows, None)?),
        false => None,
    };
    let mut inner = shared.as_ref().map(|shared| shared.columns).or(rows);
    let mut parts = Vec::new();
    for number in numbers {
        let matrix = checked(&format!("{letter}{number}"), inner, Some(hidden))?;
        inner = Some(matrix.rows);
        parts.push(matrix.transposed());
    }
    let stacked = Matrix::stacked(&parts);
    Ok(match shared {
        Some(shared) => Factors::Low(stacked, shared.transposed()),
        None => Factors::Full(stacked),
    })
}

/// What `mean.npy` and `std.npy` say, if they say the same for every step.
fn normalization(folder: &Folder, inputs: usize, wanted: bool) -> Result<Option<Normalization>> {
    let names = ["mean", "std"];
    if !wanted || !names.iter().any(|name| folder.has(name)) {
        return Ok(None);
    }
    let [mean, deviation] = names.map(|name| channels(folder, name, inputs));
    let (mean, deviation) = (mean?, deviation?);
    if let Some(channel) = mean.iter().position(|mean| !(*mean as f32).is_finite()) {
        let found = format!("{} for channel {}", mean[channel], channel + 1);
        return Err(folder.error_in("mean", found, "a finite number"));
    }
    let scale = |deviation: f64| (1.0 / deviation) as f32;
    // An infinite deviation makes a channel 0, which is what becomes of a constant one here.
    if let Some(channel) = deviation
        .iter()
        .position(|&value| !(value > 0.0 && scale(value).is_finite()))
    {
        let found = format!("{} for channel {}", deviation[channel], channel + 1);
        return Err(folder.error_in("std", found, "a number above 0"));
    }
    Ok(Some(Normalization {
        mean: mean.iter().map(|&value| value as f32).collect(),
        scale: deviation.into_iter().map(scale).collect(),
    }))
}

/// One number a channel, from one a column of the flattened sequence.
fn channels(folder: &Folder, name: &str, inputs: usize) -> Result<Vec<f64>> {
    let values = folder.any_vector(name, None)?;
    if !values.len().is_multiple_of(inputs) {
        let expected = format!("a multiple of {inputs}, the values of a step (--no-normalization ignores the file)");
        return Err(folder.error_in(name, format!("{} numbers", values.len()), expected));
    }
    let (first, _) = values.split_at(inputs);
    for (step, row) in values.chunks_exact(inputs).enumerate() {
        if let Some(channel) = (0..inputs).find(|&channel| row[channel] != first[channel]) {
            let (one, other) = (first[channel], row[channel]);
            let found = format!(
                "{one} for channel {} at step 1 and {other} at step {}",
                channel + 1,
                step + 1
            );
            let expected = "one number a channel, the same at every step: a model here normalizes by channel (with \
                            --no-normalization it does not, and the data has to be normalized before)";
            return Err(folder.error_in(name, found, expected));
        }
    }
    Ok(first.to_vec())
}
