//! The exact ERNN, all steps side by side: forward and backward of one sequence and of a batch, on one thread and on all.
//!
//! A loss at the last state, as for classes of sequences. Low rank, tanh, contracted to 0.9, smooth random inputs (each step like the one
//! before) and independent ones, by Newton to a residual of 1e-6.
//!
//! `cargo bench -p ernn-kernels --bench equilibrium`

use std::time::Instant;

use ernn_kernels::equilibrium::{Equilibrium, Method, Solver, Through, backward, forward};
use ernn_kernels::leaky::{LeakyGradient, Recurrent};
use ernn_kernels::{Activation, Isa, Panels, StateGradient, Trace};

const HIDDEN: usize = 64;
const RANK: usize = 8;
const INPUTS: usize = 9;
/// Of `||c I + A B||`, by construction of `c` and the size of `A B`.
const IDENTITY: f32 = 0.4;
const NORM: f32 = 0.9;

/// A linear congruential generator is random enough to time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self, len: usize, scale: f32) -> Vec<f32> {
        (0..len).map(|_| self.next() * scale).collect()
    }

    /// `[T, sequences, d]`: `x_t = keep x_{t-1} + noise`, of deviation about 0.6 whatever `keep` is.
    fn walk(&mut self, steps: usize, sequences: usize, keep: f32) -> Vec<f32> {
        let width = sequences * INPUTS;
        let scale = (1.0 - keep * keep).sqrt();
        let mut values = self.vector(width, 1.0);
        for index in width..steps * width {
            let value = keep * values[index - width] + scale * self.next();
            values.push(value);
        }
        values
    }
}

/// The largest singular value of `A B`, by the power method.
fn norm(left: &[f32], right: &[f32]) -> f32 {
    let mut v = vec![1.0f32; HIDDEN];
    let mut size = 0.0;
    for _ in 0..200 {
        let code: Vec<f32> = (0..RANK)
            .map(|r| (0..HIDDEN).map(|i| right[r * HIDDEN + i] * v[i]).sum())
            .collect();
        let image: Vec<f32> = (0..HIDDEN)
            .map(|i| (0..RANK).map(|r| left[i * RANK + r] * code[r]).sum())
            .collect();
        let code: Vec<f32> = (0..RANK)
            .map(|r| (0..HIDDEN).map(|i| left[i * RANK + r] * image[i]).sum())
            .collect();
        v = (0..HIDDEN)
            .map(|i| (0..RANK).map(|r| right[r * HIDDEN + i] * code[r]).sum())
            .collect();
        size = v.iter().map(|x| x * x).sum::<f32>().sqrt();
        v.iter_mut().for_each(|x| *x /= size);
    }
    size.sqrt()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn main() {
    let mut numbers = Numbers(1);
    let weight = numbers.vector(HIDDEN * INPUTS, 0.5);
    let bias = numbers.vector(HIDDEN, 0.1);
    let mut left = numbers.vector(HIDDEN * RANK, 0.3);
    let right = numbers.vector(RANK * HIDDEN, 0.3);
    let factor = (NORM - IDENTITY) / norm(&left, &right);
    left.iter_mut().for_each(|value| *value *= factor);
    let cell = Equilibrium {
        inputs: INPUTS,
        hidden: HIDDEN,
        input_weight: &weight,
        bias: &bias,
        recurrent: Recurrent::LowRank {
            rank: RANK,
            identity: IDENTITY,
            left: &left,
            right: &right,
        },
        activation: Activation::Tanh,
        gamma: 1.0,
        previous_scale: 1.0,
        solver: Solver {
            method: Method::Newton,
            through: Through::Implicit,
            absolute: 1e-6,
            relative: 0.0,
            max_iterations: 50,
        },
    };
    let threads = rayon::current_num_threads();
    println!(
        "D = {HIDDEN}, r = {RANK}, d = {INPUTS}, norm {NORM}, {:?}; medians of interleaved rounds",
        Isa::best()
    );
    println!("| inputs | batch | T | one thread, ms | {threads} threads, ms | ratio | iterations | ns a column |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for (name, keep) in [("smooth", 0.95), ("independent", 0.0)] {
        for (batch, steps) in [
            (1, 10),
            (1, 100),
            (1, 1000),
            (1, 10_000),
            (32, 10),
            (32, 100),
            (32, 1000),
        ] {
            let x = numbers.walk(steps, batch, keep);
            compare(&cell, name, batch, steps, &x);
        }
    }
}

fn compare(cell: &Equilibrium<f32>, name: &str, batch: usize, steps: usize, x: &[f32]) {
    let isa = Isa::best();
    let input = Panels::from_time_major(isa, x, steps, INPUTS, &vec![steps; batch]);
    let last = vec![0.1; batch * HIDDEN];
    let at_states = || StateGradient {
        last: Some(&last),
        ..StateGradient::default()
    };
    let (mut trace, mut gradient) = (Trace::default(), LeakyGradient::default());
    let mut pass = || {
        forward(cell, &input, None, &mut trace);
        backward(cell, &input, &mut trace, at_states(), &mut gradient, None, None);
    };
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one thread");
    let rounds = (200_000 / (steps * batch)).clamp(9, 101);
    let (mut one, mut all) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        one.push(seconds(|| alone.install(&mut pass)));
        all.push(seconds(&mut pass));
    }
    let columns = (steps * batch) as f64;
    let outcomes = || trace.outcomes(&input);
    assert!(outcomes().all(|outcome| outcome.residual < 2e-6), "all are solved");
    let iterations = outcomes().map(|outcome| f64::from(outcome.iterations)).sum::<f64>() / columns;
    let (one, all) = (median(one), median(all));
    println!(
        "| {name} | {batch} | {steps} | {:.3} | {:.3} | {:.2} | {iterations:.1} | {:.0} |",
        1e3 * one,
        1e3 * all,
        one / all,
        1e9 * one / columns,
    );
}
