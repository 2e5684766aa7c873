//! How text becomes tokens.

use super::checked::InvalidText;
use super::encoding::Encoding;
use crate::{Error, Result};

/// What a token of a running text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// What stands between spaces, as it stands, and `<eos>` for the end of each line.
    #[default]
    Words,
    /// Each character with its combining marks, and `<eos>` for the end of each line.
    Characters,
}

/// How text is read.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// What to do about bytes that are not UTF-8.
    pub invalid: InvalidText,
    /// How the letters are written as bytes, of texts and of tables of numbers.
    #[serde(skip_serializing_if = "Encoding::is_default")]
    pub encoding: Encoding,
    /// Words or characters, for text whose next token is predicted.
    pub tokens: TokenKind,
    /// Most tokens of the vocabulary, `<unk>` included; `None`: 10,000 words, all characters, 20,000 words of classified texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<usize>,
    /// Words of a classified text that are read; `None`: the first 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// The column, or field, with the texts to classify; `None`: the file is not a table of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// The column with the classes, of texts or of a table of numbers; `None`: `label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// The vocabulary of a trained model, to read text as that model does; `None`: the text has its own. No setting of a run.
    #[serde(skip)]
    pub of_model: Option<Vec<String>>,
}

impl TextOptions {
    /// Nothing was said.
    pub fn is_default(&self) -> bool {
        *self == TextOptions::default()
    }

    /// Words of the vocabulary, `usual` if nothing was said.
    pub(super) fn vocabulary_or(&self, usual: usize) -> Result<usize> {
        at_least("vocabulary", self.vocabulary.unwrap_or(usual), 2)
    }

    /// Words of a classified text.
    pub(super) fn words(&self) -> Result<usize> {
        at_least("words", self.words.unwrap_or(300), 1)
    }
}

fn at_least(name: &str, value: usize, least: usize) -> Result<usize> {
    if value >= least {
        return Ok(value);
    }
    Err(Error::setting(name, value, format!("at least {least}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_leave_nothing_are_refused() {
        let options = TextOptions {
            vocabulary: Some(1),
            words: Some(0),
            ..TextOptions::default()
        };
        let error = options.vocabulary_or(5).unwrap_err().to_string();
        assert_eq!(error, "vocabulary: found 1, expected at least 2");
        assert_eq!(
            options.words().unwrap_err().to_string(),
            "words: found 0, expected at least 1"
        );
        assert_eq!(TextOptions::default().words().unwrap(), 300);
    }
}
