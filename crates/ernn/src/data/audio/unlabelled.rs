//! Recordings to classify with a model that is there: the features that it was trained on, no labels.
//!
//! ```text
//! google-12, google-30, speech-10   one second at 16,000 samples a second
//! fsdd                              as long as the recording, at 8,000
//! a folder of a user's own          as long as the recording, at 16,000
//! ```
//!
//! A model's file holds the recipe of its features. Of those that were written before, the name of the data set and of its features say
//! all: a known name is never that of a user's folder.

use std::path::Path;

use super::clips::{Clip, Extractor, SoundRecipe, parts};
use super::source::Source;
use super::{SETS, class_folders, commands, digits, feature_names};
use crate::data::known;
use crate::data::open::Format;
use crate::data::{Part, Sequences};
use crate::{Error, Result};

/// Opens a WAVE file, or all below a folder, in order of their names, which are their paths.
///
/// # Errors
/// If there is no recording, or one cannot be read.
pub fn open_recordings(path: &Path, recipe: SoundRecipe) -> Result<Sequences> {
    let source = Source::at(path);
    let recordings = source.list(|_| false)?.recordings;
    if recordings.is_empty() {
        return Err(Error::format(path, "", "no recording", "at least one .wav"));
    }
    let clip = |name: &String| Clip {
        name: name.clone(),
        part: 0,
        label: 0,
        group: None,
    };
    let clips: Vec<Clip> = recordings.iter().map(clip).collect();
    let [part, ..] = parts(&source, &clips, &Extractor::new(recipe)?)?;
    let path_of = |name: &String| {
        if path.is_dir() {
            path.join(name)
        } else {
            path.to_owned()
        }
    };
    Ok(Sequences {
        source: path.display().to_string(),
        feature_names: feature_names(part.features),
        classes: Vec::new(),
        group_names: Vec::new(),
        names: recordings
            .iter()
            .map(|name| path_of(name).display().to_string())
            .collect(),
        part: Part {
            labels: Vec::new(),
            ..part
        },
        times: Vec::new(),
        step_times: Vec::new(),
        ahead: Vec::new(),
        notes: Vec::new(),
    })
}

impl SoundRecipe {
    /// What it does, in lines.
    pub fn lines(&self) -> Vec<String> {
        let mel = &self.mel;
        vec![
            format!(
                "  sound of {} samples a second, in units of a 16-bit sample; s[n] = x[n] - {} x[n-1];",
                mel.rate, mel.pre_emphasis
            ),
            format!(
                "  a frame of {} samples every {}, times Hamming; P = |DFT of {} points|^2 / {};",
                mel.window, mel.step, mel.nfft, mel.nfft
            ),
            format!(
                "  {} triangles evenly spaced in mel (2595 log10(1 + hertz / 700)) up to {} hertz, on P;",
                mel.filters,
                mel.rate / 2
            ),
            "  the natural logarithm of each sum, of a silent one that of 1e-10.".to_owned(),
        ]
    }
}

/// How a data set's features are made of sound, by its name and theirs; none if they are not.
pub fn sound_recipe(dataset: &str, features: &[String]) -> Option<SoundRecipe> {
    let recipe = match dataset {
        "fsdd" => digits::recipe(),
        name if SETS.iter().any(|set| set.known.name == name) => commands::recipe(),
        name if known().iter().any(|known| known.name == name) || Format::of(Path::new(name)).is_some() => return None,
        _ => class_folders::recipe(),
    };
    (features == feature_names(recipe.mel.filters)).then_some(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_set_says_how_features_are_made() {
        let mel = feature_names(32);
        let recipe = |dataset: &str, features: &[String]| {
            sound_recipe(dataset, features).map(|recipe| (recipe.mel.rate, recipe.length))
        };
        assert_eq!(recipe("speech-10", &mel), Some((16_000, Some(16_000))));
        assert_eq!(recipe("fsdd", &mel), Some((8_000, None)));
        assert_eq!(recipe("my/words", &mel), Some((16_000, None)));
        assert_eq!(recipe("./fsdd", &mel), Some((16_000, None)));
        assert_eq!(recipe("my/words", &mel[1..]), None);
        assert_eq!(recipe("har-2", &mel), None);
        assert_eq!(recipe("words.csv", &mel), None);
    }
}
