//! Recordings through the door of the data room, and the grid beside scipy (`reference/recordings.py`).

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::grid::Grid;
use super::*;
use crate::data::{Dataset, OpenOptions, Sequences, open, open_sequences};

/// A log of 50 Hz in milliseconds: walk for `bout` rows, run for as many, and so on.
fn log(rows: usize, bout: usize) -> String {
    let mut text = String::from("t_ms,x,y,label\n");
    for row in 0..rows {
        let kind = row / bout % 2;
        let label = ["walk", "run"][kind];
        text += &format!("{},{},{},{label}\n", 20 * row, row * 7 % 11, kind * 5 + row % 3);
    }
    text
}

fn options(toml: &str) -> OpenOptions {
    OpenOptions {
        table: toml::from_str(toml).unwrap(),
        ..OpenOptions::default()
    }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn open(&self, name: &str, toml: &str) -> crate::Result<Dataset> {
        open(self.folder.path().join(name).to_str().unwrap(), &options(toml))
    }

    fn error(&self, name: &str, toml: &str) -> String {
        self.open(name, toml).unwrap_err().to_string()
    }
}

fn read(text: &str, toml: &str) -> Dataset {
    let place = Place::new();
    place.write("log.csv", text);
    place.open("log.csv", toml).unwrap()
}

fn error(text: &str, toml: &str) -> String {
    let place = Place::new();
    place.write("log.csv", text);
    place.error("log.csv", toml)
}

fn predicted(text: &str, toml: &str) -> Sequences {
    let place = Place::new();
    open_sequences(&place.write("log.csv", text), &options(toml)).unwrap()
}

const HALF_SECOND: &str = "window = \"0.5s\"\nrecordings = { time_column = \"t_ms\", rate = 50.0 }";

fn with(more: &str) -> String {
    HALF_SECOND.replace(" }", &format!(", {more} }}"))
}

#[test]
fn windows_have_the_label_that_covers_enough() {
    // Bouts of 60 rows and windows of 25: the third of every five has 10 of one and 15 of the other.
    let data = read(&log(300, 60), HALF_SECOND);
    let facts = &data.recordings[0];
    assert_eq!(
        (facts.windows, facts.mixed, facts.across, facts.rows),
        (10, 2, 0, 300),
        "{facts}"
    );
    assert_eq!((facts.rate, facts.seconds), (Some(50.0), Some(5.98)));
    assert_eq!(data.train.longest(), 25);
    assert_eq!(data.classes, ["run", "walk"]);
    assert_eq!(data.train.labels, [1, 1, 0, 0, 1, 1, 0, 0, 1, 1]);
    let all = read(&log(300, 60), &with("purity = 0.6"));
    assert_eq!((all.recordings[0].windows, all.recordings[0].mixed), (12, 0));
    assert_eq!(all.train.labels[2..5], [0, 0, 0], "15 of 25 rows are run");
    let end = read(&log(300, 60), &with("label_at = \"end\""));
    assert_eq!(end.train.labels, [1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1]);
    let values = data.train.sequence(1);
    assert_eq!(values[..4], [(25 * 7 % 11) as f32, 1.0, (26 * 7 % 11) as f32, 2.0]);
}

#[test]
fn windows_overlap_in_training_alone() {
    let data = read(&log(300, 60), &with("hop = \"250ms\""));
    assert_eq!(data.recordings[0].hop, Some(13), "12.5 steps, rounded");
    let apart = data.train.apart();
    assert!(apart.len() < data.train.len() && data.train.overlapping.len() == data.train.len());
    let kept = read(&log(300, 60), &with("hop = \"250ms\", keep_overlap = true"));
    assert!(kept.train.overlapping.is_empty());
    assert_eq!(kept.train.values, data.train.values);
}

#[test]
fn a_single_recording_is_divided_into_blocks_that_no_window_crosses() {
    let data = read(&log(1500, 60), &with("hop = 5, purity = 0.1"));
    let facts = &data.recordings[0];
    assert_eq!((facts.blocks, facts.recordings), (6, 1), "1500 rows in blocks of 250");
    assert_eq!(facts.across, 5 * 4, "four windows over each of five borders");
    let groups: std::collections::BTreeSet<u32> = data.train.groups.iter().copied().collect();
    assert_eq!(groups.len(), 6);
    assert!(
        data.notes.iter().any(|note| note.contains("6 blocks of time")),
        "{:?}",
        data.notes
    );
    // Who only asks gets every window.
    let asked = predicted(&log(1500, 60), &with("hop = 5"));
    assert_eq!(asked.part.len(), (1500 - 25) / 5 + 1);
}

#[test]
fn persons_and_series_are_recordings_and_groups() {
    let mut text = String::from("t_ms,person,x,label\n");
    for row in 0..200 {
        let person = ["anna", "ben"][row % 2];
        text += &format!(
            "{},{person},{},{}\n",
            20 * (row / 2),
            row * 7 % 11,
            ["a", "b"][row / 100]
        );
    }
    let options = "window = 25\ngroup_column = \"person\"\nrecordings = { time_column = \"t_ms\" }";
    let data = read(&text, options);
    assert_eq!(data.train.groups, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!((data.recordings[0].recordings, data.recordings[0].blocks), (2, 0));
    assert_eq!(data.feature_names, ["x"]);
    let asked = predicted(&text, options);
    assert_eq!(asked.names[..2], ["anna/1", "anna/2"]);
    assert_eq!(asked.times[1], ["500", "1000"], "without a grid the times of the rows");
    let gridded = predicted(&text, &options.replace(" }", ", rate = 50 }"));
    assert_eq!(gridded.times[1], ["500", "1000"]);
}

#[test]
fn a_window_spans_no_gap() {
    let kept = |row: &str| {
        row.starts_with('t') || !(1000..1400).contains(&row.split(',').next().unwrap().parse::<u32>().unwrap())
    };
    let text: String = log(150, 150)
        .lines()
        .filter(|row| kept(row))
        .map(|row| format!("{row}\n"))
        .collect();
    let data = predicted(&text, HALF_SECOND);
    assert_eq!(
        data.times.iter().map(|[start, _]| start.as_str()).collect::<Vec<_>>(),
        ["0", "500", "1400", "1900", "2400"]
    );
    let filled = predicted(&text, &with("max_gap = \"1s\""));
    assert_eq!(filled.part.len(), 6);
    // x is a straight line over the gap.
    let values: Vec<f32> = filled.part.sequence(2).iter().step_by(2).copied().collect();
    let slope = values[1] - values[0];
    assert!(
        values[..19]
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - slope).abs() < 1e-4),
        "{values:?}"
    );
    let place = Place::new();
    place.write("log.csv", &text);
    let facts = &place.open("log.csv", HALF_SECOND).unwrap().recordings[0];
    assert_eq!(
        (facts.gaps, facts.longest_gap.map(|gap| (100.0 * gap).round())),
        (1, Some(42.0))
    );
}

#[test]
fn rows_are_put_onto_a_grid_as_scipy_does() {
    let index: Vec<f64> = (0..60).map(f64::from).collect();
    let times: Vec<f64> = index.iter().map(|index| 0.02 * (index + 0.3 * index.sin())).collect();
    let tone = |hertz: f64, time: f64| (2.0 * std::f64::consts::PI * hertz * time).sin();
    let values: Vec<f32> = times
        .iter()
        .map(|&t| (tone(1.3, t) + 0.5 * tone(19.0, t)) as f32)
        .collect();
    let put = |rate| {
        let grid = Grid {
            rate,
            apart: 0.02,
            longest: 0.1,
        };
        grid.put(&times, &values, 1)
    };
    let up = [
        0.0, 0.185315, 0.159355, 0.252860, 0.847665, 0.542227, 0.477646, 1.246433, 0.796934, 0.689992, 1.373816,
        1.063621,
    ];
    let down = [
        0.025457, 0.386671, 0.758794, 0.980267, 0.996230, 0.898865, 0.639151, 0.315304, -0.100829, -0.522774,
        -0.800250, -0.964478,
    ];
    let ends = [[-0.169782, 0.290474, -0.204648], [0.729592, 0.502365, -0.051531]];
    for (rate, steps, first, last) in [(60.0, 72, up, ends[0]), (20.0, 24, down, ends[1])] {
        let found = put(rate).values;
        assert_eq!(found.len(), steps);
        let expected = first.iter().chain(&last);
        for (found, expected) in found[..12].iter().chain(&found[steps - 3..]).zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 2e-6,
                "{rate}: {found} {expected}"
            );
        }
    }
    assert_eq!(put(60.0).rows[..4], [0, 1, 1, 2]);
}

#[test]
fn what_is_missing_in_a_channel_is_filled_over_short_times_only() {
    let grid = Grid {
        rate: 20.0,
        apart: 0.1,
        longest: 0.35,
    };
    let times: Vec<f64> = (0..12).map(|row| 0.1 * f64::from(row)).collect();
    let mut values: Vec<f32> = (0..12).map(|row| row as f32).collect();
    values[2] = f32::NAN;
    values[6..10].fill(f32::NAN);
    let found = grid.put(&times, &values, 1).values;
    assert!((found[4] - 2.0).abs() < 1e-5, "{found:?}");
    assert!(found[11..19].iter().all(|value| value.is_nan()) && !found[10].is_nan() && !found[20].is_nan());
}

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
fn what_cannot_be_meant_is_refused_with_its_place() {
    let text = log(100, 60);
    for (text, toml, parts) in [
        (
            text.replace("\n400,", "\n399,").replace("\n380,", "\n400,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"399\", expected a later time than that of line 21",
        ),
        (
            text.replace("\n400,", "\n380,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"380\", expected a later time than that of line 21, which is the same",
        ),
        (
            text.replace("\n400,", "\nnoon,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"noon\", expected a time",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("50.0", "2000.0"),
            "rate: found 2000 Hz for rows that come at 50.0000 Hz",
        ),
        (
            text.clone(),
            HALF_SECOND.replace(", rate = 50.0", ""),
            "(rows come at 50.0000 Hz)",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("0.5s", "1h"),
            "found 100 steps (2 s) in the longest piece without a gap, expected at least the 180000 steps (3600 s)",
        ),
        (
            log(100, 2),
            HALF_SECOND.to_owned(),
            "no window with a label: 4 without one that covers 67 % of it (at most 52 %)",
        ),
        (text.clone(), with("purity = 1.5"), "purity: found 1.5"),
        (
            text.clone(),
            "recordings = { hop = 5, time_column = \"t_ms\" }".to_owned(),
            "hop: found no window",
        ),
        (
            text.clone(),
            "window = 5\nrecordings = { max_gap = 5 }".to_owned(),
            "max-gap: found no times",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("t_ms", "clock"),
            "no column \"clock\" (--time)",
        ),
        (
            text.replace("t_ms", "t"),
            HALF_SECOND.replace("t_ms", "t").replace("50.0", "0.001"),
            "--time-unit s, ms, us or ns",
        ),
        ("t_ms,x,label\n".to_owned(), HALF_SECOND.to_owned(), "found no row"),
    ] {
        let found = error(&text, &toml);
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

#[test]
fn what_is_of_recordings_alone_is_refused_for_other_tables() {
    for (toml, flag) in [
        ("recordings = { rate = 50 }", "rate"),
        ("recordings = { purity = 0.5 }", "purity"),
        ("recordings = { label_at = \"end\" }", "label-at"),
        ("recordings = { aim = \"steps\" }", "task"),
    ] {
        let found = error("series,x,label\na,1,b\n", toml);
        assert!(found.contains(&format!("{flag}: found no recordings")), "{found}");
    }
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
fn what_would_fill_the_memory_is_refused() {
    let far = log(40, 60) + "99999999999,1,2,walk\n";
    let found = error(&far, &with("max_gap = \"90000h\""));
    assert!(
        found.contains("max-gap: found 5000000000 steps of 50 Hz to make of 41 rows"),
        "{found}"
    );
    let found = error(
        &log(100_000, 60),
        "window = 90000\nrecordings = { time_column = \"t_ms\", hop = 1 }",
    );
    assert!(
        found.contains("hop: found 1 steps, which makes 72 GB of windows"),
        "{found}"
    );
}

#[test]
fn rows_without_times_are_steps() {
    let text: String = log(300, 60)
        .lines()
        .map(|row| row.split_once(',').unwrap().1.to_owned() + "\n")
        .collect();
    let data = read(&text, "window = 25");
    assert_eq!((data.recordings[0].windows, data.recordings[0].mixed), (10, 2));
    let asked = predicted(&text, "window = 25");
    assert_eq!(
        (asked.names[1].as_str(), &asked.times[1]),
        ("2", &["26".to_owned(), "51".to_owned()])
    );
    let asked = predicted(&text, "window = \"0.5s\"\nrecordings = { rate = 50 }");
    assert_eq!(asked.times[1], ["0.5", "1"]);
    let whole = predicted(&log(300, 60), "recordings = { time_column = \"t_ms\" }");
    assert_eq!((whole.part.len(), whole.part.longest()), (1, 300));
}

#[test]
fn each_step_may_have_a_class() {
    // The third of three bouts of 60 rows has no label.
    let text: String = log(180, 60)
        .lines()
        .enumerate()
        .map(|(row, line)| {
            if row > 120 {
                line.rsplit_once(',').unwrap().0.to_owned() + ",\n"
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    let steps = with("aim = \"steps\"");
    let data = read(&text, &steps);
    assert_eq!(data.task, crate::data::Task::StepClassification);
    assert!(data.train.labels.is_empty());
    assert_eq!(
        (data.train.len(), data.recordings[0].unlabelled),
        (5, 2),
        "windows without any label"
    );
    assert_eq!(data.train.follows, [false, true, true, true, true]);
    let labels = &data.train.step_labels;
    assert_eq!(
        (labels[59], labels[60], labels[119], labels[120]),
        (1, 0, 0, crate::data::UNLABELLED)
    );
    let found = error(&text, &with("aim = \"steps\", purity = 0.5"));
    assert!(found.contains("purity: found a class for each step"), "{found}");
    // Who asks gets each step once, to the end.
    let asked = predicted(&text, &steps.replace("\"0.5s\"", "\"0.7s\""));
    assert_eq!(asked.part.offsets, [0, 35, 70, 105, 140, 175, 180]);
    assert_eq!(asked.step_times[5], ["3500", "3520", "3540", "3560", "3580", "3600"]);
    assert_eq!(asked.part.follows, [false, true, true, true, true, true]);
}

#[test]
fn a_window_may_have_a_number() {
    // The third column counts rows; two are missing, in the second window all but one.
    let text = log(100, 60)
        .replace(",label", ",kg")
        .replace(",walk", ",7")
        .replace(",run", ",9");
    let options = format!("target = \"kg\"\n{}", with("hop = 25"));
    let data = read(&text, &options);
    assert_eq!(data.task, crate::data::Task::Regression);
    assert_eq!(data.train.numbers, [7.0, 7.0, (10.0 * 7.0 + 15.0 * 9.0) / 25.0, 9.0]);
    assert_eq!(data.feature_names, ["x", "y"]);
    let end = read(&text, &options.replace("hop = 25", "label_at = \"end\""));
    assert_eq!(end.train.numbers, [7.0, 7.0, 9.0, 9.0]);
    let lines: Vec<&str> = text.lines().collect();
    let missing: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(row, line)| {
            if (27..51).contains(&row) {
                line.rsplit_once(',').unwrap().0.to_owned() + ",?"
            } else {
                (*line).to_owned()
            }
        })
        .collect();
    let data = read(&(missing.join("\n") + "\n"), &options);
    assert_eq!((data.train.numbers.len(), data.recordings[0].unlabelled), (3, 1));
    let asked = predicted(&text.replace(",7\n", ",?\n"), &options);
    assert_eq!(asked.part.len(), 4);
    let found = error(&text, &format!("target = \"kg\"\n{}", with("aim = \"steps\"")));
    assert!(found.contains("task: found steps"), "{found}");
}

#[test]
fn what_a_run_keeps_is_what_was_said() {
    let own = options(&with(
        "hop = \"250ms\", label_at = \"end\", keep_overlap = true, time_unit = \"ms\"",
    ));
    let text = toml::to_string(&own.table).unwrap();
    let again: crate::data::TableOptions = toml::from_str(&text).unwrap();
    assert_eq!(again, own.table, "{text}");
    // What earlier versions wrote.
    let old: crate::data::TableOptions = toml::from_str("window = 128").unwrap();
    assert_eq!(old.window, Some(Span::Steps(128)));
    assert!(Path::new("log.csv").extension().is_some());
}

proptest! {
    /// Whatever the bytes, the reader answers.
    #[test]
    fn no_table_brings_the_reader_down(
        rows in proptest::collection::vec("[0-9]{1,4}(,|;|\t)?[-0-9.e]{0,6},[a-z\"]{0,3},?[0-9T:Z-]{0,12}", 0..30),
        header in "(t|time|t_ms),x,?(label|person)?,?[a-z]{0,3}",
        window in 1usize..9,
    ) {
        let text = format!("{header}\n{}\n", rows.join("\n"));
        let place = Place::new();
        let path = place.write("log.csv", &text);
        for toml in [format!("window = {window}"), format!("window = \"{window}ms\"\nrecordings = {{ time_column = \"t\", rate = 50 }}")] {
            let _ = open_sequences(&path, &options(&toml));
            let _ = open(path.to_str().unwrap(), &options(&toml));
        }
    }

    /// Steps of a grid lie between the smallest and the largest row, whatever the times.
    #[test]
    fn a_straight_line_makes_nothing_up(apart in proptest::collection::vec(0.001f64..0.3, 2..60), rate in 1.0f64..200.0) {
        let mut time = 0.0;
        let times: Vec<f64> = apart.iter().map(|apart| { time += apart; time }).collect();
        let values: Vec<f32> = (0..times.len()).map(|row| (row * 7 % 11) as f32).collect();
        let grid = Grid { rate, apart: 1.0 / rate, longest: f64::INFINITY };
        let found = grid.put(&times, &values, 1);
        prop_assert_eq!(found.values.len(), found.rows.len());
        prop_assert!(found.values.iter().all(|value| (0.0..=10.0).contains(value)));
        prop_assert!(found.rows.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
