//! Models on devices: every cell, in every number format, by every target, beside the library.

mod cortex_m;
mod damage;
mod long_stream;
mod models;
mod parity;
mod rust_runtime;
mod saturation;
mod sparse;
mod web;

use std::path::Path;
use std::process::Command;

use ernn::checkpoint::Listening;
use ernn::export::{Format, Options, Samples, StateBits, Target};
use models::Case;

/// What a device computes with, and keeps between steps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Numbers {
    Float,
    Int8,
    /// Weights and states.
    Int8States,
}

/// All of them.
const NUMBERS: [Numbers; 3] = [Numbers::Float, Numbers::Int8, Numbers::Int8States];

impl Numbers {
    fn options(self) -> Options {
        let (format, state) = match self {
            Numbers::Float => (Format::Float, StateBits::Int16),
            Numbers::Int8 => (Format::Int8, StateBits::Int16),
            Numbers::Int8States => (Format::Int8, StateBits::Int8),
        };
        Options {
            format,
            state,
            // What can listen does.
            listening: Some(Listening::of_window(21, &[])),
            ..Options::default()
        }
    }
}

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
fn exported(case: &Case, samples: &Samples, numbers: Numbers, out: &Path) {
    let report = Target::C
        .write(out, &case.model, samples, &numbers.options())
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert!(
        report.program.is_none() || report.same_bits == Some(true),
        "{}: {report:?}",
        case.name
    );
}
