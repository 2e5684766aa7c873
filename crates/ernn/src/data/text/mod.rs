//! Text: tokens of a running text, or of many texts with a class each.
//!
//! ```text
//! file -> checked (unpacked UTF-8) -> lines | records -> words | characters -> numbers of first appearance -> vocabulary indices
//! ```
//!
//! A text is read once and never in memory as a whole; what is kept are its tokens, 4 bytes each.

mod checked;
mod corpus;
mod files;
mod lines;
mod options;
pub(super) mod ptb;
mod records;
mod table;
mod texts;
mod vocabulary;
mod words;
pub(super) mod yelp;

use std::path::Path;

pub use checked::InvalidText;
pub use options::{TextOptions, TokenKind};
pub use vocabulary::{END_OF_LINE, UNKNOWN, Vocabulary};

use super::Dataset;
use crate::Result;

/// A path is opened as text: a table if a text column is named, else `.txt` alone or as the training part of a folder.
pub(super) fn is_text(path: &Path, options: &TextOptions) -> bool {
    if options.text_column.is_some() {
        return true;
    }
    if path.is_file() {
        return files::ending(path) == "txt";
    }
    files::parts("", path, &files::RUNNING).is_ok()
}

/// Opens a path for which [`is_text`] holds.
pub(super) fn open(name: &str, path: &Path, options: &TextOptions) -> Result<Dataset> {
    match options.text_column {
        Some(_) => table::open(name, path, options),
        None => corpus::open(name, path, options),
    }
}
