//! Folders of tables.

use super::*;

#[test]
fn a_folder_is_recordings_in_parts() {
    let place = Place::new();
    for (name, bout) in [("train/anna.csv", 60), ("train/ben.csv", 50), ("test/cleo.csv", 75)] {
        place.write(&format!("logs/{name}"), &log(300, bout));
    }
    let data = place.open("logs", &with("hop = 5")).unwrap();
    assert_eq!((data.recordings.len(), data.recordings[0].recordings), (2, 2));
    assert_eq!(data.train.groups.last(), Some(&1));
    let test = data.test.unwrap();
    assert_eq!(
        (test.len(), test.overlapping.len()),
        (test.apart().len(), 0),
        "those that judge are apart"
    );
    // A class a folder, where nothing else says one.
    let unlabelled = |bout| {
        log(100, bout)
            .lines()
            .map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n")
            .collect::<String>()
    };
    for name in ["walk/anna.csv", "run/anna.csv", "run/ben.csv"] {
        place.write(&format!("classes/{name}"), &unlabelled(60));
    }
    let data = place.open("classes", HALF_SECOND).unwrap();
    assert_eq!((data.classes.join(","), data.train.len()), ("run,walk".to_owned(), 12));
    let asked = open_sequences(&place.folder.path().join("classes"), &options(HALF_SECOND)).unwrap();
    assert_eq!((asked.names[0].as_str(), asked.part.len()), ("run/anna/1", 12));
    place.write("mixed/a.csv", &log(100, 60));
    place.write("mixed/b.csv", &log(100, 60).replace("x,y", "x,z"));
    let found = place.error("mixed", HALF_SECOND);
    assert!(
        found.contains("b.csv: found the channels x, z, expected x, y as in"),
        "{found}"
    );
}

#[test]
fn a_part_that_judges_is_not_divided_into_blocks() {
    let place = Place::new();
    for (name, bout) in [("train_anna", 60), ("train_ben", 50), ("test_cleo", 60)] {
        place.write(&format!("logs/{name}.csv"), &log(600, bout));
    }
    let data = place.open("logs", &with("hop = 5, purity = 0.1")).unwrap();
    assert_eq!((data.recordings[1].blocks, data.recordings[1].across), (0, 0));
}
