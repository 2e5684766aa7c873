//! The folder of a comparison: its plan, and what its run folders say.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Plan, PlannedRun};
use ernn::checkpoint::{remove_leftovers, write_atomically, write_with_folder};
use ernn::folds;
use ernn::train::{Ending, PastRun};
use ernn::{Error, Result};

const PLAN_FILE: &str = "compare.toml";
/// Held while the table is written; a hidden name, because it is no result.
const LOCK_FILE: &str = ".compare.lock";

/// An open folder whose plan is the one asked for.
pub(super) struct Folder {
    pub path: PathBuf,
}

impl Folder {
    /// Makes the folder with its plan, or opens it if its plan is the same. Any other content is refused.
    pub fn open(path: &Path, plan: &Plan) -> Result<Self> {
        fs::create_dir_all(path).map_err(io_error(path, "create"))?;
        let asked = Table::try_from(plan).expect("plans are plain structs");
        // Looked at before the plan: a process that starts beside this one writes the plan before anything else.
        let holds_something = holds_something(path)?;
        let file = path.join(PLAN_FILE);
        match fs::read_to_string(&file) {
            Ok(text) => refuse_other_plan(path, &file, &text, asked)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !holds_something => {
                let text = toml::to_string(&asked).expect("plans are plain structs");
                write_atomically(&file, text.as_bytes())?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refusal(path, "which is not empty and holds no comparison"));
            }
            Err(error) => return Err(io_error(&file, "read")(error)),
        }
        remove_leftovers(path);
        Ok(Folder {
            path: path.to_path_buf(),
        })
    }

    pub fn run_path(&self, plan: &Plan, run: PlannedRun) -> PathBuf {
        self.path.join(plan.run_name(run))
    }

    /// Where a model of a run lies.
    pub fn model_path(&self, plan: &Plan, run: PlannedRun) -> PathBuf {
        let path = self.run_path(plan, run);
        match plan.folds {
            Some(_) => folds::first_fold(&path),
            None => path,
        }
    }

    /// A run that needs nothing more: it came to its end, or diverged and would again.
    pub fn ended(&self, plan: &Plan, run: PlannedRun) -> Result<Option<PastRun>> {
        let path = self.run_path(plan, run);
        let Some(past) = PastRun::read(&path)? else {
            return Ok(None);
        };
        if past.settings.portable().asked() != plan.settings(run).asked() {
            return Err(other_settings(&path));
        }
        Ok((past.ending != Ending::Interrupted).then_some(past))
    }

    /// Lets one process at a time collect and write, so that the last one to end writes all there is.
    pub fn lock(&self) -> Result<File> {
        let path = self.path.join(LOCK_FILE);
        let file = File::create(&path).map_err(io_error(&path, "create"))?;
        // File systems without locks lose the guard, not the table.
        let _ = file.lock();
        Ok(file)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        write_with_folder(&self.path.join(name), text.as_bytes())
    }
}

/// Hidden names do not count: another process may just be writing the plan.
fn holds_something(path: &Path) -> Result<bool> {
    for entry in fs::read_dir(path).map_err(io_error(path, "read"))? {
        let name = entry.map_err(io_error(path, "read"))?.file_name();
        if !name.to_string_lossy().starts_with('.') {
            return Ok(true);
        }
    }
    Ok(false)
}

fn refuse_other_plan(path: &Path, file: &Path, text: &str, asked: Table) -> Result<()> {
    let found: Table = text.parse().map_err(|error: toml::de::Error| Error::Format {
        path: file.to_path_buf(),
        place: String::new(),
        found: error.message().to_string(),
        expected: "the plan of a comparison in TOML".to_string(),
    })?;
    match first_difference("", Some(&Value::Table(found)), Some(&Value::Table(asked))) {
        None => Ok(()),
        Some(difference) => Err(refusal(path, &format!("a comparison with {difference}"))),
    }
}

/// Someone else's run, or one that was changed by hand.
pub(super) fn other_settings(path: &Path) -> Error {
    refusal(path, "whose run has other settings than the comparison")
}

fn refusal(path: &Path, what: &str) -> Error {
    Error::Setting {
        name: "--out".to_string(),
        found: format!("{}, {what}", path.display()),
        expected: "a new or empty folder, or a comparison with the settings asked for".to_string(),
    }
}

/// The first place where two plans differ, as `rows[0].settings.training.epochs = 2 (asked for: 3)`.
fn first_difference(place: &str, found: Option<&Value>, asked: Option<&Value>) -> Option<String> {
    match (found, asked) {
        (Some(Value::Table(found)), Some(Value::Table(asked))) => {
            let dot = if place.is_empty() { "" } else { "." };
            let mut keys = found.keys().chain(asked.keys());
            keys.find_map(|key| first_difference(&format!("{place}{dot}{key}"), found.get(key), asked.get(key)))
        }
        (Some(Value::Array(found)), Some(Value::Array(asked))) if found.len() == asked.len() => {
            let mut pairs = found.iter().zip(asked).enumerate();
            pairs.find_map(|(index, (found, asked))| {
                first_difference(&format!("{place}[{index}]"), Some(found), Some(asked))
            })
        }
        (found, asked) if found == asked => None,
        (found, asked) => Some(format!("{place} = {} (asked for: {})", short(found), short(asked))),
    }
}

/// A value in a few letters.
fn short(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_string(),
        Some(Value::Array(values)) if values.iter().any(Value::is_table) => {
            let name = |value: &Value| value.get("name").and_then(Value::as_str).map(String::from);
            let names: Vec<String> = values.iter().filter_map(name).collect();
            if names.is_empty() {
                values.len().to_string()
            } else {
                names.join(", ")
            }
        }
        Some(value) => value.to_string().replace('\n', " "),
    }
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { path, action, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_difference() {
        let table = |text: &str| Value::Table(text.parse().unwrap());
        let difference = |found: &str, asked: &str| first_difference("", Some(&table(found)), Some(&table(asked)));
        assert_eq!(difference("a = 1\n[b]\nc = [1, 2]", "a = 1\n[b]\nc = [1, 2]"), None);
        let found = difference("[[b]]\nc = 1\nd = 2", "[[b]]\nc = 1\nd = 3");
        assert_eq!(found.unwrap(), "b[0].d = 2 (asked for: 3)");
        let found = difference("[[rows]]\nname = 'x'", "[[rows]]\nname = 'x'\n[[rows]]\nname = 'y'");
        assert_eq!(found.unwrap(), "rows = x (asked for: x, y)");
        assert_eq!(difference("a = 1", "").unwrap(), "a = 1 (asked for: nothing)");
        assert_eq!(difference("", "a = 1").unwrap(), "a = nothing (asked for: 1)");
    }
}
