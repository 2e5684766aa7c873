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
pub(super) mod commands;
pub(super) mod digits;
mod mel;
mod resample;
mod sha1;
mod source;
pub(super) mod ten_words;
mod wav;

use std::path::PathBuf;

use super::{Dataset, OpenOptions, Part};

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
            seed: 1,
        }
    }
}

/// Training, validation and test part as a data set; an empty part is none.
fn dataset(name: &str, classes: &[&str], [train, validation, test]: [Part; 3]) -> Dataset {
    Dataset {
        name: name.to_owned(),
        feature_names: feature_names(train.features),
        classes: classes.iter().map(|&class| class.to_owned()).collect(),
        train,
        validation: Some(validation).filter(|part| !part.is_empty()),
        test: Some(test).filter(|part| !part.is_empty()),
        ..Dataset::default()
    }
}

fn feature_names(filters: usize) -> Vec<String> {
    (1..=filters).map(|filter| format!("mel {filter}")).collect()
}
