//! How new data is read: the flags of `ernn predict`, over what the model's run says.

use std::path::Path;

use clap::Args;
use ernn::checkpoint::SavedModel;
use ernn::data::{Encoding, InvalidText, MissingPolicy, OpenOptions, Span};

use crate::failure::Result;
use crate::reading::{ReadingFlags, named};
use crate::table_flags::TableFlags;
use crate::unused::refuse;

/// How new data is read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub struct PredictFlags {
    /// What to do about missing values: refuse, interpolate (not in a stream), previous or zero [default: as in the model's run]
    #[arg(long, value_name = "POLICY", value_parser = named::<MissingPolicy>)]
    pub missing: Option<MissingPolicy>,
    /// Values a step in two-dimensional arrays (label in column 0, then the steps)
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    features: Option<usize>,
    /// Column, or JSON field, with the texts to classify [default: as in the model's run, else text]
    #[arg(long, value_name = "NAME", conflicts_with = "stream")]
    text_column: Option<String>,
    /// Words of a text to classify that are read [default: as in the model's run]
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    words: Option<usize>,
    /// What to do about bytes that are not UTF-8: refuse or replace [default: as in the model's run]
    #[arg(long, value_name = "POLICY", value_parser = named::<InvalidText>, conflicts_with = "stream")]
    invalid_text: Option<InvalidText>,
    /// Column with labels, which are not read as values [default: as in the model's run, else label]
    #[arg(long, value_name = "NAME", conflicts_with = "stream")]
    label_column: Option<String>,
    /// How letters are written as bytes: utf-8, latin-1 or windows-1252 [default: as in the model's run]
    #[arg(long, value_name = "NAME", value_parser = named::<Encoding>, conflicts_with = "stream")]
    encoding: Option<Encoding>,
    #[command(flatten)]
    table: TableFlags,
}

impl PredictFlags {
    /// Refuses flags that change nothing about how this model reads this file.
    pub fn refuse_unused(&self, saved: &SavedModel, file: &str) -> Result<()> {
        let text = !saved.vocabulary.is_empty();
        let ends = |end: &str| {
            Path::new(file)
                .extension()
                .is_some_and(|own| own.eq_ignore_ascii_case(end))
        };
        // What comes through a pipe may be an array.
        let array = !text && (ends("npy") || ends("npz") || !Path::new(file).is_file() && !Path::new(file).is_dir());
        let what = format!("{file} for this model");
        refuse(
            &what,
            &[
                (
                    "--missing",
                    self.missing.is_some(),
                    !text && !ends("wav"),
                    "numbers, which may be missing",
                ),
                (
                    "--features",
                    self.features.is_some(),
                    array,
                    "arrays of two dimensions (.npy, .npz)",
                ),
                ("--text-column", self.text_column.is_some(), text, "models of texts"),
                ("--words", self.words.is_some(), text, "models of texts"),
                ("--invalid-text", self.invalid_text.is_some(), text, "models of texts"),
            ],
        )
    }

    /// The length of a window and from window to window, as flags say.
    pub fn spans(&self) -> [Option<Span>; 2] {
        self.table.spans()
    }

    /// The library's options: these flags, and where they say nothing, how the model's own data was read.
    pub fn options(&self, saved: &SavedModel) -> Result<OpenOptions> {
        let flags = ReadingFlags {
            table: self.table.clone(),
            ..ReadingFlags::default()
        };
        let mut options = flags.as_for(saved)?.options();
        options.missing = self.missing.unwrap_or(options.missing);
        options.features = self.features.or(options.features);
        options.text.words = self.words.or(options.text.words);
        options.text.invalid = self.invalid_text.unwrap_or(options.text.invalid);
        options.text.encoding = self.encoding.unwrap_or(options.text.encoding);
        if let Some(label) = &self.label_column {
            options.text.label_column = Some(label.clone());
            options.table.may_lack.retain(|name| name != label);
        }
        if self.text_column.is_some() {
            options.text.text_column.clone_from(&self.text_column);
        }
        Ok(options)
    }
}
