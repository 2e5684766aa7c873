//! What can go wrong from outside: a file, an argument, the data. Panics are for broken internal invariants only.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use crate::names::{line, lines, path as shown_path};

/// The result of everything in this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error from outside; its text names the place, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused to read or write a file.
    #[error("{}: cannot {action}: {source}", shown_path(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "read", "write", "create".
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The content of a file is not what its format says.
    #[error("{}{}: found {}, expected {}", shown_path(.path), line(.place), line(.found), lines(.expected))]
    Format {
        /// The file.
        path: PathBuf,
        /// Where in it, e.g. `, line 3, column "x"`; may be empty.
        place: String,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// Values are missing and no policy says what to do about them.
    #[error(
        "{}{}: the first of {count} missing values; choose --missing interpolate, previous or zero to fill them",
        shown_path(.path),
        line(.place)
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// Where the first one is.
        place: String,
        /// How many there are.
        count: usize,
    },
    /// The data set is readable but cannot be used this way.
    #[error("{}: {}", line(.dataset), lines(.problem))]
    Data {
        /// Name or path of the data set.
        dataset: String,
        /// What is wrong, with what was found and what was expected.
        problem: String,
    },
    /// A file could not be downloaded.
    #[error("{} cannot be downloaded: {}", line(.file), lines(.problem))]
    Fetch {
        /// Its name.
        file: String,
        /// What each address answered.
        problem: String,
    },
    /// A setting is out of range or contradicts another.
    #[error("{}: found {}, expected {}", line(.name), line(.found), lines(.expected))]
    Setting {
        /// Its name, as in the configuration file.
        name: String,
        /// Its value.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// More memory is needed than there is.
    #[error(
        "memory: found a need of {}, expected {}; what helps: {smaller}",
        gigabytes(*needed),
        available.map_or("less: it cannot be reserved".to_string(), |bytes| format!("at most {}, which is what is available", gigabytes(bytes)))
    )]
    Memory {
        /// Bytes that are needed.
        needed: u128,
        /// Bytes that are there, where it is known.
        available: Option<u128>,
        /// Settings that need less.
        smaller: String,
    },
    /// Loss or gradient became infinite or NaN.
    #[error(
        "epoch {epoch}, batch {batch}: {what} is not finite ({value}); try {}",
        remedy(*epoch, *batch)
    )]
    NotFinite {
        /// Epoch, from 1.
        epoch: usize,
        /// Batch in the epoch, from 1.
        batch: usize,
        /// The loss, or the name of the parameter whose gradient it is.
        what: String,
        /// Its value.
        value: f64,
    },
}

impl Error {
    /// What `map_err` makes of the operating system's refusal to read, write or create a file or folder.
    pub fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Error::Io {
            path: path.to_path_buf(),
            action,
            source,
        }
    }

    /// The content of a file is not what its format says; `place` begins with a comma, or is empty.
    pub fn format(path: &Path, place: impl Display, found: impl Display, expected: impl Display) -> Self {
        Error::Format {
            path: path.to_path_buf(),
            place: place.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// A data set, by its name or path, cannot be used this way.
    pub fn data(dataset: impl Display, problem: impl Display) -> Self {
        Error::Data {
            dataset: dataset.to_string(),
            problem: problem.to_string(),
        }
    }

    /// A setting is out of range or contradicts another.
    pub fn setting(name: impl Display, found: impl Display, expected: impl Display) -> Self {
        Error::Setting {
            name: name.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// The environment asks for an instruction set that this machine lacks.
    pub fn instruction_set(error: ernn_kernels::IsaError) -> Self {
        let names: Vec<&str> = error.available.iter().map(|isa| isa.name()).collect();
        let expected = format!("an instruction set of this machine: {}", names.join(", "));
        Error::setting("ERNN_ISA", error.found, expected)
    }
}

/// `1.5 GB`, 1 GB being 2^30 bytes.
fn gigabytes(bytes: u128) -> String {
    const GIGABYTE: f64 = (1 << 30) as f64;
    match bytes as f64 / GIGABYTE {
        small if small < 0.1 => format!("{:.1} MB", 1024.0 * small),
        large => format!("{large:.1} GB"),
    }
}

/// What helps when a number is not finite. At the first batch no step has been taken, so it is not the steps.
fn remedy(epoch: usize, batch: usize) -> &'static str {
    match (epoch, batch) {
        (1, 1) => {
            "what keeps the states small over so many steps, for no step of the training was taken yet: --activation tanh, \
             --steps per-iteration, a smaller --eta, or a gated --cell such as gru"
        }
        _ => "a smaller --learning-rate or --clip-norm",
    }
}
