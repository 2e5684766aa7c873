//! What does not fit a model is refused before anything is computed.

use ernn_kernels::{Panels, Real};

use super::{LossOptions, Model};
use crate::batch::Batch;
use crate::data::{Task, UNLABELLED};
use crate::{Error, Result};

impl<F: Real> Model<F> {
    pub(super) fn check_input(&self, inputs: &Panels<F>) -> Result<()> {
        if inputs.features() == self.config.input_size {
            return Ok(());
        }
        let expected = format!("{}, the input size of the model", self.config.input_size);
        Err(Error::setting("features", inputs.features(), expected))
    }

    pub(super) fn check_batch(&self, batch: &Batch<F>, options: &LossOptions<F>) -> Result<()> {
        self.check_values(batch)?;
        self.check_training(batch, options)
    }

    pub(super) fn check_values(&self, batch: &Batch<F>) -> Result<()> {
        match self.config.embedding {
            Some(_) => self.check_tokens(batch),
            None => self.check_input(&batch.inputs),
        }
    }

    pub(super) fn check_tokens(&self, batch: &Batch<F>) -> Result<()> {
        let vocabulary = self
            .config
            .embedding
            .as_ref()
            .map_or(0, |embedding| embedding.vocabulary);
        let error = |name: &str, found: usize, expected: String| Err(Error::setting(name, found, expected));
        let steps: usize = batch.inputs.lengths().iter().sum();
        if batch.tokens.len() != steps {
            return error("tokens", batch.tokens.len(), format!("{steps}, one a step"));
        }
        match batch.tokens.iter().find(|&&token| token as usize >= vocabulary) {
            Some(&token) => error("token", token as usize, format!("one below {vocabulary}")),
            None => Ok(()),
        }
    }

    fn check_training(&self, batch: &Batch<F>, options: &LossOptions<F>) -> Result<()> {
        let classes = self.config.classes;
        let error = |name: &str, found: usize, expected: String| Err(Error::setting(name, found, expected));
        let (labels, sequences) = (batch.targets.len(), batch.inputs.sequences());
        let steps: usize = batch.inputs.lengths().iter().sum();
        let says = batch.soft_targets.len();
        if options.distillation.is_some() && (says != sequences * classes || self.config.task != Task::Classification) {
            let expected =
                format!("{sequences} times {classes}, one a sequence and class, for classes of sequences alone");
            return error("soft_targets", says, expected);
        }
        match self.config.task {
            Task::Classification if labels != sequences => {
                return error("labels", labels, format!("{sequences}, one a sequence"));
            }
            Task::StepClassification | Task::NextToken if labels != steps => {
                return error("labels", labels, format!("{steps}, one a step"));
            }
            Task::Regression if batch.numbers.len() != sequences * self.config.targets() => {
                let expected = format!("{} for each of {sequences} sequences", self.config.targets());
                return error("numbers", batch.numbers.len(), expected);
            }
            Task::StepRegression if batch.numbers.len() != steps * self.config.targets() => {
                let expected = format!("{} for each of {steps} steps", self.config.targets());
                return error("numbers", batch.numbers.len(), expected);
            }
            Task::StepRegression => {
                let some =
                    |row: &[f32]| row.iter().any(|number| number.is_nan()) && row.iter().any(|number| !number.is_nan());
                let bad = batch.numbers.chunks_exact(self.config.targets()).position(some);
                return match bad {
                    Some(step) => error("numbers of step", step, "all of them, or NaN for each".to_string()),
                    None => Ok(()),
                };
            }
            Task::Regression => return Ok(()),
            Task::MultiLabel if batch.indicators.len() != sequences * classes => {
                let expected = format!("{sequences} times {classes}, one a sequence and label");
                return error("indicators", batch.indicators.len(), expected);
            }
            _ => {}
        }
        let known = |label: u32| {
            (label as usize) < classes || (label == UNLABELLED && self.config.task == Task::StepClassification)
        };
        if let Some(&label) = batch.targets.iter().find(|&&label| !known(label)) {
            return error("label", label as usize, format!("a class below {classes}"));
        }
        let weights = batch.weights.len();
        if weights != 0 && (weights != sequences || self.config.task != Task::Classification) {
            let expected = format!("{sequences}, one a sequence, for classes of sequences alone");
            return error("weights", weights, expected);
        }
        if options.tbptt == Some(0) {
            return error("tbptt", 0, "at least 1 step, or none".to_string());
        }
        let (expected, what) = match self.config.task {
            Task::MultiLabel => (2 * classes, "two a label"),
            _ => (classes, "one a class"),
        };
        match options.class_weights.as_ref().map(Vec::len) {
            Some(weights) if weights != expected => error("class_weights", weights, format!("{expected}, {what}")),
            _ => Ok(()),
        }
    }
}
