//! Training: the run works on threads of its own, the calling one waits for news and for Ctrl-C.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ernn::checkpoint::EpochRecord;
use ernn::data::{Dataset, MissingPolicy, Task};
use ernn::train::{self, Observer, Options, Out, Start};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::failure::exception;
use crate::model::Model;
use crate::sequences::{Arrays, NAME};
use crate::settings::Settings;

/// The longest wait until Ctrl-C is noticed.
const TICK: Duration = Duration::from_millis(50);

/// Sequences with a class, labels or numbers each, or a class or numbers for each step.
#[derive(FromPyObject)]
pub struct Labelled<'py> {
    sequences: Arrays<'py>,
    /// The class of each sequence, an index into `classes`.
    labels: Option<PyReadonlyArray1<'py, u32>>,
    /// Which labels each sequence has, `[sequences * classes]` of 0 and 1, where several can hold; in the place of a class.
    indicators: Option<PyReadonlyArray1<'py, u8>>,
    /// The numbers to predict of each sequence, one after the other, in the place of a class.
    numbers: Option<PyReadonlyArray1<'py, f32>>,
    /// The class of each step of all sequences one after the other, in the place of a class of each sequence.
    step_labels: Option<PyReadonlyArray1<'py, u32>>,
    /// The numbers to predict of each step of all sequences one after the other, NaN for a step without any, in the place of those of each
    /// sequence.
    step_numbers: Option<PyReadonlyArray1<'py, f32>>,
    classes: Vec<String>,
    /// How much each sequence counts.
    weights: Option<PyReadonlyArray1<'py, f32>>,
    /// What each sequence belongs to; the validation split divides no group.
    groups: Option<PyReadonlyArray1<'py, u32>>,
}

impl Labelled<'_> {
    fn dataset(&self, missing: MissingPolicy) -> PyResult<Dataset> {
        let mut train = self.sequences.part(missing)?;
        if let Some(labels) = &self.labels {
            train.labels = labels.as_slice()?.to_vec();
        }
        if let Some(indicators) = &self.indicators {
            train.indicators = indicators.as_slice()?.to_vec();
        }
        if let Some(numbers) = &self.numbers {
            train.numbers = numbers.as_slice()?.to_vec();
        }
        if let Some(numbers) = &self.step_numbers {
            train.step_numbers = numbers.as_slice()?.to_vec();
        }
        if let Some(labels) = &self.step_labels {
            train.step_labels = labels.as_slice()?.to_vec();
        }
        if let Some(weights) = &self.weights {
            train.weights = weights.as_slice()?.to_vec();
        }
        if let Some(groups) = &self.groups {
            train.groups = groups.as_slice()?.to_vec();
        }
        Ok(Dataset {
            name: NAME.to_string(),
            feature_names: (1..=train.features)
                .map(|channel| format!("channel {channel}"))
                .collect(),
            classes: self.classes.clone(),
            task: match (&self.numbers, &self.indicators, &self.step_labels) {
                _ if self.step_numbers.is_some() => Task::StepRegression,
                (Some(_), _, _) => Task::Regression,
                (_, Some(_), _) => Task::MultiLabel,
                (_, _, Some(_)) => Task::StepClassification,
                _ => Task::Classification,
            },
            train,
            ..Dataset::default()
        })
    }
}

/// Trains; gives the model and the report as JSON. `watch(kind, text)` is called on this thread with `started` and a line, `epoch` and
/// the epoch's record as JSON, or `warning` and a text; an exception that it raises stops the run.
#[pyfunction]
#[pyo3(name = "train")]
pub fn fit(
    py: Python,
    data: Labelled,
    settings: &Settings,
    threads: usize,
    out: Option<PathBuf>,
    watch: &Bound<PyAny>,
) -> PyResult<(Model, String)> {
    let mut config = settings.config.clone();
    let dataset = data.dataset(config.data.missing)?;
    // The other tasks have no probabilities of classes, and no runs of steps.
    config.training.smooth &= dataset.task == Task::StepClassification;
    config.training.calibrate &= matches!(dataset.task, Task::Classification | Task::StepClassification);
    let options = Options {
        out: out.map_or(Out::Nowhere, Out::At),
        threads,
        ..Options::default()
    };
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let (outcome, raised) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| train::train(&dataset, &config, &options, &mut Messenger(sender)));
        let next = || {
            receiver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv_timeout(TICK)
        };
        let mut raised = Ok(());
        loop {
            let news = py.detach(next);
            if raised.is_ok() {
                raised = react(py, watch, &news, &options.stop);
            }
            if news == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        (py.detach(|| worker.join()), raised)
    });
    raised?;
    let outcome = outcome.map_err(|_| PyRuntimeError::new_err("the training thread panicked"))?;
    let outcome = outcome.map_err(exception)?;
    let report = json(&outcome.report)?;
    Ok((Model::new(outcome.model), report))
}

/// News for Python, and Ctrl-C from it; whatever it raises stops the run.
fn react(
    py: Python,
    watch: &Bound<PyAny>,
    news: &Result<(&'static str, String), RecvTimeoutError>,
    stop: &AtomicBool,
) -> PyResult<()> {
    let told = match news {
        Ok((kind, text)) => watch.call1((*kind, text.as_str())).map(drop),
        Err(_) => Ok(()),
    };
    let outcome = told.and_then(|()| py.check_signals());
    if outcome.is_err() {
        stop.store(true, Ordering::Relaxed);
    }
    outcome
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Sends what happens in a run to the thread that waits for it.
struct Messenger(Sender<(&'static str, String)>);

impl Messenger {
    fn send(&self, kind: &'static str, text: String) {
        // Nobody listens any more after an exception.
        let _ = self.0.send((kind, text));
    }
}

impl Observer for Messenger {
    fn started(&mut self, start: &Start) {
        let line = format!(
            "{}, {} parameters; {} sequences to train on, {} to validate; {} epochs, {} threads",
            start.cell, start.parameters, start.train_examples, start.validation_examples, start.epochs, start.threads
        );
        self.send("started", line);
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.send("epoch", serde_json::to_string(record).unwrap_or_default());
    }

    fn warning(&mut self, text: &str) {
        self.send("warning", text.to_string());
    }
}
