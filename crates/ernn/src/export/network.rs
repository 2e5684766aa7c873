//! A model as a device runs it: folded cells, readout, what is done to the inputs.

use super::unit::Unit;
use crate::Result;
use crate::cell::{Folded, FoldedDeep, FoldedEquilibrium, FoldedGated, FoldedLeaky};
use crate::checkpoint::SavedModel;
use crate::data::{Derivation, Task};
use crate::evaluate::for_streams;
use crate::model::Pooling;

/// A folded cell that a device can run.
pub(super) enum Cell {
    Leaky(FoldedLeaky<f32>),
    Gated(FoldedGated<f32>),
    Deep(FoldedDeep<f32>),
    Equilibrium(FoldedEquilibrium<f32>),
}

impl Cell {
    fn of(folded: Folded<f32>) -> Self {
        match folded {
            Folded::Leaky(cell) => Cell::Leaky(cell),
            Folded::Gated(cell) => Cell::Gated(cell),
            Folded::Deep(cell) => Cell::Deep(cell),
            Folded::Equilibrium(cell) => Cell::Equilibrium(cell),
        }
    }
}

/// A model of one direction, folded.
pub(super) struct Network {
    pub layers: Vec<Cell>,
    /// `[outputs, D]`; of several statistics `[outputs, statistics x D]`.
    pub readout_weight: Vec<f32>,
    /// `[outputs]`.
    pub readout_bias: Vec<f32>,
    /// Mean and scale of the inputs; of tokens the rows of the embedding, and nothing.
    pub input: [Vec<f32>; 2],
    /// Which channels are derived; none of tokens.
    pub derivation: Derivation,
    /// What the readout sees of the states.
    pub pooling: Pooling,
    pub tokens: bool,
    /// Values of an input, or tokens that are known.
    pub inputs: usize,
    /// What the first layer reads.
    pub first: usize,
    pub outputs: usize,
    /// Of a model of numbers.
    pub unit: Option<Unit>,
    /// Several outputs can hold.
    pub several: bool,
}

impl Network {
    /// # Errors
    /// If the model reads sequences from both ends, of which a stream has only one.
    pub fn of(saved: &SavedModel) -> Result<Self> {
        let model = for_streams(&saved.model)?;
        let config = model.config();
        let (mut inputs, mut start) = (config.input_size, 0);
        let mut layers = Vec::with_capacity(config.layers.len());
        for cell in &config.layers {
            let end = start + cell.parameter_count(inputs);
            layers.push(Cell::of(config.fold(cell, inputs, &model.parameters()[start..end])));
            (inputs, start) = (cell.hidden(), end);
        }
        let weights = config.classes * inputs * config.pooled().statistics().len();
        let readout = &model.parameters()[start..start + weights + config.classes];
        let (input, inputs) = match &config.embedding {
            Some(embedding) => {
                let tokens: Vec<u32> = (0..embedding.vocabulary as u32).collect();
                ([model.embed(&tokens), Vec::new()], embedding.vocabulary)
            }
            None => {
                let normalization = saved.normalization.clone();
                ([normalization.mean, normalization.scale], saved.channels())
            }
        };
        Ok(Network {
            layers,
            readout_weight: readout[..weights].to_vec(),
            readout_bias: readout[weights..].to_vec(),
            input,
            derivation: saved.derivation.clone(),
            pooling: config.pooled(),
            tokens: config.embedding.is_some(),
            inputs,
            first: config.input_size,
            outputs: config.classes,
            unit: Unit::of(saved),
            several: config.task == Task::MultiLabel,
        })
    }
}
