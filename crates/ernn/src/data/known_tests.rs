use std::fs;

use super::*;
use crate::data::open;

/// A known data set from the data folder of the environment; `None`, with a line, where its files are not there.
pub(in super::super) fn published(name: &str, options: &OpenOptions) -> Option<Dataset> {
    if found(name, options).is_none() {
        println!("skipped: ERNN_DATA_DIR names no folder with {name}");
        return None;
    }
    let start = std::time::Instant::now();
    let data = open(name, options).unwrap();
    println!("{name} read in {:?}", start.elapsed());
    assert_eq!(is_as_published(&data), Some(true), "{name}");
    Some(data)
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<&str> = known().iter().map(|known| known.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_set_is_found_in_the_data_folder_in_a_folder_of_it_and_in_an_archive() {
    let base = tempfile::tempdir().unwrap();
    let options = OpenOptions {
        data_dir: Some(base.path().to_owned()),
        ..OpenOptions::default()
    };
    assert_eq!(found("har-2", &options), None);
    let archive = base.path().join("har/UCI HAR Dataset.zip");
    fs::create_dir_all(archive.parent().unwrap()).unwrap();
    fs::write(&archive, "").unwrap();
    assert_eq!(found("har-2", &options), Some(archive));
    let folder = base.path().join("UCI_HAR_Dataset");
    fs::create_dir_all(folder.join("train/Inertial Signals")).unwrap();
    assert_eq!(found("har-6", &options), Some(folder));
    assert_eq!(names_in(base.path()), ["har-2", "har-6"]);
}

#[test]
fn counts_that_differ_are_seen() {
    let mut data = builtin::japanese_vowels();
    assert_eq!(is_as_published(&data), Some(true));
    data.train.labels[0] = 1;
    assert_eq!(is_as_published(&data), Some(false));
    data.name = "mine".to_owned();
    assert_eq!(is_as_published(&data), None);
}

#[test]
fn what_is_not_found_is_asked_for() {
    let base = tempfile::tempdir().unwrap();
    let options = OpenOptions {
        data_dir: Some(base.path().to_owned()),
        ..OpenOptions::default()
    };
    for known in known().iter().filter(|known| !known.built_in) {
        let error = open(known.name, &options).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}: no ", known.name)) && error.contains(known.source),
            "{error}"
        );
        assert!(
            error.ends_with("name the folder with --data-dir or ERNN_DATA_DIR"),
            "{error}"
        );
        let fetch = format!("`ernn data fetch {} --data-dir {}`", known.name, base.path().display());
        let told = cfg!(feature = "fetch") && !IN_PERSON.contains(&known.name);
        assert_eq!(error.contains(&fetch), told, "{error}");
    }
}

#[test]
fn a_prefix_says_that_the_known_set_is_meant() {
    assert_eq!(
        open("known:digits", &OpenOptions::default()).unwrap(),
        builtin::digits()
    );
    assert_eq!(as_known("digits"), "known:digits");
    assert_eq!(as_known("known:adding-750"), "known:adding-750");
    assert_eq!(as_known("./digits"), "./digits");
    let error = open("known:mine", &OpenOptions::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("known:mine: no file or folder of this name, and not one of the known"),
        "{error}"
    );
}
