//! The folder that a run leaves behind.
//!
//! ```text
//! config.toml              complete settings; `--config` with it repeats the run
//! metrics.jsonl            one line an epoch
//! checkpoint.safetensors   for `--resume`
//! model.safetensors        the best epoch, with all that is needed to use it
//! curves.svg               losses and accuracies over the epochs
//! result.json              the final report
//! model-card.md            what the model is, for a person
//! events.out.tfevents.ernn the epochs once more, for TensorBoard, where it was asked for
//! ```

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::events::{EVENTS_FILE, Events};
use super::{Card, Ending, PastRun, Report, RunConfig, curves};
use crate::checkpoint::{
    CHECKPOINT_FILE, EpochRecord, MODEL_FILE, RunState, SavedModel, is_temporary, remove_leftovers, write_atomically,
};
use crate::data::Task;
use crate::{Error, Result};

const CONFIG_FILE: &str = "config.toml";
pub(super) const METRICS_FILE: &str = "metrics.jsonl";
const CURVES_FILE: &str = "curves.svg";
pub(super) const RESULT_FILE: &str = "result.json";
const CARD_FILE: &str = "model-card.md";

/// What a run leaves besides its metrics.
const OF_A_START: [&str; 7] = [
    CONFIG_FILE,
    CHECKPOINT_FILE,
    MODEL_FILE,
    CURVES_FILE,
    RESULT_FILE,
    CARD_FILE,
    EVENTS_FILE,
];

/// What training by folds leaves beside them.
const FOLDS_FOLDER: &str = "folds";
const OF_FOLDS: [&str; 3] = ["folds.toml", "folds.json", "predictions.csv"];

/// Whether a folder holds nothing but these files, temporary ones, empty or no metrics, and folders that are allowed.
fn holds_alone(path: &Path, files: &[&str], folder: impl Fn(&Path) -> bool) -> bool {
    let Ok(mut entries) = fs::read_dir(path) else {
        return false;
    };
    entries.all(|entry| {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        let is_file = |name: &OsString| {
            name == METRICS_FILE || files.iter().any(|file| name == *file) || name.to_str().is_some_and(is_temporary)
        };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder(&entry.path()),
            Ok(_) => is_file(&name),
            Err(_) => false,
        }
    })
}

/// What came of removing something that need not be there.
fn removed(path: &Path, outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, "remove")(error)),
        _ => Ok(()),
    }
}

/// An open run folder. Holds a lock on `metrics.jsonl`, so that no second process trains in it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    metrics: File,
    events: Option<Events>,
}

impl RunFolder {
    /// Makes a folder of this name. An existing folder that holds anything is refused, for a run never overwrites another, unless all it holds
    /// is a start that failed: settings of a run that came to no checkpoint, or a run that diverged before its first epoch was over.
    pub fn create(path: &Path) -> Result<Self> {
        Self::check_free(path)?;
        fs::create_dir_all(path).map_err(Error::io(path, "create"))?;
        let folder = Self::with_lock(path)?;
        if Self::failed_at_once(path) || Self::never_began(path) {
            // What the new run does not write must not stay.
            for file in OF_A_START {
                removed(&path.join(file), fs::remove_file(path.join(file)))?;
            }
            removed(&path.join(FOLDS_FOLDER), fs::remove_dir_all(path.join(FOLDS_FOLDER)))?;
        }
        Ok(folder)
    }

    /// Refuses a path where a run would overwrite something.
    pub fn check_free(path: &Path) -> Result<()> {
        let refuse = |what: &str| {
            let found = format!("{}, which is {what}", path.display());
            let expected = format!(
                "a new or empty folder: a run never overwrites another (`ernn train --resume {}` goes on with a run; remove the folder \
                 to begin anew)",
                path.display()
            );
            Err(Error::setting("--out", found, expected))
        };
        match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
            Ok(false) if !Self::never_began(path) && !Self::failed_at_once(path) => refuse("not empty"),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => refuse("a file"),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, "read")(error)),
            _ => Ok(()),
        }
    }

    /// Whether a run has left nothing here but its settings and empty metrics: it stopped, or found the disk full, before its first
    /// checkpoint.
    fn never_began(path: &Path) -> bool {
        let Ok(entries) = fs::read_dir(path) else {
            return false;
        };
        let metrics = fs::metadata(path.join(METRICS_FILE));
        metrics.is_ok_and(|file| file.is_file() && file.len() == 0)
            && entries.flatten().map(|entry| entry.file_name()).all(|name| {
                let own = [CONFIG_FILE, METRICS_FILE, EVENTS_FILE]
                    .iter()
                    .any(|file| name == *file);
                own || name.to_str().is_some_and(is_temporary)
            })
    }

    /// Whether all that lies here is a run that diverged before its first epoch was over, in all its folds: its model is the initial one.
    fn failed_at_once(path: &Path) -> bool {
        let past = PastRun::read(path).ok().flatten();
        let failed = past.is_some_and(|run| run.ending == Ending::Diverged && run.epochs() == 0);
        let folds = path.join(FOLDS_FOLDER);
        failed
            && holds_alone(path, &OF_A_START, |folder| {
                folder == folds && holds_alone(&folds, &OF_FOLDS, Self::failed_at_once)
            })
    }

    /// Makes `PARENT/NAME-N` with the smallest N from 1 that is free.
    pub fn create_numbered(parent: &Path, name: &str) -> Result<Self> {
        fs::create_dir_all(parent).map_err(Error::io(parent, "create"))?;
        let mut number = 1;
        loop {
            let path = parent.join(format!("{name}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => return Self::with_lock(&path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::io(&path, "create")(error)),
            }
        }
    }

    /// Opens the folder of a run that is to go on.
    pub fn open(path: &Path) -> Result<Self> {
        for (file, meaning) in [(CONFIG_FILE, "settings"), (CHECKPOINT_FILE, "checkpoint")] {
            if !path.join(file).is_file() {
                let found = format!("no {file} ({meaning} of the run)");
                let expected = if Self::never_began(path) {
                    format!(
                        "a run that came to its first checkpoint; `ernn train` may begin anew with --out {}",
                        path.display()
                    )
                } else {
                    "the folder of a run that `ernn train` started".to_string()
                };
                return Err(Error::format(path, "", found, expected));
            }
        }
        Self::with_lock(path)
    }

    /// As [`open`](Self::open), of a run that may have come to no checkpoint: one by folds has those of its folds before.
    pub fn open_without_checkpoint(path: &Path) -> Result<Self> {
        Self::with_lock(path)
    }

    /// Opens a folder in which a run goes on or, where it has no checkpoint yet, begins; makes it if it does not exist. None:
    /// another process is training in it.
    pub fn enter(path: &Path) -> Result<Option<Self>> {
        fs::create_dir_all(path).map_err(Error::io(path, "create"))?;
        Self::try_lock(path)
    }

    fn with_lock(path: &Path) -> Result<Self> {
        Self::try_lock(path)?.ok_or_else(|| {
            let found = format!("{}, in which another process is training", path.display());
            Error::setting("--resume", found, "a run that has stopped")
        })
    }

    /// None: another process has the lock.
    fn try_lock(path: &Path) -> Result<Option<Self>> {
        let file = path.join(METRICS_FILE);
        let metrics = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&file)
            .map_err(Error::io(&file, "create"))?;
        let locked = metrics.try_lock();
        if locked.is_ok() {
            remove_leftovers(path);
        }
        match locked {
            Err(TryLockError::WouldBlock) => Ok(None),
            // File systems without locks lose the guard, not the run.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Some(RunFolder {
                path: path.to_path_buf(),
                metrics,
                events: None,
            })),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings of the run.
    pub fn read_config(&self) -> Result<RunConfig> {
        RunConfig::load(&self.path.join(CONFIG_FILE), None)
    }

    /// Whether the run has a state to go on from.
    pub fn has_checkpoint(&self) -> bool {
        self.path.join(CHECKPOINT_FILE).is_file()
    }

    /// The state of the run.
    pub fn read_checkpoint(&self) -> Result<RunState> {
        RunState::load(&self.path.join(CHECKPOINT_FILE))
    }

    pub(crate) fn write_config(&self, config: &RunConfig) -> Result<()> {
        write_atomically(&self.path.join(CONFIG_FILE), config.to_toml().as_bytes())
    }

    pub(super) fn write_checkpoint(&self, state: &RunState) -> Result<()> {
        state.save(&self.path.join(CHECKPOINT_FILE))
    }

    pub(super) fn write_model(&self, model: &SavedModel) -> Result<()> {
        model.save(&self.path.join(MODEL_FILE))
    }

    pub(crate) fn write_report(&self, report: &Report, history: &[EpochRecord]) -> Result<()> {
        let mut json = serde_json::to_string_pretty(report).expect("reports are plain structs");
        json.push('\n');
        write_atomically(&self.path.join(RESULT_FILE), json.as_bytes())?;
        write_atomically(
            &self.path.join(CURVES_FILE),
            curves::draw(report.settings.cell(), history).as_bytes(),
        )
    }

    pub(crate) fn write_card(&self, card: &Card) -> Result<()> {
        write_atomically(&self.path.join(CARD_FILE), card.text().as_bytes())
    }

    /// Writes the epochs for TensorBoard as well, from the next [`restart_metrics`](Self::restart_metrics) on; a folder that has such a file
    /// goes on with it.
    pub(super) fn write_events(&mut self, wanted: bool, task: Task) -> Result<()> {
        if wanted || self.path.join(EVENTS_FILE).is_file() {
            self.events = Some(Events::open(&self.path, task)?);
        }
        Ok(())
    }

    /// Starts `metrics.jsonl` anew with these epochs: what a killed run wrote behind its last checkpoint goes.
    pub(super) fn restart_metrics(&mut self, history: &[EpochRecord]) -> Result<()> {
        let restart = |file: &mut File| -> io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            Ok(())
        };
        restart(&mut self.metrics).map_err(Error::io(&self.path.join(METRICS_FILE), "write"))?;
        history.iter().try_for_each(|record| self.append_line(record))?;
        self.events.as_mut().map_or(Ok(()), |events| events.restart(history))
    }

    /// Adds an epoch to `metrics.jsonl`, and to the events.
    pub(super) fn append_metrics(&mut self, record: &EpochRecord) -> Result<()> {
        self.append_line(record)?;
        self.events.as_mut().map_or(Ok(()), |events| events.append(record))
    }

    fn append_line(&mut self, record: &EpochRecord) -> Result<()> {
        let mut line = serde_json::to_string(record).expect("records are plain structs");
        line.push('\n');
        self.metrics
            .write_all(line.as_bytes())
            .map_err(Error::io(&self.path.join(METRICS_FILE), "write"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_takes_a_folder_that_holds_something() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        drop(RunFolder::create(&path).unwrap());
        fs::write(path.join(CHECKPOINT_FILE), "").unwrap();
        let error = RunFolder::create(&path).unwrap_err().to_string();
        assert!(
            error.contains("which is not empty") && error.contains("--resume"),
            "{error}"
        );
        let notes = parent.path().join("notes");
        fs::create_dir(&notes).unwrap();
        fs::write(notes.join(CONFIG_FILE), "mine").unwrap();
        assert!(RunFolder::create(&notes).is_err(), "settings that no run has written");
    }

    #[test]
    fn takes_a_folder_in_which_a_run_came_to_no_checkpoint() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a");
        let first = RunFolder::create(&path).unwrap();
        fs::write(path.join(CONFIG_FILE), "x").unwrap();
        let error = RunFolder::create(&path).unwrap_err().to_string();
        assert!(error.contains("another process is training"), "{error}");
        drop(first);
        let error = RunFolder::open(&path).unwrap_err().to_string();
        assert!(error.contains("may begin anew with --out"), "{error}");
        drop(RunFolder::create(&path).unwrap());
        fs::write(path.join(METRICS_FILE), "{}").unwrap();
        assert!(RunFolder::create(&path).is_err(), "epochs of a run");
    }

    #[test]
    fn counts_up_to_the_next_free_number() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("x-2")).unwrap();
        let names: Vec<PathBuf> = (0..3)
            .map(|_| {
                RunFolder::create_numbered(parent.path(), "x")
                    .unwrap()
                    .path()
                    .to_path_buf()
            })
            .collect();
        assert_eq!(names, ["x-1", "x-3", "x-4"].map(|name| parent.path().join(name)));
    }

    #[test]
    fn lets_no_second_run_in() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(&parent.path().join("x")).unwrap();
        assert!(
            RunFolder::open(folder.path())
                .unwrap_err()
                .to_string()
                .contains("no config.toml")
        );
        fs::write(folder.path().join(CONFIG_FILE), "").unwrap();
        fs::write(folder.path().join(CHECKPOINT_FILE), "").unwrap();
        let error = RunFolder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another process is training"), "{error}");
    }

    #[test]
    fn restarts_metrics_with_what_the_checkpoint_knows() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::create(&parent.path().join("x")).unwrap();
        let record = |epoch| EpochRecord {
            epoch,
            ..EpochRecord::default()
        };
        (1..=3).for_each(|epoch| folder.append_metrics(&record(epoch)).unwrap());
        folder.restart_metrics(&[record(1)]).unwrap();
        folder.append_metrics(&record(2)).unwrap();
        let text = fs::read_to_string(folder.path().join(METRICS_FILE)).unwrap();
        let epochs: Vec<EpochRecord> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(epochs, [record(1), record(2)]);
    }
}
