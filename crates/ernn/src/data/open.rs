//! The door: a known name, a file or a folder becomes a data set; a file or a stream becomes sequences to predict.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::raw::{Raw, assemble};
use super::similar::{is_misspelled, similar};
use super::{
    Dataset, MissingPolicy, Preparation, Sequences, TextOptions, Vocabulary, csv, folder, known, npy, npz, text, ts,
};
use crate::{Error, Result};

/// What standard input is called.
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
    /// Where the names of recordings of a person's own tell the group, such as `*_{group}_*`.
    pub group_pattern: Option<String>,
    /// How known data sets are prepared.
    pub preparation: Preparation,
    /// How text becomes tokens.
    pub text: TextOptions,
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

/// Opens a data set by its known name or its path. A name that is both is refused: it is written `./name` for the path, and
/// `known:name` for the known set.
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
    if text::is_text(path, &options.text) {
        return text::open(name_or_path, path, &options.text);
    }
    if path.is_dir() {
        return folder::open(name_or_path, path, options);
    }
    if !path.exists() {
        return Err(nothing_of(name_or_path));
    }
    let [train, validation, test] = Format::read(path, &read_file(path)?, options)?
        .map(|part| part.map(|raw| raw.finish(options.missing)).transpose());
    assemble(name_or_path, train?.unwrap_or_default(), [validation?, test?])
}

/// Nothing has this name: what may have been meant is named.
fn nothing_of(name: &str) -> Error {
    let path = Path::new(name);
    let known = known::known().iter().map(|known| known.name);
    let mut meant: Vec<String> = similar(known::plain_name(name), known)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten()
        .flatten();
    let mut beside: Vec<String> = beside
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    beside.sort();
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    let near = beside.iter().filter(|name| is_misspelled(&own, name));
    meant.extend(near.take(3).map(|name| path.with_file_name(name).display().to_string()));
    let meant = match meant.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", super::list(&meant)),
    };
    Error::Data {
        dataset: name.to_owned(),
        problem: format!(
            "no file or folder of this name, and not one of the known data sets (`ernn data list`){meant}"
        ),
    }
}

/// Opens one file, labelled or not, as sequences in file order.
///
/// # Errors
/// As [`open`].
pub fn open_sequences(path: &Path, options: &OpenOptions) -> Result<Sequences> {
    let bytes = read_file(path)?;
    Format::read_part(path, &bytes, options)?
        .finish(options.missing)?
        .into_sequences()
}

/// Reads a file from a stream, e.g. standard input, as sequences in its order: a table, arrays or series, as its content says.
///
/// # Errors
/// As [`open`]; the place is called `standard input`.
pub fn read_sequences(mut reader: impl Read, options: &OpenOptions) -> Result<Sequences> {
    let path = Path::new(STDIN_NAME);
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|source| io_error(path, source))?;
    Format::read_part(path, &bytes, options)?
        .finish(options.missing)?
        .into_sequences()
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

/// Something whose name tells no format: a pipe, or `/dev/stdin` whatever stands behind it.
pub(super) fn is_stream(path: &Path) -> bool {
    let special = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    special || path == Path::new(STDIN_NAME) || path.starts_with("/dev") || path.starts_with("/proc/self/fd")
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
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ts" => Some(Format::Ts),
            "csv" | "tsv" => Some(Format::Csv),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            _ => None,
        }
    }

    /// What a pipe has given: its name tells nothing. What is neither an array nor begins as a `.ts` does, is a table.
    fn of_content(bytes: &[u8]) -> Format {
        match bytes.trim_ascii_start() {
            [b'@' | b'#', ..] => Format::Ts,
            _ if bytes.starts_with(b"\x93NUMPY") => Format::Npy,
            _ if bytes.starts_with(b"PK\x03\x04") => Format::Npz,
            _ => Format::Csv,
        }
    }

    /// Training (or the only), validation and test part of a file.
    fn read(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
        let by_content = || is_stream(path).then(|| Format::of_content(bytes));
        let format = Format::of(path).or_else(by_content).ok_or_else(|| Error::Data {
            dataset: path.display().to_string(),
            problem: "not a known kind of file: expected .ts, .csv, .tsv, .npy or .npz".to_owned(),
        })?;
        match format {
            Format::Ts => ts::read(bytes, path).map(|raw| [Some(raw), None, None]),
            Format::Csv => csv::read(bytes, path).map(|raw| [Some(raw), None, None]),
            Format::Npy => npy::read(bytes, path, options).map(|raw| [Some(raw), None, None]),
            Format::Npz => npz::read(bytes, path, options),
        }
    }

    /// A file that has to be one part.
    pub fn read_part(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<Raw> {
        match Format::read(path, bytes, options)? {
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
