use std::fs;

use super::super::npy::tests::file;
use super::*;
use crate::data::Values;

const TRAIN: &str = "series,x,label\n0,1,walk\n1,2,sit\n";
const TEST: &str = "series,x,label\n0,3,sit\n";

fn open_files(files: &[(&str, &[u8])]) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    open("data", folder.path(), &OpenOptions::default())
}

fn error(files: &[(&str, &[u8])]) -> String {
    open_files(files).unwrap_err().to_string()
}

#[test]
fn parts_are_told_by_words_in_the_names() {
    let both = |train: &str, test: &str, validation: &str| {
        let files = [
            (train, TRAIN.as_bytes()),
            (test, TEST.as_bytes()),
            (validation, TEST.as_bytes()),
            ("notes.txt", b"x"),
        ];
        open_files(&files).unwrap()
    };
    for (train, test, validation) in [
        ("train.csv", "test.csv", "val.csv"),
        ("Gait_TRAIN.csv", "Gait_TEST.csv", "Gait-validation.csv"),
        ("my training set.tsv", "testing.csv", "dev.csv"),
    ] {
        let data = both(train, test, validation);
        assert_eq!(
            (data.train.values, data.test.unwrap().values),
            (Values::Numbers(vec![1.0, 2.0]), Values::Numbers(vec![3.0]))
        );
        assert_eq!(
            (data.classes, data.validation.unwrap().labels),
            (vec!["sit".to_owned(), "walk".to_owned()], vec![0])
        );
    }
    let alone = open_files(&[("train.csv", TRAIN.as_bytes())]).unwrap();
    assert!(alone.test.is_none() && alone.validation.is_none());
}

#[test]
fn pairs_of_arrays() {
    let values = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let x = file("<f4", false, &[2, 2, 1], &values(&[1.0, 2.0, 3.0, 4.0]));
    let y = file("|i1", false, &[2], &[5, 4]);
    let data = open_files(&[
        ("X_train.npy", &x),
        ("y_train.npy", &y),
        ("X_test.npy", &x),
        ("y_test.npy", &y),
    ])
    .unwrap();
    assert_eq!(
        (data.classes, data.train.labels),
        (vec!["4".to_owned(), "5".to_owned()], vec![1, 0])
    );
    assert_eq!(data.test.unwrap().sequence(1), [3.0, 4.0]);
    assert!(data.train.groups.is_empty());
    let groups = file("|S1", false, &[2], b"ba");
    let data = open_files(&[("X_train.npy", &x), ("y_train.npy", &y), ("groups_train.npy", &groups)]);
    assert_eq!(data.unwrap().train.groups, [0, 1]);
}

#[test]
fn a_label_that_only_the_test_part_has_is_refused() {
    let found = error(&[
        ("train.csv", TRAIN.as_bytes()),
        ("test.csv", b"series,x,label\n0,1,run\n1,1,sit\n2,1,run\n"),
    ]);
    assert!(
        found.ends_with("test.csv: label \"run\" (2 sequences) is not among the known labels sit, walk"),
        "{found}"
    );
}

#[test]
fn unclear_folders_are_refused() {
    let [train, test] = [TRAIN.as_bytes(), TEST.as_bytes()];
    assert_eq!(
        error(&[("train.csv", train), ("train.ts", b"")]),
        "data: the train part is not clear: found train.csv, train.ts; expected one file, or one .npy of values, \
         one of labels and, where there are groups, one of groups"
    );
    assert_eq!(
        error(&[("a.csv", train), ("test.csv", test)]),
        "data: no training file: found a.csv, test.csv; expected one of .ts, .csv, .tsv, .jsonl, .npy, .npz or .parquet with the word train in its \
         name, or .wav files in a folder a class (tables whose rows are steps of recordings are read with --time or --window)"
    );
    assert!(error(&[("train_test.csv", train)]).contains("no training file"));
    assert!(error(&[("constraint.csv", train)]).contains("no training file"));
    assert!(error(&[]).starts_with("data: no training file: found no data file"));
    let y = file("|i1", false, &[2], &[5, 4]);
    assert!(error(&[("y_train.npy", &y)]).contains("the train part is not clear: found y_train.npy"));
}

#[test]
fn parts_have_to_fit_together() {
    let found = error(&[
        ("train.csv", TRAIN.as_bytes()),
        ("test.csv", b"series,x,y,label\n0,1,1,sit\n"),
    ]);
    assert!(
        found.contains("test.csv: found 2 channels, expected 1 as in "),
        "{found}"
    );
    let found = error(&[("train.csv", TRAIN.as_bytes()), ("test.csv", b"series,x\n0,1\n")]);
    assert!(
        found.contains("test.csv: found no labels, expected labels as in "),
        "{found}"
    );
    let found = error(&[("train.csv", TRAIN.as_bytes()), ("test.csv", b"series,x,label\n")]);
    assert!(
        found.ends_with("test.csv: found no sequence, expected at least one"),
        "{found}"
    );
}

#[test]
fn channels_of_the_parts_are_told_by_name() {
    let train = ("train.csv", &b"series,x,y,label\n0,1,2,sit\n1,3,4,walk\n"[..]);
    let data = open_files(&[train, ("test.csv", b"series,Y,x,label\n0,6,5,sit\n")]).unwrap();
    assert_eq!(data.test.unwrap().values.numbers(), [5.0, 6.0]);
    for other in ["series,x,z,label\n0,5,6,sit\n", "series,a,b,label\n0,5,6,sit\n"] {
        let found = error(&[train, ("val.csv", other.as_bytes())]);
        assert!(
            found.contains(", expected x, y as in ") && found.contains("val.csv: found the channels "),
            "{found}"
        );
    }
    let x = file("<f4", false, &[1, 1, 2], &[0; 8]);
    let y = file("|S3", false, &[1], b"sit");
    assert!(open_files(&[train, ("X_test.npy", &x), ("y_test.npy", &y)]).is_ok());
}

#[test]
fn a_folder_of_a_known_data_set_is_pointed_to_its_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("UCI HAR Dataset/train/Inertial Signals")).unwrap();
    let found = open("data", folder.path(), &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        found,
        "data: a folder of known data sets: open har-2 or har-6 with the folder as --data-dir"
    );
}

#[test]
fn recordings_in_a_folder_a_class_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let sounds = folder.path().join("sounds");
    let wave = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\x80\x3e\0\0\x01\0\x08\0data\x04\0\0\0\x80\x90\x80\x70";
    for class in ["bark", "meow"] {
        fs::create_dir_all(sounds.join(class)).unwrap();
        fs::write(sounds.join(class).join("1.wav"), wave).unwrap();
    }
    let options = OpenOptions {
        cache: Some(folder.path().join("cache")),
        ..OpenOptions::default()
    };
    let data = crate::data::open(&sounds.display().to_string(), &options).unwrap();
    assert_eq!(
        (data.classes.as_slice(), data.train.features),
        (&["bark".to_owned(), "meow".to_owned()][..], 32)
    );
}
