//! UCI HAR: 128 steps of a phone's accelerometer and gyroscope, six activities, 30 people.
//!
//! ```text
//! UCI HAR Dataset/{train,test}/Inertial Signals/{body_acc,body_gyro,total_acc}_{x,y,z}_{train,test}.txt   a window a line
//! UCI HAR Dataset/{train,test}/{y,subject}_{train,test}.txt                                               a number a line
//! ```
//!
//! `har-6` are the activities; `har-2` is {sitting, laying, walking upstairs} against {standing, walking, walking downstairs}
//! (Kusupati et al., FastGRNN, appendix B). Groups are the people: windows of one person overlap by half.
//! Anguita et al., "A public domain dataset for human activity recognition using smartphones", ESANN 2013.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::number::{parse, shown};
use super::raw::format_error;
use super::{Dataset, Part, Values};
use crate::{Error, Result};

const STEPS: usize = 128;
/// The parts, with the windows that the published data set has.
const PARTS: [(&str, usize); 2] = [("train", 7352), ("test", 2947)];
const ACTIVITIES: [&str; 6] = [
    "WALKING",
    "WALKING_UPSTAIRS",
    "WALKING_DOWNSTAIRS",
    "SITTING",
    "STANDING",
    "LAYING",
];
/// The class of each activity in `har-2`.
const PAIR: [u32; 6] = [1, 0, 1, 0, 1, 0];

/// Which labels a window gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Classes {
    Two,
    Six,
}

/// The UCI HAR folder at or below `base`, if there is one.
pub(super) fn find(base: &Path) -> Option<PathBuf> {
    let below = [
        "",
        "UCI HAR Dataset",
        "UCI_HAR_Dataset",
        "har",
        "har/UCI HAR Dataset",
        "har/UCI_HAR_Dataset",
    ];
    below
        .iter()
        .map(|name| base.join(name))
        .find(|folder| folder.join("train").join("Inertial Signals").is_dir())
}

/// Reads the folder.
pub(super) fn read(folder: &Path, name: &str, classes: Classes) -> Result<Dataset> {
    read_sized(folder, name, classes, PARTS)
}

fn read_sized(folder: &Path, name: &str, classes: Classes, parts: [(&str, usize); 2]) -> Result<Dataset> {
    let feature_names = feature_names();
    // All signals of both parts at once, so that the threads stay busy to the end.
    let files: Vec<(&str, usize, &String)> = parts
        .iter()
        .flat_map(|&(part, windows)| feature_names.iter().map(move |feature| (part, windows, feature)))
        .collect();
    let signals: Vec<Vec<f32>> = files
        .into_par_iter()
        .map(|(part, windows, feature)| {
            let path = folder
                .join(part)
                .join("Inertial Signals")
                .join(format!("{feature}_{part}.txt"));
            read_signal(&path, windows)
        })
        .collect::<Result<_>>()?;
    let (train, test) = signals.split_at(feature_names.len());
    let [train, test] = [(parts[0], train), (parts[1], test)]
        .map(|((part, windows), signals)| build(&folder.join(part), part, windows, signals, classes));
    Ok(Dataset {
        name: name.to_owned(),
        feature_names,
        classes: class_names(classes),
        train: train?,
        test: Some(test?),
        ..Dataset::default()
    })
}

fn feature_names() -> Vec<String> {
    let sensors = ["body_acc", "body_gyro", "total_acc"];
    sensors
        .iter()
        .flat_map(|sensor| ["x", "y", "z"].map(|axis| format!("{sensor}_{axis}")))
        .collect()
}

fn class_names(classes: Classes) -> Vec<String> {
    let names: &[&str] = match classes {
        Classes::Two => &["SITTING|LAYING|WALKING_UPSTAIRS", "STANDING|WALKING|WALKING_DOWNSTAIRS"],
        Classes::Six => &ACTIVITIES,
    };
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Puts the signals of a part side by side, with labels and people.
fn build(folder: &Path, part: &str, windows: usize, signals: &[Vec<f32>], classes: Classes) -> Result<Part> {
    let activities = read_numbers(&folder.join(format!("y_{part}.txt")), windows, 1..=6)?;
    let people = read_numbers(&folder.join(format!("subject_{part}.txt")), windows, 1..=30)?;
    let features = signals.len();
    let mut values = vec![0.0; windows * STEPS * features];
    for (row, step) in values.chunks_exact_mut(features).zip(0..) {
        row.iter_mut()
            .zip(signals)
            .for_each(|(value, signal)| *value = signal[step]);
    }
    let class = |activity: u32| match classes {
        Classes::Two => PAIR[activity as usize - 1],
        Classes::Six => activity - 1,
    };
    Ok(Part {
        features,
        offsets: (0..=windows).map(|window| window * STEPS).collect(),
        values: Values::Numbers(values),
        labels: activities.into_iter().map(class).collect(),
        groups: people,
        ..Part::default()
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        action: "read",
        source,
    })
}

/// The lines that hold something, with their numbers from 1.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
}

fn read_signal(path: &Path, windows: usize) -> Result<Vec<f32>> {
    let bytes = read_file(path)?;
    let mut values = Vec::with_capacity(windows * STEPS);
    for (number, line) in lines(&bytes) {
        let before = values.len();
        for text in line.split(u8::is_ascii_whitespace).filter(|text| !text.is_empty()) {
            let value = parse(text).ok().filter(|value| value.is_finite());
            let place = || format!(", line {number}, value {}", values.len() - before + 1);
            values.push(value.ok_or_else(|| format_error(path, &place(), &shown(text), "a finite number"))?);
        }
        let found = values.len() - before;
        if found != STEPS {
            let place = format!(", line {number}");
            return Err(format_error(
                path,
                &place,
                &format!("{found} values"),
                &STEPS.to_string(),
            ));
        }
    }
    check_windows(path, values.len() / STEPS, windows)?;
    Ok(values)
}

fn read_numbers(path: &Path, windows: usize, range: std::ops::RangeInclusive<u32>) -> Result<Vec<u32>> {
    let bytes = read_file(path)?;
    let mut numbers = Vec::with_capacity(windows);
    for (number, line) in lines(&bytes) {
        let value = std::str::from_utf8(line.trim_ascii())
            .ok()
            .and_then(|text| text.parse().ok());
        let value = value.filter(|value| range.contains(value)).ok_or_else(|| {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            format_error(path, &format!(", line {number}"), &shown(line), &expected)
        })?;
        numbers.push(value);
    }
    check_windows(path, numbers.len(), windows)?;
    Ok(numbers)
}

fn check_windows(path: &Path, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(format_error(
        path,
        "",
        &format!("{found} windows"),
        &format!("{expected} as in the published data set"),
    ))
}

#[cfg(test)]
#[path = "har_tests.rs"]
mod tests;
