//! Gradients against finite differences, and through one step.

use ernn_kernels::equilibrium::{Through, backward};
use ernn_kernels::leaky::LeakyGradient;
use ernn_kernels::{Isa, Panels, StateGradient};

use crate::case::{Case, cases};
use crate::support::{all_weight, assert_close};

/// The loss of the gradient tests: all states and the last ones, each entry with its weight.
fn loss(case: &Case<f64>, states: &[f64]) -> f64 {
    let (sequences, hidden) = (case.lengths.len(), case.hidden);
    let mut loss = 0.0;
    for (index, value) in states.iter().enumerate() {
        loss += all_weight(index) * value;
    }
    for sequence in 0..sequences {
        for unit in 0..hidden {
            let last = match case.lengths[sequence] {
                0 => case.numbers[5][sequence * hidden + unit],
                length => states[((length - 1) * sequences + sequence) * hidden + unit],
            };
            loss += last * ((sequence * hidden + unit) as f64 * 0.3).cos();
        }
    }
    loss
}

/// Gradients of the loss at W, b, R or A, B, x, h_0 and c.
pub fn gradients(case: &Case<f64>, isa: Isa) -> [Vec<f64>; 7] {
    let (sequences, hidden) = (case.lengths.len(), case.hidden);
    let input = case.input(isa);
    let mut trace = case.run(isa);
    let weights: Vec<f64> = (0..case.steps() * sequences * hidden).map(all_weight).collect();
    let all = Panels::from_time_major(isa, &weights, case.steps(), hidden, &case.lengths);
    let last: Vec<f64> = (0..sequences * hidden)
        .map(|index| (index as f64 * 0.3).cos())
        .collect();
    let states = StateGradient {
        last: Some(&last),
        all: Some(&all),
        ..StateGradient::default()
    };
    let (mut gradient, mut inputs, mut initial) = (LeakyGradient::default(), Panels::new(isa, 1, &[]), Vec::new());
    backward(
        &case.cell(),
        &input,
        &mut trace,
        states,
        &mut gradient,
        Some(&mut inputs),
        Some(&mut initial),
    );
    [
        gradient.input_weight,
        gradient.bias,
        gradient.left,
        gradient.right,
        inputs.to_time_major(),
        initial,
        gradient.identity,
    ]
}

#[test]
fn implicit_gradients_are_those_of_finite_differences() {
    for case in cases()
        .into_iter()
        .filter(|case| case.solver.through == Through::Implicit)
    {
        for isa in Isa::available() {
            let found = gradients(&case, isa);
            if case.rank.is_some() {
                let at = |change: f64| {
                    let mut case = case.clone();
                    case.identity += change;
                    loss(&case, &case.run(isa).states().to_time_major())
                };
                let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert_close(found[6][0], expected, 3e-6, &case.name);
            }
            for part in 0..6 {
                let count = case.numbers[part].len();
                for index in (0..count).step_by(1 + count / 13) {
                    let sequence = index / case.inputs % case.lengths.len();
                    let step = index / case.inputs / case.lengths.len();
                    if part == 4 && step >= case.lengths[sequence] {
                        assert_eq!(found[4][index], 0.0, "no gradient behind the end: {}", case.name);
                        continue;
                    }
                    let at = |change: f64| {
                        let mut case = case.clone();
                        case.numbers[part][index] += change;
                        loss(&case, &case.run(isa).states().to_time_major())
                    };
                    // Small, so that no ReLU's kink lies between.
                    let step = 1e-6;
                    let expected = (at(step) - at(-step)) / (2.0 * step);
                    let what = format!("{} part {part} number {index}", case.name);
                    assert_close(found[part][index], expected, 3e-6, &what);
                }
            }
        }
    }
}

#[test]
fn one_step_gradients_hold_the_state_fixed() {
    for case in cases()
        .into_iter()
        .filter(|case| case.solver.through == Through::OneStep)
    {
        let isa = Isa::best();
        let found = gradients(&case, isa);
        // Differences of one step from the solutions, which stay: then b moves only phi's argument.
        let (sequences, hidden) = (case.lengths.len(), case.hidden);
        let mut z = vec![Vec::new(); case.steps() * sequences];
        let mut plain = case.clone();
        plain.previous_scale = 0.0;
        let states = plain.plain_states();
        for (at, z) in z.iter_mut().enumerate() {
            *z = states[at * hidden..(at + 1) * hidden].to_vec();
        }
        let loss_of = |case: &Case<f64>| {
            let mut states = vec![0.0; case.steps() * sequences * hidden];
            for sequence in 0..sequences {
                let mut h = case.numbers[5][sequence * hidden..(sequence + 1) * hidden].to_vec();
                for step in 0..case.lengths[sequence] {
                    let at = step * sequences + sequence;
                    let y = case.transition(&z[at], &case.x(sequence, step));
                    h = (0..hidden)
                        .map(|unit| y[unit] / case.gamma - case.previous_scale * h[unit])
                        .collect();
                    states[at * hidden..(at + 1) * hidden].copy_from_slice(&h);
                }
            }
            loss(case, &states)
        };
        for (part, gradient) in found.iter().enumerate().take(4) {
            for (index, &gradient) in gradient.iter().enumerate().take(7) {
                let at = |change: f64| {
                    let mut case = case.clone();
                    case.numbers[part][index] += change;
                    loss_of(&case)
                };
                let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert_close(gradient, expected, 1e-6, &format!("{} part {part}", case.name));
            }
        }
    }
}
