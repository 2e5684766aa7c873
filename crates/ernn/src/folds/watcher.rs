//! Who watches a training by folds.

use std::path::Path;

use crate::evaluate::FoldReport;

/// What is known before the first fold.
#[derive(Clone, Debug)]
pub struct FoldsStart<'a> {
    /// Folds.
    pub folds: usize,
    /// Those of them that have ended before.
    pub ended: usize,
    /// Sequences, each held out once.
    pub sequences: usize,
    /// The run folder, where there is one.
    pub out: Option<&'a Path>,
}

/// Sees folds from outside. Every method has a default that does nothing; `()` sees nothing.
pub trait Watcher: Send {
    /// Before the first fold.
    fn folds_started(&mut self, _start: &FoldsStart) {}
    /// After each fold, in whatever order they end; so many have ended.
    fn fold_done(&mut self, _fold: &FoldReport, _ended: usize) {}
    /// Something the user should know; every fold may say it again.
    fn warning(&mut self, _text: &str) {}
}

impl Watcher for () {}
