//! C99 of a plan: `NAME.h`, `NAME.c`, and `NAME_selftest.c` with inputs and the logits that must follow.
//!
//! No heap, no library, no global state: `stdint.h` is all that is included. Weights are `static const`, a stream's state and the
//! scratch are structs of the caller's. The functions of a cell are text in `float.c` and `int.c` here, of which a model takes what it
//! uses; they make the operations of `ernn-core` in the same order.

mod check;
mod source;
mod text;

use std::path::Path;

use serde::Serialize;

use self::check::Compiled;
use super::folder::write_folder;
use super::network::Network;
use super::parity::{Parity, check_float, device_logits};
use super::plan::Plan;
use super::{Options, Samples, float};
use crate::Result;
use crate::checkpoint::SavedModel;

/// What an export to C came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CReport {
    /// The device's arithmetic beside the library's.
    pub parity: Parity,
    /// Bytes of constant tables.
    pub tables: usize,
    /// Bytes of a stream's state.
    pub state: usize,
    /// Bytes of the scratch that streams share.
    pub scratch: usize,
    /// The compiler that has compiled it and whose program has passed; `None`: there was none.
    pub compiler: Option<String>,
    /// Whether the compiled program gave the bits of `ernn-core`.
    pub same_bits: bool,
}

/// The files of an export.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Writes the model as C into a new folder.
///
/// # Errors
/// If no stream can go through the model, if it computes something else than the library, or a compiler is there and the program
/// fails. Nothing is written then.
pub fn write_c(path: &Path, saved: &SavedModel, samples: &Samples, options: &Options) -> Result<CReport> {
    options.check()?;
    let plan = float::plan(&Network::of(saved)?);
    let image = plan.encode();
    let parity = check_float(saved, &image, samples)?;
    let logits = device_logits(&image, samples);
    let files = source::files(&plan, &image, saved, samples, &logits, options);
    let compiled = check::compile_and_run(&files, &options.name, samples, &logits)?;
    write_folder(path, &files)?;
    Ok(report(&plan, &image, parity, compiled))
}

fn report(plan: &Plan, image: &[u8], parity: Parity, compiled: Compiled) -> CReport {
    let sizes = ernn_core::Sizes::of(image);
    CReport {
        parity,
        tables: plan.table_bytes(),
        state: 4 * (sizes.state + 1),
        scratch: 4 * sizes.scratch,
        compiler: compiled.compiler,
        same_bits: compiled.same_bits,
    }
}
