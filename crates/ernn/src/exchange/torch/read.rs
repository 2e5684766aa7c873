//! A state dict becomes a model.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::{DIRECTIONS, Kind, MEAN, SCALE, TWO_DIRECTIONS, span_prefix};
use crate::cell::{Activation, GateActivation};
use crate::data::{self, Normalization};
use crate::exchange::draft::{Draft, singles};
use crate::exchange::{ImportOptions, Imported, word};
use crate::model::{ModelConfig, Pooling, Statistic};
use crate::{Error, Result};

/// Reads a state dict; `readout` names the readout where several tensors could be its weight.
///
/// # Errors
/// If the file is no state dict of one recurrent module and a readout, if a tensor has another shape than the others ask for, or
/// if tensors are left over and `readout` is not given: a network with more parts than these would compute something else.
pub fn read(path: &Path, options: &ImportOptions, readout: Option<&str>) -> Result<Imported> {
    let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
    let dict = StateDict::new(path, &bytes)?;
    let module = Module::find(&dict)?;
    let mut notes = Vec::new();
    let activation = activation(module.kind, options, &mut notes)?;
    let pooling = options.pooling.unwrap_or(Pooling::Last);
    if module.directions == 2 && pooling.has(Statistic::Last) {
        notes.push(TWO_DIRECTIONS.to_string());
    }
    if pooling.statistics().len() > 1 {
        notes.push(super::reads(pooling));
    }
    let width = module.outputs() * pooling.statistics().len();
    let readout = Readout::find(&dict, &module, width, readout)?;
    let left = dict.left_over(&module, &readout);
    if let Some(first) = left.first() {
        let list = left.join(", ");
        if !readout.told {
            let found = format!("`{first}` and no place for it in this model (all such tensors: {list})");
            return Err(dict.error(
                found,
                format!(
                    "a recurrent module and one linear readout; --readout {} leaves the others out",
                    readout.name
                ),
            ));
        }
        notes.push(format!("left out: {list}"));
    }
    let layers = vec![module.kind.cell(module.hidden, activation); module.layers];
    let config = ModelConfig {
        pooling,
        bidirectional: module.directions == 2,
        ..ModelConfig::new(module.inputs, readout.classes, layers)
    };
    let mut draft = Draft {
        path,
        origin: "torch state dict",
        config,
        normalization: dict.normalization(module.inputs)?,
        notes,
        tensors: HashMap::new(),
    };
    module.put_layers(&dict, &mut draft)?;
    readout.put(&dict, width, &mut draft)?;
    draft.finish(options)
}

/// Torch's RNN has one of two functions, the others have one.
fn activation(kind: Kind, options: &ImportOptions, notes: &mut Vec<String>) -> Result<Activation> {
    let name = kind.name();
    if kind == Kind::Rnn {
        options.no_gate(name)?;
    } else if options.gate() != GateActivation::Sigmoid {
        let expected = format!("sigmoid, as torch's {name} has");
        return Err(Error::setting("gate_activation", word(&options.gate()), expected));
    }
    match (kind, options.activation) {
        (Kind::Rnn, None) => {
            let note = "the file does not say the nonlinearity of torch's RNN: taken as tanh (--activation relu for the other)";
            notes.push(note.to_string());
            Ok(Activation::Tanh)
        }
        (Kind::Rnn, Some(told @ (Activation::Tanh | Activation::Relu))) => Ok(told),
        (Kind::Rnn, Some(other)) => Err(Error::setting(
            "activation",
            word(&other),
            "tanh or relu, as torch's rnn has",
        )),
        (_, None | Some(Activation::Tanh)) => Ok(Activation::Tanh),
        (_, Some(other)) => Err(Error::setting(
            "activation",
            word(&other),
            format!("tanh, as torch's {name} has"),
        )),
    }
}

/// The tensors of the file.
struct StateDict<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> StateDict<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
            let found = format!("{} bytes: {error}", bytes.len());
            let expected = "a .safetensors file (in Python: safetensors.torch.save_file(module.state_dict(), file))";
            Error::format(path, "", found, expected)
        })?;
        Ok(StateDict { path, tensors })
    }

    /// All names, sorted.
    fn names(&self) -> BTreeSet<&str> {
        self.tensors.names().into_iter().collect()
    }

    fn error(&self, found: impl Display, expected: impl Display) -> Error {
        self.error_at(String::new(), found, expected)
    }

    fn error_in(&self, tensor: &str, found: impl Display, expected: impl Display) -> Error {
        self.error_at(format!(", tensor `{tensor}`"), found, expected)
    }

    fn error_at(&self, place: String, found: impl Display, expected: impl Display) -> Error {
        Error::format(self.path, place, found, expected)
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.tensors.tensor(name).ok().map(|tensor| tensor.shape().to_vec())
    }

    /// The shape of a tensor that must be a matrix.
    fn matrix_shape(&self, name: &str, expected: &str) -> Result<[usize; 2]> {
        match self.shape(name).as_deref() {
            Some(&[rows, columns]) => Ok([rows, columns]),
            Some(other) => Err(self.error_in(name, format!("shape {other:?}"), expected)),
            None => Err(self.error_in(name, "no such tensor", expected)),
        }
    }

    /// The values of a tensor of exactly this shape, all of them finite in single precision.
    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        let expected = || format!("shape {shape:?}");
        let Ok(tensor) = self.tensors.tensor(name) else {
            return Err(self.error_in(name, "no such tensor", expected()));
        };
        if tensor.shape() != shape {
            return Err(self.error_in(name, format!("shape {:?}", tensor.shape()), expected()));
        }
        let Some((size, number)) = decoder(tensor.dtype()) else {
            let found = format!("numbers of type {}", tensor.dtype());
            return Err(self.error_in(name, found, "F64, F32, F16 or BF16"));
        };
        let values: Vec<f64> = tensor.data().chunks_exact(size).map(number).collect();
        match singles(&values) {
            Ok(_) => Ok(values),
            Err((index, value)) => {
                let found = format!("{value} at index {index}");
                Err(self.error_in(name, found, "numbers that single precision can hold"))
            }
        }
    }

    /// What [`super::write`] left beside torch's own tensors.
    fn normalization(&self, inputs: usize) -> Result<Option<Normalization>> {
        if self.shape(MEAN).is_none() && self.shape(SCALE).is_none() {
            return Ok(None);
        }
        let single = |name| {
            Ok::<_, Error>(
                self.values(name, &[inputs])?
                    .iter()
                    .map(|&value| value as f32)
                    .collect(),
            )
        };
        Ok(Some(Normalization {
            mean: single(MEAN)?,
            scale: single(SCALE)?,
        }))
    }

    /// Tensors that are no part of the model.
    fn left_over(&self, module: &Module, readout: &Readout) -> Vec<&str> {
        let own = module.names();
        let mut names = self.names();
        names.retain(|name| {
            !own.contains(*name)
                && *name != readout.weight()
                && *name != readout.bias()
                && ![MEAN, SCALE].contains(name)
        });
        names.into_iter().collect()
    }
}

/// How many bytes a number has, and how they are read.
type Decoder = (usize, fn(&[u8]) -> f64);

fn decoder(kind: Dtype) -> Option<Decoder> {
    /// The bytes of one number.
    fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().expect("chunks of that size")
    }
    Some(match kind {
        Dtype::F64 => (8, |bytes| f64::from_le_bytes(word(bytes))),
        Dtype::F32 => (4, |bytes| f64::from(f32::from_le_bytes(word(bytes)))),
        Dtype::F16 => (2, |bytes| data::half(u16::from_le_bytes(word(bytes)))),
        // The upper half of a single-precision number.
        Dtype::BF16 => (2, |bytes| {
            f64::from(f32::from_bits(u32::from(u16::from_le_bytes(word(bytes))) << 16))
        }),
        _ => return None,
    })
}

/// Torch's name of a tensor, taken apart.
struct Place<'a> {
    prefix: &'a str,
    part: &'static str,
    layer: usize,
    reverse: bool,
}

const WEIGHT_INPUT: &str = "weight_ih_l";
const WEIGHT_STATE: &str = "weight_hh_l";
const BIAS_INPUT: &str = "bias_ih_l";
const BIAS_STATE: &str = "bias_hh_l";
/// Of an LSTM with `proj_size`.
const PROJECTION: &str = "weight_hr_l";

fn place(name: &str) -> Option<Place<'_>> {
    let parts = [WEIGHT_INPUT, WEIGHT_STATE, BIAS_INPUT, BIAS_STATE, PROJECTION];
    parts.into_iter().find_map(|part| {
        let at = name.rfind(part)?;
        let rest = &name[at + part.len()..];
        let layer = rest.strip_suffix(DIRECTIONS[1]);
        Some(Place {
            prefix: &name[..at],
            part,
            layer: layer.unwrap_or(rest).parse().ok()?,
            reverse: layer.is_some(),
        })
    })
}

/// The recurrent module of a state dict.
struct Module {
    prefix: String,
    kind: Kind,
    inputs: usize,
    hidden: usize,
    layers: usize,
    directions: usize,
    bias: bool,
}

impl Module {
    /// Finds the one recurrent module, its kind and its sizes.
    fn find(dict: &StateDict) -> Result<Self> {
        let names = dict.names();
        let places: Vec<Place> = names.iter().filter_map(|name| place(name)).collect();
        let prefixes: BTreeSet<&str> = places.iter().map(|place| place.prefix).collect();
        let mut prefixes = prefixes.into_iter();
        let expected = "the tensors of one torch.nn.RNN, LSTM or GRU, weight_ih_l0 and so on";
        let Some(prefix) = prefixes.next() else {
            let found = match names.is_empty() {
                true => "no tensor".to_string(),
                false => format!("the tensors {}", Vec::from_iter(names).join(", ")),
            };
            return Err(dict.error(found, expected));
        };
        if let Some(other) = prefixes.next() {
            let found = format!("several recurrent modules, `{prefix}{WEIGHT_INPUT}0` and `{other}{WEIGHT_INPUT}0`");
            return Err(dict.error(found, expected));
        }
        if let Some(place) = places.iter().find(|place| place.part == PROJECTION) {
            let name = format!("{prefix}{PROJECTION}{}", place.layer);
            return Err(dict.error_in(&name, "a projection of the state (proj_size)", "an LSTM without one"));
        }
        let first = |part: &str| format!("{prefix}{part}0");
        let name = first(WEIGHT_STATE);
        let expected = "[G D, D] with G = 1 (RNN), 3 (GRU) or 4 (LSTM)";
        let [rows, hidden] = dict.matrix_shape(&name, expected)?;
        let kind = [Kind::Rnn, Kind::Gru, Kind::Lstm]
            .into_iter()
            .find(|kind| hidden.checked_mul(kind.gates()) == Some(rows) && hidden > 0)
            .ok_or_else(|| dict.error_in(&name, format!("shape [{rows}, {hidden}]"), expected))?;
        let [_, inputs] = dict.matrix_shape(&first(WEIGHT_INPUT), &format!("[{rows}, d]"))?;
        let layers: BTreeSet<usize> = places.iter().map(|place| place.layer).collect();
        if let Some((missing, behind)) = (0..).zip(&layers).find(|(expected, layer)| expected != *layer) {
            let name = format!("{prefix}{WEIGHT_INPUT}{missing}");
            return Err(dict.error_in(&name, "no such tensor", format!("one, as there is a layer {behind}")));
        }
        Ok(Module {
            prefix: prefix.to_string(),
            kind,
            inputs,
            hidden,
            layers: layers.len(),
            directions: 1 + usize::from(places.iter().any(|place| place.reverse)),
            bias: (places.iter()).any(|place| place.part == BIAS_INPUT || place.part == BIAS_STATE),
        })
    }

    /// Size of the state that the readout sees.
    fn outputs(&self) -> usize {
        self.hidden * self.directions
    }

    fn name(&self, part: &str, layer: usize, direction: usize) -> String {
        format!("{}{part}{layer}{}", self.prefix, DIRECTIONS[direction])
    }

    /// Layers and directions, in the order of the model.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        let directions = self.directions;
        (0..self.layers).flat_map(move |layer| (0..directions).map(move |direction| (layer, direction)))
    }

    /// The names of all its tensors.
    fn names(&self) -> BTreeSet<String> {
        let mut parts = vec![WEIGHT_INPUT, WEIGHT_STATE];
        if self.bias {
            parts.extend([BIAS_INPUT, BIAS_STATE]);
        }
        self.cells()
            .flat_map(|(layer, direction)| parts.iter().map(move |part| self.name(part, layer, direction)))
            .collect()
    }

    fn put_layers(&self, dict: &StateDict, draft: &mut Draft) -> Result<()> {
        let rows = self.kind.gates() * self.hidden;
        for (layer, direction) in self.cells() {
            let inputs = if layer == 0 { self.inputs } else { self.outputs() };
            let name = |part| self.name(part, layer, direction);
            let prefix = span_prefix(layer, direction);
            let input = dict.values(&name(WEIGHT_INPUT), &[rows, inputs])?;
            draft.put(format!("{prefix}W"), input);
            let state = dict.values(&name(WEIGHT_STATE), &[rows, self.hidden])?;
            draft.put(format!("{prefix}U"), state);
            let [input, state] = match self.bias {
                true => [
                    dict.values(&name(BIAS_INPUT), &[rows])?,
                    dict.values(&name(BIAS_STATE), &[rows])?,
                ],
                false => [vec![0.0; rows], vec![0.0; rows]],
            };
            self.put_biases(&prefix, input, &state, draft);
        }
        Ok(())
    }

    fn put_biases(&self, prefix: &str, mut input: Vec<f64>, state: &[f64], draft: &mut Draft) {
        let summed = match self.kind {
            Kind::Gru => 2 * self.hidden,
            Kind::Rnn | Kind::Lstm => state.len(),
        };
        for (sum, &state) in input.iter_mut().zip(&state[..summed]) {
            // A plain sum would make -0 + 0 to 0, and an exported model would not come back to the bit.
            if state != 0.0 {
                *sum += state;
            }
        }
        draft.put(format!("{prefix}b"), input);
        if self.kind == Kind::Gru {
            draft.put(format!("{prefix}b_n"), state[summed..].to_vec());
        }
    }
}

/// The linear readout of a state dict.
struct Readout {
    /// Without `.weight`.
    name: String,
    classes: usize,
    /// Whether a person named it.
    told: bool,
}

impl Readout {
    /// The readout of this name, or the one matrix that can be it.
    fn find(dict: &StateDict, module: &Module, width: usize, told: Option<&str>) -> Result<Self> {
        let expected = format!("[classes, {width}], at least two classes");
        let name = match told {
            Some(name) => name.strip_suffix(".weight").unwrap_or(name).to_string(),
            None => Self::only_candidate(dict, module, width)?,
        };
        let readout = Readout {
            name,
            classes: 0,
            told: told.is_some(),
        };
        let weight = readout.weight();
        let [classes, columns] = dict.matrix_shape(&weight, &expected)?;
        if columns != width || classes < 2 {
            return Err(dict.error_in(&weight, format!("shape [{classes}, {columns}]"), expected));
        }
        Ok(Readout { classes, ..readout })
    }

    fn only_candidate(dict: &StateDict, module: &Module, width: usize) -> Result<String> {
        let own = module.names();
        let fits = |name: &str| matches!(dict.shape(name).as_deref(), Some(&[_, columns]) if columns == width);
        let names = dict.names().into_iter().filter(|name| !own.contains(*name));
        let candidates: Vec<&str> = names
            .filter(|name| fits(name))
            .filter_map(|name| name.strip_suffix(".weight"))
            .collect();
        match candidates[..] {
            [one] => Ok(one.to_string()),
            [] => {
                let shapes = (dict.names().into_iter())
                    .filter(|name| !own.contains(*name))
                    .map(|name| format!("{name} {:?}", dict.shape(name).unwrap_or_default()));
                let found = match shapes.collect::<Vec<_>>() {
                    none if none.is_empty() => "no tensor beside the recurrent module's".to_string(),
                    others => others.join(", "),
                };
                let expected = format!("a readout: a tensor NAME.weight of shape [classes, {width}]");
                Err(dict.error(found, expected))
            }
            _ => {
                let list = candidates.join(", ");
                let found = format!("several tensors that could be the readout's weight: {list}");
                Err(dict.error(found, "to be told which one (--readout NAME)"))
            }
        }
    }

    fn weight(&self) -> String {
        format!("{}.weight", self.name)
    }

    fn bias(&self) -> String {
        format!("{}.bias", self.name)
    }

    fn put(&self, dict: &StateDict, width: usize, draft: &mut Draft) -> Result<()> {
        let weight = dict.values(&self.weight(), &[self.classes, width])?;
        draft.put("readout.weight".to_string(), weight);
        let bias = match dict.shape(&self.bias()) {
            Some(_) => dict.values(&self.bias(), &[self.classes])?,
            None => vec![0.0; self.classes],
        };
        draft.put("readout.bias".to_string(), bias);
        Ok(())
    }
}
