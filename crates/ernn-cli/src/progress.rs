//! Progress of a run on stderr: a bar on a terminal, a plain line an epoch elsewhere.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ernn::checkpoint::{EpochRecord, Phase};
use ernn::train::{BatchProgress, Observer, Start};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{grouped, percent, say};

/// Shows a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    folder: Option<PathBuf>,
    epochs: usize,
    train_sequences: usize,
    /// `, validation 95.1 %` of the last epoch.
    validation: String,
    window: Window,
}

/// Sequences since a moment, for a speed that follows.
struct Window {
    since: Instant,
    sequences: usize,
}

impl Progress {
    /// A bar if stderr is a terminal.
    pub fn new() -> Self {
        Progress {
            bar: io::stderr().is_terminal().then(bar),
            folder: None,
            epochs: 0,
            train_sequences: 0,
            validation: String::new(),
            window: Window {
                since: Instant::now(),
                sequences: 0,
            },
        }
    }

    /// The run folder, once the run has one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {msg}, {eta} left").expect("a valid template");
    ProgressBar::new(0).with_style(style)
}

impl Observer for Progress {
    fn started(&mut self, start: &Start) {
        self.folder = start.out.map(Path::to_path_buf);
        self.epochs = start.epochs;
        self.train_sequences = start.train_sequences;
        let folder = start
            .out
            .map_or_else(String::new, |out| format!(", in {}", out.display()));
        let resumed = match start.epochs_done {
            0 => String::new(),
            done => format!(", going on after epoch {done}"),
        };
        say(&format!(
            "{}, {} parameters; {} sequences to train on, {} to validate; {} epochs, {} threads{resumed}{folder}",
            start.cell,
            grouped(start.parameters),
            grouped(start.train_sequences),
            grouped(start.validation_sequences),
            start.epochs,
            start.threads,
        ));
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        let Some(bar) = &self.bar else { return };
        self.window.sequences += progress.sequences;
        let done = (progress.epoch - 1) * progress.batches + progress.batch;
        if bar.length() != Some((progress.epochs * progress.batches) as u64) {
            bar.set_length((progress.epochs * progress.batches) as u64);
            bar.set_position(done as u64);
            bar.reset_eta();
        }
        bar.set_position(done as u64);
        let elapsed = self.window.since.elapsed();
        if elapsed < Duration::from_millis(200) {
            return;
        }
        let speed = self.window.sequences as f64 / elapsed.as_secs_f64();
        self.window.since = Instant::now();
        self.window.sequences = 0;
        bar.set_prefix(format!(
            "{}epoch {}/{}",
            phase(progress.phase),
            progress.epoch,
            progress.epochs
        ));
        bar.set_message(format!(
            "loss {:.4}{}, {} sequences/s",
            progress.loss,
            self.validation,
            grouped(speed as usize)
        ));
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.validation = record
            .validation_accuracy
            .map_or_else(String::new, |accuracy| format!(", validation {}", percent(accuracy)));
        if self.bar.is_some() {
            return;
        }
        let speed = self.train_sequences as f64 / record.seconds.max(1e-9);
        say(&format!(
            "{}epoch {}/{}: loss {:.4}, accuracy {}{}, learning rate {}, {} sequences/s{}",
            phase(record.phase),
            record.epoch,
            self.epochs,
            record.train_loss,
            percent(record.train_accuracy),
            self.validation,
            record.learning_rate,
            grouped(speed as usize),
            if record.best && record.phase == Phase::Select {
                ", best so far"
            } else {
                ""
            },
        ));
    }

    fn warning(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(&format!("warning: {text}"))),
            None => say(&format!("warning: {text}")),
        }
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Select => "",
        Phase::Retrain => "retraining, ",
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
