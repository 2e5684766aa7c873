//! Training through the library: stopping anywhere, and what a run may look at.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::cell::CellConfig;
use ernn::checkpoint::EpochRecord;
use ernn::data::{self, Dataset, Derivation, OpenOptions, Part, Transforms, View};
use ernn::model::Model;
use ernn::optim::{OptimizerConfig, Sgd};
use ernn::train::{
    self, BatchProgress, ClassWeights, Ending, Observer, Options, Out, Outcome, RunConfig, RunFolder, Start,
};

fn vowels() -> Dataset {
    data::open("japanese-vowels", &OpenOptions::default()).unwrap()
}

/// A part of these labelled sequences.
fn selected(part: &Part, indices: &[usize]) -> Part {
    let mut chosen = Part::new(part.features);
    for &index in indices {
        chosen.push(part.sequence(index), Some(part.labels[index]), None);
    }
    chosen
}

/// Three epochs of seven batches, with everything that draws random numbers.
fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("japanese-vowels");
    config.set_in_layers("rank", &toml::Value::Integer(2)).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(6)).unwrap();
    config.model.dropout = 0.2;
    config.training.input_noise = 0.3;
    config.training.epochs = 3;
    config.training.batch_size = 32;
    config
}

fn options(out: &Path) -> Options {
    Options {
        out: Out::At(out.to_path_buf()),
        threads: 1,
        ..Options::default()
    }
}

/// Asks to stop after so many batches, and counts what it sees.
#[derive(Default)]
struct Watcher {
    stop: Option<(usize, Arc<AtomicBool>)>,
    batches: usize,
    epochs: Vec<usize>,
    started: usize,
    warnings: usize,
}

impl Observer for Watcher {
    fn started(&mut self, start: &Start) {
        assert_eq!(
            (start.cell, start.train_examples, start.validation_examples),
            ("ernn", 216, 54)
        );
        self.started += 1;
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        self.batches += 1;
        assert_eq!((progress.batches, progress.epochs), (7, 3));
        if let Some((last, stop)) = &self.stop {
            stop.store(self.batches >= *last, Ordering::Relaxed);
        }
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.epochs.push(record.epoch);
    }

    fn warning(&mut self, text: &str) {
        assert!(text.contains("29 steps"), "{text}");
        self.warnings += 1;
    }
}

fn whole() -> Outcome {
    train::train(&vowels(), &settings(), &Options::default(), &mut ()).unwrap()
}

#[test]
fn an_observer_sees_every_batch_and_epoch() {
    let mut watcher = Watcher::default();
    train::train(&vowels(), &settings(), &Options::default(), &mut watcher).unwrap();
    assert_eq!(
        (watcher.started, watcher.batches, watcher.epochs),
        (1, 21, vec![1, 2, 3])
    );
    assert_eq!(watcher.warnings, 1, "the test part has longer sequences");
}

#[test]
fn a_run_stopped_after_any_batch_goes_on_to_the_same_bits() {
    let (dataset, config, whole) = (vowels(), settings(), whole());
    let folder = tempfile::tempdir().unwrap();
    for last in [1, 3, 6, 7, 8, 20] {
        let path = folder.path().join(last.to_string());
        let options = options(&path);
        let mut watcher = Watcher {
            stop: Some((last, options.stop.clone())),
            ..Watcher::default()
        };
        let stopped = train::train(&dataset, &config, &options, &mut watcher).unwrap();
        assert_eq!((stopped.report.ending, watcher.batches), (Ending::Interrupted, last));
        options.stop.store(false, Ordering::Relaxed);
        let mut watcher = Watcher::default();
        let run = RunFolder::open(&path).unwrap();
        let config = run.read_config().unwrap();
        let resumed = train::resume(&dataset, &config, run, &options, &mut watcher).unwrap();
        assert_eq!(watcher.batches, 21 - last, "exactly the batches that were left");
        assert!(
            resumed.model.to_bytes() == whole.model.to_bytes(),
            "stopped after batch {last}"
        );
        assert_eq!(resumed.report.evaluation, whole.report.evaluation);
    }
}

#[test]
fn the_test_part_has_no_influence_on_the_model() {
    let mut dataset = vowels();
    let test = dataset.test.as_mut().unwrap();
    test.numbers_mut().iter_mut().for_each(|value| *value *= -7.0);
    test.labels.reverse();
    let other = train::train(&dataset, &settings(), &Options::default(), &mut ()).unwrap();
    assert!(other.model.to_bytes() == whole().model.to_bytes());
    dataset.test = None;
    let without = train::train(&dataset, &settings(), &Options::default(), &mut ()).unwrap();
    assert!(without.model.to_bytes() == whole().model.to_bytes());
    assert_eq!(without.report.part, "validation");
    assert_eq!(without.report.evaluation.accuracy, without.report.validation_accuracy);
}

#[test]
fn the_test_part_has_no_influence_on_what_is_derived() {
    let mut config = settings();
    config.model.transforms = Transforms {
        differences: true,
        compress: true,
        ..Transforms::default()
    };
    let with = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    assert_eq!(with.model.model.config().input_size, 3 * with.model.channels());
    let mut dataset = vowels();
    let test = dataset.test.as_mut().unwrap();
    test.numbers_mut().iter_mut().for_each(|value| *value *= -7.0);
    let other = train::train(&dataset, &config, &Options::default(), &mut ()).unwrap();
    assert!(other.model.to_bytes() == with.model.to_bytes());
    // The validation part has none either: scales are those of the sequences that were trained on.
    let (fit, _) = data::split(&dataset.train, 0.2, config.training.seed).unwrap();
    let view = View::chosen(&dataset.train, &fit);
    let names = &dataset.feature_names;
    let expected = Derivation::fit(&config.model.transforms, &view, names).unwrap();
    assert_eq!(with.model.derivation, expected);
}

#[test]
fn a_validation_part_of_its_own_is_used_as_it_is() {
    let mut dataset = vowels();
    let (fit, validation) = data::split(&dataset.train, 0.2, settings().training.seed).unwrap();
    dataset.validation = Some(selected(&dataset.train, &validation));
    dataset.train = selected(&dataset.train, &fit);
    let own = train::train(&dataset, &settings(), &Options::default(), &mut ()).unwrap();
    // The same sequences as in the split of the run: the same parameters.
    assert!(own.model.model.parameters() == whole().model.model.parameters());
}

#[test]
fn no_validation_part_takes_the_last_epoch() {
    let mut config = settings();
    config.training.validation = 0.0;
    let outcome = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    assert_eq!(
        (outcome.report.best_epoch, outcome.report.validation_accuracy),
        (3, None)
    );
    assert_eq!(outcome.report.part, "test");
}

#[test]
fn the_best_epoch_is_the_one_of_the_highest_validation_accuracy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut config = settings();
    config.training.epochs = 12;
    config.training.learning_rate = 0.05;
    let outcome = train::train(&vowels(), &config, &options(&path), &mut ()).unwrap();
    let text = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let records: Vec<EpochRecord> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let key = |record: &EpochRecord| (record.validation_accuracy.unwrap(), -record.validation_loss.unwrap());
    let best = records
        .iter()
        .reduce(|best, record| if key(record) > key(best) { record } else { best });
    assert_eq!(outcome.report.best_epoch, best.unwrap().epoch);
    assert_eq!(outcome.report.validation_accuracy, best.unwrap().validation_accuracy);
}

#[test]
fn every_cell_trains() {
    let dataset = vowels();
    for &cell in CellConfig::KINDS {
        let mut config = settings();
        config.change_cell(cell).unwrap();
        config.stack(2).unwrap();
        let outcome = train::train(&dataset, &config, &Options::default(), &mut ()).unwrap();
        assert_eq!(outcome.report.cell, cell);
        assert!(outcome.report.evaluation.loss.is_finite(), "{cell}");
        let bytes = outcome.model.to_bytes();
        let read = ernn::checkpoint::SavedModel::from_bytes(Path::new("m"), &bytes).unwrap();
        assert!(read.to_bytes() == bytes, "{cell}");
    }
}

/// One step on the whole part by plain gradient descent, nothing averaged: how far it goes from the initial parameters.
fn one_step(change: impl Fn(&mut RunConfig, &mut Dataset)) -> Vec<f64> {
    let (mut config, mut dataset) = (settings(), vowels());
    config.training.epochs = 1;
    config.training.batch_size = 1000;
    config.training.input_noise = 0.0;
    config.training.validation = 0.0;
    config.training.average = 0.0;
    config.training.learning_rate = 0.5;
    config.training.clip_norm = 1e6;
    config.training.optimizer = OptimizerConfig::Sgd(Sgd {
        momentum: 0.0,
        ..Sgd::default()
    });
    change(&mut config, &mut dataset);
    let trained = train::train(&dataset, &config, &Options::default(), &mut ())
        .unwrap()
        .model
        .model;
    let initial = Model::<f32>::new(trained.config().clone(), config.training.seed).unwrap();
    let pairs = trained.parameters().iter().zip(initial.parameters());
    pairs
        .map(|(&after, &before)| f64::from(after) - f64::from(before))
        .collect()
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Clipping shortens the step over all tensors at once and keeps its direction.
#[test]
fn clipping_is_by_the_norm_over_all_tensors() {
    let free = one_step(|_, _| ());
    let clipped = one_step(|config, _| config.training.clip_norm = 0.01);
    assert!(length(&free) > 0.03, "{}", length(&free));
    assert!((length(&clipped) - 0.5 * 0.01).abs() < 1e-5, "{}", length(&clipped));
    let factor = length(&clipped) / length(&free);
    let off: Vec<f64> = free
        .iter()
        .zip(&clipped)
        .map(|(free, clipped)| factor * free - clipped)
        .collect();
    assert!(length(&off) < 1e-3 * length(&clipped), "{}", length(&off));
}

/// Of nine classes one has a tenth of the others' sequences. The step of the readout's bias adds up to nothing over the classes, and
/// balanced weights pull the rare class up.
#[test]
fn class_weights_enter_the_loss_and_the_bias_learns() {
    let rare = |weights| {
        let step = one_step(|config, dataset| {
            config.training.class_weights = weights;
            let mut kept = 0;
            let train = &dataset.train;
            let keep = |&index: &usize| {
                kept += usize::from(train.labels[index] == 0);
                train.labels[index] != 0 || kept <= 3
            };
            let indices: Vec<usize> = (0..train.len()).filter(keep).collect();
            dataset.train = selected(train, &indices);
        });
        let bias = step[step.len() - 9..].to_vec();
        assert!(
            bias.iter().sum::<f64>().abs() < 1e-5 && length(&bias) > 1e-3,
            "{bias:?}"
        );
        bias[0]
    };
    let (plain, balanced) = (rare(ClassWeights::None), rare(ClassWeights::Balanced));
    assert!(plain < 0.0 && balanced > plain + 0.01, "{plain} and {balanced}");
}

/// The gradient is a weighted mean over the sequences: those of two sets of sequences, by their sizes, make that of all.
#[test]
fn weights_of_sequences_enter_the_loss() {
    let first = |index: usize| index.is_multiple_of(3);
    let weighted = |of: &dyn Fn(usize) -> bool| {
        one_step(|_, dataset| {
            let count = dataset.train.len();
            dataset.train.weights = (0..count).map(|index| if of(index) { 2.0 } else { 0.0 }).collect();
        })
    };
    let (plain, one, other) = (one_step(|_, _| ()), weighted(&first), weighted(&|index| !first(index)));
    let off: Vec<f64> = (0..plain.len())
        .map(|index| plain[index] - one[index] / 3.0 - 2.0 / 3.0 * other[index])
        .collect();
    assert!(length(&off) < 1e-4 * length(&plain), "{}", length(&off));
    assert!(length(&one) > 1e-3 && one != plain);
}

#[test]
fn weights_that_are_none_are_refused() {
    for (weights, words) in [
        (vec![1.0], "found 1 weights for 270 sequences"),
        (vec![-1.0; 270], "weight of sequence 1: found -1, expected 0 or more"),
        (vec![f32::NAN; 270], "weight of sequence 1: found NaN"),
        (vec![0.0; 270], "all zero"),
    ] {
        let mut dataset = vowels();
        dataset.train.weights = weights;
        let error = train::train(&dataset, &settings(), &Options::default(), &mut ()).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn settings_are_changed_by_their_names() {
    let mut config = settings();
    config.set("training", "epochs", toml::Value::Integer(7)).unwrap();
    config.set("model", "dropout", toml::Value::Integer(0)).unwrap();
    assert_eq!((config.training.epochs, config.model.dropout), (7, 0.0));
    let before = config.clone();
    for (table, name) in [("training", "nothing"), ("nothing", "epochs"), ("training", "pooling")] {
        let error = config
            .set(table, name, toml::Value::Integer(1))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("{name}: found 1, expected ")), "{error}");
    }
    let error = config
        .set("training", "epochs", toml::Value::String("many".into()))
        .unwrap_err();
    assert!(
        error.to_string().starts_with("epochs: found many, expected "),
        "{error}"
    );
    assert_eq!(config, before);
}

#[test]
fn every_tensor_learns() {
    for &cell in CellConfig::KINDS {
        let mut config = settings();
        config.change_cell(cell).unwrap();
        config.stack(2).unwrap();
        config.model.bidirectional = true;
        config.model.layer_dropout = 0.1;
        let trained = train::train(&vowels(), &config, &Options::default(), &mut ())
            .unwrap()
            .model
            .model;
        let initial = Model::<f32>::new(trained.config().clone(), config.training.seed).unwrap();
        for span in trained.spans() {
            let range = span.range();
            assert!(
                trained.parameters()[range.clone()] != initial.parameters()[range],
                "{cell}, {}",
                span.name
            );
        }
    }
}
