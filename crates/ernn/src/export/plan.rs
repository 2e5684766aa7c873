//! What an image holds, before it is bytes: the records of the layers and all tensors. The layout is [`ernn_core::image`]'s.

use ernn_core::Format;
use ernn_core::image::{
    CHECKSUM_AT, DERIVED, DEVIATION, DIFFERENCES, ENTRY, HEADER, LARGEST, LAST, MAGIC, MEAN, NARROW, RECORD,
    RECORD_WORDS, TOKENS, VERSION, checksum,
};
use ernn_core::{float, int};

use super::unit::Unit;
use crate::data::Derivation;
use crate::model::{Pooling, Statistic};

/// The numbers of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tensor {
    F32(Vec<f32>),
    I32(Vec<i32>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I8(Vec<i8>),
}

impl Tensor {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Tensor::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Tensor::I32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Tensor::I16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Tensor::U16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Tensor::I8(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Tensor::F32(values) => values.len(),
            Tensor::I32(values) => values.len(),
            Tensor::I16(values) => values.len(),
            Tensor::U16(values) => values.len(),
            Tensor::I8(values) => values.len(),
        }
    }
}

/// A layer: the words of its record, of which the first tensor is filled in by [`Plan::encode`], and its tensors.
#[derive(Clone, Debug)]
pub(super) struct PlannedLayer {
    pub words: [u32; RECORD_WORDS],
    pub tensors: Vec<Tensor>,
}

/// All of an image.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub format: Format,
    /// Values of an input, or tokens that are known.
    pub inputs: usize,
    /// What the first layer reads.
    pub first: usize,
    pub outputs: usize,
    /// Of a model of numbers; of whole numbers the outputs are on its scale.
    pub unit: Option<Unit>,
    /// Several outputs can hold: labels, not classes.
    pub several: bool,
    /// What the readout sees of the states.
    pub pooling: Pooling,
    pub tokens: bool,
    /// Whether states are kept in 8 bits.
    pub narrow: bool,
    /// Which channels are derived.
    pub derived: DerivedPlan,
    /// What is done to the inputs.
    pub input: Vec<Tensor>,
    pub layers: Vec<PlannedLayer>,
    pub readout: Vec<Tensor>,
}

/// Derived channels in numbers; their tensors stand among those of the input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DerivedPlan {
    /// Whether there are any.
    pub any: bool,
    pub differences: bool,
    pub compressed: bool,
    pub triads: usize,
    /// Floats that a stream remembers for them.
    pub memory: usize,
}

impl DerivedPlan {
    pub fn of(derivation: &Derivation, channels: usize) -> Self {
        DerivedPlan {
            any: !derivation.is_none(),
            differences: derivation.differences,
            compressed: !derivation.scales.is_empty(),
            triads: derivation.triads.len(),
            memory: derivation.ready(channels).memory().len(),
        }
    }
}

/// The tensors of derived channels; none where nothing is derived.
pub(super) fn derived_tensors(derivation: &Derivation) -> Vec<Tensor> {
    if derivation.is_none() {
        return Vec::new();
    }
    let places = derivation.triads.iter().flatten().map(|&place| place as i32);
    vec![Tensor::F32(derivation.scales.clone()), Tensor::I32(places.collect())]
}

/// Where the record has the index of its first tensor.
const FIRST_TENSOR: usize = 12;

impl Plan {
    /// The image.
    pub fn encode(&self) -> Vec<u8> {
        let unmeasured = self.encode_with((0, 0));
        let sizes = match self.format {
            Format::Float => float::Model::measure(&unmeasured),
            Format::Int8 => int::Model::measure(&unmeasured),
        };
        self.encode_with(sizes.expect("what is written here is an image"))
    }

    fn encode_with(&self, (state, scratch): (usize, usize)) -> Vec<u8> {
        let tensors: Vec<&Tensor> = self.tensors().collect();
        let data = HEADER + RECORD * self.layers.len() + ENTRY * tensors.len();
        let flags = [
            (self.tokens, TOKENS),
            (self.narrow, NARROW),
            (self.derived.any, DERIVED),
            (self.derived.differences, DIFFERENCES),
        ];
        let flags: u32 = flags.into_iter().filter_map(|(set, flag)| set.then_some(flag)).sum();
        let flags = flags | self.pooling_flags();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.format.number().to_le_bytes());
        let sizes = [
            0,
            0,
            state,
            scratch,
            self.inputs,
            self.outputs,
            self.layers.len(),
            tensors.len(),
        ];
        let words = sizes.into_iter().chain([flags as usize, self.first]);
        bytes.extend(words.flat_map(word));
        let mut first = self.input.len();
        for layer in &self.layers {
            let mut words = layer.words;
            words[FIRST_TENSOR] = first as u32;
            first += layer.tensors.len();
            bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        }
        let mut body = Vec::new();
        for tensor in tensors {
            let own = tensor.bytes();
            bytes.extend(word(data + body.len()).into_iter().chain(word(own.len())));
            body.extend(own);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        bytes.extend(body);
        let length = word(bytes.len());
        bytes[8..12].copy_from_slice(&length);
        let sum = checksum(&bytes).to_le_bytes();
        bytes[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum);
        bytes
    }

    /// Without a mean the last state is all that there is, and needs no flag.
    fn pooling_flags(&self) -> u32 {
        let flag = |&statistic: &Statistic| match statistic {
            Statistic::Mean => MEAN,
            Statistic::Deviation => DEVIATION,
            Statistic::Largest => LARGEST,
            Statistic::Last => LAST,
        };
        if self.pooling == Pooling::Last {
            return 0;
        }
        self.pooling.statistics().iter().map(flag).sum()
    }

    /// Bytes of all tensors.
    pub fn table_bytes(&self) -> usize {
        self.tensors().map(|tensor| tensor.bytes().len()).sum()
    }

    /// Whether zeros of a matrix of whole numbers are left out.
    pub fn has_compressed(&self) -> bool {
        let compressed = |tensor: &Tensor| matches!(tensor, Tensor::U16(factors) if factors[0] >> 8 > 0);
        self.tensors().any(compressed)
    }

    fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        let layers = self.layers.iter().flat_map(|layer| &layer.tensors);
        self.input.iter().chain(layers).chain(&self.readout)
    }
}

/// A number of the header.
///
/// # Panics
/// Beyond 32 bits: an image of four gigabytes, which no model in a file here is.
fn word(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("an image below 4 GB").to_le_bytes()
}
