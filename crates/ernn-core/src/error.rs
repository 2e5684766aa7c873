//! What can go wrong: an image that is none, or buffers and inputs that do not fit a model.

use core::fmt;

/// Why bytes are no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// They begin with something else.
    Magic,
    /// A later version has written them.
    Version {
        /// The version that they name.
        found: u16,
        /// The last version that is known here.
        known: u16,
    },
    /// There are fewer or more bytes than the header says, or than a header has.
    Length {
        /// Bytes that are there.
        found: usize,
        /// Bytes that there should be.
        expected: usize,
    },
    /// Some byte is another than was written.
    Checksum {
        /// What the bytes give.
        found: u32,
        /// What the header says.
        expected: u32,
    },
    /// It is a model, of another number format.
    Format {
        /// The format's number in the image.
        found: u16,
    },
    /// The content contradicts itself; says where.
    Content(&'static str),
}

impl fmt::Display for ParseError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParseError::Magic => write!(to, "the bytes do not begin as a model's"),
            ParseError::Version { found, known } => {
                write!(
                    to,
                    "version {found} of the format, and only versions up to {known} are known"
                )
            }
            ParseError::Length { found, expected } => write!(to, "found {found} bytes, expected {expected}"),
            ParseError::Checksum { found, expected } => {
                write!(to, "damaged: the checksum is {found:08x}, expected {expected:08x}")
            }
            ParseError::Format { found } => write!(to, "number format {found} is another one than asked for"),
            ParseError::Content(place) => write!(to, "contradicts itself: {place}"),
        }
    }
}

impl core::error::Error for ParseError {}

/// Why a step was not made. The stream is then as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A slice has another length than the model needs.
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What the model needs.
        expected: usize,
    },
    /// Numbers of a state that have other bits than the model's.
    Bits {
        /// Bits of the numbers that were given.
        found: u32,
        /// Bits of the model's.
        expected: u32,
    },
    /// A value of the input is infinite or no number.
    NotFinite {
        /// Its place in the input.
        place: usize,
    },
    /// A logit of the model is infinite or no number: it has no class.
    Logit {
        /// Its place.
        place: usize,
    },
    /// The model reads tokens and was given numbers, or the other way round.
    Kind,
    /// A token that the model does not know.
    Token {
        /// The token.
        found: usize,
        /// Tokens that it knows.
        known: usize,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RunError::Length { what, found, expected } => {
                write!(to, "{what}: found {found} numbers, expected {expected}")
            }
            RunError::Bits { found, expected } => {
                write!(to, "state: found numbers of {found} bits, expected {expected}")
            }
            RunError::NotFinite { place } => write!(
                to,
                "value {} of the input is not a finite number",
                place.wrapping_add(1)
            ),
            RunError::Logit { place } => write!(to, "logit {} is not a finite number", place.wrapping_add(1)),
            RunError::Kind => write!(
                to,
                "found numbers where the model reads tokens, or tokens where it reads numbers"
            ),
            RunError::Token { found, known } => write!(to, "found token {found}, expected one below {known}"),
        }
    }
}

impl core::error::Error for RunError {}
