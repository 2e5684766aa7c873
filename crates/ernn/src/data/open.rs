//! The door: a known name, a file or a folder becomes a data set; a file or a stream becomes sequences to predict.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::raw::{Raw, assemble};
use super::recordings::Log;
use super::similar::{is_misspelled, similar};
use super::text::checked::reading_error;
use super::{
    Aim, Dataset, LabelAt, MissingPolicy, Preparation, RecordingOptions, Sequences, TableOptions, TextOptions,
    Vocabulary, audio, csv, folder, json_lines, known, label_sets, labels, log_folder, npy, npz, parquet, text, ts,
    unpacked,
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
    /// Where the names of recordings of a person's own tell the group, such as `*_{group}_*`.
    pub group_pattern: Option<String>,
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
    label_sets::check(options)?;
    if options.table.layout.is_default() && text::is_text(path, &options.text) {
        label_sets::refuse(options, "texts")?;
        return text::open(name_or_path, path, &options.text);
    }
    let mut dataset = open_numbers(name_or_path, path, options)?;
    dataset.notes.extend(label_sets::note(&dataset.train, &dataset.classes));
    labels::check_classes(&dataset, options.table.labels)?;
    labels::check_target(&dataset, &options.table)?;
    Ok(dataset)
}

fn open_numbers(name_or_path: &str, path: &Path, options: &OpenOptions) -> Result<Dataset> {
    if name_or_path == STDIN {
        return Format::read_stream(std::io::stdin().lock(), Path::new(STDIN_NAME), options)
            .and_then(|parts| assembled(STDIN_NAME, parts, options));
    }
    if path.is_dir() && options.table.is_of_recordings() {
        return log_folder::open(name_or_path, path, options);
    }
    if path.is_dir() {
        return folder::open(name_or_path, path, options);
    }
    if !path.exists() {
        return Err(nothing_of(name_or_path));
    }
    assembled(name_or_path, Format::read(path, options)?, options)
}

fn assembled(name: &str, parts: [Option<Raw>; 3], options: &OpenOptions) -> Result<Dataset> {
    let [train, validation, test] = parts.map(|part| part.map(|raw| raw.finish(options.missing)).transpose());
    assemble(name, train?.unwrap_or_default(), [validation?, test?])
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
    Error::data(
        name,
        format!("no file or folder of this name, and not one of the known data sets (`ernn data list`){meant}"),
    )
}

/// Opens one file, labelled or not, as sequences in file order.
///
/// # Errors
/// As [`open`].
pub fn open_sequences(path: &Path, options: &OpenOptions) -> Result<Sequences> {
    label_sets::check(options)?;
    let options = &of_every_window(options);
    if path.is_dir() {
        return log_folder::open_sequences(path, options);
    }
    Format::read_part(path, options)?
        .finish(options.missing)?
        .into_sequences()
}

/// The options for data that is asked about: each window of a recording gets an answer, whatever its labels.
fn of_every_window(options: &OpenOptions) -> OpenOptions {
    let mut options = options.clone();
    options.table.recordings.every_window = true;
    options
}

/// Opens a file or a folder of recordings as the windows that a model would be trained on, with their labels or numbers, groups and times.
///
/// # Errors
/// As [`open`].
pub fn open_windows(path: &Path, options: &OpenOptions) -> Result<Sequences> {
    windows(path, options)?.into_labelled()
}

fn windows(path: &Path, options: &OpenOptions) -> Result<Raw> {
    if path.is_dir() && options.table.is_of_recordings() {
        return log_folder::windows(path, options);
    }
    Format::read_part(path, options)?.finish(options.missing)
}

/// Recordings that stay whole (but for gaps), with a class for each step.
#[derive(Clone, Debug)]
pub struct LabelledStreams {
    /// A sequence for each recording, or piece of one.
    pub sequences: Sequences,
    /// Steps a second, where they are known.
    pub rate: Option<f64>,
}

/// Opens a file or a folder of recordings as whole recordings with a class for each step, whatever the options say of windows.
///
/// # Errors
/// As [`open`].
pub fn open_streams(path: &Path, options: &OpenOptions) -> Result<LabelledStreams> {
    let mut options = options.clone();
    options.table.window = None;
    options.table.recordings = RecordingOptions {
        aim: Aim::Steps,
        unbroken: true,
        whole: true,
        hop: None,
        purity: None,
        label_at: LabelAt::default(),
        ..options.table.recordings
    };
    let raw = windows(path, &options)?;
    let rate = raw.recordings.as_ref().and_then(|facts| facts.rate);
    Ok(LabelledStreams {
        sequences: raw.into_labelled()?,
        rate,
    })
}

/// The same of a table from a stream, which `name` stands for in errors.
///
/// # Errors
/// As [`open`].
pub fn read_windows(reader: impl Read, name: &str, options: &OpenOptions) -> Result<Sequences> {
    csv::read_stream(reader, Path::new(name), options)?
        .finish(options.missing)?
        .into_labelled()
}

/// Reads a file from a stream, e.g. standard input, as sequences in its order: a table, arrays or series, as its content says.
///
/// # Errors
/// As [`open`]; the place is called `standard input`.
pub fn read_sequences(reader: impl Read, options: &OpenOptions) -> Result<Sequences> {
    label_sets::check(options)?;
    let options = &of_every_window(options);
    npy::rows::one_part(
        Format::read_stream(reader, Path::new(STDIN_NAME), options)?,
        Path::new(STDIN_NAME),
    )?
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

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    unpacked::read(path)
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
    Lines,
    Npy,
    Npz,
    Parquet,
}

impl Format {
    pub fn of(path: &Path) -> Option<Format> {
        match unpacked::ending(path).as_str() {
            "ts" => Some(Format::Ts),
            "csv" | "tsv" => Some(Format::Csv),
            "jsonl" | "ndjson" => Some(Format::Lines),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "parquet" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// What a pipe has given: its name tells nothing. What is neither an array nor begins as a `.ts` does, is a table.
    fn of_content(bytes: &[u8]) -> Format {
        match bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start() {
            [b'@' | b'#', ..] => Format::Ts,
            [b'{', ..] => Format::Lines,
            _ if bytes.starts_with(b"\x93NUMPY") => Format::Npy,
            _ if bytes.starts_with(b"PK\x03\x04") => Format::Npz,
            _ if bytes.starts_with(b"PAR1") => Format::Parquet,
            _ => Format::Csv,
        }
    }

    /// Training (or the only), validation and test part of a file.
    fn read(path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
        if is_stream(path) {
            let pipe = std::fs::File::open(path).map_err(Error::io(path, "read"))?;
            return Format::read_stream(pipe, path, options);
        }
        if audio::long::is_sound(path) {
            return match options.table.is_of_recordings() {
                true => audio::long::read(path, options).map(|raw| [Some(raw), None, None]),
                false => {
                    let expected =
                        "--window, which cuts a long recording, or a folder of recordings with a folder a class";
                    Err(Error::format(path, "", "a recording of sound", expected))
                }
            };
        }
        // Whoever says that a file has no header says that it is a table.
        let said = (!options.table.layout.is_default()).then_some(Format::Csv);
        let format = Format::of(path).or(said).ok_or_else(|| {
            let problem = "not a known kind of file: expected .ts, .csv, .tsv, .jsonl, .npy, .npz or .parquet";
            Error::data(path.display(), problem)
        })?;
        let one = |raw| [Some(raw), None, None];
        match format {
            Format::Ts => read_ts(&read_file(path)?, path, options).map(one),
            Format::Csv => csv::read(path, options).map(one),
            Format::Lines => json_lines::read(path, options).map(one),
            Format::Npy => npy::read(&read_file(path)?, path, options).map(one),
            Format::Npz => npz::read(&read_file(path)?, path, options),
            Format::Parquet => parquet::read(path, options).map(one),
        }
    }

    /// The same of what can be read once alone; `path` names it in errors. A table is not held whole.
    fn read_stream(source: impl Read, path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
        let error = |error| reading_error(path, error);
        let mut source = unpacked::of(source).map_err(error)?;
        let mut beginning = Vec::new();
        (&mut source)
            .take(BEGINNING)
            .read_to_end(&mut beginning)
            .map_err(error)?;
        let format = Format::of_content(&beginning);
        let mut source = std::io::Cursor::new(beginning).chain(source);
        if format == Format::Csv {
            return Ok([Some(csv::read_stream(source, path, options)?), None, None]);
        }
        if format == Format::Lines {
            return Ok([Some(json_lines::read_stream(source, path, options)?), None, None]);
        }
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(error)?;
        match format {
            Format::Ts => Ok([Some(read_ts(&bytes, path, options)?), None, None]),
            Format::Npy => Ok([Some(npy::read(&bytes, path, options)?), None, None]),
            Format::Parquet => Ok([Some(parquet::read_bytes(bytes, path, options)?), None, None]),
            _ => npz::read(&bytes, path, options),
        }
    }

    /// Whether a file may hold rows of recordings.
    pub fn holds_rows(self) -> bool {
        self != Format::Ts
    }

    /// The recordings of a file, not yet cut.
    pub fn read_log(path: &Path, options: &OpenOptions) -> Result<Log> {
        options.table.recordings.check(options.table.window)?;
        match Format::of(path) {
            Some(Format::Npy) => npy::read_log(&read_file(path)?, path, options),
            Some(Format::Npz) => npz::read_log(&read_file(path)?, path, options),
            Some(Format::Lines) => json_lines::read_log(path, options),
            Some(Format::Parquet) => parquet::read_log(path, options),
            _ => csv::read_log(path, options),
        }
    }

    /// A file that has to be one part.
    pub fn read_part(path: &Path, options: &OpenOptions) -> Result<Raw> {
        npy::rows::one_part(Format::read(path, options)?, path)
    }
}

fn read_ts(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<Raw> {
    label_sets::refuse(options, "a .ts file")?;
    ts::read(bytes, path)
}

/// Bytes of a pipe that tell its format.
const BEGINNING: u64 = 64;

#[cfg(test)]
#[path = "open_tests.rs"]
pub(super) mod tests;
