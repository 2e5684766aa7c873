//! Forward and backward passes of the gated family, dense, batch 128, one thread: the shapes of `bench/README.md`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ernn_kernels::gated::{Gated, GatedGradient, Gates, SequenceRunner};
use ernn_kernels::leaky::Recurrent;
use ernn_kernels::{Activation, Isa, Panels, StateGradient, Trace, backward, forward, infer};

const BATCH: usize = 128;

/// A cell, its groups that read the input, all groups, and groups of the recurrent matrix.
const CELLS: [(&str, Gates, [usize; 3]); 6] = [
    ("lstm", Gates::Lstm, [4, 4, 4]),
    ("gru, reset after", Gates::GruAfter, [3, 4, 3]),
    ("gru, reset before", Gates::GruBefore, [3, 3, 3]),
    ("ugrnn", Gates::Ugrnn, [2, 2, 2]),
    ("fastgrnn", Gates::FastGrnn, [1, 3, 1]),
    ("gated antisymmetric", Gates::Antisymmetric, [2, 3, 1]),
];

/// Name, steps, input size, hidden size.
const SHAPES: [(&str, usize, usize, usize); 2] = [("har-2", 128, 9, 80), ("google-12", 99, 32, 100)];

/// Numbers in +-bound that are no pattern (a linear congruential generator).
fn numbers(len: usize, bound: f32) -> Vec<f32> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1u32 << 23) as f32 - 1.0) * bound
    };
    (0..len).map(|_| next()).collect()
}

fn passes(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one thread");
    for (shape, steps, inputs, hidden) in SHAPES {
        for (name, gates, [input_groups, groups, state_groups]) in CELLS {
            let (weight, bias) = (
                numbers(input_groups * hidden * inputs, 0.3),
                numbers(groups * hidden, 0.1),
            );
            let recurrent = numbers(state_groups * hidden * hidden, 0.1);
            let cell = Gated {
                gates,
                inputs,
                hidden,
                input_weight: &weight,
                bias: &bias,
                recurrent: Recurrent::Dense(&recurrent),
                gate: Activation::Sigmoid,
                activation: Activation::Tanh,
                scalars: [0.5, 0.1],
            };
            let values = numbers(steps * BATCH * inputs, 1.0);
            let input = Panels::from_time_major(Isa::best(), &values, steps, inputs, &vec![steps; BATCH]);
            let last = vec![0.1; BATCH * hidden];
            let (mut trace, mut gradient) = (Trace::default(), GatedGradient::default());
            let flops = (2 * hidden * (input_groups * inputs + state_groups * hidden) * steps) as u64;
            let id = |pass: &str| BenchmarkId::new(format!("{pass} {name}"), shape);
            let mut group = criterion.benchmark_group("gated");
            group.throughput(Throughput::Elements(flops * BATCH as u64));
            group.bench_function(id("infer"), |bencher| {
                pool.install(|| bencher.iter(|| infer(black_box(&cell), &input, None, &mut trace)));
            });
            group.bench_function(id("forward"), |bencher| {
                pool.install(|| bencher.iter(|| forward(black_box(&cell), &input, None, &mut trace)));
            });
            group.bench_function(id("backward"), |bencher| {
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
            group.throughput(Throughput::Elements(flops));
            let mut runner = SequenceRunner::new(Isa::best(), &cell);
            let (mut state, mut states) = (vec![0.0; runner.state_len()], Vec::new());
            group.bench_function(id("one sequence"), |bencher| {
                bencher.iter(|| runner.run(black_box(&values[..steps * inputs]), &mut state, &mut states));
            });
            group.finish();
        }
    }
}

criterion_group!(benches, passes);
criterion_main!(benches);
