//! One file a subcommand: its arguments and what it does with them.

pub mod data;
pub mod evaluate;
pub mod inspect;
pub mod predict;
pub mod train;
mod train_flags;

use ernn::cell::{CellConfig, StepSizes};
use ernn::checkpoint::SavedModel;
use ernn::data::Part;

/// Learned step sizes end where the training sequences ended; what happens beyond deserves a word.
fn warn_of_long_sequences(saved: &SavedModel, part: &Part) {
    let layers = &saved.model.config().layers;
    let known = layers.iter().filter_map(|layer| match layer {
        CellConfig::Ernn(ernn) if ernn.steps == StepSizes::PerStep => Some(ernn.max_steps),
        _ => None,
    });
    if let Some(known) = known.min().filter(|&known| part.longest() > known) {
        crate::output::say(&format!(
            "warning: found sequences of up to {} steps; the model was trained on up to {known} and repeats its last step size",
            part.longest()
        ));
    }
}
