//! One file a subcommand: its arguments and what it does with them.

pub mod analyze;
pub mod compare;
pub mod completions;
pub mod data;
mod data_export;
pub mod evaluate;
mod evaluate_stream;
pub mod export;
mod export_device;
#[cfg(feature = "fetch")]
mod fetch;
pub mod import;
pub mod inspect;
pub mod man;
mod models;
mod parts;
pub mod predict;
mod predict_flags;
mod predict_forecast;
mod predict_generate;
mod listening;
mod predict_labels;
mod predict_listen;
mod predict_segments;
mod predict_step_numbers;
mod predict_stream;
pub mod report;
pub mod reproduce;
pub mod train;
mod run_settings;
mod show;
mod source;
mod stream_steps;
mod train_auto;
mod train_ensemble;
pub mod setting_flags;
mod train_folds;

use std::path::Path;

use ernn::checkpoint::SavedModel;
use ernn::data::{ChannelMatch, list};
use ernn::evaluate::length_note;

use crate::failure::{Failure, Result};
use crate::output::say;

/// Where the channels of some data stand for a model: their order if it is another, nothing to do if it is the model's own or no names tell.
/// Names that are none of the model's are warned of.
fn channel_order(saved: &SavedModel, source: &str, names: &[String]) -> Result<Option<Vec<usize>>> {
    let model = &saved.feature_names;
    // Another number of channels, or numbers for a model of tokens, is refused with a message of its own.
    if names.len() != model.len() || !saved.vocabulary.is_empty() {
        return Ok(None);
    }
    match ChannelMatch::of(model, names) {
        ChannelMatch::Same | ChannelMatch::Unnamed => Ok(None),
        ChannelMatch::Reordered(order) => Ok(Some(order)),
        ChannelMatch::Foreign => {
            say(&format!(
                "warning: {source}: the channels {} are read in this order as the model's {}; no name is the same",
                list(names),
                list(model)
            ));
            Ok(None)
        }
        ChannelMatch::Partly => Err(Failure::Library(ernn::Error::data(
            source,
            format!(
                "found the channels {}, expected those of the model: {}",
                list(names),
                list(model)
            ),
        ))),
    }
}

/// Says what a person should know about sequences that are longer than those the model learned from.
fn warn_of_length(saved: &SavedModel, longest: usize) {
    warn_all_of_length(std::slice::from_ref(saved), longest);
}

/// The same for several models, each thing once.
fn warn_all_of_length(models: &[SavedModel], longest: usize) {
    let notes = models.iter().filter_map(|saved| length_note(&saved.model, longest));
    let mut notes: Vec<String> = notes.collect();
    notes.sort();
    notes.dedup();
    notes.iter().for_each(|note| say(&format!("warning: {note}")));
}

/// Refuses to write where something lies.
/// Makes the folders that a file or folder is to lie in.
fn make_parents(path: &Path) -> Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => Ok(std::fs::create_dir_all(parent).map_err(ernn::Error::io(parent, "create"))?),
        None => Ok(()),
    }
}

fn must_be_free(flag: &str, path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(Failure::Library(ernn::Error::setting(
            flag,
            format!("{}, where something lies already", path.display()),
            "a name that is free: nothing is overwritten",
        ))),
    }
}
