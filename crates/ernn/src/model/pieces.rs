//! Long sequences in pieces: a state that is carried from piece to piece, and truncated backpropagation through time.
//!
//! Running piece after piece with the state carried gives the bits of the whole. A training step over pieces first runs all of them
//! forwards, keeping the states at their borders alone; the loss then sends its gradient to every piece whose states it looks at, and
//! within a piece, not over its border, it flows back. Memory is that of one piece, whatever the length of the sequences.

use ernn_kernels::{Panels, Real};

use super::layers::{self, FoldedLayer, Pass};
use super::pooling::{self, Pooled};
use super::{LossOptions, Model, PIECE, Workspace};
use crate::batch::Batch;
use crate::{Error, Result};

/// Where each sequence of a batch stands: what a model carries from one piece to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<F> {
    /// The state of each layer, `[sequences, state_len]`.
    pub(super) layers: Vec<Vec<F>>,
    /// What the readout needs to know of the states so far.
    pooled: Option<Pooled<F>>,
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
        let before = state.pooled.as_ref().map(|pooled| pooled.counts().len());
        if let Some(before) = before.filter(|&before| before != inputs.sequences()) {
            let expected = format!("{before}, as in the pieces before");
            return Err(Error::setting("sequences", inputs.sequences(), expected));
        }
        let (folded, readout) = self.fold();
        let fits = |(cells, own): (&FoldedLayer<F>, &Vec<F>)| own.len() == inputs.sequences() * cells[0].state_len();
        let layers_fit = || state.layers.len() == folded.len() && folded.iter().zip(&state.layers).all(fits);
        let pooling = |pooled: &Pooled<F>| pooled.pooling == self.config.pooled();
        if state.steps > 0 && !(layers_fit() && state.pooled.as_ref().is_none_or(pooling)) {
            let expected = "one that this model has left";
            return Err(Error::setting("state", "that of a model of other sizes", expected));
        }
        self.run_piece(&folded, inputs, state, workspace);
        Ok(self.read_out(readout, state))
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
        self.read_out(readout, &state)
    }

    /// The logits after the pieces so far.
    fn read_out(&self, readout: &[F], state: &State<F>) -> Vec<F> {
        let mut logits = Vec::new();
        let pooled = pooling::rows(state.pooled.as_slice());
        self.config.readout().forward(readout, &pooled, &mut logits);
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
        let pooled = state
            .pooled
            .get_or_insert_with(|| Pooled::new(self.config.pooled(), states.sequences(), states.features()));
        pooled.add(states, state.steps);
        state.steps += inputs.lengths().iter().copied().max().unwrap_or(0);
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
        let pooled = state.pooled.as_slice();
        let outcome = self.readout_loss(readout, batch, options, pooling::rows(pooled), workspace, gradient);
        let all_steps = self.config.pooled().sees_all_steps();
        for (from, initial) in (0..longest).step_by(piece).zip(&borders) {
            inputs.copy_piece(whole, from, from + piece);
            // Of the last states, only those of sequences that end in this piece are states of this piece.
            if !all_steps && !pooled.iter().any(|pooled| pooled.any_ends(inputs.lengths(), from)) {
                continue;
            }
            let pass = Pass {
                input: &inputs,
                initial: (from > 0).then_some(&initial[..]),
                first_step: from,
                dropout,
            };
            layers::forward(&folded, pass, &mut workspace.layers, true);
            self.backward(&folded, pass, pooled, batch, workspace, gradient);
        }
        workspace.piece = inputs;
        Ok(outcome)
    }
}

/// A second direction begins at a sequence's end, which a piece does not have.
pub(super) fn needs_one_direction() -> Error {
    let expected = "a model of one direction, where sequences come in pieces: the other begins at a sequence's end";
    Error::setting("bidirectional", "true", expected)
}
