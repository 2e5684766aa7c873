//! What the command says when something goes wrong, and with which code it ends.

use std::io;
use std::path::PathBuf;

use ernn::Error;

use crate::output;

/// The result of a subcommand.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a subcommand did not come to its end.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Library(Error),
    /// Training diverged; the folder keeps the last good epoch, where there was one.
    Diverged(Error, Option<PathBuf>),
    /// Arguments that contradict each other.
    Usage(String),
    /// stdout cannot be written.
    Output(io::Error),
    /// Some of what was asked for could not be done; the rest was.
    Partial(String),
    /// Ctrl-C; says how to go on.
    Interrupted(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Library(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Failure {
    /// 0: the reader of our output closed it, which is no failure of ours. 1: a file, the data or the training. 2: arguments
    /// or settings. 130: Ctrl-C.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Usage(_) | Failure::Library(Error::Setting { .. }) => 2,
            Failure::Interrupted(_) => 130,
            Failure::Library(_) | Failure::Diverged(..) | Failure::Partial(_) | Failure::Output(_) => 1,
        }
    }

    /// Says on stderr what happened and what to do about it.
    pub fn print(&self) {
        match self {
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Failure::Output(error) => output::complain(&format!("error: cannot write to stdout: {error}")),
            Failure::Usage(text) | Failure::Partial(text) => output::complain(&format!("error: {text}")),
            Failure::Library(error) | Failure::Diverged(error, _) => output::complain(&format!("error: {error}")),
            Failure::Interrupted(_) => output::complain("stopped; what was done is saved"),
        }
        if let Some(hint) = self.hint() {
            output::complain(&format!("hint: {hint}"));
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Failure::Usage(_) => Some("see --help".to_string()),
            Failure::Interrupted(how) => Some(format!("go on with {how}")),
            Failure::Diverged(_, Some(folder)) => Some(format!(
                "the checkpoint of a good epoch is kept in {}",
                folder.display()
            )),
            Failure::Library(Error::Io {
                path,
                source,
                action: "read",
            }) if source.kind() == io::ErrorKind::NotFound && path.extension().is_none_or(|end| end != "toml") => {
                Some("a data set is a known name (`ernn data list`), a file or a folder".to_string())
            }
            _ => None,
        }
    }
}
