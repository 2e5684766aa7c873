//! The lines of a stream become steps: tokens of a vocabulary, or numbers with missing values filled.
//!
//! ```text
//! 1, 2 | 1 2         values between commas, each with blanks around it, or between blanks alone
//! the                a token, blanks included: " " is one of a text of characters
//! ```
//!
//! A stream has no future: `previous` and `zero` can fill a gap in it, `interpolate` cannot.

use ernn::checkpoint::SavedModel;
use ernn::data::{MissingPolicy, Task, UNKNOWN, Vocabulary, parse_number};
use ernn::evaluate::Stream;
use ernn::{Error, Result};

/// What reads the lines.
pub struct Steps {
    /// Of a model of tokens.
    vocabulary: Option<Vocabulary>,
    /// Tokens are words of raw text.
    words: bool,
    missing: MissingPolicy,
    /// The last values of this sequence; NaN where there was none yet.
    last: Vec<f32>,
}

impl Steps {
    /// At the beginning of a sequence.
    pub fn new(saved: &SavedModel, missing: MissingPolicy) -> Self {
        Steps {
            vocabulary: (!saved.vocabulary.is_empty()).then(|| Vocabulary::new(saved.vocabulary.clone())),
            words: saved.model.config().task == Task::Classification,
            missing,
            last: vec![f32::NAN; saved.feature_names.len()],
        }
    }

    /// The next step is a first one.
    pub fn reset(&mut self) {
        self.last.fill(f32::NAN);
    }

    /// Whether the line, without its end, is no step but the beginning of a new sequence.
    pub fn is_break(&self, line: &str) -> bool {
        // A blank may be a token.
        line.is_empty() || (self.vocabulary.is_none() && line.trim().is_empty())
    }

    /// Gives the line to the stream.
    pub fn push(&mut self, stream: &mut Stream, line: &str) -> Result<()> {
        match &self.vocabulary {
            Some(vocabulary) => stream.push_token(token(vocabulary, line, self.words)?),
            None => stream.push(&self.values(line)?),
        }
    }

    /// The numbers of a line.
    pub fn values(&mut self, line: &str) -> Result<Vec<f32>> {
        let mut values = Vec::with_capacity(self.last.len());
        for text in fields(line) {
            let place = values.len();
            let value = parse_number(text.as_bytes())
                .map_err(|expected| problem(format!("value {}: found `{text}`, expected {expected}", place + 1)))?;
            let value = if value.is_nan() {
                self.filled(place, text)?
            } else {
                value
            };
            values.push(value);
        }
        if values.len() == self.last.len() {
            self.last.copy_from_slice(&values);
        }
        Ok(values)
    }

    fn filled(&self, place: usize, text: &str) -> Result<f32> {
        let last = self.last.get(place).copied().unwrap_or(f32::NAN);
        let expected = match self.missing {
            MissingPolicy::Zero => return Ok(0.0),
            MissingPolicy::Previous if !last.is_nan() => return Ok(last),
            MissingPolicy::Previous => {
                "one before it in the sequence to repeat (--missing zero needs none)".to_string()
            }
            MissingPolicy::Refuse => "a number (--missing previous or zero fills it)".to_string(),
            MissingPolicy::Interpolate => {
                format!("a number: the model's way to fill it, interpolate, {CANNOT_LOOK_AHEAD}")
            }
        };
        Err(problem(format!(
            "value {}: found a missing value (`{text}`), expected {expected}",
            place + 1
        )))
    }
}

/// Why a stream does not interpolate, and what it can do.
pub const CANNOT_LOOK_AHEAD: &str =
    "needs the next value, which a stream does not have yet; --missing previous or zero can fill it";

/// The token as it stands, else without the blanks around it, else `<unk>`.
fn token(vocabulary: &Vocabulary, line: &str, words: bool) -> Result<u32> {
    let known = |text: &str| {
        let index = vocabulary.index(text)?;
        (vocabulary.text(index) == Some(text)).then_some(index)
    };
    if let Some(index) = known(line).or_else(|| known(line.trim())) {
        return Ok(index);
    }
    if words {
        let found = vocabulary.words(line, usize::MAX);
        if found.len() > 1 {
            return Err(problem(format!("found {} words, expected one a line", found.len())));
        }
    }
    // A word of raw text is known in lower case and without what stands around it.
    let found = if words {
        vocabulary.words(line, 1).first().copied()
    } else {
        vocabulary.index(UNKNOWN)
    };
    found.ok_or_else(|| {
        problem(format!(
            "found `{line}`, expected a token of the model's vocabulary, which has no {UNKNOWN}"
        ))
    })
}

/// Values between commas, each with blanks around it, or between blanks alone.
fn fields(line: &str) -> Vec<&str> {
    if line.contains(',') {
        return line.split(',').map(str::trim).collect();
    }
    line.split_whitespace().collect()
}

fn problem(problem: String) -> Error {
    Error::data("the step", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_between_commas_or_blanks() {
        for line in ["1,2,3", "1 2\t3", "1, 2 ,3", "1  2 3"] {
            assert_eq!(fields(line), ["1", "2", "3"], "{line}");
        }
        assert_eq!(fields("1,,3"), ["1", "", "3"]);
    }

    #[test]
    fn tokens_are_taken_as_they_stand_first() {
        let vocabulary = |tokens: &[&str]| Vocabulary::new(tokens.iter().map(|token| (*token).to_string()).collect());
        let characters = vocabulary(&[" ", "a"]);
        assert_eq!(token(&characters, " ", false).unwrap(), 0);
        assert_eq!(token(&characters, " a", false).unwrap(), 1);
        assert!(token(&characters, "b", false).is_err());
        let words = vocabulary(&["<unk>", "good"]);
        assert_eq!(token(&words, "bad", false).unwrap(), 0);
        assert_eq!(token(&words, "GOOD!", false).unwrap(), 0);
        assert_eq!(token(&words, "GOOD!", true).unwrap(), 1);
        assert!(token(&words, "good food", true).is_err());
    }
}
