//! Folders: files at any depth down to a few levels, in order of their names.

use std::path::{Path, PathBuf};

use super::{Content, Packing, Receiver, Wanted};
use crate::{Error, Result};

/// Levels below the folder that are looked at: no data set is deeper, and a home folder by mistake is not walked for hours.
const LEVELS: usize = 4;

pub(super) fn walk(base: &Path, wanted: Wanted, receive: Receiver) -> Result<()> {
    let mut files = Vec::new();
    collect(base, "", LEVELS, wanted, &mut files)?;
    files.sort();
    // A file that lies there packed and unpacked is read once, unpacked, which sorts first.
    files.dedup_by(|later, first| later.0 == first.0);
    for (name, path) in files {
        let packing = packing_of(&path).0;
        if !receive(name, path.clone(), Content::File(path, packing)) {
            break;
        }
    }
    Ok(())
}

fn packing_of(path: &Path) -> (Packing, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (packing, inner) = Packing::of(&name);
    if inner.ends_with(".tar") {
        (Packing::Plain, name.into_owned())
    } else {
        (packing, inner.to_owned())
    }
}

/// Wanted files below `folder` with the names they go by.
fn collect(
    folder: &Path,
    below: &str,
    levels: usize,
    wanted: Wanted,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<()> {
    let error = Error::io(folder, "read");
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = format!("{below}{}", packing_of(&path).1);
        if path.is_dir() {
            if levels > 0 {
                let whole = path.file_name().unwrap_or_default().to_string_lossy();
                collect(&path, &format!("{below}{whole}/"), levels - 1, wanted, files)?;
            }
        } else if wanted(&name) {
            files.push((name, path));
        }
    }
    Ok(())
}
