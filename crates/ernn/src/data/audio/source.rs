//! Where recordings lie: a folder, or an archive as it was downloaded.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

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
        let names = if self.path.is_dir() {
            self.names(|name| is_recording(name) || is_list(name))?
        } else {
            Vec::new()
        };
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
        let names = RefCell::new(Vec::new());
        let wanted = |name: &str| {
            names.borrow_mut().push(name.to_owned());
            kept(name)
        };
        let files = self.archive.read(&wanted, |member| Ok(member.bytes))?.into_list();
        let mut recordings = names.into_inner();
        recordings.retain(|name| is_recording(name));
        recordings.sort();
        Ok(Listing {
            recordings,
            files: files.into_iter().collect(),
        })
    }

    /// Applies `work` to the wanted members in parallel; results with their names.
    pub fn read<T: Send>(
        &self,
        wanted: &dyn Fn(&str) -> bool,
        work: impl Fn(Member) -> Result<T> + Sync,
    ) -> Result<Vec<(String, T)>> {
        Ok(self.archive.read(wanted, work)?.into_list())
    }

    fn names(&self, which: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let names = RefCell::new(Vec::new());
        let wanted = |name: &str| {
            names.borrow_mut().push(name.to_owned());
            false
        };
        self.archive.read(&wanted, |_| Ok(()))?;
        let mut names = names.into_inner();
        names.retain(|name| which(name));
        names.sort();
        Ok(names)
    }
}

/// A WAVE file, and none of the hidden files that some systems lay beside.
fn is_recording(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    !file.starts_with('.') && file.to_ascii_lowercase().ends_with(".wav")
}

fn is_list(name: &str) -> bool {
    name.ends_with("_list.txt")
}

fn note(path: &Path, name: &str, identity: &mut String) -> Result<()> {
    let facts = std::fs::metadata(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        action: "read",
        source,
    })?;
    let changed = facts
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.unwrap_or_default().as_nanos();
    writeln!(identity, "{name} {} {changed}", facts.len()).expect("text takes all");
    Ok(())
}
