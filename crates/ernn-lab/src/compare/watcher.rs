//! Who watches a comparison: plain lines, or nobody.

use std::path::Path;

use ernn::train::PastRun;

/// What is known before the first run.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Rows of the table.
    pub rows: usize,
    /// Runs of this process.
    pub runs: usize,
    /// Those of them that have ended before.
    pub ended: usize,
    /// The folder.
    pub out: &'a Path,
}

/// A run that has just ended.
#[derive(Clone, Debug)]
pub struct RunDone<'a> {
    /// `ROW/seed-N`.
    pub name: &'a str,
    /// What came of it.
    pub run: &'a PastRun,
    /// Runs of this process that have ended, this one included.
    pub ended: usize,
    /// Runs of this process.
    pub runs: usize,
    /// Wall time since the comparison started or went on.
    pub seconds: f64,
}

/// Sees a comparison from outside. Every method has a default that does nothing; `()` sees nothing.
pub trait Watcher: Send {
    /// Before the first run.
    fn started(&mut self, _start: &Start) {}
    /// After each batch of a run: the part of it that is done.
    fn under_way(&mut self, _name: &str, _share: f64) {}
    /// After each run.
    fn run_done(&mut self, _done: &RunDone) {}
    /// Another process is training this run.
    fn run_taken(&mut self, _name: &str) {}
    /// Something the user should know; every run may say it again.
    fn warning(&mut self, _text: &str) {}
}

impl Watcher for () {}
