//! The files of a Speech Commands release: words, speakers, and which part each recording is in.
//!
//! ```text
//! yes/0a7c2a8d_nohash_0.wav  ...          a folder a word; the speaker stands before _nohash_
//! validation_list.txt  testing_list.txt   word/file a line; what is in neither is for training
//! _background_noise_/*.wav                minutes of noise
//! ```
//!
//! A release that is not whole is refused: by the number of its recordings, and by the lists, whose recordings have to be
//! there. Counts: Warden, "Speech Commands", arXiv 1804.03209; the papers on release 0.01 (51,088 + 6,798 + 6,835).

use std::collections::{HashMap, HashSet};

use super::source::{Listing, Source};
use crate::{Error, Result};

/// The lists, and the parts that they are of.
pub(super) const LISTS: [(&str, usize); 2] = [("validation_list.txt", 1), ("testing_list.txt", 2)];
/// The folder of noise.
pub(super) const NOISE: &str = "_background_noise_";
/// Recordings of the releases, all words together; the second one is told by the words it added.
pub(super) const RELEASES: [usize; 2] = [64_721, 105_829];
pub(super) const ADDED: &str = "visual";

/// The words of `google-12`.
pub(super) const KEYWORDS: [&str; 10] = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"];
/// The other words of release 0.01.
pub(super) const OTHERS: [&str; 20] = [
    "bed", "bird", "cat", "dog", "eight", "five", "four", "happy", "house", "marvin", "nine", "one", "seven", "sheila",
    "six", "three", "tree", "two", "wow", "zero",
];

/// A whole release: the recordings of every word and their parts.
pub(super) struct Release<'a> {
    pub source: &'a Source,
    pub listing: &'a Listing,
    /// Each recording with its part.
    pub recordings: Vec<(&'a str, usize)>,
}

impl<'a> Release<'a> {
    /// Checks that the release is complete and divides it.
    pub fn of(source: &'a Source, listing: &'a Listing, releases: [usize; 2]) -> Result<Release<'a>> {
        let names: Vec<&str> = listing
            .recordings
            .iter()
            .map(String::as_str)
            .filter(|name| word_of(name) != NOISE)
            .collect();
        let words: HashSet<&str> = names.iter().map(|name| word_of(name)).collect();
        if let Some(word) = KEYWORDS.iter().chain(&OTHERS).find(|word| !words.contains(*word)) {
            let found = format!("no recording of \"{word}\"");
            let expected = "the 30 words of Speech Commands";
            return Err(Error::format(source.path(), "", found, expected));
        }
        let release = usize::from(words.contains(ADDED));
        if names.len() != releases[release] {
            let expected = format!("{} as in release 0.0{}", releases[release], release + 1);
            let found = format!("{} recordings", names.len());
            return Err(Error::format(source.path(), "", found, expected));
        }
        let parts = listed(source, listing, &names)?;
        let part = |name: &&'a str| parts.get(short(name)).copied().unwrap_or(0);
        Ok(Release {
            source,
            listing,
            recordings: names.iter().map(|name| (*name, part(name))).collect(),
        })
    }
}

/// `word/file`, as the lists have it.
fn short(name: &str) -> &str {
    name.rmatch_indices('/').nth(1).map_or(name, |(at, _)| &name[at + 1..])
}

/// The recordings that the lists name, each with its part; every one of them has to be there.
fn listed<'a>(source: &Source, listing: &'a Listing, names: &[&str]) -> Result<HashMap<&'a str, usize>> {
    let there: HashSet<&str> = names.iter().map(|name| short(name)).collect();
    let mut parts = HashMap::new();
    for (list, part) in LISTS {
        let file = listing.files.iter().find(|(name, _)| file_of(name) == list);
        let (name, bytes) = file.ok_or_else(|| Error::format(source.path(), "", format!("no {list}"), "the list"))?;
        let path = source.path().join(name);
        let text = str::from_utf8(bytes).map_err(|error| Error::format(&path, "", error, "text"))?;
        for (line, number) in text
            .lines()
            .map(str::trim)
            .zip(1..)
            .filter(|(line, _)| !line.is_empty())
        {
            if !there.contains(line) {
                let found = format!("\"{}\", which is not there", line.escape_debug());
                let expected = "a recording of this folder";
                return Err(Error::format(&path, format!(", line {number}"), found, expected));
            }
            parts.insert(line, part);
        }
    }
    Ok(parts)
}

pub(super) fn is_list(name: &str) -> bool {
    LISTS.iter().any(|(list, _)| file_of(name) == *list)
}

pub(super) fn is_noise(name: &str) -> bool {
    word_of(name) == NOISE && name.ends_with(".wav")
}

fn file_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The folder that a recording lies in.
pub(super) fn word_of(name: &str) -> &str {
    name.rsplit('/').nth(1).unwrap_or("")
}

/// The speaker of a recording.
pub(super) fn speaker_of(name: &str) -> &str {
    let file = file_of(name);
    file.split_once("_nohash_").map_or(file, |(speaker, _)| speaker)
}
