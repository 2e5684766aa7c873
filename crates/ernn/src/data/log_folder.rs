//! A folder of recordings: tables or arrays whose rows are steps, or sound whose frames are.
//!
//! ```text
//! logs/anna.csv  logs/ben.csv                        a recording a file, unless a column names several
//! logs/train/anna.csv  logs/test/ben.csv             parts by the words in names of folders or files
//! logs/walk/anna_1.csv  logs/run/anna_1.csv          a class a folder, where no column and no file of events gives labels
//! nights/a.wav  nights/b.wav                         sound in the place of tables
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::audio::GroupPattern;
use super::audio::long::{self, is_sound};
use super::folder::{PARTS, part_of};
use super::open::Format;
use super::raw::{Raw, assemble};
use super::recordings::{self, Log};
use super::{Dataset, OpenOptions, Sequences, label_sets, unpacked};
use crate::{Error, Result};

/// Folders inside folders that are looked into.
const DEPTH: usize = 3;

/// A table in the folder.
struct Found {
    path: PathBuf,
    /// Names of the folders between, without those that name a part.
    folders: Vec<String>,
    /// An index into [`PARTS`]; none if nothing names a part.
    part: Option<usize>,
}

/// Opens a folder of recordings as a data set.
pub(super) fn open(name: &str, folder: &Path, options: &OpenOptions) -> Result<Dataset> {
    let files = files(folder, options)?;
    let part = |index: usize| -> Result<Option<Raw>> {
        let own = files.iter().filter(|file| file.part.unwrap_or(0) == index);
        let log = read(own, options)?;
        log.map(|log| cut(log, index, options)).transpose()
    };
    let [train, validation, test] = [part(0)?, part(1)?, part(2)?];
    let train = train.ok_or_else(|| {
        let found = super::labels::list(&PARTS.map(str::to_owned)[1..]);
        Error::data(
            name,
            format!("found tables of {found} alone, expected some to train on"),
        )
    })?;
    assemble(name, train, [validation, test])
}

/// Opens a folder of recordings to predict: all windows of all files.
pub(super) fn open_sequences(folder: &Path, options: &OpenOptions) -> Result<Sequences> {
    let files = files(folder, options)?;
    let log = read(files.iter(), options)?.expect("a folder of some files");
    cut(log, 0, options)?.into_sequences()
}

/// The windows of a folder of recordings that a model would be trained on, those of all parts together.
pub(super) fn windows(folder: &Path, options: &OpenOptions) -> Result<Raw> {
    let files = files(folder, options)?;
    let log = read(files.iter(), options)?.expect("a folder of some files");
    cut(log, 0, options)
}

fn cut(log: Log, part: usize, options: &OpenOptions) -> Result<Raw> {
    cut_part(log, part, options)?.finish(options.missing)
}

/// Cuts the recordings of a part, an index into [`PARTS`].
pub(super) fn cut_part(log: Log, part: usize, options: &OpenOptions) -> Result<Raw> {
    let mut own = options.table.recordings.clone();
    // Only the training part is split.
    own.whole |= part > 0;
    let mut raw = recordings::cut(log, options.table.window, &own)?;
    if part > 0 {
        raw.keep_apart();
    }
    Ok(raw)
}

/// All tables in the folder and in those inside it, in the order of their paths.
fn files(folder: &Path, options: &OpenOptions) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    collect(folder, &mut Vec::new(), &mut found)?;
    // The file of events may lie among them, and is no recording.
    let real = |path: &Path| path.canonicalize().ok();
    if let Some(events) = options.table.recordings.events.as_deref().and_then(real) {
        found.retain(|file| real(&file.path).as_ref() != Some(&events));
    }
    if found.is_empty() {
        let expected =
            "recordings, .csv, .tsv, .jsonl, .npz, .npy, .parquet or .wav, in it or in folders of parts or classes";
        return Err(Error::format(folder, "", "none", expected));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    refuse_copies(folder, &found)?;
    Ok(found)
}

/// Refuses two files of one name that differ in their ends: the same recording would be read twice.
fn refuse_copies(folder: &Path, found: &[Found]) -> Result<()> {
    let mut seen: HashMap<(Option<&Path>, String), &Path> = HashMap::new();
    for Found { path, .. } in found {
        let key = (path.parent(), unpacked::stem(path));
        let Some(other) = seen.insert(key, path) else { continue };
        let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let found = format!("{} and {}", name(other), name(path));
        let expected = "one file a recording: two of one name would be read twice";
        return Err(Error::format(folder, "", found, expected));
    }
    Ok(())
}

fn collect(folder: &Path, names: &mut Vec<String>, found: &mut Vec<Found>) -> Result<()> {
    let error = Error::io(folder, "read");
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && names.len() < DEPTH && !name.starts_with('.') {
            names.push(name);
            collect(&path, names, found)?;
            names.pop();
        } else if path.is_file() && (Format::of(&path).is_some_and(Format::holds_rows) || is_sound(&path)) {
            let of_folder = |name: &String| part_of(Path::new(name));
            found.push(Found {
                part: names.iter().find_map(of_folder).or_else(|| part_of(&path)),
                folders: names.iter().filter(|name| of_folder(name).is_none()).cloned().collect(),
                path,
            });
        }
    }
    Ok(())
}

/// The recordings of some files; none of no file.
fn read<'a>(files: impl Iterator<Item = &'a Found>, options: &OpenOptions) -> Result<Option<Log>> {
    let mut all: Option<Log> = None;
    for file in files {
        let mut log = match is_sound(&file.path) {
            true => sound(&file.path, options)?,
            false => Format::read_log(&file.path, options)?,
        };
        let stem = unpacked::stem(&file.path);
        for recording in &mut log.recordings {
            recording.name = match recording.name.as_str() {
                "" => [&file.folders[..], std::slice::from_ref(&stem)].concat().join("/"),
                own => format!("{stem}/{own}"),
            };
        }
        if options.table.recordings.events.is_none() && !options.table.recordings.every_window {
            label_by_folder(&mut log, &file.folders);
        }
        all.get_or_insert_default().append(log)?;
    }
    Ok(all)
}

/// A recording of sound, whose name may tell its group.
fn sound(path: &Path, options: &OpenOptions) -> Result<Log> {
    label_sets::refuse(options, "a recording of sound")?;
    let mut log = long::log(path)?;
    if let Some(pattern) = &options.group_pattern {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let group = GroupPattern::read(pattern)?.group_of(&name).map(str::to_owned);
        let unfit = || {
            let expected = format!("a name that fits --group-pattern '{pattern}'");
            Error::format(path, "", "another name", expected)
        };
        let group = log.groups.number(&group.ok_or_else(unfit)?);
        log.recordings
            .iter_mut()
            .for_each(|recording| recording.group = Some(group));
    }
    Ok(log)
}

/// Rows without labels have the name of their folder.
fn label_by_folder(log: &mut Log, folders: &[String]) {
    let unlabelled = log.recordings.iter().all(|recording| recording.labels.is_empty());
    let Some(class) = folders.last().filter(|_| unlabelled) else {
        return;
    };
    let label = log.labels.number(class);
    for recording in &mut log.recordings {
        recording.labels = vec![label; recording.rows];
    }
}
