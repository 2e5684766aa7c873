//! `unfold` is the vjp of `fold`: for random cotangents `c`, it gives the gradient of `<c, fold(parameters)>`.

use ernn::Real;
use ernn::cell::{CellConfig, Folded, FoldedGradient, FoldedRecurrent};
use ernn_kernels::deep::DeepGradient;
use ernn_kernels::gated::GatedGradient;
use ernn_kernels::leaky::LeakyGradient;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assert_near;
use crate::table::cases;

/// How far a parameter is moved.
const STEP: f64 = 3e-4;

/// The folded numbers, in the order of the family's gradient.
fn parts<F: Real>(folded: &Folded<F>) -> Vec<&[F]> {
    let (input_weight, bias, recurrent) = match folded {
        Folded::Leaky(cell) => (&cell.input_weight, &cell.bias, &cell.recurrent),
        Folded::Gated(cell) => (&cell.input_weight, &cell.bias, &cell.recurrent),
        Folded::Equilibrium(cell) => (&cell.input_weight, &cell.bias, &cell.recurrent),
        Folded::Deep(cell) => {
            let layers = cell.layers.iter().flat_map(|layer| [&layer.weight[..], &layer.bias]);
            let last = [&cell.decay[..], &cell.gain];
            return [&cell.input_weight[..]].into_iter().chain(layers).chain(last).collect();
        }
    };
    let (left, right) = match recurrent {
        FoldedRecurrent::Dense(weight) => (&weight[..], &[][..]),
        FoldedRecurrent::LowRank { left, right, .. } => (&left[..], &right[..]),
    };
    let mut parts = vec![&input_weight[..], bias, left, right];
    match folded {
        Folded::Leaky(cell) => parts.extend([&cell.decay[..], &cell.gain]),
        Folded::Gated(cell) => parts.push(&cell.scalars),
        Folded::Equilibrium(cell) => {
            if let FoldedRecurrent::LowRank { identity, .. } = &cell.recurrent {
                parts.push(std::slice::from_ref(identity));
            }
        }
        Folded::Deep(_) => unreachable!("returned above"),
    }
    parts
}

/// A random cotangent, part by part as [`parts`].
fn cotangent(folded: &Folded<f64>, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut draw = |part: &[f64]| part.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
    parts(folded).into_iter().map(&mut draw).collect()
}

fn as_gradient(folded: &Folded<f64>, cotangent: &[Vec<f64>]) -> FoldedGradient<f64> {
    let part = |index: usize| cotangent[index].clone();
    match folded {
        Folded::Leaky(_) => FoldedGradient::Leaky(LeakyGradient {
            input_weight: part(0),
            bias: part(1),
            left: part(2),
            right: part(3),
            decay: part(4),
            gain: part(5),
            identity: Vec::new(),
        }),
        Folded::Equilibrium(_) => FoldedGradient::Leaky(LeakyGradient {
            input_weight: part(0),
            bias: part(1),
            left: part(2),
            right: part(3),
            identity: cotangent.get(4).cloned().unwrap_or_default(),
            ..LeakyGradient::default()
        }),
        Folded::Gated(_) => FoldedGradient::Gated(GatedGradient {
            input_weight: part(0),
            bias: part(1),
            left: part(2),
            right: part(3),
            scalars: part(4),
        }),
        Folded::Deep(cell) => {
            let count = cell.layers.len();
            FoldedGradient::Deep(DeepGradient {
                input_weight: part(0),
                weights: (0..count).map(|layer| part(1 + 2 * layer)).collect(),
                biases: (0..count).map(|layer| part(2 + 2 * layer)).collect(),
                decay: part(1 + 2 * count),
                gain: part(2 + 2 * count),
            })
        }
    }
}

fn product(c: &[Vec<f64>], folded: &Folded<f64>) -> f64 {
    let parts = parts(folded);
    assert_eq!(c.len(), parts.len());
    let pairs = c.iter().zip(parts);
    pairs
        .map(|(c, part)| {
            assert_eq!(c.len(), part.len());
            c.iter().zip(part).map(|(c, value)| c * value).sum::<f64>()
        })
        .sum()
}

fn check(cell: &CellConfig, inputs: usize, parameters: &[f64], what: &str) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let folded = cell.fold(inputs, parameters);
    let c = cotangent(&folded, &mut rng);
    // Unfolding adds: what stands there before stays.
    let before: Vec<f64> = parameters.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut gradient = before.clone();
    cell.unfold(inputs, parameters, &as_gradient(&folded, &c), &mut gradient);
    for span in cell.spans(inputs, "", 0) {
        for index in span.range() {
            let at = |by: f64| {
                let mut moved = parameters.to_vec();
                moved[index] += by;
                product(&c, &cell.fold(inputs, &moved))
            };
            // Of fourth order: reflections in short vectors are far from linear.
            let (near, far) = (at(STEP) - at(-STEP), at(2.0 * STEP) - at(-2.0 * STEP));
            let expected = before[index] + (8.0 * near - far) / (12.0 * STEP);
            let entry = index - span.start;
            assert_near(gradient[index], expected, 2e-9, || {
                format!("{what}, {} entry {entry}", span.name)
            });
        }
    }
}

#[test]
fn unfold_is_the_vjp_of_fold() {
    for case in cases() {
        for (place, (inputs, cell, parameters)) in case.cells().into_iter().enumerate() {
            check(cell, inputs, parameters, &format!("{}, cell {place}", case.name));
        }
    }
}
