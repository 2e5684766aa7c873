//! Models on devices: every cell, in every number format, by every target, beside the library.

mod cortex_m;
mod damage;
mod long_stream;
mod models;
mod parity;
mod rust_runtime;
mod saturation;
mod web;

use std::path::Path;
use std::process::Command;

use ernn::export::{Format, Options, Samples, write_c};
use models::Case;

/// The number formats.
const FORMATS: [Format; 2] = [Format::Float, Format::Int8];

/// Whether a tool is there; says so if it isn't.
fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: no {program}");
    }
    found
}

/// Writes a case as C, which compares it with the library and with the host's own compiler.
fn exported(case: &Case, samples: &Samples, format: Format, out: &Path) {
    let options = Options {
        format,
        ..Options::default()
    };
    let report = write_c(out, &case.model, samples, &options).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert!(
        report.compiler.is_none() || report.same_bits,
        "{}: {report:?}",
        case.name
    );
}
