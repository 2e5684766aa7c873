//! A folder of files that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::checkpoint::{remove_unfinished, temporary_name};
use crate::{Error, Result};

/// Writes files, their names relative to a new folder, and makes the folder appear when all are there.
pub(super) fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    remove_unfinished(path);
    let temporary = temporary_name(path);
    let outcome = write_and_rename(path, &temporary, files);
    outcome.map_err(|source| {
        // What lies there is of no use to anyone.
        let _ = fs::remove_dir_all(&temporary);
        Error::io(path, "write")(source)
    })
}

fn write_and_rename(path: &Path, temporary: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        let kind = io::ErrorKind::AlreadyExists;
        return Err(io::Error::new(kind, "something lies there already"));
    }
    fs::create_dir(temporary)?;
    for (name, bytes) in files {
        let target = temporary.join(name);
        fs::create_dir_all(target.parent().unwrap_or(temporary))?;
        let mut file = File::create(target)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    fs::rename(temporary, path)
}

/// A folder for compiling, which goes away.
pub(super) struct Trial {
    pub path: PathBuf,
}

impl Trial {
    pub fn new() -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ernn-export-{}-{count}", std::process::id()));
        fs::create_dir(&path).map_err(Error::io(&path, "write"))?;
        Ok(Trial { path })
    }

    /// Writes a file, its name relative to the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path);
        let outcome = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
        outcome.map_err(Error::io(&path, "write"))
    }

    /// Reads a file that a program has made there.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        fs::read(&path).map_err(Error::io(&path, "read"))
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
