//! A stream: a state that goes on step by step.

use super::layer::{cut, product};
use super::{Model, Watch};
use crate::error::RunError;
use crate::pick::largest;

/// A stream through a model. Its state is `values` and [`Session::steps`]: copied elsewhere, they restore it.
#[derive(Debug)]
pub struct Session<'m, 's> {
    model: &'m Model<'m>,
    /// What derived channels remember; states of the layers; then what is kept of the last layer's for the readout.
    values: &'s mut [f32],
    steps: u32,
}

fn fits(what: &'static str, found: usize, expected: usize) -> Result<(), RunError> {
    if found == expected {
        return Ok(());
    }
    Err(RunError::Length { what, found, expected })
}

impl<'m, 's> Session<'m, 's> {
    /// A stream at its beginning.
    ///
    /// # Errors
    /// If `values` are not as many as [`Sizes::state`](crate::Sizes) says.
    pub fn new(model: &'m Model<'m>, values: &'s mut [f32]) -> Result<Self, RunError> {
        let mut session = Self::resume(model, values, 0)?;
        session.reset();
        Ok(session)
    }

    /// A stream that goes on from a saved state.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn resume(model: &'m Model<'m>, values: &'s mut [f32], steps: u32) -> Result<Self, RunError> {
        fits("state", values.len(), model.sizes().state)?;
        Ok(Session { model, values, steps })
    }

    /// The next step is a first one.
    pub fn reset(&mut self) {
        self.values.fill(0.0);
        self.steps = 0;
    }

    /// The state, to be saved together with [`Session::steps`].
    pub fn values(&self) -> &[f32] {
        self.values
    }

    /// Steps so far; after `2^32 - 1` it stays there.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// One step with raw values, which are normalized here.
    ///
    /// # Errors
    /// If a slice has another length than the model's [`Sizes`](crate::Sizes), or a value is not finite.
    pub fn push(&mut self, scratch: &mut [f32], input: &[f32]) -> Result<(), RunError> {
        self.push_watched(scratch, input, &mut ())
    }

    /// [`Session::push`], and tells of the numbers that were met.
    ///
    /// # Errors
    /// As [`Session::push`].
    pub fn push_watched(
        &mut self,
        mut scratch: &mut [f32],
        input: &[f32],
        watch: &mut impl Watch,
    ) -> Result<(), RunError> {
        let sizes = self.model.sizes();
        fits("input", input.len(), sizes.inputs)?;
        fits("scratch", scratch.len(), sizes.scratch)?;
        if self.model.reads_tokens() {
            return Err(RunError::Kind);
        }
        if let Some(place) = input.iter().position(|value| !value.is_finite()) {
            return Err(RunError::NotFinite { place });
        }
        let x = cut(&mut scratch, self.model.image.first);
        let [mean, scale] = self
            .model
            .input()
            .map(|tensor| tensor.iter().map(|value| f32::from_le_bytes(*value)));
        let mut values = &mut *self.values;
        let memory = cut(&mut values, self.model.memory());
        let mut rooms = x.iter_mut().zip(mean.zip(scale));
        self.model
            .image
            .derived()
            .step(self.steps == 0, input, memory, |value| {
                if let Some((x, (mean, scale))) = rooms.next() {
                    *x = (value - mean) * scale;
                }
            });
        self.advance(x, scratch, watch);
        Ok(())
    }

    /// One step with a token.
    ///
    /// # Errors
    /// If the model does not know the token, or reads numbers.
    pub fn push_token(&mut self, scratch: &mut [f32], token: usize) -> Result<(), RunError> {
        self.push_token_watched(scratch, token, &mut ())
    }

    /// [`Session::push_token`], and tells of the numbers that were met.
    ///
    /// # Errors
    /// As [`Session::push_token`].
    pub fn push_token_watched(
        &mut self,
        mut scratch: &mut [f32],
        token: usize,
        watch: &mut impl Watch,
    ) -> Result<(), RunError> {
        let sizes = self.model.sizes();
        fits("scratch", scratch.len(), sizes.scratch)?;
        if !self.model.reads_tokens() {
            return Err(RunError::Kind);
        }
        let x = cut(&mut scratch, self.model.image.first);
        let [rows, _] = self.model.input();
        let Some(row) = rows.chunks_exact(x.len().max(1)).nth(token) else {
            return Err(RunError::Token {
                found: token,
                known: sizes.inputs,
            });
        };
        for (x, value) in x.iter_mut().zip(row) {
            *x = f32::from_le_bytes(*value);
        }
        self.advance(x, scratch, watch);
        Ok(())
    }

    fn advance(&mut self, x: &[f32], scratch: &mut [f32], watch: &mut impl Watch) {
        watch.input(x);
        let mut input = x;
        let mut rest = &mut *self.values;
        cut(&mut rest, self.model.memory());
        for index in 0..self.model.image.layers {
            let Some(layer) = self.model.layer(index) else { return };
            let state = cut(&mut rest, layer.record.state_len());
            watch.layer(index);
            layer.step(self.steps, input, state, scratch, watch);
            watch.state(state);
            input = state.get(..layer.record.hidden).unwrap_or(&[]);
        }
        // What is left is kept for the readout; of the last state nothing is.
        let pooling = self.model.image.pooling();
        pooling.add_floats(self.steps == 0, input, rest);
        self.steps = self.steps.saturating_add(1);
    }

    /// Puts what the readout reads after the steps so far into the first numbers of the scratch, as many as
    /// [`Model::readout_inputs`] says.
    ///
    /// # Errors
    /// If the scratch has another length than the model's [`Sizes`](crate::Sizes).
    pub fn read(&self, scratch: &mut [f32]) -> Result<(), RunError> {
        fits("scratch", scratch.len(), self.model.sizes().scratch)?;
        let hidden = self.model.hidden();
        let pooling = self.model.image.pooling();
        let last = self.model.layer(self.model.image.layers.saturating_sub(1));
        let own = last.map_or(0, |layer| layer.record.state_len());
        let kept = hidden.saturating_mul(pooling.kept(None));
        let kept_from = self.values.len().saturating_sub(kept);
        let (states, kept) = self.values.split_at_checked(kept_from).unwrap_or((&[], &[]));
        let state = states.get(kept_from.saturating_sub(own)..).unwrap_or(&[]);
        let state = state.get(..hidden).unwrap_or(&[]);
        if let Some(room) = scratch.get_mut(..self.model.readout_inputs()) {
            pooling.read_floats(self.steps, state, kept, room);
        }
        Ok(())
    }

    /// The logits after the steps so far; of a regression its number.
    ///
    /// # Errors
    /// If a slice has another length than the model's [`Sizes`](crate::Sizes).
    pub fn logits(&self, scratch: &mut [f32], logits: &mut [f32]) -> Result<(), RunError> {
        fits("logits", logits.len(), self.model.sizes().outputs)?;
        self.read(scratch)?;
        let [weight, bias] = self.model.readout();
        let room = scratch.get(..self.model.readout_inputs()).unwrap_or(&[]);
        product(weight, &[], room, logits);
        for (logit, bias) in logits.iter_mut().zip(bias) {
            *logit += f32::from_le_bytes(*bias);
        }
        Ok(())
    }

    /// The class of the largest logit, the first of equals; leaves all in `logits`.
    ///
    /// # Errors
    /// As [`Session::logits`], and if a logit is not finite.
    pub fn class(&self, scratch: &mut [f32], logits: &mut [f32]) -> Result<usize, RunError> {
        self.logits(scratch, logits)?;
        match logits.iter().position(|logit| !logit.is_finite()) {
            Some(place) => Err(RunError::Logit { place }),
            None => Ok(largest(logits)),
        }
    }
}
