//! What the readers of recordings give: rows in the order of time, each with its label, not yet cut.

use std::path::{Path, PathBuf};

use super::super::UNLABELLED;
use super::super::channels::ChannelMatch;
use super::super::labels::{self, Names};
use super::clock::Form;
use crate::{Error, Result};

/// Rows that follow each other in time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// What the file calls it; empty if it does not.
    pub name: String,
    /// The person, session or device, an index into [`Log::groups`]; none if nobody says.
    pub group: Option<u32>,
    /// When each row was measured, as it was read; empty if nobody says.
    pub times: Vec<f64>,
    /// Number of rows.
    pub rows: usize,
    /// The label of each row, an index into [`Log::labels`] or [`UNLABELLED`]; empty if rows have none.
    pub labels: Vec<u32>,
    /// The numbers of each row that are to be learned, `[rows, targets]`, NaN for a missing one; empty if none are.
    pub numbers: Vec<f32>,
    /// `[rows, features]`
    pub values: Vec<f32>,
    /// The file, an index into [`Log::files`].
    pub file: usize,
}

/// The recordings of one part: of one file or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Where they were read.
    pub files: Vec<PathBuf>,
    /// One a channel.
    pub feature_names: Vec<String>,
    /// The label texts.
    pub labels: Names,
    /// The texts of the groups.
    pub groups: Names,
    /// The recordings in the order of the files.
    pub recordings: Vec<Recording>,
    /// The time column, as the first file calls it.
    pub time_column: Option<String>,
    /// Rows a second, where the files are so by nature, as sound is.
    pub rate: Option<f64>,
    /// How times are written.
    pub form: Option<Form>,
    /// Labels that there are, whether a row has them or not.
    pub declared: Vec<String>,
    /// Labels are sets, of which several can hold.
    pub of_sets: bool,
    /// The numbers that are to be learned, and not classes; empty if none are.
    pub targets: Vec<String>,
    /// The channels whose next values are to be learned, in the place of numbers of rows.
    pub forecast: Vec<usize>,
    /// Where the first missing value stands.
    pub first_missing: Option<String>,
    /// How the file, or of several the first that says something, was understood, a sentence each.
    pub notes: Vec<String>,
}

impl Log {
    /// The file, or of several the first.
    pub fn path(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The group of a recording: its own, or where nobody says, one that no other has.
    pub fn group_of(&self, number: usize) -> u32 {
        let own = self.recordings[number].group;
        own.unwrap_or_else(|| (self.groups.names.len() + number) as u32)
    }

    /// Where some recordings have labels, those of the others are rows without one.
    pub fn label_all(&mut self) {
        if self.recordings.iter().any(|recording| !recording.labels.is_empty()) {
            for recording in self
                .recordings
                .iter_mut()
                .filter(|recording| recording.labels.is_empty())
            {
                recording.labels = vec![UNLABELLED; recording.rows];
            }
        }
    }

    /// Adds the recordings of another file.
    ///
    /// # Errors
    /// If its channels or its times are others.
    pub fn append(&mut self, mut other: Log) -> Result<()> {
        if self.files.is_empty() {
            *self = other;
            return Ok(());
        }
        let (path, first) = (other.path().to_owned(), self.path().to_owned());
        let differs = |found: String, expected: String| {
            Err(Error::format(
                &path,
                "",
                found,
                format!("{expected} as in {}", first.display()),
            ))
        };
        match ChannelMatch::of(&self.feature_names, &other.feature_names) {
            ChannelMatch::Reordered(order) => other.recordings.iter_mut().for_each(|recording| {
                let steps = recording.values.chunks_exact(order.len());
                recording.values = steps.flat_map(|step| order.iter().map(|&from| step[from])).collect();
            }),
            _ if self.feature_names == other.feature_names => {}
            ChannelMatch::Same => {}
            _ => {
                let [found, expected] = [&other.feature_names, &self.feature_names].map(|names| labels::list(names));
                return differs(format!("the channels {found}"), expected);
            }
        }
        if self.rate != other.rate {
            return differs("recordings of another kind".to_owned(), "tables, or sound,".to_owned());
        }
        if self.form.is_some() && other.form.is_some() && self.form != other.form {
            return differs("times written in another way".to_owned(), "times".to_owned());
        }
        if self.declared.is_empty() {
            self.declared = std::mem::take(&mut other.declared);
        }
        let files = self.files.len();
        for mut recording in other.recordings {
            let renumber = |names: &mut Names, number: u32, texts: &Names| names.number(&texts.names[number as usize]);
            for label in recording.labels.iter_mut().filter(|label| **label != UNLABELLED) {
                *label = renumber(&mut self.labels, *label, &other.labels);
            }
            recording.group = recording
                .group
                .map(|group| renumber(&mut self.groups, group, &other.groups));
            recording.file += files;
            self.recordings.push(recording);
        }
        self.files.append(&mut other.files);
        self.form = self.form.or(other.form);
        self.first_missing = self.first_missing.take().or(other.first_missing);
        if self.notes.is_empty() {
            self.notes = other.notes;
        }
        Ok(())
    }
}
