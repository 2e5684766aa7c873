//! The table of cases: settings, parameters and a batch for each.

use ernn::batch::Batch;
use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, DeepTransitionConfig, EquilibriumGradient, ErnnConfig, FastGrnnConfig,
    FastRnnConfig, GateActivation, GatedAntisymmetricConfig, GruConfig, LstmConfig, Projection, Rank, Reset, RnnConfig,
    Sign, Solver, Span, SpectralConfig, Start, StepSizes, UgrnnConfig,
};
use ernn::head::Distillation;
use ernn::model::{LossOptions, Model, ModelConfig, Pooling};
use ernn::{Isa, Panels, Real};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::choices::{Choice, choices};

const POOLINGS: [Pooling; 5] = [
    Pooling::Last,
    Pooling::Mean,
    Pooling::MeanMax,
    Pooling::MeanMaxLast,
    Pooling::MeanStdMax,
];

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
    /// What a teacher says, `[sequences, classes]`; empty where there is none.
    pub soft_targets: Vec<f32>,
    /// Seed and epoch.
    pub dropout: Option<(u64, u64)>,
    /// Whether the loss is a smooth function of the parameters.
    pub smooth: bool,
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
    // From layer to layer another cell, the other rank, the other function that is smooth or piecewise linear.
    let rank = match (choice.of("rank") + layer) % 2 {
        0 => Rank::Full,
        _ => Rank::Low(hidden.div_ceil(3)),
    };
    let input_rank = match (choice.of("input rank") + layer) % 2 {
        0 => Rank::Full,
        _ => Rank::Low(hidden.div_ceil(4)),
    };
    let activation = match (choice.of("activation"), layer % 2) {
        (2, _) => Activation::Relu,
        (0, 0) | (1, 1) => Activation::Tanh,
        (0 | 1, _) => Activation::Sigmoid,
        (3, 0) | (4, 1) => Activation::HardTanh,
        _ => Activation::HardSigmoid,
    };
    let gate_activation = [GateActivation::Sigmoid, GateActivation::HardSigmoid][choice.of("gate activation")];
    let steps = choice.of("steps");
    let (solver, gradient) = [
        (Solver::Euler, EquilibriumGradient::Implicit),
        (Solver::FixedPoint, EquilibriumGradient::Implicit),
        (Solver::FixedPoint, EquilibriumGradient::Unrolled),
        (Solver::Anderson, EquilibriumGradient::Implicit),
        (Solver::Newton, EquilibriumGradient::Implicit),
    ][choice.of("solver")];
    match choice.kind(layer) {
        "ernn" => CellConfig::Ernn(ErnnConfig {
            hidden,
            rank,
            iterations: [1, 2, 3, 5][choice.of("iterations")],
            activation,
            start: [Start::Previous, Start::Zero][choice.of("start")],
            sign: [Sign::Plus, Sign::Minus][choice.of("sign")],
            steps: [StepSizes::PerStep, StepSizes::PerStep, StepSizes::PerIteration][steps],
            gamma: 1.3,
            projection: [Projection::Shared, Projection::Identity][choice.of("projection")],
            // The second kind ends before the longest sequence does.
            max_steps: if steps == 1 { longest.div_ceil(2) } else { longest },
            solver,
            gradient,
            // Only a contraction has an equilibrium for certain.
            contract: match (solver, choice.of("contract")) {
                (Solver::Euler, 0) => 0.0,
                (_, 0) => 0.5,
                (..) => 0.8,
            },
            tolerance: 1e-14,
            relative_tolerance: 1e-15,
            max_iterations: 170,
            ..Default::default()
        }),
        "rnn" => CellConfig::Rnn(RnnConfig {
            hidden,
            rank,
            input_rank,
            activation,
        }),
        "fastrnn" => CellConfig::FastRnn(FastRnnConfig {
            hidden,
            rank,
            input_rank,
            activation,
            ..Default::default()
        }),
        "fastgrnn" => CellConfig::FastGrnn(FastGrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            ..Default::default()
        }),
        "ugrnn" => CellConfig::Ugrnn(UgrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
        "gru" => CellConfig::Gru(GruConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
            reset: [Reset::After, Reset::Before][choice.of("reset")],
        }),
        "lstm" => CellConfig::Lstm(LstmConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation,
        }),
        "antisymmetric" => CellConfig::Antisymmetric(AntisymmetricConfig {
            hidden,
            rank,
            activation,
            epsilon: 0.3,
            gamma: 0.1,
            ..Default::default()
        }),
        "gated-antisymmetric" => CellConfig::GatedAntisymmetric(GatedAntisymmetricConfig {
            hidden,
            rank,
            gate_activation,
            activation,
            epsilon: 0.3,
            gamma: 0.1,
            ..Default::default()
        }),
        "spectral" => CellConfig::Spectral(SpectralConfig {
            hidden,
            // All of them, or the default number.
            reflections: if rank == Rank::Full { hidden } else { 0 },
            radius: 0.3,
            activation,
        }),
        "deep-transition" => CellConfig::DeepTransition(DeepTransitionConfig {
            hidden,
            widths: [&[][..], &[5], &[9, 2], &[1, 4, 3]][choice.of("widths")].to_vec(),
            iterations: [1, 2, 3, 5][choice.of("iterations")],
            activation,
            start: [Start::Previous, Start::Zero][choice.of("start")],
            sign: [Sign::Plus, Sign::Minus][choice.of("sign")],
            steps: [StepSizes::PerStep, StepSizes::PerStep, StepSizes::PerIteration][steps],
            gamma: 1.3,
            max_steps: if steps == 1 { longest.div_ceil(2) } else { longest },
            ..Default::default()
        }),
        other => panic!("no case for the cell {other}"),
    }
}

fn case(index: usize, choice: &Choice) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(index as u64);
    let lengths = lengths(choice.of("lengths"));
    let longest = lengths.iter().copied().max().expect("a sequence");
    let hidden = [[6, 9, 5], [3, 7, 4], [17, 2, 6], [4, 1, 8]][index % 4];
    let (input_size, classes) = (1 + index % 4, 2 + index % 3);
    let (dropout, layer_dropout) = ([0.0, 0.4][choice.of("dropout")], [0.0, 0.3][choice.of("layer dropout")]);
    let config = ModelConfig {
        input_size,
        classes,
        layers: (0..=choice.of("layers"))
            .map(|layer| cell(choice, layer, longest, hidden[layer]))
            .collect(),
        dropout,
        pooling: POOLINGS[choice.of("pooling")],
        bidirectional: choice.of("bidirectional") == 1,
        layer_dropout,
        ..model_of(Vec::new())
    };
    let smooth = choice.of("activation") < 2 && choice.of("gate activation") == 0;
    let spans = config.spans();
    let mut parameters: Vec<f64> = spans.iter().flat_map(|span| draw(span, smooth, &mut rng)).collect();
    if choice.of("activation") == 2 && longest > 20 {
        // Over many steps a ReLU grows where a gate lets it.
        parameters.iter_mut().for_each(|value| *value *= 0.3);
    }
    let mut inputs = Vec::new();
    for step in 0..longest {
        for &length in &lengths {
            inputs.extend((0..input_size).map(|_| match step < length {
                true => rng.random_range(-1.5..1.5),
                false => f64::NAN,
            }));
        }
    }
    Case {
        name: format!("case {index} ({})", choice.name()),
        parameters,
        inputs,
        targets: lengths.iter().map(|_| rng.random_range(0..classes as u32)).collect(),
        class_weights: (choice.of("class weights") == 1)
            .then(|| (0..classes).map(|class| 0.5 + class as f64).collect()),
        soft_targets: Vec::new(),
        dropout: (dropout + layer_dropout > 0.0).then_some((7, index as u64)),
        smooth,
        lengths,
        config,
    }
}

/// Values so large that every term matters, so small that states stay near 1, as a ReLU does not hold them back, and between the
/// kinks of a piecewise-linear function.
fn draw(span: &Span, smooth: bool, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let bound = match &span.shape[..] {
        [_, columns] if span.decay => ((if smooth { 2.0 } else { 0.7 }) / *columns as f64).sqrt(),
        _ => 0.7,
    };
    let last = span.name.rsplit('.').next().expect("a name");
    let range = if last == "eta" { 0.05..0.35 } else { -bound..bound };
    let draw = |_| rng.random_range(range.clone());
    let values = (0..span.len()).map(draw);
    match last {
        // The shorter the vector, the further from linear is its reflection.
        "Hu" | "Hv" => values.map(|value| value + 0.5 * value.signum()).collect(),
        _ => values.collect(),
    }
}

fn narrow<F: Real>(values: &[f64]) -> Vec<F> {
    values.iter().map(|&value| F::from_f64(value)).collect()
}

impl Case {
    /// The same with a teacher that is never quite sure.
    pub fn taught(mut self) -> Self {
        let classes = self.config.classes;
        for sequence in 0..self.lengths.len() {
            let row: Vec<f32> = (0..classes)
                .map(|class| (1 + (sequence * 5 + class * 3) % 7) as f32)
                .collect();
            let sum: f32 = row.iter().sum();
            self.soft_targets.extend(row.iter().map(|value| value / sum));
        }
        self
    }

    /// Each cell with the size of its inputs and its parameters; the directions of a layer follow each other.
    pub fn cells(&self) -> Vec<(usize, &CellConfig, &[f64])> {
        let (mut inputs, mut rest) = (self.config.input_size, &self.parameters[..]);
        let mut cells = Vec::new();
        for cell in &self.config.layers {
            for _ in 0..self.config.directions() {
                let (own, tail) = rest.split_at(cell.parameter_count(inputs));
                cells.push((inputs, cell, own));
                rest = tail;
            }
            inputs = cell.hidden() * self.config.directions();
        }
        cells
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
            distillation: (!self.soft_targets.is_empty()).then_some(Distillation {
                weight: 0.6,
                temperature: 1.5,
            }),
            ..LossOptions::default()
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
        for &sequence in sequences.iter().filter(|_| !self.soft_targets.is_empty()) {
            let classes = self.config.classes;
            batch
                .soft_targets
                .extend_from_slice(&self.soft_targets[sequence * classes..][..classes]);
        }
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
    ModelConfig::new(2, 3, layers)
}

/// A batch for [`model_of`]'s three classes.
pub fn batch(features: usize, lengths: &[usize]) -> Batch<f64> {
    let mut batch = Batch::new();
    batch.inputs = Panels::new(Isa::best(), features, lengths);
    batch.targets = vec![2; lengths.len()];
    batch.indices = (0..lengths.len()).collect();
    batch
}
