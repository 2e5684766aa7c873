//! A person's own texts with classes: a table with a text column and a label column.
//!
//! ```text
//! train.csv valid.csv test.csv   or .tsv, .json, .jsonl, .ndjson; plain, .gz, .bz2, .xz or .zst; or one file, which is the training part
//! ```
//!
//! Labels are any text. Words, vocabulary and length are those of Yelp-5 unless the options say otherwise.

use std::path::Path;

use super::TextOptions;
use super::files::{TABLES, parts};
use super::records::{Columns, read};
use super::texts::{Texts, VOCABULARY};
use super::vocabulary::Seen;
use crate::data::labels::{self, Names};
use crate::data::{Dataset, Task};
use crate::{Error, Result};

/// Opens a file or a folder whose text column is named in the options.
pub(super) fn open(name: &str, path: &Path, options: &TextOptions) -> Result<Dataset> {
    let (words, vocabulary) = (options.words()?, options.vocabulary_or(VOCABULARY)?);
    let mut seen = Seen::default();
    let parts = parts(name, path, &TABLES)?.map(|file| {
        let read = |file: &Path| read_part(file, options, words, &mut seen);
        file.as_deref().map(read).transpose()
    });
    let [train, validation, test] = parts;
    let (train, names) = train?.unwrap_or_default();
    let mut classes = names.names.clone();
    labels::sort(&mut classes);
    let own = (&train.tokens[..], vocabulary, true);
    let (vocabulary, index) = seen.vocabulary(name, options.of_model.as_ref(), own)?;
    let part = |(texts, names): (Texts, Names)| {
        let mut part = texts.into_part(&index);
        labels::map(&mut part, &names.names, &classes, name).map(|()| part)
    };
    Ok(Dataset {
        name: name.to_owned(),
        feature_names: vec!["token".to_owned()],
        vocabulary,
        task: Task::Classification,
        train: part((train, names))?,
        validation: validation?.map(part).transpose()?,
        test: test?.map(part).transpose()?,
        classes,
        ..Dataset::default()
    })
}

fn read_part(file: &Path, options: &TextOptions, words: usize, seen: &mut Seen) -> Result<(Texts, Names)> {
    let columns = Columns {
        text: options.text_column.as_deref().unwrap_or("text"),
        label: Some(options.label_column.as_deref().unwrap_or("label")),
        id: "",
    };
    let (mut texts, mut names) = (Texts::default(), Names::default());
    read(file, columns, options, |record| {
        if record.label.is_empty() {
            let found = "an empty label";
            let expected = "a label";
            return Err(Error::format(file, format!(", line {}", record.line), found, expected));
        }
        texts.push(record.text, words, seen, names.number(record.label));
        Ok(true)
    })?;
    if texts.len() == 0 {
        return Err(Error::format(file, "", "no text", "at least one"));
    }
    Ok((texts, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_tables(tables: &[(&str, &str)]) -> Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in tables {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let options = TextOptions {
            text_column: Some("body".to_owned()),
            label_column: Some("mood".to_owned()),
            ..TextOptions::default()
        };
        open("mail", folder.path(), &options)
    }

    const TRAIN: (&str, &str) = ("train.csv", "mood,body\nsad,oh no\nglad,\"yes, yes\"\n");

    #[test]
    fn labels_are_any_text_and_parts_may_differ_in_format() {
        let data = open_tables(&[TRAIN, ("test.jsonl", "{\"body\":\"yes sir\",\"mood\":\"glad\"}\n")]).unwrap();
        assert_eq!(data.classes, ["glad", "sad"]);
        assert_eq!(data.vocabulary, ["<unk>", "yes", "oh", "no"]);
        assert_eq!((data.train.labels, data.test.unwrap().labels), (vec![1, 0], vec![0]));
        assert_eq!(data.validation, None);
    }

    #[test]
    fn refusals() {
        let error = |tables: &[(&str, &str)]| open_tables(tables).unwrap_err().to_string();
        let unknown = error(&[TRAIN, ("test.csv", "mood,body\nangry,x\n")]);
        assert_eq!(
            unknown,
            "mail: label \"angry\" (1 sequence) is not among the known labels glad, sad"
        );
        assert!(error(&[("train.csv", "mood,body\n")]).ends_with("train.csv: found no text, expected at least one"));
        assert!(
            error(&[("train.csv", "mood,body\n,x\n")]).ends_with(", line 2: found an empty label, expected a label")
        );
    }
}
