//! Files as they are or packed: `data.csv`, `data.csv.gz`, `.bz2`, `.xz`, `.zst`.
//!
//! The first bytes tell whether a file is packed, the name without the ending of its packing tells what it holds.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use super::archive::Packing;
use super::text::checked::reading_error;
use crate::{Error, Result};

/// The name of a file without folders and without the ending of its packing.
pub(super) fn bare_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lower = name.to_ascii_lowercase();
    let inner = match lower.ends_with(".tgz") {
        true => lower.len(),
        false => Packing::of(&lower).1.len(),
    };
    name[..inner].to_string()
}

/// The end of that name in lower case: `csv` of `a.CSV.xz`.
pub(super) fn ending(path: &Path) -> String {
    let name = bare_name(path);
    Path::new(&name)
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

/// The same name without its end: `a` of `a.csv.gz`.
pub(crate) fn stem(path: &Path) -> String {
    let name = bare_name(path);
    Path::new(&name)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// A file, or what can be read once alone, unpacked as it is read.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(Error::io(path, "read"))?;
    of(file).map_err(Error::io(path, "read"))
}

/// All bytes of a file, unpacked.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(|error| reading_error(path, error))?;
    Ok(bytes)
}

/// A stream, unpacked if it is packed.
pub(super) fn of<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut beginning = Vec::new();
    (&mut source).take(Packing::BEGINNING).read_to_end(&mut beginning)?;
    let packing = Packing::of_content(&beginning);
    let whole = Cursor::new(beginning).chain(source);
    if packing == Packing::Plain {
        return Ok(Box::new(whole));
    }
    let reader = packing.unpack(whole);
    Ok(Box::new(Packed { packing, reader }))
}

/// Says of what does not unpack that it is damaged.
struct Packed<'a> {
    packing: Packing,
    reader: Box<dyn Read + 'a>,
}

impl Read for Packed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            // What the operating system says has a number.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let expected = self.packing.name();
            io::Error::new(io::ErrorKind::InvalidData, Damaged { error, expected })
        })
    }
}

/// A packed file that does not unpack, on its way through `io::Error`.
#[derive(Debug)]
pub(super) struct Damaged {
    error: io::Error,
    /// What the file should have been.
    pub expected: &'static str,
}

impl fmt::Display for Damaged {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "packed data that is cut short or damaged ({})", self.error)
    }
}

impl std::error::Error for Damaged {}

#[cfg(test)]
mod tests;
