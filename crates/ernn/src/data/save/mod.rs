//! A data set as files that are read back to the same sequences, to the bit.
//!
//! ```text
//! csv   series,step,CHANNEL,...,label,group    one row a step; a file for each part
//! npz   X [sequences, steps, channels], y, groups, lengths, names, channels; X_train, X_val, X_test, ... of several parts
//! ```
//!
//! What is written is read again before anybody gets it, and compared with what there was: values and numbers to predict by their bits,
//! labels and groups by their names. What does not come back is refused.

mod compare;
mod npy;
mod npz;
mod table;

use std::collections::HashSet;

use super::{Dataset, LabelKind, OpenOptions, Part, TableOptions, Task, Values, View, labels};
use crate::names::counted;
use crate::{Error, Result};

pub(crate) use npy::encode;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A table with a row for each step.
    Csv,
    /// NumPy's arrays in an archive.
    Npz,
}

/// What a data set has become.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The files with their names: one, or of a table one for each part.
    pub files: Vec<(String, Vec<u8>)>,
    /// The flags with which it is read to the same sequences.
    pub flags: Vec<String>,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// Writes a data set. The files are held in memory.
///
/// # Errors
/// If the sequences are tokens, have a class for each step, several labels or numbers, or would not come back to the bit.
pub fn save(dataset: &Dataset, kind: FileKind) -> Result<Saved> {
    must_have_values(dataset)?;
    let notes = notes(dataset);
    match kind {
        FileKind::Csv => table::save(dataset),
        FileKind::Npz => npz::save(dataset),
    }
    .map(|(files, flags)| Saved { files, flags, notes })
}

fn must_have_values(dataset: &Dataset) -> Result<()> {
    let found = match (&dataset.train.values, dataset.task) {
        (Values::Tokens(_), _) => "a text, whose own file says the same",
        (_, Task::StepClassification) => "a class for each step",
        (_, Task::StepRegression) => "numbers for each step",
        (_, Task::MultiLabel) => "labels of which several can hold",
        (_, Task::Regression) if dataset.train.targets() > 1 => "several numbers to predict",
        _ => return Ok(()),
    };
    let problem = format!("found {found}, expected sequences of numbers with at most one class or number each");
    Err(Error::data(&dataset.name, problem))
}

fn notes(dataset: &Dataset) -> Vec<String> {
    let filled: usize = dataset.parts().map(|(_, part)| part.filled.len()).sum();
    let overlapping = dataset
        .parts()
        .flat_map(|(_, part)| &part.overlapping)
        .filter(|own| **own)
        .count();
    let mut notes = Vec::new();
    if filled > 0 {
        notes.push(format!(
            "{} filled as --missing says, and written as any other value",
            counted(filled, "missing value")
        ));
    }
    if overlapping > 0 {
        notes.push(format!(
            "{} overlap the one before: read from the files, they may judge a model, which here they do not",
            counted(overlapping, "window")
        ));
    }
    notes
}

/// Files with their names.
type Files = Vec<(String, Vec<u8>)>;

/// The values of a sequence as they are read, `[steps, channels]`.
fn values(view: &View, index: usize) -> Vec<f32> {
    let mut out = vec![0.0; view.length(index) * view.features()];
    view.read(index, &mut out);
    out
}

/// What each sequence is called; their numbers where names are not there, not of one line, or not all different.
fn unique_names(part: &Part) -> Vec<String> {
    let names: Vec<String> = (0..part.len()).map(|index| part.name(index)).collect();
    let plain = |name: &String| !name.is_empty() && name.trim() == name && !name.contains(char::is_control);
    let distinct: HashSet<&String> = names.iter().collect();
    match distinct.len() == names.len() && names.iter().all(plain) {
        true => names,
        false => (1..=part.len()).map(|number| number.to_string()).collect(),
    }
}

/// The options with which files may be read, those that say least first, and the same as flags.
fn ways(target: Option<&str>, channels: &[String]) -> Vec<(OpenOptions, Vec<String>)> {
    let mut ways = Vec::new();
    for with_channels in [false, true] {
        for labels in [LabelKind::Ask, LabelKind::Classes] {
            let mut options = OpenOptions {
                table: TableOptions {
                    target: target.map(String::from).into_iter().collect(),
                    labels,
                    ..TableOptions::default()
                },
                ..OpenOptions::default()
            };
            let mut flags: Vec<String> = target.map(|target| format!("--target {target}")).into_iter().collect();
            if labels == LabelKind::Classes {
                flags.push("--labels classes".to_string());
            }
            if with_channels {
                options.table.channels = channels.to_vec();
                flags.push(format!("--channels {}", channels.join(",")));
            }
            ways.push((options, flags));
        }
    }
    ways
}

/// The flags of the first way in which the files say what the data set says.
fn first_same(
    dataset: &Dataset,
    ways: Vec<(OpenOptions, Vec<String>)>,
    read: impl Fn(&OpenOptions) -> Result<Dataset>,
) -> Result<Vec<String>> {
    let mut problem = None;
    for (options, flags) in ways {
        let again = read(&options).and_then(|again| {
            labels::check_classes(&again, options.table.labels)?;
            labels::check_target(&again, &options.table)?;
            Ok(again)
        });
        match again.map(|again| compare::difference(dataset, &again)) {
            Ok(None) => return Ok(flags),
            Ok(Some(difference)) => problem = Some(difference),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    let problem = problem.unwrap_or_default();
    Err(Error::data(
        &dataset.name,
        format!("found what such a file cannot say, expected what is read from it again to the bit: {problem}"),
    ))
}

#[cfg(test)]
mod tests;
