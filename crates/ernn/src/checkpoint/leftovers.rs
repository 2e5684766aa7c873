//! Temporary files of processes that were killed: `.NAME.PROCESS.tmp`, removed by the next one that works in the folder.
//!
//! Only names of our own making, only where no process of that number lives (where that can be seen), and only if nobody holds the
//! lock that a writer has on its file until it renames it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The temporary name of a file or folder, beside it: a rename does not cross file systems, and two processes do not share it.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Whether it is the name of a temporary file of this library.
pub(crate) fn is_temporary(name: &str) -> bool {
    process(name).is_some()
}

/// The process that a temporary name names.
fn process(name: &str) -> Option<u32> {
    let (stem, process) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let plain = !process.is_empty() && process.bytes().all(|letter| letter.is_ascii_digit());
    (plain && !stem.is_empty()).then(|| process.parse().ok()).flatten()
}

/// Removes what killed processes have left in a folder. What cannot be removed stays: it harms nobody.
pub fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let abandoned = entry
            .file_name()
            .to_str()
            .and_then(process)
            .is_some_and(|id| !lives(id));
        if abandoned && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            remove_unlocked(&entry.path());
        }
    }
}

/// Removes folders that were to become this one, of processes that are seen to be gone.
pub(crate) fn remove_unfinished(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(parent.unwrap_or(Path::new("."))) else {
        return;
    };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let gone = found.to_str().and_then(process).filter(|&id| is_seen() && !lives(id));
        let own = gone.is_some_and(|id| found.to_str() == Some(&format!(".{name}.{id}.tmp")[..]));
        if own && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn remove_unlocked(path: &Path) {
    // Another machine's process may write here, of which nothing is seen but its lock.
    if File::open(path).is_ok_and(|file| file.try_lock().is_ok()) {
        let _ = fs::remove_file(path);
    }
}

fn lives(process: u32) -> bool {
    process == std::process::id() || (is_seen() && Path::new(&format!("/proc/{process}")).exists())
}

/// Whether the system shows which processes there are.
fn is_seen() -> bool {
    Path::new("/proc/self").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that no process has: Linux counts up to 2^22.
    const NOBODY: u32 = 4_999_999;

    #[test]
    fn only_names_of_our_own_making_are_temporary() {
        let name = temporary_name(Path::new("a/model.safetensors"));
        assert_eq!(name.parent().unwrap(), Path::new("a"));
        assert!(is_temporary(name.file_name().unwrap().to_str().unwrap()));
        for name in [
            ".a.tmp",
            "a.12.tmp",
            ".a.12",
            ".a.x1.tmp",
            ".a..tmp",
            "..12.tmp",
            ".a.99999999999.tmp",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
    }

    #[test]
    fn what_a_killed_process_left_goes_and_what_lives_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let own = temporary_name(&path("own"));
        let written = path(&format!(".written.{NOBODY}.tmp"));
        for file in [
            path(&format!(".left.{NOBODY}.tmp")),
            own.clone(),
            written.clone(),
            path(".mine.tmp"),
            path("data.12.tmp"),
        ] {
            fs::write(file, "x").unwrap();
        }
        let lock = File::open(&written).unwrap();
        lock.lock().unwrap();
        remove_leftovers(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        left.sort();
        let mut expected = vec![own, written.clone(), path(".mine.tmp"), path("data.12.tmp")];
        expected.sort();
        assert_eq!(left, expected);
        if is_seen() {
            let half = path(&format!(".own.{NOBODY}.tmp"));
            fs::create_dir(&half).unwrap();
            remove_unfinished(&path("other"));
            assert!(half.exists());
            remove_unfinished(&path("own"));
            assert!(!half.exists());
        }
        drop(lock);
        remove_leftovers(folder.path());
        assert!(!written.exists());
    }
}
