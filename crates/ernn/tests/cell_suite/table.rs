//! The table of cases: settings, parameters and a batch for each.

use std::collections::BTreeSet;

use ernn::batch::Batch;
use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, ErnnConfig, FastRnnConfig, Projection, Rank, RnnConfig, Sign, Span,
    Start, StepSizes,
};
use ernn::model::{LossOptions, Model, ModelConfig, Pooling};
use ernn::{Isa, Panels, Real};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The settings of a case, each with the number of its values.
const AXES: [(&str, usize); 13] = [
    ("cell", 4),
    ("rank", 2),
    ("iterations", 4),
    ("start", 2),
    ("sign", 2),
    ("steps", 3),
    ("projection", 2),
    ("activation", 3),
    ("lengths", 6),
    ("layers", 3),
    ("pooling", 2),
    ("class weights", 2),
    ("dropout", 2),
];

/// One value of each axis.
type Choice = [usize; AXES.len()];

/// Two axes other than the cell, and a value of each.
type Pair = [(usize, usize); 2];

fn pairs(choice: &Choice) -> impl Iterator<Item = Pair> {
    let axes = 1..AXES.len();
    axes.flat_map(move |a| (a + 1..AXES.len()).map(move |b| [(a, choice[a]), (b, choice[b])]))
}

/// How often every pair occurs at least, each time in other company.
const ROUNDS: usize = 2;

/// Choices such that, for each cell, every pair of values of two other axes occurs; the same ones every time.
fn choices() -> Vec<Choice> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut chosen = Vec::new();
    for cell in (0..AXES[0].1).cycle().take(ROUNDS * AXES[0].1) {
        let mut wanted = BTreeSet::new();
        for (a, b) in (1..AXES.len()).flat_map(|a| (a + 1..AXES.len()).map(move |b| (a, b))) {
            wanted.extend((0..AXES[a].1).flat_map(|x| (0..AXES[b].1).map(move |y| [(a, x), (b, y)])));
        }
        while let Some(&pair) = wanted.first() {
            let mut draw = || {
                let mut choice: Choice = std::array::from_fn(|axis| rng.random_range(0..AXES[axis].1));
                choice[0] = cell;
                for (axis, value) in pair {
                    choice[axis] = value;
                }
                choice
            };
            let candidates: Vec<Choice> = (0..50).map(|_| draw()).collect();
            let gain = |choice: &&Choice| pairs(choice).filter(|pair| wanted.contains(pair)).count();
            let best = *candidates.iter().max_by_key(gain).expect("candidates");
            pairs(&best).for_each(|pair| {
                wanted.remove(&pair);
            });
            chosen.push(best);
        }
    }
    chosen
}

/// A model and a batch.
pub struct Case {
    pub name: String,
    pub config: ModelConfig,
    pub parameters: Vec<f64>,
    pub lengths: Vec<usize>,
    /// `[steps, sequences, d]`, NaN behind the end of a sequence.
    pub inputs: Vec<f64>,
    pub targets: Vec<u32>,
    pub class_weights: Option<Vec<f64>>,
    /// Seed and epoch.
    pub dropout: Option<(u64, u64)>,
}

/// All cases.
pub fn cases() -> Vec<Case> {
    choices()
        .iter()
        .enumerate()
        .map(|(index, choice)| case(index, choice))
        .collect()
}

fn lengths(kind: usize) -> Vec<usize> {
    match kind {
        0 => vec![6; 4],
        1 => vec![7, 1, 4, 9, 2],
        2 => vec![40],
        3 => vec![1],
        // One lane block of `f64` is 4, 8 or 16 sequences, one of `f32` 8 to 32.
        4 => (0..19).map(|index| 1 + index * 5 % 7).collect(),
        _ => (0..37).map(|index| 1 + index * 3 % 5).collect(),
    }
}

fn cell(choice: &Choice, layer: usize, longest: usize, hidden: usize) -> CellConfig {
    let &[first, rank, iterations, start, sign, steps, projection, activation, ..] = choice;
    // From layer to layer another cell, the other rank, the other smooth function.
    let rank = match (rank + layer) % 2 {
        0 => Rank::Full,
        _ => Rank::Low(hidden.div_ceil(3)),
    };
    let activation = match (activation, layer % 2) {
        (2, _) => Activation::Relu,
        (0, 0) | (1, 1) => Activation::Tanh,
        _ => Activation::Sigmoid,
    };
    match (first + layer) % AXES[0].1 {
        0 => CellConfig::Ernn(ErnnConfig {
            hidden,
            rank,
            iterations: [1, 2, 3, 5][iterations],
            activation,
            start: [Start::Previous, Start::Zero][start],
            sign: [Sign::Plus, Sign::Minus][sign],
            steps: [StepSizes::PerStep, StepSizes::PerStep, StepSizes::PerIteration][steps],
            gamma: 1.3,
            projection: [Projection::Shared, Projection::Identity][projection],
            // The second kind ends before the longest sequence does.
            max_steps: if steps == 1 { longest.div_ceil(2) } else { longest },
            ..Default::default()
        }),
        1 => CellConfig::Rnn(RnnConfig {
            hidden,
            rank,
            activation,
        }),
        2 => CellConfig::FastRnn(FastRnnConfig {
            hidden,
            rank,
            activation,
            ..Default::default()
        }),
        _ => CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden,
            rank,
            activation,
            epsilon: 0.3,
            gamma: 0.1,
            ..Default::default()
        }),
    }
}

fn case(index: usize, choice: &Choice) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(index as u64);
    let &[.., lengths_kind, layers, pooling, weighted, dropout] = choice;
    let lengths = lengths(lengths_kind);
    let longest = lengths.iter().copied().max().expect("a sequence");
    let hidden = [[6, 9, 5], [3, 7, 4], [17, 2, 6], [4, 1, 8]][index % 4];
    let (input_size, classes) = (1 + index % 4, 2 + index % 3);
    let config = ModelConfig {
        input_size,
        classes,
        layers: (0..=layers)
            .map(|layer| cell(choice, layer, longest, hidden[layer]))
            .collect(),
        dropout: [0.0, 0.4][dropout],
        pooling: [Pooling::Last, Pooling::Mean][pooling],
    };
    let (spans, relu) = (config.spans(), choice[7] == 2);
    let parameters = spans.iter().flat_map(|span| draw(span, relu, &mut rng)).collect();
    let mut inputs = Vec::new();
    for step in 0..longest {
        for &length in &lengths {
            inputs.extend((0..input_size).map(|_| match step < length {
                true => rng.random_range(-1.5..1.5),
                false => f64::NAN,
            }));
        }
    }
    let picked = |(name, _): (&str, usize), value: usize| format!("{name} {value}");
    let names: Vec<_> = AXES
        .iter()
        .zip(choice)
        .map(|(&axis, &value)| picked(axis, value))
        .collect();
    Case {
        name: format!("case {index} ({})", names.join(", ")),
        parameters,
        inputs,
        targets: lengths.iter().map(|_| rng.random_range(0..classes as u32)).collect(),
        class_weights: (weighted == 1).then(|| (0..classes).map(|class| 0.5 + class as f64).collect()),
        dropout: (dropout == 1).then_some((7, index as u64)),
        lengths,
        config,
    }
}

/// Values so large that every term matters, so small that states stay near 1: a ReLU does not hold them back.
fn draw(span: &Span, relu: bool, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let bound = match &span.shape[..] {
        [_, columns] if span.decay => ((if relu { 0.7 } else { 2.0 }) / *columns as f64).sqrt(),
        _ => 0.7,
    };
    let is_eta = span.name.ends_with("eta") && span.shape.len() == 2;
    let range = if is_eta { 0.05..0.35 } else { -bound..bound };
    (0..span.len()).map(|_| rng.random_range(range.clone())).collect()
}

fn narrow<F: Real>(values: &[f64]) -> Vec<F> {
    values.iter().map(|&value| F::from_f64(value)).collect()
}

impl Case {
    /// Whether the loss is a smooth function of the parameters.
    pub fn is_smooth(&self) -> bool {
        let relu = |cell: &CellConfig| match cell {
            CellConfig::Ernn(cell) => cell.activation == Activation::Relu,
            CellConfig::Rnn(cell) => cell.activation == Activation::Relu,
            CellConfig::FastRnn(cell) => cell.activation == Activation::Relu,
            CellConfig::Antisymmetric(cell) => cell.activation == Activation::Relu,
        };
        !self.config.layers.iter().any(relu)
    }

    pub fn model<F: Real>(&self) -> Model<F> {
        self.model_with(&self.parameters)
    }

    pub fn model_with<F: Real>(&self, parameters: &[f64]) -> Model<F> {
        Model::from_parameters(self.config.clone(), narrow(parameters)).expect("a model")
    }

    pub fn options<F: Real>(&self) -> LossOptions<F> {
        LossOptions {
            class_weights: self.class_weights.as_deref().map(narrow),
            dropout: self.dropout,
        }
    }

    /// One sequence, `[T, d]`.
    pub fn sequence<F: Real>(&self, sequence: usize) -> Vec<F> {
        let width = self.config.input_size;
        let start = |step| (step * self.lengths.len() + sequence) * width;
        let steps = 0..self.lengths[sequence];
        steps
            .flat_map(|step| narrow(&self.inputs[start(step)..][..width]))
            .collect()
    }

    /// The whole batch.
    pub fn batch<F: Real>(&self, isa: Isa) -> Batch<F> {
        let steps = self.inputs.len() / (self.lengths.len() * self.config.input_size);
        let inputs = narrow(&self.inputs);
        let inputs = Panels::from_time_major(isa, &inputs, steps, self.config.input_size, &self.lengths);
        self.with_inputs(inputs, &(0..self.lengths.len()).collect::<Vec<_>>())
    }

    /// The sequences with these indices, in this order.
    pub fn pick<F: Real>(&self, isa: Isa, sequences: &[usize]) -> Batch<F> {
        let lengths: Vec<_> = sequences.iter().map(|&sequence| self.lengths[sequence]).collect();
        let mut inputs = Panels::new(isa, self.config.input_size, &lengths);
        for (slot, &sequence) in sequences.iter().enumerate() {
            inputs.set_sequence(slot, &self.sequence(sequence));
        }
        self.with_inputs(inputs, sequences)
    }

    /// A batch; sequence `n` counts as number `3 n + 1` of its data set.
    fn with_inputs<F: Real>(&self, inputs: Panels<F>, sequences: &[usize]) -> Batch<F> {
        let mut batch = Batch::new();
        batch.inputs = inputs;
        batch.targets = sequences.iter().map(|&sequence| self.targets[sequence]).collect();
        batch.indices = sequences.iter().map(|&sequence| 3 * sequence + 1).collect();
        batch
    }

    /// The sequences in another order.
    pub fn shuffled(&self) -> Vec<usize> {
        let order: Vec<usize> = (0..self.lengths.len()).collect();
        order
            .sample(&mut ChaCha8Rng::seed_from_u64(5), order.len())
            .copied()
            .collect()
    }
}

/// A model of two inputs and three classes, beside the table.
pub fn model_of(layers: Vec<CellConfig>) -> ModelConfig {
    ModelConfig {
        input_size: 2,
        classes: 3,
        layers,
        dropout: 0.0,
        pooling: Pooling::Last,
    }
}

/// A batch for [`model_of`]'s three classes.
pub fn batch(features: usize, lengths: &[usize]) -> Batch<f64> {
    let mut batch = Batch::new();
    batch.inputs = Panels::new(Isa::best(), features, lengths);
    batch.targets = vec![2; lengths.len()];
    batch.indices = (0..lengths.len()).collect();
    batch
}

#[test]
fn for_each_cell_every_value_meets_every_value_of_every_other_axis() {
    let choices = choices();
    for cell in 0..AXES[0].1 {
        let of_cell = choices.iter().filter(|choice| choice[0] == cell);
        let seen: BTreeSet<Pair> = of_cell.flat_map(pairs).collect();
        for (a, b) in (1..AXES.len()).flat_map(|a| (a + 1..AXES.len()).map(move |b| (a, b))) {
            let met = seen.iter().filter(|pair| pair[0].0 == a && pair[1].0 == b).count();
            assert_eq!(
                met,
                AXES[a].1 * AXES[b].1,
                "cell {cell}: {} with {}",
                AXES[a].0,
                AXES[b].0
            );
        }
    }
}
