//! Tar archives, plain or packed. An archive ends with a block of zeros; one without it was cut short between two members.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;

use super::{Content, Packing, Receiver, Wanted, open, read_member};
use crate::{Error, Result};

/// Bytes of a block of a tar archive.
const BLOCK: usize = 512;

pub(super) fn walk(path: &Path, packing: Packing, wanted: Wanted, receive: Receiver) -> Result<()> {
    let expected = match packing {
        Packing::Plain => "a whole tar archive".to_owned(),
        _ => format!("a tar archive in {}", packing.name()),
    };
    let error = |place: &str, found: &dyn std::fmt::Display| Error::format(path, place, found, &expected);
    let zeros = Cell::new(0);
    let mut archive = tar::Archive::new(Zeros {
        inner: packing.unpack(open(path)?),
        count: &zeros,
    });
    let mut place = String::new();
    for entry in archive.entries().map_err(|found| error("", &found))? {
        let mut entry = entry.map_err(|found| error(&place, &found))?;
        let name = String::from_utf8_lossy(&entry.path_bytes())
            .trim_start_matches("./")
            .to_owned();
        place = format!(", after member {name}");
        if !(entry.header().entry_type().is_file() && wanted(&name)) {
            continue;
        }
        let (shown, size) = (path.join(&name), entry.size());
        let bytes = read_member(&mut entry, size, &shown, &expected)?;
        // The tar crate takes the end of the file inside a member for the member's end.
        if bytes.len() as u64 != size {
            let found = format!("{} bytes and then the archive's end", bytes.len());
            return Err(Error::format(&shown, "", found, format!("{size} bytes")));
        }
        if !receive(name, shown, Content::Bytes(bytes)) {
            return Ok(());
        }
    }
    // The packing's checksum stands behind the last member.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|found| error(&place, &found))?;
    if zeros.get() < BLOCK {
        return Err(error(&place, &"the end of the file"));
    }
    Ok(())
}

/// Counts the zeros since the last byte that was none.
struct Zeros<'a, R> {
    inner: R,
    count: &'a Cell<usize>,
}

impl<R: Read> Read for Zeros<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.inner.read(buffer)?;
        let zeros = buffer[..size].iter().rev().take_while(|&&byte| byte == 0).count();
        let before = if zeros == size { self.count.get() } else { 0 };
        self.count.set(before + zeros);
        Ok(size)
    }
}
