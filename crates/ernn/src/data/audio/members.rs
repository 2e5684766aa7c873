//! The members of a packed file, until the view of archives that all data sets share is there.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::{Error, Result};

/// Unpacks one `.xz` or `.gz` file, or reads one that is not packed.
pub(super) fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let outcome = stream(path).and_then(|mut stream| stream.read_to_end(&mut bytes));
    outcome.map_err(|source| unreadable(path, source))?;
    Ok(bytes)
}

/// Goes once through a `.tar`, `.tar.gz` or `.tar.xz`; every wanted member is handed over with its path inside.
pub(super) fn visit(
    path: &Path,
    wanted: &mut dyn FnMut(&str) -> bool,
    each: &mut dyn FnMut(String, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let read = |source| unreadable(path, source);
    let mut archive = tar::Archive::new(stream(path).map_err(read)?);
    for entry in archive.entries().map_err(read)? {
        let mut entry = entry.map_err(read)?;
        let name = entry.path().map_err(read)?.to_string_lossy().into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        if !entry.header().entry_type().is_file() || !wanted(&name) {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(read)?;
        each(name, bytes)?;
    }
    Ok(())
}

fn stream(path: &Path) -> std::io::Result<Box<dyn Read>> {
    let file = BufReader::with_capacity(1 << 16, File::open(path)?);
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => Box::new(lzma_rust2::XzReader::new(file, true)),
        Some("gz" | "tgz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        _ => Box::new(file),
    })
}

fn unreadable(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        action: "read",
        source,
    }
}
