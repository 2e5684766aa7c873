//! Labels in a file of their own.

use super::*;

#[test]
fn events_label_the_rows_between() {
    let place = Place::new();
    let unlabelled: String = log(500, 60)
        .lines()
        .map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    place.write("log.csv", &unlabelled);
    let events = |name: &str, text: &str| place.write(name, text).display().to_string();
    let open = |path: &str| place.open("log.csv", &with(&format!("events = {path:?}, purity = 0.9")));
    // In the log's own unit, in seconds since its beginning, and as Audacity and Label Studio write it.
    let studio = r#"[{"annotations":[{"result":[
        {"value":{"start":0,"end":2000,"instant":false,"timeserieslabels":["dog"]}},
        {"value":{"start":"4000","end":6000,"timeserieslabels":["cat"]}}]}]}]"#;
    for (name, text) in [
        ("own.csv", "start,end,label\n0,2000,dog\n4000,6000,cat\n"),
        ("seconds.tsv", "onset\tduration\tclass\n0\t2\tdog\n4\t2\tcat\n"),
        (
            "audacity.txt",
            "0.000000\t2.000000\tdog\n\\\t100.0\t200.0\n4.0\t6.0\tcat\n",
        ),
        ("studio.json", studio),
    ] {
        let data = open(&events(name, text)).unwrap();
        assert_eq!(data.classes, ["cat", "dog"], "{name}");
        assert_eq!(data.train.labels, [1, 1, 1, 1, 0, 0, 0, 0], "{name}");
        assert_eq!(data.recordings[0].unlabelled, 12, "{name}");
    }
    for (text, parts) in [
        (
            "start,end,label\n0,2000,dog\n99000,99001,cat\n",
            "line 3: found an event from \"99000\" to \"99001\", outside",
        ),
        (
            "start,end,label\n0,2000,dog\n1000,3000,cat\n",
            "line 3: found \"cat\" while \"dog\" of line 2 goes on",
        ),
        (
            "start,end,label\n2000,0,dog\n",
            "line 2: found an end of \"0\" before the start of \"2000\"",
        ),
        ("start,end,label\n0,x,dog\n", "line 2: found \"x\", expected a time"),
        ("start,stop\n0,1\n", "no column label among start, stop"),
        ("start,end,label\n0,1,\n", "line 2: found no label"),
        ("start,end,label\n", "found no event"),
        (
            "start,end,label,recording\n0,1,a,night\n",
            "line 2: found an event of \"night\"",
        ),
        (
            "start,end,label\n2026-03-01T00:00:00,2026-03-01T00:01:00,dog\n",
            "outside of every recording, expected times within",
        ),
        ("[1, 2", "expected JSON as Label Studio exports it"),
    ] {
        let found = open(&events("bad.csv", text)).unwrap_err().to_string();
        assert!(found.contains(parts), "{parts} in {found}");
    }
}

/// An hour off would be another label for every row.
#[test]
fn events_and_rows_say_alike_where_their_clocks_stand() {
    let place = Place::new();
    let row = |row: usize| format!("2026-03-01T08:00:{:02}.{:02}Z,{}\n", row / 50, row % 50 * 2, row % 7);
    place.write(
        "log.csv",
        &("t_ms,x\n".to_owned() + &(0..500).map(row).collect::<String>()),
    );
    let events = place.write("e.csv", "start,end,label\n2026-03-01T08:00:00,2026-03-01T08:00:05,a\n");
    let found = place.error(
        "log.csv",
        &with(&format!("events = {:?}", events.display().to_string())),
    );
    assert!(
        found.contains("found times without an offset from UTC, expected times with one"),
        "{found}"
    );
    let events = place.write(
        "e.csv",
        "start,end,label\n2026-03-01T09:00:00+01:00,2026-03-01T08:00:05Z,a\n",
    );
    let data = place
        .open(
            "log.csv",
            &with(&format!("events = {:?}", events.display().to_string())),
        )
        .unwrap();
    assert_eq!((data.recordings[0].windows, data.recordings[0].unlabelled), (10, 10));
}

/// Two persons of one table, and events of one of them.
fn persons(place: &Place) {
    let mut text = String::from("t_ms,person,x\n");
    for row in 0..400 {
        text += &format!("{},{},{}\n", 20 * (row / 2), ["anna", "ben"][row % 2], row * 7 % 11);
    }
    place.write("both/log.csv", &text);
    for name in ["anna", "ben"] {
        let own: String = log(200, 60)
            .lines()
            .map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n")
            .collect();
        place.write(&format!("logs/{name}.csv"), &own);
    }
}

#[test]
fn events_are_of_the_recording_that_they_name() {
    let place = Place::new();
    persons(&place);
    let of_anna = |name: &str| format!("recording,start,end,label\n{name},0,2000,dog\n{name},2000,4000,cat\n");
    let labels = |folder: &str, name: &str, group: &str| {
        let events = place.write("events.csv", &of_anna(name)).display().to_string();
        let data = place
            .open(folder, &format!("{group}{}", with(&format!("events = {events:?}"))))
            .unwrap();
        (data.train.labels, data.recordings[0].unlabelled)
    };
    // By the name of the recording, by that of its file, with and without its ending.
    for name in ["anna", "anna.csv"] {
        assert_eq!(labels("logs", name, ""), (vec![1, 1, 1, 1, 0, 0, 0, 0], 8), "{name}");
    }
    let group = "group_column = \"person\"\n";
    assert_eq!(labels("both/log.csv", "anna", group), (vec![1, 1, 1, 1, 0, 0, 0, 0], 8));
    let events = place.write("events.csv", &of_anna("log")).display().to_string();
    let found = place.error(
        "both/log.csv",
        &format!("{group}{}", with(&format!("events = {events:?}"))),
    );
    assert!(
        found.contains("line 2: found an event of \"log\", expected the name of one recording: \"anna\" or \"ben\""),
        "{found}"
    );
    // The only recording may be called by its file.
    place.write(
        "log.csv",
        &log(200, 60)
            .replace(",label", ",z")
            .replace(",walk", ",1")
            .replace(",run", ",2"),
    );
    assert_eq!(labels("log.csv", "log.csv", "").1, 0);
}

#[test]
fn events_have_decimal_commas_where_their_table_has_other_separators() {
    let place = Place::new();
    place.write(
        "log.csv",
        &log(200, 60)
            .replace(",label", ",z")
            .replace(",walk", ",1")
            .replace(",run", ",2"),
    );
    let events = place
        .write("events.csv", "start;duration;label\n0,0;1,5;dog\n2,0;1,5;cat\n")
        .display()
        .to_string();
    let data = place.open("log.csv", &with(&format!("events = {events:?}"))).unwrap();
    assert_eq!(data.train.labels, [1, 1, 1, 0, 0, 0]);
}
