//! Puts the files of `experiments/` into the library: a list of `(NAME/FILE, text)`.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let root = variable("CARGO_MANIFEST_DIR").join("../../experiments");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for folder in entries(&root).iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for path in entries(folder) {
            if path.extension().is_some_and(|extension| extension == "toml") {
                println!("cargo::rerun-if-changed={}", path.display());
                let name = format!("{}/{}", file_name(folder), file_name(&path));
                files.push((name, path.display().to_string()));
            }
        }
    }
    files.sort();
    let mut list = String::from(
        "/// The files of `experiments/`: `NAME/FILE.toml`, and the text.\npub static EMBEDDED: &[(&str, &str)] = &[\n",
    );
    for (name, path) in files {
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    list += "];\n";
    fs::write(variable("OUT_DIR").join("experiments.rs"), list).expect("cargo's own folder can be written");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
