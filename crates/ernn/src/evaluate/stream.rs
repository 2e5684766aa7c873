//! A stream: what the model says after each step, with the bits that it gives for the whole sequence up to there.

use std::borrow::Cow;

use super::quantiles::in_order;
use super::{Prediction, label_probabilities, not_finite, prediction, unusable};
use crate::checkpoint::SavedModel;
use crate::data::{Deriver, Task};
use crate::model::{Model, ModelConfig, Runner};
use crate::{Error, Result};

/// A model that reads raw steps as they come. Memory does not grow with the stream.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    saved: Cow<'a, SavedModel>,
    deriver: Deriver,
    /// What the deriver knows of the steps so far.
    memory: Vec<f32>,
    runner: Runner<f32>,
    logits: Vec<f32>,
    steps: usize,
}

impl Stream<'static> {
    /// A stream at its beginning that keeps its model.
    ///
    /// # Errors
    /// As [`Stream::new`].
    pub fn owned(saved: SavedModel) -> Result<Self> {
        Self::of(Cow::Owned(saved))
    }
}

impl<'a> Stream<'a> {
    /// A stream at its beginning.
    ///
    /// # Errors
    /// If the model reads sequences from both ends.
    pub fn new(saved: &'a SavedModel) -> Result<Self> {
        Self::of(Cow::Borrowed(saved))
    }

    fn of(saved: Cow<'a, SavedModel>) -> Result<Self> {
        let deriver = saved.derivation.ready(saved.channels());
        Ok(Stream {
            memory: deriver.memory(),
            deriver,
            runner: for_streams(&saved.model)?.runner(),
            saved,
            logits: Vec::new(),
            steps: 0,
        })
    }

    /// The next step is a first one.
    pub fn reset(&mut self) {
        self.runner.reset();
        self.logits.clear();
        self.steps = 0;
    }

    /// Steps since the beginning.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// One step with raw values, which are normalized here as the training part was.
    ///
    /// # Errors
    /// If they are not as many as the model reads, or one is not finite; the stream is then as it was. If what the model makes of
    /// them is not finite; the stream then needs a [`Stream::reset`].
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        let expected = self.saved.channels();
        if self.saved.model.config().embedding.is_some() {
            return Err(unusable("found numbers, expected tokens".to_string()));
        }
        if values.len() != expected {
            let names = self.saved.feature_names.join(", ");
            let found = values.len();
            return Err(unusable(format!("found {found} values, expected {expected} ({names})")));
        }
        let mut memory = self.memory.clone();
        let derived = self.deriver.step(self.steps == 0, values, &mut memory);
        let mut row = derived.clone();
        if !self.saved.normalization.apply_row(&mut row) {
            let found = derived
                .iter()
                .zip(&row)
                .position(|(raw, value)| !raw.is_finite() || !value.is_finite());
            let place = found.unwrap_or(0);
            let kind = if place < expected { "" } else { "derived " };
            let problem = format!(
                "{kind}value {}: found {}, expected a finite number not too far from the training data's",
                place + 1,
                derived[place]
            );
            return Err(unusable(problem));
        }
        self.memory = memory;
        self.advance(&row)
    }

    /// One step with a token, by its place in the model's vocabulary.
    ///
    /// # Errors
    /// If the model does not know it, or reads numbers; what is not finite is refused as in [`Stream::push`].
    pub fn push_token(&mut self, token: u32) -> Result<()> {
        let Some(embedding) = &self.saved.model.config().embedding else {
            return Err(unusable("found a token, expected numbers".to_string()));
        };
        if token as usize >= embedding.vocabulary {
            let problem = format!("found token {token}, expected one below {}", embedding.vocabulary);
            return Err(unusable(problem));
        }
        let row = self.saved.model.embed(&[token]);
        self.advance(&row)
    }

    fn advance(&mut self, row: &[f32]) -> Result<()> {
        self.logits = self.runner.push(row)?;
        self.steps += 1;
        match not_finite(&self.logits) {
            None => Ok(()),
            Some(value) => Err(unusable(format!(
                "step {}: found an output of {value}, expected finite numbers",
                self.steps
            ))),
        }
    }

    /// The logits after the steps so far; none before the first.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// The numbers after the steps so far, of a model of numbers, `[targets, quantiles]`, quantiles in order; none before the first.
    pub fn numbers(&self) -> Vec<f32> {
        let mut numbers = self.logits.clone();
        in_order(&mut numbers, self.saved.model.config().quantiles.len());
        numbers
    }

    /// The probability of each label after the steps so far; none before the first, and of models whose labels exclude each other.
    pub fn label_probabilities(&self) -> Option<Vec<f64>> {
        let several = self.saved.model.config().task == Task::MultiLabel;
        (several && !self.logits.is_empty()).then(|| label_probabilities(&self.logits))
    }

    /// The class after the steps so far, or the next token; none before the first step, and of models of labels of
    /// which several can hold.
    pub fn prediction(&self) -> Option<Prediction> {
        let several = self.saved.model.config().task == Task::MultiLabel;
        (!several && !self.logits.is_empty()).then(|| prediction(&self.logits))
    }
}

/// The model as a stream needs it: where every step is judged, the readout sees the state of each.
///
/// # Errors
/// If the model is bidirectional: its other direction begins at a sequence's end.
pub(crate) fn for_streams(model: &Model<f32>) -> Result<Model<f32>> {
    let config = model.config();
    if config.bidirectional {
        let expected = "a model of one direction: the other begins at a sequence's end, which a stream does not have";
        return Err(Error::setting("bidirectional", "true", expected));
    }
    let config = ModelConfig {
        pooling: config.pooled(),
        ..config.clone()
    };
    Model::from_parameters(config, model.parameters().to_vec())
}
