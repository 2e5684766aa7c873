//! Recordings become parts: each is read, resampled, brought to its length and turned into features.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::mel::{MelBank, MelSettings};
use super::resample::{RATES, Resampler};
use super::source::Source;
use super::wav;
use crate::data::{Part, Values};
use crate::{Error, Result};

/// A recording, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clip {
    /// Its path inside the source.
    pub name: String,
    /// 0 training, 1 validation, 2 test.
    pub part: usize,
    /// Its class.
    pub label: u32,
    /// Its speaker.
    pub group: Option<u32>,
}

/// How recordings become features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoundRecipe {
    /// What makes features of samples.
    pub mel: MelSettings,
    /// Samples that every recording is brought to: zeros in front of a shorter one, the first ones of a longer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
}

/// Turns recordings into features.
pub(super) struct Extractor {
    recipe: SoundRecipe,
    bank: MelBank,
    /// One a sampling rate that has occurred.
    resamplers: Mutex<HashMap<u32, Arc<Resampler>>>,
}

impl Extractor {
    /// # Errors
    /// If a setting is out of range.
    pub fn new(recipe: SoundRecipe) -> Result<Extractor> {
        Ok(Extractor {
            bank: MelBank::new(&recipe.mel)?,
            recipe,
            resamplers: Mutex::default(),
        })
    }

    /// The samples of a recording at the recipe's rate.
    pub fn samples(&self, bytes: &[u8], path: &Path) -> Result<Vec<f32>> {
        let sound = wav::read(bytes, path)?;
        if sound.rate == self.recipe.mel.rate {
            return Ok(sound.samples);
        }
        if !RATES.contains(&sound.rate) {
            let expected = format!("{} to {}", RATES.start(), RATES.end());
            let found = format!("{} samples a second", sound.rate);
            return Err(Error::format(path, "", found, expected));
        }
        Ok(self.resampler(sound.rate).resample(&sound.samples))
    }

    /// The features of samples, `[frames, filters]`.
    pub fn features(&self, mut samples: Vec<f32>) -> Vec<f32> {
        if let Some(length) = self.recipe.length {
            samples.truncate(length);
            let missing = length - samples.len();
            samples.splice(..0, std::iter::repeat_n(0.0, missing));
        }
        self.bank.features(&samples)
    }

    fn resampler(&self, rate: u32) -> Arc<Resampler> {
        let mut resamplers = self.resamplers.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Resampler::new(rate, self.recipe.mel.rate));
        resamplers.entry(rate).or_insert_with(new).clone()
    }
}

/// The features of all clips, in their order: training, validation and test part.
pub(super) fn parts(source: &Source, clips: &[Clip], extractor: &Extractor) -> Result<[Part; 3]> {
    match extractor.recipe.length {
        Some(length) => equal(source, clips, extractor, extractor.recipe.mel.frames(length)),
        None => ragged(source, clips, extractor),
    }
}

/// Clips of equal length go straight to their place: there may be 65,000 of them, and room for one copy.
fn equal(source: &Source, clips: &[Clip], extractor: &Extractor, frames: usize) -> Result<[Part; 3]> {
    let filters = extractor.recipe.mel.filters;
    let size = frames * filters;
    let mut parts = [(); 3].map(|()| Part::new(filters));
    let mut places = HashMap::with_capacity(clips.len());
    for clip in clips {
        let part = &mut parts[clip.part];
        places.insert(clip.name.as_str(), (clip.part, part.len()));
        part.offsets.push((part.len() + 1) * frames);
        part.labels.push(clip.label);
        part.groups.extend(clip.group);
        part.names.push(clip.name.clone());
    }
    let values = [0, 1, 2].map(|part| Mutex::new(vec![0.0; parts[part].len() * size]));
    source.read(&|name| places.contains_key(name), |member| {
        let features = extractor.features(extractor.samples(&member.bytes, &member.path)?);
        let (part, row) = places[member.name.as_str()];
        let mut values = values[part].lock().unwrap_or_else(PoisonError::into_inner);
        values[row * size..][..size].copy_from_slice(&features);
        Ok(())
    })?;
    for (part, values) in parts.iter_mut().zip(values) {
        part.values = Values::Numbers(values.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    Ok(parts)
}

fn ragged(source: &Source, clips: &[Clip], extractor: &Extractor) -> Result<[Part; 3]> {
    let wanted: HashMap<&str, usize> = clips
        .iter()
        .zip(0..)
        .map(|(clip, index)| (clip.name.as_str(), index))
        .collect();
    let found = source.read(&|name| wanted.contains_key(name), |member| {
        Ok(extractor.features(extractor.samples(&member.bytes, &member.path)?))
    })?;
    let mut features = vec![Vec::new(); clips.len()];
    for (name, found) in found {
        features[wanted[name.as_str()]] = found;
    }
    let mut parts = [(); 3].map(|()| Part::new(extractor.recipe.mel.filters));
    for (clip, features) in clips.iter().zip(features) {
        parts[clip.part].push(&features, Some(clip.label), clip.group);
        parts[clip.part].names.push(clip.name.clone());
    }
    Ok(parts)
}
