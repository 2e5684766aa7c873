//! Programs of others that try an export: compilers, and what runs that which they made.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

use super::logits::Logits;
use super::samples::Samples;
use crate::{Error, Result};

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tried {
    /// The program that tried it; `None`: there was none.
    pub program: Option<String>,
    /// Whether each logit had the bits of `ernn-core`.
    pub same_bits: bool,
}

/// The first of these that says which version it is.
pub(super) fn first_that_answers<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Option<String> {
    names.into_iter().map(Into::into).find(|name| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// What programs read that run samples: their number, then for each the number of its steps and their values.
pub(super) fn input(samples: &Samples) -> Vec<u8> {
    let count = |number: usize| (number as u32).to_ne_bytes();
    let mut bytes = count(samples.sequences.len()).to_vec();
    for sequence in &samples.sequences {
        bytes.extend(count(sequence.len() / samples.features));
        bytes.extend(sequence.iter().flat_map(|value| value.to_ne_bytes()));
    }
    bytes
}

/// Tries for an export, whose name stands in their errors.
pub(super) struct Outside(pub &'static str);

impl Outside {
    /// Runs a program with something to read.
    ///
    /// # Errors
    /// If it does not start or stop.
    pub fn run(&self, command: &mut Command, input: &[u8]) -> Result<Output> {
        let program = command.get_program().to_string_lossy().into_owned();
        let io = |error: io::Error| self.problem(format!("{program}: {error}"));
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

    /// Whether the logits that a program has written have the bits of `ernn-core`.
    ///
    /// # Errors
    /// If there are more or fewer of them, or whole numbers differ.
    pub fn compare(&self, written: &[u8], logits: &Logits) -> Result<bool> {
        let found: &[[u8; 4]] = written.as_chunks().0;
        let expected = logits.bytes();
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return Err(self.problem(format!("found {found} logits, expected {expected}")));
        }
        let same_bits = expected == found;
        if !same_bits && matches!(logits, Logits::Whole(..)) {
            let what = "the compiled program gives other whole numbers than expected";
            return Err(self.problem(what.to_string()));
        }
        Ok(same_bits)
    }

    /// An error that says that nothing was written.
    pub fn problem(&self, problem: String) -> Error {
        Error::data(self.0, format!("{problem}; nothing was written"))
    }
}
