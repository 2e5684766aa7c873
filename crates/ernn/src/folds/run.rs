//! From settings to the report of all folds, and the final run.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::one::{self, Done, in_turns};
use super::{FoldsStart, Watcher, cut, folder, predictions};
use crate::Result;
use crate::data::{self, Dataset, Folds, Scheme, Task};
use crate::evaluate::{self, FoldReport, FoldsReport};
use crate::names::counted;
use crate::train::{self, Card, Ending, Machine, Observer, Options, Out, Report, RunConfig, RunFolder};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How the training part is cut.
    pub scheme: Scheme,
    /// Whether a model is trained on everything in the end.
    pub final_model: bool,
}

/// How a training by folds ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// With this report: of the final run, or, where none was asked for, of the folds alone.
    Done(Box<Report>),
    /// Someone asked it to stop; [`resume`] goes on in this folder.
    Interrupted(Option<PathBuf>),
}

/// Trains by folds from the beginning.
///
/// # Errors
/// If the data cannot be cut so, or as [`train::train`]. A fold that diverges is no error; the report says so.
pub fn train(
    dataset: &Dataset,
    config: &RunConfig,
    request: Request,
    options: &Options,
    watcher: &mut dyn Watcher,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let run = Run::new(dataset, config, request, options)?;
    let folder = options.out.open(&dataset.name, &run.config)?;
    if let Some(folder) = &folder {
        folder.write_config(&run.config)?;
        folder::write_request(folder.path(), request)?;
    }
    run.go(folder, watcher, observer)
}

/// Refuses what a training by folds would be refused for before the first batch of its first fold and of its final run.
///
/// # Errors
/// As [`train()`].
pub fn check(dataset: &Dataset, config: &RunConfig, request: Request) -> Result<()> {
    let options = Options::default();
    let run = Run::new(dataset, config, request, &options)?;
    train::check(&cut::dataset_of(dataset, &run.cut, 0), &run.config)?;
    match request.final_model {
        true => train::check(dataset, &run.config),
        false => Ok(()),
    }
}

/// Goes on where a training by folds was stopped.
///
/// # Errors
/// As [`train()`], and if settings or data are others.
pub fn resume(
    dataset: &Dataset,
    folder: RunFolder,
    options: &Options,
    watcher: &mut dyn Watcher,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let request = folder::read_request(folder.path())?;
    let config = folder.read_config()?;
    Run::new(dataset, &config, request, options)?.go(Some(folder), watcher, observer)
}

/// A comparison's run: the folds alone in a folder that is begun or gone on with.
pub fn in_folder(
    dataset: &Dataset,
    config: &RunConfig,
    scheme: Scheme,
    folder: RunFolder,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Ended> {
    let request = Request {
        scheme,
        final_model: false,
    };
    folder.write_config(&cut::settings_for(config, dataset))?;
    folder::write_request(folder.path(), request)?;
    Run::new(dataset, config, request, options)?.go(Some(folder), watcher, &mut ())
}

/// The numbers of folds without a folder, of settings that are one of so many trials; none if it was stopped.
pub fn measure(
    dataset: &Dataset,
    config: &RunConfig,
    scheme: Scheme,
    trials: usize,
    options: &Options,
) -> Result<Option<FoldsReport>> {
    let request = Request {
        scheme,
        final_model: false,
    };
    let run = Run::new(dataset, config, request, options)?;
    let done = run.folds(None, &mut ())?;
    Ok(done.map(|done| run.report(&done, trials)))
}

struct Run<'a> {
    dataset: &'a Dataset,
    config: RunConfig,
    request: Request,
    options: &'a Options,
    cut: Folds,
}

impl<'a> Run<'a> {
    fn new(dataset: &'a Dataset, config: &RunConfig, request: Request, options: &'a Options) -> Result<Self> {
        config.check()?;
        cut::check_data(dataset, config)?;
        Ok(Run {
            dataset,
            config: cut::settings_for(config, dataset),
            request,
            options,
            cut: data::folds(&dataset.train, request.scheme, config.training.seed)?,
        })
    }

    fn go(&self, folder: Option<RunFolder>, watcher: &mut dyn Watcher, observer: &mut dyn Observer) -> Result<Ended> {
        let path = folder.as_ref().map(|folder| folder.path().to_path_buf());
        let Some(done) = self.folds(path.as_deref(), watcher)? else {
            return Ok(Ended::Interrupted(path));
        };
        let report = self.report(&done, 1);
        if let Some(path) = &path {
            let lines = predictions::csv(self.dataset, &self.cut, &done, &self.config.training.quantiles);
            folder::write_predictions(path, &lines)?;
            folder::write_numbers(path, &report)?;
        }
        match self.request.final_model {
            true => self.final_run(report, folder, observer),
            false => self.without_final(report, &done, folder),
        }
    }

    fn report(&self, done: &[Done], trials: usize) -> FoldsReport {
        let results: Vec<_> = done.iter().map(|done| done.result.clone()).collect();
        let mut report = FoldsReport::new(self.request.scheme, &self.cut, self.dataset, &results, trials);
        self.decide(done, &mut report);
        report
    }

    /// What probabilities the final model's answers have, and below which it has none, by what was said of sequences that were held out.
    fn decide(&self, done: &[Done], report: &mut FoldsReport) {
        let training = &self.config.training;
        if self.dataset.task != Task::Classification || done.iter().any(|done| done.result.evaluation.is_none()) {
            return;
        }
        let labels: Vec<u32> = (self.cut.held_out.iter().flatten())
            .map(|&sequence| self.dataset.train.labels[sequence])
            .collect();
        let said: Vec<&[f64]> = done.iter().flat_map(|done| &done.outputs).map(Vec::as_slice).collect();
        report.calibration = (training.calibrate && training.validation == 0.0)
            .then(|| evaluate::calibration_of(&said, &labels))
            .flatten();
        report.unknown_below = (training.unknown > 0.0)
            .then(|| evaluate::unknown_of(&said, &labels, report.calibration, training.unknown))
            .flatten();
    }

    /// All folds; none if it was stopped before their end.
    fn folds(&self, path: Option<&Path>, watcher: &mut dyn Watcher) -> Result<Option<Vec<Done>>> {
        let count = self.cut.held_out.len();
        let of_fold = |fold: usize| path.map(|path| folder::of_fold(path, fold));
        let has_ended = |fold: &usize| of_fold(*fold).is_some_and(|path| path.join("result.json").is_file());
        let before = (0..count).filter(has_ended).count();
        watcher.folds_started(&FoldsStart {
            folds: count,
            ended: before,
            sequences: self.dataset.train.len(),
            out: path,
        });
        if self.cut.torn > 0 {
            watcher.warning(&format!(
                "{} copied from another group: what is held out has been seen",
                counted(self.cut.torn, "sequence")
            ));
        }
        let shared = Mutex::new((watcher, 0));
        let stop = &self.options.stop;
        let done = in_turns(count, self.options.threads, stop, |fold, threads| {
            let options = Options {
                out: Out::Nowhere,
                threads,
                test: true,
                stop: Arc::clone(stop),
                folds: None,
                tensorboard: self.options.tensorboard,
            };
            let dataset = cut::dataset_of(self.dataset, &self.cut, fold);
            let mut warnings = Vec::new();
            let mut observer = Kept(&mut warnings);
            let done = one::train(
                &dataset,
                &self.config,
                of_fold(fold).as_deref(),
                &options,
                &mut observer,
            )?;
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            warnings.iter().for_each(|text| shared.0.warning(text));
            if let Some(done) = &done {
                shared.1 += 1;
                let ended = shared.1;
                shared.0.fold_done(&self.report_of(fold, done), ended);
            }
            Ok(done)
        })?;
        if done.iter().any(Option::is_none) || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(Some(done.into_iter().flatten().collect()))
    }

    fn report_of(&self, fold: usize, done: &Done) -> FoldReport {
        let held_out = &self.cut.held_out[fold];
        FoldReport {
            fold: fold + 1,
            group: (self.request.scheme == Scheme::Groups)
                .then(|| self.dataset.group_name(self.dataset.train.groups[held_out[0]])),
            sequences: held_out.len(),
            score: done.result.evaluation.as_ref().map(|found| found.score().1),
            train_seconds: done.result.train_seconds,
        }
    }

    fn final_run(&self, report: FoldsReport, folder: Option<RunFolder>, observer: &mut dyn Observer) -> Result<Ended> {
        let options = Options {
            folds: Some(report),
            ..self.options.clone()
        };
        let path = folder.as_ref().map(|folder| folder.path().to_path_buf());
        let outcome = match folder {
            Some(folder) => train::resume(self.dataset, &self.config, folder, &options, observer)?,
            None => train::train(self.dataset, &self.config, &options, observer)?,
        };
        Ok(match outcome.report.ending {
            Ending::Interrupted => Ended::Interrupted(path),
            _ => Ended::Done(Box::new(outcome.report)),
        })
    }

    /// The report of the folds alone: their sequences pooled, the sizes of the first model.
    fn without_final(&self, folds: FoldsReport, done: &[Done], folder: Option<RunFolder>) -> Result<Ended> {
        let error = done.iter().find_map(|done| done.error.clone());
        let diverged = folds.score.is_none();
        let past = done.iter().find_map(|done| done.past.as_deref());
        let report = Report {
            dataset: self.dataset.name.clone(),
            part: "folds",
            evaluation: folds.pooled.clone(),
            validation_accuracy: None,
            cell: self.config.cell().to_string(),
            longest_sequence: past.and_then(|past| past.longest_sequence),
            parameters: past.map_or(0, |past| past.parameters),
            nonzero_parameters: past.map_or(0, |past| past.nonzero_parameters),
            embedding_parameters: past.map_or(0, |past| past.embedding_parameters),
            size_kb: past.map_or(0.0, |past| past.size_kb),
            model_bytes: 0,
            train_seconds: done.iter().map(|done| done.result.train_seconds).sum(),
            epochs: past.map_or(0, |past| past.epochs()),
            optimizer_steps: 0,
            best_epoch: 0,
            validated: false,
            seed: self.config.training.seed,
            ending: if diverged { Ending::Diverged } else { Ending::Finished },
            cut_short: diverged,
            error: error.filter(|_| diverged),
            out: folder.as_ref().map(|folder| folder.path().to_path_buf()),
            version: env!("CARGO_PKG_VERSION"),
            settings: self.config.resolved(self.dataset),
            machine: Machine::here(self.options.threads),
            folds: Some(folds),
            members: Vec::new(),
        };
        if let Some(folder) = &folder {
            folder.write_report(&report, &[])?;
            folder.write_card(&Card::of_all(&report, self.dataset))?;
        }
        Ok(Ended::Done(Box::new(report)))
    }
}

/// Keeps warnings until the watcher is free.
struct Kept<'a>(&'a mut Vec<String>);

impl Observer for Kept<'_> {
    fn warning(&mut self, text: &str) {
        self.0.push(text.to_string());
    }
}
