//! Long recordings of sound: minutes or hours whose frames are the rows of a log, to be cut into windows.
//!
//! ```text
//! night.wav -> resampled -> log mel, [frames of 10 ms, 32] -> Log, 100 rows a second -> recordings::cut
//! ```
//!
//! The features are those of a folder of recordings, one a class ([`super::class_folders`]).

use std::path::Path;

use super::class_folders::recipe;
use super::clips::Extractor;
use super::feature_names;
use crate::data::OpenOptions;
use crate::data::label_sets;
use crate::data::open::read_file;
use crate::data::raw::Raw;
use crate::data::recordings::{self, Log, Recording};
use crate::{Error, Result};

/// Whether a file is called a recording of sound.
pub(in crate::data) fn is_sound(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("wav"))
}

/// The frames of a file, one recording without labels.
///
/// # Errors
/// If it is no WAVE file, or holds less than a frame.
pub(in crate::data) fn log(path: &Path) -> Result<Log> {
    let recipe = recipe();
    let mel = recipe.mel.clone();
    let extractor = Extractor::new(recipe)?;
    let samples = extractor.samples(&read_file(path)?, path)?;
    if samples.is_empty() {
        return Err(Error::format(path, "", "no sample", "at least one"));
    }
    let values = extractor.features(samples);
    Ok(Log {
        files: vec![path.to_owned()],
        feature_names: feature_names(mel.filters),
        rate: Some(f64::from(mel.rate) / mel.step as f64),
        recordings: vec![Recording {
            rows: values.len() / mel.filters,
            values,
            ..Recording::default()
        }],
        ..Log::default()
    })
}

/// One file, cut.
///
/// # Errors
/// As [`log`], and if nothing of it makes a window.
pub(in crate::data) fn read(path: &Path, options: &OpenOptions) -> Result<Raw> {
    label_sets::refuse(options, "a recording of sound")?;
    recordings::cut(log(path)?, options.table.window, &options.table.recordings)
}
