//! What of a file is there: `NAME.part`, and in `NAME.part.tag` the server's word for that content.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A file that grows. It is locked, so that two processes do not write into each other.
pub(super) struct Partial {
    path: PathBuf,
    file: File,
    length: u64,
    tag: Option<String>,
}

impl Partial {
    /// Opens the beginning of `target`, or begins it.
    pub fn open(target: &Path) -> Result<Partial> {
        let path = beside(target, ".part");
        let file = File::options().create(true).read(true).append(true).open(&path);
        let file = file.map_err(Error::io(&path, "write"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::data(path.display(), "another process is downloading this file"));
            }
            Err(TryLockError::Error(error)) => return Err(Error::io(&path, "write")(error)),
        }
        let length = file.metadata().map_err(Error::io(&path, "write"))?.len();
        let tag = fs::read_to_string(beside(&path, ".tag"))
            .ok()
            .filter(|tag| !tag.is_empty());
        Ok(Partial {
            path,
            file,
            length,
            tag,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are there.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The server's word for the content that they are the beginning of.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Begins anew, with content that the server calls `tag`.
    pub fn begin(&mut self, tag: Option<&str>) -> Result<()> {
        let note = beside(&self.path, ".tag");
        // Bytes first: should the process end in between, none of them may be taken for those of the new tag.
        if self.length > 0 {
            self.file.set_len(0).map_err(Error::io(&self.path, "write"))?;
            self.length = 0;
        }
        self.tag = tag.map(str::to_owned);
        let noted = match tag {
            Some(tag) => fs::write(&note, tag),
            None => remove(&note),
        };
        noted.map_err(Error::io(&note, "write"))
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| {
            // Part of the piece may have been written, so that the length is asked for anew.
            self.length = self.file.seek(SeekFrom::End(0)).unwrap_or(self.length);
            Error::io(&self.path, "write")(error)
        })?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// All that is there, from its beginning. On some systems the lock keeps out everyone but this very handle.
    pub fn content(&self) -> Result<File> {
        let handle = self
            .file
            .try_clone()
            .and_then(|mut handle| handle.rewind().map(|()| handle));
        handle.map_err(Error::io(&self.path, "read"))
    }

    /// Gives the whole file its name.
    pub fn finish(self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(Error::io(&self.path, "write"))?;
        fs::rename(&self.path, target).map_err(Error::io(target, "write"))?;
        let note = beside(&self.path, ".tag");
        remove(&note).map_err(Error::io(&note, "write"))
    }

    /// Removes what came, because it is wrong or nothing.
    pub fn discard(self) {
        // Nothing depends on it: what stays is not taken for the file.
        let _ = remove(&beside(&self.path, ".tag"));
        let _ = remove(&self.path);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}
