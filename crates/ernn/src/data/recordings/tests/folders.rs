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

#[test]
fn the_file_of_events_is_no_recording() {
    let place = Place::new();
    let unlabelled: String = log(200, 60)
        .lines()
        .map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    place.write("logs/night.csv", &unlabelled);
    let events = place
        .write("logs/events.csv", "start,end,label\n0,2000,dog\n2000,4000,cat\n")
        .display()
        .to_string();
    let data = place.open("logs", &with(&format!("events = {events:?}"))).unwrap();
    assert_eq!((data.recordings[0].recordings, data.train.labels.len()), (1, 8));
}

#[test]
fn files_without_labels_or_groups_lie_beside_those_that_have_them() {
    let place = Place::new();
    place.write("logs/a.csv", &log(150, 60));
    let without: String = log(150, 60)
        .lines()
        .map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    place.write("logs/b.csv", &without);
    let data = place.open("logs", HALF_SECOND).unwrap();
    assert_eq!(
        (data.train.labels.len(), data.recordings[0].unlabelled),
        (5, 6),
        "b has no label"
    );
    // A group of a column and a file that is its own group are two.
    let grouped = |name: &str| -> String {
        let row = |row: (usize, &str)| format!("{},{}\n", row.1, if row.0 == 0 { "group" } else { name });
        log(150, 60).lines().enumerate().map(row).collect()
    };
    place.write("mixed/a.csv", &grouped("anna"));
    place.write("mixed/b.csv", &grouped("ben"));
    place.write("mixed/c.csv", &log(150, 60));
    let data = place.open("mixed", HALF_SECOND).unwrap();
    assert_eq!(data.group_names, ["anna", "ben", "c"]);
}
