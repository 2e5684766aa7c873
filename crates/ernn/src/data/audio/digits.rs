//! `fsdd`, the Free Spoken Digit Dataset: ten digits by six speakers, 50 times each, 8,000 samples a second.
//!
//! ```text
//! recordings/{digit}_{speaker}_{index}.wav
//! ```
//!
//! Indices 0 to 4 are the official test part, so its speakers are those of the training part. The validation part is made the same way,
//! indices 5 to 9: one of other speakers would choose settings for another question than the test part asks. Groups are the
//! speakers. Features: [`mel`](super::mel) at 8,000 samples a second, as long as the recording.
//!
//! Jackson et al., <https://github.com/Jakobovski/free-spoken-digit-dataset>.

use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::clips::{Clip, Extractor, SoundRecipe, parts};
use super::mel::MelSettings;
use super::source::Source;
use super::{AudioOptions, dataset};
use crate::data::labels::Names;
use crate::data::lookup;
use crate::data::{Dataset, OpenOptions};
use crate::{Error, Result};

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const RATE: u32 = 8_000;
const COUNT: usize = 3_000;

/// Where the recordings lie in a folder: unpacked, or in an archive.
pub(super) fn find(place: &Path) -> Option<PathBuf> {
    lookup::folder(place, &["recordings"], "0_jackson_0.wav").or_else(|| {
        lookup::archives(place, &["recordings", "freespokendigitdataset"])
            .into_iter()
            .next()
    })
}

/// Opens the recordings at the place that [`find`] gave.
///
/// # Errors
/// If recordings are missing, unreadable, or named in another way.
pub(super) fn open(name: &str, path: &Path, options: &OpenOptions) -> Result<Dataset> {
    open_sized(name, path, &AudioOptions::of(options), COUNT)
}

fn open_sized(name: &str, path: &Path, options: &AudioOptions, count: usize) -> Result<Dataset> {
    let source = Source::at(path);
    let recipe = recipe();
    let key = format!("3 {name} {recipe:?}\n{}", source.identity()?);
    Cache::new(options.cache.as_deref()).dataset(name, &key, || {
        let recordings = source.list(|_| false)?.recordings;
        if recordings.len() != count {
            let expected = format!("{count} as in the data set");
            let found = format!("{} recordings", recordings.len());
            return Err(Error::format(path, "", found, expected));
        }
        let mut speakers = Names::default();
        let clip = |recording: &String| {
            let expected = "a name of the form digit_speaker_index.wav";
            plan(recording, &mut speakers)
                .ok_or_else(|| Error::format(path, "", format!("\"{}\"", recording.escape_debug()), expected))
        };
        let clips: Vec<Clip> = recordings.iter().map(clip).collect::<Result<_>>()?;
        Ok(dataset(
            name,
            &DIGITS,
            speakers,
            parts(&source, &clips, &Extractor::new(recipe)?)?,
        ))
    })
}

/// As long as the recording.
pub(super) fn recipe() -> SoundRecipe {
    SoundRecipe {
        mel: MelSettings::at(RATE),
        length: None,
    }
}

fn plan(recording: &str, speakers: &mut Names) -> Option<Clip> {
    let file = recording.rsplit('/').next()?.strip_suffix(".wav")?;
    let (digit, rest) = file.split_once('_')?;
    let (speaker, index) = rest.rsplit_once('_')?;
    Some(Clip {
        name: recording.to_owned(),
        part: match index.parse::<u32>().ok()? {
            0..5 => 2,
            5..10 => 1,
            _ => 0,
        },
        label: DIGITS.iter().position(|other| *other == digit)? as u32,
        group: Some(speakers.number(speaker)),
    })
}

#[cfg(test)]
#[path = "digits_tests.rs"]
mod tests;
