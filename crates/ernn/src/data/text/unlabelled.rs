//! Texts to classify with a model that is there: its vocabulary, no labels.
//!
//! ```text
//! .csv .tsv .json .jsonl .ndjson   the text column of each record          plain, .gz, .bz2, .xz or .zst
//! .txt, standard input             a text a line, also an empty one
//! ```
//!
//! Words and length are those of training; a word outside the vocabulary is `<unk>`. Texts are named by their number from 1.

use std::io::{BufRead, Read};
use std::path::Path;

use super::checked::{self, Checked};
use super::encoding::Decoded;
use super::files::ending;
use super::lines::for_each_line;
use super::records::{Columns, read};
use super::{TextOptions, UNKNOWN, Vocabulary};
use crate::data::open::is_stream;
use crate::data::{Part, Sequences};
use crate::{Error, Result};

/// The texts of a file.
pub(in crate::data) fn open(path: &Path, options: &TextOptions, vocabulary: &Vocabulary) -> Result<Sequences> {
    // A pipe has no name that tells its format.
    if ending(path) == "txt" || is_stream(path) {
        return of_lines(checked::open(path, options)?, path, options, vocabulary);
    }
    let columns = Columns {
        text: options.text_column.as_deref().unwrap_or("text"),
        label: None,
        id: "",
    };
    let (mut tokens, words) = (Tokens::default(), options.words()?);
    read(path, columns, options, |record| {
        tokens.push(&vocabulary.words(record.text, words), path, record.line)
    })?;
    tokens.into_sequences(path)
}

/// The texts of a stream, a text a line.
pub(in crate::data) fn stream(
    reader: impl Read,
    path: &Path,
    options: &TextOptions,
    vocabulary: &Vocabulary,
) -> Result<Sequences> {
    let decoded = Decoded::new(reader, options.encoding);
    of_lines(Checked::new(decoded, options.invalid), path, options, vocabulary)
}

fn of_lines(lines: impl BufRead, path: &Path, options: &TextOptions, vocabulary: &Vocabulary) -> Result<Sequences> {
    let (mut tokens, words) = (Tokens::default(), options.words()?);
    for_each_line(lines, path, |number, line| {
        tokens.push(&vocabulary.words(line, words), path, number)
    })?;
    tokens.into_sequences(path)
}

#[derive(Default)]
struct Tokens {
    tokens: Vec<u32>,
    ends: Vec<usize>,
}

impl Tokens {
    /// Always wants more.
    fn push(&mut self, text: &[u32], path: &Path, line: u64) -> Result<bool> {
        if text.is_empty() {
            let expected = format!("at least one, as the vocabulary has no {UNKNOWN}");
            let found = "no word of the model's vocabulary";
            return Err(Error::format(path, format!(", line {line}"), found, expected));
        }
        self.tokens.extend_from_slice(text);
        self.ends.push(self.tokens.len());
        Ok(true)
    }

    fn into_sequences(self, path: &Path) -> Result<Sequences> {
        if self.ends.is_empty() {
            return Err(Error::format(path, "", "no text", "at least one"));
        }
        let names = (1..=self.ends.len()).map(|number| number.to_string()).collect();
        let mut offsets = self.ends;
        offsets.insert(0, 0);
        Ok(Sequences {
            source: path.display().to_string(),
            feature_names: vec!["token".to_owned()],
            classes: Vec::new(),
            group_names: Vec::new(),
            names,
            part: Part::of_tokens(self.tokens, offsets, Vec::new()),
            times: Vec::new(),
            step_times: Vec::new(),
            ahead: Vec::new(),
            notes: Vec::new(),
        })
    }
}
