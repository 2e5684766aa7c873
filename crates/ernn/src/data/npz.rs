//! `.npz`, several NumPy arrays in a zip archive.
//!
//! ```text
//! X [sequences, steps, features], y [sequences], groups [sequences]          one part
//! X_train, y_train, groups_train, X_val, ..., X_test, ...                    several
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
use super::npy::{self, Array, Beside};
use super::raw::Raw;
use crate::{Error, Result};

/// How the names of the arrays of a part end: training (or the only one), validation, test.
const ENDINGS: [&[&str]; 3] = [&["_train", ""], &["_val", "_valid", "_validation"], &["_test"]];
/// How they begin: values, labels, groups, lengths, names.
const BEGINNINGS: [&str; 5] = ["x", "y", "groups", "lengths", "names"];
/// The names of the channels of all parts.
const CHANNELS: &str = "channels";

/// The parts of an archive: training (or the only one), validation, test.
pub(super) fn read(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
    let mut archive = Archive::unpack(bytes, path)?;
    let [train, validation, test] = ENDINGS.map(|endings| archive.part(endings, options));
    let Some(train) = train? else {
        let names: Vec<String> = archive.arrays.into_iter().map(|array| array.name).collect();
        let found = format!("the arrays {}", super::labels::list(&names));
        let expected = "X [sequences, steps, features] and y, or X_train, y_train, X_test, ...";
        return Err(Error::format(path, "", found, expected));
    };
    let mut parts = [Some(train), validation?, test?];
    archive.name_channels(&mut parts)?;
    if let Some(train) = &mut parts[0] {
        train.notes.extend(archive.note());
    }
    Ok(parts)
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
    fn unpack(bytes: &[u8], path: &'a Path) -> Result<Archive<'a>> {
        let error = |error: &dyn std::fmt::Display| Error::format(path, "", error, "an .npz archive");
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|found| error(&found))?;
        let mut arrays = Vec::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).map_err(|found| error(&found))?;
            let name = file.name().map_err(|found| error(&found))?;
            let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
            let mut bytes = Vec::new();
            if is_of_a_part(&name) {
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

fn is_of_a_part(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if name == CHANNELS {
        return true;
    }
    let mut endings = BEGINNINGS.iter().filter_map(|beginning| name.strip_prefix(beginning));
    endings.any(|ending| ENDINGS.iter().any(|endings| endings.contains(&ending)))
}

#[cfg(test)]
#[path = "npz_tests.rs"]
mod tests;
