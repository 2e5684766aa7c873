use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::field::tests::{drawn, ernn, noise};
use super::*;
use ernn::cell::{Activation, CellConfig, ErnnConfig, Sign, Start};

const WIDTH: usize = 2;
const STEPS: usize = 6;

fn cell(config: &CellConfig) -> Folded<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut parameters = vec![0.0; config.parameter_count(WIDTH)];
    config.initialize(WIDTH, &mut rng, &mut parameters);
    config.fold(WIDTH, &parameters)
}

/// The state after the steps `from..`, as a function of the state before them.
fn run(cell: &Folded<f64>, inputs: &[f64], from: usize, state: &[f64]) -> Vec<f64> {
    let mut state = state.to_vec();
    cell.runner(Isa::best())
        .run(&inputs[from * WIDTH..], from, &mut state, &mut Vec::new());
    state
}

/// `d s_T / d s_k` by central differences, `[S,S]`.
fn differences(cell: &Folded<f64>, inputs: &[f64], from: usize, state: &[f64]) -> Vec<f64> {
    let size = state.len();
    let mut matrix = vec![0.0; size * size];
    for unit in 0..size {
        let moved = |by: f64| {
            let mut state = state.to_vec();
            state[unit] += by;
            run(cell, inputs, from, &state)
        };
        for (row, (above, below)) in moved(1e-6).iter().zip(moved(-1e-6)).enumerate() {
            matrix[row * size + unit] = (above - below) / 2e-6;
        }
    }
    matrix
}

#[test]
fn gradients_are_those_of_finite_differences_for_every_cell() {
    for kind in CellConfig::KINDS {
        let config = CellConfig::of_kind(kind).unwrap().with_hidden(9);
        let cell = cell(&config);
        let inputs = noise(WIDTH * STEPS, 5);
        let states = states(&cell, &inputs, WIDTH);
        let (mut back, size) = (Back::new(&cell, WIDTH), cell.state_len());
        let mut gradient = identity(size);
        for step in (0..STEPS).rev() {
            back.step(&inputs[step * WIDTH..][..WIDTH], step, &states[step], &mut gradient);
            let expected = differences(&cell, &inputs, step, &states[step]);
            for (found, expected) in gradient.iter().zip(&expected) {
                assert!(
                    (found - expected).abs() < 1e-7,
                    "{kind}, step {step}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn norms_and_singular_values_are_those_of_the_matrix() {
    let config = CellConfig::Ernn(ernn(Activation::Tanh));
    let layer = Layer {
        cell: Folded::Leaky(drawn(&config, WIDTH, 1)),
        inputs: vec![noise(WIDTH * STEPS, 2)],
        width: WIDTH,
    };
    let found = measure(&layer);
    assert_eq!((found.state, found.norms.len()), (5, STEPS));
    let states = states(&layer.cell, &layer.inputs[0], WIDTH);
    for (norms, values) in found.norms.iter().zip(&found.singular_values) {
        let distance = norms.distance;
        assert_eq!(values.distance, distance);
        let matrix = differences(
            &layer.cell,
            &layer.inputs[0],
            STEPS - distance,
            &states[STEPS - distance],
        );
        let norm = length(&matrix) / 5f64.sqrt();
        assert!((norms.norm.median - norm).abs() < 1e-7, "{norms:?} {norm}");
        let squares = values.largest.median.powi(2) / 5.0;
        assert!(
            squares <= norm.powi(2) + 1e-7 && norm.powi(2) <= 5.0 * squares,
            "{values:?}"
        );
    }
}

/// Start 0 at a contracted cell: `dh_k/dh_{k-1} = M - I`, and `M` vanishes with the step sizes that lead to the equilibrium.
#[test]
fn a_contracted_cell_that_starts_at_zero_turns_the_gradient_around() {
    let config = CellConfig::Ernn(ErnnConfig {
        start: Start::Zero,
        sign: Sign::Plus,
        iterations: 400,
        eta: 0.5,
        deviation: 0.05,
        gamma: 3.0,
        ..ernn(Activation::Tanh)
    });
    let layer = Layer {
        cell: Folded::Leaky(drawn(&config, WIDTH, 1)),
        inputs: vec![noise(WIDTH * STEPS, 2)],
        width: WIDTH,
    };
    for norms in measure(&layer).norms {
        assert!(norms.from_alternating.high < 1e-12, "{norms:?}");
        assert!((norms.norm.median - 1.0).abs() < 1e-12, "{norms:?}");
    }
}

/// Step sizes of 0: the state never moves, `dh_k/dh_{k-1} = 2 I - I`.
#[test]
fn a_cell_that_does_not_move_passes_the_gradient_unchanged() {
    let config = CellConfig::Ernn(ErnnConfig {
        eta: 0.0,
        ..ernn(Activation::Relu)
    });
    let layer = Layer {
        cell: Folded::Leaky(drawn(&config, WIDTH, 1)),
        inputs: vec![noise(WIDTH * STEPS, 2)],
        width: WIDTH,
    };
    for norms in measure(&layer).norms {
        assert_eq!((norms.from_identity.high, norms.norm.median), (0.0, 1.0));
    }
}

/// Products that leave the range of numbers on the way are still measured.
#[test]
fn gradients_that_vanish_and_explode_have_their_norms() {
    for (eta, growth) in [(-4.0, 9.0f64), (0.45, 0.1)] {
        // Without a transition: h' = (1 - 2 gamma eta) h, over 300 steps.
        let config = CellConfig::Ernn(ErnnConfig {
            gamma: 1.0,
            iterations: 1,
            eta,
            max_steps: 1,
            ..ernn(Activation::Relu)
        });
        let mut cell = drawn(&config, WIDTH, 1);
        cell.gain = vec![0.0];
        let layer = Layer {
            cell: Folded::Leaky(cell),
            inputs: vec![noise(WIDTH * 300, 2)],
            width: WIDTH,
        };
        let found = measure(&layer);
        let expected = 300.0 * growth.log10();
        assert!(
            (found.norms[299].norm.median.log10() - expected).abs() < 1e-6,
            "{:?}",
            found.norms[299]
        );
        assert!((found.singular_values.last().unwrap().smallest.median.log10() - expected).abs() < 1e-6);
    }
}

#[test]
fn details_reach_from_the_first_to_the_last_distance() {
    for farthest in [1, 2, 10, 784, 1000] {
        let found = details(farthest);
        assert_eq!((found.first(), found.last()), (Some(&1), Some(&farthest)));
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]) && found.len() <= DETAILS + 1);
    }
    assert!(details(0).is_empty());
}
