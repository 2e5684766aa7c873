//! `speech-10`: ten words of Speech Commands 0.01, as features in arrays or as recordings.
//!
//! ```text
//! logmel_u8.npy [n, 99, 32]   value = -23.025852 + 0.1875 u8, at most 0.094 off the features that recordings give here
//! labels.npy [n] u8           0 yes 1 no 2 up 3 down 4 left 5 right 6 stop 7 bed 8 cat 9 happy
//! split.npy [n] u8            0 training, 1 validation, 2 test
//! files.txt                   word/file of each
//! ```
//!
//! or a folder a word with WAVE files. Their part is then that of the speaker, by the rule of the Speech Commands README (`which_set`),
//! of which `split.npy` is the result:
//!
//! ```text
//! p = (SHA-1(speaker) mod 2^27) * 100 / (2^27 - 1)         validation if p < 10, test if p < 20, else training
//! ```

use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::clips::{Clip, Extractor, parts};
use super::commands::{self, clip, recipe};
use super::release::{speaker_of, word_of};
use super::source::Source;
use super::{AudioOptions, dataset, sha1};
use crate::data::archive::Archive;
use crate::data::labels::Names;
use crate::data::lookup;
use crate::data::npy;
use crate::data::{Dataset, OpenOptions, Part, Values};
use crate::{Error, Result};

const WORDS: [&str; 10] = [
    "yes", "no", "up", "down", "left", "right", "stop", "bed", "cat", "happy",
];
const FRAMES: usize = 99;
const FILTERS: usize = 32;
/// Recordings that the arrays hold.
const COUNT: usize = 12_188;
/// Recordings of a folder that counts as the data set.
const LEAST: usize = COUNT / 10 * 9;
/// Those of each word in the training and the test part.
pub(super) static COUNTS: [&[usize]; 2] = [
    &[791, 775, 788, 783, 784, 787, 798, 1340, 1399, 1373],
    &[95, 119, 104, 102, 109, 104, 106, 176, 166, 180],
];

/// Where the arrays or the recordings lie in a folder.
pub(super) fn find(place: &Path) -> Option<PathBuf> {
    let arrays = ["logmel_u8.npy", "logmel_u8.npy.xz"];
    let of_arrays = arrays
        .iter()
        .find_map(|file| lookup::folder(place, &["speechcommands"], file));
    of_arrays
        .or_else(|| holds_the_words(place, LEAST).then(|| place.to_owned()))
        .or_else(|| commands::find(place))
}

/// A folder of the ten words and no others, with as many recordings as the data set has, or nearly: one of more words or of few
/// recordings is a user's own, to which neither the split nor the settings of the data set fit.
fn holds_the_words(place: &Path, least: usize) -> bool {
    let inside = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = inside(place).filter(|entry| entry.path().is_dir()).count();
    let recordings = |word: &str| inside(&place.join(word)).count();
    folders == WORDS.len()
        && WORDS.iter().all(|word| place.join(word).is_dir())
        && WORDS.iter().map(|word| recordings(word)).sum::<usize>() >= least
}

/// Opens the arrays or recordings at the place that [`find`] gave.
///
/// # Errors
/// If something is missing, unreadable, or arrays do not fit together.
pub(super) fn open(name: &str, path: &Path, options: &OpenOptions) -> Result<Dataset> {
    let mut arrays = Arrays::read(path)?;
    if arrays.features.is_empty() {
        return from_recordings(name, path, &AudioOptions::of(options));
    }
    arrays.check(path, COUNT)?;
    from_arrays(name, path, &mut arrays)
}

/// The four files; empty where there are none.
#[derive(Default)]
struct Arrays {
    features: Vec<u8>,
    labels: Vec<u8>,
    split: Vec<u8>,
    files: Vec<String>,
}

impl Arrays {
    fn read(path: &Path) -> Result<Arrays> {
        const FILES: [&str; 4] = ["logmel_u8.npy", "labels.npy", "split.npy", "files.txt"];
        let mut arrays = Arrays::default();
        if !path.is_dir() {
            return Ok(arrays);
        }
        let wanted = |name: &str| FILES.contains(&name);
        for (name, bytes) in Archive::at(path).read(&wanted, |member| Ok(member.bytes))?.into_list() {
            let file = path.join(&name);
            match name.as_str() {
                "files.txt" => arrays.files = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect(),
                "logmel_u8.npy" => arrays.features = npy::bytes(&bytes, &file, &[FRAMES, FILTERS])?,
                "labels.npy" => arrays.labels = npy::bytes(&bytes, &file, &[])?,
                _ => arrays.split = npy::bytes(&bytes, &file, &[])?,
            }
        }
        Ok(arrays)
    }

    fn check(&self, path: &Path, count: usize) -> Result<()> {
        let lengths = [
            ("logmel_u8.npy", self.features.len() / (FRAMES * FILTERS)),
            ("labels.npy", self.labels.len()),
            ("split.npy", self.split.len()),
            ("files.txt", self.files.len()),
        ];
        for (file, found) in lengths {
            if found != count {
                let expected = format!("{count} as in the data set");
                let found = format!("{found} entries");
                return Err(Error::format(&path.join(file), "", found, expected));
            }
        }
        for (file, numbers, most) in [("labels.npy", &self.labels, 9), ("split.npy", &self.split, 2)] {
            if let Some(position) = numbers.iter().position(|&number| number > most) {
                let place = format!(", entry {}", position + 1);
                let found = numbers[position].to_string();
                return Err(Error::format(&path.join(file), place, found, format!("at most {most}")));
            }
        }
        Ok(())
    }
}

fn from_arrays(name: &str, path: &Path, arrays: &mut Arrays) -> Result<Dataset> {
    let mut speakers = Names::default();
    let value: [f32; 256] = std::array::from_fn(|byte| -23.025_852 + 0.1875 * byte as f32);
    let parts = [0, 1, 2].map(|part| {
        let entries = || (0..arrays.split.len()).filter(|&entry| usize::from(arrays.split[entry]) == part);
        let mut values = Vec::with_capacity(entries().count() * FRAMES * FILTERS);
        for entry in entries() {
            let features = &arrays.features[entry * FRAMES * FILTERS..][..FRAMES * FILTERS];
            values.extend(features.iter().map(|&byte| value[usize::from(byte)]));
        }
        Part {
            features: FILTERS,
            offsets: (0..=entries().count()).map(|sequence| sequence * FRAMES).collect(),
            values: Values::Numbers(values),
            labels: entries().map(|entry| u32::from(arrays.labels[entry])).collect(),
            groups: entries()
                .map(|entry| speakers.number(speaker_of(&arrays.files[entry])))
                .collect(),
            names: entries().map(|entry| arrays.files[entry].clone()).collect(),
            ..Part::default()
        }
    });
    if parts[0].is_empty() {
        let found = "no training entry";
        let expected = "at least one";
        return Err(Error::format(&path.join("split.npy"), "", found, expected));
    }
    Ok(dataset(name, &WORDS, speakers, parts))
}

fn from_recordings(name: &str, path: &Path, options: &AudioOptions) -> Result<Dataset> {
    let source = Source::at(path);
    let recipe = recipe();
    let key = format!("3 {name} {recipe:?}\n{}", source.identity()?);
    Cache::new(options.cache.as_deref()).dataset(name, &key, || {
        let listing = source.list(|_| false)?;
        let mut speakers = Names::default();
        let clip = |recording: &String| {
            let label = WORDS.iter().position(|word| *word == word_of(recording))?;
            Some(clip(
                recording,
                part_of(speaker_of(recording)),
                label as u32,
                &mut speakers,
            ))
        };
        let clips: Vec<Clip> = listing.recordings.iter().filter_map(clip).collect();
        if let Some(word) = (0..10).find(|&word| clips.iter().all(|clip| clip.label != word || clip.part != 0)) {
            let found = format!("no training recording of \"{}\"", WORDS[word as usize]);
            let expected = "a folder with WAVE files for each of the ten words";
            return Err(Error::format(path, "", found, expected));
        }
        Ok(dataset(
            name,
            &WORDS,
            speakers,
            parts(&source, &clips, &Extractor::new(recipe)?)?,
        ))
    })
}

/// The part of a speaker: 0 training, 1 validation, 2 test.
fn part_of(speaker: &str) -> usize {
    const MOST: u32 = (1 << 27) - 1;
    let hash = sha1::sha1(speaker.as_bytes());
    let last = u32::from_be_bytes([hash[16], hash[17], hash[18], hash[19]]) & MOST;
    match f64::from(last) * (100.0 / f64::from(MOST)) {
        percentage if percentage < 10.0 => 1,
        percentage if percentage < 20.0 => 2,
        _ => 0,
    }
}

#[cfg(test)]
#[path = "ten_words_tests.rs"]
mod tests;
