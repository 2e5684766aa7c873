//! The table of models: every cell with its variants, alone and under others.

use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, DeepTransitionConfig, ErnnConfig, FastGrnnConfig, FastRnnConfig,
    GateActivation, GatedAntisymmetricConfig, GruConfig, LstmConfig, Rank, Reset, RnnConfig, Sign, Solver,
    SpectralConfig, Start, StepSizes, UgrnnConfig,
};
use ernn::checkpoint::{Provenance, SavedModel};
use ernn::data::{Derivation, MelSettings, Normalization, SoundRecipe, TargetScale, Task};
use ernn::model::{Embedding, Model, ModelConfig, Pooling};

use crate::{NUMBERS, Numbers};

/// A model and what it is.
pub struct Case {
    pub name: String,
    pub model: SavedModel,
}

impl Case {
    /// What it can be exported to.
    pub fn numbers(&self) -> &'static [Numbers] {
        // Whole numbers need a bound of the states.
        let bounded = !self.name.starts_with("equilibrium");
        if bounded { &NUMBERS } else { &NUMBERS[..1] }
    }
}

const POOLINGS: [Pooling; 5] = [
    Pooling::Last,
    Pooling::Mean,
    Pooling::MeanMax,
    Pooling::MeanMaxLast,
    Pooling::MeanStdMax,
];
const FULL: Rank = Rank::Full;
const LOW: Rank = Rank::Low(3);
const HIDDEN: usize = 8;

/// Each cell in all forms that a device treats differently.
fn cells() -> Vec<CellConfig> {
    use Activation::{HardSigmoid, HardTanh, Relu, Sigmoid, Tanh};
    let mut cells = Vec::new();
    let forms = [
        (FULL, 1, Tanh, Start::Previous, Sign::Plus, StepSizes::PerStep),
        (LOW, 1, Relu, Start::Previous, Sign::Plus, StepSizes::PerStep),
        (LOW, 3, HardTanh, Start::Zero, Sign::Plus, StepSizes::PerIteration),
        (FULL, 5, Sigmoid, Start::Zero, Sign::Minus, StepSizes::PerStep),
        (LOW, 2, Tanh, Start::Previous, Sign::Minus, StepSizes::PerIteration),
    ];
    for (rank, iterations, activation, start, sign, steps) in forms {
        let eta = if activation == Relu { 0.01 } else { 0.1 };
        cells.push(CellConfig::Ernn(ErnnConfig {
            hidden: HIDDEN,
            rank,
            iterations,
            activation,
            start,
            sign,
            steps,
            eta,
            max_steps: 20,
            ..ErnnConfig::default()
        }));
        cells.push(CellConfig::DeepTransition(DeepTransitionConfig {
            hidden: HIDDEN,
            widths: [&[][..], &[5], &[9, 2]][iterations % 3].to_vec(),
            iterations,
            activation,
            start,
            sign,
            steps,
            eta,
            max_steps: 20,
            ..DeepTransitionConfig::default()
        }));
    }
    for (rank, activation, gate_activation, reset) in [
        (FULL, Tanh, GateActivation::Sigmoid, Reset::After),
        (LOW, HardTanh, GateActivation::HardSigmoid, Reset::Before),
        (FULL, HardSigmoid, GateActivation::HardSigmoid, Reset::Before),
        (LOW, Tanh, GateActivation::Sigmoid, Reset::After),
    ] {
        let input_rank = if rank == FULL { FULL } else { Rank::Low(2) };
        let hidden = HIDDEN;
        cells.extend([
            CellConfig::Lstm(LstmConfig {
                hidden,
                rank,
                input_rank,
                gate_activation,
                activation,
            }),
            CellConfig::Gru(GruConfig {
                hidden,
                rank,
                input_rank,
                gate_activation,
                activation,
                reset,
            }),
            CellConfig::Ugrnn(UgrnnConfig {
                hidden,
                rank,
                input_rank,
                gate_activation,
                activation,
            }),
            CellConfig::FastGrnn(FastGrnnConfig {
                hidden,
                rank,
                input_rank,
                gate_activation,
                activation,
                ..FastGrnnConfig::default()
            }),
            CellConfig::GatedAntisymmetric(GatedAntisymmetricConfig {
                hidden,
                rank,
                gate_activation,
                activation,
                epsilon: 0.2,
                gamma: 0.1,
                ..GatedAntisymmetricConfig::default()
            }),
            CellConfig::Antisymmetric(AntisymmetricConfig {
                hidden,
                rank,
                activation,
                epsilon: 0.2,
                gamma: 0.1,
                ..AntisymmetricConfig::default()
            }),
            CellConfig::Rnn(RnnConfig {
                hidden,
                rank,
                input_rank,
                activation,
            }),
            CellConfig::FastRnn(FastRnnConfig {
                hidden,
                rank,
                input_rank,
                activation,
                ..FastRnnConfig::default()
            }),
            CellConfig::Spectral(SpectralConfig {
                hidden,
                activation,
                ..SpectralConfig::default()
            }),
        ]);
    }
    cells
}

/// Every cell alone; then stacks in which each cell reads another one's states.
pub fn cases() -> Vec<Case> {
    let cells = cells();
    let mut cases = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let mut layers = vec![cell.clone()];
        if index % 3 == 0 {
            layers.push(cells[(index + 5) % cells.len()].clone().with_hidden(6));
        }
        let pooling = POOLINGS[index % POOLINGS.len()];
        let names: Vec<&str> = layers.iter().map(CellConfig::name).collect();
        let config = ModelConfig {
            pooling,
            ..ModelConfig::new(3, 4, layers.clone())
        };
        cases.push(Case {
            name: format!("{index}: {}, {pooling:?}", names.join(" under ")),
            model: saved(config, index as u64),
        });
    }
    cases
}

/// Models with every kind of derived channels, alone and together, of two cells; one has a mean behind its states.
pub fn derived() -> Vec<Case> {
    let all = cells();
    let derivation = |kinds: usize| Derivation {
        differences: kinds & 1 != 0,
        scales: if kinds & 2 != 0 {
            vec![0.3, 0.02, 4.0]
        } else {
            Vec::new()
        },
        triads: if kinds & 4 != 0 { vec![[2, 0, 1]] } else { Vec::new() },
    };
    let case = |kinds: usize| {
        let derivation = derivation(kinds);
        let layers = vec![all[kinds % 4].clone(), all[10].clone().with_hidden(6)];
        let names: Vec<&str> = layers.iter().map(CellConfig::name).collect();
        let pooling = if kinds.is_multiple_of(3) {
            Pooling::Mean
        } else {
            Pooling::Last
        };
        let config = ModelConfig {
            pooling,
            ..ModelConfig::new(derivation.features(3), 4, layers.clone())
        };
        let mut model = saved(config, kinds as u64);
        model.feature_names.truncate(3);
        // Derived channels are about as large as the scales say.
        model.normalization.mean[3..].fill(0.25);
        model.normalization.scale[3..].fill(0.5);
        model.derivation = derivation;
        Case {
            name: format!("derived {kinds}: {}, {pooling:?}", names.join(" under ")),
            model,
        }
    };
    (1..8).map(case).collect()
}

/// Each kind of cell in its first and its last form, alone; the first under its last state, the last under statistics.
pub fn one_of_each() -> Vec<Case> {
    let mut chosen = Vec::new();
    for kind in CellConfig::KINDS {
        let of_kind: Vec<_> = cells().into_iter().filter(|cell| cell.name() == *kind).collect();
        for (index, cell) in [of_kind.first(), of_kind.last()].into_iter().flatten().enumerate() {
            chosen.push(Case {
                name: format!("{kind} {index}"),
                model: saved(
                    ModelConfig {
                        pooling: [Pooling::Last, Pooling::MeanStdMax][index],
                        ..ModelConfig::new(3, 4, vec![cell.clone()])
                    },
                    index as u64,
                ),
            });
        }
    }
    chosen
}

/// Each kind of cell with this many units, in its first and its last form, with so many entries of a hundred left in its matrices.
pub fn thinned(kept: u32, hidden: usize) -> Vec<Case> {
    let thin = |mut case: Case| {
        let cell = case.model.model.config().layers[0].clone().with_hidden(hidden);
        case.model = saved(ModelConfig::new(3, 4, vec![cell]), 2);
        let mut at = 0_u32;
        let spans = case.model.model.spans().to_vec();
        for span in spans.iter().filter(|span| span.shape.len() == 2) {
            for value in &mut case.model.model.parameters_mut()[span.range()] {
                at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if at >> 16 >= (kept << 16) / 100 {
                    *value = 0.0;
                }
            }
        }
        case
    };
    // The reflections of a spectral cell are divided by their lengths.
    let cases = one_of_each()
        .into_iter()
        .filter(|case| !case.name.starts_with("spectral"));
    cases.map(thin).collect()
}

/// The exact ERNN with each solver, with Newton's system of either size.
pub fn at_equilibrium() -> Vec<Case> {
    use Activation::{HardTanh, Relu, Sigmoid, Tanh};
    let forms = [
        (LOW, Relu, Solver::Newton, 0.9, Sign::Minus),
        (FULL, Tanh, Solver::Newton, 0.9, Sign::Plus),
        (LOW, Sigmoid, Solver::Newton, 0.9, Sign::Plus),
        (LOW, HardTanh, Solver::FixedPoint, 0.5, Sign::Minus),
        (FULL, Relu, Solver::Anderson, 0.8, Sign::Plus),
    ];
    let case = |(rank, activation, solver, contract, sign): (Rank, Activation, Solver, f64, Sign)| {
        let cell = CellConfig::Ernn(ErnnConfig {
            hidden: HIDDEN,
            rank,
            activation,
            solver,
            contract,
            sign,
            ..ErnnConfig::default()
        });
        Case {
            name: format!("equilibrium: {solver:?}, {rank:?}, {activation:?}"),
            model: saved(ModelConfig::new(3, 4, vec![cell]), 3),
        }
    };
    forms.map(case).into()
}

/// A language model: tokens through an embedding.
pub fn of_tokens() -> SavedModel {
    let config = ModelConfig {
        task: Task::NextToken,
        embedding: Some(Embedding {
            vocabulary: 11,
            deviation: 1.0,
            tied: false,
        }),
        ..ModelConfig::new(
            5,
            11,
            vec![CellConfig::Lstm(LstmConfig {
                hidden: 6,
                ..LstmConfig::default()
            })],
        )
    };
    let mut model = saved(config, 1);
    model.vocabulary = (0..11).map(|token| format!("t{token}")).collect();
    model.classes.clear();
    model
}

/// A model that says a number far from 0, in a unit of its own.
pub fn of_a_number(mean: f64, deviation: f64) -> SavedModel {
    let cell = CellConfig::Gru(GruConfig {
        hidden: 6,
        ..GruConfig::default()
    });
    let config = ModelConfig {
        task: Task::Regression,
        ..ModelConfig::new(3, 1, vec![cell])
    };
    of_scales(config, &[(mean, deviation)])
}

/// The same of two layers that says numbers at each step.
pub fn of_step_numbers(scales: &[(f64, f64)], quantiles: &[f64]) -> SavedModel {
    let cell = CellConfig::Gru(GruConfig {
        hidden: 6,
        ..GruConfig::default()
    });
    let config = ModelConfig {
        task: Task::StepRegression,
        // Of no meaning where each step is judged.
        pooling: Pooling::MeanMax,
        quantiles: quantiles.to_vec(),
        ..ModelConfig::new(3, scales.len() * quantiles.len().max(1), vec![cell.clone(), cell])
    };
    of_scales(config, scales)
}

/// A model that says several quantiles of several numbers, each in a unit of its own; no two of its outputs rise.
pub fn of_several_numbers(scales: &[(f64, f64)], quantiles: &[f64]) -> SavedModel {
    let cell = CellConfig::Gru(GruConfig {
        hidden: 6,
        ..GruConfig::default()
    });
    let config = ModelConfig {
        task: Task::Regression,
        quantiles: quantiles.to_vec(),
        ..ModelConfig::new(3, scales.len() * quantiles.len().max(1), vec![cell])
    };
    of_scales(config, scales)
}

fn of_scales(config: ModelConfig, scales: &[(f64, f64)]) -> SavedModel {
    let mut model = saved(config, 1);
    let scale = |&(mean, deviation): &(f64, f64)| TargetScale { mean, deviation };
    model.provenance.targets = scales.iter().map(scale).collect();
    model.model.scale_outputs(&model.provenance.targets);
    model.classes.clear();
    model
}

/// A model of three labels of which several can hold.
pub fn of_labels() -> SavedModel {
    let cell = CellConfig::Gru(GruConfig {
        hidden: 6,
        ..GruConfig::default()
    });
    let config = ModelConfig {
        task: Task::MultiLabel,
        ..ModelConfig::new(3, 3, vec![cell])
    };
    saved(config, 1)
}

/// A model of words that are spoken at 8,000 samples a second.
pub fn of_sound() -> SavedModel {
    let cell = CellConfig::Gru(GruConfig {
        hidden: 6,
        ..GruConfig::default()
    });
    let mel = MelSettings {
        filters: 12,
        ..MelSettings::at(8_000)
    };
    let mut saved = saved(ModelConfig::new(12, 3, vec![cell]), 1);
    saved.provenance.sound = Some(SoundRecipe { mel, length: None });
    saved
}

/// A model with drawn parameters, as if it had been trained.
pub fn saved(config: ModelConfig, seed: u64) -> SavedModel {
    let features = config.features();
    let numbers = config.embedding.is_none();
    SavedModel {
        classes: (0..config.classes).map(|class| format!("class {class}")).collect(),
        model: Model::new(config, seed).unwrap(),
        derivation: Default::default(),
        decision: Default::default(),
        normalization: Normalization {
            mean: (0..features)
                .map(|feature| if numbers { feature as f32 - 1.0 } else { 0.0 })
                .collect(),
            scale: (0..features)
                .map(|feature| if numbers { 0.5 + feature as f32 } else { 1.0 })
                .collect(),
        },
        vocabulary: Vec::new(),
        feature_names: (0..features).map(|feature| format!("x{feature}")).collect(),
        provenance: Provenance::default(),
    }
}
