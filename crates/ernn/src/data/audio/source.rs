//! Where recordings lie: a folder, or an archive as it was downloaded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::release::is_list;
use crate::data::archive::{Archive, Member};
use crate::{Error, Result};

/// A folder or an archive of recordings.
pub(super) struct Source {
    path: PathBuf,
    archive: Archive,
}

/// What a source holds.
pub(super) struct Listing {
    /// Paths of all recordings inside the source, with `/`, sorted.
    pub recordings: Vec<String>,
    /// The files that were asked for, by their paths.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// The bytes of files by their names.
type Files = BTreeMap<String, Vec<u8>>;

impl Source {
    /// The folder or archive at a path.
    pub fn at(path: &Path) -> Source {
        Source {
            path: path.to_owned(),
            archive: Archive::at(path),
        }
    }

    /// The path of the folder or archive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A text that changes with the content: name, size and time of change of the archive, or of all files in the folder.
    pub fn identity(&self) -> Result<String> {
        let mut names = if self.path.is_dir() {
            self.walk(|_| false)?.0
        } else {
            Vec::new()
        };
        names.retain(|name| is_recording(name) || is_list(name));
        let mut identity = String::new();
        if names.is_empty() {
            note(
                &self.path,
                &self.path.file_name().unwrap_or_default().to_string_lossy(),
                &mut identity,
            )?;
        }
        for name in names {
            note(&self.path.join(&name), &name, &mut identity)?;
        }
        Ok(identity)
    }

    /// Goes through the source without reading recordings, but for `kept` files.
    pub fn list(&self, kept: impl Fn(&str) -> bool) -> Result<Listing> {
        let (mut recordings, files) = self.walk(kept)?;
        recordings.retain(|name| is_recording(name));
        Ok(Listing { recordings, files })
    }

    /// Applies `work` to the wanted members in parallel; results with their names.
    pub fn read<T: Send>(
        &self,
        wanted: &dyn Fn(&str) -> bool,
        work: impl Fn(Member) -> Result<T> + Sync,
    ) -> Result<Vec<(String, T)>> {
        Ok(self.archive.read(wanted, work)?.into_list())
    }

    /// The names of all files, sorted, and the content of those that are `kept`.
    fn walk(&self, kept: impl Fn(&str) -> bool) -> Result<(Vec<String>, Files)> {
        let names = RefCell::new(Vec::new());
        let wanted = |name: &str| {
            names.borrow_mut().push(name.to_owned());
            kept(name)
        };
        let files = self.archive.read(&wanted, |member| Ok(member.bytes))?.into_list();
        let mut names = names.into_inner();
        names.sort();
        Ok((names, files.into_iter().collect()))
    }
}

/// A WAVE file, and none of the hidden files that some systems lay beside.
fn is_recording(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    !file.starts_with('.') && file.to_ascii_lowercase().ends_with(".wav")
}

fn note(path: &Path, name: &str, identity: &mut String) -> Result<()> {
    let facts = std::fs::metadata(path).map_err(Error::io(path, "read"))?;
    let changed = facts
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.unwrap_or_default().as_nanos();
    writeln!(identity, "{name} {} {changed}", facts.len()).expect("text takes all");
    Ok(())
}
