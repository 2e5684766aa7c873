//! What a token is.
//!
//! ```text
//! words_of        reviews and other raw text: "It's GREAT, isn’t it?!" -> it's great isn't it
//! split_at_spaces text that somebody has prepared (Penn Treebank, WikiText): tokens stand between spaces
//! characters_of   a character with the combining marks that follow it
//! ```
//!
//! A word is a run of letters, digits and combining marks, in lower case; an apostrophe between two of them belongs to it,
//! and the curly one is the straight one. Everything else separates words and is dropped, as in the tokenizers that published
//! text classifiers use. A letter and its accent are one character where Unicode has one (NFC), so that both spellings are one
//! word.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Puts letters and accents together.
fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// The words of a raw text, for as long as `take` asks for more.
pub(super) fn words_of(text: &str, mut take: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    // An apostrophe waits here for a letter behind it.
    let mut apostrophe = false;
    for letter in composed(text).chars() {
        if letter.is_alphanumeric() || (is_combining_mark(letter) && !word.is_empty()) {
            if apostrophe {
                word.push('\'');
                apostrophe = false;
            }
            word.extend(letter.to_lowercase());
            continue;
        }
        if matches!(letter, '\'' | '’') && !word.is_empty() && !apostrophe {
            apostrophe = true;
            continue;
        }
        apostrophe = false;
        if !word.is_empty() && !take(&word) {
            return;
        }
        word.clear();
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// The tokens of a prepared line, as they stand.
pub(super) fn split_at_spaces(line: &str, take: impl FnMut(&str)) {
    line.split_whitespace().for_each(take);
}

/// The characters of a line, each with its combining marks.
pub(super) fn characters_of(line: &str, mut take: impl FnMut(&str)) {
    let line = composed(line);
    let mut start = 0;
    for (place, letter) in line.char_indices() {
        if place > start && !is_combining_mark(letter) {
            take(&line[start..place]);
            start = place;
        }
    }
    if start < line.len() {
        take(&line[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        words_of(text, |word| {
            words.push(word.to_owned());
            true
        });
        words
    }

    fn characters(text: &str) -> Vec<String> {
        let mut characters = Vec::new();
        characters_of(text, |character| characters.push(character.to_owned()));
        characters
    }

    #[test]
    fn words_are_lower_case_and_punctuation_separates() {
        assert_eq!(
            words("GREAT food,great.Price: $9.50!!\r\n(wow)"),
            ["great", "food", "great", "price", "9", "50", "wow"]
        );
        assert!(words(" ... \n").is_empty() && words("").is_empty());
    }

    #[test]
    fn apostrophes_inside_a_word_stay() {
        assert_eq!(words("'it's' isn’t o'' dogs' y'"), ["it's", "isn't", "o", "dogs", "y"]);
    }

    #[test]
    fn combining_marks_stay_with_their_letter() {
        // A letter and an accent, which Unicode has as one letter; a letter and a mark, which it has not.
        assert_eq!(words("Cafe\u{301} CAFÉ q\u{303}a"), ["café", "café", "q\u{303}a"]);
        // Vowel signs and a virama.
        assert_eq!(words("हिन्दी नमस्ते"), ["हिन्दी", "नमस्ते"]);
        assert_eq!(characters("e\u{301}q\u{303}\u{323}a").len(), 3);
    }

    #[test]
    fn reading_stops_when_no_more_words_are_asked_for() {
        let mut asked = 0;
        words_of("a b c d", |_| {
            asked += 1;
            asked < 2
        });
        assert_eq!(asked, 2);
    }

    #[test]
    fn characters_include_spaces() {
        assert_eq!(characters("a b"), ["a", " ", "b"]);
        assert!(characters("").is_empty());
    }
}
