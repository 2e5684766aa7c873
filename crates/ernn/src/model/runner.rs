//! One sequence at a time, with the least delay: whole, or step by step with the state kept.

use ernn_kernels::{Isa, Real};

use super::pooling::{self, Pooled};
use super::{Model, PIECE};
use crate::cell::CellRunner;
use crate::head::Readout;
use crate::{Error, Result};

/// A model ready to run one sequence at a time.
#[derive(Clone, Debug)]
pub struct Runner<F> {
    layers: Vec<Layer<F>>,
    readout: Readout,
    readout_parameters: Vec<F>,
    inputs: usize,
    /// States of the layer under way and of the one before.
    states: [Vec<F>; 2],
    /// What the readout needs to know of the states so far, one a direction.
    pooled: Vec<Pooled<F>>,
    steps: usize,
}

/// The cells of a layer, each with its state.
#[derive(Clone, Debug)]
struct Layer<F> {
    hidden: usize,
    directions: Vec<(CellRunner<F>, Vec<F>)>,
}

impl<F: Real> Model<F> {
    /// Folds and packs the model for one sequence at a time.
    pub fn runner(&self) -> Runner<F> {
        let (folded, readout) = self.fold();
        let isa = Isa::best();
        let layers = folded.iter().map(|cells| Layer {
            hidden: cells[0].hidden(),
            directions: cells
                .iter()
                .map(|cell| (cell.runner(isa), vec![F::ZERO; cell.state_len()]))
                .collect(),
        });
        let directions = self.config.directions();
        let pooled = Pooled::new(self.config.pooled(), 1, self.config.top() / directions);
        Runner {
            layers: layers.collect(),
            pooled: vec![pooled; directions],
            readout: self.config.readout(),
            readout_parameters: readout.to_vec(),
            inputs: self.config.input_size,
            states: [Vec::new(), Vec::new()],
            steps: 0,
        }
    }
}

impl<F: Real> Runner<F> {
    /// Logits `[classes]` of one sequence `[T, d]` from its beginning, the same bits as [`Model::logits`]'s.
    ///
    /// # Panics
    /// If the numbers are not whole steps.
    pub fn logits(&mut self, sequence: &[F]) -> Vec<F> {
        self.reset();
        if self.layers[0].directions.len() > 1 {
            self.run(sequence);
        } else {
            // The same bits, and memory does not grow with the sequence.
            sequence.chunks(PIECE * self.inputs).for_each(|piece| self.run(piece));
        }
        self.read_out()
    }

    /// Goes on with the stream by one or more steps `[T, d]`, and gives the logits after them: those of all steps since the last
    /// [`Runner::reset`], bit for bit. Memory does not grow with the stream.
    ///
    /// # Errors
    /// If the numbers are not whole steps, or the model is bidirectional: it needs a sequence's end to begin. The stream is then as it
    /// was before.
    pub fn push(&mut self, steps: &[F]) -> Result<Vec<F>> {
        if self.layers[0].directions.len() > 1 {
            return Err(super::pieces::needs_one_direction());
        }
        if !steps.len().is_multiple_of(self.inputs) {
            let expected = format!("whole steps of {} numbers", self.inputs);
            return Err(Error::setting("steps", format!("{} numbers", steps.len()), expected));
        }
        self.run(steps);
        Ok(self.read_out())
    }

    /// Forgets the stream: the next step is a first one.
    pub fn reset(&mut self) {
        let states = self.layers.iter_mut().flat_map(|layer| &mut layer.directions);
        states.for_each(|(_, state)| state.fill(F::ZERO));
        self.pooled.iter_mut().for_each(Pooled::reset);
        self.steps = 0;
    }

    fn run(&mut self, input: &[F]) {
        let steps = input.len() / self.inputs;
        let [output, source] = &mut self.states;
        source.clear();
        source.extend_from_slice(input);
        let mut width = self.inputs;
        for layer in &mut self.layers {
            let hidden = layer.hidden;
            if let [(cell, state)] = &mut layer.directions[..] {
                cell.run(source, self.steps, state, output);
            } else {
                both_ways(layer, source, width, output);
            }
            width = hidden * layer.directions.len();
            std::mem::swap(output, source);
        }
        // The states of the last layer are in `source` now; those of a second direction stand in the order of the steps.
        for (place, pooled) in self.pooled.iter_mut().enumerate() {
            // A second direction has its steps in reverse, and so has its sum in a batch.
            let column = place * width / self.layers[0].directions.len();
            pooled.add_rows(&self.states[1][..steps * width], width, column, place > 0);
        }
        self.steps += steps;
    }

    fn read_out(&self) -> Vec<F> {
        let pooled = pooling::rows(&self.pooled);
        let mut logits = Vec::new();
        self.readout.forward(&self.readout_parameters, &pooled, &mut logits);
        logits
    }
}

/// A layer of two directions over a whole sequence: the states of both beside each other, step by step.
fn both_ways<F: Real>(layer: &mut Layer<F>, source: &[F], width: usize, output: &mut Vec<F>) {
    let (hidden, steps) = (layer.hidden, source.len() / width);
    let reversed: Vec<F> = source.chunks_exact(width).rev().flatten().copied().collect();
    let count = layer.directions.len();
    output.clear();
    output.resize(steps * hidden * count, F::ZERO);
    let mut states = Vec::new();
    for (place, (cell, state)) in layer.directions.iter_mut().enumerate() {
        cell.run(if place == 0 { source } else { &reversed }, 0, state, &mut states);
        for (step, row) in states.chunks_exact(hidden).enumerate() {
            let step = if place == 0 { step } else { steps - 1 - step };
            output[(step * count + place) * hidden..][..hidden].copy_from_slice(row);
        }
    }
}
