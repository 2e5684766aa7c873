//! Where new data comes from: stdin, a pipe, or a file whose name tells its format.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use ernn::Error;

use crate::failure::Result;

/// A place to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// `-`, `/dev/stdin`, or nothing named.
    Stdin,
    /// A named pipe or a device, as `<(..)` of a shell is.
    Pipe(&'a str),
    /// Anything else.
    File(&'a str),
}

impl<'a> Source<'a> {
    /// What an argument means.
    pub fn of(argument: Option<&'a str>) -> Self {
        match argument {
            None | Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => Source::Stdin,
            Some(path) => match fs::metadata(path) {
                Ok(found) if !found.is_file() && !found.is_dir() => Source::Pipe(path),
                _ => Source::File(path),
            },
        }
    }

    /// What can be read from its beginning to its end alone; none for a file.
    pub fn open(self) -> Result<Option<Box<dyn BufRead>>> {
        Ok(match self {
            Source::Stdin => Some(Box::new(io::stdin().lock())),
            Source::Pipe(path) => {
                let file = File::open(path).map_err(Error::io(self.path(), "read"))?;
                Some(Box::new(BufReader::new(file)))
            }
            Source::File(_) => None,
        })
    }

    /// Its name as a path.
    pub fn path(self) -> &'a Path {
        match self {
            Source::Stdin => Path::new("-"),
            Source::Pipe(path) | Source::File(path) => Path::new(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stdin_has_several_names() {
        for name in [None, Some("-"), Some("/dev/stdin")] {
            assert_eq!(Source::of(name), Source::Stdin);
        }
        assert_eq!(Source::of(Some("no-such.csv")), Source::File("no-such.csv"));
        assert!(Source::of(Some("no-such.csv")).open().unwrap().is_none());
    }
}
