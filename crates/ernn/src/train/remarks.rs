//! Training that goes wrong quietly: a loss far above that of guessing, a jump, a validation loss that rises. The run goes on, and
//! whoever watches it is told once of each, with what helps.
//!
//! All bounds are in units of the loss of guessing: `ln classes`, or of a regression the mean square of its targets on their scale.
//!
//! ```text
//! first loss    of the first batch: above 10 times guessing, if no mean loss came below guessing in a tenth of the epochs
//! jump          of a batch: above 10 times guessing and 100 times the mean loss of the epoch before, if the mean loss stays above
//!               guessing and twice that one
//! rise          of the validation part: 5 times its lowest, and above a quarter of guessing
//! ```
//!
//! Most runs recover from a bad start or a jump by themselves, those of the defaults among them. What helps follows from the cause: a first
//! loss that is high without noise on the inputs comes from the states, else from the noise; with a learning rate far above the usual one
//! nothing else is blamed.

use super::teacher::Taught;
use super::{BatchProgress, Observer, RunConfig, Start, TrainingSettings};
use crate::cell::{CellConfig, ErnnConfig, StepSizes};
use crate::checkpoint::{EpochRecord, Phase};
use crate::data::{Task, View};
use crate::evaluate;
use crate::head::pinball_loss;
use crate::model::{Model, ModelConfig};
use crate::optim::OptimizerConfig;

/// Passes everything on, and adds its remarks as warnings.
pub(super) struct Remarks<'a> {
    observer: &'a mut dyn Observer,
    training: &'a TrainingSettings,
    model: &'a ModelConfig,
    fit: &'a View<'a>,
    guessing: f64,
    /// The same of the loss that is trained, in which a teacher's part may be larger.
    guessing_in_training: f64,
    /// Whether step sizes are what helps.
    has_steps: bool,
    /// Whether there is one for each step, and there could be fewer.
    steps_for_each: bool,
    /// Epochs of the run, and its first loss, if it is high.
    epochs: usize,
    high_first: Option<f64>,
    /// Whether a mean loss was below that of guessing.
    recovered: bool,
    /// What is to be said of a jump, and the mean loss before it.
    pending: Option<(String, f64)>,
    /// Whether the record with the jump has come.
    waited: bool,
    /// Loss and examples of the epoch under way, summed up.
    so_far: (f64, usize),
    /// Mean loss of the epoch before.
    before: Option<f64>,
    /// Lowest loss on the validation part, and its epoch.
    lowest: Option<(f64, usize)>,
    said: Said,
}

#[derive(Default)]
struct Said {
    jump: bool,
    rise: bool,
}

impl<'a> Remarks<'a> {
    pub fn new(
        observer: &'a mut dyn Observer,
        training: &'a TrainingSettings,
        model: &'a ModelConfig,
        fit: &'a View<'a>,
    ) -> Self {
        let guessing = guessing(model, fit);
        Remarks {
            observer,
            training,
            model,
            fit,
            guessing,
            guessing_in_training: guessing,
            has_steps: ernn(model, |_| true),
            steps_for_each: ernn(model, |cell| cell.steps == StepSizes::PerStep),
            epochs: 0,
            high_first: None,
            recovered: false,
            pending: None,
            waited: false,
            so_far: (0.0, 0),
            before: None,
            lowest: None,
            said: Said::default(),
        }
    }

    /// The same for a run with a teacher, whose part of the loss of guessing is `T^2` times as large.
    pub fn taught(mut self, taught: Option<&Taught>) -> Self {
        if let Some(Taught { distillation, .. }) = taught {
            let share = distillation.weight;
            self.guessing_in_training *= 1.0 - share + share * distillation.temperature.powi(2);
        }
        self
    }

    /// What is to be said of a first loss that nothing has made up for.
    fn first(&self, loss: f64) -> String {
        let guessing = self.guessing_in_training;
        let begins = format!(
            "the first loss is {}, and guessing has {}, which the training has not come below",
            number(loss),
            number(guessing)
        );
        if self.is_fast() {
            return format!("{begins}; what helps: {}", self.slower());
        }
        match self.without_noise().filter(|quiet| *quiet <= FIRST * guessing) {
            Some(quiet) => format!(
                "{begins}; without noise on the inputs it is {}; what helps: a smaller {}",
                number(quiet),
                self.noises().join(", ")
            ),
            None => format!(
                "{begins}: the states grow over sequences of {} steps; what helps: {}",
                self.fit.longest(),
                self.smaller_states()
            ),
        }
    }

    fn smaller_states(&self) -> &'static str {
        match (self.has_steps, self.steps_for_each) {
            (true, true) => "--steps per-iteration, a smaller --eta, --activation tanh",
            (true, false) => "a smaller --eta, --activation tanh",
            _ => "--activation tanh, or a gated --cell such as gru",
        }
    }

    /// Whether the learning rate is far above the usual one of its optimizer.
    fn is_fast(&self) -> bool {
        let usual = RunConfig::defaults("").training;
        let adam = !matches!(self.training.optimizer, OptimizerConfig::Sgd(_));
        adam && self.training.learning_rate > FAST * usual.learning_rate
    }

    fn slower(&self) -> String {
        format!("a smaller --learning-rate (now {})", self.training.learning_rate)
    }

    /// The flags of the noise that there is.
    fn noises(&self) -> Vec<&'static str> {
        let training = self.training;
        let all = [
            ("--input-noise", training.input_noise),
            ("--input-offset", training.input_offset),
            ("--input-gain", training.input_gain),
        ];
        all.into_iter()
            .filter(|(_, size)| *size > 0.0)
            .map(|(flag, _)| flag)
            .collect()
    }

    /// The loss of the initial weights on sequences as they are; none if there is no noise, or it cannot be told.
    fn without_noise(&self) -> Option<f64> {
        if self.noises().is_empty() || self.training.from.is_some() || self.model.task == Task::NextToken {
            return None;
        }
        let model = Model::new(self.model.clone(), self.training.seed).ok()?;
        let names: Vec<String> = (1..=self.model.classes).map(|class| class.to_string()).collect();
        let mut part = self.fit.clone();
        part.truncate(SAMPLE);
        let found = evaluate::evaluate_normalized(&model, &names, &part).ok()?;
        found.loss.is_finite().then_some(found.loss)
    }

    fn jump(&self, loss: f64, progress: &BatchProgress) -> Option<(String, f64)> {
        let before = self.before?;
        let high = loss > FIRST * self.guessing_in_training && loss > JUMP * before;
        high.then(|| {
            let text = format!(
                "epoch {}, batch {}: the loss jumped to {}, after {} in the epoch before; what helps: {}",
                progress.epoch,
                progress.batch,
                number(loss),
                number(before),
                match self.is_fast() {
                    true => self.slower(),
                    false => "a smaller --learning-rate or --clip-norm".to_string(),
                }
            );
            (text, before)
        })
    }

    /// Says what is still to be said after an epoch.
    fn say_pending(&mut self, record: &EpochRecord) {
        let guessing = self.guessing_in_training;
        let below = |loss: Option<f64>, guessing: f64| loss.is_some_and(|loss| loss <= guessing);
        self.recovered |= below(Some(record.train_loss), guessing) || below(record.validation_loss, self.guessing);
        if 10 * record.epoch >= self.epochs
            && let Some(loss) = self.high_first.take().filter(|_| !self.recovered)
        {
            let remark = self.first(loss);
            self.observer.warning(&remark);
        }
        // The record that has the jump in its mean tells nothing yet, unless it is the last one.
        let measured_after = std::mem::replace(&mut self.waited, self.pending.is_some());
        if (measured_after || record.epoch >= self.epochs)
            && let Some((text, before)) = self.pending.take()
        {
            self.waited = false;
            if record.train_loss > guessing && record.train_loss > 2.0 * before {
                self.said.jump = true;
                self.observer.warning(&text);
            }
        }
    }

    fn rise(&self, loss: f64) -> Option<String> {
        let (lowest, epoch) = self.lowest?;
        let high = loss > RISE * lowest && loss > self.guessing / 4.0;
        high.then(|| {
            format!(
                "the validation loss has risen to {}, from {} after epoch {epoch}: the model learns the training part by heart, or too \
                 fast; what helps: --patience N ends a run that gets no better, --dropout, a smaller --learning-rate",
                number(loss),
                number(lowest)
            )
        })
    }

    /// The loss of the batch that was just done, out of the mean of all in the epoch.
    fn loss_of_batch(&mut self, progress: &BatchProgress) -> f64 {
        let (sum, examples) = self.so_far;
        let (sum, examples) = if progress.batch == 1 { (0.0, 0) } else { (sum, examples) };
        let count = examples + progress.examples;
        let total = progress.loss * count as f64;
        self.so_far = (total, count);
        (total - sum) / progress.examples.max(1) as f64
    }
}

const FIRST: f64 = 10.0;
const JUMP: f64 = 100.0;
const RISE: f64 = 5.0;
/// Times the usual learning rate.
const FAST: f64 = 3.0;
/// Sequences that tell the loss without noise.
const SAMPLE: usize = 64;

impl Observer for Remarks<'_> {
    fn started(&mut self, start: &Start) {
        self.observer.started(start);
    }

    fn batch_done(&mut self, progress: &BatchProgress) {
        self.observer.batch_done(progress);
        // A resumed epoch begins in its midst: what came before it is not known.
        if progress.batch > 1 && self.so_far.1 == 0 {
            return;
        }
        let loss = self.loss_of_batch(progress);
        let is_first = (progress.phase, progress.epoch, progress.batch) == (Phase::Select, 1, 1);
        if is_first && loss > FIRST * self.guessing_in_training {
            self.high_first = Some(loss);
        }
        self.epochs = progress.epochs;
        if self.pending.is_none() && !self.said.jump {
            self.pending = self.jump(loss, progress);
        }
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.observer.epoch_done(record);
        self.before = Some(record.train_loss);
        self.say_pending(record);
        let Some(loss) = record.validation_loss else { return };
        if let Some(remark) = self.rise(loss).filter(|_| !self.said.rise) {
            self.said.rise = true;
            self.observer.warning(&remark);
        }
        if self.lowest.is_none_or(|(lowest, _)| loss < lowest) {
            self.lowest = Some((loss, record.epoch));
        }
    }

    fn warning(&mut self, text: &str) {
        self.observer.warning(text);
    }
}

/// Whether one of the layers is such an ERNN.
fn ernn(model: &ModelConfig, is: impl Fn(&ErnnConfig) -> bool) -> bool {
    let is = |cell: &CellConfig| matches!(cell, CellConfig::Ernn(cell) if is(cell));
    model.layers.iter().any(is)
}

/// The loss of a model that knows nothing.
fn guessing(model: &ModelConfig, fit: &View) -> f64 {
    if model.task == Task::MultiLabel {
        return 2f64.ln();
    }
    if !model.task.is_of_numbers() {
        return (model.classes.max(2) as f64).ln();
    }
    let numbers = (0..fit.len()).flat_map(|index| fit.numbers_of(index).chain(fit.step_numbers(index)));
    let numbers: Vec<f32> = numbers.filter(|number| !number.is_nan()).collect();
    if !model.quantiles.is_empty() {
        let nothing = vec![0.0; numbers.len() * model.quantiles.len()];
        let loss = pinball_loss::<f64>(&model.quantiles, &nothing, &numbers, &mut Vec::new());
        return loss.max(f64::MIN_POSITIVE);
    }
    let squares: f64 = numbers.iter().map(|&number| f64::from(number).powi(2)).sum();
    (squares / numbers.len().max(1) as f64).max(f64::MIN_POSITIVE)
}

/// `1.10`, `11,431`, `2.4e7`.
fn number(loss: f64) -> String {
    match loss.abs() {
        size if (0.01..1e4).contains(&size) => format!("{loss:.2}"),
        _ => format!("{loss:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Rank;
    use crate::data::Part;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Observer for Heard {
        fn warning(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
    }

    /// What is said of epochs of two batches each, and of the validation losses after them.
    fn heard(epochs: &[([f64; 2], f64)], change: impl Fn(&mut TrainingSettings)) -> Vec<String> {
        let mut part = Part::new(1);
        part.push(&[0.0; 2500], Some(0), None);
        let cell = ErnnConfig {
            hidden: 4,
            rank: Rank::Low(1),
            max_steps: 2500,
            ..ErnnConfig::default()
        };
        let model = ModelConfig::new(1, 3, vec![CellConfig::Ernn(cell)]);
        let mut training = RunConfig::defaults("mine.csv").training;
        training.input_noise = 0.0;
        change(&mut training);
        let fit = View::of(&part);
        let mut heard = Heard::default();
        let mut remarks = Remarks::new(&mut heard, &training, &model, &fit);
        for (index, &([one, two], validation)) in epochs.iter().enumerate() {
            let progress = |batch, loss| BatchProgress {
                phase: Phase::Select,
                epoch: index + 1,
                epochs: epochs.len(),
                batch,
                batches: 2,
                examples: 8,
                loss,
            };
            remarks.batch_done(&progress(1, one));
            remarks.batch_done(&progress(2, (one + two) / 2.0));
            remarks.epoch_done(&EpochRecord {
                epoch: index + 1,
                train_loss: (one + two) / 2.0,
                validation_loss: Some(validation),
                ..EpochRecord::default()
            });
        }
        heard.0
    }

    #[test]
    fn a_quiet_run_is_not_remarked_upon() {
        let nothing = Vec::<String>::new();
        let quiet = [
            ([1.1, 1.0], 1.0),
            ([0.9, 0.5], 0.6),
            ([0.2, 1.5], 0.9),
            ([0.001, 0.001], 0.04),
        ];
        assert_eq!(heard(&quiet, |_| {}), nothing);
        // A loud first batch is forgotten where the run was well in a tenth of its epochs, once.
        let mut loud = vec![([0.5, 0.5], 0.5); 20];
        loud[0] = ([2.4e7, 3.0], 9.0);
        assert_eq!(heard(&loud, |_| {}), nothing);
        loud[1] = ([1.2, 1.3], 2.0);
        assert_eq!(heard(&loud, |_| {}).len(), 1);
        loud[1] = ([1.2, 1.3], 0.9);
        assert_eq!(heard(&loud, |_| {}), nothing, "noise is in the loss of training alone");
        // So is a jump from which it recovers.
        let mut jumps = vec![([0.5, 0.5], 0.5); 20];
        jumps[7].0 = [0.5, 500.0];
        assert_eq!(heard(&jumps, |_| {}), nothing);
        jumps[8].0 = [1.2, 1.3];
        assert_eq!(heard(&jumps, |_| {}).len(), 1);
        // Five times almost nothing is still little.
        assert_eq!(heard(&[([1.1, 1.0], 0.01), ([0.1, 0.1], 0.1)], |_| {}), nothing);
    }

    const TROUBLE: [([f64; 2], f64); 4] = [
        ([2.4e7, 3.0], 1.2),
        ([1.0, 1.0], 1.0),
        ([1.0, 11_431.0], 6.0),
        ([1.0, 9e5], 7.0),
    ];

    #[test]
    fn each_trouble_is_said_once_with_what_helps() {
        let mut said = heard(&TROUBLE, |_| {});
        said.sort();
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(
            said[0],
            "epoch 3, batch 2: the loss jumped to 1.1e4, after 1.00 in the epoch before; what helps: a smaller --learning-rate or \
             --clip-norm"
        );
        assert_eq!(
            said[1],
            "the first loss is 2.4e7, and guessing has 1.10, which the training has not come below: the states grow over sequences of \
             2500 steps; what helps: --steps per-iteration, a smaller --eta, --activation tanh"
        );
        assert!(
            said[2].starts_with("the validation loss has risen to 6.00, from 1.00 after epoch 2"),
            "{}",
            said[2]
        );
    }

    #[test]
    fn what_helps_follows_from_the_cause() {
        // Of the initial weights on a sequence of zeros the loss is small: it is the noise.
        let said = heard(&TROUBLE[..1], |training| training.input_noise = 5.0);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("; without noise on the inputs it is 1.")
                && said[0].ends_with("what helps: a smaller --input-noise"),
            "{}",
            said[0]
        );
        for remark in heard(&TROUBLE, |training| training.learning_rate = 1.0) {
            assert!(!remark.contains("--eta"), "{remark}");
            assert!(remark.contains("a smaller --learning-rate"), "{remark}");
        }
    }

    #[test]
    fn a_regression_is_judged_by_its_targets() {
        let mut part = Part::new(1);
        for target in [1000.0, 1001.0] {
            part.push(&[0.0; 3], None, None);
            part.numbers.push(target);
        }
        let model = ModelConfig {
            task: Task::Regression,
            ..ModelConfig::new(1, 1, vec![CellConfig::Ernn(ErnnConfig::default())])
        };
        assert!((guessing(&model, &View::of(&part)) - 1.001e6).abs() < 1e3);
    }
}
