//! Flags that cannot apply to the data or the network at hand are refused: nobody is to believe that they did something.

use ernn::data::{Dataset, OpenOptions, SourceKind, kind};
use ernn::train::{RunConfig, Unused};

use crate::commands::setting_flags::SettingFlags;
use crate::failure::{Failure, Result};
use crate::reading::ReadingFlags;

/// A flag: its name, whether it was given, whether it applies, and to what it does.
pub type Flag = (&'static str, bool, bool, &'static str);

/// Refuses the first flag that was given and does not apply to `what`.
pub fn refuse(what: &str, flags: &[Flag]) -> Result<()> {
    match flags.iter().find(|(_, given, applies, _)| *given && !applies) {
        None => Ok(()),
        Some((flag, .., to)) => Err(Failure::Usage(format!(
            "{flag} does not go with {what}; it is for {to}"
        ))),
    }
}

impl ReadingFlags {
    /// Refuses flags that change nothing about how this source is read.
    pub fn refuse_unused(&self, source: &str, options: &OpenOptions) -> Result<()> {
        let kind = kind(source, options);
        let known = |names: &[&str]| match kind {
            SourceKind::Known(name) => names.iter().any(|part| name.contains(part)),
            _ => false,
        };
        let other = kind == SourceKind::Other;
        let is = |kinds: &[SourceKind]| other || kinds.contains(&kind);
        let given = &self.preparation;
        let numbers = [SourceKind::Table, SourceKind::Ts, SourceKind::Arrays];
        let synthetic = known(&["adding", "copy-memory"]);
        let drawn = synthetic || known(&["permuted", "noisy", "google-12"]);
        let flags = [
            (
                "--missing",
                self.missing.is_some(),
                is(&numbers),
                "numbers of your own, which may be missing",
            ),
            (
                "--features",
                self.features.is_some(),
                is(&[SourceKind::Arrays]),
                "arrays of two dimensions (.npy, .npz)",
            ),
            (
                "--group-pattern",
                self.group_pattern.is_some(),
                is(&[SourceKind::Recordings]),
                "recordings of your own, in a folder a class",
            ),
            (
                "--data-seed",
                given.data_seed.is_some(),
                drawn,
                "known sets that are drawn: adding, copy-memory, google-12, and those with permuted or noisy in their names",
            ),
            (
                "--noise",
                given.noise.is_some(),
                known(&["noisy"]),
                "known sets with noisy in their names",
            ),
            ("--split", given.split.is_some(), known(&["dsa-19"]), "dsa-19"),
            ("--length", given.length.is_some(), synthetic, "adding and copy-memory"),
            (
                "--sequences",
                given.sequences.is_some(),
                synthetic,
                "adding and copy-memory",
            ),
        ];
        let name = described(source, kind);
        refuse(&name, &flags)?;
        refuse(&name, &self.text.applying(kind))?;
        refuse(&name, &self.table.applying(kind))
    }
}

/// `train.csv, a table`.
fn described(source: &str, kind: SourceKind) -> String {
    let what = match kind {
        SourceKind::Known(_) => "a known data set",
        SourceKind::RunningText => "a running text",
        SourceKind::Texts => "texts with classes",
        SourceKind::Table => "a table of numbers",
        SourceKind::Ts => "a file of series",
        SourceKind::Arrays => "arrays of numbers",
        SourceKind::Recordings => "recordings",
        SourceKind::Other => return source.to_string(),
    };
    format!("{source}, {what}")
}

/// Refuses flags of network and training that change nothing for this data.
pub fn refuse_for_data(flags: &SettingFlags, config: &RunConfig, dataset: &Dataset) -> Result<()> {
    refuse_setting(config.unused_for(flags.given(), dataset), &dataset.name)
}

/// Refuses flags of one way to find the state of an ERNN that is found in another.
pub fn refuse_for_solver(flags: &SettingFlags, config: &RunConfig) -> Result<()> {
    refuse_setting(config.unused_for_solver(flags.given()), "this network")
}

/// `here` is what the setting does not go with, where that is not said.
fn refuse_setting(unused: Option<Unused>, here: &str) -> Result<()> {
    let Some(Unused {
        setting,
        found,
        expected,
    }) = unused
    else {
        return Ok(());
    };
    let found = if found.is_empty() { here } else { found };
    Err(Failure::Usage(format!(
        "--{} does not go with {found}; it is for {expected}",
        setting.flag
    )))
}
