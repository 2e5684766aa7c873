//! Names from outside (classes, channels, files, data sets) as they may be shown.
//!
//! A name is data. Written raw, an escape character moves a terminal's cursor or changes its title, a line break fakes a line of
//! output, and a bidirectional control reorders what stands around it, in a page and in source code alike. Such characters are
//! shown as Rust writes them, `\u{1b}`. What is saved (model files, tables for machines) keeps names as they are.

use std::fmt::{Display, Write};
use std::path::Path;

/// A name, or other text from outside, that must stay within its line.
pub fn line(text: impl Display) -> String {
    escaped(&text.to_string(), "")
}

/// A path, likewise.
pub fn path(path: impl AsRef<Path>) -> String {
    line(path.as_ref().display())
}

/// Text that may have lines and tabs of its own.
pub fn lines(text: impl Display) -> String {
    escaped(&text.to_string(), "\n\t")
}

/// Names with commas between them.
pub fn joined(names: &[String]) -> String {
    names.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// `1 run`, `2 runs`, `1,234 runs`: a number of things whose plural ends in s.
pub fn counted(number: usize, thing: &str) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    format!("{shown} {thing}{}", if number == 1 { "" } else { "s" })
}

fn escaped(text: &str, allowed: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) && !allowed.contains(letter) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Text within a line of Markdown that is no markup: bars of tables, tags and emphasis stay what they are.
pub fn markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in lines(text.replace('\r', "")).chars() {
        match letter {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                shown.push('\\');
                shown.push(letter);
            }
            '<' => shown += "&lt;",
            '>' => shown += "&gt;",
            '&' => shown += "&amp;",
            '\n' | '\t' => shown.push(' '),
            letter => shown.push(letter),
        }
    }
    shown
}

/// JSON with such characters written `\u202e`. They stand only within its texts, so that it reads again to the same.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) && letter != '\n' {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a character commands instead of showing something: control characters, bidirectional controls, separators of lines,
/// marks without width. The joiners of Indic and Arabic writing and of emoji (U+200C, U+200D) stay.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        let found = [0, 1, 2, 999, 1000, 1_234_567].map(|number| counted(number, "run"));
        assert_eq!(
            found,
            ["0 runs", "1 run", "2 runs", "999 runs", "1,000 runs", "1,234,567 runs"]
        );
    }

    #[test]
    fn what_commands_is_written_out_and_what_shows_stays() {
        let name = "a\u{1b}[31m\u{7}\u{202e}\u{2066}\u{9b}\u{feff}\nb\t";
        let shown = "a\\u{1b}[31m\\u{7}\\u{202e}\\u{2066}\\u{9b}\\u{feff}\\u{a}b\\u{9}";
        assert_eq!(line(name), shown);
        assert_eq!(lines("a\n\tb\r"), "a\n\tb\\u{d}");
        for plain in ["größe", "走る", "क्‍ष", "a b/c??", "\\"] {
            assert_eq!(line(plain), plain);
        }
        assert_eq!(joined(&["a\n".to_string(), "b".to_string()]), "a\\u{a}, b");
    }

    #[test]
    fn names_are_no_markup() {
        assert_eq!(
            markdown("a|b *c* <i>\n`d` \u{1b}"),
            "a\\|b \\*c\\* &lt;i&gt; \\`d\\` \\\\u{1b}"
        );
    }

    #[test]
    fn json_reads_again_to_the_same() {
        let names = ["a\u{1b}\u{7f}\u{85}\u{202e}\u{e0041}", "größe\n\"b\""];
        let text = json(&serde_json::to_string_pretty(&names).unwrap());
        assert!(
            !text.chars().any(|letter| is_hidden(letter) && letter != '\n'),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
    }
}
