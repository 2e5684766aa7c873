//! Long sequences in pieces: a state that is carried from piece to piece, and truncated backpropagation through time.
//!
//! Running piece after piece with the state carried gives the bits of the whole. A training step over pieces first runs all of them
//! forwards, keeping the states at their borders alone; the loss then sends its gradient to every piece whose states it looks at, and
//! within a piece, not over its border, it flows back. Memory is that of one piece, whatever the length of the sequences.

use ernn_kernels::{Panels, Real};

use super::layers::{self, FoldedLayer, Pass};
use super::{LossOptions, Model, PIECE, Pooling, Workspace};
use crate::batch::Batch;
use crate::{Error, Result};

/// Where each sequence of a batch stands: what a model carries from one piece to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<F> {
    /// The state of each layer, `[sequences, state_len]`.
    pub(super) layers: Vec<Vec<F>>,
    /// What the readout sees: last states, or sums of all states so far; `[sequences, D]`.
    pooled: Vec<F>,
    /// Steps of each sequence so far.
    counts: Vec<usize>,
    /// Steps of the pieces so far.
    steps: usize,
}

impl<F: Real> State<F> {
    /// Steps of the pieces so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// A state from the state of each layer, `[sequences, state_len]`, to go on with a text.
    pub fn of_layers(layers: Vec<Vec<F>>) -> Self {
        State {
            layers,
            ..State::default()
        }
    }

    /// The state of each layer.
    pub fn into_layers(self) -> Vec<Vec<F>> {
        self.layers
    }
}

impl<F: Real> Model<F> {
    /// Runs over the next piece of a batch of streams, and gives the logits `[sequences, classes]` after it. The state, at first
    /// `State::default()`, goes on to the piece's end. All pieces but the last are equally long for sequences that go on.
    ///
    /// # Errors
    /// If the inputs do not fit the model or the state, or the model is bidirectional: it needs a sequence's end to begin.
    pub fn advance(&self, inputs: &Panels<F>, state: &mut State<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        self.check_input(inputs)?;
        self.check_streams()?;
        if state.steps > 0 && state.counts.len() != inputs.sequences() {
            return Err(Error::Setting {
                name: "sequences".to_string(),
                found: inputs.sequences().to_string(),
                expected: format!("{}, as in the pieces before", state.counts.len()),
            });
        }
        let (folded, readout) = self.fold();
        let fits = |(cells, own): (&FoldedLayer<F>, &Vec<F>)| own.len() == inputs.sequences() * cells[0].state_len();
        if state.steps > 0 && !(state.layers.len() == folded.len() && folded.iter().zip(&state.layers).all(fits)) {
            return Err(Error::Setting {
                name: "state".to_string(),
                found: "that of a model of other sizes".to_string(),
                expected: "one that this model has left".to_string(),
            });
        }
        self.run_piece(&folded, inputs, state, workspace);
        let mut logits = Vec::new();
        self.config
            .readout()
            .forward(readout, &self.pooled_so_far(state), &mut logits);
        Ok(logits)
    }

    /// [`Model::logits`] of sequences that are longer than a piece.
    pub(super) fn logits_in_pieces(
        &self,
        folded: &[FoldedLayer<F>],
        readout: &[F],
        inputs: &Panels<F>,
        workspace: &mut Workspace<F>,
    ) -> Vec<F> {
        let longest = inputs.lengths().iter().copied().max().unwrap_or(0);
        let mut piece = std::mem::replace(&mut workspace.piece, Panels::new(inputs.isa(), 1, &[]));
        let mut state = State::default();
        for from in (0..longest).step_by(PIECE) {
            piece.copy_piece(inputs, from, from + PIECE);
            self.run_piece(folded, &piece, &mut state, workspace);
        }
        workspace.piece = piece;
        let mut logits = Vec::new();
        self.config
            .readout()
            .forward(readout, &self.pooled_so_far(&state), &mut logits);
        logits
    }

    pub(super) fn check_streams(&self) -> Result<()> {
        if !self.config.bidirectional {
            return Ok(());
        }
        Err(needs_one_direction())
    }

    /// Carries the state over a piece.
    fn run_piece(
        &self,
        folded: &[FoldedLayer<F>],
        inputs: &Panels<F>,
        state: &mut State<F>,
        workspace: &mut Workspace<F>,
    ) {
        let pass = Pass {
            input: inputs,
            initial: (state.steps > 0).then_some(&state.layers[..]),
            first_step: state.steps,
            dropout: None,
        };
        layers::forward(folded, pass, &mut workspace.layers, false);
        self.carry(inputs, state, workspace);
    }

    /// Takes the state after a piece out of the workspace.
    fn carry(&self, inputs: &Panels<F>, state: &mut State<F>, workspace: &Workspace<F>) {
        state.layers.clear();
        for layer in &workspace.layers {
            state.layers.push(layer.directions[0].trace.last_state());
        }
        let states = workspace.layers[workspace.layers.len() - 1].directions[0]
            .trace
            .states();
        state.counts.resize(inputs.sequences(), 0);
        state.pooled.resize(inputs.sequences() * states.features(), F::ZERO);
        match self.config.pooling {
            Pooling::Last => state.pooled = states.last_steps(),
            Pooling::Mean => states.add_steps(&mut state.pooled),
        }
        for (count, &length) in state.counts.iter_mut().zip(inputs.lengths()) {
            *count += length;
        }
        state.steps += inputs.lengths().iter().copied().max().unwrap_or(0);
    }

    /// What the readout sees after the pieces so far.
    fn pooled_so_far(&self, state: &State<F>) -> Vec<F> {
        let mut pooled = state.pooled.clone();
        if self.config.pooling == Pooling::Mean {
            let hidden = self.config.readout().inputs;
            for (row, count) in pooled.chunks_exact_mut(hidden).zip(counts(&state.counts)) {
                row.iter_mut().for_each(|value| *value /= count);
            }
        }
        pooled
    }

    /// [`Model::loss_and_gradient`] with backpropagation truncated at the borders of pieces of `piece` steps.
    pub(super) fn loss_in_pieces(
        &self,
        batch: &Batch<F>,
        whole: &Panels<F>,
        options: &LossOptions<F>,
        piece: usize,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        self.check_streams()?;
        let lengths = whole.lengths();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let dropout = self.layer_dropout(batch, options);
        let (folded, readout) = self.fold();
        let mut inputs = std::mem::replace(&mut workspace.piece, Panels::new(whole.isa(), 1, &[]));
        let mut state = State::default();
        let mut borders: Vec<Vec<Vec<F>>> = Vec::new();
        for from in (0..longest).step_by(piece) {
            inputs.copy_piece(whole, from, from + piece);
            borders.push(state.layers.clone());
            let pass = Pass {
                input: &inputs,
                initial: (from > 0).then_some(&borders[borders.len() - 1][..]),
                first_step: from,
                dropout,
            };
            layers::forward(&folded, pass, &mut workspace.layers, false);
            self.carry(&inputs, &mut state, workspace);
        }
        let pooled = self.pooled_so_far(&state);
        let outcome = self.readout_loss(readout, batch, options, pooled, workspace, gradient);
        let totals = counts(lengths);
        let at_pooled = workspace.pooled_gradient.clone();
        let hidden = self.config.readout().inputs;
        for (from, initial) in (0..longest).step_by(piece).zip(&borders) {
            // Of the last states, only those of sequences that end in this piece are states of this piece.
            let here = |length: usize| from < length && length <= from + piece;
            if self.config.pooling == Pooling::Last {
                if !lengths.iter().any(|&length| here(length)) {
                    continue;
                }
                workspace.pooled_gradient.copy_from_slice(&at_pooled);
                let rows = workspace.pooled_gradient.chunks_exact_mut(hidden);
                for (row, _) in rows.zip(lengths).filter(|&(_, &length)| !here(length)) {
                    row.fill(F::ZERO);
                }
            }
            inputs.copy_piece(whole, from, from + piece);
            let pass = Pass {
                input: &inputs,
                initial: (from > 0).then_some(&initial[..]),
                first_step: from,
                dropout,
            };
            layers::forward(&folded, pass, &mut workspace.layers, true);
            self.backward(&folded, pass, &totals, batch, workspace, gradient);
        }
        workspace.piece = inputs;
        Ok(outcome)
    }
}

/// A second direction begins at a sequence's end, which a piece does not have.
pub(super) fn needs_one_direction() -> Error {
    Error::Setting {
        name: "bidirectional".to_string(),
        found: "true".to_string(),
        expected: "a model of one direction, where sequences come in pieces: the other begins at a sequence's end"
            .to_string(),
    }
}

/// Steps as divisors of a mean.
pub(super) fn counts<F: Real>(lengths: &[usize]) -> Vec<F> {
    lengths
        .iter()
        .map(|&length| F::from_f64(length.max(1) as f64))
        .collect()
}
