//! One run from its settings to its report.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::close::Close;
use super::epochs::{LoopEnd, Pass};
use super::from;
use super::length::{self, Length};
use super::parts::{self, Parts};
use super::remarks::Remarks;
use super::{
    Ending, Observer, Report, RunConfig, RunFolder, Start, available_threads, memory, restart, resumed, teacher,
};
use crate::cell::CellConfig;
use crate::checkpoint::{EpochRecord, Phase, RunState, SavedModel};
use crate::data::{self, Dataset, Task, Values, View};
use crate::evaluate::FoldsReport;
use crate::model::ModelConfig;
use crate::names;
use crate::{Error, Isa, Result};

/// Where a run leaves its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Out {
    /// Nowhere: the model is only returned.
    #[default]
    Nowhere,
    /// In `PARENT/DATASET-CELL-N`, N the next free number.
    Numbered(PathBuf),
    /// In this folder, new or empty.
    At(PathBuf),
}

impl Out {
    /// A new folder for a run; none where it leaves no files.
    pub fn open(&self, dataset: &str, config: &RunConfig) -> Result<Option<RunFolder>> {
        match self {
            Out::Nowhere => Ok(None),
            Out::At(path) => RunFolder::create(path).map(Some),
            Out::Numbered(parent) => {
                let name = format!("{}-{}", file_stem(dataset), config.cell());
                RunFolder::create_numbered(parent, &name).map(Some)
            }
        }
    }
}

/// What does not change the result of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the files go.
    pub out: Out,
    /// Threads that compute.
    pub threads: usize,
    /// Whether the test part is read at the end; if not, the report is about the validation part.
    pub test: bool,
    /// Set it to true to stop after the batch under way.
    pub stop: Arc<AtomicBool>,
    /// What training by folds has found before, for the report.
    pub folds: Option<FoldsReport>,
    /// Whether the epochs are written for TensorBoard, too.
    pub tensorboard: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            out: Out::Nowhere,
            threads: available_threads(),
            test: true,
            stop: Arc::default(),
            folds: None,
            tensorboard: false,
        }
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best model.
    pub model: SavedModel,
    /// How good it is, and how it came about.
    pub report: Report,
}

/// Trains from the beginning.
pub fn train(dataset: &Dataset, config: &RunConfig, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
    let dataset = from::in_order(dataset, config)?;
    let run = Run::new(&dataset, config, options)?;
    let state = run.first_state(Phase::Select);
    in_pool(options.threads, || run.go(None, state, observer))
}

/// Refuses what a run would be refused for before its first batch, and trains nothing.
///
/// # Errors
/// As [`train`].
pub fn check(dataset: &Dataset, config: &RunConfig) -> Result<()> {
    let dataset = from::in_order(dataset, config)?;
    let options = Options::default();
    let run = Run::new(&dataset, config, &options)?;
    let state = run.first_state(Phase::Select);
    let parts = Parts::prepare(&dataset, &run.config, state.phase)?;
    let length = run.length(&parts, &state)?;
    run.pass(&parts, state, length).map(drop)
}

/// Goes on with a run from its last checkpoint, or from the beginning where the folder has none; the result is the same bits as
/// if it had never stopped. `config` is the run's own, perhaps with more epochs.
///
/// # Errors
/// If a setting is another one than the checkpoint was trained with, but for the number of epochs, `patience`, and where the data lies: a
/// new split, e.g., would validate with sequences that were trained on. If the data is not the same.
pub fn resume(
    dataset: &Dataset,
    config: &RunConfig,
    folder: RunFolder,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let saved = folder.has_checkpoint().then(|| folder.read_checkpoint()).transpose()?;
    let is_own = |state: &RunState| state.fingerprint == parts::fingerprint(dataset);
    // The model that the run began with may be gone, and its order is often that of the data.
    let dataset = match saved.as_ref().is_some_and(is_own) {
        true => Cow::Borrowed(dataset),
        false => from::in_order(dataset, config)?,
    };
    let config = match &saved {
        Some(state) => resumed::settings(&state.settings, config)?,
        None => config.clone(),
    };
    let run = Run::new(&dataset, &config, options)?;
    let mut state = saved.unwrap_or_else(|| run.first_state(Phase::Select));
    resumed::check(&state.settings, &run.config)?;
    if state.fingerprint != run.fingerprint {
        let problem = "found other sequences or labels than when the run started, expected the same data";
        return Err(Error::data(&dataset.name, problem));
    }
    state.settings = run.config.to_portable_toml();
    in_pool(options.threads, || run.go(Some(folder), state, observer))
}

/// Kernels take their threads from the current pool.
fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| {
        let expected = "a number of threads that this machine can start";
        Error::setting("--threads", format!("{threads} ({error})"), expected)
    })?
    .install(work)
}

/// A run's fixed side.
pub(super) struct Run<'a> {
    pub dataset: &'a Dataset,
    pub config: RunConfig,
    pub options: &'a Options,
    pub model: ModelConfig,
    pub fingerprint: String,
}

impl<'a> Run<'a> {
    fn new(dataset: &'a Dataset, config: &'a RunConfig, options: &'a Options) -> Result<Self> {
        config.check()?;
        config.check_for(dataset)?;
        Isa::choice().map_err(Error::instruction_set)?;
        let config = config.resolved(dataset);
        config.model.transforms.check(&dataset.feature_names)?;
        Ok(Run {
            dataset,
            model: config.model_for(dataset),
            config,
            options,
            fingerprint: parts::fingerprint(dataset),
        })
    }

    /// The state before the first batch of a pass; no parameters stand for the initial ones.
    fn first_state(&self, phase: Phase) -> RunState {
        RunState {
            fingerprint: self.fingerprint.clone(),
            settings: self.config.to_portable_toml(),
            phase,
            ..RunState::default()
        }
    }

    fn go(&self, folder: Option<RunFolder>, mut state: RunState, observer: &mut dyn Observer) -> Result<Outcome> {
        let parts = Parts::prepare(self.dataset, &self.config, state.phase)?;
        teacher::keep(parts.taught.as_ref(), &mut state)?;
        let length = self.length(&parts, &state)?;
        let mut pass = self.pass(&parts, state, length)?;
        let mut folder = match folder {
            None => self.options.out.open(&self.dataset.name, &self.config)?,
            resumed => resumed,
        };
        if let Some(folder) = &mut folder {
            folder.write_config(&self.config)?;
            folder.write_events(self.options.tensorboard, self.model.task)?;
            folder.restart_metrics(&pass.state().history)?;
            folder.write_checkpoint(pass.state())?;
        }
        self.announce(&parts, &mut pass, length.epochs, folder.as_ref(), observer);
        let mut watched =
            Remarks::new(observer, &self.config.training, &self.model, &parts.fit).taught(parts.taught.as_ref());
        let end = pass.run(folder.as_mut(), &self.options.stop, &mut watched);
        let (state, model) = pass.into_parts();
        if let Some((gentler, what)) = end
            .as_ref()
            .err()
            .and_then(|error| restart::gentler(&self.config, &state, error))
        {
            observer.warning(&what);
            return self.begin_anew(gentler, folder, observer);
        }

        let retrain = self.config.training.retrain && state.phase == Phase::Select;
        let ending = match end {
            Ok(LoopEnd::Finished | LoopEnd::EarlyStop) if retrain => {
                return self.go_on_with_everything(folder, state, observer);
            }
            Ok(LoopEnd::Finished) => Ending::Finished,
            Ok(LoopEnd::EarlyStop) => Ending::EarlyStopped,
            Ok(LoopEnd::Interrupted) => Ending::Interrupted,
            Err(_) => Ending::Diverged,
        };
        let close = Close {
            run: self,
            parts: &parts,
            state: &state,
            ending,
            error: end.as_ref().err(),
            folder: folder.as_ref(),
        };
        let outcome = close.write(model, observer)?;
        end.map(|_| outcome)
    }

    /// The second pass: the same settings, as many epochs as the first ran, on training and validation part together. It does not stop where
    /// the first pass had its best epoch: a validation part of few groups finds that epoch mostly by chance.
    fn go_on_with_everything(
        &self,
        folder: Option<RunFolder>,
        selected: RunState,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let state = RunState {
            best: selected.best,
            history: selected.history,
            ..self.first_state(Phase::Retrain)
        };
        self.go(folder, state, observer)
    }

    /// The same run from its first batch with smaller steps.
    fn begin_anew(&self, config: RunConfig, folder: Option<RunFolder>, observer: &mut dyn Observer) -> Result<Outcome> {
        let run = Run {
            dataset: self.dataset,
            model: config.model_for(self.dataset),
            config,
            options: self.options,
            fingerprint: self.fingerprint.clone(),
        };
        run.go(folder, run.first_state(Phase::Select), observer)
    }

    fn length(&self, parts: &Parts, state: &RunState) -> Result<Length> {
        let training = &self.config.training;
        let planned = |fit: &View| Length::planned(training, length::batches(training, self.model.task, fit));
        if state.phase == Phase::Select {
            return Ok(planned(&parts.fit));
        }
        let (fit, _) = parts::split(self.dataset, training.validation, training.seed)?;
        Ok(planned(&fit).cut_to(last_selecting_epoch(&state.history)))
    }

    fn pass<'p>(&'p self, parts: &'p Parts<'p>, state: RunState, length: Length) -> Result<Pass<'p>> {
        memory::check(&self.config, &self.model, parts)?;
        Pass::start(
            &self.config,
            self.model.clone(),
            &self.dataset.classes,
            parts,
            state,
            length,
        )
    }

    /// Sequences, or the tokens of a text.
    fn examples(&self, part: &View) -> usize {
        match self.model.task {
            Task::NextToken => part.steps(),
            _ => part.len(),
        }
    }

    fn announce(
        &self,
        parts: &Parts,
        pass: &mut Pass,
        epochs: usize,
        folder: Option<&RunFolder>,
        observer: &mut dyn Observer,
    ) {
        let state = pass.state();
        observer.started(&Start {
            cell: self.config.cell(),
            parameters: state.parameters.len(),
            task: self.model.task,
            train_examples: self.examples(&parts.fit),
            validation_examples: parts.validation.as_ref().map_or(0, |part| self.examples(part)),
            epochs_done: state.epoch,
            epochs,
            threads: self.options.threads,
            out: folder.map(RunFolder::path),
        });
        let mut notes: Vec<_> = self.config.model.layers.iter().flat_map(CellConfig::notes).collect();
        notes.dedup();
        notes.into_iter().for_each(|note| observer.warning(note));
        if let Some(note) = self.constant_channels(&parts.normalization.scale) {
            observer.warning(&note);
        }
        if let Some(note) = self.one_group_validates(parts) {
            observer.warning(&note);
        }
    }

    /// What a validation part of a single group, taken out of the training part, can say.
    fn one_group_validates(&self, parts: &Parts) -> Option<String> {
        let validation = parts.validation.as_ref().filter(|_| {
            self.dataset.validation.is_none() && self.dataset.test.is_none() && self.options.folds.is_none()
        })?;
        let &[group] = validation.groups().as_slice() else {
            return None;
        };
        Some(format!(
            "one group alone validates, {} ({}): the best epoch is chosen by it and the validation numbers are of it, so they say \
             little about other groups; --folds groups holds out each group in turn",
            names::line(self.dataset.group_name(group)),
            names::counted(validation.len(), "sequence")
        ))
    }

    /// Channels of numbers that never change. A picture may well have such pixels.
    fn constant_channels(&self, scale: &[f32]) -> Option<String> {
        let names = self.dataset.feature_names.iter().zip(scale);
        let constant: Vec<String> = names
            .filter(|&(_, &scale)| scale == 0.0)
            .map(|(name, _)| name.clone())
            .collect();
        let numbers = matches!(self.dataset.train.values, Values::Numbers(_));
        (numbers && !constant.is_empty()).then(|| {
            format!(
                "channels that never change in what is trained on, as numbers of 32 bits (about 7 digits), say nothing: {}",
                names::joined(&constant)
            )
        })
    }
}

/// Whole epochs of the first pass.
pub(super) fn last_selecting_epoch(history: &[EpochRecord]) -> usize {
    let mut selecting = history.iter().rev().filter(|record| record.phase == Phase::Select);
    selecting.next().map_or(0, |record| record.epoch)
}

/// A name for a folder: the last component of a path, without its extension and that of a packing.
pub fn file_stem(name: &str) -> String {
    let stem = data::stem(std::path::Path::new(name));
    if stem.is_empty() { "run".to_string() } else { stem }
}
