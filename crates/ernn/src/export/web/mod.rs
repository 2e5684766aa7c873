//! A model for the browser: a WebAssembly module, and one page that holds it and needs nothing else.
//!
//! ```text
//! C files of the export + module.c -> clang --target=wasm32, no library -> NAME.wasm -> NAME.html, the module in base64
//! ```
//!
//! The module imports nothing. It exports its `memory` and, each with the prefix `NAME_`: `input()` and `output()`, addresses of the
//! numbers of a step and of the logits; `start()`, the next step is a first one; `step()`; `saturated()`; `selftest()`.

mod page;

use std::path::Path;
use std::process::Command;

use ernn_core::{Format, Sizes};
use serde::Serialize;

use super::c;
use super::folder::{Trial, write_folder};
use super::outside::{self, Outside};
use super::{Memory, Options, Parity, Prepared, Samples};
use crate::Result;
use crate::checkpoint::SavedModel;

/// Speaks of this export in errors.
const OUTSIDE: Outside = Outside("the export to the web");

/// What an export to the web came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebReport {
    /// Of `f32`: the device's arithmetic beside the library's.
    pub parity: Option<Parity>,
    /// What it takes.
    pub memory: Memory,
    /// Bytes of the module.
    pub module: usize,
    /// What has run the module; `None`: there was nothing that could.
    pub runner: Option<String>,
    /// Whether all logits had the bits of `ernn-core` there; of whole numbers they must.
    pub same_bits: bool,
    /// The device image of the same numbers.
    #[serde(skip)]
    pub image: Vec<u8>,
}

/// Writes the model as a WebAssembly module and a page into a new folder.
///
/// # Errors
/// If no stream can go through the model, it computes something else than the library, there is no `clang` that makes WebAssembly, or the
/// module, run by `node` where there is one, gives other logits. Nothing is written then.
pub fn write_web(path: &Path, saved: &SavedModel, samples: &Samples, options: &Options) -> Result<WebReport> {
    let prepared = Prepared::new(saved, samples, options)?;
    let module = compiled(&prepared, saved, samples, options)?;
    let tried = tried(&module, &prepared, samples, &options.name)?;
    let page = page::html(&module, &prepared, saved, samples, options)?;
    let name = &options.name;
    let files = [
        (format!("{name}.html"), page.into_bytes()),
        (format!("{name}.wasm"), module.clone()),
    ];
    write_folder(path, &files)?;
    Ok(WebReport {
        memory: prepared.memory(),
        parity: prepared.parity,
        module: module.len(),
        runner: tried.program,
        same_bits: tried.same_bits,
        image: prepared.image,
    })
}

/// Functions that the module shows.
const SHOWN: [&str; 6] = ["input", "output", "start", "step", "saturated", "selftest"];

/// The module's bytes.
fn compiled(prepared: &Prepared, saved: &SavedModel, samples: &Samples, options: &Options) -> Result<Vec<u8>> {
    let Some(compiler) = outside::first_that_answers(["clang"]) else {
        let what = "found no clang, expected one that makes WebAssembly (Debian: apt install clang lld)";
        return Err(OUTSIDE.problem(what.to_string()));
    };
    let name = &options.name;
    let folder = Trial::new()?;
    for (file, text) in c::files(prepared, saved, samples, options) {
        folder.write(&file, &text)?;
    }
    let text = c::template(include_str!("module.c"), &prepared.plan, name);
    folder.write("module.c", text.as_bytes())?;
    let mut command = Command::new(&compiler);
    command
        .args(["--target=wasm32", "-std=c99", "-O2", "-ffreestanding", "-fno-builtin"])
        .args(["-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all"]);
    command.args(SHOWN.map(|function| format!("-Wl,--export={name}_{function}")));
    command.args(["-o", "module.wasm", "module.c"]);
    command
        .args([format!("{name}.c"), format!("{name}_selftest.c")])
        .current_dir(&folder.path);
    let output = OUTSIDE.run(&mut command, &[])?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let hint = "is wasm-ld there (Debian: apt install lld)?";
        return Err(OUTSIDE.problem(format!("{compiler} does not make a module: {}; {hint}", said.trim())));
    }
    folder.read("module.wasm")
}

/// Runs all samples through the module in node, if it is there.
fn tried(module: &[u8], prepared: &Prepared, samples: &Samples, name: &str) -> Result<outside::Tried> {
    let Some(node) = outside::first_that_answers(["node", "nodejs"]) else {
        return Ok(outside::Tried::default());
    };
    let folder = Trial::new()?;
    folder.write("module.wasm", module)?;
    folder.write("run.js", include_bytes!("run.js"))?;
    let sizes = Sizes::of(&prepared.image);
    // A token is one number, whatever the vocabulary.
    let inputs = if prepared.plan.tokens { 1 } else { sizes.inputs };
    let kind = match prepared.plan.format {
        Format::Float => "float",
        Format::Int8 => "whole",
    };
    let mut command = Command::new(&node);
    command.args(["run.js", "module.wasm", name]).current_dir(&folder.path);
    command.args([&inputs.to_string(), &sizes.outputs.to_string(), kind]);
    let output = OUTSIDE.run(&mut command, &outside::input(samples))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(OUTSIDE.problem(format!("{node} cannot run the module: {}", said.trim())));
    }
    let same_bits = OUTSIDE.compare(&output.stdout, &prepared.logits)?;
    Ok(outside::Tried {
        program: Some(node),
        same_bits,
    })
}
