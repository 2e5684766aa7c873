//! The kernels of the deep family against a plain loop written from the formula, against finite differences, against the leaky
//! family, and against themselves: threads, padding, pieces, one sequence or many.

mod support;

use ernn_kernels::deep::{Deep, DeepGradient, DeepLayer, SequenceRunner};
use ernn_kernels::leaky::{Leaky, LeakyGradient, Recurrent};
use ernn_kernels::{Activation, Isa, Panels, Real, Recurrence, StateGradient, Trace, backward, forward, infer};
use support::{ACTIVATIONS, Numbers, activate, all_weight, assert_close, bits, doubles, times};

/// `d`, and the layers' widths; the last one is `D`.
const SHAPES: [(usize, &[usize]); 9] = [
    (1, &[1]),
    (2, &[5]),
    (9, &[13]),
    (2, &[3, 5]),
    (3, &[20, 13]),
    (3, &[8, 8]),
    (4, &[11, 4, 8]),
    (2, &[1, 7, 5]),
    (1, &[3, 1]),
];

/// A cell that owns its numbers, with a batch.
#[derive(Clone)]
struct Case<F> {
    name: String,
    inputs: usize,
    widths: &'static [usize],
    activation: Activation,
    iterations: usize,
    start_scale: f64,
    previous_scale: f64,
    learned_steps: bool,
    lengths: Vec<usize>,
    /// W; weight and bias of each layer; a, e, x (time-major), h_0.
    numbers: Vec<Vec<F>>,
}

impl<F: Real> Case<F> {
    fn hidden(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    fn layers(&self) -> Vec<DeepLayer<'_, F>> {
        let layer = |(index, &width): (usize, &usize)| DeepLayer {
            width,
            weight: &self.numbers[1 + 2 * index],
            bias: &self.numbers[2 + 2 * index],
        };
        self.widths.iter().enumerate().map(layer).collect()
    }

    /// a, e, x, h_0.
    fn others(&self) -> &[Vec<F>] {
        &self.numbers[1 + 2 * self.widths.len()..]
    }

    /// The input's place among the numbers.
    fn input_index(&self) -> usize {
        self.numbers.len() - 2
    }

    fn cell<'a>(&'a self, layers: &'a [DeepLayer<'a, F>]) -> Deep<'a, F> {
        Deep {
            inputs: self.inputs,
            hidden: self.hidden(),
            input_weight: &self.numbers[0],
            layers,
            activation: self.activation,
            iterations: self.iterations,
            start_scale: F::from_f64(self.start_scale),
            previous_scale: F::from_f64(self.previous_scale),
            decay: &self.others()[0],
            gain: &self.others()[1],
            learned_steps: self.learned_steps,
            first_step: 0,
        }
    }

    /// The same cell in the leaky family.
    fn leaky(&self) -> Leaky<'_, F> {
        assert_eq!(self.widths.len(), 1);
        Leaky {
            inputs: self.inputs,
            hidden: self.hidden(),
            input_weight: &self.numbers[0],
            bias: &self.numbers[2],
            recurrent: Recurrent::Dense(&self.numbers[1]),
            activation: self.activation,
            iterations: self.iterations,
            start_scale: F::from_f64(self.start_scale),
            previous_scale: F::from_f64(self.previous_scale),
            decay: &self.others()[0],
            gain: &self.others()[1],
            learned_steps: self.learned_steps,
            first_step: 0,
        }
    }

    fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    fn input(&self, isa: Isa) -> Panels<F> {
        Panels::from_time_major(isa, &self.others()[2], self.steps(), self.inputs, &self.lengths)
    }

    fn run(&self, isa: Isa) -> Trace<F> {
        let mut trace = Trace::default();
        let layers = self.layers();
        forward(
            &self.cell(&layers),
            &self.input(isa),
            Some(&self.others()[3]),
            &mut trace,
        );
        trace
    }

    /// The steps `[from, to)` of one sequence, `[to - from, d]`.
    fn steps_of(&self, sequence: usize, from: usize, to: usize) -> Vec<F> {
        let row = |step| (step * self.lengths.len() + sequence) * self.inputs;
        let rows = (from..to).map(|step| &self.others()[2][row(step)..][..self.inputs]);
        rows.flatten().copied().collect()
    }

    /// NaN behind the end of every sequence.
    fn padded_with_nan(&self) -> Case<F> {
        let mut padded = self.clone();
        let input = self.input_index();
        for (sequence, &length) in self.lengths.iter().enumerate() {
            for step in length..self.steps() {
                let at = (step * self.lengths.len() + sequence) * self.inputs;
                padded.numbers[input][at..at + self.inputs].fill(F::from_f64(f64::NAN));
            }
        }
        padded
    }
}

fn cases<F: Real>() -> Vec<Case<F>> {
    let mut cases = Vec::new();
    let many: Vec<usize> = (0..19).map(|index| 1 + index * 5 % 7).collect();
    let batches = [vec![5, 5, 5], vec![7, 1, 0, 12, 5], vec![1], many, vec![40, 70]];
    let starts = [(2.0, 1.0), (1.0, 1.0), (0.0, -1.0), (-1.0, -1.0), (1.0, 0.0)];
    let mut numbers = Numbers(23);
    for (shape, &(inputs, widths)) in SHAPES.iter().enumerate() {
        for iterations in [1, 3] {
            for variant in 0..3 {
                let index = cases.len();
                let (start_scale, previous_scale) = starts[(index + shape) % 5];
                let activation = ACTIVATIONS[(index / 2 + 2 * variant) % 5];
                let lengths = batches[(index + variant) % 5].clone();
                let (steps, hidden) = (*lengths.iter().max().unwrap(), widths[widths.len() - 1]);
                let rows = steps.saturating_sub(index % 3).max(1);
                let mut all = vec![numbers.vector(widths[0] * inputs, 0.7)];
                let mut columns = hidden;
                for &width in widths {
                    all.push(numbers.vector(width * columns, 1.2 / (columns as f64).sqrt()));
                    all.push(numbers.vector(width, 0.5));
                    columns = width;
                }
                let gain: Vec<F> = numbers.vector(rows * iterations, 0.3);
                let near_one = |&eta: &F| F::ONE - eta + F::from_f64(numbers.next() * 0.1);
                all.push(gain.iter().map(near_one).collect());
                all.push(gain);
                all.push(numbers.vector(steps * lengths.len() * inputs, 1.0));
                all.push(numbers.vector(lengths.len() * hidden, 0.5));
                cases.push(Case {
                    name: format!(
                        "widths {widths:?}, K {iterations}, c0 {start_scale}, s {previous_scale}, {activation:?}, \
                         d {inputs}, lengths {lengths:?}"
                    ),
                    inputs,
                    widths,
                    activation,
                    iterations,
                    start_scale,
                    previous_scale,
                    learned_steps: true,
                    lengths,
                    numbers: all,
                });
            }
        }
    }
    cases
}

/// The formula, literally, for one sequence: all states, `[length][D]`.
fn plain<F: Real>(case: &Case<F>, sequence: usize) -> Vec<Vec<f64>> {
    let numbers: Vec<Vec<f64>> = case.numbers.iter().map(|values| doubles(values)).collect();
    let [decay, gain, x, initial] = &numbers[1 + 2 * case.widths.len()..] else {
        unreachable!()
    };
    let (d, hidden, k) = (case.inputs, case.hidden(), case.iterations);
    let mut h = initial[sequence * hidden..][..hidden].to_vec();
    let mut states = Vec::new();
    for step in 0..case.lengths[sequence] {
        let from_input = times(&numbers[0], d, &x[(step * case.lengths.len() + sequence) * d..][..d]);
        let mut z: Vec<f64> = h.iter().map(|h| case.start_scale * h).collect();
        for i in 0..k {
            let mut outputs = z.clone();
            for layer in 0..case.widths.len() {
                let mut sums = times(&numbers[1 + 2 * layer], outputs.len(), &outputs);
                for (unit, sum) in sums.iter_mut().enumerate() {
                    *sum += numbers[2 + 2 * layer][unit];
                    if layer == 0 {
                        *sum += from_input[unit];
                    }
                }
                outputs = sums.iter().map(|&sum| activate(case.activation, sum)).collect();
            }
            let index = step.min(decay.len() / k - 1) * k + i;
            for unit in 0..hidden {
                z[unit] = decay[index] * z[unit] + gain[index] * outputs[unit];
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
            let mut row = vec![F::ZERO; case.hidden()];
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
    let states = trace.states().to_time_major();
    let all = states.iter().enumerate().map(|(i, h)| all_weight(i) * h * h / 2.0);
    all.sum::<f64>() + trace.states().last_steps().iter().map(|h| h * h).sum::<f64>()
}

/// Gradients of any cell at the case's input: of the cell's numbers, of x and of h_0.
fn gradients_of<F: Real, C: Recurrence<F>>(
    case: &Case<F>,
    cell: &C,
    trace: &mut Trace<F>,
    isa: Isa,
    gradient: &mut C::Gradient,
) -> [Vec<F>; 2] {
    let input = case.input(isa);
    forward(cell, &input, Some(&case.others()[3]), trace);
    let states = trace.states().to_time_major();
    let weighted: Vec<F> = states
        .iter()
        .enumerate()
        .map(|(i, &h)| F::from_f64(all_weight(i)) * h)
        .collect();
    let all = Panels::from_time_major(isa, &weighted, case.steps(), case.hidden(), &case.lengths);
    let last: Vec<F> = trace.states().last_steps().iter().map(|&h| h + h).collect();
    let (mut at_input, mut at_initial) = (Panels::new(isa, case.inputs, &case.lengths), Vec::new());
    let states = StateGradient {
        last: Some(&last),
        all: Some(&all),
        ..StateGradient::default()
    };
    backward(
        cell,
        &input,
        trace,
        states,
        gradient,
        Some(&mut at_input),
        Some(&mut at_initial),
    );
    [at_input.to_time_major(), at_initial]
}

/// The gradients in the order of the case's numbers; gradient and trace may come from another case.
fn gradients_into<F: Real>(
    case: &Case<F>,
    isa: Isa,
    trace: &mut Trace<F>,
    gradient: &mut DeepGradient<F>,
) -> Vec<Vec<F>> {
    let layers = case.layers();
    let outside = gradients_of(case, &case.cell(&layers), trace, isa, gradient);
    assert_eq!(gradient.weights.len(), case.widths.len());
    assert_eq!(gradient.biases.len(), case.widths.len());
    let mut all = vec![gradient.input_weight.clone()];
    for (weight, bias) in gradient.weights.iter().zip(&gradient.biases) {
        all.extend([weight.clone(), bias.clone()]);
    }
    all.extend([gradient.decay.clone(), gradient.gain.clone()]);
    all.extend(outside);
    all
}

fn gradients<F: Real>(case: &Case<F>, isa: Isa) -> Vec<Vec<F>> {
    gradients_into(case, isa, &mut Trace::default(), &mut DeepGradient::default())
}

fn all_bits<F: Real>(parts: &[Vec<F>]) -> Vec<Vec<u64>> {
    parts.iter().map(|part| bits(part)).collect()
}

#[test]
fn gradients_match_finite_differences() {
    // Small enough that no kink is stepped over, large enough for the rounding of a loss of a thousand.
    let step = 1e-6;
    for case in cases::<f64>() {
        for isa in Isa::available() {
            let analytic = gradients(&case, isa);
            assert_eq!(analytic.len(), case.numbers.len(), "{}", case.name);
            for (tensor, analytic) in analytic.iter().enumerate() {
                assert_eq!(analytic.len(), case.numbers[tensor].len(), "{}, {tensor}", case.name);
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

/// States and all gradients of a network of one layer.
#[test]
fn one_layer_is_a_dense_leaky_cell() {
    for case in cases::<f64>().iter().filter(|case| case.widths.len() == 1) {
        for isa in Isa::available() {
            let deep = gradients(case, isa);
            let (mut trace, mut gradient) = (Trace::default(), LeakyGradient::default());
            let [at_input, at_initial] = gradients_of(case, &case.leaky(), &mut trace, isa, &mut gradient);
            let LeakyGradient {
                input_weight,
                bias,
                left,
                decay,
                gain,
                ..
            } = gradient;
            let leaky = [input_weight, left, bias, decay, gain, at_input, at_initial];
            let states = [trace.states().to_time_major(), case.run(isa).states().to_time_major()];
            let pairs = leaky.iter().zip(&deep).chain([(&states[0], &states[1])]);
            for (tensor, (leaky, deep)) in pairs.enumerate() {
                assert_eq!(leaky.len(), deep.len());
                for (leaky, deep) in leaky.iter().zip(deep) {
                    assert_close(
                        *deep,
                        *leaky,
                        1e-13,
                        &format!("{isa:?}, {}, tensor {tensor}", case.name),
                    );
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
            // The batch of 19 is several blocks in narrow registers only.
            pool.install(|| {
                Isa::available()
                    .into_iter()
                    .map(|isa| all_bits(&gradients(&case, isa)))
                    .collect::<Vec<_>>()
            })
        });
        assert_eq!(found[0], found[1], "{}", case.name);
        assert_eq!(found[0], found[2], "{}", case.name);
    }
}

/// Each sequence alone, in a batch, in a batch with NaN behind its end, and through the single-sequence kernel, whole and in
/// two pieces.
#[test]
fn a_sequence_gets_the_same_bits_everywhere() {
    for case in cases::<f32>() {
        for isa in Isa::available() {
            let (layers, batch, hidden) = (case.layers(), case.run(isa), case.hidden());
            let cell = case.cell(&layers);
            let padded = case.padded_with_nan();
            assert_eq!(
                bits(&batch.states().to_time_major()),
                bits(&padded.run(isa).states().to_time_major()),
                "{}",
                case.name
            );
            let (whole, padded) = (gradients(&case, isa), gradients(&padded, isa));
            assert_eq!(all_bits(&whole), all_bits(&padded), "{}", case.name);
            let mut runner = SequenceRunner::new(isa, &cell);
            for (sequence, &length) in case.lengths.iter().enumerate() {
                let initial = &case.others()[3][sequence * hidden..][..hidden];
                let mut together = vec![0.0; length * hidden];
                for (step, row) in together.chunks_exact_mut(hidden).enumerate() {
                    batch.states().read_step(sequence, step, row);
                }
                let what = format!("{isa:?}, {}, sequence {sequence}", case.name);
                let input = case.steps_of(sequence, 0, length);
                let alone = Panels::from_time_major(isa, &input, length, case.inputs, &[length]);
                let mut trace = Trace::default();
                infer(&cell, &alone, Some(initial), &mut trace);
                assert_eq!(bits(&trace.states().to_time_major()), bits(&together), "{what}, alone");
                for cut in [0, length / 2] {
                    let (mut state, mut found, mut piece) = (initial.to_vec(), Vec::new(), Vec::new());
                    for (from, to) in [(0, cut), (cut, length)] {
                        runner.run(&case.steps_of(sequence, from, to), from, &mut state, &mut piece);
                        found.extend_from_slice(&piece);
                    }
                    assert_eq!(bits(&found), bits(&together), "{what}, cut at {cut}");
                    assert_eq!(bits(&state), bits(&trace.last_state()), "{what}, cut at {cut}");
                }
            }
        }
    }
}

/// Two pieces with the state carried, and each piece's place in the sequence.
#[test]
fn pieces_give_the_bits_of_the_whole() {
    for case in cases::<f32>() {
        let isa = Isa::best();
        let (layers, whole, cut) = (case.layers(), case.run(isa), case.steps() / 2);
        let (count, mut state) = (case.lengths.len(), case.others()[3].clone());
        let (mut piece_row, mut whole_row) = (vec![0.0; case.hidden()], vec![0.0; case.hidden()]);
        for (from, to) in [(0, cut), (cut, case.steps())] {
            let lengths: Vec<usize> = case.lengths.iter().map(|&len| len.clamp(from, to) - from).collect();
            let values = &case.others()[2][from * count * case.inputs..to * count * case.inputs];
            let input = Panels::from_time_major(isa, values, to - from, case.inputs, &lengths);
            let cell = Deep {
                first_step: from,
                ..case.cell(&layers)
            };
            let mut trace = Trace::default();
            infer(&cell, &input, Some(&state), &mut trace);
            for (sequence, &length) in lengths.iter().enumerate() {
                for step in 0..length {
                    trace.states().read_step(sequence, step, &mut piece_row);
                    whole.states().read_step(sequence, from + step, &mut whole_row);
                    assert_eq!(bits(&piece_row), bits(&whole_row), "{}", case.name);
                }
            }
            state = trace.last_state();
        }
        assert_eq!(bits(&state), bits(&whole.last_state()), "{}", case.name);
    }
}

/// One trace and one gradient for cells of any number of layers, one after the other; and step sizes that are not learned.
#[test]
fn buffers_are_reused_from_cell_to_cell() {
    let (mut trace, mut gradient) = (Trace::default(), DeepGradient::default());
    for mut case in cases::<f32>().into_iter().rev() {
        case.learned_steps = case.iterations == 3;
        let reused = gradients_into(&case, Isa::best(), &mut trace, &mut gradient);
        let fresh = gradients(&case, Isa::best());
        assert_eq!(all_bits(&reused), all_bits(&fresh), "{}", case.name);
        let zero = gradient.decay.iter().chain(&gradient.gain).all(|&value| value == 0.0);
        assert_eq!(zero, !case.learned_steps, "{}", case.name);
    }
}

/// Behind its end a sequence stands still at 0, so that a long batch cannot drive it to infinity, and 0 times infinity into
/// the gradients.
#[test]
fn a_sequence_that_has_ended_is_zero() {
    for case in cases::<f32>().iter().filter(|case| case.lengths == [7, 1, 0, 12, 5]) {
        for isa in Isa::available() {
            let trace = case.run(isa);
            let mut row = vec![1.0; case.hidden()];
            for (sequence, &length) in case.lengths.iter().enumerate() {
                for step in length..case.steps() {
                    trace.states().read_step(sequence, step, &mut row);
                    assert!(row.iter().all(|&h| h == 0.0), "{isa:?}, {}, {row:?}", case.name);
                }
            }
        }
    }
}

/// The memory of a trace depends on the states alone, not on iterations or layers.
#[test]
fn only_the_states_are_kept() {
    let lengths = [300; 40];
    let mut found = Vec::new();
    for case in cases::<f32>().iter().filter(|case| case.hidden() == 13) {
        let layers = case.layers();
        let mut trace = Trace::default();
        let input = Panels::new(Isa::best(), case.inputs, &lengths);
        forward(&case.cell(&layers), &input, None, &mut trace);
        found.push(trace.capacity());
    }
    let states = Panels::<f32>::new(Isa::best(), 13, &lengths);
    let most = (lengths[0] + 1) * states.blocks() * states.lanes() * 13 + 100;
    assert!(found.len() > 6 && found.iter().all(|&size| size <= most), "{found:?}");
}

#[test]
fn nan_in_the_input_is_never_hidden() {
    let mut case = cases::<f32>().into_iter().find(|case| case.widths.len() == 3).unwrap();
    let input = case.input_index();
    case.numbers[input][0] = f32::NAN;
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
#[should_panic(expected = "the last layer is as wide as the state")]
fn the_last_layer_is_as_wide_as_the_state() {
    let case = cases::<f32>().into_iter().find(|case| case.widths == [3, 5]).unwrap();
    let layers = case.layers();
    let weight = vec![0.0; 3 * 4];
    let first = DeepLayer {
        weight: &weight,
        ..layers[0]
    };
    let layers = [first, layers[1]];
    let cell = Deep {
        hidden: 4,
        ..case.cell(&layers)
    };
    infer(&cell, &case.input(Isa::best()), None, &mut Trace::default());
}

#[test]
#[should_panic(expected = "the input is [T,d]")]
fn one_sequence_is_a_whole_number_of_steps() {
    let case = cases::<f32>().into_iter().find(|case| case.inputs > 1).unwrap();
    let (layers, input) = (case.layers(), vec![0.0; case.inputs + 1]);
    let mut state = vec![0.0; case.hidden()];
    SequenceRunner::new(Isa::best(), &case.cell(&layers)).run(&input, 0, &mut state, &mut Vec::new());
}
