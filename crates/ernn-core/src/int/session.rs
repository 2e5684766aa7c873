//! A stream of whole numbers: a state that goes on step by step.

use super::Model;
use super::layer::cut;
use super::math::Saturations;
use super::state::{State, Values};
use crate::error::RunError;
use crate::inputs::Memory;
use crate::pick::largest;

/// A stream through a model. Its state is `values`, [`Session::steps`] and [`Session::saturations`]: copied elsewhere, they restore it.
/// The values are `i16`, or `i8` where [`Model::state_bits`] are 8.
#[derive(Debug)]
pub struct Session<'m, 's, S> {
    model: &'m Model<'m>,
    /// What derived channels remember, in parts; states of the layers; then what is kept of the last layer's for the readout.
    values: &'s mut [S],
    steps: u32,
    saturations: Saturations,
}

fn fits(what: &'static str, found: usize, expected: usize) -> Result<(), RunError> {
    if found == expected {
        return Ok(());
    }
    Err(RunError::Length { what, found, expected })
}

impl<'m, 's, S: State> Session<'m, 's, S> {
    /// A stream at its beginning.
    ///
    /// # Errors
    /// If `values` are not as many as [`Sizes::state`](crate::Sizes) says, or of other bits than the model's.
    pub fn new(model: &'m Model<'m>, values: &'s mut [S]) -> Result<Self, RunError> {
        let mut session = Self::resume(model, values, 0, 0)?;
        session.reset();
        Ok(session)
    }

    /// A stream that goes on from a saved state.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn resume(model: &'m Model<'m>, values: &'s mut [S], steps: u32, saturations: u32) -> Result<Self, RunError> {
        let (found, expected) = (S::BITS, model.state_bits());
        if found != expected {
            return Err(RunError::Bits { found, expected });
        }
        fits("state", values.len(), model.sizes().state)?;
        Ok(Session {
            model,
            values,
            steps,
            saturations: Saturations(saturations),
        })
    }

    /// The next step is a first one.
    pub fn reset(&mut self) {
        self.values.fill(S::default());
        self.steps = 0;
        self.saturations = Saturations(0);
    }

    /// The state, to be saved together with [`Session::steps`] and [`Session::saturations`].
    pub fn values(&self) -> &[S] {
        self.values
    }

    /// Steps so far; after `2^32 - 1` it stays there.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Numbers so far that did not fit and became the end of their range.
    pub fn saturations(&self) -> u32 {
        self.saturations.0
    }

    /// One step with raw values, which are normalized and rounded here.
    ///
    /// # Errors
    /// If a slice has another length than the model's [`Sizes`](crate::Sizes), or a value is not finite.
    pub fn push(&mut self, mut scratch: &mut [i16], input: &[f32]) -> Result<(), RunError> {
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
        let [mean, scale] = [0, 1].map(|index| {
            self.model
                .image
                .floats(index)
                .iter()
                .map(|value| f32::from_le_bytes(*value))
        });
        let mut values = &mut *self.values;
        let mut memory = Floats(cut(&mut values, self.model.memory()));
        let mut rooms = x.iter_mut().zip(mean.zip(scale));
        let saturations = &mut self.saturations;
        self.model
            .image
            .derived()
            .step(self.steps == 0, input, &mut memory, |value| {
                if let Some((x, (mean, scale))) = rooms.next() {
                    *x = saturations.narrow(i64::from(rounded((value - mean) * scale)));
                }
            });
        self.advance(x, scratch);
        Ok(())
    }

    /// One step with a token.
    ///
    /// # Errors
    /// If the model does not know the token, or reads numbers.
    pub fn push_token(&mut self, mut scratch: &mut [i16], token: usize) -> Result<(), RunError> {
        let sizes = self.model.sizes();
        fits("scratch", scratch.len(), sizes.scratch)?;
        if !self.model.reads_tokens() {
            return Err(RunError::Kind);
        }
        let x = cut(&mut scratch, self.model.image.first);
        let rows = self.model.image.tensor(0).as_chunks::<2>().0;
        let Some(row) = rows.chunks_exact(x.len().max(1)).nth(token) else {
            return Err(RunError::Token {
                found: token,
                known: sizes.inputs,
            });
        };
        for (x, value) in x.iter_mut().zip(row) {
            *x = i16::from_le_bytes(*value);
        }
        self.advance(x, scratch);
        Ok(())
    }

    fn advance(&mut self, x: &[i16], scratch: &mut [i16]) {
        let mut input = Values::Wide(x);
        let mut rest = &mut *self.values;
        cut(&mut rest, self.model.memory());
        let mut last: &[S] = &[];
        for index in 0..self.model.image.layers {
            let Some(layer) = self.model.layer(index) else { return };
            let state = cut(&mut rest, layer.record.state_len());
            layer.step(self.steps, input, state, scratch, &mut self.saturations);
            last = state.get(..layer.record.hidden).unwrap_or(&[]);
            input = S::values(last);
        }
        // What is left is kept for the readout; of the last state nothing is.
        let pooling = self.model.image.pooling();
        pooling.add_wholes(self.steps == 0, last, rest, &mut self.saturations);
        self.steps = self.steps.saturating_add(1);
    }

    /// The logits after the steps so far, with [`SUM_PLACES`](super::math::SUM_PLACES) binary places.
    ///
    /// # Errors
    /// If a slice has another length than the model's [`Sizes`](crate::Sizes).
    pub fn logits(&self, scratch: &mut [i16], logits: &mut [i32]) -> Result<(), RunError> {
        let sizes = self.model.sizes();
        fits("logits", logits.len(), sizes.outputs)?;
        fits("scratch", scratch.len(), sizes.scratch)?;
        let last = self.model.layer(self.model.image.layers.saturating_sub(1));
        let Some(last) = last else { return Ok(()) };
        let hidden = last.record.hidden;
        let pooling = self.model.image.pooling();
        let kept = hidden.saturating_mul(pooling.kept(Some(S::WHOLE)));
        let kept_from = self.values.len().saturating_sub(kept);
        let (states, kept) = self.values.split_at_checked(kept_from).unwrap_or((&[], &[]));
        let own = kept_from.saturating_sub(last.record.state_len());
        let state = states.get(own..).unwrap_or(&[]).get(..hidden).unwrap_or(&[]);
        let Some(room) = scratch.get_mut(..hidden.saturating_mul(pooling.statistics())) else {
            return Ok(());
        };
        pooling.read_wholes(self.steps, last.places.h, state, kept, room);
        let mut saturations = Saturations(0);
        let (weight, bias) = self.model.readout();
        for ((logit, product), bias) in logits.iter_mut().zip(weight.products(Values::Wide(room), 0)).zip(bias) {
            *logit = saturations.whole(product.wrapping_add(i64::from(i32::from_le_bytes(*bias))));
        }
        Ok(())
    }

    /// The class of the largest logit, the first of equals; leaves all in `logits`.
    ///
    /// # Errors
    /// As [`Session::logits`].
    pub fn class(&self, scratch: &mut [i16], logits: &mut [i32]) -> Result<usize, RunError> {
        self.logits(scratch, logits)?;
        Ok(largest(logits))
    }
}

/// Numbers of 32 bits in the parts of a state.
struct Floats<'s, S>(&'s mut [S]);

impl<S: State> Memory for Floats<'_, S> {
    fn recall(&self, place: usize) -> f32 {
        let parts = self.0.chunks_exact(S::WHOLE).nth(place);
        parts.map_or(0.0, |parts| f32::from_bits(S::join(parts) as u32))
    }

    fn keep(&mut self, place: usize, value: f32) {
        if let Some(parts) = self.0.chunks_exact_mut(S::WHOLE).nth(place) {
            S::split(value.to_bits() as i32, parts);
        }
    }
}

/// The nearest whole number, halves away from zero; beyond +-40000 that.
fn rounded(value: f32) -> i32 {
    let value = crate::math::between(-40_000.0, 40_000.0, value);
    let whole = value as i32;
    let rest = value - whole as f32;
    if rest >= 0.5 {
        whole.wrapping_add(1)
    } else if rest <= -0.5 {
        whole.wrapping_sub(1)
    } else {
        whole
    }
}
