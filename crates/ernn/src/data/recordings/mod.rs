//! Recordings: minutes or hours of rows become windows with labels.
//!
//! ```text
//! file(s) -> csv::log -> Log (rows by recording) -> pieces without gaps -> [grid] -> windows -> Raw
//!                        events -> labels of rows ------------------------^
//! ```
//!
//! A window lies in one piece: it spans no gap, no recording and no person. Its label is the most frequent one of its steps, if that covers
//! enough of it; windows without one are left out and counted. All windows of a recording have one group, so that no split divides it; a
//! single recording is divided into blocks of time instead. Windows that overlap one before them are marked: only training reads those.

mod clock;
mod cut;
mod events;
mod facts;
mod grid;
mod log;
mod options;
mod pieces;
mod sets;
mod span;

pub use clock::TimeUnit;
pub(super) use clock::{TimeReader, is_iso, iso};
pub(super) use cut::cut;
pub use facts::RecordingFacts;
pub(super) use log::{Log, Recording};
pub use options::{Aim, LabelAt, RecordingOptions};
pub use span::Span;

#[cfg(test)]
mod tests;
