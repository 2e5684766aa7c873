//! How text is read: flags, and what they make of settings.

use clap::Args;
use ernn::data::{Encoding, InvalidText, SourceKind, TextOptions, TokenKind};

use crate::reading::named;
use crate::unused::Flag;

/// How text becomes tokens.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Reading text")]
pub struct TextFlags {
    /// What a token of a running text (.txt) is: words or characters [default: words]
    #[arg(long, value_name = "KIND", value_parser = named::<TokenKind>)]
    tokens: Option<TokenKind>,
    /// Column, or JSON field, with texts to classify: the file is a table of texts
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// Column, or JSON field, with the classes, of texts or of a table of numbers [default: label]
    #[arg(long, value_name = "NAME", visible_alias = "label")]
    label_column: Option<String>,
    /// Most tokens of the vocabulary [default: 10,000 words, all characters; 20,000 words of texts to classify]
    #[arg(long, value_name = "N")]
    vocabulary: Option<usize>,
    /// Words of a text to classify that are read [default: the first 300]
    #[arg(long, value_name = "N")]
    words: Option<usize>,
    /// What to do about bytes that are not UTF-8: refuse or replace [default: refuse]
    #[arg(long, value_name = "POLICY", value_parser = named::<InvalidText>)]
    invalid_text: Option<InvalidText>,
    /// How letters are written as bytes, in texts and tables: utf-8, latin-1 or windows-1252 [default: utf-8]
    #[arg(long, value_name = "NAME", value_parser = named::<Encoding>)]
    encoding: Option<Encoding>,
}

impl TextFlags {
    /// Whether a flag names the column with the classes.
    pub fn names_labels(&self) -> bool {
        self.label_column.is_some()
    }

    /// The flags, and where they say nothing, `settings`.
    pub fn over(&self, settings: &TextOptions) -> TextOptions {
        TextOptions {
            invalid: self.invalid_text.unwrap_or(settings.invalid),
            encoding: self.encoding.unwrap_or(settings.encoding),
            tokens: self.tokens.unwrap_or(settings.tokens),
            vocabulary: self.vocabulary.or(settings.vocabulary),
            words: self.words.or(settings.words),
            text_column: self.text_column.clone().or_else(|| settings.text_column.clone()),
            label_column: self.label_column.clone().or_else(|| settings.label_column.clone()),
            of_model: settings.of_model.clone(),
        }
    }
}

impl TextFlags {
    /// Which of the flags were given, and whether they apply to a kind of data.
    pub fn applying(&self, kind: SourceKind) -> [Flag; 6] {
        use SourceKind::{Arrays, Known, Other, RunningText, Table, Texts};
        let (treebank, reviews) = (matches!(kind, Known("ptb-300" | "ptb-char")), kind == Known("yelp-5"));
        let running = matches!(kind, RunningText | Other);
        let texts = matches!(kind, Texts | Other);
        let text = running || texts || reviews;
        let own_texts = "texts with classes (--text-column)";
        [
            (
                "--tokens",
                self.tokens.is_some(),
                running,
                "a running text of your own (.txt)",
            ),
            (
                "--text-column",
                self.text_column.is_some(),
                texts,
                "a table of texts of your own",
            ),
            (
                "--label-column",
                self.label_column.is_some(),
                texts || matches!(kind, Table | Arrays),
                "tables and arrays of your own",
            ),
            ("--vocabulary", self.vocabulary.is_some(), text, "text"),
            ("--words", self.words.is_some(), texts || reviews, own_texts),
            ("--invalid-text", self.invalid_text.is_some(), text || treebank, "text"),
        ]
    }
}

impl From<TextOptions> for TextFlags {
    fn from(options: TextOptions) -> Self {
        TextFlags {
            tokens: Some(options.tokens),
            text_column: options.text_column,
            label_column: options.label_column,
            vocabulary: options.vocabulary,
            words: options.words,
            invalid_text: Some(options.invalid),
            encoding: Some(options.encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_over_settings_and_silent_ones_change_nothing() {
        let settings = TextOptions {
            tokens: TokenKind::Characters,
            words: Some(7),
            ..TextOptions::default()
        };
        assert_eq!(TextFlags::default().over(&settings), settings);
        assert_eq!(
            TextFlags::from(settings.clone()).over(&TextOptions::default()),
            settings
        );
        let flags = TextFlags {
            tokens: Some(TokenKind::Words),
            vocabulary: Some(9),
            ..TextFlags::default()
        };
        let over = flags.over(&settings);
        assert_eq!(
            (over.tokens, over.vocabulary, over.words),
            (TokenKind::Words, Some(9), Some(7))
        );
    }
}
