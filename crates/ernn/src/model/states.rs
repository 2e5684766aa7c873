//! A look inside: the folded cells and the states of every layer.

use ernn_kernels::{Panels, Real};

use super::layers::{self, Pass};
use super::{Model, Workspace};
use crate::Result;
use crate::cell::Folded;

/// The states of a layer.
#[derive(Clone, Debug)]
pub struct LayerStates<F: Real> {
    /// `h` after every step, as the layer above sees it outside of training. Of a bidirectional layer `[forwards, backwards]` side by
    /// side, each at the step that it has just read.
    pub all: Panels<F>,
    /// The state of each direction at the end of its way, `[sequences, state_len]`: `h`, then for the LSTM `c`.
    pub last: Vec<Vec<F>>,
}

impl<F: Real> Model<F> {
    /// The folded cells, from input to readout: a layer's one, or in a bidirectional model its two.
    pub fn folded(&self) -> Vec<Vec<Folded<F>>> {
        self.fold().0
    }

    /// The states of all layers, from input to readout, no dropout.
    ///
    /// # Errors
    /// If the inputs do not fit the model.
    pub fn states(&self, inputs: &Panels<F>, workspace: &mut Workspace<F>) -> Result<Vec<LayerStates<F>>> {
        self.check_input(inputs)?;
        let pass = Pass {
            input: inputs,
            initial: None,
            first_step: 0,
            dropout: None,
        };
        layers::forward(&self.fold().0, pass, &mut workspace.layers, false);
        let states = workspace.layers.iter().map(|layer| {
            let mut all = Panels::new(inputs.isa(), 1, &[]);
            layers::put_side_by_side(&layer.directions, &mut all);
            let directions = layer.directions.iter();
            LayerStates {
                all,
                last: directions.map(|direction| direction.trace.last_state()).collect(),
            }
        });
        Ok(states.collect())
    }
}
