//! Export: a trained model becomes something that runs without this library, and is shown to compute the same.
//!
//! ```text
//! SavedModel -> Network (folded) -> Plan (layers and tensors of a device image) -> image bytes -> ernn-core
//!                                                                               -> C (-> WebAssembly and a page), Rust crate
//! ```
//!
//! Nothing is written before the image, run by `ernn-core`, was compared with the library on sequences ([`Parity`]), and before the
//! files were tried, where there is a program that can. Each [`Target`] goes this way, which `target.rs` leads;
//! a new one is a file here, and a variant.

mod about;
mod c;
mod float;
mod folder;
mod int;
mod listen;
mod logits;
mod network;
mod parity;
mod plan;
mod prepared;
mod rust_crate;
mod samples;
mod sound;
mod target;
mod trial;
mod unit;
mod web;

pub use self::about::About;
pub use self::c::name_for;
pub use self::float::float_image;
pub use self::folder::write_folder;
pub use self::int::{Accuracy, int_image, int_logits, measure};
pub use self::parity::{FLOAT_BOUND, Parity, check_float, device_logits};
pub use self::prepared::Memory;
pub use self::samples::Samples;
pub use self::target::Report;
pub use ernn_core::Format;

use self::prepared::Prepared;
use self::target::Form;
use crate::checkpoint::Listening;

/// A form of code for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// C99.
    C,
    /// A `no_std` crate.
    Rust,
    /// A WebAssembly module, and a page that runs it.
    Web,
}

impl Target {
    /// All targets, in the order in which they are listed.
    pub const ALL: [Target; 3] = [Target::C, Target::Rust, Target::Web];

    fn form(self) -> Form {
        match self {
            Target::C => c::FORM,
            Target::Rust => rust_crate::FORM,
            Target::Web => web::FORM,
        }
    }
}

/// What is wanted of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The beginning of all names in exported code, and the name of its files.
    pub name: String,
    /// The numbers that the device computes with.
    pub format: Format,
    /// Of `int8`: the numbers that a stream keeps between steps.
    pub state: StateBits,
    /// How a model of classes of sequences listens to a stream without an end; none: the export leaves that to the caller.
    pub listening: Option<Listening>,
    /// Steps a second that the model was trained on, where they are known.
    pub rate: Option<f64>,
    /// What the run of the model knows.
    pub about: About,
}

/// Numbers of a stream's state, of models of whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateBits {
    /// `i16`, as all numbers within a step.
    #[default]
    Int16,
    /// `i8`: their upper 8 bits, half the memory a stream.
    Int8,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: "ernn".to_string(),
            format: Format::Float,
            state: StateBits::Int16,
            listening: None,
            rate: None,
            about: About::default(),
        }
    }
}
