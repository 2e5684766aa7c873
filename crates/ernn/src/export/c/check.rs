//! Exported C, compiled by the host's compiler and run beside `ernn-core`.

use std::process::Command;

use super::template;
use crate::Result;
use crate::export::Prepared;
use crate::export::trial::{self, Trial};

/// What the compiler is told: the language of the export, and to warn of anything.
const FLAGS: [&str; 6] = [
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wno-unused-parameter",
];

/// The compiler that CC names, or a usual one.
pub(super) fn compiler() -> Option<String> {
    let named = std::env::var("CC").ok();
    let usual = ["cc", "gcc", "clang"].map(String::from);
    trial::first_that_answers(named.into_iter().chain(usual))
}

/// # Errors
/// If the compiler refuses the files, or the program's self-test or logits are wrong.
pub(super) fn compile_and_run(compiler: &str, folder: &Trial, prepared: &Prepared) -> Result<Option<bool>> {
    let name = &prepared.options.name;
    let driver = template(include_str!("driver.c"), prepared);
    folder.write("driver.c", driver.as_bytes())?;
    let mut sources = vec![
        "driver.c".to_string(),
        format!("{name}.c"),
        format!("{name}_info.c"),
        format!("{name}_selftest.c"),
    ];
    sources.extend(prepared.listens.as_ref().map(|_| format!("{name}_listen.c")));
    sources.extend(prepared.ears.as_ref().map(|_| format!("{name}_sound.c")));
    let program = folder.path.join("program");
    let mut command = Command::new(compiler);
    command.args(FLAGS).arg("-o").arg(&program).args(sources);
    let output = folder.run(&mut command, &[])?;
    if !output.status.success() || !output.stderr.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(folder.problem(format!("{compiler} does not take it: {}", said.trim())));
    }
    let output = folder.run(&mut Command::new(&program), &trial::input(prepared.samples))?;
    if !output.status.success() {
        return Err(folder.problem(format!("the compiled self-test failed: {}", output.status)));
    }
    folder.compare(&output.stdout, &prepared.logits).map(Some)
}
