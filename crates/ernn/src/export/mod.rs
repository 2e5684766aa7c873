//! Export: a trained model becomes something that runs without this library, and is shown to compute the same.
//!
//! ```text
//! SavedModel -> Network (folded) -> Plan (layers and tensors of a device image) -> image bytes -> ernn-core
//!                                                                               -> C, Rust crate
//! ```
//!
//! Nothing is written before the image, run by `ernn-core`, was compared with the library on sequences ([`Parity`]), and before C was
//! compiled and its self-test run, where there is a compiler.

mod c;
mod float;
mod folder;
mod network;
mod parity;
mod plan;
mod rust_crate;
mod samples;

pub use self::c::{CReport, write_c};
pub use self::float::float_image;
pub use self::parity::{FLOAT_BOUND, Parity, check_float, device_logits};
pub use self::rust_crate::{RustReport, write_rust};
pub use self::samples::Samples;
use crate::{Error, Result};

/// What is wanted of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The beginning of all names in exported code, and the name of its files.
    pub name: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: "ernn".to_string(),
        }
    }
}

impl Options {
    /// Refuses a name that is none in C or Rust.
    fn check(&self) -> Result<()> {
        let word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        let first = self.name.chars().next().is_some_and(|letter| letter.is_ascii_lowercase());
        if first && self.name.chars().all(word) {
            return Ok(());
        }
        let expected = "a name of a-z, 0-9 and _, a letter first";
        Err(setting("name", &self.name, expected))
    }
}

fn setting(name: &str, found: impl ToString, expected: impl ToString) -> Error {
    Error::Setting {
        name: name.to_string(),
        found: found.to_string(),
        expected: expected.to_string(),
    }
}
