//! Exported C, compiled by the host's compiler and run beside `ernn-core`.

use std::process::Command;

use super::{Files, template};
use crate::Result;
use crate::export::folder::Trial;
use crate::export::outside::{self, Outside, Tried};
use crate::export::{Prepared, Samples};

/// What the compiler is told: the language of the export, and to warn of anything.
const FLAGS: [&str; 6] = [
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wno-unused-parameter",
];

/// Speaks of this export in errors.
const OUTSIDE: Outside = Outside("the export to C");

/// # Errors
/// If the compiler refuses the files, or the program's self-test or logits are wrong.
pub(super) fn compile_and_run(files: &Files, prepared: &Prepared, samples: &Samples, name: &str) -> Result<Tried> {
    // The one that CC names, or a usual one.
    let named = std::env::var("CC").ok();
    let usual = ["cc", "gcc", "clang"].map(String::from);
    let Some(compiler) = outside::first_that_answers(named.into_iter().chain(usual)) else {
        return Ok(Tried::default());
    };
    let folder = Trial::new()?;
    let driver = template(include_str!("driver.c"), &prepared.plan, name);
    folder.write("driver.c", driver.as_bytes())?;
    for (file, text) in files {
        folder.write(file, text)?;
    }
    let sources = [
        "driver.c".to_string(),
        format!("{name}.c"),
        format!("{name}_info.c"),
        format!("{name}_selftest.c"),
    ];
    let program = folder.path.join("program");
    let mut command = Command::new(&compiler);
    command
        .args(FLAGS)
        .arg("-o")
        .arg(&program)
        .args(sources)
        .current_dir(&folder.path);
    let output = OUTSIDE.run(&mut command, &[])?;
    if !output.status.success() || !output.stderr.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(OUTSIDE.problem(format!("{compiler} does not take it: {}", said.trim())));
    }
    let output = OUTSIDE.run(&mut Command::new(&program), &outside::input(samples))?;
    if !output.status.success() {
        return Err(OUTSIDE.problem(format!("the compiled self-test failed: {}", output.status)));
    }
    Ok(Tried {
        program: Some(compiler),
        same_bits: OUTSIDE.compare(&output.stdout, &prepared.logits)?,
    })
}
