//! Training that goes wrong quietly: a loss far above that of guessing, a jump, a validation loss that rises. The run goes on, and
//! whoever watches it is told once of each, with what helps.
//!
//! All bounds are in units of the loss of guessing: `ln classes`, or of a regression the mean square of its targets on their scale.
//!
//! ```text
//! first loss    of the first batch: above 10 times guessing, if the mean loss is still above guessing after a tenth of the epochs
//! jump          of a batch: above 10 times guessing and 100 times the mean loss of the epoch before
//! rise          of the validation part: 5 times its lowest, and above a quarter of guessing
//! ```

use super::teacher::Taught;
use super::{BatchProgress, Observer, Start};
use crate::cell::{CellConfig, ErnnConfig, StepSizes};
use crate::checkpoint::{EpochRecord, Phase};
use crate::data::{Task, View};
use crate::model::ModelConfig;

/// Passes everything on, and adds its remarks as warnings.
pub(super) struct Remarks<'a> {
    observer: &'a mut dyn Observer,
    guessing: f64,
    /// The same of the loss that is trained, in which a teacher's part may be larger.
    guessing_in_training: f64,
    /// Whether step sizes are what helps.
    has_steps: bool,
    /// Whether there is one for each step, and there could be fewer.
    steps_for_each: bool,
    longest: usize,
    /// Epochs of the run, and what is to be said of its first loss.
    epochs: usize,
    pending: Option<String>,
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
    first: bool,
    jump: bool,
    rise: bool,
}

impl<'a> Remarks<'a> {
    pub fn new(observer: &'a mut dyn Observer, model: &ModelConfig, fit: &View) -> Self {
        let guessing = guessing(model, fit);
        Remarks {
            observer,
            guessing,
            guessing_in_training: guessing,
            has_steps: ernn(model, |_| true),
            steps_for_each: ernn(model, |cell| cell.steps == StepSizes::PerStep),
            longest: fit.longest(),
            epochs: 0,
            pending: None,
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

    fn first(&self, loss: f64) -> Option<String> {
        let high = loss > FIRST * self.guessing_in_training;
        high.then(|| {
            format!(
                "the first loss is {}, and guessing has {}: the states grow over sequences of {} steps; what helps: {}",
                number(loss),
                number(self.guessing_in_training),
                self.longest,
                self.smaller_states()
            )
        })
    }

    fn smaller_states(&self) -> &'static str {
        match (self.has_steps, self.steps_for_each) {
            (true, true) => "--steps per-iteration, a smaller --eta, --activation tanh",
            (true, false) => "a smaller --eta, --activation tanh",
            _ => "--activation tanh, or a gated --cell such as gru",
        }
    }

    fn jump(&self, loss: f64, progress: &BatchProgress) -> Option<String> {
        let before = self.before?;
        let high = loss > FIRST * self.guessing_in_training && loss > JUMP * before;
        high.then(|| {
            let steps = match (self.has_steps, self.steps_for_each) {
                (true, true) => ", --steps per-iteration, a smaller --eta",
                (true, false) => ", a smaller --eta",
                _ => "",
            };
            format!(
                "epoch {}, batch {}: the loss jumped to {}, after {} in the epoch before; what helps: a smaller --learning-rate or \
                 --clip-norm{steps}",
                progress.epoch,
                progress.batch,
                number(loss),
                number(before)
            )
        })
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
        if let Some(remark) = self.first(loss).filter(|_| is_first && !self.said.first) {
            self.said.first = true;
            self.pending = Some(remark);
        }
        self.epochs = progress.epochs;
        if let Some(remark) = self.jump(loss, progress).filter(|_| !self.said.jump) {
            self.said.jump = true;
            self.observer.warning(&remark);
        }
    }

    fn epoch_done(&mut self, record: &EpochRecord) {
        self.observer.epoch_done(record);
        self.before = Some(record.train_loss);
        if 10 * record.epoch >= self.epochs {
            // Most runs are well after some steps, whatever they began with.
            let remark = self.pending.take();
            if let Some(remark) = remark.filter(|_| record.train_loss > self.guessing_in_training) {
                self.observer.warning(&remark);
            }
        }
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
    if model.task != Task::Regression {
        return (model.classes.max(2) as f64).ln();
    }
    let numbers = (0..fit.len()).filter_map(|index| fit.number(index));
    let squares: f64 = numbers.map(|number| f64::from(number).powi(2)).sum();
    (squares / fit.len().max(1) as f64).max(f64::MIN_POSITIVE)
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
    use crate::data::Part;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Observer for Heard {
        fn warning(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
    }

    /// What is said of epochs of two batches each, and of the validation losses after them.
    fn heard(epochs: &[([f64; 2], f64)]) -> Vec<String> {
        let mut part = Part::new(1);
        part.push(&[0.0; 2500], Some(0), None);
        let model = ModelConfig::new(1, 3, vec![CellConfig::Ernn(ErnnConfig::default())]);
        let mut heard = Heard::default();
        let mut remarks = Remarks::new(&mut heard, &model, &View::of(&part));
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
        let quiet = [
            ([1.1, 1.0], 1.0),
            ([0.9, 0.5], 0.6),
            ([0.2, 1.5], 0.9),
            ([0.001, 0.001], 0.04),
        ];
        assert_eq!(heard(&quiet), Vec::<String>::new());
        // A loud first batch is forgotten where the run is well after a tenth of its epochs.
        let mut loud = vec![([0.5, 0.5], 0.5); 20];
        loud[0].0 = [2.4e7, 3.0];
        assert_eq!(heard(&loud), Vec::<String>::new());
        loud[1].0 = [1.2, 1.3];
        assert_eq!(heard(&loud).len(), 1);
        // Five times almost nothing is still little.
        assert_eq!(heard(&[([1.1, 1.0], 0.01), ([0.1, 0.1], 0.1)]), Vec::<String>::new());
    }

    #[test]
    fn each_trouble_is_said_once_with_what_helps() {
        let said = heard(&[
            ([2.4e7, 3.0], 1.0),
            ([1.0, 1.0], 1.0),
            ([1.0, 11_431.0], 6.0),
            ([1.0, 9e5], 7.0),
        ]);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].starts_with(
                "the first loss is 2.4e7, and guessing has 1.10: the states grow over sequences of 2500 steps"
            ),
            "{}",
            said[0]
        );
        assert!(
            said[0].contains("--steps per-iteration, a smaller --eta"),
            "{}",
            said[0]
        );
        assert!(
            said[1].starts_with("epoch 3, batch 2: the loss jumped to 1.1e4, after 1.00"),
            "{}",
            said[1]
        );
        assert!(
            said[2].starts_with("the validation loss has risen to 6.00, from 1.00 after epoch 1"),
            "{}",
            said[2]
        );
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
