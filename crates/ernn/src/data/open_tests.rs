use std::fs;

use super::super::npy::tests::file;
use super::*;
use crate::data::{Normalization, Task, View};

/// The shared folder of small inputs beside the repository; `None`, with a line that says so, where there is none.
fn cases() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let found = path.is_dir().then_some(path);
    if found.is_none() {
        println!("skipped: there is no ../shared/cases beside the repository");
    }
    found
}

/// The data folder of the environment, `ERNN_DATA_DIR`, if it holds `name`: then that; `None`, with a line, where not.
pub(in super::super) fn data_folder(name: &str) -> Option<PathBuf> {
    let folder = OpenOptions::default().data_folder().map(|folder| folder.join(name));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: ERNN_DATA_DIR names no folder with {name}");
    }
    found
}

fn edgeml() -> OpenOptions {
    OpenOptions {
        features: Some(3),
        ..OpenOptions::default()
    }
}

#[test]
fn cases_that_are_right() {
    let Some(folder) = cases() else { return };
    let case = |name: &str| {
        let options = if name.ends_with(".npy") {
            edgeml()
        } else {
            OpenOptions::default()
        };
        open(&folder.join(name).display().to_string(), &options).unwrap_or_else(|error| panic!("{error}"))
    };
    // file, sequences, features, longest, classes
    let table: [(&str, usize, usize, usize, &[&str]); 13] = [
        ("labels_numeric_text.csv", 9, 2, 5, &["2", "9", "10"]),
        ("labels_minus_one.csv", 8, 2, 5, &["-1", "1"]),
        ("labels_from_one.npy", 6, 3, 5, &["1", "2", "3"]),
        ("edgeml_big_endian.npy", 6, 3, 5, &["0", "1", "2"]),
        ("edgeml_fortran_order.npy", 6, 3, 5, &["0", "1", "2"]),
        ("batch_axis.npz", 2, 5, 3, &["0", "1"]),
        ("constant_channel.csv", 8, 2, 6, &["a", "b"]),
        ("bom_crlf_semicolon.csv", 8, 2, 5, &["ja", "nein"]),
        ("interleaved.csv", 6, 2, 5, &["a", "b"]),
        ("unequal_lengths.csv", 12, 2, 400, &["a", "b"]),
        ("imbalanced.csv", 100, 2, 5, &["common", "rare"]),
        ("new_label_train.csv", 8, 2, 5, &["sit", "walk"]),
        ("unlabelled.ts", 2, 2, 3, &[]),
    ];
    for (name, sequences, features, longest, classes) in table {
        let data = case(name);
        let found = (
            data.train.len(),
            data.train.features,
            data.train.longest(),
            data.classes,
        );
        let classes: Vec<String> = classes.iter().map(|&class| class.to_owned()).collect();
        assert_eq!(found, (sequences, features, longest, classes), "{name}");
    }
    assert_eq!(
        case("edgeml_big_endian.npy").train,
        case("edgeml_fortran_order.npy").train
    );
    let interleaved = case("interleaved.csv").train;
    assert_eq!(interleaved.sequence(0)[..4], [5.0, 0.0, 5.1, -0.1]);
    let mut constant = case("constant_channel.csv").train;
    let normalization = Normalization::fit(&View::of(&constant)).unwrap();
    normalization.apply(&mut constant).unwrap();
    assert!(
        constant
            .values
            .numbers()
            .iter()
            .skip(1)
            .step_by(2)
            .all(|&value| value == 0.0)
    );
    assert!(constant.values.numbers().iter().all(|value| value.is_finite()));
}

#[test]
fn cases_that_are_refused() {
    let Some(folder) = cases() else { return };
    let table = [
        (
            "missing_values.csv",
            ", line 22, column \"x\": the first of 4 missing values; choose --missing",
        ),
        (
            "missing_values.ts",
            ", line 8, channel 1, step 2: the first of 3 missing values; choose --missing",
        ),
        (
            "label_changes.csv",
            ", line 4, column \"label\": found \"b\" for series \"0\", expected \"a\" as on line 2",
        ),
        (
            "empty.csv",
            ": found an empty file, expected a header line with column names and rows of values",
        ),
        ("header_only.csv", ": found no sequence, expected at least one"),
        (
            "truncated.npy",
            ": found 347 bytes of values, expected 384 bytes for shape [6, 16] with 4 bytes a value",
        ),
        (
            "not_a_number.csv",
            ", line 11, column \"y\": found \"12.5x\", expected a number",
        ),
        (
            "overflow.csv",
            ", line 8, column \"y\": found \"-1e300\", expected a finite number of at most 3.4e38 in size",
        ),
        (
            "label_not_declared.ts",
            ", line 8: found label \"left\", expected one of those declared: up, down",
        ),
    ];
    for (name, expected) in table {
        let error = open(&folder.join(name).display().to_string(), &edgeml())
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("{name}{expected}")), "{error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn an_archive_with_groups_is_split_as_the_same_table() {
    let Some(folder) = cases() else { return };
    let [table, archive] = ["groups.csv", "groups.npz"].map(|name| {
        let path = folder.join(name).display().to_string();
        open(&path, &OpenOptions::default()).unwrap()
    });
    assert_eq!(archive.train.groups, table.train.groups);
    assert_eq!(archive.train.labels, table.train.labels);
    let split = |data: &Dataset| crate::data::split(&data.train, 0.2, 1).unwrap();
    assert_eq!(split(&archive), split(&table));
    let (train, validation) = split(&archive);
    let group = |sequence: &usize| archive.train.groups[*sequence];
    assert!(
        validation
            .iter()
            .all(|sequence| train.iter().all(|other| group(other) != group(sequence)))
    );
    assert_eq!(archive.notes, Vec::<String>::new());
}

#[test]
fn a_new_label_in_the_test_file() {
    let Some(folder) = cases() else { return };
    let path = |name: &str| folder.join(name).display().to_string();
    let train = open(&path("new_label_train.csv"), &OpenOptions::default()).unwrap();
    let mut test = open(&path("new_label_test.csv"), &OpenOptions::default()).unwrap();
    let error = test.relabel(&train.classes).unwrap_err().to_string();
    let expected = "new_label_test.csv: label \"run\" (2 sequences) is not among the known labels sit, walk";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_file_of_several_arrays_gives_several_parts() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.npz");
    let x = file("|u1", false, &[2, 3, 1], &[1, 2, 3, 4, 5, 6]);
    let y = file("|S1", false, &[2], b"ba");
    let write = |names: &[(&str, &Vec<u8>)]| {
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, bytes) in names {
            archive
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
    };
    let name = path.display().to_string();
    write(&[
        ("X_train.npy", &x),
        ("y_train.npy", &y),
        ("X_test.npy", &x),
        ("y_test.npy", &y),
    ]);
    let data = open(&name, &OpenOptions::default()).unwrap();
    assert_eq!(
        (data.train.labels.as_slice(), data.test.unwrap().len()),
        (&[1, 0][..], 2)
    );
    assert!(
        open_sequences(&path, &OpenOptions::default())
            .unwrap_err()
            .to_string()
            .contains("several parts in one file")
    );
    write(&[("x.npy", &x), ("Y.npy", &y)]);
    assert_eq!(open(&name, &OpenOptions::default()).unwrap().classes, ["a", "b"]);
    let wide = file("|u1", false, &[1, 3, 2], &[1, 2, 3, 4, 5, 6]);
    write(&[("X_train.npy", &x), ("X_test.npy", &wide)]);
    let error = open(&name, &OpenOptions::default()).unwrap_err().to_string();
    let expected = format!("{name}, array X_test: found 2 channels, expected 1 as in {name}, array X_train");
    assert_eq!(error, expected);
    write(&[("data.npy", &x)]);
    let error = open(&name, &OpenOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("all.npz: found the arrays data, expected X [sequences, steps, features] and y"),
        "{error}"
    );
    let whole = fs::read(&path).unwrap();
    for end in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(open(&name, &OpenOptions::default()).is_err());
    }
}

#[test]
fn sequences_from_a_stream() {
    let read = read_sequences("series,x\nb,1\na,2\nb,3\n".as_bytes(), &OpenOptions::default()).unwrap();
    assert_eq!(
        (read.names, read.part.values.numbers().to_vec()),
        (vec!["b".to_owned(), "a".to_owned()], vec![1.0, 3.0, 2.0])
    );
    assert_eq!(read.source, "standard input");
    let error = read_sequences("series,x,label\nb,c,d\n".as_bytes(), &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "standard input, line 2, column \"x\": found \"c\", expected a number (--ignore x leaves the column out, --group-column x makes \
         groups of it)"
    );
}

#[test]
fn a_stream_is_told_by_its_content() {
    let x = file("|u1", false, &[2, 3, 1], &[1, 2, 3, 4, 5, 6]);
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive
        .start_file("X.npy", zip::write::SimpleFileOptions::default())
        .unwrap();
    std::io::Write::write_all(&mut archive, &x).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    let series = b"# made\n@classLabel false\n@data\n1,2,3\n4,5,6\n";
    let table = b"series,x\na,1\na,2\na,3\nb,4\nb,5\nb,6\n";
    for bytes in [&x[..], &archive, series, table] {
        let read = read_sequences(bytes, &OpenOptions::default()).unwrap();
        assert_eq!(read.part.values.numbers(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(read.part.len(), 2);
    }
}

#[test]
fn names_that_lead_nowhere() {
    let open = |name: &str| open(name, &OpenOptions::default()).unwrap_err().to_string();
    assert_eq!(
        open("no-such-data"),
        "no-such-data: no file or folder of this name, and not one of the known data sets (`ernn data list`)"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xlsx");
    fs::write(&path, "x").unwrap();
    let error = open(&path.display().to_string());
    assert!(
        error.ends_with("a.xlsx: not a known kind of file: expected .ts, .csv, .tsv, .jsonl, .npy, .npz or .parquet"),
        "{error}"
    );
    let options = OpenOptions {
        data_dir: Some(folder.path().to_owned()),
        ..OpenOptions::default()
    };
    let error = super::open("har-2", &options).unwrap_err().to_string();
    assert!(
        error.starts_with("har-2: no \"UCI HAR Dataset\", folder or archive, in "),
        "{error}"
    );
    assert!(
        error.ends_with("name the folder with --data-dir or ERNN_DATA_DIR"),
        "{error}"
    );
    assert!(super::super::found("har-2", &options).is_none() && super::super::found("digits", &options).is_none());
}

#[test]
fn every_known_built_in_set_opens() {
    for known in super::super::known().iter().filter(|known| known.built_in) {
        let data = open(known.name, &OpenOptions::default()).unwrap();
        assert!(data.test.is_some() && data.name == known.name);
        assert_eq!(data.is_labelled(), data.task != Task::Regression);
    }
}

/// Groups keep their names, and one person has one number in all parts.
#[test]
fn groups_and_sequences_keep_their_names_in_all_parts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let opened = |name: &str| {
        let options = OpenOptions {
            table: TableOptions {
                window: name.starts_with("log").then_some(crate::data::Span::Steps(2)),
                ..TableOptions::default()
            },
            ..OpenOptions::default()
        };
        open(&folder.path().join(name).display().to_string(), &options).unwrap_or_else(|error| panic!("{error}"))
    };
    write("long/train.csv", "series,x,label,group\nr1,1,a,ben\nr2,2,b,anna\n");
    write("long/test.csv", "series,x,label,group\nr3,1,a,anna\nr4,2,b,carla\n");
    let data = opened("long");
    assert_eq!(data.group_names, ["ben", "anna", "carla"]);
    assert_eq!(
        (&data.train.groups[..], &data.train.names[..]),
        (&[0, 1][..], &["r1".to_string(), "r2".to_string()][..])
    );
    let test = data.test.as_ref().unwrap();
    assert_eq!((&test.groups[..], &test.name(1)[..]), (&[1, 2][..], "r4"));
    assert_eq!((&data.group_name(2)[..], &data.group_name(7)[..]), ("carla", "7"));
    write("wide.csv", "0,1,label,group\n1,2,a,ben\n2,3,b,anna\n");
    let data = opened("wide.csv");
    assert_eq!(
        (&data.group_names[..], &data.train.name(1)[..]),
        (&["ben".to_string(), "anna".to_string()][..], "2")
    );
    write("log.csv", "x,label,group\n1,a,ben\n2,a,ben\n3,b,anna\n4,b,anna\n");
    let data = opened("log.csv");
    assert_eq!(
        (&data.group_names[..], &data.train.name(1)[..]),
        (&["ben".to_string(), "anna".to_string()][..], "anna/1")
    );
}
