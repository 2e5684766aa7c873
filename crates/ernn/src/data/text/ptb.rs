//! Penn Treebank as Mikolov prepared it: Wall Street Journal, 10,000 words, one sentence a line, `<unk>` and `N` in place.
//!
//! ```text
//! ptb.train.txt  ptb.valid.txt  ptb.test.txt   plain, .gz or .xz; in a folder, in simple-examples/data, or in
//!                                              simple-examples.tgz as it is downloaded
//! ```
//!
//! `ptb-300` are the words, `ptb-char` the characters of each line with `_` for a space; both have `<eos>` for the end of a line.
//! Only the published text has the counts below, so they are what is checked. `T = 300` is how training cuts the sequence.
//! Mikolov et al., "Extensions of recurrent neural network language model", ICASSP 2011.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::checked::{Checked, reading_error};
use super::corpus::Reader;
use super::words::split_at_spaces;
use super::{TextOptions, checked};
use crate::data::Dataset;
use crate::{Error, Result};

/// Tokens of each part and of the vocabulary.
struct Sizes {
    tokens: [usize; 3],
    vocabulary: usize,
}

const WORDS: Sizes = Sizes {
    tokens: [929_589, 73_760, 82_430],
    vocabulary: 10_000,
};
const CHARACTERS: Sizes = Sizes {
    tokens: [5_017_482, 393_042, 442_423],
    vocabulary: 50,
};
const PARTS: [&str; 3] = ["ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"];
const ARCHIVE: &str = "simple-examples.tgz";
/// The largest file of the set has five million bytes; an archive that unpacks to much more is not it.
const LARGEST_MEMBER: u64 = 50_000_000;

/// The folder with the three files, or the archive, at or below `base`, if there is one.
pub(in crate::data) fn find(base: &Path) -> Option<PathBuf> {
    let folders = [
        "",
        "simple-examples/data",
        "data",
        "ptb",
        "ptb/simple-examples/data",
        "ptb/data",
    ];
    let folder = folders
        .iter()
        .map(|folder| base.join(folder))
        .find(|folder| file_of(folder, PARTS[0]).is_some());
    let archive = ["", "ptb"].iter().map(|folder| base.join(folder).join(ARCHIVE));
    let itself = base.is_file().then(|| base.to_owned());
    folder.or_else(|| archive.chain(itself).find(|path| path.is_file()))
}

/// Reads what [`find`] found: `ptb-char` by characters, any other name by words.
pub(in crate::data) fn open(name: &str, at: &Path, options: &TextOptions) -> Result<Dataset> {
    let sizes = if name == "ptb-char" { CHARACTERS } else { WORDS };
    open_sized(name, at, options, &sizes)
}

fn open_sized(name: &str, at: &Path, options: &TextOptions, sizes: &Sizes) -> Result<Dataset> {
    let mut reader = Reader::default();
    let by_characters = name == "ptb-char";
    let mut parts = [const { Vec::new() }; 3];
    for (number, (file, text)) in texts(at, options)?.into_iter().enumerate() {
        parts[number] = reader.read(text, &file, |line, take| match by_characters {
            true => characters(line.trim(), take),
            false => split_at_spaces(line, take),
        })?;
        check(&file, parts[number].len(), sizes.tokens[number], "tokens")?;
    }
    // The words have an <unk> of their own; characters need none, as no part has one that the training part lacks.
    let dataset = reader.finish(name, parts, (usize::MAX, !by_characters), options)?;
    if options.of_model.is_some() {
        return Ok(dataset);
    }
    check(at, dataset.vocabulary.len(), sizes.vocabulary, "different tokens")?;
    Ok(dataset)
}

/// A line's characters, `_` for a space.
fn characters(line: &str, take: &mut dyn FnMut(&str)) {
    for (place, character) in line.char_indices() {
        match character {
            ' ' => take("_"),
            _ => take(&line[place..place + character.len_utf8()]),
        }
    }
}

fn check(path: &Path, found: usize, expected: usize, what: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected} as in the published text (open a text of your own by its path)");
    Err(Error::format(path, "", format!("{found} {what}"), expected))
}

type Text = Checked<Box<dyn Read>>;

/// The three texts, with the names of their files.
fn texts(at: &Path, options: &TextOptions) -> Result<Vec<(PathBuf, Text)>> {
    if at.is_file() {
        let members = members(at, &PARTS)?;
        let checked = |bytes| Checked::new(Box::new(std::io::Cursor::new(bytes)) as Box<dyn Read>, options.invalid);
        return Ok(members
            .into_iter()
            .map(|(path, bytes)| (path, checked(bytes)))
            .collect());
    }
    let text = |part: &&str| {
        let file =
            file_of(at, part).ok_or_else(|| Error::format(at, "", format!("no file {part}"), "all three parts"))?;
        let text = checked::open(&file, options)?;
        Ok((file, text))
    };
    PARTS.iter().map(text).collect()
}

fn file_of(folder: &Path, part: &str) -> Option<PathBuf> {
    ["", ".gz", ".xz"]
        .iter()
        .map(|packing| folder.join(format!("{part}{packing}")))
        .find(|file| file.is_file())
}

/// The members of a `.tgz` that end in these names, in the order of the names; the archive has other files of like names.
fn members(archive: &Path, names: &[&str]) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let damaged = |error| reading_error(archive, error);
    let file = File::open(archive).map_err(damaged)?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(BufReader::new(file)));
    let mut found = vec![None; names.len()];
    for entry in tar.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        let Some(place) = names
            .iter()
            .position(|name| path.file_name().is_some_and(|file| file == *name))
        else {
            continue;
        };
        let mut bytes = Vec::new();
        let read = entry.take(LARGEST_MEMBER).read_to_end(&mut bytes).map_err(damaged)?;
        if read as u64 == LARGEST_MEMBER {
            let place = format!(", {}", path.display());
            let expected = "the text of Penn Treebank";
            return Err(Error::format(archive, place, "more than 50 MB", expected));
        }
        found[place] = Some((archive.join(path), bytes));
    }
    let all = found.into_iter().zip(names).map(|(found, name)| {
        found.ok_or_else(|| Error::format(archive, "", format!("no file {name} inside"), "all three parts"))
    });
    all.collect()
}

#[cfg(test)]
#[path = "ptb_tests.rs"]
mod tests;
