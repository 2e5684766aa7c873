//! The sequences that are looked at, and what each layer reads of them, in `f64`.

use ernn_kernels::{Isa, Panels};
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use ernn::Result;
use ernn::cell::{CellConfig, Folded, StepSizes};
use ernn::data::{Task, View};
use ernn::model::{Model, Workspace};

/// Steps of a piece of text, where the model does not say how many it has learned from.
const WINDOW: usize = 300;

/// A layer's forward direction.
pub(super) struct Layer {
    /// The folded cell.
    pub cell: Folded<f64>,
    /// What it reads, one `[T, d]` a sequence.
    pub inputs: Vec<Vec<f64>>,
    /// `d`.
    pub width: usize,
}

/// So many sequences of a view of `all`, drawn from the seed, in the order of the view.
pub(super) fn chosen(all: usize, wished: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut found = index::sample(&mut rng, all, wished.min(all)).into_vec();
    found.sort_unstable();
    found
}

/// The model in double precision.
pub(super) fn widened(model: &Model<f32>) -> Result<Model<f64>> {
    let parameters = model.parameters().iter().map(|&value| f64::from(value)).collect();
    Model::from_parameters(model.config().clone(), parameters)
}

/// Runs the sequences through the model; empty ones are left out.
pub(super) fn layers(model: &Model<f64>, view: &View, wished: usize, seed: u64) -> Result<Vec<Layer>> {
    let width = model.config().input_size;
    let inputs: Vec<Vec<f64>> = sequences(model, view, wished, seed)
        .into_iter()
        .filter(|values| !values.is_empty())
        .collect();
    let lengths: Vec<usize> = inputs.iter().map(|values| values.len() / width).collect();
    let mut panels = Panels::new(Isa::best(), width, &lengths);
    inputs
        .iter()
        .enumerate()
        .for_each(|(sequence, values)| panels.set_sequence(sequence, values));
    let states = model.states(&panels, &mut Workspace::default())?;
    let mut read = vec![(width, inputs)];
    for layer in &states[..states.len() - 1] {
        read.push((layer.all.features(), rows(&layer.all)));
    }
    let cells = model
        .folded()
        .into_iter()
        .map(|mut directions| directions.swap_remove(0));
    let layer = |(cell, (width, inputs))| Layer { cell, inputs, width };
    Ok(cells.zip(read).map(layer).collect())
}

fn rows(panels: &Panels<f64>) -> Vec<Vec<f64>> {
    let features = panels.features();
    let sequence = |(sequence, &length): (usize, &usize)| {
        let mut values = vec![0.0; length * features];
        for (step, row) in values.chunks_exact_mut(features).enumerate() {
            panels.read_step(sequence, step, row);
        }
        values
    };
    panels.lengths().iter().enumerate().map(sequence).collect()
}

/// Values `[T, input size]` of each sequence; of a text, pieces of it.
fn sequences(model: &Model<f64>, view: &View, wished: usize, seed: u64) -> Vec<Vec<f64>> {
    if model.config().task == Task::NextToken {
        return pieces(model, view, wished, seed);
    }
    let read = |sequence: usize| {
        if view.is_tokens() {
            return model.embed(view.tokens(sequence));
        }
        let mut values = vec![0.0; view.length(sequence) * view.features()];
        view.read(sequence, &mut values);
        values.into_iter().map(f64::from).collect()
    };
    chosen(view.len(), wished, seed).into_iter().map(read).collect()
}

/// Windows as long as those that the model has learned from.
fn pieces(model: &Model<f64>, view: &View, wished: usize, seed: u64) -> Vec<Vec<f64>> {
    let learned = model.config().layers.iter().filter_map(|layer| match layer {
        CellConfig::Ernn(cell) if cell.learns_step_sizes_per_step() => Some(cell.max_steps),
        CellConfig::DeepTransition(cell) if cell.steps == StepSizes::PerStep => Some(cell.max_steps),
        _ => None,
    });
    let window = learned.min().unwrap_or(WINDOW);
    let all = (0..view.len()).flat_map(|text| view.tokens(text).chunks(window));
    let all: Vec<&[u32]> = all.collect();
    let chosen = chosen(all.len(), wished, seed);
    chosen.into_iter().map(|piece| model.embed(all[piece])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ernn::cell::{LstmConfig, RnnConfig};
    use ernn::data::Part;
    use ernn::model::ModelConfig;

    #[test]
    fn a_seed_chooses_the_same_sequences_in_order() {
        let found = chosen(100, 10, 7);
        assert_eq!(found, chosen(100, 10, 7));
        assert_ne!(found, chosen(100, 10, 8));
        assert!(found.len() == 10 && found.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(chosen(3, 10, 1), [0, 1, 2]);
    }

    #[test]
    fn the_second_layer_reads_what_the_first_one_says() {
        let mut part = Part::new(2);
        part.push(&[0.5, -1.0, 2.0, 0.25], None, None);
        part.push(&[1.0, 1.0], None, None);
        let first = CellConfig::Lstm(LstmConfig {
            hidden: 3,
            ..Default::default()
        });
        let second = CellConfig::Rnn(RnnConfig {
            hidden: 4,
            ..Default::default()
        });
        let model = Model::<f64>::new(ModelConfig::new(2, 2, vec![first, second]), 1).unwrap();
        let found = layers(&model, &View::of(&part), 5, 1).unwrap();
        assert_eq!(found[0].inputs, [vec![0.5, -1.0, 2.0, 0.25], vec![1.0, 1.0]]);
        let (mut state, mut states) = (vec![0.0; 6], Vec::new());
        found[0]
            .cell
            .runner(Isa::best())
            .run(&found[0].inputs[0], 0, &mut state, &mut states);
        assert_eq!((found[1].width, &found[1].inputs[0]), (3, &states));
    }
}
