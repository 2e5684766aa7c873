//! Zip archives, and zip archives in them.

use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use zip::ZipArchive;

use super::{Content, Receiver, Wanted, open, read_member};
use crate::{Error, Result};

const EXPECTED: &str = "a whole zip archive";

pub(super) fn walk(path: &Path, wanted: Wanted, receive: Receiver) -> Result<()> {
    let file = BufReader::new(open(path)?);
    walk_level(file, path, true, wanted, receive).map(|_| ())
}

/// Walks an archive, and if `outer`, the archives in it; `false` if the receiver has had enough.
fn walk_level(file: impl Read + Seek, path: &Path, outer: bool, wanted: Wanted, receive: Receiver) -> Result<bool> {
    let error = |place: &str, found: &dyn std::fmt::Display| Error::format(path, place, found, EXPECTED);
    let mut archive = ZipArchive::new(file).map_err(|found| error("", &found))?;
    for index in 0..archive.len() {
        let place = format!(", member {}", index + 1);
        let member = archive.by_index(index).map_err(|found| error(&place, &found))?;
        let name = member.name().map_err(|found| error(&place, &found))?.replace('\\', "/");
        let nested = outer && name.to_lowercase().ends_with(".zip");
        if member.is_dir() || !(nested || wanted(&name)) {
            continue;
        }
        let (shown, size) = (path.join(&name), member.size());
        let bytes = read_member(member, size, &shown, "a member as its zip archive says")?;
        let more = if nested {
            walk_level(Cursor::new(bytes), &shown, false, wanted, receive)?
        } else {
            receive(name, shown, Content::Bytes(bytes))
        };
        if !more {
            return Ok(false);
        }
    }
    Ok(true)
}
