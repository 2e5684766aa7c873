//! Fetch: a known data set, from its public address to the data folder.
//!
//! ```text
//! addresses -> [transfer -> partial (NAME.part, NAME.part.tag) -> verify] per file -> DATA_DIR/FOLDER/NAME
//! ```
//!
//! A file gets its name only when all of it is there and its checksum, where one is known, is right. Until then it is `NAME.part`,
//! which the next call goes on with, if the server still has the same file: it says so by `If-Range` and the tag it gave before.

mod addresses;
mod download;
mod partial;
mod transfer;
mod verify;

use std::path::PathBuf;
use std::time::Duration;

pub use addresses::{Source, source, sources};
pub use verify::Check;

use crate::{Error, Result};

/// A file at public addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Remote {
    /// Its name on the disk, and below a mirror.
    pub name: &'static str,
    /// Where it lies; the later ones are for when the earlier ones fail.
    pub addresses: &'static [&'static str],
    /// How its content is checked.
    pub check: Check,
}

/// Where to and how.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The data folder.
    pub folder: PathBuf,
    /// Another place with files of these names, in the place of the public addresses.
    pub mirror: Option<String>,
    /// Download what is there already, and from its beginning.
    pub force: bool,
    /// When to give up.
    pub patience: Patience,
}

/// When a server is given up.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Time without a byte after which a connection counts as broken.
    pub silence: Duration,
    /// Broken connections one after the other, without a new byte, until the file is given up.
    pub attempts: u32,
    /// Pause before the second attempt; the later ones wait longer.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            silence: Duration::from_secs(30),
            attempts: 4,
            pause: Duration::from_secs(1),
        }
    }
}

/// Sees a download go on. All calls come from the calling thread.
pub trait Watcher {
    /// A file begins, or goes on: `done` bytes are there, of `total` if the server says so.
    fn started(&mut self, _file: &str, _done: u64, _total: Option<u64>) {}
    /// So many more bytes are on the disk.
    fn received(&mut self, _bytes: u64) {}
    /// Something went wrong, and what is done about it.
    fn troubled(&mut self, _text: &str) {}
    /// The file is complete and is being checked.
    fn verifying(&mut self, _file: &str) {}
    /// The file has its name; `fresh` if it was not there before.
    fn finished(&mut self, _path: &std::path::Path, _fresh: bool) {}
    /// Asked several times a second: whether to stop here.
    fn stop(&self) -> bool {
        false
    }
}

impl Watcher for () {}

/// How a download ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The files, all of them.
    Complete(Vec<PathBuf>),
    /// The watcher stopped it; the same call goes on.
    Stopped,
}

/// Downloads what is missing of a data set.
///
/// # Errors
/// If the set has no free address, a file can't be had from any of its addresses or has other content than expected, or the
/// folder can't be written to. Bytes that came stay in `NAME.part`, unless they are wrong.
pub fn fetch(source: &Source, options: &FetchOptions, watcher: &mut dyn Watcher) -> Result<Ending> {
    if let Some(instead) = source.instead {
        let problem = format!("there is no free address; {instead}");
        return Err(Error::data(source.names.join(", "), problem));
    }
    let folder = options.folder.join(source.folder);
    std::fs::create_dir_all(&folder).map_err(Error::io(&folder, "create"))?;
    let mut paths = Vec::new();
    for remote in source.files {
        let path = folder.join(remote.name);
        if !download::download(remote, &path, options, watcher)? {
            return Ok(Ending::Stopped);
        }
        paths.push(path);
    }
    Ok(Ending::Complete(paths))
}

#[cfg(test)]
mod server;
#[cfg(test)]
mod tests;
