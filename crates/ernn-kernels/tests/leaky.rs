//! The kernels of the leaky family against a plain loop written from the formula, against finite differences, and against
//! themselves: threads, padding, instruction sets, one sequence or many.

mod support;

use ernn_kernels::leaky::{Leaky, LeakyGradient, Recurrent, SequenceRunner};
use ernn_kernels::{Activation, Isa, Panels, Real, StateGradient, Trace, backward, forward, infer};
use support::{ACTIVATIONS, Numbers, activate, all_weight, assert_close, bits, doubles, times};

/// A cell that owns its numbers, with a batch.
#[derive(Clone)]
struct Case<F> {
    name: String,
    inputs: usize,
    hidden: usize,
    rank: Option<usize>,
    activation: Activation,
    iterations: usize,
    start_scale: f64,
    previous_scale: f64,
    identity: f64,
    lengths: Vec<usize>,
    /// W, b, R or A, B, a, e, x (time-major), h_0.
    numbers: [Vec<F>; 8],
}

impl<F: Real> Case<F> {
    fn cell(&self) -> Leaky<'_, F> {
        let [w, b, left, right, decay, gain, _, _] = &self.numbers;
        Leaky {
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
            activation: self.activation,
            iterations: self.iterations,
            start_scale: F::from_f64(self.start_scale),
            previous_scale: F::from_f64(self.previous_scale),
            decay,
            gain,
            learned_steps: true,
            first_step: 0,
        }
    }

    fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    fn input(&self, isa: Isa) -> Panels<F> {
        Panels::from_time_major(isa, &self.numbers[6], self.steps(), self.inputs, &self.lengths)
    }

    fn run(&self, isa: Isa) -> Trace<F> {
        let mut trace = Trace::default();
        forward(&self.cell(), &self.input(isa), Some(&self.numbers[7]), &mut trace);
        trace
    }
}

fn cases<F: Real>() -> Vec<Case<F>> {
    cases_of([(1, 1), (2, 5), (9, 13), (3, 8)])
}

/// Sizes that are no multiple of a register, some of them of several panels of one sequence's weights.
const WIDE: [(usize, usize); 4] = [(9, 37), (35, 113), (70, 33), (3, 101)];

/// Cases of these input and hidden sizes.
fn cases_of<F: Real>(sizes_of: [(usize, usize); 4]) -> Vec<Case<F>> {
    let mut cases = Vec::new();
    let many: Vec<usize> = (0..19).map(|index| 1 + index * 5 % 7).collect();
    let batches = [vec![5, 5, 5], vec![7, 1, 0, 12, 5], vec![1], many, vec![40, 70]];
    let starts = [(2.0, 1.0), (1.0, 1.0), (0.0, -1.0), (-1.0, -1.0), (1.0, 0.0)];
    let mut numbers = Numbers(7);
    for rank in [None, Some(1), Some(3), Some(7)] {
        for iterations in [1, 2, 5] {
            for (index, &(start_scale, previous_scale)) in starts.iter().enumerate() {
                let activation = ACTIVATIONS[cases.len() % 5];
                let lengths = batches[cases.len() % batches.len()].clone();
                let (inputs, hidden) = sizes_of[(cases.len() + index) % 4];
                let rows = lengths.iter().max().unwrap().saturating_sub(cases.len() % 3).max(1);
                let scale = 1.0 / (hidden as f64).sqrt();
                let columns = rank.unwrap_or(hidden);
                let step = rows * iterations;
                let gain: Vec<F> = numbers.vector(step, 0.3);
                let decay = gain
                    .iter()
                    .map(|&eta| F::ONE - eta + F::from_f64(numbers.next() * 0.1))
                    .collect();
                cases.push(Case {
                    name: format!(
                        "rank {rank:?}, K {iterations}, c0 {start_scale}, s {previous_scale}, {activation:?}, d {inputs}, \
                         D {hidden}, lengths {lengths:?}"
                    ),
                    inputs,
                    hidden,
                    rank,
                    activation,
                    iterations,
                    start_scale,
                    previous_scale,
                    identity: 0.4,
                    numbers: [
                        numbers.vector(hidden * inputs, 0.7),
                        numbers.vector(hidden, 0.5),
                        numbers.vector(hidden * columns, scale),
                        numbers.vector(rank.map_or(0, |rank| rank * hidden), scale),
                        decay,
                        gain,
                        numbers.vector(lengths.iter().max().unwrap() * lengths.len() * inputs, 1.0),
                        numbers.vector(lengths.len() * hidden, 0.5),
                    ],
                    lengths,
                });
            }
        }
    }
    cases
}

/// The formula, literally, for one sequence: all states, `[length][D]`.
fn plain<F: Real>(case: &Case<F>, sequence: usize) -> Vec<Vec<f64>> {
    let numbers: Vec<Vec<f64>> = case.numbers.iter().map(|values| doubles(values)).collect();
    let [w, b, left, right, decay, gain, x, initial] = &numbers[..] else {
        unreachable!()
    };
    let (d, hidden, k) = (case.inputs, case.hidden, case.iterations);
    let recurrent = |z: &[f64]| -> Vec<f64> {
        match case.rank {
            None => times(left, hidden, z),
            Some(rank) => {
                let product = times(left, rank, &times(right, hidden, z));
                product.iter().zip(z).map(|(p, z)| p + case.identity * z).collect()
            }
        }
    };
    let mut h = initial[sequence * hidden..][..hidden].to_vec();
    let mut states = Vec::new();
    for step in 0..case.lengths[sequence] {
        let at = &x[(step * case.lengths.len() + sequence) * d..][..d];
        let drive: Vec<f64> = (0..hidden)
            .map(|i| b[i] + w[i * d..][..d].iter().zip(at).map(|(w, x)| w * x).sum::<f64>())
            .collect();
        let mut z: Vec<f64> = h.iter().map(|h| case.start_scale * h).collect();
        for i in 0..k {
            let index = step.min(decay.len() / k - 1) * k + i;
            let product = recurrent(&z);
            for unit in 0..hidden {
                let value = activate(case.activation, product[unit] + drive[unit]);
                z[unit] = decay[index] * z[unit] + gain[index] * value;
            }
        }
        for unit in 0..hidden {
            h[unit] = z[unit] - case.previous_scale * h[unit];
        }
        states.push(h.clone());
    }
    states
}

fn states_follow_the_formula<F: Real>(tolerance: f64) {
    for case in cases::<F>() {
        for isa in Isa::available() {
            let trace = case.run(isa);
            let mut row = vec![F::ZERO; case.hidden];
            for sequence in 0..case.lengths.len() {
                for (step, expected) in plain(&case, sequence).iter().enumerate() {
                    trace.states().read_step(sequence, step, &mut row);
                    for (found, expected) in row.iter().zip(expected) {
                        let what = format!("{isa:?}, {}, sequence {sequence}, step {step}", case.name);
                        assert_close(found.to_f64(), *expected, tolerance, &what);
                    }
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

/// A loss that looks at all states and, more, at the last ones: `sum of weight * h^2 / 2`.
fn loss(case: &Case<f64>, isa: Isa) -> f64 {
    let trace = case.run(isa);
    let all: f64 = trace
        .states()
        .to_time_major()
        .iter()
        .enumerate()
        .map(|(i, h)| all_weight(i) * h * h / 2.0)
        .sum();
    let last: f64 = trace.states().last_steps().iter().map(|h| h * h).sum();
    all + last
}

struct Gradients<F: Real> {
    cell: LeakyGradient<F>,
    input: Panels<F>,
    initial: Vec<F>,
}

fn gradients<F: Real>(case: &Case<F>, isa: Isa) -> Gradients<F> {
    let (cell, input) = (case.cell(), case.input(isa));
    let mut trace = case.run(isa);
    let steps = case.steps();
    let states = trace.states().to_time_major();
    let weighted: Vec<F> = states
        .iter()
        .enumerate()
        .map(|(i, &h)| F::from_f64(all_weight(i)) * h)
        .collect();
    let all = Panels::from_time_major(isa, &weighted, steps, case.hidden, &case.lengths);
    let last: Vec<F> = trace.states().last_steps().iter().map(|&h| h + h).collect();
    let mut out = Gradients {
        cell: LeakyGradient::default(),
        input: Panels::new(isa, case.inputs, &case.lengths),
        initial: Vec::new(),
    };
    let states = StateGradient {
        last: Some(&last),
        all: Some(&all),
        ..StateGradient::default()
    };
    backward(
        &cell,
        &input,
        &mut trace,
        states,
        &mut out.cell,
        Some(&mut out.input),
        Some(&mut out.initial),
    );
    out
}

#[test]
fn gradients_match_finite_differences() {
    // Small enough that a kink of the ReLU is all but never stepped over.
    let step = 1e-7;
    for case in cases::<f64>() {
        for isa in Isa::available() {
            let gradients = gradients(&case, isa);
            let c = &gradients.cell;
            let analytic: [&[f64]; 8] = [
                &c.input_weight,
                &c.bias,
                &c.left,
                &c.right,
                &c.decay,
                &c.gain,
                &gradients.input.to_time_major(),
                &gradients.initial,
            ];
            for (tensor, analytic) in analytic.into_iter().enumerate() {
                assert_eq!(
                    analytic.len(),
                    case.numbers[tensor].len(),
                    "{}, tensor {tensor}",
                    case.name
                );
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
        let mut reference = None;
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| {
                let g = gradients(&case, Isa::best());
                let c = &g.cell;
                let all = [
                    &c.input_weight,
                    &c.bias,
                    &c.left,
                    &c.right,
                    &c.decay,
                    &c.gain,
                    &g.initial,
                ];
                (all.map(|part| bits(part)), bits(&g.input.to_time_major()))
            });
            assert_eq!(
                &found,
                reference.get_or_insert_with(|| found.clone()),
                "{threads} threads, {}",
                case.name
            );
        }
    }
}

/// Each sequence alone, in a batch, in a batch with NaN behind its end, and through the single-sequence kernel, whole and in
/// two pieces.
#[test]
fn a_sequence_gets_the_same_bits_everywhere() {
    for case in cases::<f32>().into_iter().chain(cases_of(WIDE)) {
        for isa in Isa::available() {
            let cell = case.cell();
            let batch = case.run(isa);
            let mut padded = case.clone();
            let steps = case.steps();
            for (sequence, &length) in case.lengths.iter().enumerate() {
                for step in length..steps {
                    let at = (step * case.lengths.len() + sequence) * case.inputs;
                    padded.numbers[6][at..at + case.inputs].fill(f32::NAN);
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
                        case.numbers[6][at..at + case.inputs].to_vec()
                    })
                    .collect();
                let initial = &case.numbers[7][sequence * case.hidden..][..case.hidden];
                let mut together = vec![0.0; length * case.hidden];
                for (step, row) in together.chunks_exact_mut(case.hidden).enumerate() {
                    batch.states().read_step(sequence, step, row);
                }
                let alone = Panels::from_time_major(isa, &input, length, case.inputs, &[length]);
                let mut trace = Trace::default();
                infer(&cell, &alone, Some(initial), &mut trace);
                assert_eq!(
                    bits(&trace.states().to_time_major()),
                    bits(&together),
                    "{isa:?}, {}, alone",
                    case.name
                );
                for cut in [0, length / 2] {
                    let (mut state, mut found, mut piece) = (initial.to_vec(), Vec::new(), Vec::new());
                    let (first, second) = input.split_at(cut * case.inputs);
                    for (from, part) in [(0, first), (cut, second)] {
                        runner.run(part, from, &mut state, &mut piece);
                        found.extend_from_slice(&piece);
                    }
                    assert_eq!(bits(&found), bits(&together), "{isa:?}, {}, cut at {cut}", case.name);
                }
            }
        }
    }
}

#[test]
fn nan_in_the_input_is_never_hidden() {
    let mut case = cases::<f32>().swap_remove(0);
    case.numbers[6][0] = f32::NAN;
    for activation in ACTIVATIONS {
        case.activation = activation;
        for isa in Isa::available() {
            assert!(
                case.run(isa).states().to_time_major().iter().any(|h| h.is_nan()),
                "{isa:?} {activation:?}"
            );
        }
    }
}

#[test]
#[should_panic(expected = "the input is [T,d]")]
fn one_sequence_is_a_whole_number_of_steps() {
    let case = cases::<f32>()
        .into_iter()
        .find(|case| case.inputs > 1)
        .expect("a case of several inputs");
    let input = vec![0.0; case.inputs + 1];
    SequenceRunner::new(Isa::best(), &case.cell()).run(&input, 0, &mut vec![0.0; case.hidden], &mut Vec::new());
}

/// Two pieces with the state carried, and each piece's place in the sequence.
#[test]
fn pieces_give_the_bits_of_the_whole() {
    for case in cases::<f32>() {
        let isa = Isa::best();
        let whole = case.run(isa);
        let cut = case.steps() / 2;
        let count = case.lengths.len();
        let mut state = case.numbers[7].clone();
        let mut found = Vec::new();
        for (from, to) in [(0, cut), (cut, case.steps())] {
            let lengths: Vec<usize> = case.lengths.iter().map(|&len| len.clamp(from, to) - from).collect();
            let values = &case.numbers[6][from * count * case.inputs..to * count * case.inputs];
            let input = Panels::from_time_major(isa, values, to - from, case.inputs, &lengths);
            let cell = Leaky {
                first_step: from,
                ..case.cell()
            };
            let mut trace = Trace::default();
            infer(&cell, &input, Some(&state), &mut trace);
            found.push((from, lengths, trace.states().clone()));
            state = trace.last_state();
        }
        assert_eq!(bits(&state), bits(&whole.last_state()), "{}", case.name);
        let (mut piece_row, mut whole_row) = (vec![0.0; case.hidden], vec![0.0; case.hidden]);
        for (from, lengths, states) in found {
            for (sequence, &length) in lengths.iter().enumerate() {
                for step in 0..length {
                    states.read_step(sequence, step, &mut piece_row);
                    whole.states().read_step(sequence, from + step, &mut whole_row);
                    assert_eq!(bits(&piece_row), bits(&whole_row), "{}", case.name);
                }
            }
        }
    }
}
