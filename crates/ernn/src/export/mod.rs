//! Export: a trained model becomes something that runs without this library, and is shown to compute the same.
//!
//! ```text
//! SavedModel -> Network (folded) -> Plan (layers and tensors of a device image) -> image bytes -> ernn-core
//!                                                                               -> C (-> WebAssembly and a page), Rust crate
//! ```
//!
//! Nothing is written before the image, run by `ernn-core`, was compared with the library on sequences ([`Parity`]), and before C was
//! compiled and its self-test run, where there is a compiler.

mod about;
mod c;
mod float;
mod folder;
mod int;
mod logits;
mod network;
mod outside;
mod parity;
mod plan;
mod rust_crate;
mod samples;
mod vocabulary;
mod web;

pub use self::about::About;
pub use self::c::{CReport, name_for, write_c};
pub use self::float::float_image;
pub use self::int::{Accuracy, int_image, int_logits, measure};
pub use self::parity::{FLOAT_BOUND, Parity, check_float, device_logits};
pub use self::rust_crate::{RustReport, write_rust};
pub use self::samples::Samples;
pub use self::web::{WebReport, write_web};
pub use ernn_core::Format;
use ernn_core::Sizes;

use self::logits::Logits;
use self::network::Network;
use self::plan::Plan;
use crate::Result;
use crate::checkpoint::SavedModel;

/// What is wanted of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The beginning of all names in exported code, and the name of its files.
    pub name: String,
    /// The numbers that the device computes with.
    pub format: Format,
    /// Of `int8`: the numbers that a stream keeps between steps.
    pub state: StateBits,
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
            about: About::default(),
        }
    }
}

/// A model that is ready to be written in some form.
struct Prepared {
    plan: Plan,
    image: Vec<u8>,
    /// What the device must say about the samples.
    logits: Logits,
    /// Of `f32`: the comparison with the library.
    parity: Option<Parity>,
}

impl Prepared {
    fn new(saved: &SavedModel, samples: &Samples, options: &Options) -> Result<Self> {
        c::check_name(&options.name)?;
        if options.format == Format::Int8 {
            let plan = int::plan(saved, samples, options.state)?;
            let image = plan.encode();
            // The library must take the samples as well.
            parity::expected(saved, samples)?;
            let (logits, saturations) = int_logits(&image, samples);
            return Ok(Prepared {
                logits: Logits::Whole(logits, saturations),
                plan,
                image,
                parity: None,
            });
        }
        let plan = float::plan(&Network::of(saved)?);
        let image = plan.encode();
        let parity = check_float(saved, &image, samples)?;
        Ok(Prepared {
            logits: Logits::Float(device_logits(&image, samples)),
            plan,
            image,
            parity: Some(parity),
        })
    }

    fn memory(&self) -> Memory {
        let sizes = Sizes::of(&self.image);
        // The steps; of whole numbers also the saturations, and what fills up to them.
        let (number, kept, rest) = match self.plan.format {
            Format::Float => (4, 4, 4),
            Format::Int8 => (2, if self.plan.narrow { 1 } else { 2 }, 8),
        };
        Memory {
            image: self.image.len(),
            tables: self.plan.table_bytes(),
            state: (kept * sizes.state).next_multiple_of(4) + rest,
            scratch: number * sizes.scratch,
        }
    }
}

/// Bytes that an exported model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Memory {
    /// The device image.
    pub image: usize,
    /// Of it, the numbers of the model.
    pub tables: usize,
    /// A stream's state.
    pub state: usize,
    /// The scratch that streams share.
    pub scratch: usize,
}
