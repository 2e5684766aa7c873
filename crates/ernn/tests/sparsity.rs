//! Runs with sparsity: what is zero when, which epoch may be the best, and stopping in any third.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::cell::Span;
use ernn::checkpoint::{CHECKPOINT_FILE, EpochRecord, Phase, RunState, SavedModel};
use ernn::data::{self, Dataset, OpenOptions};
use ernn::train::{self, BatchProgress, Ending, Observer, Options, Out, RunConfig, RunFolder};

fn vowels() -> Dataset {
    data::open("japanese-vowels", &OpenOptions::default()).unwrap()
}

/// Three epochs of 27 batches: thresholding after batches 31 and 46, fixed zeros from batch 55 on.
fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("japanese-vowels");
    config.set_in_layers("rank", &toml::Value::Integer(3)).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(7)).unwrap();
    config.stack(2).unwrap();
    config.model.dropout = 0.1;
    config.training.epochs = 3;
    config.training.batch_size = 8;
    config.training.sparsity = 0.7;
    config
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

/// A run that was stopped after so many batches; its folder.
fn stopped(config: &RunConfig, parent: &Path, last: usize) -> PathBuf {
    let path = parent.join(last.to_string());
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

fn resumed(path: &Path) -> SavedModel {
    let folder = RunFolder::open(path).unwrap();
    let config = folder.read_config().unwrap();
    let outcome = train::resume(&vowels(), &config, folder, &Options::default(), &mut ()).unwrap();
    outcome.model
}

fn zeros(values: &[f32]) -> usize {
    values.iter().filter(|value| value.to_bits() == 0).count()
}

/// The zeros that sparsity 0.7 leaves in a tensor.
fn wanted(span: &Span) -> usize {
    let matrix = span.decay && span.name.starts_with("layers.");
    if matrix { span.len() * 7 / 10 } else { 0 }
}

fn assert_sparse(model: &SavedModel) {
    let mut thinned = 0;
    for span in model.model.spans() {
        let found = zeros(&model.model.parameters()[span.range()]);
        assert_eq!(found, wanted(span), "{}", span.name);
        thinned += usize::from(found > 0);
    }
    assert_eq!(thinned, 6, "W, V and H of two layers");
}

#[test]
fn a_run_stopped_in_any_third_goes_on_to_the_same_bits() {
    let mut config = settings();
    config.training.retrain = true;
    let whole = train::train(&vowels(), &config, &Options::default(), &mut ())
        .unwrap()
        .model;
    assert_sparse(&whole);
    let folder = tempfile::tempdir().unwrap();
    // The second pass has 34 batches an epoch: thresholding after batches 46 and 61, fixed zeros from batch 69 on.
    let (first, second) = (
        [10, 31, 40, 46, 54, 55, 70],
        [81, 81 + 46, 81 + 60, 81 + 68, 81 + 69, 81 + 90],
    );
    for last in first.into_iter().chain(second) {
        let model = resumed(&stopped(&config, folder.path(), last));
        assert!(model.to_bytes() == whole.to_bytes(), "stopped after batch {last}");
    }
}

#[test]
fn zeros_come_grow_back_and_stay() {
    let config = settings();
    let spans = config.model_for(&vowels()).spans();
    let folder = tempfile::tempdir().unwrap();
    let state = |last| RunState::load(&stopped(&config, folder.path(), last).join(CHECKPOINT_FILE)).unwrap();
    let all_wanted: usize = spans.iter().map(wanted).sum();

    assert_eq!(zeros(&state(30).parameters), 0, "dense");
    for thresholded in [31, 46] {
        let state = state(thresholded);
        assert_eq!(zeros(&state.parameters), all_wanted);
        assert_eq!(zeros(&state.average), 0, "the average remembers");
        assert!(state.support.is_empty());
    }
    assert!(zeros(&state(47).parameters) < all_wanted / 10, "they may grow back");

    let mut support = None;
    for fixed in [55, 56, 80] {
        let state = state(fixed);
        assert_eq!(zeros(&state.parameters), all_wanted, "after batch {fixed}");
        let outside: Vec<usize> = (0..state.support.len()).filter(|&at| !state.support[at]).collect();
        assert_eq!(outside.len(), all_wanted);
        assert_eq!(state.optimizer.len(), 2);
        let memory = state.optimizer.iter().map(|(_, values)| values);
        for values in memory.chain([&state.parameters, &state.average]) {
            assert!(
                outside.iter().all(|&at| values[at].to_bits() == 0),
                "after batch {fixed}"
            );
        }
        assert_eq!(*support.get_or_insert(state.support.clone()), state.support);
    }
}

/// The epochs of a run, and its best one.
fn epochs(config: &RunConfig) -> (Vec<EpochRecord>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let options = Options {
        out: Out::At(path.clone()),
        ..Options::default()
    };
    let outcome = train::train(&vowels(), config, &options, &mut ()).unwrap();
    assert_sparse(&outcome.model);
    let text = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (records, outcome.report.best_epoch)
}

#[test]
fn the_best_epoch_is_one_of_fixed_zeros() {
    let mut config = settings();
    config.training.epochs = 10; // of 27 steps: zeros are fixed from step 180 on, in epoch 7
    config.training.learning_rate = 0.03;
    let (records, best) = epochs(&config);
    let key = |record: &&EpochRecord| (record.validation_accuracy.unwrap(), -record.validation_loss.unwrap());
    let highest = records[6..]
        .iter()
        .reduce(|best, record| if key(&record) > key(&best) { record } else { best });
    assert_eq!(best, highest.unwrap().epoch);
    assert!(records[..6].iter().all(|record| !record.best) && records[6].best);
}

#[test]
fn patience_waits_for_fixed_zeros() {
    let mut config = settings();
    config.training.epochs = 30; // zeros are fixed from step 540 on, the end of epoch 20
    config.training.learning_rate = 1e-9;
    config.training.patience = 2;
    let (records, best) = epochs(&config);
    assert_eq!(records.len(), best + 2);
    assert!(best >= 21);
}

#[test]
fn without_a_validation_part_the_last_epoch_is_taken() {
    let mut config = settings();
    config.training.validation = 0.0;
    assert_eq!(epochs(&config).1, 3);
}

#[test]
fn retraining_has_thirds_of_its_own() {
    let mut config = settings();
    config.training.retrain = true;
    let (records, best) = epochs(&config);
    let phases: Vec<Phase> = records.iter().map(|record| record.phase).collect();
    assert_eq!(phases, [[Phase::Select; 3], [Phase::Retrain; 3]].concat());
    assert_eq!(best, 3);
    let marks: Vec<bool> = records.iter().map(|record| record.best).collect();
    assert_eq!(marks, [false, false, true, false, false, true]);
}

#[test]
fn a_single_step_is_sparse() {
    let mut config = settings();
    config.training.epochs = 1;
    config.training.batch_size = 1000;
    assert_eq!(epochs(&config).1, 1);
}
