//! Compare: several cells under one protocol become one table and one picture.
//!
//! ```text
//! request -> plan (rows x seeds) -> the missing runs of this shard -> what lies in the folder -> table, picture
//! ```
//!
//! With settings that are varied (`vary`) a comparison is a search: the validation part judges, the test part is not read.
//!
//! The folder is the only memory: a comparison that was stopped, or is shared by several processes, goes on from what its run
//! folders say.
//!
//! ```text
//! compare.toml                 the plan, complete
//! ROW/seed-N/                  the run folder of each run; with folds, one of `ernn::folds`
//! ROW/latency.json             how long one sequence takes
//! best/CELL.toml               the settings that were best, where settings were varied
//! compare.csv, .md, .tex       the table, written anew by every process at its end
//! curves.svg                   the learning curves of all rows
//! ```

mod difference;
mod folder;
pub(crate) mod latency;
mod latex;
mod matching;
mod picture;
mod plan;
mod runs;
mod shard;
mod table;
mod text;
mod vary;
mod watcher;

pub use difference::{Difference, Pairs};
pub use ernn::evaluate::Spread;
pub(crate) use matching::parameters;
pub use plan::{Matching, Part, Plan, PlannedRun, Request, Row};
pub use runs::{Comparison, Options, compare, default_folder};
pub use shard::Shard;
pub use table::{Best, Table, TableRow, Value};
pub(crate) use text::aligned;
pub use vary::{Varied, Vary};
pub(crate) use vary::{refuse_unknown, value};
pub use watcher::{RunDone, Start, Watcher};
