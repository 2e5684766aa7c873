use super::*;

/// A folder or file of the shared folder beside the repository; `None`, with a line that says so, where there is none.
pub(in super::super) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// A folder in the data folder of the environment, `ERNN_DATA_DIR`; `None`, with a line that says so, where there is none.
pub(in super::super) fn data_folder(name: &str) -> Option<PathBuf> {
    let folder = OpenOptions::default().data_folder().map(|folder| folder.join(name));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: ERNN_DATA_DIR names no folder with {name}");
    }
    found
}
