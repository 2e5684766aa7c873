//! Google Speech Commands, releases 0.01 and 0.02: `google-30` and `google-12`.
//!
//! `google-30` has the 30 words of release 0.01 (0.02 added five, which are left out). `google-12` has ten of them, and, drawn
//! from the seed as in TensorFlow's `input_data.py`, for every ten recordings of a part
//! - one of `unknown`: a recording of one of the other words in the same part,
//! - one of `silence`: a second of a noise file, times a loudness between 0 and 1.
//!
//! So release 0.01 gives the sizes of the papers, 51,088 + 6,835 and 22,246 + 3,081 (training + test). One thing differs: TensorFlow
//! takes the noise of all parts from anywhere. Here the first four fifths of each noise file are for training, and the
//! rest in equal shares for validation and test, so that nothing tested has been heard.
//!
//! Features are those of EdgeML's `process_google.py`: [`mel`](super::mel) of one second, shorter recordings with zeros in front.
//! Groups are the speakers; silence is a group of its own. Warden, "Speech Commands", arXiv 1804.03209.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand::seq::SliceRandom;

use super::cache::Cache;
use super::clips::{Clip, Extractor, SoundRecipe, parts};
use super::mel::MelSettings;
use super::release::{KEYWORDS, LISTS, NOISE, OTHERS, RELEASES, Release, is_list, is_noise, speaker_of, word_of};
use super::source::Source;
use super::{AudioOptions, dataset};
use crate::data::labels::Names;
use crate::data::lookup;
use crate::data::random::stream;
use crate::data::{Dataset, OpenOptions, Part, Values};
use crate::{Error, Result};

/// Samples a second, and samples a recording.
pub(super) const RATE: u32 = 16_000;
const SILENCE: u32 = 10;
const UNKNOWN: u32 = 11;

/// Where the recordings lie in a folder: unpacked, or as they were downloaded.
pub(super) fn find(place: &Path) -> Option<PathBuf> {
    let names = ["speechcommands", "speechcommandsv001", "speechcommandsv002"];
    lookup::folder(place, &names, LISTS[1].0)
        .or_else(|| lookup::archives(place, &["speechcommandsv0"]).into_iter().next())
}

/// Opens `google-12` or `google-30` at the place that [`find`] gave.
///
/// # Errors
/// If recordings, lists or noise are missing or unreadable.
pub(super) fn open(name: &str, path: &Path, options: &OpenOptions) -> Result<Dataset> {
    open_sized(name, path, &AudioOptions::of(options), RELEASES)
}

fn open_sized(name: &str, path: &Path, options: &AudioOptions, releases: [usize; 2]) -> Result<Dataset> {
    let source = Source::at(path);
    let recipe = recipe();
    let twelve = name == "google-12";
    let drawn = if twelve {
        format!("drawn from {}", options.seed)
    } else {
        String::new()
    };
    let key = format!("3 {name} {drawn} {recipe:?}\n{}", source.identity()?);
    Cache::new(options.cache.as_deref()).dataset(name, &key, || {
        let listing = source.list(|name| is_list(name) || twelve && is_noise(name))?;
        let release = Release::of(&source, &listing, releases)?;
        let extractor = Extractor::new(recipe)?;
        if twelve {
            google_12(&release, &extractor, options.seed)
        } else {
            google_30(&release, &extractor)
        }
    })
}

/// One second at [`RATE`], 99 frames of 32 features.
pub(super) fn recipe() -> SoundRecipe {
    SoundRecipe {
        mel: MelSettings::at(RATE),
        length: Some(RATE as usize),
    }
}

fn google_30(release: &Release, extractor: &Extractor) -> Result<Dataset> {
    let mut words = [KEYWORDS.as_slice(), &OTHERS].concat();
    words.sort_unstable();
    let mut speakers = Names::default();
    let clip = |&(name, part): &(&str, usize)| {
        let label = words.iter().position(|word| *word == word_of(name))?;
        Some(clip(name, part, label as u32, &mut speakers))
    };
    let clips: Vec<Clip> = release.recordings.iter().filter_map(clip).collect();
    Ok(dataset(
        "google-30",
        &words,
        speakers,
        parts(release.source, &clips, extractor)?,
    ))
}

/// A recording with its speaker's number.
pub(super) fn clip(name: &str, part: usize, label: u32, speakers: &mut Names) -> Clip {
    Clip {
        name: name.to_owned(),
        part,
        label,
        group: Some(speakers.number(speaker_of(name))),
    }
}

fn google_12(release: &Release, extractor: &Extractor, seed: u64) -> Result<Dataset> {
    let noises = noises(release, extractor)?;
    let mut speakers = Names::default();
    let (mut clips, mut tenths) = (Vec::new(), [0; 3]);
    for (part, tenth) in tenths.iter_mut().enumerate() {
        let of_part = release
            .recordings
            .iter()
            .filter(|recording| recording.1 == part)
            .map(|recording| recording.0);
        let label = |name: &str| KEYWORDS.iter().position(|word| *word == word_of(name));
        let (known, mut unknown): (Vec<&str>, Vec<&str>) = of_part.partition(|name| label(name).is_some());
        unknown.retain(|name| OTHERS.contains(&word_of(name)));
        *tenth = known.len().div_ceil(10);
        unknown.shuffle(&mut stream(b"unknown\0", seed, part as u64));
        unknown.truncate(*tenth);
        unknown.sort_unstable();
        clips.extend(
            known
                .iter()
                .map(|name| clip(name, part, label(name).unwrap_or(0) as u32, &mut speakers)),
        );
        clips.extend(unknown.iter().map(|name| clip(name, part, UNKNOWN, &mut speakers)));
    }
    let mut parts = parts(release.source, &clips, extractor)?;
    let group = speakers.number(NOISE);
    for (index, part) in parts.iter_mut().enumerate() {
        add_silence(part, index, tenths[index], group, &noises, extractor, seed)?;
    }
    let classes = [KEYWORDS.as_slice(), &["silence", "unknown"]].concat();
    Ok(dataset("google-12", &classes, speakers, parts))
}

/// The samples of the noise files, by name.
fn noises(release: &Release, extractor: &Extractor) -> Result<BTreeMap<String, Vec<f32>>> {
    let files = release.listing.files.iter().filter(|(name, _)| is_noise(name));
    files
        .map(|(name, bytes)| {
            Ok((
                name.clone(),
                extractor.samples(bytes, &release.source.path().join(name))?,
            ))
        })
        .collect()
}

/// Appends `count` seconds of noise to part `index`.
fn add_silence(
    part: &mut Part,
    index: usize,
    count: usize,
    group: u32,
    noises: &BTreeMap<String, Vec<f32>>,
    extractor: &Extractor,
    seed: u64,
) -> Result<()> {
    let second = RATE as usize;
    let shares: Vec<&[f32]> = noises
        .values()
        .map(|noise| share(noise, index))
        .filter(|share| share.len() >= second)
        .collect();
    if shares.is_empty() && count > 0 {
        let problem = format!(
            "no noise for silence: {} files in {NOISE}, expected some of at least 10 seconds",
            noises.len()
        );
        return Err(Error::data("google-12", problem));
    }
    if let Values::Numbers(values) = &mut part.values {
        // Not to grow by doubling: the part may be most of the memory.
        values.reserve_exact(count * extractor.features(Vec::new()).len());
    }
    let mut random = stream(b"silence\0", seed, index as u64);
    for _ in 0..count {
        let noise = shares[random.random_range(0..shares.len())];
        let start = random.random_range(0..=noise.len() - second);
        let loudness: f32 = random.random();
        let samples = noise[start..start + second]
            .iter()
            .map(|sample| sample * loudness)
            .collect();
        part.push(&extractor.features(samples), Some(SILENCE), Some(group));
        part.names.push(format!("silence {}", part.len()));
    }
    Ok(())
}

/// The stretch of a noise file that belongs to a part.
fn share(noise: &[f32], part: usize) -> &[f32] {
    const TENTHS: [usize; 4] = [0, 8, 9, 10];
    &noise[noise.len() * TENTHS[part] / 10..noise.len() * TENTHS[part + 1] / 10]
}

#[cfg(test)]
#[path = "commands_tests.rs"]
pub(super) mod tests;
