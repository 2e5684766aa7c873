//! Who watches experiments: plain lines, or nobody.

use std::path::Path;

use super::RunRecord;
use ernn::checkpoint::EpochRecord;

/// What is known before the first run.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Runs of this process.
    pub runs: usize,
    /// Those of them that were over before.
    pub over: usize,
    /// The folder of results.
    pub out: &'a Path,
}

/// A run that has just come to its end, or to that of its time.
#[derive(Clone, Debug)]
pub struct RunDone<'a> {
    /// `NAME/VARIANT/ROW/seed-N`.
    pub name: &'a str,
    /// Its result.
    pub record: &'a RunRecord,
    /// Runs of this process that are over, this one included.
    pub done: usize,
    /// Runs of this process.
    pub runs: usize,
    /// Wall time since the start.
    pub seconds: f64,
}

/// Sees experiments from outside. Every method has a default that does nothing; `()` sees nothing.
pub trait Watcher: Send {
    /// Before the first run.
    fn started(&mut self, _start: &Start) {}
    /// After each batch of a run: the part of it that is done.
    fn under_way(&mut self, _name: &str, _share: f64) {}
    /// After each epoch of a run.
    fn epoch_done(&mut self, _name: &str, _record: &EpochRecord) {}
    /// After each run.
    fn run_done(&mut self, _done: &RunDone) {}
    /// Another process is training this run.
    fn run_taken(&mut self, _name: &str) {}
    /// An experiment of several cannot be run; the others go on.
    fn skipped(&mut self, _experiment: &str, _reason: &str) {}
    /// Something the user should know; every run may say it again.
    fn warning(&mut self, _text: &str) {}
}

impl Watcher for () {}
