//! Who watches a search.

use super::Trial;

/// Sees a search from outside. Every method has a default that does nothing; `()` sees nothing.
pub trait Watcher: Send {
    /// Before the first trial: how many there are, if that is known, and how many folds.
    fn search_started(&mut self, _trials: Option<usize>, _folds: usize) {}
    /// After a round: the trials that were in it, the best one first, and how many go on.
    fn round_done(&mut self, _round: usize, _trials: &[&Trial], _left: usize) {}
    /// Something the user should know.
    fn warning(&mut self, _text: &str) {}
}

impl Watcher for () {}
