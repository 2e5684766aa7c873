//! A folder with training, validation and test files, told apart by the words in their names.
//!
//! ```text
//! train.csv  test.csv  val.csv  |  Gun_TRAIN.ts  Gun_TEST.ts  |  X_train.npy  y_train.npy  X_test.npy  y_test.npy
//! ```

use std::path::{Path, PathBuf};

use super::open::{Format, read_file};
use super::raw::{Raw, assemble};
use super::{Dataset, OpenOptions, audio, known, npy};
use crate::{Error, Result};

const PARTS: [&str; 3] = ["train", "validation", "test"];

/// Opens a folder.
pub(super) fn open(name: &str, folder: &Path, options: &OpenOptions) -> Result<Dataset> {
    let files = data_files(folder)?;
    let known = if files.is_empty() {
        known::names_in(folder)
    } else {
        Vec::new()
    };
    if !known.is_empty() {
        let hint = format!(
            "a folder of known data sets: open {} with the folder as --data-dir",
            known.join(" or ")
        );
        return Err(problem(name, &hint));
    }
    if files.is_empty() && audio::class_folders::is_one(folder) {
        return audio::class_folders::open(name, folder, options);
    }
    let [train, validation, test] = PARTS.map(|part| read_part(name, part, &files, options));
    let train = train?.ok_or_else(|| {
        let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
        let found = if names.is_empty() { "no data file".to_owned() } else { super::labels::list(&names) };
        problem(name, &format!("no training file: found {found}; expected one of .ts, .csv, .tsv, .npy or .npz with the word train in its name, or .wav files in a folder a class"))
    })?;
    assemble(name, train, [validation?, test?])
}

fn problem(name: &str, problem: &str) -> Error {
    Error::Data {
        dataset: name.to_owned(),
        problem: problem.to_owned(),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files of a known format, in order of their names.
fn data_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let error = |source| Error::Io {
        path: folder.to_owned(),
        action: "read",
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_file() && Format::of(&path).is_some() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The words of a file's name, in lower case.
fn words(path: &Path) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    stem.split(|letter: char| !letter.is_alphanumeric())
        .map(str::to_owned)
        .collect()
}

/// The part that a file's name speaks of, an index into [`PARTS`].
pub(super) fn part_of(path: &Path) -> Option<usize> {
    let found: Vec<usize> = words(path)
        .iter()
        .filter_map(|word| match word.as_str() {
            "train" | "training" => Some(0),
            "val" | "valid" | "validation" | "dev" => Some(1),
            "test" | "testing" => Some(2),
            _ => None,
        })
        .collect();
    if let [part] = found[..] { Some(part) } else { None }
}

fn is_labels(path: &Path) -> bool {
    let is_array = Format::of(path) == Some(Format::Npy);
    is_array
        && words(path)
            .iter()
            .any(|word| matches!(word.as_str(), "y" | "label" | "labels"))
}

fn read_part(name: &str, part: &str, files: &[PathBuf], options: &OpenOptions) -> Result<Option<Raw>> {
    let index = PARTS.iter().position(|&other| other == part);
    let of_part = files
        .iter()
        .filter(|file| part_of(file).is_some() && part_of(file) == index);
    let (labels, values): (Vec<&PathBuf>, Vec<&PathBuf>) = of_part.partition(|file| is_labels(file));
    let raw = match (values.as_slice(), labels.as_slice()) {
        ([], []) => return Ok(None),
        ([values], []) => Format::read_part(values, options)?,
        ([values], [labels]) if Format::of(values) == Some(Format::Npy) => read_pair(values, labels, options)?,
        _ => {
            let names: Vec<String> = values.iter().chain(&labels).map(|file| file_name(file)).collect();
            let expected = "one file, or one .npy of values and one of labels";
            return Err(problem(
                name,
                &format!(
                    "the {part} part is not clear: found {}; expected {expected}",
                    names.join(", ")
                ),
            ));
        }
    };
    raw.finish(options.missing).map(Some)
}

fn read_pair(values: &Path, labels: &Path, options: &OpenOptions) -> Result<Raw> {
    let (value_bytes, label_bytes) = (read_file(values)?, read_file(labels)?);
    let array = npy::Array::parse(&value_bytes, values, "")?;
    let label_array = npy::Array::parse(&label_bytes, labels, "")?;
    npy::sequences(&array, Some(&label_array), options)
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
