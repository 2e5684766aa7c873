//! The device image: a trained model as bytes that are used where they lie.
//!
//! Little-endian, all parts aligned to 4 bytes, no pointers. Numbers of the header and of records are `u32` words unless said
//! otherwise.
//!
//! | byte | |
//! |---|---|
//! | 0 | magic `ERNN` |
//! | 4 | version, `u16`; 1 |
//! | 6 | number format, `u16`: 0 `f32`, 1 `int8` weights |
//! | 8 | length of the image in bytes |
//! | 12 | checksum of all other bytes: FNV-1a, 32 bits (no change of a single byte passes it) |
//! | 16 | numbers of a state |
//! | 20 | numbers of scratch |
//! | 24 | values of an input; of tokens, tokens that are known |
//! | 28 | outputs (logits, or 1 number) |
//! | 32 | layers `L` |
//! | 36 | tensors `N` |
//! | 40 | flags: bit 0 mean pooling instead of the last state, bit 1 inputs are tokens, bit 2 (`int8`) states of 8 bits instead of 16, bit 3 channels are derived, bit 4 differences are among them; behind the mean bit 8 the standard deviation, bit 9 the largest value, bit 10 the last state |
//! | 44 | size of what the first layer reads: the values of an input with those that are derived, or of an embedding's row |
//! | 48 | `L` records of 64 bytes, see [`crate::Kind`] |
//! | then | `N` entries of 8 bytes: where a tensor begins, and its length, in bytes |
//! | then | the tensors, each at a multiple of 4 |
//!
//! Tensors stand in this order: mean and scale of the inputs (or the embedding's rows, and nothing); with bit 3 the scales of compressed
//! channels (`f32`, or nothing) and the channels of triads (`u32`, or nothing), see [`crate::inputs`]; then those of each layer, then
//! weight and bias of the readout. A stream's state begins with the memory of the derived channels. All sizes are checked when the image is parsed; nothing is believed.

use crate::error::ParseError;
use crate::inputs::Derived;
use crate::pooling::Pooling;

/// The first bytes.
pub const MAGIC: [u8; 4] = *b"ERNN";
/// The version that is written here.
pub const VERSION: u16 = 1;
/// Bytes of the header.
pub const HEADER: usize = 48;
/// Bytes of a layer's record.
pub const RECORD: usize = 64;
/// Words of a layer's record.
pub const RECORD_WORDS: usize = 16;
/// Bytes of a tensor's entry.
pub const ENTRY: usize = 8;
/// Where the checksum stands.
pub const CHECKSUM_AT: usize = 12;
/// The flag of mean pooling.
pub const MEAN: u32 = 1;
/// The flag of tokens.
pub const TOKENS: u32 = 2;

/// The flag of states of 8 bits.
pub const NARROW: u32 = 4;
/// The flag of derived channels.
pub const DERIVED: u32 = 8;
/// The flag of differences among them.
pub const DIFFERENCES: u32 = 16;
/// Beside the mean, the standard deviation.
pub const DEVIATION: u32 = 1 << 8;
/// Beside the mean, the largest value.
pub const LARGEST: u32 = 1 << 9;
/// Beside the mean, the last state.
pub const LAST: u32 = 1 << 10;
/// All flags.
const KNOWN: u32 = MEAN | TOKENS | NARROW | DERIVED | DIFFERENCES | DEVIATION | LARGEST | LAST;

/// The number format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `f32` weights and states.
    Float,
    /// `int8` weights, `int16` or `int8` states, `int32` sums.
    Int8,
}

impl Format {
    /// Its number in the header.
    pub const fn number(self) -> u16 {
        match self {
            Format::Float => 0,
            Format::Int8 => 1,
        }
    }
}

/// How much memory a model needs, readable at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Numbers of a stream's state.
    pub state: usize,
    /// Numbers of the scratch that all streams share.
    pub scratch: usize,
    /// Values of an input.
    pub inputs: usize,
    /// Logits.
    pub outputs: usize,
}

impl Sizes {
    /// The sizes in an image's header; zeros where there is none. [`parse`](crate::float::Model::parse) checks them.
    pub const fn of(image: &[u8]) -> Self {
        Sizes {
            state: word(image, 16) as usize,
            scratch: word(image, 20) as usize,
            inputs: word(image, 24) as usize,
            outputs: word(image, 28) as usize,
        }
    }
}

/// The word at a byte; 0 beyond the end.
pub(crate) const fn word(bytes: &[u8], at: usize) -> u32 {
    match bytes.split_at_checked(at) {
        Some((_, tail)) => match tail.first_chunk::<4>() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            None => 0,
        },
        None => 0,
    }
}

/// FNV-1a over all bytes but those of the checksum.
pub fn checksum(bytes: &[u8]) -> u32 {
    let (head, rest) = bytes.split_at_checked(CHECKSUM_AT).unwrap_or((bytes, &[]));
    let tail = rest.get(4..).unwrap_or(&[]);
    let step = |sum: u32, &byte: &u8| (sum ^ u32::from(byte)).wrapping_mul(16_777_619);
    tail.iter().fold(head.iter().fold(2_166_136_261, step), step)
}

/// The kind of bytes that begin with `magic`, a version, a kind, their length and their checksum, if all of these are right.
pub(crate) fn opened(bytes: &[u8], magic: [u8; 4], known: u16, header: usize) -> Result<u16, ParseError> {
    if !bytes.starts_with(&magic) {
        return Err(ParseError::Magic);
    }
    let expected = if bytes.len() < header {
        header
    } else {
        word(bytes, 8) as usize
    };
    let word_of_kind = word(bytes, 4);
    let [version, kind] = [word_of_kind as u16, (word_of_kind >> 16) as u16];
    // A later version may have another header: it is named before anything else is judged.
    if bytes.len() >= 8 && version != known {
        return Err(ParseError::Version { found: version, known });
    }
    if bytes.len() != expected {
        let found = bytes.len();
        return Err(ParseError::Length { found, expected });
    }
    let (found, expected) = (checksum(bytes), word(bytes, CHECKSUM_AT));
    if found != expected {
        return Err(ParseError::Checksum { found, expected });
    }
    Ok(kind)
}

/// An image whose header, length and checksum are right, and whose tensors lie within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image<'a> {
    bytes: &'a [u8],
    pub sizes: Sizes,
    pub layers: usize,
    pub tensors: usize,
    pub flags: u32,
    /// Size of what the first layer reads.
    pub first: usize,
}

impl<'a> Image<'a> {
    pub fn parse(bytes: &'a [u8], format: Format) -> Result<Self, ParseError> {
        let number = opened(bytes, MAGIC, VERSION, HEADER)?;
        if number != format.number() {
            return Err(ParseError::Format { found: number });
        }
        let image = Image {
            bytes,
            sizes: Sizes::of(bytes),
            layers: word(bytes, 32) as usize,
            tensors: word(bytes, 36) as usize,
            flags: word(bytes, 40),
            first: word(bytes, 44) as usize,
        };
        image.check()?;
        Ok(image)
    }

    fn check(&self) -> Result<(), ParseError> {
        let data = self.data().filter(|&data| data <= self.bytes.len());
        let data = data.ok_or(ParseError::Content("records and entries beyond the end"))?;
        if self.layers == 0 || self.flags & !KNOWN != 0 || !self.pooling().is_sound() {
            return Err(ParseError::Content("no layer, or a flag that is not known"));
        }
        for index in 0..self.tensors {
            let (start, length) = self.entry(index);
            let end = start.checked_add(length);
            let inside = end.is_some_and(|end| end <= self.bytes.len()) && start >= data;
            if !inside || !start.is_multiple_of(4) {
                return Err(ParseError::Content(
                    "a tensor beyond the end, or not at a multiple of 4",
                ));
            }
        }
        Ok(())
    }

    /// Where the entries begin.
    fn entries(&self) -> Option<usize> {
        self.layers.checked_mul(RECORD)?.checked_add(HEADER)
    }

    /// Where the tensors begin.
    fn data(&self) -> Option<usize> {
        self.tensors.checked_mul(ENTRY)?.checked_add(self.entries()?)
    }

    fn entry(&self, index: usize) -> (usize, usize) {
        let at = self.entries().unwrap_or(0).wrapping_add(index.wrapping_mul(ENTRY));
        (
            word(self.bytes, at) as usize,
            word(self.bytes, at.wrapping_add(4)) as usize,
        )
    }

    /// The words of a layer's record.
    pub fn record(&self, layer: usize) -> [u32; RECORD_WORDS] {
        let at = layer.wrapping_mul(RECORD).wrapping_add(HEADER);
        core::array::from_fn(|index| word(self.bytes, at.wrapping_add(index.wrapping_mul(4))))
    }

    /// The bytes of a tensor; none beyond the last one.
    pub fn tensor(&self, index: usize) -> &'a [u8] {
        if index >= self.tensors {
            return &[];
        }
        let (start, length) = self.entry(index);
        self.bytes.get(start..start.wrapping_add(length)).unwrap_or(&[])
    }

    /// A tensor of `f32`.
    pub fn floats(&self, index: usize) -> &'a [[u8; 4]] {
        self.tensor(index).as_chunks().0
    }

    pub fn pooling(&self) -> Pooling {
        Pooling::of(self.flags)
    }

    pub fn narrow_states(&self) -> bool {
        self.flags & NARROW != 0
    }

    pub fn reads_tokens(&self) -> bool {
        self.flags & TOKENS != 0
    }

    fn derives(&self) -> bool {
        self.flags & DERIVED != 0
    }

    /// Tensors before those of the layers.
    pub fn input_tensors(&self) -> usize {
        if self.derives() { 4 } else { 2 }
    }

    /// What is derived of the channels; nothing of tokens.
    pub fn derived(&self) -> Derived<'a> {
        let tensor = |index| if self.derives() { self.floats(index) } else { &[] };
        Derived {
            channels: self.sizes.inputs,
            differences: self.flags & DIFFERENCES != 0,
            scales: tensor(2),
            triads: tensor(3),
        }
    }

    /// Whether what the first layer reads are the channels of an input with those that are derived.
    pub fn derives_all(&self) -> bool {
        let derived = self.derived();
        let sized = derived.scales.is_empty() || derived.scales.len() == derived.channels;
        let inside = |place: &[u8; 4]| (u32::from_le_bytes(*place) as usize) < derived.channels;
        let known = self.derives() || self.flags & DIFFERENCES == 0;
        let triads = derived.triads.len().is_multiple_of(3) && derived.triads.iter().all(inside);
        known && sized && triads && derived.outputs() == self.first
    }
}
