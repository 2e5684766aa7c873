//! One file a subcommand: its arguments and what it does with them.

pub mod analyze;
pub mod compare;
pub mod data;
pub mod evaluate;
pub mod export;
mod export_device;
mod export_target;
#[cfg(feature = "fetch")]
mod fetch;
pub mod import;
pub mod inspect;
mod parts;
pub mod predict;
mod predict_flags;
mod predict_stream;
pub mod report;
pub mod reproduce;
pub mod train;
mod run_settings;
mod stream_steps;
mod train_flags;

use std::path::Path;

use ernn::checkpoint::SavedModel;
use ernn::data::Part;
use ernn::evaluate::length_note;

use crate::failure::{Failure, Result};
use crate::output::say;

/// Puts channels of the same names into the model's order.
fn fit_to_model(saved: &SavedModel, names: &[String], part: &mut Part) {
    if let Some(order) = order_of(&saved.feature_names, names) {
        let mut row = vec![0.0; order.len()];
        for values in part.numbers_mut().chunks_exact_mut(order.len()) {
            row.copy_from_slice(values);
            values
                .iter_mut()
                .zip(&order)
                .for_each(|(value, &from)| *value = row[from]);
        }
    }
}

/// Says what a person should know about sequences that are longer than those the model learned from.
fn warn_of_length(saved: &SavedModel, longest: usize) {
    if let Some(note) = length_note(&saved.model, longest) {
        say(&format!("warning: {note}"));
    }
}

/// Refuses to write where something lies.
fn must_be_free(flag: &str, path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(Failure::Library(ernn::Error::Setting {
            name: flag.to_string(),
            found: format!("{}, where something lies already", path.display()),
            expected: "a name that is free: nothing is overwritten".to_string(),
        })),
    }
}

/// Where each of the model's channels stands among `names`; none if they stand alike, or are not the same names.
fn order_of(model: &[String], names: &[String]) -> Option<Vec<usize>> {
    if model == names || model.len() != names.len() {
        return None;
    }
    model
        .iter()
        .map(|name| names.iter().position(|other| other == name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_found_by_name() {
        let names = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(order_of(&names("x y z"), &names("z x y")), Some(vec![1, 2, 0]));
        assert_eq!(order_of(&names("x y"), &names("x y")), None);
        assert_eq!(order_of(&names("x y"), &names("a b")), None);
        assert_eq!(order_of(&names("x y"), &names("y")), None);
    }
}
