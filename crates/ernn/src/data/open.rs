//! The door: a known name, a file or a folder becomes a data set; a file or a stream becomes sequences to predict.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::raw::{Raw, assemble};
use super::{
    Dataset, MissingPolicy, Preparation, Sequences, TableOptions, TextOptions, Vocabulary, csv, folder, known, labels,
    npy, npz, text, ts,
};
use crate::{Error, Result};

/// The path that means standard input, and what it is called.
const STDIN: &str = "-";
const STDIN_NAME: &str = "standard input";

/// How to open data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenOptions {
    /// Where known data sets that are not built in lie; without it, the environment variable `ERNN_DATA_DIR`.
    pub data_dir: Option<PathBuf>,
    /// What to do about missing values.
    pub missing: MissingPolicy,
    /// Features a step, needed for EdgeML's two-dimensional `.npy`.
    pub features: Option<usize>,
    /// Where features of recordings are kept; without it `ernn` in the user's cache folder.
    pub cache: Option<PathBuf>,
    /// How known data sets are prepared.
    pub preparation: Preparation,
    /// How text becomes tokens, and how the letters of a table are written.
    pub text: TextOptions,
    /// What the columns of a table of numbers are.
    pub table: TableOptions,
}

impl OpenOptions {
    /// The data folder, from the options or from the environment.
    pub fn data_folder(&self) -> Option<PathBuf> {
        let from_environment = || {
            std::env::var_os("ERNN_DATA_DIR")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        self.data_dir.clone().or_else(from_environment)
    }
}

/// Opens a data set by its known name or its path; a path that equals a known name is written `./name`.
///
/// A file without parts of its own becomes the training part.
///
/// # Errors
/// If nothing is found, or what is found is not what its format says; the text names the place.
pub fn open(name_or_path: &str, options: &OpenOptions) -> Result<Dataset> {
    if let Some(dataset) = known::open(name_or_path, options) {
        return dataset;
    }
    let path = Path::new(name_or_path);
    if options.table.layout.is_default() && text::is_text(path, &options.text) {
        return text::open(name_or_path, path, &options.text);
    }
    let dataset = open_numbers(name_or_path, path, options)?;
    labels::check_classes(&dataset, options.table.labels)?;
    Ok(dataset)
}

fn open_numbers(name_or_path: &str, path: &Path, options: &OpenOptions) -> Result<Dataset> {
    if name_or_path == STDIN {
        let raw = csv::read_stream(std::io::stdin().lock(), Path::new(STDIN_NAME), options)?;
        return assemble(STDIN_NAME, raw.finish(options.missing)?, [None, None]);
    }
    if path.is_dir() {
        return folder::open(name_or_path, path, options);
    }
    if !path.exists() {
        return Err(Error::Data {
            dataset: name_or_path.to_owned(),
            problem: "no file or folder of this name, and not one of the known data sets (`ernn data list`)".to_owned(),
        });
    }
    let [train, validation, test] =
        Format::read(path, options)?.map(|part| part.map(|raw| raw.finish(options.missing)).transpose());
    assemble(name_or_path, train?.unwrap_or_default(), [validation?, test?])
}

/// Opens one file, labelled or not, as sequences in file order.
///
/// # Errors
/// As [`open`].
pub fn open_sequences(path: &Path, options: &OpenOptions) -> Result<Sequences> {
    Format::read_part(path, options)?
        .finish(options.missing)?
        .into_sequences()
}

/// Reads a CSV table from a stream, e.g. standard input, as sequences in the order of the table.
///
/// # Errors
/// As [`open`]; the place is called `standard input`.
pub fn read_sequences(reader: impl Read, options: &OpenOptions) -> Result<Sequences> {
    let raw = csv::read_stream(reader, Path::new(STDIN_NAME), options)?;
    raw.finish(options.missing)?.into_sequences()
}

/// Opens texts to classify, labelled or not, as tokens of a vocabulary: a table with a text column (without a name for it in the
/// options, `text`), or a `.txt` with a text a line.
///
/// # Errors
/// As [`open`].
pub fn open_texts(path: &Path, options: &OpenOptions, vocabulary: &Vocabulary) -> Result<Sequences> {
    text::unlabelled::open(path, &options.text, vocabulary)
}

/// Reads texts to classify from a stream, e.g. standard input, a text a line.
///
/// # Errors
/// As [`open`]; the place is called `standard input`.
pub fn read_texts(reader: impl Read, options: &OpenOptions, vocabulary: &Vocabulary) -> Result<Sequences> {
    text::unlabelled::stream(reader, Path::new(STDIN_NAME), &options.text, vocabulary)
}

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        action: "read",
        source,
    }
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| io_error(path, source))
}

/// A table that comes through a pipe, `/dev/stdin` included: its name says nothing about it.
fn is_stream(path: &Path) -> bool {
    let special = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    special || path.starts_with("/dev") || path.starts_with("/proc/self/fd")
}

/// A file format, told from the end of the file's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Ts,
    Csv,
    Npy,
    Npz,
}

impl Format {
    pub fn of(path: &Path) -> Option<Format> {
        if is_stream(path) {
            return Some(Format::Csv);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ts" => Some(Format::Ts),
            "csv" | "tsv" => Some(Format::Csv),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            _ => None,
        }
    }

    /// Training (or the only), validation and test part of a file.
    fn read(path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
        // Whoever says that a file has no header says that it is a table.
        let said = (!options.table.layout.is_default()).then_some(Format::Csv);
        let format = Format::of(path).or(said).ok_or_else(|| Error::Data {
            dataset: path.display().to_string(),
            problem: "not a known kind of file: expected .ts, .csv, .tsv, .npy or .npz".to_owned(),
        })?;
        let one = |raw| [Some(raw), None, None];
        match format {
            Format::Ts => ts::read(&read_file(path)?, path).map(one),
            Format::Csv => csv::read(path, options).map(one),
            Format::Npy => npy::read(&read_file(path)?, path, options).map(one),
            Format::Npz => npz::read(&read_file(path)?, path, options),
        }
    }

    /// A file that has to be one part.
    pub fn read_part(path: &Path, options: &OpenOptions) -> Result<Raw> {
        match Format::read(path, options)? {
            [Some(raw), None, None] => Ok(raw),
            _ => Err(super::raw::format_error(
                path,
                "",
                "several parts in one file",
                "the arrays X and y of one part",
            )),
        }
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
pub(super) mod tests;
