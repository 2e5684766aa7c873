//! Which revision of the repository the command is built from: what git says, or `ERNN_REVISION` where there is no git, or nobody knows.
//!
//! Runs again when another commit is checked out, not when files change.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ERNN_REVISION");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let named = env::var("ERNN_REVISION").ok().filter(|name| !name.trim().is_empty());
    if let Some(revision) = of_checkout(&package).or(named) {
        println!("cargo::rustc-env=ERNN_BUILT_FROM={}", revision.trim());
    }
}

/// The commit that is checked out; none if the package lies in no checkout of its own, as an unpacked archive in that of something else.
fn of_checkout(package: &Path) -> Option<String> {
    let root = package.parent()?.parent()?.canonicalize().ok()?;
    let top = git(package, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root {
        return None;
    }
    // The log of HEAD grows with each commit and checkout. A path that is not there would make every build run this anew.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(package, &["rev-parse", "--git-path", file]).map(|path| package.join(path));
        if let Some(path) = path.filter(|path| path.is_file()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(package, &["rev-parse", "--short=12", "HEAD"])
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
