//! C99 of a plan: `NAME.h`, `NAME.c`, `NAME_info.c` with names and probabilities, which a program may do without, and
//! `NAME_selftest.c` with inputs and the logits that must follow; of a model of text `vocabulary.json`.
//!
//! No heap, no library, no global state: `stdint.h` is all that is included. Weights are `static const`, a stream's state and the
//! scratch are structs of the caller's. The functions of a cell are text in `float.c` and `int.c` here, of which a model takes what it
//! uses; they make the operations of `ernn-core` in the same order.

mod check;
mod header;
mod layers;
mod rename;
mod source;
mod text;
mod words;

pub(super) use self::rename::check_name;
pub use self::rename::name_for;
pub(super) use self::source::{files, template};

use std::path::Path;

use serde::Serialize;

use super::folder::write_folder;
use super::vocabulary::vocabulary;
use super::{Memory, Options, Parity, Prepared, Samples};
use crate::Result;
use crate::checkpoint::SavedModel;

/// What an export to C came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CReport {
    /// Of `f32`: the device's arithmetic beside the library's.
    pub parity: Option<Parity>,
    /// What it takes.
    pub memory: Memory,
    /// The compiler that has compiled it and whose program has passed; `None`: there was none.
    pub compiler: Option<String>,
    /// Whether the compiled program gave the bits of `ernn-core`; of whole numbers it must.
    pub same_bits: bool,
    /// The device image of the same numbers.
    #[serde(skip)]
    pub image: Vec<u8>,
}

/// The files of an export.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Writes the model as C into a new folder.
///
/// # Errors
/// If no stream can go through the model, if it computes something else than the library, or a compiler is there and the program
/// fails. Nothing is written then.
pub fn write_c(path: &Path, saved: &SavedModel, samples: &Samples, options: &Options) -> Result<CReport> {
    let prepared = Prepared::new(saved, samples, options)?;
    let mut files = files(&prepared, saved, samples, options);
    let compiled = check::compile_and_run(&files, &prepared, samples, &options.name)?;
    files.extend(vocabulary(saved));
    write_folder(path, &files)?;
    Ok(CReport {
        memory: prepared.memory(),
        parity: prepared.parity,
        compiler: compiled.program,
        same_bits: compiled.same_bits,
        image: prepared.image,
    })
}
