//! Where experiments stand: in the binary, or in a folder of the same shape, one `NAME.toml` for each.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Experiment, experiment};
use ernn::train::EMBEDDED;
use ernn::{Error, Result};

/// The files of some experiments.
#[derive(Clone, Debug)]
pub struct ExperimentFiles {
    /// What their paths start with, for messages.
    root: PathBuf,
    /// Names without `.toml` and texts, sorted.
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
        for entry in fs::read_dir(root).map_err(Error::io(root, "read"))? {
            let path = entry.map_err(Error::io(root, "read"))?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            // The shape of before, which would be passed over without a word.
            let old = path.join("experiment.toml");
            if old.is_file() {
                let expected = format!("one file for each experiment: {name}.toml, with a [[row]] for each row");
                return Err(Error::format(&old, "", "an experiment in a folder", expected));
            }
            if path.extension().is_some_and(|extension| extension == "toml") {
                files.push((name, fs::read_to_string(&path).map_err(Error::io(&path, "read"))?));
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
        let files = self.files.iter();
        let experiments = files.map(|(name, text)| experiment::read(&self.root, name, text));
        let mut experiments: Vec<Experiment> = experiments.collect::<Result<_>>()?;
        if experiments.is_empty() {
            let expected = "files NAME.toml, one for each experiment";
            return Err(Error::format(&self.root, "", "no experiment", expected));
        }
        experiments.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
        Ok(experiments)
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
        assert!(there.files.len() > 15, "{}", there.files.len());
    }

    #[test]
    fn an_experiment_in_a_folder_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("README.md"), "no experiment").unwrap();
        fs::create_dir(root.path().join("vowels")).unwrap();
        let read = || ExperimentFiles::in_folder(root.path()).and_then(|files| files.read());
        let error = read().unwrap_err().to_string();
        let expected = ": found no experiment, expected files NAME.toml, one for each experiment";
        assert!(error.ends_with(expected), "{error}");
        let old = root.path().join("vowels").join("experiment.toml");
        fs::write(&old, "rows = [\"ernn\"]").unwrap();
        let error = read().unwrap_err().to_string();
        let expected =
            ": found an experiment in a folder, expected one file for each experiment: vowels.toml, with a [[row]]";
        assert!(error.contains("experiment.toml") && error.contains(expected), "{error}");
    }
}
