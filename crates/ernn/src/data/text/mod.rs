//! Text: tokens of a running text, or of many texts with a class each.
//!
//! ```text
//! file -> checked (unpacked UTF-8) -> lines | records -> words | characters -> numbers of first appearance -> vocabulary indices
//! ```
//!
//! A text is read once and never in memory as a whole; what is kept are its tokens, 4 bytes each.

pub(in crate::data) mod checked;
mod corpus;
pub(in crate::data) mod encoding;
mod files;
mod lines;
mod number_table;
mod options;
pub(super) mod ptb;
mod records;
mod script;
mod table;
mod texts;
pub(super) mod unlabelled;
mod vocabulary;
mod words;
pub(super) mod yelp;

use std::path::Path;

pub use checked::InvalidText;
pub use encoding::Encoding;
pub use options::{TextOptions, TokenKind};
pub use script::{Reading, Script};
pub use vocabulary::{END_OF_LINE, UNKNOWN, Vocabulary};

use super::Dataset;
use super::known::{Entry, Known};
use crate::Result;

const PTB_SOURCE: &str = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz";
const PTB_LICENSE: &str =
    "Wall Street Journal text of the LDC's Penn Treebank, without an open license: do not publish it";
const PTB_FILES: &str = "ptb.train.txt, ptb.valid.txt and ptb.test.txt, or simple-examples.tgz";

/// Of this family.
pub(super) static SETS: [Entry; 3] = [
    Entry {
        known: Known {
            name: "ptb-300",
            description: "Penn Treebank, next word: 10,000 words, 929,589 + 73,760 + 82,430 tokens",
            source: PTB_SOURCE,
            license: PTB_LICENSE,
            built_in: false,
        },
        files: PTB_FILES,
        find: ptb::find,
        open: |name, at, options| ptb::open(name, at, &options.text),
        counts: &[],
    },
    Entry {
        known: Known {
            name: "ptb-char",
            description: "Penn Treebank, next character: 50 characters, 5,017,482 + 393,042 + 442,423 tokens",
            source: PTB_SOURCE,
            license: PTB_LICENSE,
            built_in: false,
        },
        files: PTB_FILES,
        find: ptb::find,
        open: |name, at, options| ptb::open(name, at, &options.text),
        counts: &[],
    },
    Entry {
        known: Known {
            name: "yelp-5",
            description: "reviews with 1 to 5 stars: the first 300 words, 20,000 words, 500,000 + 500,000 reviews",
            source: "https://www.yelp.com/dataset",
            license: "Yelp Dataset terms: academic use, no handing on",
            built_in: false,
        },
        files: "files of reviews (.csv, .json)",
        find: yelp::find,
        open: |name, at, options| yelp::open(name, at, &options.text),
        counts: &[],
    },
];

/// A path is opened as text: a table if a text column is named, else `.txt` alone or as the training part of a folder that has no
/// numbers to train on.
pub(super) fn is_text(path: &Path, options: &TextOptions) -> bool {
    if options.text_column.is_some() {
        return true;
    }
    if path.is_file() {
        return files::ending(path) == "txt";
    }
    let to_train = |endings: &[&str]| files::parts("", path, endings).is_ok();
    to_train(&files::RUNNING) && !to_train(&files::NUMBERS)
}

/// Whether a source is no known data set and opened as a running text, if no flag says otherwise.
pub(crate) fn is_running_text(source: &str) -> bool {
    let is_known = super::known()
        .iter()
        .any(|known| known.name == super::plain_name(source));
    !is_known && is_text(Path::new(source), &TextOptions::default())
}

/// Opens a path for which [`is_text`] holds.
pub(super) fn open(name: &str, path: &Path, options: &TextOptions) -> Result<Dataset> {
    match options.text_column {
        Some(_) => table::open(name, path, options),
        None => corpus::open(name, path, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_folder_come_before_text() {
        let folder = tempfile::tempdir().unwrap();
        let is_text = |name: &str, options: &TextOptions| is_text(&folder.path().join(name), options);
        let nothing = TextOptions::default();
        std::fs::write(folder.path().join("train.txt"), "a").unwrap();
        assert!(is_text("", &nothing) && is_text("train.txt", &nothing));
        std::fs::write(folder.path().join("train.csv"), "a").unwrap();
        assert!(!is_text("", &nothing) && !is_text("train.csv", &nothing) && !is_text("absent", &nothing));
        let column = TextOptions {
            text_column: Some("text".to_owned()),
            ..TextOptions::default()
        };
        assert!(is_text("train.csv", &column));
    }
}
