//! What `train` and `compare` share: settings from defaults, file and flags; threads; Ctrl-C.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::data::{self, Dataset, OpenOptions};
use ernn::train::{self, RunConfig};

use super::setting_flags::SettingFlags;
use crate::failure::{Failure, Result};
use crate::output::{say, timed};
use crate::reading::{self, ReadingFlags};

/// Everything that is given about a run.
pub struct Given<'a> {
    pub data: Option<&'a str>,
    pub config: Option<&'a Path>,
    pub reading: &'a ReadingFlags,
    pub settings: &'a SettingFlags,
    /// Whether the flags of cells are for all of them; a comparison asks each cell whether it has such a setting.
    pub cells: bool,
}

/// Data that was read, and whether a test part or folds judge the model in the end.
#[derive(Clone, Copy)]
pub struct Judged<'a> {
    pub dataset: &'a Dataset,
    pub judged: bool,
}

impl Given<'_> {
    /// Defaults of the data set, then the settings file, then flags. What data of one's own ask for is known once they are read; a
    /// settings file says all of it.
    pub fn settings(&self, dataset: Option<Judged>) -> Result<RunConfig> {
        let mut config = match (self.config, self.data, dataset) {
            (Some(path), source, _) => RunConfig::load(path, source)?,
            (None, Some(source), None) => RunConfig::defaults(source),
            (None, Some(source), Some(Judged { dataset, judged })) => {
                let before = self.settings(None)?;
                RunConfig::defaults_for(source, &open_options(&before), dataset, judged)
            }
            (None, None, _) => {
                return Err(Failure::Usage(
                    "no DATA: name a data set, a file or a folder".to_string(),
                ));
            }
        };
        if let Some(missing) = self.reading.missing {
            config.data.missing = missing;
        }
        config.data.preparation = self.reading.preparation.over(config.data.preparation);
        config.data.text = self.reading.text.over(&config.data.text);
        config.data.table = self.reading.table.over(&config.data.table);
        config.data.features = self.reading.features.or(config.data.features);
        config.data.group_pattern = self.reading.group_pattern.clone().or(config.data.group_pattern);
        config.data.data_dir = self.reading.data_dir.clone().or(config.data.data_dir);
        config.apply(self.settings.given(), self.cells)?;
        if config.training.patience > 0 && !self.settings.has("validation") && self.config.is_none() {
            // What is waited for has to be measured.
            config.training.validation = RunConfig::defaults(&config.data.source).training.validation;
        }
        Ok(config)
    }
}

impl Given<'_> {
    /// Opens the data of the settings.
    pub fn open(&self, config: &RunConfig) -> Result<Dataset> {
        let options = open_options(config);
        self.reading.refuse_unused(&config.data.source, &options)?;
        // What a settings file calls by a known name is the known set, whatever lies here.
        let source = match self.data {
            Some(source) => source.to_string(),
            None => data::as_known(&config.data.source),
        };
        timed("reading the data", || reading::open(&source, &options))
    }
}

/// How the data of these settings is read.
pub fn open_options(config: &RunConfig) -> OpenOptions {
    config.data.options()
}

/// All threads, or as many as asked for.
pub fn threads(asked: Option<usize>) -> Result<usize> {
    match asked {
        None => Ok(train::available_threads()),
        Some(threads @ 1..=1024) => Ok(threads),
        Some(threads) => Err(Failure::Usage(format!(
            "--threads: found {threads}, expected 1 to 1024"
        ))),
    }
}

/// The first signal asks for a stop and says what happens then, e.g. `stopping after this batch`; the second ends the process.
pub fn stop_on_signals(stop: &Arc<AtomicBool>, what: &'static str) {
    let stop = Arc::clone(stop);
    let handler = move || {
        if stop.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        say(&format!("{what} (once more: at once)"));
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        say(&format!("warning: Ctrl-C will not save the run: {error}"));
    }
}
