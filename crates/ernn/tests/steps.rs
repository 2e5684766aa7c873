//! Training length in optimizer steps, and runs that begin anew with smaller steps of the recurrence.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ernn::checkpoint::EpochRecord;
use ernn::data::{self, Dataset, OpenOptions, Part};
use ernn::train::{self, BatchProgress, Ending, Observer, Options, Out, RunConfig, RunFolder};

/// A batch an epoch, and so many steps that an epoch is too little to be written down.
const STEPS: usize = 200;

fn vowels() -> Dataset {
    data::open("japanese-vowels", &OpenOptions::default()).unwrap()
}

fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("japanese-vowels");
    config.set_in_layers("rank", &toml::Value::Integer(2)).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(6)).unwrap();
    config.model.dropout = 0.2;
    config.training.input_noise = 0.3;
    config.training.epochs = 30;
    config.training.min_steps = STEPS;
    config.training.batch_size = 300;
    config
}

fn options(out: &Path, threads: usize) -> Options {
    Options {
        out: Out::At(out.to_path_buf()),
        threads,
        ..Options::default()
    }
}

/// Asks to stop after so many batches, and keeps what it sees.
#[derive(Default)]
struct Watcher {
    stop: Option<(usize, Arc<AtomicBool>)>,
    batches: usize,
    rates: Vec<f64>,
    warnings: Vec<String>,
}

impl Observer for Watcher {
    fn batch_done(&mut self, progress: &BatchProgress) {
        self.batches += 1;
        assert_eq!(progress.batch, (self.batches - 1) % progress.batches + 1);
        if let Some((last, stop)) = &self.stop {
            stop.store(self.batches >= *last, Ordering::Relaxed);
        }
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.rates.push(record.learning_rate);
    }

    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_string());
    }
}

#[test]
fn few_sequences_take_as_many_steps_as_asked() {
    let mut watcher = Watcher::default();
    let report = train::train(&vowels(), &settings(), &Options::default(), &mut watcher)
        .unwrap()
        .report;
    assert_eq!(
        (watcher.batches, report.epochs, report.optimizer_steps),
        (STEPS, STEPS, STEPS as u64)
    );
    assert!((100..=150).contains(&watcher.rates.len()), "{}", watcher.rates.len());
    // Halved after 25 of 30 epochs.
    let full = watcher
        .rates
        .iter()
        .filter(|&&rate| rate == settings().training.learning_rate)
        .count();
    let share = full as f64 / watcher.rates.len() as f64;
    assert!((share - 25.0 / 30.0).abs() < 0.02, "{share}");
}

#[test]
fn a_floor_below_the_epochs_changes_nothing() {
    let mut config = settings();
    config.training.min_steps = 0;
    let plain = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    config.training.min_steps = 30;
    let same = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    assert!(plain.model.model.parameters() == same.model.model.parameters());
    config.training.max_steps = 30;
    config.training.epochs = 30;
    let same = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    assert!(plain.model.model.parameters() == same.model.model.parameters());
    config.training.max_steps = 31;
    config.training.epochs = 60;
    let short = train::train(&vowels(), &config, &Options::default(), &mut ()).unwrap();
    assert_eq!((short.report.epochs, short.report.optimizer_steps), (31, 31));
}

#[test]
fn a_stretched_run_stopped_after_any_batch_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for retrain in [false, true] {
        let (dataset, mut config) = (vowels(), settings());
        config.training.retrain = retrain;
        let whole = train::train(&dataset, &config, &Options::default(), &mut ()).unwrap();
        for last in [1, 3, 70, STEPS - 1, STEPS + 5] {
            let path = folder.path().join(format!("{retrain}-{last}"));
            let options = options(&path, 2);
            let mut watcher = Watcher {
                stop: Some((last, options.stop.clone())),
                ..Watcher::default()
            };
            let stopped = train::train(&dataset, &config, &options, &mut watcher).unwrap();
            if !retrain && last > STEPS {
                continue;
            }
            assert_eq!((stopped.report.ending, watcher.batches), (Ending::Interrupted, last));
            options.stop.store(false, Ordering::Relaxed);
            let run = RunFolder::open(&path).unwrap();
            let config = run.read_config().unwrap();
            let resumed = train::resume(&dataset, &config, run, &options, &mut ()).unwrap();
            assert!(
                resumed.model.to_bytes() == whole.model.to_bytes(),
                "stopped after batch {last}"
            );
        }
    }
}

/// Long sequences whose states grow with every step: a linear trend.
fn long() -> Dataset {
    let mut train = Part::new(2);
    for sequence in 0..24 {
        let sign = if sequence % 2 == 0 { 1.0 } else { -1.0 };
        let values: Vec<f32> = (0..3000)
            .flat_map(|step| {
                [
                    sign * (step as f32 + sequence as f32).sin(),
                    sign + step as f32 / 3000.0,
                ]
            })
            .collect();
        train.push(&values, Some(sequence % 2), None);
    }
    Dataset {
        name: "long".to_string(),
        feature_names: vec!["a".to_string(), "b".to_string()],
        classes: vec!["up".to_string(), "down".to_string()],
        train,
        ..Dataset::default()
    }
}

fn large_steps() -> RunConfig {
    let mut config = RunConfig::defaults("long.csv");
    for (name, value) in [
        ("hidden", toml::Value::Integer(8)),
        ("rank", toml::Value::Integer(2)),
        ("eta", toml::Value::Float(0.8)),
        ("deviation", toml::Value::Float(0.5)),
        ("steps", toml::Value::String("per-iteration".to_string())),
    ] {
        config.set_in_layers(name, &value).unwrap();
    }
    config.training.epochs = 2;
    config.training.validation = 0.0;
    config
}

#[test]
fn a_first_batch_that_diverges_begins_anew_with_half_of_eta() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut watcher = Watcher::default();
    let found = train::train(&long(), &large_steps(), &options(&path, 1), &mut watcher).unwrap();
    assert!(
        watcher.warnings[0].contains("half of the initial step size eta, now 0.4"),
        "{:?}",
        watcher.warnings
    );
    let used = &found.report.settings;
    let anew = |text: &&String| text.contains("the run begins anew");
    assert_eq!(
        used.training.halvings as usize,
        watcher.warnings.iter().filter(anew).count()
    );
    assert_eq!(used.asked(), large_steps().resolved(&long()));
    assert_eq!(RunFolder::open(&path).unwrap().read_config().unwrap(), *used);
    assert_eq!((found.report.ending, found.report.epochs), (Ending::Finished, 2));
    assert_eq!((found.report.part, found.report.validated), ("train", false));

    // The settings that it ended with, and any number of threads, give the same bits.
    let again = train::train(
        &long(),
        used,
        &Options {
            threads: 2,
            ..Options::default()
        },
        &mut (),
    )
    .unwrap();
    assert!(again.model.to_bytes() == found.model.to_bytes());

    // Stopped in its second life, it goes on: with the settings asked for as well as with those of the folder.
    for asked in [false, true] {
        let path = folder.path().join(format!("stopped-{asked}"));
        let options = options(&path, 1);
        let mut watcher = Watcher {
            stop: Some((1, options.stop.clone())),
            ..Watcher::default()
        };
        train::train(&long(), &large_steps(), &options, &mut watcher).unwrap();
        options.stop.store(false, Ordering::Relaxed);
        let run = RunFolder::open(&path).unwrap();
        let config = if asked {
            large_steps()
        } else {
            run.read_config().unwrap()
        };
        let resumed = train::resume(&long(), &config, run, &options, &mut ()).unwrap();
        assert!(resumed.model.to_bytes() == found.model.to_bytes());
    }
}
