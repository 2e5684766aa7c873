//! UCI Daily and Sports Activities: 19 activities of 8 persons, five motion units on the body, 125 steps (5 s) of 45 channels.
//!
//! ```text
//! data/a01..a19/p1..p8/s01..s60.txt      125 lines of 45 numbers with commas; 9,120 files
//! ```
//!
//! The 60 segments of a person's activity are cut from one recording of five minutes, without overlap. Papers report one half
//! for training and one for testing and do not say which. Two halves are offered:
//!
//! - by persons (1-4, 5-8): the test asks for people never seen. Groups are the persons, so a validation part asks the same.
//! - by segments (odd, even): next to every test segment lie two training segments of the same recording, so the figure says
//!   little about other people. Sequences have no groups then: a validation part leaks as the test part does, and measures it.
//!
//! A linear classifier on means and deviations reaches 87 % by persons and 97 % by segments; the papers' 80 to 86 % speak for
//! persons. Altun, Barshan, Tuncel, "Comparative study on classifying human activities with miniature inertial and magnetic
//! sensors", Pattern Recognition 43 (10), 2010.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;

use super::archive::{Archive, Member};
use super::known::{Entry, Known};
use super::number::{parse, shown};
use super::preparation::SplitBy;
use super::{Dataset, OpenOptions, Part, Values, lookup};
use crate::{Error, Result};

const STEPS: usize = 125;
const PERSONS: usize = 8;
const UNITS: [&str; 5] = ["torso", "right_arm", "left_arm", "right_leg", "left_leg"];
const ACTIVITIES: [&str; 19] = [
    "SITTING",
    "STANDING",
    "LYING_ON_BACK",
    "LYING_ON_RIGHT_SIDE",
    "ASCENDING_STAIRS",
    "DESCENDING_STAIRS",
    "STANDING_IN_ELEVATOR",
    "MOVING_IN_ELEVATOR",
    "WALKING_IN_PARKING_LOT",
    "WALKING_ON_TREADMILL_FLAT",
    "WALKING_ON_TREADMILL_INCLINED",
    "RUNNING_ON_TREADMILL",
    "EXERCISING_ON_STEPPER",
    "EXERCISING_ON_CROSS_TRAINER",
    "CYCLING_HORIZONTAL",
    "CYCLING_VERTICAL",
    "ROWING",
    "JUMPING",
    "PLAYING_BASKETBALL",
];

/// The data set that these files make.
pub(super) static SETS: [Entry; 1] = [Entry {
    known: Known {
        name: "dsa-19",
        description: "motion of arms, legs and torso, 19 activities: 45 channels, 125 steps, 4560 + 4560 sequences",
        source: "https://archive.ics.uci.edu/dataset/256/daily+and+sports+activities",
        license: "CC BY 4.0 as UCI lists it; cite Altun, Barshan, Tuncel 2010",
        built_in: false,
    },
    files: "\"data\" with a01 to a19, or the archives",
    find,
    open,
    counts: &[&[240; 19], &[240; 19]],
}];

/// The folder with `a01`, UCI's archive, or the first archive of several that hold a part each.
fn find(place: &Path) -> Option<PathBuf> {
    lookup::folder(place, &["data", "dsa", "dailyandsportsactivities"], "a01/p1")
        .or_else(|| {
            lookup::archives(place, &["dailyandsportsactivities"])
                .into_iter()
                .next()
        })
        .or_else(|| lookup::archives(place, &["dsapart"]).into_iter().next())
}

fn open(name: &str, found: &Path, options: &OpenOptions) -> Result<Dataset> {
    read_sized(name, found, options.preparation.split, Size::PUBLISHED)
}

/// How much of it there is; tests have less.
#[derive(Clone, Copy, Debug)]
struct Size {
    activities: usize,
    segments: usize,
}

impl Size {
    const PUBLISHED: Size = Size {
        activities: 19,
        segments: 60,
    };

    fn files(self) -> usize {
        self.activities * PERSONS * self.segments
    }
}

/// Where a segment belongs: numbers from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    activity: usize,
    person: usize,
    segment: usize,
}

impl Place {
    /// From `.../a07/p2/s33.txt`.
    fn of(path: &str, size: Size) -> Option<Place> {
        let mut names = path.rsplit('/');
        let mut number = |first: char, ending: &str, most: usize| {
            let digits = names.next()?.strip_prefix(first)?.strip_suffix(ending)?;
            digits
                .parse::<usize>()
                .ok()?
                .checked_sub(1)
                .filter(|&number| number < most)
        };
        let segment = number('s', ".txt", size.segments)?;
        let person = number('p', "", PERSONS)?;
        let activity = number('a', "", size.activities)?;
        Some(Place {
            activity,
            person,
            segment,
        })
    }

    /// Position among all segments, activity by activity and person by person.
    fn index(self, size: Size) -> usize {
        (self.activity * PERSONS + self.person) * size.segments + self.segment
    }

    /// In this order.
    fn all(size: Size) -> impl Iterator<Item = Place> {
        (0..size.files()).map(move |index| Place {
            activity: index / size.segments / PERSONS,
            person: index / size.segments % PERSONS,
            segment: index % size.segments,
        })
    }

    /// In the test part.
    fn is_test(self, split: SplitBy) -> bool {
        match split {
            SplitBy::Persons => self.person >= PERSONS / 2,
            SplitBy::Segments => self.segment % 2 == 1,
        }
    }
}

/// The room of one segment in its part's values, and whether a file has filled it.
struct Room<'a> {
    values: &'a mut [f32],
    filled: bool,
}

fn read_sized(name: &str, found: &Path, split: SplitBy, size: Size) -> Result<Dataset> {
    let features = feature_names().len();
    let half = vec![0.0; size.files() / 2 * STEPS * features];
    let mut values = [half.clone(), half];
    let [train, test] = &mut values;
    let mut halves = [train, test].map(|values| values.chunks_exact_mut(STEPS * features));
    // Values are parsed into their place, so that they are in memory once.
    let mut rooms: Vec<Mutex<Room>> = Place::all(size)
        .map(|place| {
            let values = halves[usize::from(place.is_test(split))]
                .next()
                .expect("two equal halves");
            Mutex::new(Room { values, filled: false })
        })
        .collect();
    sources(found)
        .par_iter()
        .try_for_each(|archive| fill(archive, &rooms, size))?;
    for (place, room) in Place::all(size).zip(&mut rooms) {
        if !room.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).filled {
            return Err(Error::data(name, absent(found, place, size)));
        }
    }
    drop(rooms);
    let [train, test] = values;
    Ok(Dataset {
        name: name.to_owned(),
        feature_names: feature_names(),
        classes: ACTIVITIES.iter().map(|&name| name.to_owned()).collect(),
        train: build(train, split, false, size),
        test: Some(build(test, split, true, size)),
        ..Dataset::default()
    })
}

/// The folder or archive that was found, or all archives that hold a part.
fn sources(found: &Path) -> Vec<Archive> {
    let is_part = found.is_file() && lookup::plain_name(found).starts_with("dsapart");
    let parts = found
        .parent()
        .filter(|_| is_part)
        .map(|place| lookup::archives(place, &["dsapart"]));
    let paths = parts.unwrap_or_else(|| vec![found.to_owned()]);
    paths.iter().map(|path| Archive::at(path)).collect()
}

fn absent(found: &Path, place: Place, size: Size) -> String {
    let Place {
        activity,
        person,
        segment,
    } = place;
    let file = format!("a{:02}/p{}/s{:02}.txt", activity + 1, person + 1, segment + 1);
    format!(
        "{}: found no {file}, expected all {} segments",
        found.display(),
        size.files()
    )
}

fn feature_names() -> Vec<String> {
    let sensors = |unit: &&str| ["acc", "gyro", "mag"].map(|sensor| format!("{unit}_{sensor}"));
    let axes = |sensor: String| ["x", "y", "z"].map(|axis| format!("{sensor}_{axis}"));
    UNITS.iter().flat_map(sensors).flat_map(axes).collect()
}

/// Reads the segments of one archive into their rooms.
fn fill(archive: &Archive, rooms: &[Mutex<Room>], size: Size) -> Result<()> {
    let wanted = |path: &str| Place::of(path, size).is_some();
    let work = |member: Member| {
        let place = Place::of(&member.name, size).expect("only these are wanted");
        let mut room = rooms[place.index(size)]
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if room.filled {
            let expected = "one file a segment";
            return Err(Error::format(&member.path, "", "the same segment twice", expected));
        }
        parse_segment(&member, room.values)?;
        room.filled = true;
        Ok(())
    };
    archive.read(&wanted, work).map(|_| ())
}

/// Parses 125 lines of 45 numbers.
fn parse_segment(Member { path, bytes, .. }: &Member, values: &mut [f32]) -> Result<()> {
    let features = values.len() / STEPS;
    let mut rows = values.chunks_exact_mut(features);
    let lines = (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty());
    for (number, line) in lines {
        let row = rows.next().ok_or_else(|| {
            let found = "one more line";
            let expected = format!("{STEPS} lines");
            Error::format(path, format!(", line {number}"), found, expected)
        })?;
        let mut count = 0;
        for text in line.split(|&byte| byte == b',') {
            let value = parse(text).ok().filter(|value| value.is_finite()).ok_or_else(|| {
                let place = format!(", line {number}, value {}", count + 1);
                Error::format(path, place, shown(text), "a finite number")
            })?;
            row.get_mut(count).into_iter().for_each(|place| *place = value);
            count += 1;
        }
        if count != features {
            let place = format!(", line {number}");
            return Err(Error::format(path, place, format!("{count} values"), features));
        }
    }
    match rows.len() {
        0 => Ok(()),
        missing => {
            let found = format!("{} lines", STEPS - missing);
            Err(Error::format(path, "", found, format!("{STEPS}")))
        }
    }
}

fn build(values: Vec<f32>, split: SplitBy, test: bool, size: Size) -> Part {
    let places: Vec<Place> = Place::all(size).filter(|place| place.is_test(split) == test).collect();
    let persons = places.iter().map(|place| place.person as u32 + 1);
    Part {
        features: feature_names().len(),
        offsets: (0..=places.len()).map(|segment| segment * STEPS).collect(),
        values: Values::Numbers(values),
        labels: places.iter().map(|place| place.activity as u32).collect(),
        groups: if split == SplitBy::Persons {
            persons.collect()
        } else {
            Vec::new()
        },
        ..Part::default()
    }
}

#[cfg(test)]
#[path = "dsa_tests.rs"]
mod tests;
