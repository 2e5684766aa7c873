//! Folds: the same settings trained once for each fold, which judges what it has not seen; then, once more, on everything.
//!
//! ```text
//! cut (data::folds) -> for each fold: train on the rest, measure what was held out -> FoldsReport -> the final run on everything
//! ```
//!
//! Each fold is a run of `train` on a data set of its own: what it holds out is that data set's test part, which nothing else reads.
//! Statistics for normalization, best epochs and weights of classes come from the rest alone. The test part of the data is not read by any
//! fold; the final run reads it as any run does.
//!
//! ```text
//! folds/folds.toml        how the training part was cut, and whether a final run follows
//! folds/K/                the run folder of fold K; its test part is what it holds out
//! folds/predictions.csv   what each sequence was called by the model that had not seen it
//! folds/folds.json        the numbers; also the section `folds` of result.json
//! ```

mod cut;
mod folder;
mod one;
mod predictions;
mod run;
mod watcher;

pub use cut::{check_data, settings_for};
pub use folder::{first_fold, is_run_by_folds, numbers, write_numbers};
pub use one::{in_turns, one_fold};
pub use run::{Ended, Request, check, in_folder, measure, resume, train};
pub use watcher::{FoldsStart, Watcher};

#[cfg(test)]
mod leak_tests;
