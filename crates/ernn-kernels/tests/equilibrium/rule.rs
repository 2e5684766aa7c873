//! What follows from the rule at its equilibrium, whatever the weights.

use ernn_kernels::equilibrium::backward;
use ernn_kernels::leaky::LeakyGradient;
use ernn_kernels::{Activation, Isa, StateGradient};

use crate::case::{Case, cases};
use crate::support::{Numbers, assert_close};

/// Two inputs at places of equal parity may change places, a zero input turns the sign, and an alternating one adds up without
/// bound: what the rule with the plus sign does at its equilibrium, whatever its weights.
#[test]
fn the_exact_rule_is_blind_to_order_and_unbounded() {
    let mut case = cases().remove(10);
    case.previous_scale = 1.0;
    case.lengths = vec![1000];
    case.numbers[4] = Numbers(3).vector(1000 * case.inputs, 1.0);
    case.numbers[5] = vec![0.0; case.hidden];
    let last = |case: &Case<f64>| case.run(Isa::best()).last_state();
    let before = last(&case);
    let mut swapped = case.clone();
    for feature in 0..case.inputs {
        swapped.numbers[4].swap(10 * case.inputs + feature, 800 * case.inputs + feature);
    }
    for (before, after) in before.iter().zip(last(&swapped)) {
        assert_close(after, *before, 1e-11, "places of equal parity");
    }
    swapped.numbers[4] = case.numbers[4].clone();
    for feature in 0..case.inputs {
        swapped.numbers[4].swap(10 * case.inputs + feature, 801 * case.inputs + feature);
    }
    let change: f64 = before.iter().zip(last(&swapped)).map(|(a, b)| (a - b).abs()).sum();
    assert!(change > 1e-3, "places of other parity do matter");

    // Without a bias, a zero input has its equilibrium at 0.
    case.activation = Activation::Tanh;
    case.numbers[1].fill(0.0);
    case.numbers[4] = vec![0.0; 1000 * case.inputs];
    case.numbers[4][0] = 1.0;
    let states = case.run(Isa::best()).states().to_time_major();
    let (first, second) = states.split_at(case.hidden);
    for (first, second) in first.iter().zip(second) {
        assert_eq!(first.to_bits(), (-second).to_bits());
    }

    for step in 0..1000 {
        let sign = if step % 2 == 0 { 1.0 } else { -1.0 };
        case.numbers[4][step * case.inputs..(step + 1) * case.inputs].fill(sign);
    }
    let states = case.run(Isa::best()).states().to_time_major();
    let size = |step: usize| {
        states[step * case.hidden..(step + 1) * case.hidden]
            .iter()
            .map(|h| h * h)
            .sum::<f64>()
    };
    assert_close(
        size(999).sqrt(),
        1000.0 * size(0).sqrt(),
        1e-9,
        "the state grows with every step",
    );
}

/// The transition of the state: `dh_m / dh_n = (-1)^(m - n) I`, to the last digits, over a thousand steps.
#[test]
fn the_transition_is_the_identity_with_alternating_sign() {
    for (scale, sign) in [(1.0, -1.0f64), (-1.0, 1.0)] {
        let mut case = cases().remove(10);
        case.previous_scale = scale;
        for distance in [1, 2, 17, 999, 1000] {
            case.lengths = vec![distance; case.hidden];
            case.numbers[4] = Numbers(9).vector(distance * case.hidden * case.inputs, 1.0);
            case.numbers[5] = vec![0.2; case.hidden * case.hidden];
            let isa = Isa::best();
            let (input, mut trace) = (case.input(isa), case.run(isa));
            let mut unit = vec![0.0; case.hidden * case.hidden];
            (0..case.hidden).for_each(|index| unit[index * (case.hidden + 1)] = 1.0);
            let states = StateGradient {
                last: Some(&unit),
                ..StateGradient::default()
            };
            let (mut gradient, mut initial) = (LeakyGradient::default(), Vec::new());
            backward(
                &case.cell(),
                &input,
                &mut trace,
                states,
                &mut gradient,
                None,
                Some(&mut initial),
            );
            for (found, unit) in initial.iter().zip(&unit) {
                assert!((found - sign.powi(distance as i32) * unit).abs() < 1e-10);
            }
        }
    }
}
