//! A folder in which a program of this machine tries an export: a compiler, or what runs that which one has made.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::logits::Logits;
use super::samples::Samples;
use super::target::Files;
use crate::{Error, Result};

/// What a program says of its version; `None`: it is not there.
pub(super) fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The first of these that says which version it is.
pub(super) fn first_that_answers<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Option<String> {
    names.into_iter().map(Into::into).find(|name| version(name).is_some())
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

/// A folder with the files of an export, which goes away.
pub(super) struct Trial {
    pub path: PathBuf,
    /// Names the export in errors.
    export: &'static str,
}

impl Trial {
    /// Writes files, their names relative to the folder.
    pub fn of(export: &'static str, files: &Files) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ernn-export-{}-{count}", std::process::id()));
        fs::create_dir(&path).map_err(Error::io(&path, "write"))?;
        let trial = Trial { path, export };
        for (name, bytes) in files {
            trial.write(name, bytes)?;
        }
        Ok(trial)
    }

    /// Writes one more file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path);
        let outcome = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
        outcome.map_err(Error::io(&path, "write"))
    }

    /// Reads a file that a program has made there.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        fs::read(&path).map_err(Error::io(&path, "read"))
    }

    /// Runs a program in the folder, with something to read.
    ///
    /// # Errors
    /// If it does not start or stop.
    pub fn run(&self, command: &mut Command, input: &[u8]) -> Result<Output> {
        let program = command.get_program().to_string_lossy().into_owned();
        let io = |error: io::Error| self.problem(format!("{program}: {error}"));
        let piped = command
            .current_dir(&self.path)
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
        Error::data(self.export, format!("{problem}; nothing was written"))
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
