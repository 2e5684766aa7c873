//! The folder of an ensemble: several run folders, and a file that says how many.
//!
//! ```text
//! ensemble.toml    members = 5, complete = true once all of them have ended
//! member-K/        the run folder of member K, from 1
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::write_with_folder;
use crate::{Error, Result};

const FILE: &str = "ensemble.toml";

/// The most members of an ensemble.
pub const MOST_MEMBERS: usize = 100;

/// What `ensemble.toml` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleFolder {
    /// Runs in it.
    pub members: usize,
    /// Whether all of them have ended.
    pub complete: bool,
}

impl EnsembleFolder {
    /// Whether a folder is one of an ensemble.
    pub fn is_at(path: &Path) -> bool {
        path.join(FILE).is_file()
    }

    /// What the folder of an ensemble says of itself.
    ///
    /// # Errors
    /// If its file cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.join(FILE);
        let text = fs::read_to_string(&file).map_err(Error::io(&file, "read"))?;
        let wrong = |found: String| {
            let expected = format!("what `ernn train --ensemble` writes, with 1 to {MOST_MEMBERS} members");
            Error::format(&file, "", found, expected)
        };
        let found: Self = toml::from_str(&text).map_err(|error| wrong(error.message().replace('\n', " ")))?;
        match found.members {
            1..=MOST_MEMBERS => Ok(found),
            members => Err(wrong(format!("{members} members"))),
        }
    }

    pub(crate) fn write(self, path: &Path) -> Result<()> {
        let text = toml::to_string(&self).expect("plain numbers");
        write_with_folder(&path.join(FILE), text.as_bytes())
    }

    /// The run folder of a member, from 1.
    pub fn member(path: &Path, number: usize) -> PathBuf {
        path.join(format!("member-{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_was_and_refuses_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e");
        assert!(!EnsembleFolder::is_at(&path));
        let written = EnsembleFolder {
            members: 3,
            complete: false,
        };
        written.write(&path).unwrap();
        assert!(EnsembleFolder::is_at(&path));
        assert_eq!(EnsembleFolder::read(&path).unwrap(), written);
        for (text, part) in [
            ("members = 0\ncomplete = true\n", "found 0 members, expected"),
            ("members = 101\ncomplete = true\n", "found 101 members, expected"),
            ("members = 3\n", "missing field `complete`"),
            ("no toml", "expected what `ernn train --ensemble` writes"),
        ] {
            fs::write(path.join(FILE), text).unwrap();
            let error = EnsembleFolder::read(&path).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(FILE), "{error}");
        }
    }
}
