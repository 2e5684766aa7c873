//! Train: the corridor. Settings and a data set become a finished run; the mathematics is in the rooms.
//!
//! ```text
//! split -> normalize -> epochs (batch, loss and gradient, clip, step, validate, checkpoint) -> best epoch
//!       -> [retrain on everything] -> evaluate on the test part, read here for the first and only time
//! ```

mod aliases;
mod by_name;
mod card;
mod check;
mod close;
mod config;
mod curves;
mod defaults;
mod epochs;
mod events;
mod experiments;
mod free_memory;
mod from;
mod given;
mod layers;
mod length;
mod memory;
mod observer;
mod overfitting;
mod parts;
mod past_run;
mod remarks;
mod recipe;
mod report;
mod restart;
mod resumed;
mod run;
mod run_folder;
mod settings;
mod teacher;
mod thirds;

pub use aliases::{ALIASES, alias};
pub(crate) use card::Card;
pub use config::{ClassWeights, DataSettings, EmbeddingSettings, ModelSettings, RunConfig, TrainingSettings, overlay};
pub use events::writes_events;
pub use experiments::EMBEDDED;
pub use given::Unused;
pub use memory::{Needed, Shape, estimate};
pub use observer::{BatchProgress, Observer, Start};
pub use overfitting::Overfitting;
pub use parts::{fingerprint, split};
pub use past_run::PastRun;
pub use recipe::eta;
pub use report::{Ending, Machine, MemberReport, Report};
pub use run::{Options, Out, Outcome, check, file_stem, resume, train};
pub use run_folder::RunFolder;
pub use settings::{Given, Heading, Kind, SETTINGS, Setting, With};
pub use teacher::TeacherSettings;

/// Threads that this process may use.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
