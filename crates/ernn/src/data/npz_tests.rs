use std::io::Write;

use super::super::npy::tests::file;
use super::*;

/// An archive of these arrays.
pub(in super::super) fn archive(arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn read_arrays(arrays: &[(&str, &[u8])]) -> Result<[Option<Raw>; 3]> {
    read(&archive(arrays), "a.npz".as_ref(), &OpenOptions::default())
}

fn x() -> Vec<u8> {
    file("|u1", false, &[3, 2, 1], &[1, 2, 3, 4, 5, 6])
}

fn three(bytes: &[u8; 3]) -> Vec<u8> {
    file("|u1", false, &[3], bytes)
}

#[test]
fn groups_are_read_for_each_part() {
    let (x, y, groups) = (x(), three(&[0, 1, 0]), file("|S2", false, &[3], b"b\0a\0b\0"));
    let arrays = [
        ("X_train", &x[..]),
        ("y_train", &y),
        ("Groups_train", &groups),
        ("X_val", &x),
        ("y_val", &y),
        ("groups_val", &three(&[7, 7, 9])),
        ("X_test", &x),
        ("y_test", &y),
    ];
    let groups = read_arrays(&arrays).unwrap().map(|raw| raw.unwrap().part.groups);
    assert_eq!(groups, [vec![0, 1, 0], vec![0, 0, 1], vec![]]);
    let [raw, ..] = read_arrays(&[("X", &x), ("groups", &three(&[5, 4, 5]))]).unwrap();
    let raw = raw.unwrap();
    assert_eq!(raw.groups.names, ["5", "4"]);
    assert_eq!((raw.part.groups, raw.notes), (vec![0, 1, 0], Vec::<String>::new()));
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let refusal = |groups: &[u8]| read_arrays(&[("X", &x()), ("groups", groups)]).unwrap_err().to_string();
    assert_eq!(
        refusal(&file("|u1", false, &[2], &[1, 2])),
        "a.npz, array groups: found groups of shape [2], expected [3], one group a sequence"
    );
    let missing = [1.0, f32::NAN, 2.0].map(f32::to_le_bytes).concat();
    assert_eq!(
        refusal(&file("<f4", false, &[3], &missing)),
        "a.npz, array groups, sequence 2: found no group, expected a number or text"
    );
}

#[test]
fn arrays_that_are_not_used_are_named() {
    // What is not used is not even parsed.
    let (x, y) = (x(), three(&[0, 1, 0]));
    let notes = |arrays: &[(&str, &[u8])]| read_arrays(arrays).unwrap()[0].as_ref().unwrap().notes.clone();
    let found = notes(&[("X", &x), ("y", &y), ("subjects", b"no array")]);
    assert!(
        found.len() == 1
            && found[0].starts_with("a.npz: the array subjects is not used; what is read is X, y, groups, "),
        "{found:?}"
    );
    // Groups of no part of the archive.
    let found = notes(&[("X_train", &x), ("y_train", &y), ("groups", &y), ("time", &y)]);
    assert!(
        found[0].starts_with("a.npz: the arrays groups, time are not used"),
        "{found:?}"
    );
}

#[test]
fn two_arrays_for_one_purpose_are_refused() {
    let (x, y) = (x(), three(&[0, 1, 0]));
    for (arrays, names) in [
        ([("X", &x), ("x", &x), ("y", &y)], "X and x"),
        ([("X", &x), ("y", &y), ("Y", &y)], "y and Y"),
        ([("X", &x), ("X_train", &x), ("y", &y)], "X and X_train"),
        ([("X", &x), ("X_val", &x), ("X_valid", &x)], "X_val and X_valid"),
        ([("X", &x), ("groups", &y), ("GROUPS", &y)], "groups and GROUPS"),
    ] {
        let arrays = arrays.map(|(name, bytes)| (name, &bytes[..]));
        let error = read_arrays(&arrays).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("a.npz: found the arrays {names}, expected only one of them")
        );
    }
}

#[test]
fn lengths_and_names_of_sequences_and_channels_are_read() {
    let x = x();
    let names = file("|S1", false, &[3], b"cab");
    let arrays = [
        ("X", &x[..]),
        ("lengths", &three(&[2, 1, 2])),
        ("names", &names),
        ("Channels", &file("|S3", false, &[1], b"acc")),
    ];
    let [raw, ..] = read_arrays(&arrays).unwrap();
    let raw = raw.unwrap();
    assert_eq!(raw.part.offsets, [0, 2, 3, 5]);
    assert_eq!(raw.part.values.numbers(), [1.0, 2.0, 3.0, 5.0, 6.0]);
    assert_eq!(
        (raw.names.concat(), raw.feature_names, raw.notes.len()),
        ("cab".to_owned(), vec!["acc".to_owned()], 0)
    );
    let refused = |name: &str, bytes: &[u8], part: &str| {
        let error = read_arrays(&[("X", &x), (name, bytes)]).unwrap_err().to_string();
        assert!(error.contains(part), "no `{part}` in {error}");
    };
    refused(
        "lengths",
        &three(&[2, 0, 2]),
        "array lengths, sequence 2: found 0, expected a whole number of steps from 1 to 2",
    );
    refused("lengths", &three(&[3, 1, 2]), "sequence 1: found 3");
    refused(
        "lengths",
        &file("|u1", false, &[2], &[1, 2]),
        "found lengths of shape [2], expected [3], one length a sequence",
    );
    refused(
        "names",
        &file("|u1", false, &[2], &[1, 2]),
        "found names of shape [2], expected [3]",
    );
    refused(
        "channels",
        &three(&[1, 2, 3]),
        "found channels of shape [3], expected [1]",
    );
    let two = file("|u1", false, &[3, 3], &[0; 9]);
    let error = read_arrays(&[("X", &two), ("lengths", &three(&[1, 1, 1]))])
        .unwrap_err()
        .to_string();
    assert!(error.contains("found an array of shape [3, 3]"), "{error}");
}

/// The numbers of steps of sequences stand in an array of their own: nothing is cut.
#[test]
fn sequences_may_have_numbers_of_steps() {
    let (x, y) = (x(), file("|u1", false, &[3, 2], &[10, 20, 30, 40, 50, 60]));
    let mut options = OpenOptions::default();
    options.table.target = vec!["y".to_string()];
    options.table.recordings.aim = super::super::Aim::Steps;
    let bytes = archive(&[("X", &x), ("y", &y)]);
    let [raw, ..] = read(&bytes, "a.npz".as_ref(), &options).unwrap();
    let raw = raw.unwrap();
    assert_eq!(raw.part.step_numbers, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    options.table.target.clear();
    let error = read(&bytes, "a.npz".as_ref(), &options).unwrap_err().to_string();
    assert!(error.contains("--task steps"), "{error}");
}
