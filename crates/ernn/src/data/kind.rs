//! What kind of data a source is, told from its name and what lies there, without reading it.

use std::path::Path;

use super::open::Format;
use super::{OpenOptions, audio, known, plain_name, synthetic, text};

/// A kind of data: which ways of reading it there are follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A data set known by this name, without the length that a synthetic one may end with.
    Known(&'static str),
    /// A text whose next token is predicted.
    RunningText,
    /// Texts with classes.
    Texts,
    /// A table of numbers: `.csv`, `.tsv`, `.parquet`, or JSON lines.
    Table,
    /// A `.ts` file.
    Ts,
    /// Arrays, `.npy` or `.npz`.
    Arrays,
    /// A folder of recordings.
    Recordings,
    /// A folder of files with numbers, something to be told from its content, or nothing.
    Other,
}

/// The kind of a source.
pub fn kind(source: &str, options: &OpenOptions) -> SourceKind {
    let (name, _) = synthetic::split_name(plain_name(source));
    if let Some(known) = known().iter().find(|known| known.name == name) {
        return SourceKind::Known(known.name);
    }
    let path = Path::new(source);
    match Format::of(path) {
        _ if options.text.text_column.is_some() => SourceKind::Texts,
        _ if text::is_text(path, &options.text) => SourceKind::RunningText,
        _ if path.is_dir() && audio::class_folders::is_one(path) => SourceKind::Recordings,
        _ if audio::long::is_sound(path) || (path.is_dir() && audio::class_folders::holds_sound(path)) => {
            SourceKind::Recordings
        }
        Some(Format::Csv | Format::Lines | Format::Parquet) => SourceKind::Table,
        Some(Format::Ts) => SourceKind::Ts,
        Some(Format::Npy | Format::Npz) => SourceKind::Arrays,
        None => SourceKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ends_of_names_tell() {
        let kind = |source: &str| kind(source, &OpenOptions::default());
        assert_eq!(kind("known:adding-750"), SourceKind::Known("adding"));
        assert_eq!(kind("har-2"), SourceKind::Known("har-2"));
        assert_eq!(kind("a.TSV"), SourceKind::Table);
        assert_eq!(kind("a.npz"), SourceKind::Arrays);
        assert_eq!(kind("no-such-folder"), SourceKind::Other);
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("mine.txt");
        std::fs::write(&text, "a text").unwrap();
        assert_eq!(kind(text.to_str().unwrap()), SourceKind::RunningText);
        std::fs::create_dir(folder.path().join("dog")).unwrap();
        std::fs::write(folder.path().join("dog/a.wav"), "").unwrap();
        std::fs::remove_file(&text).unwrap();
        assert_eq!(kind(folder.path().to_str().unwrap()), SourceKind::Recordings);
    }
}
