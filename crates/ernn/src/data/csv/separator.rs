//! Which byte separates the fields of a table: told from its first two lines.
//!
//! It stands most often in the header, and as often in the line below. A comma may also be the decimal sign, as in `1,5;2,7`:
//! where `;` or tabs leave nothing but such numbers, they separate.

use super::super::number::{Decimal, parse_as};
use super::records::Separator;

/// The separator of a table that begins like this.
pub(in crate::data) fn separator(beginning: &[u8]) -> u8 {
    let mut lines = beginning
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    let second = lines.next();
    for separator in [b'\t', b';'] {
        if count(first, separator) > 0 && first.contains(&b',') && numbers_alone(first, separator) {
            return separator;
        }
    }
    let weight = |separator: u8| {
        let own = count(first, separator);
        let agrees = second.is_none_or(|second| count(second, separator) == own);
        if agrees { 2 * own } else { own }
    };
    // Of equals `max_by_key` takes the last.
    let best = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|&separator| weight(separator));
    best.unwrap_or(b',')
}

/// The same where blanks may separate, too: in a table without a header and without any of the others.
pub(super) fn separator_of_numbers(beginning: &[u8]) -> Separator {
    let first = beginning.split(|&byte| byte == b'\n' || byte == b'\r');
    let first = first
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let separator = separator(beginning);
    let blanks = count(first, separator) == 0 && first.iter().any(|byte| matches!(byte, b' ' | b'\t'));
    if blanks {
        Separator::Blanks
    } else {
        Separator::Byte(separator)
    }
}

/// How often a byte stands outside quotes.
fn count(line: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        count += usize::from(!quoted && byte == separator);
    }
    count
}

fn numbers_alone(line: &[u8], separator: u8) -> bool {
    line.split(|&byte| byte == separator)
        .all(|field| parse_as(field, Decimal::Comma).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_and_the_line_below_tell() {
        for (text, expected) in [
            ("\"a,b,c\";d\n1;2", b';'),
            ("x\n1", b','),
            ("", b','),
            ("a\tb\n1\t2", b'\t'),
            ("series,x,y\n0,1,2", b','),
            ("Zeit, s;Wert\n0,1;2,5", b';'),
            ("series;x;label\n0;1,5;a", b';'),
            ("a,b,c\n1,2", b','),
        ] {
            assert_eq!(separator(text.as_bytes()) as char, expected as char, "{text}");
        }
    }

    #[test]
    fn a_comma_inside_numbers_does_not_separate() {
        assert_eq!(separator(b"1,5;2,7\n2,5;3,5"), b';');
        assert_eq!(separator(b"1,5\t2,7\n"), b'\t');
        assert_eq!(separator(b"1,5,2,7\n"), b',');
        assert_eq!(separator_of_numbers(b"  1.0 2.0\n"), Separator::Blanks);
        assert_eq!(separator_of_numbers(b"1\t2.0\n"), Separator::Byte(b'\t'));
    }
}
