//! A target a step: the loss of every step's state, for classes of steps, for the next token, and for numbers of steps.
//!
//! ```text
//! states of the last layer [steps of all sequences, D] -> dropout -> readout -> softmax cross-entropy, mean over the steps with a label
//!                                                                            -> loss of numbers, mean over the steps with numbers
//! ```
//!
//! Logits exist a chunk at a time (`ernn_kernels::Softmax`). A text runs in windows with the state carried from one to the next; each
//! window begins at the first learned step size, whatever came before it.

use std::borrow::Cow;

use ernn_kernels::{Panels, Real, RowLoss, Softmax, SoftmaxGradient};

use super::embedding::starts;
use super::layers::{self, AtTop, LayerWorkspace, Pass};
use super::{LossOptions, Model, PIECE, State, Workspace};
use crate::batch::Batch;
use crate::data::Task;
use crate::data::UNLABELLED;
use crate::head::{apply_mask, dropout_mask, number_loss_sum, pinball_loss_sum};
use crate::{Error, Result};

impl<F: Real> Model<F> {
    /// [`Model::loss_and_gradient`] of the next window of a text: the state goes on from window to window, no gradient flows back over
    /// the border. `State::default()` begins a text.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`]; or if the state is that of other streams.
    pub fn window_loss_and_gradient(
        &self,
        batch: &Batch<F>,
        options: &LossOptions<F>,
        state: &mut State<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        self.check_batch(batch, options)?;
        self.check_streams()?;
        gradient.fill(F::ZERO);
        let embedded = self.embedded(batch, options, workspace);
        let inputs = embedded.as_ref().unwrap_or(&batch.inputs);
        let outcome = self.loss_of_steps(batch, inputs, options, state, workspace, gradient);
        workspace.embedded = embedded;
        outcome
    }

    /// The loss of each step of all sequences, one after the other, and whether its target was the likeliest; no dropout. The state
    /// goes on as in [`Model::window_loss_and_gradient`].
    ///
    /// # Errors
    /// If the batch does not fit the model or the state.
    pub fn step_losses(
        &self,
        batch: &Batch<F>,
        state: &mut State<F>,
        workspace: &mut Workspace<F>,
    ) -> Result<Vec<RowLoss<F>>> {
        let options = LossOptions::default();
        self.check_batch(batch, &options)?;
        if self.config.task == Task::StepRegression {
            return Err(Error::setting(
                "task",
                "numbers of steps",
                "classes or tokens, one of which is the likeliest",
            ));
        }
        let embedded = self.embedded(batch, &options, workspace);
        let inputs = embedded.as_ref().unwrap_or(&batch.inputs);
        let whole = self.config.bidirectional;
        let found = self.walk(batch, inputs, if whole { None } else { Some(PIECE) }, state, |walk| {
            let pass = walk.pass(None);
            layers::forward(walk.folded, pass, &mut workspace.layers, false);
            let rows = self.rows(&workspace.layers, walk.piece);
            let labelled = walk.labelled(self.config.readout().inputs);
            let (rows, targets) = (labelled.pick(rows), labelled.targets(&walk.targets));
            let softmax = self.softmax(walk.readout);
            let losses = softmax.run(walk.piece.isa(), &rows, &targets, None, &mut workspace.softmax);
            (labelled.spread(losses), last_states(&workspace.layers))
        });
        workspace.embedded = embedded;
        let (pieces, places) = found?;
        // From the order of pieces to that of the sequences.
        let mut all = vec![None; batch.targets.len()];
        for (loss, place) in pieces.into_iter().flatten().zip(places) {
            all[place] = loss;
        }
        Ok(all.into_iter().flatten().collect())
    }

    /// The logits of each step of all sequences, one sequence after the other, `[steps, classes]`; no dropout, each sequence from its
    /// beginning.
    ///
    /// # Errors
    /// If the batch does not fit the model.
    pub fn step_logits(&self, batch: &Batch<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        self.check_values(batch)?;
        let embedded = self.embedded(batch, &LossOptions::default(), workspace);
        let inputs = embedded.as_ref().unwrap_or(&batch.inputs);
        let piece = (!self.config.bidirectional).then_some(PIECE);
        let readout = self.config.readout();
        let found = self.walk(batch, inputs, piece, &mut State::default(), |walk| {
            layers::forward(walk.folded, walk.pass(None), &mut workspace.layers, false);
            let rows = self.rows(&workspace.layers, walk.piece);
            let mut logits = Vec::new();
            readout.forward(walk.readout, &rows, &mut logits);
            (logits, last_states(&workspace.layers))
        });
        workspace.embedded = embedded;
        let (pieces, places) = found?;
        let mut all = vec![F::ZERO; places.len() * readout.classes];
        let rows = pieces.iter().flat_map(|logits| logits.chunks_exact(readout.classes));
        for (row, place) in rows.zip(places) {
            all[place * readout.classes..(place + 1) * readout.classes].copy_from_slice(row);
        }
        Ok(all)
    }

    /// Mean loss, number of right steps, and the gradient added up.
    pub(super) fn loss_of_steps(
        &self,
        batch: &Batch<F>,
        inputs: &Panels<F>,
        options: &LossOptions<F>,
        state: &mut State<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        let total = match self.config.task {
            Task::StepRegression => {
                batch.numbers.iter().filter(|number| !number.is_nan()).count() * self.config.quantiles.len().max(1)
            }
            _ => batch.targets.iter().filter(|&&target| target != UNLABELLED).count(),
        };
        let scale = F::ONE / F::from_f64(total.max(1) as f64);
        let dropout = self.layer_dropout(batch, options);
        let readout = self.config.readout();
        let (found, _) = self.walk(batch, inputs, options.tbptt, state, |walk| {
            let pass = walk.pass(dropout);
            layers::forward(walk.folded, pass, &mut workspace.layers, true);
            let labelled = walk.labelled(readout.inputs);
            let mut rows = self.rows(&workspace.layers, walk.piece);
            let dropped = options.dropout.filter(|_| self.config.dropout > 0.0);
            if let Some((seed, epoch)) = dropped {
                let draws = walk.draws(&batch.indices);
                dropout_mask(
                    self.config.dropout,
                    seed,
                    epoch,
                    &draws,
                    readout.inputs,
                    &mut workspace.mask,
                );
                apply_mask(&mut rows, &workspace.mask);
            }
            let own = self.readout_range();
            let rows = labelled.pick(rows);
            let losses = if self.config.task == Task::StepRegression {
                self.loss_of_numbers(&walk, &rows, options, scale, workspace, &mut gradient[own])
            } else {
                let (weight, bias) = gradient[own].split_at_mut(readout.inputs * readout.classes);
                let targets = labelled.targets(&walk.targets);
                let at_rows = &mut workspace.pooled_gradient;
                at_rows.resize(rows.len(), F::ZERO);
                let wanted = SoftmaxGradient {
                    scale,
                    weight,
                    bias,
                    states: at_rows,
                };
                let softmax = self.softmax(walk.readout);
                softmax.run(walk.piece.isa(), &rows, &targets, Some(wanted), &mut workspace.softmax)
            };
            labelled.spread_gradient(&mut workspace.pooled_gradient);
            if dropped.is_some() {
                apply_mask(&mut workspace.pooled_gradient, &workspace.mask);
            }
            // The backward pass needs the traces as they are.
            let last = last_states(&workspace.layers);
            self.spread_rows(walk.piece, workspace);
            let all = std::mem::take(&mut workspace.all);
            self.back_through(walk.folded, pass, AtTop::All(&all), batch, workspace, gradient);
            workspace.all = all;
            (losses, last)
        })?;
        let rows = found.iter().flatten();
        let sum: F = rows.clone().map(|row| row.loss).sum();
        Ok((sum * scale, rows.filter(|row| row.correct).count()))
    }

    /// The sum of the losses of these rows `[rows, D]`, whose numbers are `[rows, targets]`; adds the readout's gradient and leaves that at the
    /// rows in the workspace.
    fn loss_of_numbers(
        &self,
        walk: &Walk<F>,
        rows: &[F],
        options: &LossOptions<F>,
        scale: F,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Vec<RowLoss<F>> {
        let readout = self.config.readout();
        let numbers: Vec<f32> = walk.numbers.iter().copied().filter(|number| !number.is_nan()).collect();
        let mut outputs = Vec::new();
        readout.forward(walk.readout, rows, &mut outputs);
        let at_outputs = &mut workspace.logit_gradient;
        let loss = match self.config.quantiles.as_slice() {
            [] => number_loss_sum(options.loss, &outputs, &numbers, scale, at_outputs),
            quantiles => pinball_loss_sum(quantiles, &outputs, &numbers, scale, at_outputs),
        };
        let at_rows = &mut workspace.pooled_gradient;
        readout.backward(walk.readout, rows, at_outputs, gradient, at_rows);
        vec![RowLoss { loss, correct: false }]
    }

    fn softmax<'p>(&self, parameters: &'p [F]) -> Softmax<'p, F> {
        let readout = self.config.readout();
        let (weight, bias) = parameters.split_at(readout.inputs * readout.classes);
        Softmax {
            inputs: readout.inputs,
            classes: readout.classes,
            weight,
            bias,
        }
    }

    /// Goes over the pieces of a batch, with the state carried; gives what `work` gives for each, and the places of the steps in
    /// that order.
    fn walk<T>(
        &self,
        batch: &Batch<F>,
        inputs: &Panels<F>,
        piece: Option<usize>,
        state: &mut State<F>,
        mut work: impl FnMut(Walk<F>) -> (T, Vec<Vec<F>>),
    ) -> Result<(Vec<T>, Vec<usize>)> {
        let (folded, readout) = self.fold();
        let sequences = inputs.sequences();
        if !state.layers.is_empty() && state.layers[0].len() != sequences * folded[0][0].state_len() {
            let expected = format!("the state of {sequences} streams of this model");
            return Err(Error::setting("state", "that of other streams", expected));
        }
        let longest = inputs.lengths().iter().copied().max().unwrap_or(0);
        let piece = piece.unwrap_or(longest).clamp(1, longest.max(1));
        let starts = starts(inputs.lengths());
        let mut own = Panels::new(inputs.isa(), 1, &[]);
        let (mut found, mut all_places) = (Vec::new(), Vec::new());
        for from in (0..longest).step_by(piece) {
            let part = if piece < longest {
                own.copy_piece(inputs, from, from + piece);
                &own
            } else {
                inputs
            };
            let places: Vec<usize> = part
                .lengths()
                .iter()
                .zip(&starts)
                .flat_map(|(&length, start)| (0..length).map(move |step| start + from + step))
                .collect();
            // Nobody has to know the targets to ask what the model says.
            let targets = places
                .iter()
                .filter_map(|&place| batch.targets.get(place).copied())
                .collect();
            let each = self.config.targets();
            let numbers = match self.config.task {
                Task::StepRegression => places
                    .iter()
                    .filter_map(|place| batch.numbers.get(place * each..(place + 1) * each))
                    .flatten()
                    .copied()
                    .collect(),
                _ => Vec::new(),
            };
            let (result, last) = work(Walk {
                folded: &folded,
                readout,
                piece: part,
                initial: (!state.layers.is_empty()).then_some(&state.layers[..]),
                first_step: from,
                targets,
                numbers,
                each,
            });
            state.layers = last;
            found.push(result);
            all_places.extend(places);
        }
        Ok((found, all_places))
    }

    /// The states of the last layer at all steps, sequence after sequence, `[steps, D]`; of two directions side by side.
    fn rows(&self, layers: &[LayerWorkspace<F>], piece: &Panels<F>) -> Vec<F> {
        let directions = &layers[layers.len() - 1].directions;
        let width = self.config.readout().inputs;
        let own = width / directions.len();
        let steps: usize = piece.lengths().iter().sum();
        let mut rows = vec![F::ZERO; steps * width];
        let mut row = 0;
        for (sequence, &length) in piece.lengths().iter().enumerate() {
            for step in 0..length {
                for (place, direction) in directions.iter().enumerate() {
                    let step = if place == 0 { step } else { length - 1 - step };
                    let out = &mut rows[row * width + place * own..][..own];
                    direction.trace.states().read_step(sequence, step, out);
                }
                row += 1;
            }
        }
        rows
    }

    /// The gradient at those rows, put where each direction's states stand.
    fn spread_rows(&self, piece: &Panels<F>, workspace: &mut Workspace<F>) {
        let directions = self.config.directions();
        let width = self.config.readout().inputs;
        let own = width / directions;
        let starts = starts(piece.lengths());
        let rows = &workspace.pooled_gradient;
        workspace
            .all
            .resize_with(directions, || Panels::new(piece.isa(), 1, &[]));
        for (place, panels) in workspace.all.iter_mut().enumerate() {
            panels.lay_out_as(piece, own);
            panels.pack_steps(own, piece.lengths(), |sequence, step| {
                let step = if place == 0 {
                    step
                } else {
                    piece.lengths()[sequence] - 1 - step
                };
                &rows[(starts[sequence] + step) * width + place * own..][..own]
            });
        }
    }
}

/// Which rows of a piece have a label.
struct Labelled {
    /// All, or those that have one.
    chosen: Option<Vec<usize>>,
    rows: usize,
    width: usize,
}

impl Labelled {
    /// `known`: whether each row has one.
    fn of(known: &[bool], width: usize) -> Self {
        let chosen = || (0..known.len()).filter(|&row| known[row]).collect();
        Labelled {
            chosen: known.contains(&false).then(chosen),
            rows: known.len(),
            width,
        }
    }

    /// The states of those rows, `[rows, width]`.
    fn pick<F: Real>(&self, rows: Vec<F>) -> Vec<F> {
        let Some(chosen) = &self.chosen else { return rows };
        let row = |&row: &usize| &rows[row * self.width..(row + 1) * self.width];
        chosen.iter().flat_map(row).copied().collect()
    }

    fn targets<'t>(&self, targets: &'t [u32]) -> Cow<'t, [u32]> {
        match &self.chosen {
            None => Cow::Borrowed(targets),
            Some(chosen) => chosen.iter().map(|&row| targets[row]).collect(),
        }
    }

    /// What was found for each row; nothing for one without a label.
    fn spread<T: Copy>(&self, found: Vec<T>) -> Vec<Option<T>> {
        let Some(chosen) = &self.chosen else {
            return found.into_iter().map(Some).collect();
        };
        let mut all = vec![None; self.rows];
        chosen
            .iter()
            .zip(found)
            .for_each(|(&row, found)| all[row] = Some(found));
        all
    }

    /// The gradient at all rows, 0 where there is no label, in the place of that of the rows that have one.
    fn spread_gradient<F: Real>(&self, gradient: &mut Vec<F>) {
        let Some(chosen) = &self.chosen else { return };
        let mut all = vec![F::ZERO; self.rows * self.width];
        for (from, &row) in gradient.chunks_exact(self.width).zip(chosen) {
            all[row * self.width..(row + 1) * self.width].copy_from_slice(from);
        }
        *gradient = all;
    }
}

/// Steps of a sequence at most, so that no two steps of an epoch share a draw.
const STEPS: usize = 1 << 32;

/// One piece on a walk over a batch.
struct Walk<'a, F: Real> {
    folded: &'a [layers::FoldedLayer<F>],
    readout: &'a [F],
    piece: &'a Panels<F>,
    initial: Option<&'a [Vec<F>]>,
    first_step: usize,
    targets: Vec<u32>,
    /// The numbers of its steps, `[steps, each]`; empty where classes are learned.
    numbers: Vec<f32>,
    each: usize,
}

impl<'a, F: Real> Walk<'a, F> {
    /// A number for each step that no other one of the epoch has.
    fn draws(&self, sequences: &[usize]) -> Vec<usize> {
        let lengths = self.piece.lengths().iter().zip(sequences);
        lengths
            .flat_map(|(&length, sequence)| (0..length).map(move |step| sequence * STEPS + self.first_step + step))
            .collect()
    }

    /// Which of its steps have a label, or numbers.
    fn labelled(&self, width: usize) -> Labelled {
        let known: Vec<bool> = match self.numbers.is_empty() {
            true => self.targets.iter().map(|&target| target != UNLABELLED).collect(),
            false => self
                .numbers
                .chunks_exact(self.each)
                .map(|row| !row[0].is_nan())
                .collect(),
        };
        Labelled::of(&known, width)
    }

    fn pass(&self, dropout: Option<layers::LayerDropout<'a>>) -> Pass<'a, F> {
        Pass {
            input: self.piece,
            initial: self.initial,
            first_step: self.first_step,
            dropout,
        }
    }
}

/// The state of each layer at the end of a piece; none of models of two directions, which do not go on.
fn last_states<F: Real>(layers: &[LayerWorkspace<F>]) -> Vec<Vec<F>> {
    if layers.iter().any(|layer| layer.directions.len() > 1) {
        return Vec::new();
    }
    layers
        .iter()
        .map(|layer| layer.directions[0].trace.last_state())
        .collect()
}
