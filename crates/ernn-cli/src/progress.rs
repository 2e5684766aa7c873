//! Progress of a run on stderr: a bar on a terminal, a plain line an epoch elsewhere.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ernn::checkpoint::{EpochRecord, Phase};
use ernn::data::Task;
use ernn::evaluate::Metric;
use ernn::train::{BatchProgress, Observer, Start};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{grouped, percent, say};

/// Shows a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    folder: Option<PathBuf>,
    /// Whether an epoch has come to its end, in this process or before.
    any_epoch: bool,
    epochs: usize,
    /// The last one that was measured.
    epoch: usize,
    train_examples: usize,
    task: Task,
    /// `, validation 95.1 %` of the last epoch.
    validation: String,
    window: Window,
}

/// Sequences since a moment, for a speed that follows.
struct Window {
    since: Instant,
    examples: usize,
}

impl Progress {
    /// A bar if stderr is a terminal.
    pub fn new() -> Self {
        Progress {
            bar: io::stderr().is_terminal().then(bar),
            folder: None,
            any_epoch: false,
            epochs: 0,
            epoch: 0,
            train_examples: 0,
            task: Task::default(),
            validation: String::new(),
            window: Window {
                since: Instant::now(),
                examples: 0,
            },
        }
    }

    /// What a run counts.
    fn examples(&self) -> &'static str {
        match self.task {
            Task::NextToken => "tokens",
            _ => "sequences",
        }
    }

    /// The run folder, once it has the checkpoint of an epoch.
    pub fn folder_with_epoch(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.any_epoch)
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {msg}, {eta} left").expect("a valid template");
    ProgressBar::new(0).with_style(style)
}

impl Observer for Progress {
    fn started(&mut self, start: &Start) {
        self.folder = start.out.map(Path::to_path_buf);
        self.any_epoch |= start.epochs_done > 0;
        self.epochs = start.epochs;
        self.epoch = start.epochs_done;
        self.train_examples = start.train_examples;
        self.task = start.task;
        let folder = start
            .out
            .map_or_else(String::new, |out| format!(", in {}", out.display()));
        let resumed = match start.epochs_done {
            0 => String::new(),
            done => format!(", going on after epoch {done}"),
        };
        say(&format!(
            "{}, {} parameters; {} {} to train on, {}; {} epochs, {} threads{resumed}{folder}",
            start.cell,
            grouped(start.parameters),
            grouped(start.train_examples),
            self.examples(),
            match start.validation_examples {
                0 => "no validation part".to_string(),
                examples => format!("{} to validate", grouped(examples)),
            },
            start.epochs,
            start.threads,
        ));
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        let Some(bar) = &self.bar else { return };
        self.window.examples += progress.examples;
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
        let speed = self.window.examples as f64 / elapsed.as_secs_f64();
        self.window.since = Instant::now();
        self.window.examples = 0;
        bar.set_prefix(format!(
            "{}epoch {}/{}",
            phase(progress.phase),
            progress.epoch,
            progress.epochs
        ));
        bar.set_message(format!(
            "loss {:.4}{}, {} {}/s",
            progress.loss,
            self.validation,
            grouped(speed as usize),
            self.examples()
        ));
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.any_epoch = true;
        self.validation = match (self.task, record.validation_loss, record.validation_accuracy) {
            (Task::NextToken, Some(loss), _) => {
                let perplexity = Metric::Perplexity;
                format!(
                    ", validation perplexity {}",
                    perplexity.text(perplexity.value(None, loss))
                )
            }
            (Task::Regression, Some(loss), _) => format!(", validation {loss:.4}"),
            (_, _, Some(accuracy)) => format!(", validation {}", percent(accuracy)),
            _ => String::new(),
        };
        if self.bar.is_some() {
            return;
        }
        // A run of many small epochs is measured now and then.
        let epochs = record.epoch.saturating_sub(self.epoch).max(1);
        self.epoch = record.epoch;
        let speed = (epochs * self.train_examples) as f64 / record.seconds.max(1e-9);
        say(&format!(
            "{}epoch {}/{}: loss {:.4}{}{}, learning rate {}, {} {}/s{}{}",
            phase(record.phase),
            record.epoch,
            self.epochs,
            record.train_loss,
            match self.task {
                Task::Regression => String::new(),
                _ => format!(", accuracy {}", percent(record.train_accuracy)),
            },
            self.validation,
            record.learning_rate,
            grouped(speed as usize),
            self.examples(),
            match &record.equilibria {
                Some(found) if found.not_found > 0 =>
                    format!(", {} of the equilibria not found", percent(found.share_not_found())),
                _ => String::new(),
            },
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
