//! Prepared data sets of sequences of numbers with classes in files, so that features are computed once.
//!
//! ```text
//! "ernn-cache 1\n" | header length u32 | header, JSON | a part after the other: lengths, labels, groups, values | CRC-32 u32
//! ```
//!
//! All numbers are little-endian 32-bit words; the header says how many there are. The file's name holds the key: a hash of
//! everything that the content depends on. Whatever is wrong with a file, the data set is made anew and the file replaced.
//! It is written under a temporary name and renamed, so a reader sees all of it or nothing.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Crc;
use serde::{Deserialize, Serialize};

use super::sha1;
use crate::data::{Dataset, Part, Values};
use crate::{Error, Result};

const MAGIC: &[u8] = b"ernn-cache 1\n";
const LONGEST_HEADER: u32 = 1 << 24;
/// Bytes that are converted at a time.
const PIECE: usize = 1 << 16;

/// The folder of cached data sets.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
    /// Someone asked for this folder: not being able to write there is an error.
    asked_for: bool,
}

impl Cache {
    /// The folder that was named, else the user's: `XDG_CACHE_HOME/ernn` or `HOME/.cache/ernn`; without one of them nothing
    /// is cached.
    pub fn new(folder: Option<&Path>) -> Cache {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let users = || variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        Cache {
            folder: folder.map(Path::to_owned).or_else(|| Some(users()?.join("ernn"))),
            asked_for: folder.is_some(),
        }
    }

    /// The data set called `name` that was kept under `key`, or else a new one, which is then kept. `key` is any text that
    /// tells everything that the data set depends on.
    ///
    /// # Errors
    /// If `make` fails, or a folder that was asked for cannot be written.
    pub fn dataset(&self, name: &str, key: &str, make: impl FnOnce() -> Result<Dataset>) -> Result<Dataset> {
        let Some(folder) = &self.folder else { return make() };
        let key = sha1::hexadecimal(key.as_bytes());
        let path = folder.join(format!("{name}-{key}.cache"));
        if let Some(dataset) = read(&path, &key) {
            return Ok(dataset);
        }
        let dataset = make()?;
        match write(&path, &key, &dataset) {
            Err(source) if self.asked_for => Err(Error::io(&path, "write")(source)),
            _ => Ok(dataset),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    name: String,
    feature_names: Vec<String>,
    classes: Vec<String>,
    #[serde(default)]
    group_names: Vec<String>,
    /// Training, validation and test part.
    parts: [Option<PartHeader>; 3],
}

#[derive(Clone, Serialize, Deserialize)]
struct PartHeader {
    features: usize,
    sequences: usize,
    steps: usize,
    labels: bool,
    groups: bool,
    #[serde(default)]
    names: Vec<String>,
}

impl PartHeader {
    fn of(part: &Part) -> PartHeader {
        PartHeader {
            features: part.features,
            sequences: part.len(),
            steps: part.steps(),
            labels: !part.labels.is_empty(),
            groups: !part.groups.is_empty(),
            names: part.names.clone(),
        }
    }

    /// Words in the file; `None` if there cannot be so many.
    fn words(&self) -> Option<usize> {
        let lists = 1 + usize::from(self.labels) + usize::from(self.groups);
        let values = self.steps.checked_mul(self.features)?;
        self.sequences.checked_mul(lists)?.checked_add(values)
    }
}

fn write(path: &Path, key: &str, dataset: &Dataset) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    // Neither another process nor another thread uses this name.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{}-{count}.tmp", std::process::id()));
    let outcome = write_file(&temporary, key, dataset).and_then(|()| fs::rename(&temporary, path));
    if outcome.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

fn write_file(path: &Path, key: &str, dataset: &Dataset) -> io::Result<()> {
    let parts = [Some(&dataset.train), dataset.validation.as_ref(), dataset.test.as_ref()];
    let header = Header {
        key: key.to_owned(),
        name: dataset.name.clone(),
        feature_names: dataset.feature_names.clone(),
        classes: dataset.classes.clone(),
        group_names: dataset.group_names.clone(),
        parts: parts.map(|part| part.map(PartHeader::of)),
    };
    let header = serde_json::to_vec(&header)?;
    let mut out = Checked::new(BufWriter::with_capacity(PIECE, File::create(path)?));
    out.write_all(MAGIC)?;
    out.write_all(&(header.len() as u32).to_le_bytes())?;
    out.write_all(&header)?;
    for part in parts.into_iter().flatten() {
        out.write_words((0..part.len()).map(|sequence| part.length(sequence) as u32))?;
        out.write_words(part.labels.iter().copied())?;
        out.write_words(part.groups.iter().copied())?;
        out.write_words(part.values.numbers().iter().map(|value| value.to_bits()))?;
    }
    let sum = out.crc.sum();
    out.write_all(&sum.to_le_bytes())?;
    out.inner.into_inner()?.sync_all()
}

/// The data set in a file, if there is one and nothing is wrong with it.
fn read(path: &Path, key: &str) -> Option<Dataset> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut input = Checked::new(BufReader::with_capacity(PIECE, file));
    let mut start = [0; MAGIC.len() + 4];
    input.read_exact(&mut start).ok()?;
    let (magic, length) = start.split_at(MAGIC.len());
    let length = u32::from_le_bytes(length.try_into().ok()?);
    if magic != MAGIC || length > LONGEST_HEADER {
        return None;
    }
    let mut header = vec![0; length as usize];
    input.read_exact(&mut header).ok()?;
    let header: Header = serde_json::from_slice(&header).ok()?;
    // Before anything is allocated for it: the file is as long as its header says.
    let words = header
        .parts
        .iter()
        .flatten()
        .try_fold(1usize, |sum, part| sum.checked_add(part.words()?))?;
    let expected = words.checked_mul(4)?.checked_add(start.len() + length as usize)?;
    if header.key != key || expected as u64 != size {
        return None;
    }
    let [train, validation, test] = header.parts.map(|part| part.map(|part| input.read_part(part)));
    let dataset = Dataset {
        name: header.name,
        feature_names: header.feature_names,
        classes: header.classes,
        group_names: header.group_names,
        train: train??,
        validation: validation.map_or(Some(None), |part| part.map(Some))?,
        test: test.map_or(Some(None), |part| part.map(Some))?,
        ..Dataset::default()
    };
    let sum = input.crc.sum();
    let mut expected = [0; 4];
    input.inner.read_exact(&mut expected).ok()?;
    (sum == u32::from_le_bytes(expected)).then_some(dataset)
}

/// A stream with the checksum of what has gone through it.
struct Checked<S> {
    inner: S,
    crc: Crc,
}

impl<S> Checked<S> {
    fn new(inner: S) -> Checked<S> {
        Checked { inner, crc: Crc::new() }
    }
}

impl<S: Write> Checked<S> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.inner.write_all(bytes)
    }

    fn write_words(&mut self, words: impl Iterator<Item = u32>) -> io::Result<()> {
        let mut piece = Vec::with_capacity(PIECE);
        for word in words {
            piece.extend(word.to_le_bytes());
            if piece.len() == PIECE {
                self.write_all(&piece)?;
                piece.clear();
            }
        }
        self.write_all(&piece)
    }
}

impl<S: Read> Checked<S> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.crc.update(bytes);
        Ok(())
    }

    fn read_words<T>(&mut self, count: usize, from_bits: fn(u32) -> T) -> Option<Vec<T>> {
        let mut words = Vec::with_capacity(count);
        let mut piece = [0; PIECE];
        while words.len() < count {
            let piece = &mut piece[..PIECE.min(4 * (count - words.len()))];
            self.read_exact(piece).ok()?;
            let bytes = piece.as_chunks::<4>().0;
            words.extend(bytes.iter().map(|&bytes| from_bits(u32::from_le_bytes(bytes))));
        }
        Some(words)
    }

    fn read_part(&mut self, header: PartHeader) -> Option<Part> {
        let mut list = |there: bool| self.read_words(if there { header.sequences } else { 0 }, |word| word);
        let [lengths, labels, groups] = [list(true)?, list(header.labels)?, list(header.groups)?];
        let mut part = Part::new(header.features);
        let mut end = 0;
        for length in lengths {
            end += length as usize;
            part.offsets.push(end);
        }
        if end != header.steps {
            return None;
        }
        part.values = Values::Numbers(self.read_words(header.steps * header.features, f32::from_bits)?);
        part.labels = labels;
        part.groups = groups;
        part.names = header.names;
        Some(part)
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
