//! A user's own recordings: WAVE files in a folder a class, of any length and sampling rate.
//!
//! ```text
//! FOLDER/CLASS/*.wav        or        FOLDER/train/CLASS/*.wav  FOLDER/test/CLASS/*.wav  FOLDER/validation/CLASS/*.wav
//! ```
//!
//! Whatever its rate, a recording is brought to 16,000 samples a second, so that a network which hears another one later gets the
//! same features. They are as long as the recording. Names of the form `speaker_nohash_number.wav` (those of Speech Commands)
//! give the speaker as group, if all recordings have them; for names of other forms a pattern says where it stands.

use std::path::Path;

use super::cache::Cache;
use super::clips::{Clip, Extractor, SoundRecipe, parts};
use super::commands::RATE;
use super::feature_names;
use super::group_pattern::{GroupPattern, suggestion};
use super::long::is_sound;
use super::mel::MelSettings;
use super::release::speaker_of;
use super::source::Source;
use crate::data::folder::part_of;
use crate::data::label_sets;
use crate::data::labels::{self, Names};
use crate::data::raw::{Raw, assemble};
use crate::data::{Dataset, OpenOptions};
use crate::{Error, Result};

/// Whether a folder holds folders of recordings, one or two levels below.
pub(in crate::data) fn is_one(folder: &Path) -> bool {
    let below = |folder: &Path| children(folder).any(|path| path.is_dir() && holds_sound(&path));
    below(folder) || children(folder).any(|path| path.is_dir() && part_of(&path).is_some() && below(&path))
}

/// Whether recordings lie in a folder itself.
pub(in crate::data) fn holds_sound(folder: &Path) -> bool {
    children(folder).any(|path| is_sound(&path))
}

fn children(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

/// Opens the folder.
///
/// # Errors
/// If a recording lies in no class folder or cannot be read, or there is nothing to train with.
pub(in crate::data) fn open(name: &str, folder: &Path, options: &OpenOptions) -> Result<Dataset> {
    label_sets::refuse(options, "recordings of sound")?;
    let source = Source::at(folder);
    let recipe = recipe();
    let pattern = options.group_pattern.as_deref().map(GroupPattern::read).transpose()?;
    let grouped = pattern
        .as_ref()
        .map_or_else(String::new, |pattern| format!(" {}", pattern.text()));
    let key = format!("3 folder {name} {recipe:?}{grouped}\n{}", source.identity()?);
    let cache = Cache::new(options.cache.as_deref());
    let mut dataset = cache.dataset("folder", &key, || {
        let recordings = source.list(|_| false)?.recordings;
        let plan = Plan::of(name, &recordings, pattern.as_ref())?;
        let parts = parts(&source, &plan.clips, &Extractor::new(recipe)?)?;
        let feature_names = feature_names(parts[0].features);
        let speakers = plan.speakers;
        let mut classes = plan.classes.into_iter();
        let [train, validation, test] = parts.map(|mut part| {
            let raw = Raw {
                path: folder.to_owned(),
                feature_names: feature_names.clone(),
                names: std::mem::take(&mut part.names),
                part,
                labels: classes.next().unwrap_or_default(),
                groups: speakers.clone(),
                ..Raw::default()
            };
            Some(raw).filter(|raw| !raw.part.is_empty())
        });
        let train = train.ok_or_else(|| {
            let problem = "no recording to train with: expected CLASS/*.wav or train/CLASS/*.wav";
            Error::data(name, problem)
        })?;
        assemble(name, train, [validation, test])
    })?;
    if dataset.train.groups.is_empty() {
        dataset.notes.extend(note(name, &source.list(|_| false)?.recordings));
    }
    Ok(dataset)
}

/// What to do about speakers that are not known, if the names seem to tell them.
fn note(name: &str, recordings: &[String]) -> Option<String> {
    let (pattern, groups) = suggestion(recordings)?;
    let groups: Vec<String> = groups.into_iter().map(str::to_owned).collect();
    Some(format!(
        "{name}: no speaker of the recordings is known, so one may stand on both sides of a split; their names seem to tell it ({}): \
         --group-pattern '{pattern}'",
        labels::list(&groups)
    ))
}

/// As long as the recording.
pub(super) fn recipe() -> SoundRecipe {
    SoundRecipe {
        mel: MelSettings::at(RATE),
        length: None,
    }
}

fn unfit(name: &str, recording: &str, pattern: &GroupPattern) -> Error {
    let (recording, pattern) = (recording.escape_debug(), pattern.text());
    let problem = format!("found \"{recording}\", expected names that all fit --group-pattern '{pattern}'");
    Error::data(name, problem)
}

struct Plan {
    clips: Vec<Clip>,
    /// The class names of each part, in order of their labels.
    classes: [Names; 3],
    speakers: Names,
}

impl Plan {
    fn of(name: &str, recordings: &[String], pattern: Option<&GroupPattern>) -> Result<Plan> {
        let mut classes: [Names; 3] = Default::default();
        let mut speakers = Names::default();
        let with_speakers = recordings.iter().all(|recording| recording.contains("_nohash_"));
        let speaker = |recording| match pattern {
            Some(pattern) => match pattern.group_of(recording) {
                Some(group) => Ok(Some(group)),
                None => Err(unfit(name, recording, pattern)),
            },
            None => Ok(with_speakers.then(|| speaker_of(recording))),
        };
        let mut clips = Vec::with_capacity(recordings.len());
        for recording in recordings {
            let levels: Vec<&str> = recording.split('/').collect();
            let place = match levels[..] {
                [class, _] => Some((0, class)),
                [part, class, _] => part_of(Path::new(part)).map(|part| (part, class)),
                _ => None,
            };
            let (part, class) = place.ok_or_else(|| {
                let problem = format!(
                    "found \"{}\", expected CLASS/*.wav or train/CLASS/*.wav",
                    recording.escape_debug()
                );
                Error::data(name, problem)
            })?;
            clips.push(Clip {
                name: recording.clone(),
                part,
                label: classes[part].number(class),
                group: speaker(recording)?.map(|speaker| speakers.number(speaker)),
            });
        }
        Ok(Plan {
            clips,
            classes,
            speakers,
        })
    }
}

#[cfg(test)]
#[path = "class_folders_tests.rs"]
mod tests;
