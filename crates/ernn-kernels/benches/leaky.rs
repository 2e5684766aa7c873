//! Forward and backward passes of the leaky family, batch 128, one thread: the shapes of `bench/README.md`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ernn_kernels::leaky::{Leaky, LeakyGradient, Recurrent, SequenceRunner};
use ernn_kernels::{Activation, Isa, Panels, StateGradient, Trace, backward, forward, infer};

const BATCH: usize = 128;

/// A shape to time; rank 0 is a dense recurrent matrix.
struct Shape {
    name: &'static str,
    steps: usize,
    inputs: usize,
    hidden: usize,
    rank: usize,
    iterations: usize,
}

const fn shape(name: &'static str, numbers: [usize; 5]) -> Shape {
    let [steps, inputs, hidden, rank, iterations] = numbers;
    Shape {
        name,
        steps,
        inputs,
        hidden,
        rank,
        iterations,
    }
}

const SHAPES: [Shape; 6] = [
    shape("har-2 low rank K=1", [128, 9, 80, 20, 1]),
    shape("har-2 low rank K=5", [128, 9, 80, 20, 5]),
    shape("har-2 dense", [128, 9, 80, 0, 1]),
    shape("google-12 low rank K=1", [99, 32, 100, 24, 1]),
    shape("pixel-mnist low rank K=1", [784, 1, 128, 16, 1]),
    shape("long dense", [1000, 9, 64, 0, 1]),
];

/// The numbers of a cell.
struct Numbers {
    input_weight: Vec<f32>,
    bias: Vec<f32>,
    left: Vec<f32>,
    right: Vec<f32>,
    decay: Vec<f32>,
    gain: Vec<f32>,
    input: Vec<f32>,
}

/// Numbers in +-`scale`; a linear congruential generator is random enough to time.
fn numbers(state: &mut u64, len: usize, scale: f32) -> Vec<f32> {
    let mut next = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * scale
    };
    (0..len).map(|_| next()).collect()
}

impl Shape {
    fn numbers(&self) -> Numbers {
        let state = &mut 1;
        let columns = if self.rank == 0 { self.hidden } else { self.rank };
        Numbers {
            input_weight: numbers(state, self.hidden * self.inputs, 0.3),
            bias: numbers(state, self.hidden, 0.1),
            left: numbers(state, self.hidden * columns, 0.1),
            right: numbers(state, self.rank * self.hidden, 0.1),
            decay: vec![0.99; self.steps * self.iterations],
            gain: vec![0.01; self.steps * self.iterations],
            input: numbers(state, self.steps * BATCH * self.inputs, 1.0),
        }
    }

    fn cell<'a>(&self, numbers: &'a Numbers) -> Leaky<'a, f32> {
        let dense = self.rank == 0;
        Leaky {
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: &numbers.input_weight,
            bias: &numbers.bias,
            recurrent: if dense {
                Recurrent::Dense(&numbers.left)
            } else {
                Recurrent::LowRank {
                    rank: self.rank,
                    identity: 1.0,
                    left: &numbers.left,
                    right: &numbers.right,
                }
            },
            activation: Activation::Relu,
            iterations: self.iterations,
            start_scale: if dense { 1.0 } else { 2.0 },
            previous_scale: if dense { 0.0 } else { 1.0 },
            decay: &numbers.decay,
            gain: &numbers.gain,
            learned_steps: !dense,
            first_step: 0,
        }
    }

    /// Products of a forward pass; the backward pass has twice as many.
    fn flops(&self) -> u64 {
        let recurrent = if self.rank == 0 {
            2 * self.hidden * self.hidden
        } else {
            4 * self.hidden * self.rank
        };
        (self.steps * BATCH * (recurrent * self.iterations + 2 * self.hidden * self.inputs)) as u64
    }
}

fn passes(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one thread");
    for shape in &SHAPES {
        let numbers = shape.numbers();
        let cell = shape.cell(&numbers);
        let lengths = vec![shape.steps; BATCH];
        let input = Panels::from_time_major(Isa::best(), &numbers.input, shape.steps, shape.inputs, &lengths);
        let last = vec![0.1; BATCH * shape.hidden];
        let (mut trace, mut gradient) = (Trace::default(), LeakyGradient::default());
        let mut group = criterion.benchmark_group("leaky");
        group.throughput(Throughput::Elements(shape.flops()));
        group.bench_function(BenchmarkId::new("infer", shape.name), |bencher| {
            pool.install(|| bencher.iter(|| infer(black_box(&cell), &input, None, &mut trace)));
        });
        group.bench_function(BenchmarkId::new("forward", shape.name), |bencher| {
            pool.install(|| bencher.iter(|| forward(black_box(&cell), &input, None, &mut trace)));
        });
        group.throughput(Throughput::Elements(2 * shape.flops()));
        group.bench_function(BenchmarkId::new("backward", shape.name), |bencher| {
            pool.install(|| {
                forward(&cell, &input, None, &mut trace);
                bencher.iter(|| {
                    let states = StateGradient {
                        last: Some(&last),
                        ..StateGradient::default()
                    };
                    backward(black_box(&cell), &input, &mut trace, states, &mut gradient, None, None);
                });
            });
        });
        group.throughput(Throughput::Elements(shape.flops() / BATCH as u64));
        let mut runner = SequenceRunner::new(Isa::best(), &cell);
        let sequence = &numbers.input[..shape.steps * shape.inputs];
        let (mut states, mut state) = (Vec::new(), vec![0.0; shape.hidden]);
        group.bench_function(BenchmarkId::new("one sequence", shape.name), |bencher| {
            bencher.iter(|| runner.run(black_box(sequence), 0, &mut state, &mut states));
        });
        group.finish();
    }
}

criterion_group!(benches, passes);
criterion_main!(benches);
