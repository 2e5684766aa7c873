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

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::archive::{Archive, Member, Members};
use super::known::{Entry, Known};
use super::number::{parse, shown};
use super::{Dataset, OpenOptions, Part, Values, lookup};
use crate::{Error, Result};

const SOURCE: &str = "https://archive.ics.uci.edu/dataset/240/human+activity+recognition+using+smartphones";
const LICENSE: &str = "see its README: cite Anguita et al., ESANN 2013; it bars commercial use";

/// The data sets that these files make.
pub(super) static SETS: [Entry; 2] = [
    Entry {
        known: Known {
            name: "har-2",
            description: "a phone's motion, two groups of activities: 9 channels, 128 steps, 7352 + 2947 sequences",
            source: SOURCE,
            license: LICENSE,
            built_in: false,
        },
        files: "\"UCI HAR Dataset\", folder or archive,",
        find,
        open,
        counts: &[&[3766, 3586], &[1499, 1448]],
    },
    Entry {
        known: Known {
            name: "har-6",
            description: "a phone's motion, six activities: 9 channels, 128 steps, 7352 + 2947 sequences",
            source: SOURCE,
            license: LICENSE,
            built_in: false,
        },
        files: "\"UCI HAR Dataset\", folder or archive,",
        find,
        open,
        counts: &[&[1226, 1073, 986, 1286, 1374, 1407], &[496, 471, 420, 491, 532, 537]],
    },
];

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
enum Classes {
    Two,
    Six,
}

/// The folder or the archive in `place`.
fn find(place: &Path) -> Option<PathBuf> {
    const ARCHIVES: [&str; 2] = ["ucihardataset", "humanactivityrecognitionusingsmartphones"];
    lookup::folder(place, &["ucihardataset"], "train/Inertial Signals")
        .or_else(|| lookup::archives(place, &ARCHIVES).into_iter().next())
}

fn open(name: &str, found: &Path, _: &OpenOptions) -> Result<Dataset> {
    let classes = if name == "har-2" { Classes::Two } else { Classes::Six };
    read_sized(found, name, classes, PARTS)
}

/// What one file holds.
enum Column {
    Signal(Vec<f32>),
    Numbers(Vec<u32>),
}

fn read_sized(found: &Path, name: &str, classes: Classes, parts: [(&str, usize); 2]) -> Result<Dataset> {
    let wanted = |path: &str| parts.iter().any(|(part, _)| kind_of(path, part).is_some());
    let mut columns = Archive::at(found).read(&wanted, |member| read_column(&member, parts))?;
    let [train, test] = parts.map(|part| build(&mut columns, part, classes));
    Ok(Dataset {
        name: name.to_owned(),
        feature_names: feature_names(),
        classes: class_names(classes),
        train: train?,
        test: Some(test?),
        ..Dataset::default()
    })
}

/// Which numbers a file of a part holds: `Some(None)` for a signal, `Some(range)` for activities and people.
fn kind_of(path: &str, part: &str) -> Option<Option<RangeInclusive<u32>>> {
    let name = path.rsplit('/').next()?.strip_suffix(&format!("_{part}.txt"))?;
    match name {
        "y" => Some(Some(1..=6)),
        "subject" => Some(Some(1..=30)),
        _ => feature_names().iter().any(|feature| feature == name).then_some(None),
    }
}

fn read_column(member: &Member, parts: [(&str, usize); 2]) -> Result<Column> {
    let kind = parts
        .iter()
        .find_map(|&(part, windows)| Some((kind_of(&member.name, part)?, windows)));
    match kind.expect("only these are wanted") {
        (None, windows) => read_signal(member, windows).map(Column::Signal),
        (Some(range), windows) => read_numbers(member, windows, range).map(Column::Numbers),
    }
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
fn build(columns: &mut Members<Column>, (part, windows): (&str, usize), classes: Classes) -> Result<Part> {
    let mut numbers = |name: &str| match columns.take(&format!("{part}/{name}_{part}.txt"))? {
        Column::Numbers(numbers) => Ok(numbers),
        Column::Signal(_) => unreachable!("the name tells what a file holds"),
    };
    let (activities, people) = (numbers("y")?, numbers("subject")?);
    let features = feature_names().len();
    let mut values = vec![0.0; windows * STEPS * features];
    for (feature, name) in feature_names().iter().enumerate() {
        let Column::Signal(signal) = columns.take(&format!("{part}/Inertial Signals/{name}_{part}.txt"))? else {
            unreachable!("the name tells what a file holds");
        };
        let places = values[feature..].iter_mut().step_by(features);
        places.zip(signal).for_each(|(place, value)| *place = value);
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

/// The lines that hold something, with their numbers from 1.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
}

fn read_signal(Member { path, bytes, .. }: &Member, windows: usize) -> Result<Vec<f32>> {
    let mut values = Vec::with_capacity(windows * STEPS);
    for (number, line) in lines(bytes) {
        let before = values.len();
        for text in line.split(u8::is_ascii_whitespace).filter(|text| !text.is_empty()) {
            let value = parse(text).ok().filter(|value| value.is_finite());
            let place = || format!(", line {number}, value {}", values.len() - before + 1);
            values.push(value.ok_or_else(|| Error::format(path, place(), shown(text), "a finite number"))?);
        }
        let found = values.len() - before;
        if found != STEPS {
            let place = format!(", line {number}");
            return Err(Error::format(path, place, format!("{found} values"), STEPS));
        }
    }
    check_windows(path, values.len() / STEPS, windows)?;
    Ok(values)
}

fn read_numbers(Member { path, bytes, .. }: &Member, windows: usize, range: RangeInclusive<u32>) -> Result<Vec<u32>> {
    let mut numbers = Vec::with_capacity(windows);
    for (number, line) in lines(bytes) {
        let value = std::str::from_utf8(line.trim_ascii())
            .ok()
            .and_then(|text| text.parse().ok());
        let value = value.filter(|value| range.contains(value)).ok_or_else(|| {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            Error::format(path, format!(", line {number}"), shown(line), expected)
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
    let expected = format!("{expected} as in the published data set");
    Err(Error::format(path, "", format!("{found} windows"), expected))
}

#[cfg(test)]
#[path = "har_tests.rs"]
mod tests;
