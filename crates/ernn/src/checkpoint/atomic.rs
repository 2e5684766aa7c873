//! Writing a file so that no crash leaves half of it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::leftovers::temporary_name;
use crate::{Error, Result};

/// Writes `bytes` to a temporary name beside `path`, flushes them to the disk and renames: afterwards `path` holds the old
/// content or the new one, never a part.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let outcome = write_and_rename(path, &temporary, bytes);
    outcome.map_err(|source| {
        // The rename failed or the disk is full: what lies there is of no use to anyone.
        let _ = fs::remove_file(&temporary);
        Error::io(path, "write")(source)
    })
}

/// The same, in a folder that is made if there is none.
pub fn write_with_folder(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Error::io(folder, "create"))?;
    }
    write_atomically(path, bytes)
}

fn write_and_rename(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    // Says that its writer lives; a file system without locks does without.
    let _ = file.try_lock();
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_the_old_content_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, b"old and long").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn names_the_file_that_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(&folder.path().join("missing/file"), b"x").unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
        assert!(error.to_string().contains("cannot write"), "{error}");
    }
}
