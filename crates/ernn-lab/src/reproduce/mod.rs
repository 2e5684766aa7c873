//! Reproduce: the rows of the paper's tables, each table a file, become runs, and the runs small result files.
//!
//! ```text
//! experiments/NAME.toml -> Experiment -> plan (rows x seeds) -> the missing runs of this shard
//!                                         -> results/NAME/VARIANT/ROW/seed-N.json -> paper | ours | difference
//! ```
//!
//! Result files are the memory of what was done: they hold settings, machine, revision, numbers and learning curves, and no weights.
//! Checkpoints and models lie in a work folder of the same shape, which may be thrown away once the results are there.
//! A variant is a protocol, with `-quick` behind it for the tiny version.
//!
//! What a row's settings were chosen from is its search (`[search]`, `search`): a comparison judged by the validation part, whose table lies
//! beside the results.

mod available;
mod experiment;
mod files;
mod grid;
mod missing;
mod paper;
mod plan;
mod protocol;
mod quick;
mod record;
mod revision;
mod runs;
mod search;
mod table;
mod text;
mod watcher;

pub use available::{Availability, availability};
pub use experiment::{Experiment, Row};
pub use files::ExperimentFiles;
pub use grid::Search;
pub use paper::Paper;
pub use plan::{Plan, PlannedRun, Selection, Stage};
pub use protocol::{Protocol, Variant};
pub use quick::{Quick, limited};
pub use record::{Curves, RunRecord};
pub(crate) use record::{
    confusion as confusion_of, pairs as pairs_of, timelines as timelines_of, validation as validation_of,
};
pub use runs::{Options, Reproduction, reproduce};
pub use search::{Searched, SearchedRow, search};
pub use table::{Table, TableRow};
pub(crate) use text::cells as table_cells;
pub use watcher::{RunDone, Start, Watcher};
