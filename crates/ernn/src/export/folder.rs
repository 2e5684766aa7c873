//! A folder of files that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::checkpoint::{remove_unfinished, temporary_name};
use crate::{Error, Result};

/// Writes files, their names relative to a new folder, and makes the folder appear when all are there.
///
/// # Errors
/// If something lies there already, or the operating system refuses.
pub fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
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
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
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
