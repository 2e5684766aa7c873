//! Lookup: where the files of a known data set lie below the folder that holds data.
//!
//! A reader names the folders and archives that its data set comes in. They are looked for in the data folder itself and in
//! each folder in it, so one data folder serves for all sets. Names are compared by their letters and digits alone, in lower
//! case: `UCI HAR Dataset`, `UCI_HAR_Dataset.tar.xz` and `uci-har-dataset` are one name.

use std::path::{Path, PathBuf};

/// The data folder and the folders in it, in order of their names.
pub(super) fn places(base: &Path) -> Vec<PathBuf> {
    let mut below: Vec<PathBuf> = children(base).filter(|path| path.is_dir()).collect();
    below.sort();
    std::iter::once(base.to_owned()).chain(below).collect()
}

/// What lies in a folder; nothing if it can't be read.
fn children(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder)
        .into_iter()
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
}

/// A path's last name by its letters and digits.
pub(super) fn plain_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// `place`, or the folder in it with one of these plain names, that holds `marker`.
pub(super) fn folder(place: &Path, names: &[&str], marker: &str) -> Option<PathBuf> {
    let holds = |folder: &Path| folder.join(marker).exists();
    if holds(place) {
        return Some(place.to_owned());
    }
    children_named(place, names).into_iter().find(|folder| holds(folder))
}

/// What lies in `place` under one of these plain names, in order.
pub(super) fn children_named(place: &Path, names: &[&str]) -> Vec<PathBuf> {
    let mut named: Vec<PathBuf> = children(place)
        .filter(|path| names.contains(&plain_name(path).as_str()))
        .collect();
    named.sort();
    named
}

/// Archives in `place` whose plain names begin with one of these, in order of their names.
pub(super) fn archives(place: &Path, beginnings: &[&str]) -> Vec<PathBuf> {
    const ENDINGS: [&str; 6] = ["zip", "tar", "targz", "tgz", "tarbz2", "tarxz"];
    let is_one = |path: &PathBuf| {
        let name = plain_name(path);
        let begins = beginnings.iter().any(|beginning| name.starts_with(beginning));
        begins && ENDINGS.iter().any(|ending| name.ends_with(ending)) && path.is_file()
    };
    let mut found: Vec<PathBuf> = children(place).filter(is_one).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_and_archives_are_found_by_plain_names() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path();
        fs::create_dir_all(base.join("UCI_HAR Dataset/train")).unwrap();
        fs::create_dir_all(base.join("other/train")).unwrap();
        for name in [
            "uci-har-dataset.tar.xz",
            "UCI HAR Dataset.zip",
            "uci har dataset.txt",
            "other.zip",
        ] {
            fs::write(base.join(name), "").unwrap();
        }
        let found = folder(base, &["uciharddataset", "ucihardataset"], "train");
        assert_eq!(found, Some(base.join("UCI_HAR Dataset")));
        assert_eq!(folder(&base.join("other"), &[], "train"), Some(base.join("other")));
        assert_eq!(folder(base, &["ucihardataset"], "test"), None);
        let found = archives(base, &["ucihar"]);
        assert_eq!(
            found,
            [base.join("UCI HAR Dataset.zip"), base.join("uci-har-dataset.tar.xz")]
        );
    }

    #[test]
    fn places_are_the_folder_and_those_in_it() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path();
        fs::create_dir_all(base.join("b/deep")).unwrap();
        fs::create_dir_all(base.join("a")).unwrap();
        fs::write(base.join("file"), "").unwrap();
        assert_eq!(places(base), [base.to_owned(), base.join("a"), base.join("b")]);
        assert_eq!(places(&base.join("nowhere")), [base.join("nowhere")]);
    }
}
