//! Fastest time of a training step (forward, backward, Adam) at HAR-2's shape: each cell as one node of the graph, in the eager form
//! of the tests, and Burn's own layer where it has one.
//!
//! ```console
//! $ RAYON_NUM_THREADS=1 cargo run --release --example step_time
//! ```

#[path = "../tests/eager/mod.rs"]
mod eager;

use std::time::Instant;

use burn::module::{Module, Param};
use burn::nn::gru::{Gru, GruConfig};
use burn::nn::{Lstm, LstmConfig, Rnn, RnnConfig};
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{DType, Device, Distribution, Tensor};
use ernn::cell::{self, CellConfig, ErnnConfig, Rank};
use ernn_burn::{Recurrent, RecurrentConfig};

use crate::eager::{Eager, State};

const BATCH: usize = 128;
const STEPS: usize = 128;
const INPUTS: usize = 9;
const HIDDEN: usize = 80;
const RANK: usize = 20;
const ROUNDS: usize = 12;

/// Burn's own layers.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is a handful of them.
enum Own {
    Rnn(Rnn),
    Lstm(Lstm),
    Gru(Gru),
}

/// The parameters of the eager form, for the optimizer.
#[derive(Module, Debug)]
struct Matrices {
    all: Vec<Param<Tensor<2>>>,
}

/// A way to run a training step.
#[allow(clippy::large_enum_variant)]
enum Way {
    Fused(Recurrent),
    Own(Own),
    Eager(Matrices),
}

struct Contestant {
    cell: CellConfig,
    way: Way,
    optimizer: ModuleOptimizer,
    milliseconds: Vec<f64>,
}

impl Contestant {
    fn new(cell: &CellConfig, way: Way) -> Self {
        Contestant {
            cell: cell.clone(),
            way,
            optimizer: AdamConfig::new().init(),
            milliseconds: Vec::new(),
        }
    }

    fn step(&mut self, input: &Tensor<3>, steps: &[Tensor<2>]) {
        let start = Instant::now();
        let optimizer = &mut self.optimizer;
        match &mut self.way {
            Way::Fused(layer) => train(layer, optimizer, |layer| layer.last(input.clone())),
            Way::Own(layer) => train(layer, optimizer, |layer| match layer {
                Own::Rnn(layer) => layer.forward(input.clone(), None).1.hidden,
                Own::Lstm(layer) => layer.forward(input.clone(), None).1.hidden,
                Own::Gru(layer) => {
                    let states = layer.forward(input.clone(), None);
                    states.narrow(1, STEPS - 1, 1).squeeze_dim(1)
                }
            }),
            Way::Eager(matrices) => train(matrices, optimizer, |matrices| {
                let parameters = matrices.all.iter().map(Param::val).collect();
                let eager = Eager::of_tensors(&self.cell, INPUTS, parameters);
                let zeros = Tensor::zeros([BATCH, HIDDEN], &input.device());
                let state = State {
                    c: matches!(self.cell, CellConfig::Lstm(_)).then(|| zeros.clone()),
                    h: zeros,
                };
                eager.run(steps, state, None, 0).pop().expect("a step").h
            }),
        }
        self.milliseconds.push(1e3 * start.elapsed().as_secs_f64());
    }

    /// The fastest step: that of the least disturbed machine.
    fn best(&self) -> f64 {
        self.milliseconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// A step on the mean of the last state's squares.
fn train<M: Module>(module: &mut M, optimizer: &mut ModuleOptimizer, last: impl FnOnce(&M) -> Tensor<2>) {
    let gradients = last(module).powi_scalar(2).mean().backward();
    let gradients = GradientsParams::from_grads(gradients, module);
    *module = optimizer.step(1e-3, module.clone(), gradients);
}

fn cells() -> Vec<(&'static str, CellConfig, Option<Own>)> {
    let device = Device::flex().autodiff();
    let hidden = HIDDEN;
    let low = |iterations| {
        CellConfig::Ernn(ErnnConfig {
            hidden,
            rank: Rank::Low(RANK),
            iterations,
            max_steps: STEPS,
            ..Default::default()
        })
    };
    let of = |kind: &str| CellConfig::of_kind(kind).expect("a cell").with_hidden(hidden);
    let gru = CellConfig::Gru(cell::GruConfig {
        hidden,
        reset: cell::Reset::Before,
        ..Default::default()
    });
    let own = [
        Own::Rnn(RnnConfig::new(INPUTS, hidden, true).init(&device)),
        Own::Lstm(LstmConfig::new(INPUTS, hidden, true).init(&device)),
        Own::Gru(GruConfig::new(INPUTS, hidden, true).init(&device)),
    ];
    let [rnn, lstm, own_gru] = own.map(Some);
    vec![
        ("ERNN K=1, r=20", low(1), None),
        ("ERNN K=5, r=20", low(5), None),
        ("RNN", of("rnn"), rnn),
        ("FastRNN", of("fastrnn"), None),
        ("AntisymmetricRNN", of("antisymmetric"), None),
        ("SpectralRNN", of("spectral"), None),
        ("LSTM", of("lstm"), lstm),
        ("GRU", of("gru"), own_gru),
        ("GRU, reset before", gru, None),
        ("UGRNN", of("ugrnn"), None),
        ("FastGRNN", of("fastgrnn"), None),
        ("gated AntisymmetricRNN", of("gated-antisymmetric"), None),
    ]
}

fn main() {
    let device = Device::flex().autodiff();
    device.seed(1);
    let input = Tensor::random([BATCH, STEPS, INPUTS], Distribution::Default, &device);
    let steps: Vec<Tensor<2>> = input.clone().iter_dim(1).map(|step| step.squeeze_dim(1)).collect();
    println!(
        "training step, batch {BATCH}, {STEPS} steps, d = {INPUTS}, D = {HIDDEN}; fastest of {ROUNDS}, milliseconds"
    );
    println!("{:24}{:>8}{:>18}  {:>18}", "", "fused", "eager", "Burn's layer");
    for (name, cell, own) in cells() {
        let layer = RecurrentConfig::new(INPUTS, cell.clone()).init(&device);
        let values: Vec<f64> = layer
            .parameters
            .values()
            .iter()
            .map(|&value| f64::from(value))
            .collect();
        let eager = Eager::new(&cell, INPUTS, &values, &device, DType::F32);
        let matrices = eager
            .tensors()
            .iter()
            .map(|(_, tensor)| Param::from_tensor(tensor.clone().detach()));
        let matrices = Matrices {
            all: matrices.collect(),
        };
        let mut contestants: Vec<_> = [Way::Fused(layer), Way::Eager(matrices)]
            .into_iter()
            .chain(own.map(Way::Own))
            .map(|way| Contestant::new(&cell, way))
            .collect();
        // In turns, so that a machine that slows down slows all of them down.
        for _ in 0..ROUNDS {
            for contestant in &mut contestants {
                contestant.step(&input, &steps);
            }
        }
        let times: Vec<f64> = contestants.iter().map(Contestant::best).collect();
        let others = times[1..]
            .iter()
            .map(|time| format!("{time:9.1} ({:.1} x)", time / times[0]));
        let others: Vec<String> = others.collect();
        println!(
            "{name:24}{:8.2}{:>16}{:>20}",
            times[0],
            others[0],
            others.get(1).map_or("", |other| &other[..])
        );
    }
}
