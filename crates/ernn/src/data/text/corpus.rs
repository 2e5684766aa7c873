//! A text whose next token is predicted: one sequence a part, `<eos>` for the end of each line.
//!
//! ```text
//! train.txt valid.txt test.txt   in a folder, plain, .gz, .bz2, .xz or .zst; or one file, which is the training part
//! ```
//!
//! The vocabulary comes from the training part alone; other tokens of the other parts are `<unk>`.

use std::cell::RefCell;
use std::io::BufRead;
use std::path::Path;

use super::files::{RUNNING, parts};
use super::lines::for_each_line;
use super::number_table::NumberTable;
use super::vocabulary::{END_OF_LINE, Seen};
use super::words::{characters_of, split_at_spaces};
use super::{TextOptions, TokenKind, checked};
use crate::data::{Dataset, Part, Task};
use crate::{Error, Result};

/// The vocabulary of words if nothing else is said, that of Penn Treebank.
const WORDS: usize = 10_000;

/// Opens a file or folder of `.txt`.
pub(super) fn open(name: &str, path: &Path, options: &TextOptions) -> Result<Dataset> {
    let mut reader = Reader::default();
    let files = parts(name, path, &RUNNING)?;
    let mut read = |file: &Path| -> Result<Vec<u32>> {
        let text = checked::open(file, options)?;
        let table = RefCell::new(NumberTable::default());
        let tokens = reader.read(text, file, |line, take| match options.tokens {
            TokenKind::Words => {
                table.borrow_mut().see(line);
                split_at_spaces(line, take);
            }
            TokenKind::Characters => characters_of(line, take),
        })?;
        // Whoever says how large a vocabulary of numbers is, means it as one.
        let unasked = options.vocabulary.is_none() && options.of_model.is_none();
        if let Some(refusal) = table.borrow().refusal(file).filter(|_| unasked) {
            return Err(refusal);
        }
        if tokens.is_empty() {
            return Err(Error::format(file, "", "an empty file", "text"));
        }
        Ok(tokens)
    };
    let [train, validation, test] = files.map(|file| file.map(|file| read(&file)).transpose());
    let usual = match options.tokens {
        TokenKind::Words => WORDS,
        TokenKind::Characters => usize::MAX,
    };
    let size = options.vocabulary_or(usual)?;
    reader.finish(
        name,
        [
            train?.unwrap_or_default(),
            validation?.unwrap_or_default(),
            test?.unwrap_or_default(),
        ],
        (size, true),
        options,
    )
}

/// Reads the parts of a text, the training part first.
#[derive(Default)]
pub(super) struct Reader {
    seen: Seen,
}

impl Reader {
    /// The numbers of the tokens of a part; `split` calls its second argument with each token of a line.
    pub fn read(
        &mut self,
        text: impl BufRead,
        path: &Path,
        split: impl Fn(&str, &mut dyn FnMut(&str)),
    ) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        for_each_line(text, path, |_, line| {
            split(line, &mut |token| tokens.push(self.seen.number(token)));
            tokens.push(self.seen.number(END_OF_LINE));
            Ok(true)
        })?;
        Ok(tokens)
    }

    /// The data set; a part without tokens is not there. Its own vocabulary has a size and an `<unk>`, or not: then a token outside
    /// is an error.
    pub fn finish(
        self,
        name: &str,
        parts: [Vec<u32>; 3],
        (size, unknown): (usize, bool),
        options: &TextOptions,
    ) -> Result<Dataset> {
        let own = (&parts[0][..], size, unknown);
        let (vocabulary, index) = self.seen.vocabulary(name, options.of_model.as_ref(), own)?;
        let translated = |mut tokens: Vec<u32>| {
            for token in &mut tokens {
                *token = index[*token as usize].ok_or_else(|| {
                    Error::data(
                        name,
                        "a token outside the vocabulary, found in a later part; expected only those of the training part",
                    )
                })?;
            }
            let offsets = vec![0, tokens.len()];
            Ok((tokens.is_empty(), Part::of_tokens(tokens, offsets, Vec::new())))
        };
        let [train, validation, test] = parts.map(translated);
        let there = |(empty, part): (bool, Part)| (!empty).then_some(part);
        Ok(Dataset {
            name: name.to_owned(),
            feature_names: vec!["token".to_owned()],
            vocabulary,
            task: Task::NextToken,
            train: train?.1,
            validation: there(validation?),
            test: there(test?),
            ..Dataset::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::data::text::InvalidText;

    fn open_texts(texts: &[(&str, &[u8])], options: &TextOptions) -> Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        texts
            .iter()
            .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        open("d", folder.path(), options)
    }

    fn shown(dataset: &Dataset, part: &Part) -> String {
        let tokens = part.values.tokens();
        let texts = tokens.iter().map(|&token| dataset.vocabulary[token as usize].as_str());
        texts.collect::<Vec<_>>().join("|")
    }

    const TRAIN: (&str, &[u8]) = ("train.txt", "\u{feff}the cat\r\n\r\nThe the dog".as_bytes());

    #[test]
    fn words_are_taken_as_they_stand_and_lines_end() {
        let data = open_texts(&[TRAIN, ("valid.txt", b"the cow\n")], &TextOptions::default()).unwrap();
        assert_eq!(data.vocabulary, ["<unk>", "<eos>", "the", "cat", "The", "dog"]);
        assert_eq!(shown(&data, &data.train), "the|cat|<eos>|<eos>|The|the|dog|<eos>");
        assert_eq!(shown(&data, data.validation.as_ref().unwrap()), "the|<unk>|<eos>");
        assert_eq!((data.task, data.train.len(), data.test), (Task::NextToken, 1, None));
    }

    #[test]
    fn a_small_vocabulary_leaves_the_rare_words_out() {
        let options = TextOptions {
            vocabulary: Some(3),
            ..TextOptions::default()
        };
        let data = open_texts(&[TRAIN], &options).unwrap();
        assert_eq!(shown(&data, &data.train), "the|<unk>|<eos>|<eos>|<unk>|the|<unk>|<eos>");
    }

    #[test]
    fn characters_keep_spaces_and_marks() {
        let options = TextOptions {
            tokens: TokenKind::Characters,
            ..TextOptions::default()
        };
        let data = open_texts(&[("train.txt", "a q\u{303}\n".as_bytes())], &options).unwrap();
        assert_eq!(shown(&data, &data.train), "a| |q\u{303}|<eos>");
    }

    #[test]
    fn refusals_name_file_and_place() {
        let error = open_texts(&[("train.txt", b"good\nbad \xff\n")], &TextOptions::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("train.txt, line 2, byte 9: found the byte 0xff"),
            "{error}"
        );
        let replace = TextOptions {
            invalid: InvalidText::Replace,
            ..TextOptions::default()
        };
        assert!(open_texts(&[("train.txt", b"good\nbad \xff\n")], &replace).is_ok());
        let error = open_texts(&[("train.txt", b"")], &TextOptions::default()).unwrap_err();
        assert!(
            error.to_string().contains("found an empty file, expected text"),
            "{error}"
        );
    }
}
