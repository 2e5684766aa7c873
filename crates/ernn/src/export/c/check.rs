//! Exported C, compiled by the host's compiler and run beside `ernn-core`.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

use super::{Files, source};
use crate::export::folder::Trial;
use crate::export::logits::Logits;
use crate::export::{Prepared, Samples};
use crate::{Error, Result};

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compiled {
    /// The compiler; `None`: there was none.
    pub compiler: Option<String>,
    /// Whether each logit had the bits of `ernn-core`.
    pub same_bits: bool,
}

/// What the compiler is told: the language of the export, and to warn of anything.
const FLAGS: [&str; 6] = [
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wno-unused-parameter",
];

/// # Errors
/// If the compiler refuses the files, or the program's self-test or logits are wrong.
pub(super) fn compile_and_run(files: &Files, prepared: &Prepared, samples: &Samples, name: &str) -> Result<Compiled> {
    let Some(compiler) = compiler() else {
        return Ok(Compiled::default());
    };
    let folder = Trial::new()?;
    folder.write("driver.c", source::driver(&prepared.plan, name).as_bytes())?;
    for (file, text) in files {
        folder.write(file, text)?;
    }
    let sources = [
        "driver.c".to_string(),
        format!("{name}.c"),
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
    let output = run(&mut command, &[])?;
    if !output.status.success() || !output.stderr.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(problem(format!("{compiler} does not take it: {}", said.trim())));
    }
    let output = run(&mut Command::new(&program), &input(samples))?;
    if !output.status.success() {
        return Err(problem(format!("the compiled self-test failed: {}", output.status)));
    }
    let found: Vec<[u8; 4]> = output.stdout.as_chunks().0.to_vec();
    let expected = prepared.logits.bytes();
    if found.len() != expected.len() {
        return Err(problem(format!(
            "found {} logits, expected {}",
            found.len(),
            expected.len()
        )));
    }
    let same_bits = expected == found;
    if !same_bits && matches!(prepared.logits, Logits::Whole(..)) {
        return Err(problem(
            "the compiled program gives other whole numbers than expected".to_string(),
        ));
    }
    Ok(Compiled {
        compiler: Some(compiler),
        same_bits,
    })
}

/// A compiler that answers: the one that CC names, or a usual one.
fn compiler() -> Option<String> {
    let named = std::env::var("CC").ok();
    let usual = ["cc", "gcc", "clang"].map(String::from);
    named.into_iter().chain(usual).find(|name| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// What the driver reads.
fn input(samples: &Samples) -> Vec<u8> {
    let count = |number: usize| (number as u32).to_ne_bytes();
    let mut bytes = count(samples.sequences.len()).to_vec();
    for sequence in &samples.sequences {
        bytes.extend(count(sequence.len() / samples.features));
        bytes.extend(sequence.iter().flat_map(|value| value.to_ne_bytes()));
    }
    bytes
}

fn run(command: &mut Command, input: &[u8]) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let io = |error: io::Error| problem(format!("{program}: {error}"));
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(io)?;
    let mut stdin = child.stdin.take();
    // Written beside reading: neither side waits for a full pipe.
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.take().map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output().map_err(io)
    })
}

fn problem(problem: String) -> Error {
    Error::Data {
        dataset: "the export to C".to_string(),
        problem: format!("{problem}; nothing was written"),
    }
}
