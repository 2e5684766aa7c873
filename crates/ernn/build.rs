//! Puts the files of `experiments/` into the library: a list of `(NAME, text)`.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let root = variable("CARGO_MANIFEST_DIR").join("../../experiments");
    println!("cargo::rerun-if-changed={}", root.display());
    let entries = fs::read_dir(&root).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut list = String::from(
        "/// The files of `experiments/`: `NAME` of `NAME.toml`, and the text.\npub static EMBEDDED: &[(&str, &str)] = &[\n",
    );
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("writing to a string");
    }
    list += "];\n";
    fs::write(variable("OUT_DIR").join("experiments.rs"), list).expect("cargo's own folder can be written");
}
