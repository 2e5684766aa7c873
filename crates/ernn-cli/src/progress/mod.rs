//! Progress of a run on stderr: a line that changes on a terminal, plain lines elsewhere.

mod line;
mod meter;
mod runs;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ernn::checkpoint::{EpochRecord, Phase};
use ernn::data::Task;
use ernn::evaluate::Metric;
use ernn::names::counted;
use ernn::train::{BatchProgress, Observer, Start};
use indicatif::{ProgressBar, ProgressStyle};
use line::{Bar, Line};
use meter::{Meter, Pace, roughly};

pub use line::sparkline;
pub use runs::Runs;

use crate::output::{self, Level, grouped, percent, say};
use crate::terminal::{self, Stream};

/// Columns of a sparkline beside other things.
const SPARKLINE: usize = 12;

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
    /// `validation 95.1 %` of the last epoch.
    validation: String,
    /// Training losses of the epochs of the pass.
    losses: Vec<f64>,
    /// Batches of the pass.
    meter: Meter,
    phase: Phase,
    pace: Pace,
    blink: Blink,
    /// Sequences since a moment, for a speed that follows.
    examples: usize,
    since: Instant,
}

/// When a line that changes does so again: often enough for the eye.
#[derive(Default)]
struct Blink(Option<Instant>);

impl Blink {
    /// Whether it is time; if so, it counts as done.
    fn is_due(&mut self) -> bool {
        let due = self.0.is_none_or(|last| last.elapsed() >= Duration::from_millis(200));
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}

impl Progress {
    /// A line that changes if stderr is a terminal.
    pub fn new() -> Self {
        Progress {
            bar: bar(),
            folder: None,
            any_epoch: false,
            epochs: 0,
            epoch: 0,
            train_examples: 0,
            task: Task::default(),
            validation: String::new(),
            losses: Vec::new(),
            meter: Meter::new(),
            phase: Phase::default(),
            pace: Pace::default(),
            blink: Blink::default(),
            examples: 0,
            since: Instant::now(),
        }
    }

    /// What a run counts.
    fn examples_name(&self) -> &'static str {
        match self.task {
            Task::NextToken => "tokens",
            _ => "sequences",
        }
    }

    /// The run folder, once it has the checkpoint of an epoch.
    pub fn folder_with_epoch(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.any_epoch)
    }

    /// Training losses of the epochs that this process has done, of the last pass.
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// A new pass is counted from its first batch on.
    fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.epoch = 0;
            self.losses.clear();
            self.pace = Pace::default();
        }
        self.phase = phase;
    }

    fn speed(&self, examples: usize, time: Duration) -> String {
        let speed = examples as f64 / time.as_secs_f64().max(1e-9);
        format!("{} {}/s", grouped(speed as usize), self.examples_name())
    }
}

/// A line on stderr that changes and goes away in the end; none where nobody would see it change.
fn bar() -> Option<ProgressBar> {
    let dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    if dumb || !Stream::Err.is_terminal() || !output::says(Level::Normal) {
        return None;
    }
    let style = ProgressStyle::with_template("{msg}").expect("a valid template");
    let bar = ProgressBar::new(0).with_style(style);
    output::set_bar(Some(bar.clone()));
    Some(bar)
}

fn bar_look() -> Bar {
    Bar {
        blocks: terminal::has_blocks(),
        colors: Stream::Err.has_colors(),
    }
}

/// Takes the line away.
fn clear(bar: Option<&ProgressBar>) {
    if let Some(bar) = bar {
        output::set_bar(None);
        bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn started(&mut self, start: &Start) {
        self.folder = start.out.map(Path::to_path_buf);
        self.any_epoch |= start.epochs_done > 0;
        self.epochs = start.epochs;
        self.epoch = start.epochs_done;
        self.train_examples = start.train_examples;
        self.task = start.task;
        self.meter = Meter::new();
        let folder = start
            .out
            .map_or_else(String::new, |out| format!(", in {}", out.display()));
        let resumed = match start.epochs_done {
            0 => String::new(),
            done => format!(", going on after epoch {done}"),
        };
        say(&format!(
            "{}, {} parameters; {} {} to train on, {}",
            start.cell,
            grouped(start.parameters),
            grouped(start.train_examples),
            self.examples_name(),
            match start.validation_examples {
                0 => "no validation part".to_string(),
                examples => format!("{} to validate", grouped(examples)),
            },
        ));
        say(&format!(
            "{}, {}{resumed}{folder}",
            counted(start.epochs, "epoch"),
            counted(start.threads, "thread")
        ));
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        self.enter(progress.phase);
        let Some(bar) = &self.bar else { return };
        self.examples += progress.examples;
        let done = ((progress.epoch - 1) * progress.batches + progress.batch) as f64;
        if self.meter.share() == 0.0 {
            self.meter = Meter::of(done, (progress.epochs * progress.batches) as f64);
        }
        self.meter.reached(done);
        if !self.blink.is_due() {
            return;
        }
        let curve = match terminal::has_blocks() {
            true => sparkline(&self.losses, SPARKLINE),
            false => String::new(),
        };
        let left = self.meter.left();
        let line = Line::default()
            .part(0, format!("loss {:.4} {curve}", progress.loss).trim_end())
            .part(2, self.validation.as_str())
            .part(3, self.speed(self.examples, self.since.elapsed()))
            .part(
                1,
                left.map_or_else(String::new, |time| format!("{} left", roughly(time))),
            );
        (self.examples, self.since) = (0, Instant::now());
        let head = format!("{}epoch {}/{}", phase(progress.phase), progress.epoch, progress.epochs);
        bar.set_message(line.with_bar(&head, self.meter.share(), terminal::width() - 1, &bar_look()));
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.enter(record.phase);
        self.any_epoch = true;
        self.losses.push(record.train_loss);
        self.validation = validation(self.task, record);
        // A run of many small epochs is measured now and then.
        let epochs = record.epoch.saturating_sub(self.epoch).max(1);
        self.epoch = record.epoch;
        let share = record.epoch as f64 / self.epochs.max(1) as f64;
        let due = output::says(Level::Verbose) || self.pace.is_due(share);
        if self.bar.is_none() && due {
            say(&self.epoch_line(record, epochs));
        }
    }

    fn warning(&mut self, text: &str) {
        say(&format!("warning: {text}"));
    }
}

impl Progress {
    fn epoch_line(&self, record: &EpochRecord, epochs: usize) -> String {
        let head = format!("{}epoch {}/{}", phase(record.phase), record.epoch, self.epochs);
        let accuracy = match self.task {
            Task::Regression | Task::StepRegression => String::new(),
            Task::MultiLabel => format!("all labels right {}", percent(record.train_accuracy)),
            _ => format!("accuracy {}", percent(record.train_accuracy)),
        };
        let missed = record.equilibria.as_ref().filter(|found| found.not_found > 0);
        let missed = missed.map(|found| format!("{} of the equilibria not found", percent(found.share_not_found())));
        let best = record.best && record.phase == Phase::Select && record.validation_loss.is_some();
        let time = Duration::try_from_secs_f64(record.seconds).unwrap_or_default();
        Line::default()
            .part(0, format!("{head}: loss {:.4}", record.train_loss))
            .part(0, accuracy)
            .part(0, self.validation.as_str())
            .part(0, format!("learning rate {}", record.learning_rate))
            .part(0, self.speed(epochs * self.train_examples, time))
            .part(0, missed.unwrap_or_default())
            .part(0, if best { "best so far" } else { "" })
            .fitted(usize::MAX)
    }
}

/// What an epoch was worth on the validation part.
fn validation(task: Task, record: &EpochRecord) -> String {
    match (task, record.validation_loss, record.validation_accuracy) {
        (Task::NextToken, Some(loss), _) => {
            let perplexity = Metric::Perplexity;
            let text = perplexity.text(perplexity.value(None, loss));
            format!("validation perplexity {text}")
        }
        (Task::MultiLabel, Some(_), _) => {
            let metric = Metric::MeanAveragePrecision;
            format!("validation {}", metric.phrase(metric.after(record).unwrap_or(0.0)))
        }
        (Task::Regression | Task::StepRegression, Some(_), _) => {
            let metric = Metric::RootMeanSquaredError;
            let error = metric.after(record).unwrap_or(f64::NAN);
            format!("validation {}", metric.phrase(error))
        }
        (_, _, Some(accuracy)) => format!("validation {}", percent(accuracy)),
        _ => String::new(),
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
        clear(self.bar.as_ref());
    }
}
