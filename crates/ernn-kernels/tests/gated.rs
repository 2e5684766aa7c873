//! The kernels of the gated family against a plain loop written from the formulas, against finite differences, and against
//! themselves: threads, padding, pieces, one sequence or many.

mod support;

use ernn_kernels::gated::{Gated, GatedGradient, Gates, SequenceRunner};
use ernn_kernels::leaky::Recurrent;
use ernn_kernels::{Activation, Isa, Panels, Real, StateGradient, Trace, backward, forward, infer};
use support::{ACTIVATIONS, Numbers, activate, all_weight, assert_close, bits, doubles, times};

const GATES: [Gates; 6] = [
    Gates::Lstm,
    Gates::GruAfter,
    Gates::GruBefore,
    Gates::Ugrnn,
    Gates::FastGrnn,
    Gates::Antisymmetric,
];

/// Groups that read the input, all groups, groups of the recurrent matrix, states.
fn sizes(gates: Gates) -> [usize; 4] {
    match gates {
        Gates::Lstm => [4, 4, 4, 2],
        Gates::GruAfter => [3, 4, 3, 1],
        Gates::GruBefore => [3, 3, 3, 1],
        Gates::Ugrnn => [2, 2, 2, 1],
        Gates::FastGrnn => [1, 3, 1, 1],
        Gates::Antisymmetric => [2, 3, 1, 1],
    }
}

/// A cell that owns its numbers, with a batch.
#[derive(Clone)]
struct Case<F> {
    name: String,
    gates: Gates,
    inputs: usize,
    hidden: usize,
    rank: Option<usize>,
    gate: Activation,
    activation: Activation,
    identity: f64,
    lengths: Vec<usize>,
    /// W, b, R or A, B, scalars, x (time-major), initial states.
    numbers: [Vec<F>; 7],
}

impl<F: Real> Case<F> {
    fn cell(&self) -> Gated<'_, F> {
        let [w, b, left, right, scalars, _, _] = &self.numbers;
        Gated {
            gates: self.gates,
            inputs: self.inputs,
            hidden: self.hidden,
            input_weight: w,
            bias: b,
            recurrent: match self.rank {
                None => Recurrent::Dense(left),
                Some(rank) => Recurrent::LowRank {
                    rank,
                    identity: F::from_f64(self.identity),
                    left,
                    right,
                },
            },
            gate: self.gate,
            activation: self.activation,
            scalars: [scalars[0], scalars[1]],
        }
    }

    fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    fn input(&self, isa: Isa) -> Panels<F> {
        Panels::from_time_major(isa, &self.numbers[5], self.steps(), self.inputs, &self.lengths)
    }

    fn run(&self, isa: Isa) -> Trace<F> {
        let mut trace = Trace::default();
        forward(&self.cell(), &self.input(isa), Some(&self.numbers[6]), &mut trace);
        trace
    }

    fn state_len(&self) -> usize {
        self.hidden * sizes(self.gates)[3]
    }
}

fn cases<F: Real>() -> Vec<Case<F>> {
    cases_of([(1, 1), (2, 5), (9, 13), (3, 8)])
}

/// Sizes that are no multiple of a register, some of them wide.
const WIDE: [(usize, usize); 4] = [(9, 37), (35, 67), (70, 33), (3, 65)];

/// Cases of these input and hidden sizes.
fn cases_of<F: Real>(sizes_of: [(usize, usize); 4]) -> Vec<Case<F>> {
    let mut cases = Vec::new();
    let many: Vec<usize> = (0..19).map(|index| 1 + index * 5 % 7).collect();
    let batches = [vec![5, 5, 5], vec![7, 1, 0, 12, 5], vec![1], many, vec![40, 30]];
    let mut numbers = Numbers(11);
    for gates in GATES {
        for rank in [None, Some(1), Some(3)] {
            for gate in [Activation::Sigmoid, Activation::HardSigmoid] {
                for shape in 0..3 {
                    let index = cases.len();
                    let (inputs, hidden) = sizes_of[(index + shape) % 4];
                    let activation = ACTIVATIONS[(index / 2 + shape) % 5];
                    let lengths = batches[index % batches.len()].clone();
                    let [input, all, recurrent, states] = sizes(gates);
                    let scale = 1.0 / (hidden as f64).sqrt();
                    cases.push(Case {
                        name: format!(
                            "{gates:?}, rank {rank:?}, {gate:?}, {activation:?}, d {inputs}, D {hidden}, {lengths:?}"
                        ),
                        gates,
                        inputs,
                        hidden,
                        rank,
                        gate,
                        activation,
                        identity: if gates == Gates::Antisymmetric { -0.2 } else { 0.0 },
                        numbers: [
                            numbers.vector(input * hidden * inputs, 0.7),
                            numbers.vector(all * hidden, 0.5),
                            numbers.vector(recurrent * hidden * rank.unwrap_or(hidden), scale),
                            numbers.vector(rank.map_or(0, |rank| rank * hidden), scale),
                            vec![F::from_f64(0.6), F::from_f64(0.2)],
                            numbers.vector(lengths.iter().max().unwrap() * lengths.len() * inputs, 1.0),
                            numbers.vector(lengths.len() * states * hidden, 0.5),
                        ],
                        lengths,
                    });
                }
            }
        }
    }
    cases
}

/// The formulas, literally, for one sequence: all states `h`, and the last whole state.
fn plain<F: Real>(case: &Case<F>, sequence: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let numbers: Vec<Vec<f64>> = case.numbers.iter().map(|values| doubles(values)).collect();
    let [w, b, left, right, scalars, x, initial] = &numbers[..] else {
        unreachable!()
    };
    let (d, hidden) = (case.inputs, case.hidden);
    let recurrent = |v: &[f64]| match case.rank {
        None => times(left, hidden, v),
        Some(rank) => times(left, rank, &times(right, hidden, v)),
    };
    let sigma = |x: f64| activate(case.gate, x);
    let phi = |x: f64| activate(case.activation, x);
    let at = |values: &[f64], group: usize, unit: usize| values[group * hidden + unit];
    let (mut h, mut c) = {
        let row = &initial[sequence * case.state_len()..][..case.state_len()];
        (row[..hidden].to_vec(), row[hidden..].to_vec())
    };
    let mut states = Vec::new();
    for step in 0..case.lengths[sequence] {
        let input = times(w, d, &x[(step * case.lengths.len() + sequence) * d..][..d]);
        let state = recurrent(&h);
        let reset: Vec<f64> = match case.gates {
            Gates::GruBefore => {
                let r = |unit| sigma(at(&input, 0, unit) + at(&state, 0, unit) + at(b, 0, unit));
                recurrent(&(0..hidden).map(|unit| r(unit) * h[unit]).collect::<Vec<f64>>())
            }
            _ => vec![0.0; state.len()],
        };
        for unit in 0..hidden {
            let sum = |group| at(&input, group, unit) + at(&state, group, unit) + at(b, group, unit);
            let old = h[unit];
            h[unit] = match case.gates {
                Gates::Lstm => {
                    c[unit] = sigma(sum(1)) * c[unit] + sigma(sum(0)) * phi(sum(3));
                    sigma(sum(2)) * phi(c[unit])
                }
                Gates::GruAfter => {
                    let joint = |group| at(&input, group, unit) + at(&state, group - 1, unit) + at(b, group, unit);
                    let (r, z) = (sigma(joint(1)), sigma(joint(2)));
                    let from_state = at(&state, 2, unit) + at(b, 3, unit);
                    let n = phi(at(&input, 0, unit) + at(b, 0, unit) + r * from_state);
                    (1.0 - z) * n + z * old
                }
                Gates::GruBefore => {
                    let z = sigma(sum(1));
                    let n = phi(at(&input, 2, unit) + at(&reset, 2, unit) + at(b, 2, unit));
                    (1.0 - z) * n + z * old
                }
                Gates::Ugrnn => {
                    let (z, c) = (sigma(sum(0)), phi(sum(1)));
                    z * old + (1.0 - z) * c
                }
                Gates::FastGrnn => {
                    let p = input[unit] + state[unit] + at(b, 2, unit);
                    let (z, c) = (sigma(p + at(b, 0, unit)), phi(p + at(b, 1, unit)));
                    (scalars[0] * (1.0 - z) + scalars[1]) * c + z * old
                }
                Gates::Antisymmetric => {
                    let identity = if case.rank.is_some() { case.identity } else { 0.0 };
                    let p = state[unit] + identity * old + at(b, 2, unit);
                    let gate = |group| p + at(&input, group, unit) + at(b, group, unit);
                    old + scalars[0] * sigma(gate(0)) * phi(gate(1))
                }
            };
        }
        states.push(h.clone());
    }
    h.extend(c);
    (states, h)
}

fn states_follow_the_formula<F: Real>(tolerance: f64) {
    for case in cases::<F>() {
        for isa in Isa::available() {
            let trace = case.run(isa);
            let last = trace.last_state();
            let mut row = vec![F::ZERO; case.hidden];
            for sequence in 0..case.lengths.len() {
                let (states, end) = plain(&case, sequence);
                let what = |step| format!("{isa:?}, {}, sequence {sequence}, step {step}", case.name);
                for (step, expected) in states.iter().enumerate() {
                    trace.states().read_step(sequence, step, &mut row);
                    for (found, expected) in row.iter().zip(expected) {
                        assert_close(found.to_f64(), *expected, tolerance, &what(step));
                    }
                }
                let found = &last[sequence * case.state_len()..][..case.state_len()];
                for (found, expected) in found.iter().zip(end) {
                    assert_close(found.to_f64(), expected, tolerance, &what(states.len()));
                }
            }
        }
    }
}

#[test]
fn states_follow_the_formula_f64() {
    states_follow_the_formula::<f64>(1e-12);
}

#[test]
fn states_follow_the_formula_f32() {
    states_follow_the_formula::<f32>(2e-4);
}

/// A loss that looks at all states and, more, at the last ones, `c` included.
fn loss(case: &Case<f64>, isa: Isa) -> f64 {
    let trace = case.run(isa);
    let states = trace.states().to_time_major();
    let all = states.iter().enumerate().map(|(i, h)| all_weight(i) * h * h / 2.0);
    all.sum::<f64>() + trace.last_state().iter().map(|h| h * h).sum::<f64>()
}

/// Gradients of W, b, R or A, B, scalars, x, initial states.
fn gradients<F: Real>(case: &Case<F>, isa: Isa) -> [Vec<F>; 7] {
    let (cell, input) = (case.cell(), case.input(isa));
    let mut trace = case.run(isa);
    let states = trace.states().to_time_major();
    let weighted: Vec<F> = states
        .iter()
        .enumerate()
        .map(|(i, &h)| F::from_f64(all_weight(i)) * h)
        .collect();
    let all = Panels::from_time_major(isa, &weighted, case.steps(), case.hidden, &case.lengths);
    let state_len = case.state_len();
    let last: Vec<F> = trace.last_state().iter().map(|&h| h + h).collect();
    let part = |from: usize, to: usize| -> Vec<F> {
        last.chunks_exact(state_len)
            .flat_map(|row| row[from..to].to_vec())
            .collect()
    };
    let (last, last_memory) = (part(0, case.hidden), part(case.hidden, state_len));
    let mut gradient = GatedGradient::default();
    let (mut at_input, mut at_initial) = (Panels::new(isa, case.inputs, &case.lengths), Vec::new());
    let states = StateGradient {
        last: Some(&last),
        last_memory: (!last_memory.is_empty()).then_some(&last_memory[..]),
        all: Some(&all),
        rows: None,
    };
    backward(
        &cell,
        &input,
        &mut trace,
        states,
        &mut gradient,
        Some(&mut at_input),
        Some(&mut at_initial),
    );
    let GatedGradient {
        input_weight,
        bias,
        left,
        right,
        scalars,
    } = gradient;
    let at_input = at_input.to_time_major();
    [input_weight, bias, left, right, scalars, at_input, at_initial]
}

#[test]
fn gradients_match_finite_differences() {
    // Small enough that a kink is all but never stepped over.
    let step = 1e-7;
    for case in cases::<f64>() {
        for isa in Isa::available() {
            for (tensor, analytic) in gradients(&case, isa).into_iter().enumerate() {
                assert_eq!(analytic.len(), case.numbers[tensor].len(), "{}, {tensor}", case.name);
                // Only FastGRNN learns its scalars.
                if tensor == 4 && case.gates != Gates::FastGrnn {
                    assert_eq!(analytic, [0.0; 2]);
                    continue;
                }
                for index in (0..analytic.len()).step_by(1 + analytic.len() / 12) {
                    let mut moved = case.clone();
                    let mut shifted = |by: f64| {
                        moved.numbers[tensor][index] = case.numbers[tensor][index] + by;
                        loss(&moved, isa)
                    };
                    let numeric = (shifted(step) - shifted(-step)) / (2.0 * step);
                    let what = format!("{isa:?}, {}, tensor {tensor}, entry {index}", case.name);
                    assert_close(analytic[index], numeric, 3e-6, &what);
                }
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    for case in cases::<f32>() {
        let found = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| gradients(&case, Isa::best()).map(|part| bits(&part)))
        });
        assert_eq!(found[0], found[1], "{}", case.name);
        assert_eq!(found[0], found[2], "{}", case.name);
    }
}

/// Each sequence alone, in a batch, in a batch with NaN behind its end, and through the single-sequence kernel, whole and in
/// two pieces.
#[test]
fn a_sequence_gets_the_same_bits_everywhere() {
    for case in cases::<f32>().into_iter().chain(cases_of(WIDE)) {
        for isa in Isa::available() {
            let (cell, batch, state_len) = (case.cell(), case.run(isa), case.state_len());
            let ends = batch.last_state();
            let mut padded = case.clone();
            for (sequence, &length) in case.lengths.iter().enumerate() {
                for step in length..case.steps() {
                    let at = (step * case.lengths.len() + sequence) * case.inputs;
                    padded.numbers[5][at..at + case.inputs].fill(f32::NAN);
                }
            }
            let padded = padded.run(isa);
            assert_eq!(
                bits(&batch.states().to_time_major()),
                bits(&padded.states().to_time_major()),
                "{}",
                case.name
            );
            let mut runner = SequenceRunner::new(isa, &cell);
            for (sequence, &length) in case.lengths.iter().enumerate() {
                let input: Vec<f32> = (0..length)
                    .flat_map(|step| {
                        let at = (step * case.lengths.len() + sequence) * case.inputs;
                        case.numbers[5][at..at + case.inputs].to_vec()
                    })
                    .collect();
                let initial = &case.numbers[6][sequence * state_len..][..state_len];
                let end = &ends[sequence * state_len..][..state_len];
                let mut together = vec![0.0; length * case.hidden];
                for (step, row) in together.chunks_exact_mut(case.hidden).enumerate() {
                    batch.states().read_step(sequence, step, row);
                }
                let alone = Panels::from_time_major(isa, &input, length, case.inputs, &[length]);
                let mut trace = Trace::default();
                infer(&cell, &alone, Some(initial), &mut trace);
                let what = format!("{isa:?}, {}, sequence {sequence}", case.name);
                assert_eq!(bits(&trace.states().to_time_major()), bits(&together), "{what}, alone");
                assert_eq!(bits(&trace.last_state()), bits(end), "{what}, alone");
                for cut in [0, length / 2] {
                    let (mut state, mut found, mut piece) = (initial.to_vec(), Vec::new(), Vec::new());
                    for part in [&input[..cut * case.inputs], &input[cut * case.inputs..]] {
                        runner.run(part, &mut state, &mut piece);
                        found.extend_from_slice(&piece);
                    }
                    assert_eq!(bits(&found), bits(&together), "{what}, cut at {cut}");
                    assert_eq!(bits(&state), bits(end), "{what}, cut at {cut}");
                }
            }
        }
    }
}

#[test]
fn nan_in_the_input_is_never_hidden() {
    for gates in GATES {
        let mut case = cases::<f32>().into_iter().find(|case| case.gates == gates).unwrap();
        case.numbers[5][0] = f32::NAN;
        for activation in ACTIVATIONS {
            case.activation = activation;
            for isa in Isa::available() {
                assert!(
                    case.run(isa).states().to_time_major().iter().any(|h| h.is_nan()),
                    "{isa:?} {gates:?} {activation:?}"
                );
            }
        }
    }
}

/// Operands so wide that the weight gradients go the other way, with sizes that are no multiple of a register.
#[test]
fn wide_cells_have_the_same_gradients_in_both_precisions() {
    let mut numbers = Numbers(3);
    for (case, double) in cases_of::<f32>(WIDE).into_iter().zip(cases_of::<f64>(WIDE)) {
        let mut single = case;
        single.numbers = double
            .numbers
            .clone()
            .map(|tensor| tensor.iter().map(|&value| value as f32).collect());
        for isa in Isa::available() {
            let (found, expected) = (gradients(&single, isa), gradients(&double, isa));
            for (tensor, (found, expected)) in found.iter().zip(&expected).enumerate() {
                for (found, expected) in found.iter().zip(expected) {
                    let what = format!("{isa:?}, {}, tensor {tensor}", single.name);
                    assert_close(f64::from(*found), *expected, 2e-3, &what);
                }
            }
        }
        // And in double precision they are those of the formula, along a random direction in each tensor.
        let step = 1e-6;
        for (tensor, analytic) in gradients(&double, Isa::best()).into_iter().enumerate() {
            if analytic.is_empty() || tensor == 4 {
                continue;
            }
            let direction: Vec<f64> = numbers.vector(analytic.len(), 1.0);
            let mut moved = double.clone();
            let mut shifted = |by: f64| {
                for ((value, &from), &to) in moved.numbers[tensor]
                    .iter_mut()
                    .zip(&double.numbers[tensor])
                    .zip(&direction)
                {
                    *value = from + by * to;
                }
                loss(&moved, Isa::best())
            };
            let numeric = (shifted(step) - shifted(-step)) / (2.0 * step);
            let slope: f64 = analytic.iter().zip(&direction).map(|(a, b)| a * b).sum();
            let smooth = single.gate == Activation::Sigmoid
                && [Activation::Tanh, Activation::Sigmoid].contains(&single.activation);
            if smooth {
                assert_close(slope, numeric, 1e-6, &format!("{}, tensor {tensor}", double.name));
            }
        }
    }
}
