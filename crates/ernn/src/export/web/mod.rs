//! A model for the browser: a WebAssembly module, and one page that holds it and needs nothing else.
//!
//! ```text
//! C files of the export + module.c -> clang --target=wasm32, no library -> NAME.wasm -> NAME.html, the module in base64
//! ```
//!
//! The module imports nothing. It exports its `memory` and, each with the prefix `NAME_`: `input()` and `output()`, addresses of the
//! numbers of a step and of the logits; `start()`, the next step is a first one; `step()`; `saturated()`; `selftest()`. Of a model that
//! listens to a stream without an end also what `module.c` says of it.

mod page;

use std::process::Command;

use ernn_core::{Format, Sizes};

use super::target::{Files, Form};
use super::trial::{self, Trial};
use super::{Prepared, c};
use crate::Result;

pub(super) const FORM: Form = Form {
    name: "web",
    help: "A folder with a WebAssembly module and a page that runs it (needs clang and lld)",
    title: "the export to the web",
    files,
    program: || trial::first_that_answers(["node", "nodejs"]),
    run,
    passed: "the module's self-test passes",
    untried: "no node was found: the module was compiled, but not run; the page runs its self-test when it opens",
    size: |_, files| {
        let (_, module) = &files[1];
        format!("module: {} bytes, it needs no other file and no network", module.len())
    },
};

fn files(prepared: &Prepared) -> Result<Files> {
    let name = &prepared.options.name;
    let module = compiled(prepared)?;
    let page = page::html(&module, prepared)?;
    Ok(vec![
        (format!("{name}.html"), page.into_bytes()),
        (format!("{name}.wasm"), module),
    ])
}

/// Functions that the module shows; of a model that listens the next ones too, of one that hears the last ones.
const SHOWN: [&str; 6] = ["input", "output", "start", "step", "saturated", "selftest"];
const LISTENS: [&str; 6] = ["listen_reset", "heard_step", "said", "begun", "current", "watch"];
const HEARS: [&str; 2] = ["samples", "hear"];

/// The module's bytes.
fn compiled(prepared: &Prepared) -> Result<Vec<u8>> {
    let folder = Trial::of(FORM.title, &c::files(prepared))?;
    let Some(compiler) = trial::first_that_answers(["clang"]) else {
        let what = "found no clang, expected one that makes WebAssembly (Debian: apt install clang lld)";
        return Err(folder.problem(what.to_string()));
    };
    let name = &prepared.options.name;
    let text = c::template(include_str!("module.c"), prepared);
    folder.write("module.c", text.as_bytes())?;
    let mut command = Command::new(&compiler);
    command
        .args(["--target=wasm32", "-std=c99", "-O2", "-ffreestanding", "-fno-builtin"])
        .args(["-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all"]);
    let listens = prepared.listens.is_some();
    let hears = listens && prepared.ears.is_some();
    let shown = SHOWN.iter().chain(LISTENS.iter().filter(|_| listens));
    let shown = shown.chain(HEARS.iter().filter(|_| hears));
    command.args(shown.map(|function| format!("-Wl,--export={name}_{function}")));
    command.args(["-o", "module.wasm", "module.c"]);
    command.args([format!("{name}.c"), format!("{name}_selftest.c")]);
    command.args(prepared.listens.as_ref().map(|_| format!("{name}_listen.c")));
    command.args(prepared.ears.as_ref().map(|_| format!("{name}_sound.c")));
    let output = folder.run(&mut command, &[])?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let hint = "is wasm-ld there (Debian: apt install lld)?";
        return Err(folder.problem(format!("{compiler} does not make a module: {}; {hint}", said.trim())));
    }
    folder.read("module.wasm")
}

/// Runs all samples through the module in node.
fn run(node: &str, folder: &Trial, prepared: &Prepared) -> Result<Option<bool>> {
    let name = &prepared.options.name;
    folder.write("run.js", include_bytes!("run.js"))?;
    let sizes = Sizes::of(&prepared.image);
    // A token is one number, whatever the vocabulary.
    let inputs = if prepared.plan.tokens { 1 } else { sizes.inputs };
    let kind = match prepared.plan.format {
        Format::Float => "float",
        Format::Int8 => "whole",
    };
    let mut command = Command::new(node);
    command.args(["run.js", &format!("{name}.wasm"), name]);
    command.args([&inputs.to_string(), &sizes.outputs.to_string(), kind]);
    let output = folder.run(&mut command, &trial::input(prepared.samples))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(folder.problem(format!("{node} cannot run the module: {}", said.trim())));
    }
    folder.compare(&output.stdout, &prepared.logits).map(Some)
}
