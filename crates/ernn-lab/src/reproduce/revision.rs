//! Which revision of this repository made a result: that of the checkout in which the program was built or is run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file by which the checkout of this project is told from any other.
const MARK: &str = "crates/ernn-lab/src/reproduce/revision.rs";

/// The commit, with `-dirty` behind it if tracked files were changed since; none outside a checkout or without git.
pub(super) fn revision() -> Option<String> {
    let program = env::current_exe().ok();
    let here = env::current_dir().ok();
    let checkout = [program, here].into_iter().flatten().find_map(|path| checkout(&path))?;
    let commit = git(&checkout, &["rev-parse", "HEAD"])?;
    let changed = git(&checkout, &["status", "--porcelain", "--untracked-files=no"])?;
    let dirty = if changed.is_empty() { "" } else { "-dirty" };
    Some(format!("{commit}{dirty}"))
}

/// The folder of the project that holds a path.
fn checkout(path: &Path) -> Option<PathBuf> {
    let mut folders = path.ancestors();
    folders
        .find(|folder| folder.join(MARK).is_file())
        .map(Path::to_path_buf)
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_folder_of_the_project_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()
            .unwrap();
        assert_eq!(checkout(&root.join("crates/ernn/src")), Some(root));
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(checkout(elsewhere.path()), None);
    }
}
