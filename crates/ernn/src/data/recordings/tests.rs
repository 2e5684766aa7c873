//! Recordings through the door of the data room: windows, their labels, numbers and times.

mod arrays;
mod events;
mod folders;
mod forecast;
mod grid;
mod refusals;

use std::fs;
use std::path::{Path, PathBuf};

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
    // Each step has its own; a window of which no step has one is left out.
    let of_steps = format!("target = \"kg\"\n{}", with("aim = \"steps\""));
    let data = read(&(missing.join("\n") + "\n"), &of_steps);
    assert_eq!(data.task, crate::data::Task::StepRegression);
    let numbers = &data.train.step_numbers;
    let unknown: Vec<usize> = (0..100).filter(|&step| numbers[step].is_nan()).collect();
    assert_eq!((unknown, numbers.len()), ((26..50).collect(), 100));
    assert_eq!([numbers[25], numbers[59], numbers[60]], [7.0, 7.0, 9.0]);
    assert_eq!(predicted(&text.replace(",7\n", ",?\n"), &of_steps).part.len(), 4);
    let found = read(&(missing.join("\n") + "\n").replacen(",7\n", ",?\n", 26), &of_steps);
    assert_eq!((found.train.len(), found.recordings[0].unlabelled), (2, 2));
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
