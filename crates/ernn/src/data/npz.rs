//! `.npz`, several NumPy arrays in a zip archive.
//!
//! ```text
//! X [sequences, steps, features], y [sequences], groups [sequences]          one part
//! X_train, y_train, groups_train, X_val, ..., X_test, ...                    several
//! X [rows, channels], y, t, time and groups [rows]                           recordings, where a window or a time is named (npy::rows)
//! lengths [sequences], names [sequences], channels [features]                steps of each sequence, what it and each channel is called
//! ```
//!
//! All but `X` may be left out; `lengths` and `names` have the endings of their part, `channels` has none. Steps behind a sequence's
//! length are not read. Names are compared without regard to case, and two arrays for one purpose are refused. What
//! else the archive holds is not read but named.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::OpenOptions;
use super::log_folder::cut_part;
use super::npy::{self, Array, Beside};
use super::raw::Raw;
use super::recordings::Log;
use crate::{Error, Result};

/// How the names of the arrays of a part end: training (or the only one), validation, test.
const ENDINGS: [&[&str]; 3] = [&["_train", ""], &["_val", "_valid", "_validation"], &["_test"]];
/// How they begin: values, labels, groups, lengths, names.
const BEGINNINGS: [&str; 5] = ["x", "y", "groups", "lengths", "names"];
/// The names of the channels of all parts.
const CHANNELS: &str = "channels";

/// The parts of an archive: training (or the only one), validation, test.
pub(super) fn read(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
    let of_recordings = options.table.is_of_recordings();
    options.table.recordings.check(options.table.window)?;
    let mut archive = Archive::unpack(bytes, path, options)?;
    if of_recordings && archive.holds_rows(options)? {
        let [train, validation, test] = archive.logs(options)?;
        let cut = |log: Option<Log>, part| log.map(|log| cut_part(log, part, options)).transpose();
        return Ok([cut(train, 0)?, cut(validation, 1)?, cut(test, 2)?]);
    }
    npy::rows::must_not_be_cut(path, options)?;
    let [train, validation, test] = ENDINGS.map(|endings| archive.part(endings, options));
    let train = train?.ok_or_else(|| archive.without_values("[sequences, steps, features]"))?;
    let mut parts = [Some(train), validation?, test?];
    archive.name_channels(&mut parts)?;
    if let Some(train) = &mut parts[0] {
        train.notes.extend(archive.note());
        let note =
            "X has three dimensions: its sequences are read as they are, and not cut as rows [rows, channels] would be";
        train
            .notes
            .extend(of_recordings.then(|| format!("{}: {note}", path.display())));
    }
    Ok(parts)
}

/// The recording of an archive of one part, not yet cut.
pub(super) fn read_log(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<Log> {
    npy::rows::one_part(Archive::unpack(bytes, path, options)?.logs(options)?, path)
}

/// An array in the archive; the bytes of one that no part has are not read.
struct Packed {
    name: String,
    bytes: Vec<u8>,
    used: bool,
}

struct Archive<'a> {
    path: &'a Path,
    arrays: Vec<Packed>,
}

impl<'a> Archive<'a> {
    fn unpack(bytes: &[u8], path: &'a Path, options: &OpenOptions) -> Result<Archive<'a>> {
        let mut beginnings = BEGINNINGS.map(str::to_owned).to_vec();
        if options.table.is_of_recordings() {
            beginnings.extend(npy::rows::beside(options));
        }
        let error = |error: &dyn std::fmt::Display| Error::format(path, "", error, "an .npz archive");
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|found| error(&found))?;
        let mut arrays = Vec::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).map_err(|found| error(&found))?;
            let name = file.name().map_err(|found| error(&found))?;
            let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
            let mut bytes = Vec::new();
            if is_of_a_part(&name, &beginnings) {
                file.read_to_end(&mut bytes).map_err(|found| error(&found))?;
            }
            let used = false;
            arrays.push(Packed { name, bytes, used });
        }
        Ok(Archive { path, arrays })
    }

    /// Where the one array with this beginning and one of these endings stands, and its ending.
    fn find<'b>(&mut self, beginning: &str, endings: &[&'b str]) -> Result<Option<(usize, &'b str)>> {
        let ending_of = |name: &str| {
            let is_it = |ending: &&&str| name.eq_ignore_ascii_case(&format!("{beginning}{ending}"));
            endings.iter().find(is_it).copied()
        };
        let arrays = self.arrays.iter().enumerate();
        let found: Vec<(usize, &str)> = arrays
            .filter_map(|(index, array)| Some((index, ending_of(&array.name)?)))
            .collect();
        match found[..] {
            [] => Ok(None),
            [(index, ending)] => {
                self.arrays[index].used = true;
                Ok(Some((index, ending)))
            }
            [(first, _), (second, _), ..] => {
                let [first, second] = [first, second].map(|index| &self.arrays[index].name);
                let found = format!("the arrays {first} and {second}");
                Err(Error::format(self.path, "", found, "only one of them"))
            }
        }
    }

    fn part(&mut self, endings: &[&str], options: &OpenOptions) -> Result<Option<Raw>> {
        let [values, labels, groups, lengths, names] = BEGINNINGS;
        let Some((values, ending)) = self.find(values, endings)? else {
            return Ok(None);
        };
        let mut find = |beginning| self.find(beginning, &[ending]);
        let beside = [find(labels)?, find(groups)?, find(lengths)?, find(names)?];
        let parse = |index: usize| {
            let Packed { name, bytes, .. } = &self.arrays[index];
            Array::parse(bytes, self.path, name)
        };
        let of_part = |found: Option<(usize, &str)>| found.map(|(index, _)| parse(index)).transpose();
        let [labels, groups, lengths, names] = beside.map(of_part);
        let (labels, groups, lengths, names) = (labels?, groups?, lengths?, names?);
        let beside = Beside {
            labels: labels.as_ref(),
            groups: groups.as_ref(),
            lengths: lengths.as_ref(),
            names: names.as_ref(),
        };
        let raw = npy::sequences(&parse(values)?, beside, options)?;
        Ok(Some(Raw {
            place: format!(", array {}", self.arrays[values].name),
            ..raw
        }))
    }

    /// Whether the values are rows of recordings, and not sequences.
    fn holds_rows(&mut self, options: &OpenOptions) -> Result<bool> {
        let Some((values, _)) = self.find(BEGINNINGS[0], ENDINGS[0])? else {
            return Ok(true);
        };
        let Packed { name, bytes, .. } = &self.arrays[values];
        let values = Array::parse(bytes, self.path, name)?;
        Ok(npy::rows::are_rows(&values.shape, options))
    }

    /// The recordings of each part.
    fn logs(&mut self, options: &OpenOptions) -> Result<[Option<Log>; 3]> {
        let [train, validation, test] = ENDINGS.map(|endings| self.log(endings, options));
        let train = train?.ok_or_else(|| self.without_values("[rows, channels]"))?;
        let mut logs = [Some(train), validation?, test?];
        if let Some(train) = &mut logs[0] {
            train.notes.extend(self.note());
        }
        Ok(logs)
    }

    fn log(&mut self, endings: &[&str], options: &OpenOptions) -> Result<Option<Log>> {
        let Some((values, ending)) = self.find(BEGINNINGS[0], endings)? else {
            return Ok(None);
        };
        let mut beside = Vec::new();
        for name in npy::rows::beside(options) {
            let found = self.find(&name, &[ending])?;
            beside.extend(found.map(|(index, _)| (name, index)));
        }
        let channels = self.find(CHANNELS, &[""])?;
        let parse = |index: usize| {
            let Packed { name, bytes, .. } = &self.arrays[index];
            Array::parse(bytes, self.path, name)
        };
        let of_name = |(name, index)| Ok((name, parse(index)?));
        let beside: Vec<(String, Array)> = beside.into_iter().map(of_name).collect::<Result<_>>()?;
        let values = parse(values)?;
        let features = values.shape.get(1).copied().unwrap_or(1);
        let channels = channels.map(|(index, _)| npy::names(&parse(index)?, "channel", features));
        let place = match ending {
            "" => String::new(),
            _ => format!(", part {}", &ending[1..]),
        };
        npy::rows::log(&values, channels.transpose()?, &beside, &place, options).map(Some)
    }

    fn without_values(&self, shape: &str) -> Error {
        let names: Vec<String> = self.arrays.iter().map(|array| array.name.clone()).collect();
        let found = format!("the arrays {}", super::labels::list(&names));
        let expected = format!("X {shape} and y, or X_train, y_train, X_test, ...");
        Error::format(self.path, "", found, expected)
    }

    /// Gives the channels of all parts the names that the archive has for them.
    fn name_channels(&mut self, parts: &mut [Option<Raw>; 3]) -> Result<()> {
        let Some((index, _)) = self.find(CHANNELS, &[""])? else {
            return Ok(());
        };
        let Packed { name, bytes, .. } = &self.arrays[index];
        let array = Array::parse(bytes, self.path, name)?;
        for raw in parts.iter_mut().flatten() {
            raw.feature_names = npy::names(&array, "channel", raw.part.features)?;
        }
        Ok(())
    }

    /// Which arrays are not used.
    fn note(&self) -> Option<String> {
        let unused: Vec<&str> = self
            .arrays
            .iter()
            .filter(|array| !array.used)
            .map(|array| array.name.as_str())
            .collect();
        let path = self.path.display();
        let what = match unused[..] {
            [] => return None,
            [one] => format!("the array {one} is not used"),
            _ => format!("the arrays {} are not used", unused.join(", ")),
        };
        Some(format!(
            "{path}: {what}; what is read is X, y, groups, lengths, names and channels, or X_train, y_train, groups_train, X_val, ..., X_test, ..."
        ))
    }
}

fn is_of_a_part(name: &str, beginnings: &[String]) -> bool {
    let name = name.to_ascii_lowercase();
    if name == CHANNELS {
        return true;
    }
    let lower = beginnings.iter().map(|beginning| beginning.to_ascii_lowercase());
    let mut endings = lower.filter_map(|beginning| name.strip_prefix(&beginning).map(str::to_owned));
    endings.any(|ending| ENDINGS.iter().any(|endings| endings.contains(&ending.as_str())))
}

#[cfg(test)]
#[path = "npz_tests.rs"]
pub(super) mod tests;
