//! Numbers in text: a value, or missing (`NaN` inside this room until [`missing`](super::missing) has dealt with it).

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

fn is_missing(text: &[u8]) -> bool {
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
    fn shown_text_is_one_short_line() {
        assert_eq!(shown(b"a\nb"), "\"a\\nb\"");
        assert!(shown(&[b'x'; 500]).len() < 70);
    }
}
