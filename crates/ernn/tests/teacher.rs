//! Runs with a teacher: what they learn, their bits, and which teachers are refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::checkpoint::SavedModel;
use ernn::data::{self, Dataset, OpenOptions, Scheme, Task};
use ernn::folds::{self, Request};
use ernn::train::{self, BatchProgress, Ending, Observer, Options, Out, RunConfig, RunFolder, TeacherSettings};

fn vowels() -> Dataset {
    data::open("japanese-vowels", &OpenOptions::default()).unwrap()
}

fn settings(hidden: i64, epochs: usize) -> RunConfig {
    let mut config = RunConfig::defaults("japanese-vowels");
    config.set_in_layers("rank", &toml::Value::Integer(4)).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(hidden)).unwrap();
    config.training.batch_size = 16;
    config.training.epochs = epochs;
    config
}

/// A teacher of so many models, trained for so many epochs, in files of this folder.
fn teacher(folder: &Path, models: usize, epochs: usize) -> Vec<PathBuf> {
    let file = |number: usize| {
        let mut config = settings(12, epochs);
        config.training.seed = number as u64;
        config.training.validation = 0.0;
        let outcome = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
        let path = folder.join(format!("teacher-{number}.safetensors"));
        outcome.model.save(&path).unwrap();
        path
    };
    (1..=models).map(file).collect()
}

fn taught(mut config: RunConfig, runs: Vec<PathBuf>, weight: f64) -> RunConfig {
    config.training.teacher = Some(TeacherSettings {
        runs,
        weight,
        ..TeacherSettings::default()
    });
    config
}

fn model(dataset: &Dataset, config: &RunConfig, threads: usize) -> SavedModel {
    let options = Options {
        threads,
        ..Options::default()
    };
    train::train(dataset, config, &options, &mut ()).unwrap().model
}

fn refusal(dataset: &Dataset, config: &RunConfig) -> String {
    let found = train::train(dataset, config, &Options::default(), &mut ());
    found.map(|outcome| outcome.report).unwrap_err().to_string()
}

/// All labels of the training part are wrong: what the student gets right it has from its teacher, of the right sequences.
#[test]
fn a_student_of_the_teacher_alone_learns_nothing_of_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = vowels();
    dataset
        .train
        .labels
        .iter_mut()
        .for_each(|label| *label = (*label + 1) % 9);
    let mut config = settings(12, 10);
    config.training.validation = 0.0;
    let config = taught(config, teacher(folder.path(), 1, 10), 1.0);
    let report = train::train(&dataset, &config, &Options::default(), &mut ())
        .unwrap()
        .report;
    assert_eq!(report.part, "test");
    assert!(
        report.evaluation.accuracy > Some(0.7),
        "{:?}",
        report.evaluation.accuracy
    );
}

#[test]
fn a_teacher_of_no_weight_changes_no_parameter_and_one_of_some_does() {
    let folder = tempfile::tempdir().unwrap();
    let (dataset, plain) = (vowels(), settings(6, 2));
    let runs = teacher(folder.path(), 1, 1);
    let parameters = |config: &RunConfig| model(&dataset, config, 2).model.parameters().to_vec();
    let expected = parameters(&plain);
    assert!(parameters(&taught(plain.clone(), runs.clone(), 0.0)) == expected);
    assert!(parameters(&taught(plain, runs, 0.5)) != expected);
}

/// Asks to stop after so many batches.
struct StopAfter {
    last: usize,
    batches: usize,
    stop: Arc<AtomicBool>,
}

impl Observer for StopAfter {
    fn batch_done(&mut self, _: &BatchProgress) {
        self.batches += 1;
        self.stop.store(self.batches >= self.last, Ordering::Relaxed);
    }
}

/// Two epochs of 14 batches and two of 17, with everything that draws random numbers.
fn student(folder: &Path) -> RunConfig {
    let mut config = settings(6, 2);
    config.model.dropout = 0.2;
    config.training.input_noise = 0.3;
    config.training.retrain = true;
    taught(config, teacher(folder, 2, 1), 0.5)
}

/// The folder of a run that was stopped after so many batches.
fn stopped(config: &RunConfig, path: PathBuf, last: usize) -> PathBuf {
    let options = Options {
        out: Out::At(path.clone()),
        threads: 1,
        ..Options::default()
    };
    let mut observer = StopAfter {
        last,
        batches: 0,
        stop: options.stop.clone(),
    };
    let outcome = train::train(&vowels(), config, &options, &mut observer).unwrap();
    assert_eq!(outcome.report.ending, Ending::Interrupted);
    path
}

fn resumed(path: &Path) -> ernn::Result<SavedModel> {
    let run = RunFolder::open(path).unwrap();
    let config = run.read_config().unwrap();
    let outcome = train::resume(&vowels(), &config, run, &Options::default(), &mut ())?;
    Ok(outcome.model)
}

#[test]
fn bits_depend_neither_on_threads_nor_on_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let config = student(folder.path());
    let whole = model(&vowels(), &config, 1).to_bytes();
    assert!(model(&vowels(), &config, 3).to_bytes() == whole);
    for last in [1, 14, 20, 35] {
        let path = stopped(&config, folder.path().join(last.to_string()), last);
        assert!(
            resumed(&path).unwrap().to_bytes() == whole,
            "stopped after batch {last}"
        );
    }
}

#[test]
fn a_teacher_that_has_changed_or_gone_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = student(folder.path());
    let path = stopped(&config, folder.path().join("run"), 5);
    let runs = config.training.teacher.unwrap().runs;
    let second = std::fs::read(&runs[1]).unwrap();
    std::fs::copy(&runs[0], &runs[1]).unwrap();
    let error = resumed(&path).unwrap_err().to_string();
    assert!(error.starts_with("teacher: found models with the checksum"), "{error}");
    std::fs::remove_file(&runs[1]).unwrap();
    let error = resumed(&path).unwrap_err().to_string();
    assert!(
        error.contains("teacher-2.safetensors: found no model, expected a run"),
        "{error}"
    );
    std::fs::write(&runs[1], second).unwrap();
    assert!(resumed(&path).is_ok());
}

#[test]
fn teachers_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runs = teacher(folder.path(), 1, 1);
    let config = taught(settings(6, 1), runs.clone(), 0.5);
    let mut other = vowels();
    other.classes.swap(0, 1);
    let error = refusal(&other, &config);
    assert!(
        error.starts_with("teacher: found ") && error.contains("with the classes 1, 2"),
        "{error}"
    );
    let mut other = vowels();
    other.feature_names[0] = "pressure".to_string();
    assert!(refusal(&other, &config).contains("with the channels"));
    let mut numbers = vowels();
    numbers.task = Task::Regression;
    numbers.train.numbers = (0..numbers.train.len()).map(|sequence| sequence as f32).collect();
    numbers.test = None;
    let error = refusal(&numbers, &config);
    assert!(error.contains("which has no classes of sequences"), "{error}");
    for (weight, temperature, expected) in [
        (1.5, 2.0, "teacher_weight: found 1.5, expected a share"),
        (f64::NAN, 2.0, "teacher_weight: found NaN"),
        (0.5, 0.0, "teacher_temperature: found 0, expected a number above 0"),
        (0.5, f64::INFINITY, "teacher_temperature: found inf"),
    ] {
        let mut config = taught(settings(6, 1), runs.clone(), weight);
        config.training.teacher.as_mut().unwrap().temperature = temperature;
        let error = refusal(&vowels(), &config);
        assert!(error.starts_with(expected), "{error}");
    }
    let error = refusal(&vowels(), &taught(settings(6, 1), Vec::new(), 0.5));
    assert!(
        error.starts_with("teacher: found none, expected a run folder"),
        "{error}"
    );
    let request = Request {
        scheme: Scheme::Number(3),
        final_model: false,
    };
    let by_folds = folds::train(&vowels(), &config, request, &Options::default(), &mut (), &mut ());
    let error = by_folds.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("expected none where folds judge"), "{error}");
}
