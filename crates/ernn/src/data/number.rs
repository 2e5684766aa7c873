//! Numbers in text: a value, or missing (`NaN` inside this room until [`missing`](super::missing) has dealt with it).

/// What stands between the whole and the rest of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Decimal {
    /// `1.5`
    #[default]
    Point,
    /// `1,5`, as well as `1.5`: who reads has to see to it that a file has one of them.
    Comma,
}

/// Reads a cell: a number that fits `f32`, or NaN for a missing value (empty, `?`, `NaN`, `NA`, `null`).
///
/// The error is what was expected instead.
pub fn parse(text: &[u8]) -> Result<f32, &'static str> {
    const NUMBER: &str = "a number";
    const FITTING: &str = "a finite number of at most 3.4e38 in size";
    let text = text.trim_ascii();
    let Ok(number) = std::str::from_utf8(text).unwrap_or("x").parse::<f32>() else {
        return if is_missing(text) { Ok(f32::NAN) } else { Err(NUMBER) };
    };
    if number.is_infinite() {
        return Err(FITTING);
    }
    Ok(number)
}

/// The same, where the decimal sign may be a comma.
pub(crate) fn parse_as(text: &[u8], decimal: Decimal) -> Result<f32, &'static str> {
    match with_point(text, decimal) {
        None => parse(text),
        Some(text) => parse(&text),
    }
}

/// The number of a cell with all its digits, where it is one.
pub(crate) fn exact(text: &[u8], decimal: Decimal) -> Option<f64> {
    let pointed = with_point(text, decimal);
    let text = pointed.as_deref().unwrap_or(text);
    let number = std::str::from_utf8(text.trim_ascii()).ok()?.parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

/// A number with a decimal comma as one with a point; none if the text is no such number.
fn with_point(text: &[u8], decimal: Decimal) -> Option<Vec<u8>> {
    if decimal == Decimal::Point || text.contains(&b'.') {
        return None;
    }
    let comma = text.iter().position(|&byte| byte == b',')?;
    let mut pointed = text.to_vec();
    pointed[comma] = b'.';
    Some(pointed)
}

/// Whether a cell says that its value is missing.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    ["", "?", "na", "n/a", "nan", "null"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Text from a file as it can stand in an error message: one line, not too long.
pub(crate) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(text.trim_ascii());
    let mut shown = String::new();
    for letter in text.chars().take(LONGEST) {
        shown.push(letter);
    }
    let mut shown = crate::names::line(shown);
    if text.chars().count() > LONGEST {
        shown.push_str("...");
    }
    format!("\"{shown}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        for (text, value) in [(" 1.5 ", 1.5), ("-3e38", -3e38), ("1e-300", 0.0), ("+7", 7.0)] {
            assert_eq!(parse(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["", " ", "?", "NaN", "nan", "NA", "N/A", "null", "-nan"] {
            assert!(parse(text.as_bytes()).unwrap().is_nan(), "{text}");
        }
        for (text, expected) in [
            ("x1", "a number"),
            ("1,5", "a number"),
            ("0x10", "a number"),
            ("1 2", "a number"),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(expected), "{text}");
        }
        for text in ["inf", "-1e300", "1e39", "Infinity"] {
            assert_eq!(
                parse(text.as_bytes()),
                Err("a finite number of at most 3.4e38 in size"),
                "{text}"
            );
        }
        assert_eq!(parse(&[0xff, 0xfe]), Err("a number"));
    }

    #[test]
    fn decimal_commas() {
        assert_eq!(parse_as(b"1,5", Decimal::Comma), Ok(1.5));
        assert_eq!(parse_as(b"-2,5e3", Decimal::Comma), Ok(-2500.0));
        assert_eq!(parse_as(b"1.5", Decimal::Comma), Ok(1.5));
        assert_eq!(parse_as(b"1,5", Decimal::Point), Err("a number"));
        for text in ["1.234,5", "1,2,3", ",", "a,b"] {
            assert_eq!(parse_as(text.as_bytes(), Decimal::Comma), Err("a number"), "{text}");
        }
        assert_eq!(exact(b"1700000000020", Decimal::Point), Some(1700000000020.0));
        assert_eq!(exact(b" 0,25 ", Decimal::Comma), Some(0.25));
        assert_eq!(exact(b"inf", Decimal::Point), None);
        assert_eq!(exact(b"?", Decimal::Point), None);
    }

    #[test]
    fn shown_text_is_one_short_line() {
        assert_eq!(shown(b"a\nb"), "\"a\\u{a}b\"");
        assert!(shown(&[b'x'; 500]).len() < 70);
    }
}
