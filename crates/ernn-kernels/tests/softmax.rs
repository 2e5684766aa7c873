//! Softmax cross-entropy over many classes against plain loops in `f64`, and its bits for any number of threads.

use ernn_kernels::{Isa, Real, RowLoss, Softmax, SoftmaxGradient, SoftmaxWorkspace};

struct Case {
    inputs: usize,
    classes: usize,
    weight: Vec<f64>,
    bias: Vec<f64>,
    states: Vec<f64>,
    targets: Vec<u32>,
}

fn case(inputs: usize, classes: usize, rows: usize) -> Case {
    let mut state = 7u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    Case {
        inputs,
        classes,
        weight: (0..inputs * classes).map(|_| next()).collect(),
        bias: (0..classes).map(|_| next()).collect(),
        states: (0..inputs * rows).map(|_| next()).collect(),
        targets: (0..rows).map(|row| (row * 7919 % classes) as u32).collect(),
    }
}

/// Losses, and the gradients of weights, biases and states.
#[derive(Debug, PartialEq)]
struct Found<F> {
    losses: Vec<RowLoss<F>>,
    weight: Vec<F>,
    bias: Vec<F>,
    states: Vec<F>,
}

const SCALE: f64 = 0.25;

fn run<F: Real>(isa: Isa, case: &Case) -> Found<F> {
    let narrow = |values: &[f64]| values.iter().map(|&value| F::from_f64(value)).collect::<Vec<F>>();
    let (weight, bias, states) = (narrow(&case.weight), narrow(&case.bias), narrow(&case.states));
    // Gradients are added to weights and biases, and replace those of the states.
    let mut found = Found {
        losses: Vec::new(),
        weight: vec![F::ONE; weight.len()],
        bias: vec![F::ONE; bias.len()],
        states: vec![F::from_f64(f64::NAN); states.len()],
    };
    let softmax = Softmax {
        inputs: case.inputs,
        classes: case.classes,
        weight: &weight,
        bias: &bias,
    };
    let gradient = SoftmaxGradient {
        scale: F::from_f64(SCALE),
        weight: &mut found.weight,
        bias: &mut found.bias,
        states: &mut found.states,
    };
    let mut workspace = SoftmaxWorkspace::default();
    found.losses = softmax.run(isa, &states, &case.targets, Some(gradient), &mut workspace);
    // As text, where NaN equals NaN.
    let alone = softmax.run(isa, &states, &case.targets, None, &mut workspace);
    assert_eq!(format!("{:?}", found.losses), format!("{alone:?}"));
    found
}

fn plain(case: &Case) -> Found<f64> {
    let mut found = Found {
        losses: Vec::new(),
        weight: vec![1.0; case.weight.len()],
        bias: vec![1.0; case.classes],
        states: vec![0.0; case.states.len()],
    };
    for (row, state) in case.states.chunks_exact(case.inputs).enumerate() {
        let logits: Vec<f64> = (0..case.classes)
            .map(|class| {
                let weights = &case.weight[class * case.inputs..];
                case.bias[class] + state.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>()
            })
            .collect();
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        let target = case.targets[row] as usize;
        found.losses.push(RowLoss {
            loss: largest + total.ln() - logits[target],
            correct: logits[target] >= largest,
        });
        for (class, (bias, logit)) in found.bias.iter_mut().zip(&logits).enumerate() {
            let share = (logit - largest).exp() / total - f64::from(u8::from(class == target));
            let slope = SCALE * share;
            *bias += slope;
            let weights = class * case.inputs..(class + 1) * case.inputs;
            let slopes = &mut found.states[row * case.inputs..(row + 1) * case.inputs];
            for (at_state, weight) in slopes.iter_mut().zip(&case.weight[weights.clone()]) {
                *at_state += slope * weight;
            }
            for (at_weight, input) in found.weight[weights].iter_mut().zip(state) {
                *at_weight += slope * input;
            }
        }
    }
    found
}

fn check<F: Real>(case: &Case, tolerance: f64) {
    let expected = plain(case);
    for isa in Isa::available() {
        let found = run::<F>(isa, case);
        let close = |what: &str, found: &[F], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let error = (found.to_f64() - expected).abs();
                assert!(
                    error <= tolerance * (1.0 + expected.abs()),
                    "{isa:?} {what} {index}: {found:?} {expected}"
                );
            }
        };
        let losses: Vec<F> = found.losses.iter().map(|row| row.loss).collect();
        let expected_losses: Vec<f64> = expected.losses.iter().map(|row| row.loss).collect();
        close("loss", &losses, &expected_losses);
        let correct = |rows: usize, of: &dyn Fn(usize) -> bool| (0..rows).map(of).collect::<Vec<bool>>();
        let rows = losses.len();
        assert_eq!(
            correct(rows, &|row| found.losses[row].correct),
            correct(rows, &|row| expected.losses[row].correct)
        );
        close("weight", &found.weight, &expected.weight);
        close("bias", &found.bias, &expected.bias);
        close("states", &found.states, &expected.states);
    }
}

#[test]
fn equals_plain_loops() {
    // One slab and several, the last one short; no row, part of a group, several groups.
    for (inputs, classes, rows) in [
        (5, 2, 3),
        (7, 239, 40),
        (3, 240, 17),
        (9, 1000, 70),
        (1, 481, 1),
        (4, 3, 0),
    ] {
        let case = case(inputs, classes, rows);
        check::<f64>(&case, 1e-12);
        check::<f32>(&case, 2e-5);
    }
}

#[test]
fn several_chunks_are_joined() {
    // 70,000 classes x 16 lanes are more than half a chunk: each chunk is one group.
    check::<f32>(&case(2, 70_000, 50), 3e-5);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let case = case(20, 1500, 300);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run::<f32>(Isa::best(), &case))
    };
    let one = with(1);
    assert!(with(2) == one && with(3) == one);
}

#[test]
fn hopeless_targets_have_a_large_finite_loss_and_broken_logits_none() {
    let mut case = case(1, 500, 2);
    case.weight.fill(0.0);
    case.bias.fill(0.0);
    case.bias[3] = 1e4;
    case.targets = vec![499, 3];
    let found = run::<f32>(Isa::best(), &case);
    assert_eq!(
        found.losses[0],
        RowLoss {
            loss: 1e4,
            correct: false
        }
    );
    assert!(found.losses[1].correct && found.losses[1].loss.abs() < 1e-6);
    case.bias[400] = f64::NAN;
    assert!(
        run::<f32>(Isa::best(), &case)
            .losses
            .iter()
            .all(|row| !row.loss.is_finite())
    );
}
