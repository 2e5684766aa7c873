//! Names from outside in C: as a part of a comment, and as a string. No name ends a comment, a string or a line, and none reaches
//! the source with a character that commands an editor or a terminal.
//!
//! C99 knows trigraphs: `??/` is a backslash, so that two question marks never stand beside each other.

use std::fmt::Write;

use crate::names::line;

/// Characters of a name at most: C promises 4,095 for a string, of which a character may take four times four.
const LONGEST: usize = 200;

/// A name within a block comment, in quotes: a backslash at the end of a line would join it with the next one.
pub(super) fn in_comment(text: &str) -> String {
    format!("\"{}\"", sentence(&cut(text)))
}

/// A sentence with names in it within a block comment; it ends with a character of its own.
pub(super) fn sentence(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut last = ' ';
    for letter in line(text).chars() {
        if matches!((last, letter), ('*', '/') | ('/', '*') | ('?', '?')) {
            shown.push(' ');
        }
        shown.push(letter);
        last = letter;
    }
    shown
}

/// A string literal: plain characters as they are, the bytes of others in octal, of which no digit of what follows can become a part.
pub(super) fn string(text: &str) -> String {
    let mut shown = String::from("\"");
    for byte in cut(text).bytes() {
        match byte {
            b'"' | b'\\' | b'?' => {
                shown.push('\\');
                shown.push(char::from(byte));
            }
            b' '..=b'~' => shown.push(char::from(byte)),
            _ => {
                let _ = write!(shown, "\\{byte:03o}");
            }
        }
    }
    shown + "\""
}

fn cut(text: &str) -> String {
    let shown = line(text);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_neither_comments_nor_strings() {
        assert_eq!(in_comment("a*/b/*c"), "\"a* /b/ *c\"");
        assert_eq!(in_comment("*/*/??/\\"), "\"* / * /? ?/\\\"");
        assert_eq!(in_comment("a\n\u{202e}"), "\"a\\u{a}\\u{202e}\"");
        assert_eq!(string("what??/"), "\"what\\?\\?/\"");
        assert_eq!(string("\"\\n\""), "\"\\\"\\\\n\\\"\"");
        assert_eq!(string("ö1\u{1b}"), "\"\\303\\2661\\\\u{1b}\"");
        assert_eq!(string(&"x".repeat(5000)).len(), LONGEST + 5);
    }
}
