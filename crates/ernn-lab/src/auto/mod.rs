//! Auto: settings for data of one's own, found by folds.
//!
//! ```text
//! space -> trials -> two folds each -> the better third: all folds -> the better third of those: other folds ... -> the best
//!       -> measured on folds of its own -> trained on everything
//! ```
//!
//! Successive halving whose resource are folds: a trial that is behind on the same folds gets no more of them. All trials of a round are judged
//! by the same folds, so that differences are paired. The test part is not read; the final run reads it as any run does. What the best trial
//! reached while it was chosen flatters it: the report comes from folds drawn anew, with an interval for as many trials.
//!
//! ```text
//! auto.csv, auto.md    what was tried, how far it came, and how sure the choice is
//! config.toml          the settings that were chosen: with them `ernn train --config` repeats the final run without the search
//! ```

mod clock;
mod halving;
mod run;
mod space;
mod table;
mod watcher;

pub use run::{Effort, Request, check, train};
pub use table::{Trial, Trials};
pub use watcher::Watcher;
