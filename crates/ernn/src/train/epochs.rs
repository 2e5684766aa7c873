//! The loop: epochs of batches, each batch a step, each epoch measured on the validation part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::from;
use super::length::{self, Length};
use super::parts::Parts;
use super::thirds::Thirds;
use super::{BatchProgress, ClassWeights, Observer, RunConfig, RunFolder, TrainingSettings};
use crate::batch::{self, Batch, Noise, Streams};
use crate::cell::Span;
use crate::checkpoint::{Best, EpochRecord, Phase, RunState, Tally};
use crate::data::{TargetScale, Task};
use crate::evaluate::{self, Evaluation, NumberReport};
use crate::model::{LossOptions, Model, ModelConfig, State, Workspace};
use crate::optim::{self, Optimizer};
use crate::{Error, Result};

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopEnd {
    /// All epochs are done.
    Finished,
    /// `patience` epochs brought nothing better.
    EarlyStop,
    /// Someone asked to stop.
    Interrupted,
}

/// Keeps checkpoints after epochs from costing more than a twentieth of the time: flushing to the disk takes milliseconds, and
/// so do the epochs of a small data set. What is not yet saved is computed again, to the same bits.
#[derive(Default)]
struct Pace {
    last: Option<(Instant, Duration)>,
}

impl Pace {
    fn write_if_due(&mut self, folder: &RunFolder, state: &RunState) -> Result<()> {
        if self.last.is_some_and(|(end, cost)| end.elapsed() < 20 * cost) {
            return Ok(());
        }
        let began = Instant::now();
        folder.write_checkpoint(state)?;
        self.last = Some((Instant::now(), began.elapsed()));
        Ok(())
    }
}

/// One pass of a run over its parts.
pub(super) struct Pass<'a> {
    settings: &'a TrainingSettings,
    /// Whether there is dropout anywhere.
    drops: bool,
    /// Steps in a piece of truncated backpropagation.
    piece: Option<usize>,
    /// How a text is cut.
    streams: Option<Streams>,
    classes: &'a [String],
    parts: &'a Parts<'a>,
    length: Length,
    /// Batches of one epoch.
    batches: usize,
    thirds: Option<Thirds>,
    spans: Vec<Span>,
    model: Model<f32>,
    optimizer: Optimizer<f32>,
    state: RunState,
    batch: Batch<f32>,
    workspace: Workspace<f32>,
    gradient: Vec<f32>,
}

impl<'a> Pass<'a> {
    /// A pass from its first batch.
    pub fn start(
        config: &'a RunConfig,
        model: ModelConfig,
        classes: &'a [String],
        parts: &'a Parts<'a>,
        state: RunState,
        length: Length,
    ) -> Result<Self> {
        let settings = &config.training;
        let mut model = Model::new(model, settings.seed)?;
        let begins = state.parameters.is_empty();
        if let Some(path) = settings.from.as_deref().filter(|_| begins) {
            from::take_over(&mut model, path, &parts.targets)?;
        }
        let mut optimizer = Optimizer::new(settings.optimizer.clone(), model.parameters().len());
        if !state.parameters.is_empty() {
            restore(&mut model, &mut optimizer, &state)?;
        }
        let task = model.config().task;
        let streams = length::streams(settings, task, &parts.fit);
        let batches = length::batches(settings, task, &parts.fit);
        let steps = length.epochs * batches;
        let thirds = Thirds::new(settings.sparsity, model.spans(), steps as u64);
        let mut state = state;
        if let Some(thirds) = thirds.as_ref().filter(|_| begins && settings.from.is_some()) {
            // A model that was thinned keeps its zeros from the first step on.
            state.support = thirds.support(model.parameters());
            optim::restrict(model.parameters_mut(), &state.support);
        }
        Ok(Pass {
            settings,
            drops: model.config().drops(),
            piece: piece_length(settings.tbptt, parts.fit.longest()).filter(|_| streams.is_none()),
            streams,
            classes,
            parts,
            length,
            batches,
            thirds,
            spans: model.spans().to_vec(),
            gradient: vec![0.0; model.parameters().len()],
            model,
            optimizer,
            state,
            batch: Batch::new(),
            workspace: Workspace::default(),
        })
    }

    /// The state now, complete.
    pub fn state(&mut self) -> &RunState {
        self.state.parameters.clear();
        self.state.parameters.extend_from_slice(self.model.parameters());
        self.state.optimizer_steps = self.optimizer.steps();
        let memory = self.optimizer.state();
        self.state.optimizer = memory
            .map(|(name, values)| (name.to_string(), values.to_vec()))
            .collect();
        &self.state
    }

    /// The state and the model, at the end.
    pub fn into_parts(mut self) -> (RunState, Model<f32>) {
        self.state();
        let shown = self.shown().to_vec();
        self.model.parameters_mut().copy_from_slice(&shown);
        (self.state, self.model)
    }

    /// What is measured and saved: the averaged parameters, or the parameters.
    fn shown(&self) -> &[f32] {
        if self.state.average.is_empty() {
            self.model.parameters()
        } else {
            &self.state.average
        }
    }

    /// Runs to the end, or until `stop`. The folder gets a checkpoint after an epoch and at the end.
    pub fn run(
        &mut self,
        mut folder: Option<&mut RunFolder>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<LoopEnd> {
        let mut pace = Pace::default();
        let end = loop {
            if self.state.epoch >= self.length.epochs {
                break LoopEnd::Finished;
            }
            if self.settings.patience > 0 && self.state.stale_epochs >= self.settings.patience {
                break LoopEnd::EarlyStop;
            }
            if !self.stretch(stop, observer)? {
                break LoopEnd::Interrupted;
            }
            let record = &self.state.history[self.state.history.len() - 1];
            observer.epoch_done(record);
            if let Some(folder) = folder.as_deref_mut() {
                folder.append_metrics(record)?;
                pace.write_if_due(folder, self.state())?;
            }
        };
        if let Some(folder) = folder {
            folder.write_checkpoint(self.state())?;
        }
        Ok(end)
    }

    /// The rest of the epochs until the next measurement, which is one epoch unless the run was stretched; false if it was stopped before.
    fn stretch(&mut self, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<bool> {
        let first = self.state.epoch + 1;
        let last = self.length.last_of_stretch(first);
        let began = Instant::now();
        let before = self.state.tally.seconds;
        for epoch in first..=last {
            let done = self.state.tally.batches - (epoch - first) * self.batches;
            if done < self.batches && !self.epoch(epoch, done, stop, observer)? {
                self.state.tally.seconds = before + began.elapsed().as_secs_f64();
                return Ok(false);
            }
        }
        let measured = self.measure(last)?;
        self.state.tally.seconds = before + began.elapsed().as_secs_f64();
        self.close_stretch(last, measured);
        Ok(true)
    }

    /// The rest of one epoch of which so many batches are done; false if it was stopped before its end.
    fn epoch(&mut self, epoch: usize, done: usize, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<bool> {
        let plan = self.plan(epoch);
        for (index, members) in plan.iter().enumerate().skip(done) {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.step(epoch, members)?;
            observer.batch_done(&BatchProgress {
                phase: self.state.phase,
                epoch,
                epochs: self.length.epochs,
                batch: index + 1,
                batches: plan.len(),
                examples: self.streams.map_or(members.len(), |_| self.batch.targets.len()),
                loss: self.state.tally.loss / self.state.tally.sequences as f64,
            });
        }
        // The next epoch begins the text anew.
        self.state.carried.clear();
        Ok(true)
    }

    /// What goes into each batch: sequences, or the one window of a text.
    fn plan(&self, epoch: usize) -> Vec<Vec<usize>> {
        match &self.streams {
            Some(streams) => (0..streams.batches()).map(|window| vec![window]).collect(),
            None => batch::plan(
                &self.parts.fit,
                self.settings.batch_size,
                Some((self.settings.seed, epoch)),
            ),
        }
    }

    /// One batch: loss and gradient, clipped, and the optimizer's step.
    fn step(&mut self, epoch: usize, members: &[usize]) -> Result<()> {
        self.fix_support_if_due();
        let (loss, correct) = self.loss_and_gradient(epoch, members)?;
        self.check_finite(epoch, loss)?;
        if !self.state.support.is_empty() {
            optim::restrict(&mut self.gradient, &self.state.support);
        }
        let norm = optim::clip_global_norm(&mut self.gradient, self.settings.largest_norm());
        let learning_rate = self.learning_rate(epoch);
        self.optimizer
            .step(self.model.parameters_mut(), &self.gradient, learning_rate, &self.spans);
        self.thin();
        if self.settings.average > 0.0 {
            let steps = self.optimizer.steps();
            optim::average(
                self.settings.average,
                steps,
                self.model.parameters(),
                &mut self.state.average,
            );
        }

        let tally = &mut self.state.tally;
        // What a loss is the mean of: sequences, or steps.
        let numbers = self.batch.numbers.iter().filter(|number| !number.is_nan()).count();
        let targets = self.batch.targets.len().max(numbers);
        let labels = self.batch.indicators.len() / self.classes.len().max(1);
        let count = targets.max(labels);
        tally.batches += 1;
        tally.sequences += count;
        tally.loss += f64::from(loss) * count as f64;
        tally.correct += correct;
        tally.gradient_norm += norm;
        if let Some(found) = self.workspace.take_equilibria() {
            tally.equilibria.get_or_insert_default().add(&found);
        }
        Ok(())
    }

    /// Mean loss and right predictions of a batch; leaves the gradient.
    fn loss_and_gradient(&mut self, epoch: usize, members: &[usize]) -> Result<(f32, usize)> {
        let (seed, draw) = (self.settings.seed, epoch as u64);
        let noise = Some(Noise {
            deviation: self.settings.input_noise as f32,
            offset: self.settings.input_offset as f32,
            gain: self.settings.input_gain as f32,
            seed,
            epoch,
        });
        match &self.streams {
            Some(streams) => self.batch.fill_text(self.parts.fit.tokens(0), streams, members[0]),
            None => self.batch.fill(&self.parts.fit, members, noise),
        }
        if let Some(taught) = &self.parts.taught {
            self.batch.teach(&taught.probabilities, self.classes.len());
        }
        let options = LossOptions {
            class_weights: self.parts.class_weights.clone(),
            dropout: self.drops.then_some((seed, draw)),
            tbptt: self.piece,
            loss: self.settings.loss,
            distillation: self.parts.taught.as_ref().map(|taught| taught.distillation),
        };
        let (batch, workspace, gradient) = (&self.batch, &mut self.workspace, &mut self.gradient);
        if self.streams.is_none() {
            return self.model.loss_and_gradient(batch, &options, workspace, gradient);
        }
        let mut state = State::of_layers(std::mem::take(&mut self.state.carried));
        let found = self
            .model
            .window_loss_and_gradient(batch, &options, &mut state, workspace, gradient)?;
        self.state.carried = state.into_layers();
        Ok(found)
    }

    /// The last third begins: what is 0 now stays 0, in everything that is saved.
    fn fix_support_if_due(&mut self) {
        let due = |thirds: &&Thirds| thirds.is_fixed(self.optimizer.steps());
        let Some(thirds) = self.thirds.as_ref().filter(due) else {
            return;
        };
        if !self.state.support.is_empty() {
            return;
        }
        let support = thirds.support(self.model.parameters());
        optim::restrict(self.model.parameters_mut(), &support);
        if !self.state.average.is_empty() {
            optim::restrict(&mut self.state.average, &support);
        }
        self.optimizer.forget_outside(&support);
        self.state.support = support;
    }

    /// What sparsity asks for after the optimizer's step.
    fn thin(&mut self) {
        let step = self.optimizer.steps() - 1;
        if !self.state.support.is_empty() {
            optim::restrict(self.model.parameters_mut(), &self.state.support);
        } else if let Some(thirds) = self.thirds.as_ref().filter(|thirds| thirds.thresholds_after(step)) {
            let support = thirds.support(self.model.parameters());
            optim::restrict(self.model.parameters_mut(), &support);
        }
    }

    fn check_finite(&self, epoch: usize, loss: f32) -> Result<()> {
        let batch = self.state.tally.batches % self.batches + 1;
        let stop = |what: String, value: f64| {
            Err(Error::NotFinite {
                epoch,
                batch,
                what,
                value,
            })
        };
        if !loss.is_finite() {
            return stop("the loss".to_string(), f64::from(loss));
        }
        match optim::first_not_finite(&self.gradient, &self.spans) {
            Some((span, value)) => stop(format!("the gradient of {}", span.name), value),
            None => Ok(()),
        }
    }

    fn learning_rate(&self, epoch: usize) -> f64 {
        self.settings
            .schedule
            .learning_rate(self.settings.learning_rate, self.length.scheduled(epoch - 1))
    }

    fn measure(&self, epoch: usize) -> Result<Option<Evaluation>> {
        let Some(part) = &self.parts.validation else {
            return Ok(None);
        };
        let model = Model::from_parameters(self.model.config().clone(), self.shown().to_vec())?;
        let found = evaluate::evaluate_in_training(&model, self.classes, part, self.settings.loss)?;
        if !found.loss.is_finite() {
            return Err(Error::NotFinite {
                epoch,
                batch: self.batches,
                what: "the loss on the validation part".to_string(),
                value: found.loss,
            });
        }
        Ok(Some(found))
    }

    /// The error of numbers to predict, in their unit.
    fn error_in_unit(&self, measured: Option<&Evaluation>) -> Option<f64> {
        let numbers = measured?.numbers.as_ref()?;
        let scaled = |(report, scale): (&NumberReport, &TargetScale)| report.root_mean_squared_error * scale.deviation;
        let each = match numbers.targets.is_empty() {
            true => std::slice::from_ref(numbers),
            false => &numbers.targets,
        };
        let mut errors = each.iter().zip(&self.parts.targets).map(scaled);
        if each.len() == 1 {
            return errors.next();
        }
        let squares: f64 = errors.map(|error| error.powi(2)).sum();
        Some((squares / each.len() as f64).sqrt())
    }

    /// Books the epochs since the last measurement: record, best parameters, counters.
    fn close_stretch(&mut self, epoch: usize, measured: Option<Evaluation>) {
        let tally = std::mem::take(&mut self.state.tally);
        let mut record = record(self.state.phase, epoch, &tally, measured.as_ref());
        record.learning_rate = self.learning_rate(epoch);
        record.validation_root_mean_squared_error = self.error_in_unit(measured.as_ref());
        let score = match (self.model.config().task, self.settings.class_weights) {
            (Task::NextToken | Task::Regression | Task::StepRegression, _) => record.validation_loss.map(|loss| -loss),
            (Task::MultiLabel, _) => record.validation_average_precision.or(Some(0.0)),
            (_, ClassWeights::None) => record.validation_accuracy,
            (_, ClassWeights::Balanced) => record.validation_balanced_accuracy,
        };
        // A model with sparsity is one of the last third: before it, no support is fixed.
        let complete = self.thirds.is_none() || !self.state.support.is_empty();
        record.best = complete && is_better(score, record.validation_loss, self.state.best.as_ref());
        if record.best && self.state.phase == Phase::Select {
            self.state.best = Some(Best {
                epoch,
                score,
                accuracy: record.validation_accuracy,
                loss: record.validation_loss.unwrap_or(record.train_loss),
                parameters: self.shown().to_vec(),
            });
        }
        self.state.stale_epochs = if record.best || !complete {
            0
        } else {
            self.state.stale_epochs + epoch - self.state.epoch
        };
        self.state.epoch = epoch;
        self.state.history.push(record);
    }
}

fn record(phase: Phase, epoch: usize, tally: &Tally, measured: Option<&Evaluation>) -> EpochRecord {
    let sequences = tally.sequences.max(1) as f64;
    EpochRecord {
        phase,
        epoch,
        train_loss: tally.loss / sequences,
        train_accuracy: tally.correct as f64 / sequences,
        validation_loss: measured.map(|measured| measured.loss),
        validation_accuracy: measured.and_then(|measured| measured.accuracy),
        validation_balanced_accuracy: measured.and_then(|measured| measured.balanced_accuracy),
        gradient_norm: tally.gradient_norm / tally.batches.max(1) as f64,
        seconds: tally.seconds,
        equilibria: tally.equilibria,
        validation_average_precision: measured.and_then(|measured| measured.labels.as_ref()?.mean_average_precision),
        ..EpochRecord::default()
    }
}

/// Higher score on the validation part, and lower loss among equals. Without a validation part the last epoch is the best.
fn is_better(score: Option<f64>, loss: Option<f64>, best: Option<&Best>) -> bool {
    let (Some(score), Some(loss), Some(best)) = (score, loss, best) else {
        return true;
    };
    best.score
        .is_none_or(|highest| score > highest || (score == highest && loss < best.loss))
}

/// Steps in a piece: as many as `most` allows, and so that the longest sequence falls into equal pieces. A last piece of a few steps
/// would let gradients flow through hardly any.
fn piece_length(most: usize, longest: usize) -> Option<usize> {
    (most > 0 && most < longest).then(|| longest.div_ceil(longest.div_ceil(most)))
}

fn restore(model: &mut Model<f32>, optimizer: &mut Optimizer<f32>, state: &RunState) -> Result<()> {
    let expected = model.parameters().len();
    let fits = |length: usize| [0, expected].contains(&length);
    if state.parameters.len() != expected || !fits(state.average.len()) || !fits(state.support.len()) {
        let found = format!("{} parameters", state.parameters.len());
        let expected = format!("{expected}, as config.toml says");
        return Err(Error::setting("checkpoint", found, expected));
    }
    model.parameters_mut().copy_from_slice(&state.parameters);
    let memory = |name: &str| {
        state
            .optimizer
            .iter()
            .find(|(saved, _)| saved == name)
            .map(|(_, values)| &values[..])
    };
    optimizer.restore(state.optimizer_steps, memory)
}
