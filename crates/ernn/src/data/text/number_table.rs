//! A text of numbers alone is no text: archives of time series give out tables under the name `.txt`.

use std::path::Path;

use crate::Error;
use crate::data::parse_number;

/// What the lines of a text have been so far.
#[derive(Debug, Default)]
pub(super) struct NumberTable {
    lines: usize,
    /// Fewest and most numbers of a line.
    shortest: usize,
    longest: usize,
    numbers: usize,
    has_words: bool,
    /// Something else than commas, semicolons and tabs stands between numbers.
    has_blanks: bool,
}

impl NumberTable {
    /// Takes in a line; costs nothing once a word has been seen.
    pub fn see(&mut self, line: &str) {
        let line = line.trim();
        if self.has_words || line.is_empty() {
            return;
        }
        let mut numbers = 0;
        for token in line.split([' ', '\t', ',', ';']).filter(|token| !token.is_empty()) {
            match parse_number(token.as_bytes()) {
                Ok(number) => self.numbers += usize::from(!number.is_nan()),
                Err(_) => {
                    self.has_words = true;
                    return;
                }
            }
            numbers += 1;
        }
        self.has_blanks |= line.contains(' ');
        self.shortest = if self.lines == 0 {
            numbers
        } else {
            self.shortest.min(numbers)
        };
        self.longest = self.longest.max(numbers);
        self.lines += 1;
    }

    /// The refusal, if there were numbers and nothing else.
    pub fn refusal(&self, path: &Path) -> Option<Error> {
        if self.has_words || self.numbers < 2 {
            return None;
        }
        let count = match (self.shortest, self.longest) {
            (shortest, longest) if shortest == longest => longest.to_string(),
            (shortest, longest) => format!("{shortest} to {longest}"),
        };
        let plural = if self.lines == 1 { "" } else { "s" };
        let found = format!("{} line{plural} of {count} numbers and no word", self.lines);
        let (file, table) = (path.display(), path.with_extension("tsv"));
        let how = match self.has_blanks {
            true => format!(
                "`sed 's/^ *//; s/[ ,;]\\+/\\t/g' {file} > {}` makes one with tabs",
                table.display()
            ),
            false => format!("`mv {file} {}` makes it one", table.display()),
        };
        let expected = format!(
            "text: this is a table of numbers, and as archives of time series (UCR) have it, a series a line with its label first; \
             name it .tsv to have it read as a table ({how}); to learn the numbers as words, say --vocabulary N"
        );
        Some(Error::format(path, "", found, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(lines: &[&str]) -> Option<String> {
        let mut table = NumberTable::default();
        lines.iter().for_each(|line| table.see(line));
        table.refusal("a.txt".as_ref()).map(|error| error.to_string())
    }

    #[test]
    fn numbers_alone_are_refused_with_their_layout() {
        let error = refusal(&["  1.0e+00 -6.4e-01 2", "", "2 3 NaN"]).unwrap();
        assert!(
            error.starts_with("a.txt: found 2 lines of 3 numbers and no word, expected text"),
            "{error}"
        );
        assert!(
            error.contains("`sed 's/^ *//; s/[ ,;]\\+/\\t/g' a.txt > a.tsv`"),
            "{error}"
        );
        let error = refusal(&["1,2,3", "2,3"]).unwrap();
        assert!(
            error.contains("found 2 lines of 2 to 3 numbers") && error.contains("`mv a.txt a.tsv`"),
            "{error}"
        );
    }

    #[test]
    fn a_word_makes_a_text() {
        assert_eq!(refusal(&["1 2 3", "four"]), None);
        assert_eq!(refusal(&["1984"]), None);
        assert_eq!(refusal(&["NA NA", ""]), None);
        assert_eq!(refusal(&[]), None);
    }
}
