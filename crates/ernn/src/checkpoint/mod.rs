//! Checkpoint: the whole run state becomes a file, and back.
//!
//! Two files, both in the safetensors container with a checksum over everything that matters:
//! - [`SavedModel`], `model.safetensors`: named weights and all that is needed to use them.
//! - [`RunState`], `checkpoint.safetensors`: what a run needs to go on as if it had never stopped.
//!
//! Every file is written under a temporary name in the same folder, flushed to the disk and renamed, so a reader sees the
//! old file or the new one and never a half.

mod atomic;
mod decision;
mod listening;
mod ensemble_folder;
mod leftovers;
pub mod null;
mod outputs;
mod run_state;
mod saved_model;
mod tensor_file;

pub use atomic::{write_atomically, write_with_folder};
pub use decision::{Calibration, Decision, UNKNOWN};
pub use ensemble_folder::{EnsembleFolder, MOST_MEMBERS};
pub use leftovers::remove_leftovers;
pub(crate) use leftovers::{is_temporary, remove_unfinished, temporary_name};
pub use listening::{Listening, WorkingPoint};
pub(crate) use outputs::output_names;
pub use run_state::{Best, EpochRecord, Phase, RunState, Tally};
pub use saved_model::{Provenance, SavedModel};
pub use tensor_file::Checksum;

/// The name of the model's file in a run folder.
pub const MODEL_FILE: &str = "model.safetensors";
/// The name of the resumable checkpoint in a run folder.
pub const CHECKPOINT_FILE: &str = "checkpoint.safetensors";
