//! What makes a target, and the one way in which a model becomes any of them.
//!
//! ```text
//! model -> Prepared, compared with the library -> Form::files -> Form::run, in a folder that goes away -> moved into place, whole
//! ```
//!
//! A target is a file of this room with a [`Form`], and a variant of [`Target`].

use std::path::Path;
use std::str::FromStr;

use super::folder::write_folder;
use super::prepared::{Memory, Prepared};
use super::trial::Trial;
use super::{Options, Parity, Samples, Target};
use crate::checkpoint::SavedModel;
use crate::{Error, Result};

impl Target {
    /// `c`, `rust`, ...
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// What it is, in a line.
    pub fn help(self) -> &'static str {
        self.form().help
    }

    /// Writes a model into a new folder.
    ///
    /// # Errors
    /// If no stream can go through the model, it computes something else than the library, a program that the target needs is not there,
    /// or the program that tries the files is there and fails. Nothing is written then.
    pub fn write(self, path: &Path, saved: &SavedModel, samples: &Samples, options: &Options) -> Result<Report> {
        let form = self.form();
        let prepared = Prepared::new(saved, samples, options)?;
        let files = (form.files)(&prepared)?;
        let program = (form.program)();
        let same_bits = match &program {
            Some(program) => (form.run)(program, &Trial::of(form.title, &files)?, &prepared)?,
            None => None,
        };
        write_folder(path, &files)?;
        let memory = prepared.memory();
        Ok(Report {
            trial: form.trial(program.as_deref(), same_bits),
            size: (form.size)(memory, &files),
            parity: prepared.parity,
            memory,
            program,
            same_bits,
            image: prepared.image,
        })
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|target| target.name() == text);
        found.ok_or_else(|| Error::setting("target", text, Self::ALL.map(Target::name).join(", ")))
    }
}

/// What an export came to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Of `f32`: the device's arithmetic beside the library's.
    pub parity: Option<Parity>,
    /// What it takes.
    pub memory: Memory,
    /// The program of this machine that has tried it, and passed; `None`: there was none.
    pub program: Option<String>,
    /// Whether that program gave the bits of `ernn-core`, as it must in whole numbers; `None`: it gave no logits.
    pub same_bits: Option<bool>,
    /// What came of the trial, for people.
    pub trial: String,
    /// The bytes of it that count, for people.
    pub size: String,
    /// The device image of the same numbers.
    #[serde(skip)]
    pub image: Vec<u8>,
}

/// Files with their names in the folder of an export.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// What makes a target.
pub(super) struct Form {
    /// Its name at the command.
    pub name: &'static str,
    /// What `--help` says about it.
    pub help: &'static str,
    /// Names it in errors.
    pub title: &'static str,
    /// All files of it.
    pub files: fn(&Prepared) -> Result<Files>,
    /// Finds the program of this machine that tries it.
    pub program: fn() -> Option<String>,
    /// Tries the files with that program; says whether its logits have the bits of `ernn-core`, if it gives any.
    pub run: fn(&str, &Trial, &Prepared) -> Result<Option<bool>>,
    /// Said after the program's name when that went well.
    pub passed: &'static str,
    /// Said where there is no such program.
    pub untried: &'static str,
    /// The bytes of it that count, for people.
    pub size: fn(Memory, &Files) -> String,
}

impl Form {
    fn trial(&self, program: Option<&str>, same_bits: Option<bool>) -> String {
        let Some(program) = program else {
            return format!("note: {}", self.untried);
        };
        let bits = match same_bits {
            Some(true) => ", all logits are the same bits as in Rust",
            Some(false) => ", some logits differ from Rust's in the last bits",
            None => "",
        };
        format!("{program}: {}{bits}", self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_of_one_target() {
        for target in Target::ALL {
            assert_eq!(target.name().parse::<Target>().unwrap(), target);
        }
        assert!("c89".parse::<Target>().is_err());
    }
}
