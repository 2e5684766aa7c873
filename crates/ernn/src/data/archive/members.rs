//! What was read from an archive, found again by the end of its path.

use std::path::PathBuf;

use crate::{Error, Result};

/// Results in the archive's order, each with its member's path inside the archive.
#[derive(Debug)]
pub(crate) struct Members<T> {
    archive: PathBuf,
    list: Vec<(String, T)>,
}

impl<T> Members<T> {
    pub(super) fn new(archive: PathBuf, list: Vec<(String, T)>) -> Members<T> {
        Members { archive, list }
    }

    /// Names and results.
    pub fn into_list(self) -> Vec<(String, T)> {
        self.list
    }

    /// Takes out the member whose path is `end`, or ends with it behind a `/`: folders around a data set differ.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(&mut self, end: &str) -> Result<T> {
        let found = self.list.iter().position(|(name, _)| ends_with(name, end));
        let position =
            found.ok_or_else(|| Error::format(&self.archive, "", format!("no {end}"), "the whole data set"))?;
        Ok(self.list.swap_remove(position).1)
    }
}

/// The path is `end` or has it as its last components.
pub(crate) fn ends_with(name: &str, end: &str) -> bool {
    name.strip_suffix(end)
        .is_some_and(|front| front.is_empty() || front.ends_with('/'))
}
