//! Settings of every cell, and numbers to run them on.

#![allow(dead_code)] // Each test that has this module uses its part.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Device, Tensor};
use ernn::cell::{
    Activation, AntisymmetricConfig, CellConfig, DeepTransitionConfig, EquilibriumGradient, ErnnConfig, FastGrnnConfig,
    FastRnnConfig, GateActivation, GatedAntisymmetricConfig, GruConfig, LstmConfig, Projection, Rank, Reset, RnnConfig,
    Sign, Solver, SpectralConfig, Start, StepSizes, UgrnnConfig,
};
use ernn_burn::{Recurrent, RecurrentConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A cell with a name that tells its settings.
pub struct Case {
    pub name: String,
    pub cell: CellConfig,
}

impl Case {
    fn new(name: impl Into<String>, cell: CellConfig) -> Self {
        Case {
            name: name.into(),
            cell,
        }
    }

    /// Whether the state is found to a tolerance, instead of by a number of steps.
    pub fn solves(&self) -> bool {
        matches!(&self.cell, CellConfig::Ernn(cell) if cell.solver != Solver::Euler)
    }

    /// Parameters at which every term matters and no state grows; each is a number of `f32`.
    pub fn values(&self, inputs: usize) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(self.name.len() as u64);
        let spans = self.cell.spans(inputs, "", 0);
        let values = spans.iter().flat_map(|span| {
            let bound = match &span.shape[..] {
                [_, columns] if span.decay => (1.0 / *columns as f64).sqrt(),
                _ => 0.7,
            };
            let range = if span.name == "eta" { 0.05..0.35 } else { -bound..bound };
            let drawn = (0..span.len()).map(|_| random.random_range(range.clone()));
            match &span.name[..] {
                // The shorter the vector, the further from linear is its reflection.
                "Hu" | "Hv" => drawn.map(|value| value + 0.5 * f64::signum(value)).collect::<Vec<_>>(),
                _ => drawn.collect(),
            }
        });
        values.map(|value| f64::from(value as f32)).collect()
    }

    /// A layer with [`Case::values`].
    pub fn layer(&self, inputs: usize, device: &Device, dtype: DType) -> Recurrent {
        let values: Vec<f32> = self.values(inputs).iter().map(|&value| value as f32).collect();
        let config = RecurrentConfig::new(inputs, self.cell.clone());
        let layer = config.with_values(&values, device).expect("a layer");
        layer.map(&mut Cast(dtype))
    }
}

/// Parameters of another type of number.
struct Cast(DType);

impl ModuleMapper for Cast {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let dtype = self.0;
        parameter.map(|tensor| tensor.cast(dtype).detach().require_grad())
    }
}

/// Numbers between -1.5 and 1.5, each one of `f32`.
pub fn draw(seed: u64, count: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let numbers = (0..count).map(|_| random.random_range(-1.5..1.5));
    numbers.map(|value: f64| f64::from(value as f32)).collect()
}

/// Every cell: each kind with dense and low-rank matrices, and each of its settings at least once.
pub fn cases(hidden: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for rank in [Rank::Full, Rank::Low(2)] {
        let input_rank = match rank {
            Rank::Full => Rank::Low(2),
            _ => Rank::Full,
        };
        elementary(hidden, rank, input_rank, &mut cases);
        gated(hidden, rank, input_rank, &mut cases);
        equilibriated(hidden, rank, &mut cases);
    }
    for reflections in [0, hidden] {
        cases.push(Case::new(
            format!("spectral, {reflections} reflections"),
            CellConfig::Spectral(SpectralConfig {
                hidden,
                reflections,
                radius: 0.3,
                activation: Activation::Relu,
            }),
        ));
    }
    for (widths, sign) in [(vec![], Sign::Plus), (vec![5], Sign::Minus), (vec![4, 2], Sign::Plus)] {
        cases.push(Case::new(
            format!("deep transition, widths {widths:?}, sign {sign:?}"),
            CellConfig::DeepTransition(DeepTransitionConfig {
                hidden,
                widths,
                iterations: 2,
                activation: Activation::Tanh,
                sign,
                max_steps: 4,
                ..Default::default()
            }),
        ));
    }
    cases
}

fn elementary(hidden: usize, rank: Rank, input_rank: Rank, cases: &mut Vec<Case>) {
    for activation in [
        Activation::Relu,
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::HardTanh,
    ] {
        let cell = CellConfig::Rnn(RnnConfig {
            hidden,
            rank,
            input_rank,
            activation,
        });
        cases.push(Case::new(format!("rnn, {rank:?}, {activation:?}"), cell));
    }
    let cell = CellConfig::FastRnn(FastRnnConfig {
        hidden,
        rank,
        input_rank,
        ..Default::default()
    });
    cases.push(Case::new(format!("fastrnn, {rank:?}"), cell));
    let cell = CellConfig::Antisymmetric(AntisymmetricConfig {
        hidden,
        rank,
        epsilon: 0.3,
        gamma: 0.1,
        ..Default::default()
    });
    cases.push(Case::new(format!("antisymmetric, {rank:?}"), cell));
}

fn gated(hidden: usize, rank: Rank, input_rank: Rank, cases: &mut Vec<Case>) {
    for gate_activation in [GateActivation::Sigmoid, GateActivation::HardSigmoid] {
        let mut add = |name: &str, cell| cases.push(Case::new(format!("{name}, {rank:?}, {gate_activation:?}"), cell));
        let gated = GatedAntisymmetricConfig {
            hidden,
            rank,
            gate_activation,
            epsilon: 0.3,
            gamma: 0.1,
            ..Default::default()
        };
        add("gated antisymmetric", CellConfig::GatedAntisymmetric(gated));
        let fast = FastGrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            ..Default::default()
        };
        add("fastgrnn", CellConfig::FastGrnn(fast));
        let update = UgrnnConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation: Activation::Tanh,
        };
        add("ugrnn", CellConfig::Ugrnn(update));
        for reset in [Reset::After, Reset::Before] {
            let cell = GruConfig {
                hidden,
                rank,
                input_rank,
                gate_activation,
                activation: Activation::Tanh,
                reset,
            };
            add(&format!("gru, reset {reset:?}"), CellConfig::Gru(cell));
        }
        let long = LstmConfig {
            hidden,
            rank,
            input_rank,
            gate_activation,
            activation: Activation::Tanh,
        };
        add("lstm", CellConfig::Lstm(long));
    }
}

fn equilibriated(hidden: usize, rank: Rank, cases: &mut Vec<Case>) {
    let base = ErnnConfig {
        hidden,
        rank,
        activation: Activation::Tanh,
        gamma: 1.3,
        max_steps: 4,
        ..Default::default()
    };
    for sign in [Sign::Plus, Sign::Minus] {
        for start in [Start::Previous, Start::Zero] {
            for iterations in [1, 3] {
                let cell = ErnnConfig {
                    sign,
                    start,
                    iterations,
                    ..base.clone()
                };
                let name = format!("ernn, {rank:?}, sign {sign:?}, start {start:?}, K {iterations}");
                cases.push(Case::new(name, CellConfig::Ernn(cell)));
            }
        }
    }
    let others = [
        (
            "K 5, a step size an iteration",
            ErnnConfig {
                iterations: 5,
                steps: StepSizes::PerIteration,
                ..base.clone()
            },
        ),
        (
            "P = I, ReLU",
            ErnnConfig {
                projection: Projection::Identity,
                activation: Activation::Relu,
                ..base.clone()
            },
        ),
        (
            "contraction",
            ErnnConfig {
                contract: 0.5,
                ..base.clone()
            },
        ),
    ];
    for (name, cell) in others {
        cases.push(Case::new(format!("ernn, {rank:?}, {name}"), CellConfig::Ernn(cell)));
    }
    for solver in [Solver::FixedPoint, Solver::Anderson, Solver::Newton] {
        let cell = ErnnConfig {
            solver,
            gradient: EquilibriumGradient::Implicit,
            contract: 0.5,
            tolerance: 1e-14,
            relative_tolerance: 1e-15,
            max_iterations: 200,
            ..base.clone()
        };
        let name = format!("ernn, {rank:?}, solver {solver:?}");
        cases.push(Case::new(name, CellConfig::Ernn(cell)));
    }
}
