//! Whether the data of an experiment is there, without reading it.

use std::path::{Path, PathBuf};

use ernn::data::{self, OpenOptions};

/// Where the data of an experiment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// In the program, or made by it.
    BuiltIn,
    /// Here.
    Found(PathBuf),
    /// Known, but not where data is looked for.
    NotFound,
    /// No data set of this name is known, and no file either.
    Unknown,
}

impl Availability {
    /// Whether runs can begin.
    pub fn is_there(&self) -> bool {
        matches!(self, Availability::BuiltIn | Availability::Found(_))
    }
}

/// Looks for the data of an experiment.
pub fn availability(source: &str, options: &OpenOptions) -> Availability {
    let known = data::known().iter().find(|known| known.name == source);
    match (known, data::found(source, options)) {
        (Some(known), _) if known.built_in => Availability::BuiltIn,
        (_, Some(path)) => Availability::Found(path),
        (Some(_), None) => Availability::NotFound,
        (None, None) if Path::new(source).exists() => Availability::Found(PathBuf::from(source)),
        (None, None) => Availability::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_four_cases_apart() {
        let empty = tempfile::tempdir().unwrap();
        let options = OpenOptions {
            data_dir: Some(empty.path().to_path_buf()),
            ..OpenOptions::default()
        };
        assert_eq!(availability("digits", &options), Availability::BuiltIn);
        assert_eq!(availability("har-2", &options), Availability::NotFound);
        assert_eq!(availability("no-such-data", &options), Availability::Unknown);
        let path = empty.path().to_str().unwrap();
        assert!(availability(path, &options).is_there());
    }
}
