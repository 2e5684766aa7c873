//! How a running text is written: a text becomes tokens of a model, and tokens become text again.
//!
//! ```text
//! words        blanks between tokens
//! characters   one after the other
//! ptb-char     one after the other, `_` for a blank
//! ```
//!
//! `<eos>` is the end of a line in all of them.

use super::TokenKind;
use super::vocabulary::{END_OF_LINE, UNKNOWN, Vocabulary};
use super::words::{characters_of, split_at_spaces};
use crate::data::plain_name;
use crate::{Error, Result};

/// How the tokens of a running text are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Words between blanks.
    Words,
    /// Characters one after the other.
    Characters,
    /// Characters one after the other, with `_` for a blank.
    Treebank,
}

/// A text as a model reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Places in the vocabulary.
    pub tokens: Vec<u32>,
    /// What is not in the vocabulary and became `<unk>`, each once, in order.
    pub unknown: Vec<String>,
}

/// The blank of Penn Treebank by characters.
const TREEBANK_BLANK: &str = "_";

impl Script {
    /// That of the data that a run was trained on.
    pub fn of(source: &str, tokens: TokenKind) -> Self {
        match (plain_name(source), tokens) {
            ("ptb-char", _) => Script::Treebank,
            ("ptb-300", _) | (_, TokenKind::Words) => Script::Words,
            (_, TokenKind::Characters) => Script::Characters,
        }
    }

    /// The tokens of a text; a line that goes on has no end.
    ///
    /// # Errors
    /// If a token is not in the vocabulary and that has no `<unk>`.
    pub fn read(self, text: &str, vocabulary: &Vocabulary) -> Result<Reading> {
        let mut reading = Reading::default();
        let mut missing = None;
        for (number, line) in text.split('\n').enumerate() {
            let mut take = |token: &str| match vocabulary.index(token) {
                None => missing = missing.take().or_else(|| Some(token.to_string())),
                Some(index) => {
                    let new = || !reading.unknown.iter().any(|known| known == token);
                    if vocabulary.text(index) != Some(token) && new() {
                        reading.unknown.push(token.to_string());
                    }
                    reading.tokens.push(index);
                }
            };
            if number > 0 {
                take(END_OF_LINE);
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            match self {
                Script::Words => split_at_spaces(line, take),
                Script::Characters => characters_of(line, take),
                Script::Treebank => {
                    characters_of(line, |token| take(if token == " " { TREEBANK_BLANK } else { token }))
                }
            }
        }
        match missing {
            None => Ok(reading),
            Some(token) => Err(Error::data(
                "the prompt",
                format!("found the token {token:?}, expected one of the model's vocabulary, which has no {UNKNOWN}"),
            )),
        }
    }

    /// A token as it is written behind a text, which ends in a blank or not.
    pub fn written(self, token: &str, behind_blank: bool) -> String {
        match self {
            _ if token == END_OF_LINE => "\n".to_string(),
            Script::Words if !behind_blank => format!(" {token}"),
            Script::Treebank if token == TREEBANK_BLANK => " ".to_string(),
            _ => token.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(texts: &[&str]) -> Vocabulary {
        Vocabulary::new(texts.iter().map(ToString::to_string).collect())
    }

    fn back(script: Script, vocabulary: &Vocabulary, tokens: &[u32]) -> String {
        let mut text = String::new();
        for &token in tokens {
            let blank = text.is_empty() || text.ends_with(char::is_whitespace);
            text += &script.written(vocabulary.text(token).unwrap(), blank);
        }
        text
    }

    #[test]
    fn a_text_becomes_tokens_and_text_again() {
        let cases = [
            (
                Script::Words,
                vocabulary(&[UNKNOWN, END_OF_LINE, "a", "b"]),
                "a b\n\nb a",
            ),
            (
                Script::Characters,
                vocabulary(&[END_OF_LINE, " ", "a", "q\u{303}"]),
                "a q\u{303}\n a\n",
            ),
            (Script::Treebank, vocabulary(&[END_OF_LINE, "_", "a", "b"]), "a b\nb a"),
        ];
        for (script, vocabulary, text) in cases {
            let reading = script.read(text, &vocabulary).unwrap();
            assert!(reading.unknown.is_empty(), "{script:?}: {reading:?}");
            assert_eq!(back(script, &vocabulary, &reading.tokens), text, "{script:?}");
        }
    }

    #[test]
    fn what_is_unknown_is_named_once() {
        let words = vocabulary(&[UNKNOWN, END_OF_LINE, "a"]);
        let reading = Script::Words.read("b a c b\r\n<unk>", &words).unwrap();
        assert_eq!(reading.tokens, [0, 2, 0, 0, 1, 0]);
        assert_eq!(reading.unknown, ["b", "c"]);
        let error = Script::Treebank
            .read("ab", &vocabulary(&["a", "_"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the prompt: found the token \"b\", expected one of"),
            "{error}"
        );
    }

    #[test]
    fn the_data_says_how_it_is_written() {
        assert_eq!(Script::of("known:ptb-char", TokenKind::Words), Script::Treebank);
        assert_eq!(Script::of("ptb-300", TokenKind::Words), Script::Words);
        assert_eq!(Script::of("t.txt", TokenKind::Characters), Script::Characters);
    }
}
