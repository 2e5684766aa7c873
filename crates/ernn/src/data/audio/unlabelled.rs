//! Recordings to classify with a model that is there: the features that it was trained on, no labels.
//!
//! ```text
//! google-12, google-30, speech-10   one second at 16,000 samples a second
//! fsdd                              as long as the recording, at 8,000
//! a folder of a user's own          as long as the recording, at 16,000
//! ```
//!
//! So the name of the data set and of its features say all: a known name is never that of a user's folder.

use std::path::Path;

use super::clips::{Clip, Extractor, Recipe, parts};
use super::source::Source;
use super::{SETS, class_folders, commands, digits, feature_names};
use crate::data::known;
use crate::data::open::Format;
use crate::data::{Part, Sequences};
use crate::{Error, Result};

/// Opens a WAVE file, or all below a folder, in order of their names, which are their paths; `dataset` and `features` are the
/// names of the data set that a model was trained on and of its features.
///
/// # Errors
/// If the model was not trained on recordings, there is none, or one cannot be read.
pub fn open_recordings(path: &Path, dataset: &str, features: &[String]) -> Result<Sequences> {
    let recipe = recipe_of(dataset, features).ok_or_else(|| {
        let problem = format!(
            "found a recording or a folder, expected a file of sequences with {} values a step: the model was trained on {dataset}, \
             which is no data set of recordings",
            features.len()
        );
        Error::data(path.display(), problem)
    })?;
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

/// How the features of a model are made of sound, in lines; none if they are not.
pub fn sound_features(dataset: &str, features: &[String]) -> Option<Vec<String>> {
    let mel = recipe_of(dataset, features)?.mel;
    Some(vec![
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
        "  the natural logarithm of each sum + 1e-10.".to_owned(),
    ])
}

fn recipe_of(dataset: &str, features: &[String]) -> Option<Recipe> {
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
            recipe_of(dataset, features).map(|recipe| (recipe.mel.rate, recipe.length))
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
