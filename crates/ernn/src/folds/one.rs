//! Folds side by side: each one is a run, and several run at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::cut;
use crate::checkpoint::SavedModel;
use crate::data::{Dataset, Folds, Task};
use crate::evaluate::{self, FoldResult};
use crate::train::{self, Ending, Observer, Options, Out, PastRun, Report, RunConfig, RunFolder};
use crate::{Error, Result};

/// A fold that has ended.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub result: FoldResult,
    /// The probability of each class for each held-out sequence, or the number of each; empty for other tasks.
    pub outputs: Vec<Vec<f64>>,
    /// What its result file says, where there is a folder.
    pub past: Option<Box<PastRun>>,
    pub error: Option<String>,
}

/// Trains one fold, in a folder if there is one; none if it was stopped.
pub(super) fn train(
    dataset: &Dataset,
    config: &RunConfig,
    folder: Option<&Path>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Option<Done>> {
    let Some(path) = folder else {
        return match train::train(dataset, config, options, observer) {
            Ok(outcome) if outcome.report.ending == Ending::Interrupted => Ok(None),
            Ok(outcome) => done(dataset, &outcome.model, &outcome.report).map(Some),
            Err(error @ Error::NotFinite { .. }) => Ok(Some(diverged(&error.to_string()))),
            Err(error) => Err(error),
        };
    };
    if let Some(done) = ended(dataset, config, path)? {
        return Ok(Some(done));
    }
    let Some(open) = RunFolder::enter(path)? else {
        let found = format!("{}, in which another process is training", path.display());
        return Err(Error::setting("--resume", found, "a run that has stopped"));
    };
    match train::resume(dataset, config, open, options, observer) {
        Ok(outcome) if outcome.report.ending == Ending::Interrupted => return Ok(None),
        // One that diverged has left its report as well.
        Ok(_) | Err(Error::NotFinite { .. }) => {}
        Err(error) => return Err(error),
    }
    ended(dataset, config, path)
}

/// One fold without a folder, for those who only want to know its numbers, watched; none if it was stopped.
pub fn one_fold(
    dataset: &Dataset,
    cut: &Folds,
    fold: usize,
    config: &RunConfig,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Option<FoldResult>> {
    let options = Options {
        out: Out::Nowhere,
        ..options.clone()
    };
    let dataset = cut::dataset_of(dataset, cut, fold);
    let done = train(&dataset, config, None, &options, observer)?;
    Ok(done.map(|done| done.result))
}

/// What lies in the folder of a fold that has ended; refused if it has other settings.
fn ended(dataset: &Dataset, config: &RunConfig, path: &Path) -> Result<Option<Done>> {
    let Some(past) = PastRun::read(path)? else {
        return Ok(None);
    };
    if past.settings.portable().asked() != config.portable().resolved(dataset).asked() {
        let found = format!("{}, a fold with other settings", path.display());
        let expected = "a new folder, or a run with the settings asked for";
        return Err(Error::setting("--out", found, expected));
    }
    match past.ending {
        Ending::Interrupted => Ok(None),
        Ending::Diverged => Ok(Some(Done {
            past: Some(Box::new(past.clone())),
            ..diverged(past.error.as_deref().unwrap_or("diverged"))
        })),
        _ => {
            let model = SavedModel::load(path)?;
            let outputs = outputs(dataset, &model)?;
            Ok(Some(Done {
                result: FoldResult {
                    classes: classes(dataset, &outputs),
                    numbers: numbers(dataset, &outputs, &model.model.config().quantiles),
                    evaluation: Some(past.evaluation.clone()),
                    train_seconds: past.train_seconds,
                },
                outputs,
                past: Some(Box::new(past)),
                error: None,
            }))
        }
    }
}

fn done(dataset: &Dataset, model: &SavedModel, report: &Report) -> Result<Done> {
    let outputs = outputs(dataset, model)?;
    Ok(Done {
        result: FoldResult {
            classes: classes(dataset, &outputs),
            numbers: numbers(dataset, &outputs, &model.model.config().quantiles),
            evaluation: Some(report.evaluation.clone()),
            train_seconds: report.train_seconds,
        },
        outputs,
        past: None,
        error: None,
    })
}

fn diverged(error: &str) -> Done {
    Done {
        result: FoldResult {
            evaluation: None,
            classes: Vec::new(),
            numbers: Vec::new(),
            train_seconds: 0.0,
        },
        outputs: Vec::new(),
        past: None,
        error: Some(error.to_string()),
    }
}

/// What the model says about each sequence that it has not seen.
fn outputs(dataset: &Dataset, model: &SavedModel) -> Result<Vec<Vec<f64>>> {
    let held_out = dataset.test.as_ref().expect("a fold holds something out");
    match dataset.task {
        Task::Classification => {
            let found = evaluate::predict(model, held_out)?;
            Ok(found.into_iter().map(|prediction| prediction.probabilities).collect())
        }
        Task::MultiLabel => evaluate::predict_labels(model, held_out, &[]),
        Task::Regression => {
            let found = evaluate::predict_numbers(model, held_out, &[])?;
            let rows = found.chunks_exact(model.model.config().classes);
            Ok(rows.map(|row| row.iter().copied().map(f64::from).collect()).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// The class of the highest probability, the first of equals.
fn classes(dataset: &Dataset, outputs: &[Vec<f64>]) -> Vec<usize> {
    if dataset.task != Task::Classification {
        return Vec::new();
    }
    outputs.iter().map(|row| evaluate::first_largest(row)).collect()
}

/// The numbers that were said, one a target; none for other tasks.
fn numbers(dataset: &Dataset, outputs: &[Vec<f64>], quantiles: &[f64]) -> Vec<Vec<f64>> {
    if dataset.task != Task::Regression {
        return Vec::new();
    }
    let place = evaluate::nearest_to_median(quantiles);
    let each = quantiles.len().max(1);
    let points = |row: &Vec<f64>| row.iter().copied().skip(place).step_by(each).collect();
    outputs.iter().map(points).collect()
}

/// Does `count` pieces of work, as many at a time as there are threads; each gets its number and its threads. What comes back stands in
/// the order of the numbers, and depends on neither. The first error, by its number, ends all.
pub fn in_turns<T: Send>(
    count: usize,
    threads: usize,
    stop: &Arc<AtomicBool>,
    work: impl Fn(usize, usize) -> Result<Option<T>> + Sync,
) -> Result<Vec<Option<T>>> {
    let workers = threads.clamp(1, count.max(1));
    let each = (threads / workers).max(1);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Mutex<Vec<Option<Result<Option<T>>>>> = Mutex::new((0..count).map(|_| None).collect());
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return;
            }
            let found = work(index, each);
            failed.fetch_or(found.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|result| result.unwrap_or(Ok(None))).collect()
}
