//! Which files of a person's own hold text: `.txt` for the next token, CSV or JSON lines for classes; plain or packed.

use std::path::{Path, PathBuf};

use crate::data::folder::part_of;
use crate::data::labels::list;
use crate::data::open::is_stream;
pub(super) use crate::data::unpacked::ending;
use crate::{Error, Result};

pub(super) const RUNNING: [&str; 1] = ["txt"];
pub(super) const NUMBERS: [&str; 8] = ["ts", "csv", "tsv", "jsonl", "ndjson", "npy", "npz", "parquet"];
pub(super) const TABLES: [&str; 5] = ["csv", "tsv", "json", "jsonl", "ndjson"];

/// A file alone is the training part; in a folder the words train, valid or test in the names tell the parts.
pub(super) fn parts(name: &str, path: &Path, endings: &[&str]) -> Result<[Option<PathBuf>; 3]> {
    if path.is_file() || is_stream(path) {
        return Ok([Some(path.to_owned()), None, None]);
    }
    let mut parts = [None, None, None];
    for file in files(path, endings)? {
        let Some(part) = part_of(&file) else { continue };
        if let Some(other) = parts[part].replace(file) {
            let problem = format!("two files of one part, {} is one of them", other.display());
            return Err(Error::data(name, problem));
        }
    }
    if parts[0].is_none() {
        let found: Vec<String> = files(path, endings)?
            .iter()
            .map(|file| file.file_name().unwrap_or_default().to_string_lossy().into_owned())
            .collect();
        let found = if found.is_empty() {
            "no such file".to_owned()
        } else {
            list(&found)
        };
        let expected = format!("one of .{} with the word train in its name", endings.join(", ."));
        let problem = format!("no training text: found {found}; expected {expected}");
        return Err(Error::data(name, problem));
    }
    Ok(parts)
}

/// The files of a folder with one of these endings, in order of their names.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let error = Error::io(folder, "read");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_file() && endings.contains(&ending(&path).as_str()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names
            .iter()
            .for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        folder
    }

    #[test]
    fn names_tell_the_parts_packed_or_not() {
        let folder = folder(&["my.train.txt.gz", "my-valid.txt", "readme.txt", "test.csv"]);
        let [train, validation, test] = parts("d", folder.path(), &RUNNING).unwrap();
        assert!(train.unwrap().ends_with("my.train.txt.gz") && validation.unwrap().ends_with("my-valid.txt"));
        assert_eq!(test, None);
    }

    #[test]
    fn an_unclear_or_missing_part_is_refused() {
        let error = |names: &[&str]| parts("d", folder(names).path(), &RUNNING).unwrap_err().to_string();
        assert!(error(&["a_train.txt", "b_train.txt.xz"]).starts_with("d: two files of one part"));
        let none = error(&["story.txt"]);
        assert_eq!(
            none,
            "d: no training text: found story.txt; expected one of .txt with the word train in its name"
        );
    }
}
