//! A folder with training, validation and test files, told apart by the words in their names.
//!
//! ```text
//! train.csv  test.csv  val.csv  |  Gun_TRAIN.ts  Gun_TEST.ts  |  X_train.npy  y_train.npy  groups_train.npy  X_test.npy  y_test.npy
//! ```

use std::path::{Path, PathBuf};

use super::open::{Format, read_file};
use super::raw::{Raw, assemble};
use super::{Dataset, OpenOptions, audio, known, npy};
use crate::{Error, Result};

/// The parts of a data set.
pub(super) const PARTS: [&str; 3] = ["train", "validation", "test"];

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
        return Err(Error::data(name, hint));
    }
    if files.is_empty() && audio::class_folders::is_one(folder) {
        return audio::class_folders::open(name, folder, options);
    }
    let [train, validation, test] = PARTS.map(|part| read_part(name, part, &files, options));
    let train = train?.ok_or_else(|| {
        let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
        let found = if names.is_empty() { "no data file".to_owned() } else { super::labels::list(&names) };
        Error::data(
            name,
            format!("no training file: found {found}; expected one of .ts, .csv, .tsv, .jsonl, .npy, .npz or .parquet with the word train in its name, or .wav files in a folder a class (tables whose rows are steps of recordings are read with --time or --window)"),
        )
    })?;
    assemble(name, train, [validation?, test?])
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files of a known format, in order of their names.
fn data_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let error = Error::io(folder, "read");
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

/// Whether a file is an array whose name has one of these words.
fn is_array_of(path: &Path, wanted: &[&str]) -> bool {
    Format::of(path) == Some(Format::Npy) && words(path).iter().any(|word| wanted.contains(&word.as_str()))
}

fn read_part(name: &str, part: &str, files: &[PathBuf], options: &OpenOptions) -> Result<Option<Raw>> {
    let index = PARTS.iter().position(|&other| other == part);
    let of_part = files
        .iter()
        .filter(|file| part_of(file).is_some() && part_of(file) == index);
    let (groups, rest): (Vec<&PathBuf>, Vec<&PathBuf>) = of_part.partition(|file| is_array_of(file, &["groups"]));
    let labels = |file: &&PathBuf| is_array_of(file, &["y", "label", "labels"]);
    let (labels, values): (Vec<&PathBuf>, Vec<&PathBuf>) = rest.into_iter().partition(labels);
    let is_array = |file: &Path| Format::of(file) == Some(Format::Npy);
    let raw = match (values.as_slice(), labels.as_slice(), groups.as_slice()) {
        ([], [], []) => return Ok(None),
        ([values], [], []) => Format::read_part(values, options)?,
        ([values], [] | [_], [] | [_]) if is_array(values) => {
            read_arrays(values, labels.first().copied(), groups.first().copied(), options)?
        }
        _ => {
            let all = values.iter().chain(&labels).chain(&groups);
            let names: Vec<String> = all.map(|file| file_name(file)).collect();
            let expected = "one file, or one .npy of values, one of labels and, where there are groups, one of groups";
            let problem = format!(
                "the {part} part is not clear: found {}; expected {expected}",
                names.join(", ")
            );
            return Err(Error::data(name, problem));
        }
    };
    raw.finish(options.missing).map(Some)
}

fn parse<'a>(file: Option<&'a PathBuf>, bytes: Option<&'a [u8]>) -> Result<Option<npy::Array<'a>>> {
    let both = file.zip(bytes);
    both.map(|(file, bytes)| npy::Array::parse(bytes, file, "")).transpose()
}

fn read_arrays(
    values: &Path,
    labels: Option<&PathBuf>,
    groups: Option<&PathBuf>,
    options: &OpenOptions,
) -> Result<Raw> {
    let bytes = |file: Option<&PathBuf>| file.map(|file| read_file(file)).transpose();
    let (value_bytes, [label_bytes, group_bytes]) = (read_file(values)?, [bytes(labels)?, bytes(groups)?]);
    let label_array = parse(labels, label_bytes.as_deref())?;
    let group_array = parse(groups, group_bytes.as_deref())?;
    let beside = npy::Beside {
        labels: label_array.as_ref(),
        groups: group_array.as_ref(),
        ..npy::Beside::default()
    };
    npy::sequences(&npy::Array::parse(&value_bytes, values, "")?, beside, options)
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
