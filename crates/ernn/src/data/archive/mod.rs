//! Archives: a data set's files as they were downloaded, whether a folder, an archive or one packed file.
//!
//! ```text
//! folder | .zip | .tar | .tar.gz .tgz | .tar.bz2 | .tar.xz | one file, plain or .gz .bz2 .xz .zst
//! ```
//!
//! [`Archive::read`] goes through an archive once, unpacks only the members that are wanted, and hands each to a function on
//! the thread pool while it goes on. Nothing is written to disk. In a folder a packed file (`train.gz`) stands under the name
//! of what it holds (`train`); a zip in a zip (UCI wraps its older archives so) is looked into as if its members stood in the
//! outer one. Checksums of the formats are verified, and a member that was cut short is an error.

mod folder;
mod members;
mod packing;
mod tape;
mod zipped;
mod zstd;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{Error, Result};
pub(crate) use members::Members;
pub(in crate::data) use packing::Packing;

/// Largest member that is unpacked: what claims or turns out to be more is no file of a data set that this room reads.
const LARGEST: u64 = 1 << 30;
/// Unpacked bytes that may wait for the thread pool; beyond it, whoever unpacks works on them itself.
const WAITING: usize = 64 << 20;

/// A folder, an archive or a packed file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Archive {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Folder,
    Zip,
    Tar(Packing),
    /// One file.
    Single(Packing),
}

/// One file of an archive, unpacked.
pub(crate) struct Member {
    /// Path inside the archive, with `/`.
    pub name: String,
    /// How errors call it: the archive's path and then its own.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What a walk through an archive finds: unpacked bytes, or a file of a folder that whoever works on it reads.
enum Content {
    Bytes(Vec<u8>),
    File(PathBuf, Packing),
}

/// Receives the members of a walk: name, path for errors, content. `false` ends the walk.
type Receiver<'a> = &'a mut dyn FnMut(String, PathBuf, Content) -> bool;

/// Which members are wanted, by their path inside the archive.
pub(crate) type Wanted<'a> = &'a dyn Fn(&str) -> bool;

impl Archive {
    /// The archive at a path, told from its name's ending; a file of any other name stands for itself.
    pub fn at(path: &Path) -> Archive {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (packing, inner) = Packing::of(&name);
        let kind = if path.is_dir() {
            Kind::Folder
        } else if name.ends_with(".zip") {
            Kind::Zip
        } else if inner.ends_with(".tar") {
            Kind::Tar(packing)
        } else {
            Kind::Single(packing)
        };
        Archive {
            path: path.to_owned(),
            kind,
        }
    }

    /// Unpacks the wanted members and applies `work` to each on the current thread pool; results in the archive's order,
    /// a folder's by name.
    ///
    /// # Errors
    /// The first error of `work` in that order, or what is wrong with the archive and at which member.
    pub fn read<T: Send>(&self, wanted: Wanted, work: impl Fn(Member) -> Result<T> + Sync) -> Result<Members<T>> {
        let results: Mutex<Vec<(usize, String, Result<T>)>> = Mutex::default();
        let (waiting, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let finish = |index: usize, name: String, path: PathBuf, content: Content| {
            let member = content.unpack(&path).map(|bytes| Member {
                name: name.clone(),
                path,
                bytes,
            });
            let result = member.and_then(&work);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            // A thread that panicked has poisoned nothing here: a push is whole or did not happen.
            let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            results.push((index, name, result));
        };
        let walked = rayon::in_place_scope(|scope| {
            let mut index = 0;
            self.walk(wanted, &mut |name, path, content| {
                let (position, bytes) = (index, content.waiting_bytes());
                index += 1;
                if waiting.fetch_add(bytes, Ordering::Relaxed) > WAITING {
                    finish(position, name, path, content);
                    waiting.fetch_sub(bytes, Ordering::Relaxed);
                } else {
                    let (finish, waiting) = (&finish, &waiting);
                    scope.spawn(move |_| {
                        finish(position, name, path, content);
                        waiting.fetch_sub(bytes, Ordering::Relaxed);
                    });
                }
                !failed.load(Ordering::Relaxed)
            })
        });
        let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        results.sort_by_key(|&(index, ..)| index);
        let results: Vec<(String, T)> = results
            .into_iter()
            .map(|(_, name, result)| result.map(|result| (name, result)))
            .collect::<Result<_>>()?;
        walked.map(|()| Members::new(self.path.clone(), results))
    }

    fn walk(&self, wanted: Wanted, receive: Receiver) -> Result<()> {
        match self.kind {
            Kind::Folder => folder::walk(&self.path, wanted, receive),
            Kind::Zip => zipped::walk(&self.path, wanted, receive),
            Kind::Tar(packing) => tape::walk(&self.path, packing, wanted, receive),
            Kind::Single(packing) => {
                let whole = self.path.file_name().unwrap_or_default().to_string_lossy();
                let name = Packing::of(&whole).1;
                if wanted(name) {
                    receive(
                        name.to_owned(),
                        self.path.clone(),
                        Content::File(self.path.clone(), packing),
                    );
                }
                Ok(())
            }
        }
    }
}

impl Content {
    fn waiting_bytes(&self) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            Content::File(..) => 0,
        }
    }

    fn unpack(self, shown: &Path) -> Result<Vec<u8>> {
        match self {
            Content::Bytes(bytes) => Ok(bytes),
            Content::File(path, packing) => {
                let file = open(&path)?;
                let expected = file.metadata().map_or(0, |facts| facts.len());
                read_member(packing.unpack(file), expected, shown, packing.name())
            }
        }
    }
}

fn open(path: &Path) -> Result<std::fs::File> {
    std::fs::File::open(path).map_err(Error::io(path, "read"))
}

/// Reads a member to its end. `size` is what its header claims and only a hint: memory is taken as bytes come.
fn read_member(reader: impl Read, size: u64, path: &Path, expected: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size.min(WAITING as u64) as usize);
    reader
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::format(path, "", error, expected))?;
    if bytes.len() as u64 > LARGEST {
        let found = format!("more than {LARGEST} bytes in one member");
        return Err(Error::format(path, "", found, "a data set's file"));
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
