//! Where experiments stand: in the binary, or in a folder of the same shape.
//!
//! ```text
//! NAME/experiment.toml   what the rows share
//! NAME/ROW.toml          a row
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Experiment, experiment};
use ernn::train::EMBEDDED;
use ernn::{Error, Result};

/// What the rows of an experiment share.
pub(super) const SHARED_FILE: &str = "experiment.toml";

/// The files of some experiments.
#[derive(Clone, Debug)]
pub struct ExperimentFiles {
    /// What their paths start with, for messages.
    root: PathBuf,
    /// `NAME/FILE` and text, sorted by name.
    files: Vec<(String, String)>,
}

impl ExperimentFiles {
    /// Those that came with the program.
    pub fn embedded() -> Self {
        let files = EMBEDDED.iter();
        ExperimentFiles {
            root: PathBuf::from("experiments"),
            files: files.map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        }
    }

    /// Those in a folder.
    pub fn in_folder(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for folder in entries(root)?.into_iter().filter(|path| path.is_dir()) {
            for path in entries(&folder)? {
                if path.extension().is_some_and(|extension| extension == "toml") {
                    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
                    files.push((name_below(root, &path), text));
                }
            }
        }
        files.sort();
        Ok(ExperimentFiles {
            root: root.to_path_buf(),
            files,
        })
    }

    /// All experiments, in the order of their places.
    ///
    /// # Errors
    /// If there is none, or a file is not what it should be: named, with line, what was found and what was expected.
    pub fn read(&self) -> Result<Vec<Experiment>> {
        let shared = self.files.iter().filter_map(|(name, text)| {
            let folder = name.strip_suffix(SHARED_FILE)?.strip_suffix('/')?;
            Some((folder, text))
        });
        let experiments =
            shared.map(|(folder, text)| experiment::read(&self.root, folder, text, &self.rows_of(folder)));
        let mut experiments: Vec<Experiment> = experiments.collect::<Result<_>>()?;
        if experiments.is_empty() {
            return Err(Error::Format {
                path: self.root.clone(),
                place: String::new(),
                found: "no experiment".to_string(),
                expected: format!("folders with {SHARED_FILE} and a file for each row"),
            });
        }
        experiments.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
        Ok(experiments)
    }

    /// Names without `.toml`, and texts.
    fn rows_of(&self, folder: &str) -> Vec<(&str, &str)> {
        let row = |(name, text)| {
            let (name, text): (&String, &String) = (name, text);
            let file = name.strip_prefix(folder)?.strip_prefix('/')?;
            (file != SHARED_FILE).then_some((file.strip_suffix(".toml")?, text.as_str()))
        };
        self.files.iter().filter_map(|(name, text)| row((name, text))).collect()
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(io_error(folder))?;
    let paths = entries.map(|entry| Ok(entry.map_err(io_error(folder))?.path()));
    paths.collect()
}

/// `NAME/FILE`, whatever separates folders here.
fn name_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io {
        path,
        action: "read",
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_holds_all_files_of_the_repository() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let there = ExperimentFiles::in_folder(&folder).unwrap();
        assert_eq!(there.files, ExperimentFiles::embedded().files);
        assert!(there.files.len() > 50, "{}", there.files.len());
    }
}
