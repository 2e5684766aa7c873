//! Whom a recording is of, as its name says: a pattern with one `{group}` and any number of `*`.
//!
//! ```text
//! *_{group}_*     0_george_1.wav     -> george
//! {group}-*       anna-03.wav        -> anna
//! ```
//!
//! The pattern has to fit the whole name without its end; where it holds a `/`, the path below the folder. `*` stands for
//! anything, `{group}` for at least a letter, and both for as little as possible.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, Result};

const GROUP: &str = "{group}";

/// A pattern that has been read.
pub(in crate::data) struct GroupPattern {
    text: String,
    pieces: Vec<Piece>,
}

enum Piece {
    Text(String),
    Anything,
    Group,
}

impl GroupPattern {
    /// # Errors
    /// If there is not one `{group}` in it.
    pub fn read(text: &str) -> Result<GroupPattern> {
        if text.matches(GROUP).count() != 1 {
            let expected = "one {group} among texts and *, such as *_{group}_*";
            return Err(Error::setting("group_pattern", text, expected));
        }
        let mut pieces = Vec::new();
        for (index, part) in text.split(GROUP).enumerate() {
            if index > 0 {
                pieces.push(Piece::Group);
            }
            for (index, part) in part.split('*').enumerate() {
                if index > 0 {
                    pieces.push(Piece::Anything);
                }
                pieces.push(Piece::Text(part.to_owned()));
            }
        }
        let text = text.to_owned();
        Ok(GroupPattern { text, pieces })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The group of a recording, by its path below the folder; `None` if the pattern does not fit.
    pub fn group_of<'a>(&self, recording: &'a str) -> Option<&'a str> {
        let path = recording.rsplit_once('.').map_or(recording, |(stem, _)| stem);
        let name = match self.text.contains('/') {
            true => path,
            false => stem(recording),
        };
        found(&self.pieces, name, None)
    }
}

fn found<'a>(pieces: &[Piece], text: &'a str, group: Option<&'a str>) -> Option<&'a str> {
    let Some((first, rest)) = pieces.split_first() else {
        return group.filter(|_| text.is_empty());
    };
    let ends = || (0..=text.len()).filter(move |&end| text.is_char_boundary(end));
    match first {
        Piece::Text(piece) => found(rest, text.strip_prefix(piece.as_str())?, group),
        Piece::Anything => ends().find_map(|end| found(rest, &text[end..], group)),
        Piece::Group => ends()
            .skip(1)
            .find_map(|end| found(rest, &text[end..], Some(&text[..end]))),
    }
}

/// The file's name without its end.
fn stem(recording: &str) -> &str {
    let file = recording.rsplit('/').next().unwrap_or(recording);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The folder that a recording lies in, which is its class.
fn class(recording: &str) -> &str {
    let folder = recording.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit('/').next().unwrap_or(folder)
}

/// A pattern that the names of recordings seem to follow, and some of its groups: a part of the names, between the same
/// separators in all of them, that is a word, comes again and again, and in more than one class.
pub(super) fn suggestion(recordings: &[String]) -> Option<(String, Vec<&str>)> {
    ['_', '-'].iter().find_map(|&separator| {
        let parts: Vec<Vec<&str>> = recordings
            .iter()
            .map(|name| stem(name).split(separator).collect())
            .collect();
        let count = parts.first()?.len();
        if count < 2 || parts.iter().any(|parts| parts.len() != count) {
            return None;
        }
        (0..count).find_map(|place| {
            let groups = groups_at(recordings, &parts, place)?;
            let wild = |other| if other == place { GROUP } else { "*" };
            let pattern: Vec<&str> = (0..count).map(wild).collect();
            Some((pattern.join(&separator.to_string()), groups))
        })
    })
}

fn groups_at<'a>(recordings: &'a [String], parts: &[Vec<&'a str>], place: usize) -> Option<Vec<&'a str>> {
    let mut classes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (recording, parts) in recordings.iter().zip(parts) {
        classes.entry(parts[place]).or_default().insert(class(recording));
    }
    let are_words = classes.keys().all(|value| value.chars().any(char::is_alphabetic));
    let repeated = classes.len() >= 2 && 2 * classes.len() <= recordings.len();
    let across_classes = classes.values().any(|classes| classes.len() > 1);
    (are_words && repeated && across_classes).then(|| classes.into_keys().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(pattern: &str, recording: &'static str) -> Option<&'static str> {
        GroupPattern::read(pattern).unwrap().group_of(recording)
    }

    #[test]
    fn patterns_find_the_group() {
        assert_eq!(group("*_{group}_*", "0/0_george_1.wav"), Some("george"));
        assert_eq!(group("*_{group}_*", "0/0_mary_ann_1.WAV"), Some("mary"));
        assert_eq!(group("{group}-*", "yes/anna-03.wav"), Some("anna"));
        assert_eq!(group("{group}", "yes/anna.wav"), Some("anna"));
        assert_eq!(group("s{group}", "yes/s12.wav"), Some("12"));
        assert_eq!(group("*/*/{group}_*", "train/yes/b_1.wav"), Some("b"));
        assert_eq!(group("*é{group}*", "a/xéü.wav"), Some("ü"));
        for (pattern, recording) in [
            ("*_{group}_*", "a/0_george.wav"),
            ("x{group}", "a/x.wav"),
            ("{group}x", "a/ay.wav"),
        ] {
            assert_eq!(group(pattern, recording), None, "{pattern} {recording}");
        }
    }

    #[test]
    fn a_pattern_has_one_group() {
        for text in ["*", "", "{group}_{group}", "{speaker}"] {
            let error = GroupPattern::read(text).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("group_pattern: found {text}, expected one {{group}}")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_pattern_is_suggested_where_names_look_like_one() {
        let names = |of: &dyn Fn(usize, &str, usize) -> String| -> Vec<String> {
            let speakers = ["george", "jackson"];
            let of_digit = |digit| {
                speakers
                    .iter()
                    .flat_map(move |speaker| (0..3).map(move |take| of(digit, speaker, take)))
            };
            (0..2).flat_map(of_digit).collect()
        };
        let found = names(&|digit, speaker, take| format!("{digit}/{digit}_{speaker}_{take}.wav"));
        let expected = ("*_{group}_*".to_owned(), vec!["george", "jackson"]);
        assert_eq!(suggestion(&found), Some(expected));
        let found = names(&|digit, speaker, take| format!("train/{digit}/{speaker}-{take}.wav"));
        assert_eq!(suggestion(&found).unwrap().0, "{group}-*");
        // Numbers, the class itself, names that never come again, and names of different forms tell nothing.
        for found in [
            names(&|digit, _, take| format!("{digit}/{digit}_{take}.wav")),
            names(&|digit, _, take| format!("class{digit}/class{digit}_{take}.wav")),
            names(&|digit, speaker, take| format!("{digit}/{digit}{speaker}{take}_x{digit}{speaker}{take}.wav")),
            names(&|digit, speaker, take| format!("{digit}/{speaker}{}.wav", "_".repeat(take))),
            Vec::new(),
        ] {
            assert_eq!(suggestion(&found), None, "{found:?}");
        }
    }
}
