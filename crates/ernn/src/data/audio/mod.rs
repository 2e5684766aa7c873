//! Sound: recordings become log mel features, `[frames of 10 ms, 32]`, and data sets of them.
//!
//! ```text
//! folder or archive -> list of recordings -> plan: part, class, speaker of each -> WAVE -> resampled -> log mel -> cache
//! ```
//!
//! Speech Commands ([`commands`], [`ten_words`]), spoken digits ([`digits`]) and a user's own folders ([`class_folders`]) only
//! differ in their plan. Features are computed in parallel over the recordings and kept in the user's cache folder.

mod cache;
pub(super) mod class_folders;
mod clips;
mod commands;
mod digits;
mod group_pattern;
pub(super) mod long;
mod live;
mod mel;
mod release;
mod resample;
mod sha1;
mod source;
mod ten_words;
mod unlabelled;
mod wav;

use std::path::PathBuf;

pub use clips::SoundRecipe;
pub(super) use group_pattern::GroupPattern;
pub use live::{Hearing, hear};
pub use mel::MelSettings;
pub(super) use resample::bessel;
pub use unlabelled::{open_recordings, sound_recipe};

use super::known::{Entry, Known};
use super::labels::Names;
use super::{Dataset, OpenOptions, Part};

const COMMANDS: &str = "https://download.tensorflow.org/data/speech_commands_v0.01.tar.gz";
const COMMANDS_FILES: &str = "\"speech_commands_v0.01\" or v0.02 with a folder a word and the lists, or their .tar.gz";

/// The data sets of sound.
pub(super) static SETS: [Entry; 4] = [
    Entry {
        known: Known {
            name: "google-12",
            description: "ten spoken commands, other words, silence: 32 log mel channels, 99 steps, 22246 + 3081 sequences",
            source: COMMANDS,
            license: "CC BY 4.0",
            built_in: false,
        },
        files: COMMANDS_FILES,
        find: commands::find,
        open: commands::open,
        counts: &[],
    },
    Entry {
        known: Known {
            name: "google-30",
            description: "thirty spoken words: 32 log mel channels, 99 steps, 51088 + 6835 sequences",
            source: COMMANDS,
            license: "CC BY 4.0",
            built_in: false,
        },
        files: COMMANDS_FILES,
        find: commands::find,
        open: commands::open,
        counts: &[],
    },
    Entry {
        known: Known {
            name: "speech-10",
            description: "ten spoken words, a part of google-30: 32 log mel channels, 99 steps, 9618 + 1261 sequences",
            source: COMMANDS,
            license: "CC BY 4.0",
            built_in: false,
        },
        files: "logmel_u8.npy with its labels, or folder of WAVE files for each of the ten words, 12,188 in all",
        find: ten_words::find,
        open: ten_words::open,
        counts: &ten_words::COUNTS,
    },
    Entry {
        known: Known {
            name: "fsdd",
            description: "spoken digits: 32 log mel channels, 13 to 227 steps, 2400 + 300 sequences, 300 for validation",
            source: "https://github.com/Jakobovski/free-spoken-digit-dataset",
            license: "CC BY-SA 4.0",
            built_in: false,
        },
        files: "\"recordings\" with 0_jackson_0.wav and so on, or an archive of them",
        find: digits::find,
        open: digits::open,
        counts: &[&[240; 10], &[30; 10]],
    },
];

/// What opening sound depends on.
#[derive(Clone, Debug, PartialEq)]
struct AudioOptions {
    /// Where prepared features are kept; without it the user's cache folder.
    cache: Option<PathBuf>,
    /// What is drawn (silence, unknown words) is drawn from it.
    seed: u64,
}

impl AudioOptions {
    fn of(options: &OpenOptions) -> AudioOptions {
        AudioOptions {
            cache: options.cache.clone(),
            seed: options.preparation.data_seed,
        }
    }
}

/// Training, validation and test part as a data set; an empty part is none.
fn dataset(name: &str, classes: &[&str], speakers: Names, [train, validation, test]: [Part; 3]) -> Dataset {
    Dataset {
        name: name.to_owned(),
        feature_names: feature_names(train.features),
        classes: classes.iter().map(|&class| class.to_owned()).collect(),
        group_names: speakers.names,
        train,
        validation: Some(validation).filter(|part| !part.is_empty()),
        test: Some(test).filter(|part| !part.is_empty()),
        ..Dataset::default()
    }
}

fn feature_names(filters: usize) -> Vec<String> {
    (1..=filters).map(|filter| format!("mel {filter}")).collect()
}
