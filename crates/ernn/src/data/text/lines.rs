//! Lines of a text, whatever ends them.

use std::io::BufRead;
use std::path::Path;

use super::checked::reading_error;
use crate::Result;

/// Calls `take` with the number, from 1, and the text of each line, without `\n` or `\r\n`, for as long as it wants more.
/// The last line may lack its end.
pub(super) fn for_each_line(
    mut text: impl BufRead,
    path: &Path,
    mut take: impl FnMut(u64, &str) -> Result<bool>,
) -> Result<()> {
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        if text.read_line(&mut line).map_err(|error| reading_error(path, error))? == 0 {
            break;
        }
        let content = line.strip_suffix('\n').unwrap_or(&line);
        if !take(number, content.strip_suffix('\r').unwrap_or(content))? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, most: u64) -> Vec<String> {
        let mut lines = Vec::new();
        let outcome = for_each_line(text.as_bytes(), Path::new("t"), |number, line| {
            lines.push(format!("{number}{line}"));
            Ok(number < most)
        });
        outcome.unwrap();
        lines
    }

    #[test]
    fn both_line_ends_are_dropped_and_the_last_may_be_missing() {
        assert_eq!(lines("a\r\n\nb\rc\nd", 9), ["1a", "2", "3b\rc", "4d"]);
        assert_eq!(lines("a\n", 9), ["1a"]);
        assert!(lines("", 9).is_empty());
    }

    #[test]
    fn reading_stops_when_no_more_is_wanted() {
        assert_eq!(lines("a\nb\nc\n", 2), ["1a", "2b"]);
    }
}
