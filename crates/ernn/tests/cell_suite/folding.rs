//! `unfold` is the vjp of `fold`: for random cotangents `c`, it gives the gradient of `<c, fold(parameters)>`.

use ernn::Real;
use ernn::cell::{CellConfig, Folded, FoldedRecurrent};
use ernn_kernels::leaky::LeakyGradient;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::cases;

/// The folded numbers, in the order of [`LeakyGradient`].
fn parts<F: Real>(folded: &Folded<F>) -> [&[F]; 6] {
    let (left, right) = match &folded.recurrent {
        FoldedRecurrent::Dense(weight) => (&weight[..], &[][..]),
        FoldedRecurrent::LowRank { left, right, .. } => (&left[..], &right[..]),
    };
    [
        &folded.input_weight,
        &folded.bias,
        left,
        right,
        &folded.decay,
        &folded.gain,
    ]
}

fn cotangent(folded: &Folded<f64>, rng: &mut ChaCha8Rng) -> LeakyGradient<f64> {
    let [input_weight, bias, left, right, decay, gain] =
        parts(folded).map(|part| part.iter().map(|_| rng.random_range(-1.0..1.0)).collect());
    LeakyGradient {
        input_weight,
        bias,
        left,
        right,
        decay,
        gain,
    }
}

fn product(c: &LeakyGradient<f64>, folded: &Folded<f64>) -> f64 {
    let c = [&c.input_weight, &c.bias, &c.left, &c.right, &c.decay, &c.gain];
    let pairs = c.into_iter().zip(parts(folded));
    pairs
        .map(|(c, part)| {
            assert_eq!(c.len(), part.len());
            c.iter().zip(part).map(|(c, value)| c * value).sum::<f64>()
        })
        .sum()
}

fn check(cell: &CellConfig, inputs: usize, parameters: &[f64], what: &str) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let c = cotangent(&cell.fold(inputs, parameters), &mut rng);
    // Unfolding adds: what stands there before stays.
    let before: Vec<f64> = parameters.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut gradient = before.clone();
    cell.unfold(inputs, parameters, &c, &mut gradient);
    for span in cell.spans(inputs, "", 0) {
        for index in span.range() {
            let [above, below] = [1e-4, -1e-4].map(|by| {
                let mut moved = parameters.to_vec();
                moved[index] += by;
                product(&c, &cell.fold(inputs, &moved))
            });
            let expected = before[index] + (above - below) / 2e-4;
            let entry = index - span.start;
            assert_near(gradient[index], expected, 2e-8, || {
                format!("{what}, {} entry {entry}", span.name)
            });
        }
    }
}

#[test]
fn unfold_is_the_vjp_of_fold() {
    for case in cases() {
        let (mut inputs, mut start) = (case.config.input_size, 0);
        for (index, cell) in case.config.layers.iter().enumerate() {
            let end = start + cell.parameter_count(inputs);
            let what = format!("{}, layer {index}", case.name);
            check(cell, inputs, &case.parameters[start..end], &what);
            (inputs, start) = (cell.hidden(), end);
        }
    }
}
