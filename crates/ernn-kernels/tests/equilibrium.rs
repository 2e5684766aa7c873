//! The kernels of the equilibrium family: solutions against the equation itself, gradients against finite differences and long
//! unrolling, the facts that follow from the rule, the bits, and hard cases.

mod support;

use ernn_kernels::equilibrium::{Equilibrium, Method, Outcome, SequenceRunner, Solver, Through, backward, forward};
use ernn_kernels::leaky::{LeakyGradient, Recurrent};
use ernn_kernels::{Activation, Isa, Panels, Real, StateGradient, Trace};
use support::{ACTIVATIONS, Numbers, activate, all_weight, assert_close, bits, doubles, times};

const METHODS: [Method; 3] = [Method::FixedPoint, Method::Anderson, Method::Newton];

/// A cell that owns its numbers, with a batch.
#[derive(Clone)]
struct Case<F> {
    name: String,
    inputs: usize,
    hidden: usize,
    rank: Option<usize>,
    activation: Activation,
    identity: f64,
    gamma: f64,
    previous_scale: f64,
    solver: Solver,
    lengths: Vec<usize>,
    /// W, b, R or A, B, x (time-major), h_0.
    numbers: [Vec<F>; 6],
}

impl<F: Real> Case<F> {
    fn cell(&self) -> Equilibrium<'_, F> {
        let [w, b, left, right, _, _] = &self.numbers;
        Equilibrium {
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
            gamma: F::from_f64(self.gamma),
            previous_scale: F::from_f64(self.previous_scale),
            solver: self.solver,
        }
    }

    fn steps(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    fn input(&self, isa: Isa) -> Panels<F> {
        Panels::from_time_major(isa, &self.numbers[4], self.steps(), self.inputs, &self.lengths)
    }

    fn run(&self, isa: Isa) -> Trace<F> {
        let mut trace = Trace::default();
        forward(&self.cell(), &self.input(isa), Some(&self.numbers[5]), &mut trace);
        trace
    }

    /// `R z` by the formula.
    fn recurrent(&self, z: &[f64]) -> Vec<f64> {
        let (left, right) = (doubles(&self.numbers[2]), doubles(&self.numbers[3]));
        match self.rank {
            None => times(&left, self.hidden, z),
            Some(rank) => {
                let codes = times(&right, self.hidden, z);
                let product = times(&left, rank, &codes);
                product.iter().zip(z).map(|(sum, z)| sum + self.identity * z).collect()
            }
        }
    }

    /// `phi(R z + W x + b)`.
    fn transition(&self, z: &[f64], x: &[f64]) -> Vec<f64> {
        let drive = times(&doubles(&self.numbers[0]), self.inputs, x);
        let sums = self.recurrent(z).into_iter().zip(drive).zip(doubles(&self.numbers[1]));
        sums.map(|((sum, drive), bias)| activate(self.activation, sum + drive + bias))
            .collect()
    }

    fn x(&self, sequence: usize, step: usize) -> Vec<f64> {
        let at = (step * self.lengths.len() + sequence) * self.inputs;
        doubles(&self.numbers[4][at..at + self.inputs])
    }

    /// All states time-major, by iterating the contraction 2,000 times.
    fn plain_states(&self) -> Vec<f64> {
        let (sequences, hidden) = (self.lengths.len(), self.hidden);
        let mut states = vec![0.0; self.steps() * sequences * hidden];
        for sequence in 0..sequences {
            let mut h = doubles(&self.numbers[5][sequence * hidden..(sequence + 1) * hidden]);
            for step in 0..self.lengths[sequence] {
                let x = self.x(sequence, step);
                let mut z = vec![0.0; hidden];
                for _ in 0..2000 {
                    z = self.transition(&z, &x).iter().map(|y| y / self.gamma).collect();
                }
                h = z.iter().zip(&h).map(|(z, h)| z - self.previous_scale * h).collect();
                states[(step * sequences + sequence) * hidden..][..hidden].copy_from_slice(&h);
            }
        }
        states
    }
}

/// Scales a matrix product `A B` (or `R`) so that `||c I + A B|| < norm`, by its Frobenius norm.
fn contract(numbers: &mut [Vec<f64>; 6], rank: Option<usize>, identity: f64, norm: f64) {
    let size = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let largest = size(&numbers[2]) * if rank.is_some() { size(&numbers[3]) } else { 1.0 };
    let factor = (norm - identity) / largest;
    numbers[2].iter_mut().for_each(|value| *value *= factor);
}

fn cases() -> Vec<Case<f64>> {
    let mut cases: Vec<Case<f64>> = Vec::new();
    let mut numbers = Numbers(11);
    let many: Vec<usize> = (0..19).map(|index| 1 + index * 5 % 7).collect();
    let batches = [
        vec![5, 5, 5],
        vec![7, 1, 0, 12, 5],
        vec![1],
        many,
        vec![40, 21],
        vec![4; 33],
    ];
    for rank in [None, Some(1), Some(3)] {
        for method in METHODS {
            for through in [Through::Implicit, Through::OneStep] {
                let index = cases.len();
                let activation = ACTIVATIONS[index % 5];
                let lengths = batches[index % batches.len()].clone();
                let (inputs, hidden) = [(1, 1), (2, 5), (9, 13), (3, 8)][index % 4];
                let identity = if rank.is_some() { 0.4 } else { 0.0 };
                let mut numbers = [
                    numbers.vector(hidden * inputs, 0.7),
                    numbers.vector(hidden, 0.5),
                    numbers.vector(hidden * rank.unwrap_or(hidden), 1.0),
                    numbers.vector(rank.map_or(0, |rank| rank * hidden), 1.0),
                    numbers.vector(lengths.iter().max().unwrap() * lengths.len() * inputs, 1.0),
                    numbers.vector(lengths.len() * hidden, 0.5),
                ];
                let gamma = [1.0, 1.3][index % 2];
                contract(&mut numbers, rank, identity, 0.95 * gamma);
                cases.push(Case {
                    name: format!("rank {rank:?}, {method:?}, {through:?}, {activation:?}, d {inputs}, D {hidden}, lengths {lengths:?}"),
                    inputs,
                    hidden,
                    rank,
                    activation,
                    identity,
                    gamma,
                    previous_scale: [1.0, -1.0][index / 2 % 2],
                    solver: Solver {
                        method,
                        through,
                        absolute: 1e-13,
                        relative: 0.0,
                        max_iterations: 2000,
                    },
                    lengths,
                    numbers,
                });
            }
        }
    }
    cases
}

fn single(case: &Case<f64>) -> Case<f32> {
    let numbers = |index: usize| case.numbers[index].iter().map(|&value| value as f32).collect();
    Case {
        name: case.name.clone(),
        inputs: case.inputs,
        hidden: case.hidden,
        rank: case.rank,
        activation: case.activation,
        identity: case.identity,
        gamma: case.gamma,
        previous_scale: case.previous_scale,
        solver: Solver {
            absolute: 1e-6,
            relative: 1e-6,
            ..case.solver
        },
        lengths: case.lengths.clone(),
        numbers: std::array::from_fn(numbers),
    }
}

#[test]
fn every_method_finds_the_fixed_point_of_the_formula() {
    for case in cases() {
        let expected = case.plain_states();
        for isa in Isa::available() {
            let trace = case.run(isa);
            let found = trace.states().to_time_major();
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(*found, *expected, 1e-10, &case.name);
            }
            assert!(
                trace.outcomes(&case.input(isa)).all(|outcome| outcome.converged),
                "{}",
                case.name
            );
            assert_eq!(
                trace.outcomes(&case.input(isa)).count(),
                case.lengths.iter().sum::<usize>()
            );
            let case = single(&case);
            for (found, expected) in doubles(&case.run(isa).states().to_time_major()).iter().zip(&expected) {
                assert_close(*found, *expected, 2e-4, &case.name);
            }
        }
    }
}

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
fn gradients(case: &Case<f64>, isa: Isa) -> [Vec<f64>; 7] {
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

/// `[T, d]` of one sequence.
fn sequence_input<F: Real>(case: &Case<F>, sequence: usize) -> Vec<F> {
    let rows = (0..case.lengths[sequence]).flat_map(|step| {
        let at = (step * case.lengths.len() + sequence) * case.inputs;
        &case.numbers[4][at..at + case.inputs]
    });
    rows.copied().collect()
}

#[test]
fn a_column_gets_the_same_bits_everywhere() {
    for case in cases().iter().map(single) {
        for isa in Isa::available() {
            let whole = case.run(isa).states().to_time_major();
            let (sequences, hidden) = (case.lengths.len(), case.hidden);
            let mut runner = SequenceRunner::new(isa, &case.cell());
            for sequence in 0..sequences {
                let input = sequence_input(&case, sequence);
                let initial = &case.numbers[5][sequence * hidden..(sequence + 1) * hidden];
                let (mut state, mut states) = (initial.to_vec(), Vec::new());
                runner.run(&input, &mut state, &mut states);
                let (mut single, mut streamed) = (initial.to_vec(), Vec::new());
                for (step, x) in input.chunks(case.inputs).enumerate() {
                    runner.run(x, &mut single, &mut streamed);
                    let expected = &whole[(step * sequences + sequence) * hidden..][..hidden];
                    assert_eq!(bits(&streamed), bits(expected), "{} streamed", case.name);
                    assert_eq!(
                        bits(&states[step * hidden..(step + 1) * hidden]),
                        bits(expected),
                        "{}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let mut case = cases().remove(12);
    case.lengths = vec![300, 2, 150, 299, 0, 7];
    case.numbers[4] = Numbers(5).vector(300 * 6 * case.inputs, 1.0);
    case.numbers[5] = Numbers(6).vector(6 * case.hidden, 1.0);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| gradients(&case, Isa::best()).concat())
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(bits(&one), bits(&run(threads)));
    }
}

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

fn outcomes<F: Real>(case: &Case<F>, isa: Isa) -> Vec<Outcome> {
    case.run(isa).outcomes(&case.input(isa)).collect()
}

/// `D = 4`, one column a step: `norm I` (dense or as `c I`), ReLU.
fn hard_case(method: Method, norm: f64, dense: bool, drive: f64) -> Case<f32> {
    let hidden = 4;
    let mut left = vec![0.0f32; if dense { hidden * hidden } else { hidden }];
    if dense {
        (0..hidden).for_each(|unit| left[unit * (hidden + 1)] = norm as f32);
    }
    Case {
        name: format!("{method:?}, norm {norm}, dense {dense}, drive {drive}"),
        inputs: 1,
        hidden,
        rank: if dense { None } else { Some(1) },
        activation: Activation::Relu,
        identity: norm,
        gamma: 1.0,
        previous_scale: 1.0,
        solver: Solver {
            method,
            ..Solver::default()
        },
        lengths: vec![3],
        numbers: [
            vec![1.0; hidden],
            vec![0.0; hidden],
            left,
            vec![0.0; if dense { 0 } else { hidden }],
            vec![drive as f32; 3],
            vec![0.0; hidden],
        ],
    }
}

#[test]
fn where_there_is_no_equilibrium_the_outcome_says_so() {
    for method in METHODS {
        for dense in [false, true] {
            for isa in Isa::available() {
                // z = relu(0.5 z + 1) is 2; z = relu(z + 1) has no solution; z = relu(3 z - 1) has 0 (and 1/2).
                let easy = outcomes(&hard_case(method, 0.5, dense, 1.0), isa);
                assert!(easy.iter().all(|outcome| outcome.converged), "{easy:?}");
                let none = outcomes(&hard_case(method, 1.0, dense, 1.0), isa);
                assert!(
                    none.iter().all(|outcome| !outcome.converged && outcome.residual > 0.5),
                    "{method:?}, {none:?}"
                );
                let zero = outcomes(&hard_case(method, 3.0, dense, -1.0), isa);
                assert!(zero.iter().all(|outcome| outcome.converged), "{zero:?}");
                // Zero weights: the start is the solution.
                let still = outcomes(&hard_case(method, 0.0, dense, 1.0), isa);
                assert!(still.iter().all(|outcome| outcome.converged && outcome.iterations == 0));
                // Huge inputs are still numbers; infinite ones are no solution and say so.
                let huge = outcomes(&hard_case(method, 0.5, dense, 1e30), isa);
                assert!(huge.iter().all(|outcome| outcome.converged), "{method:?}, {huge:?}");
                let infinite = outcomes(&hard_case(method, 0.5, dense, f64::INFINITY), isa);
                assert!(
                    infinite
                        .iter()
                        .all(|outcome| !outcome.converged && !outcome.residual.is_finite())
                );
                let nan = outcomes(&hard_case(method, 0.5, dense, f64::NAN), isa);
                assert!(nan.iter().all(|outcome| !outcome.converged), "{nan:?}");
            }
        }
    }
}

#[test]
fn a_column_that_fails_leaves_its_neighbors_alone() {
    for method in METHODS {
        let mut case = hard_case(method, 0.5, true, 1.0);
        case.numbers[4][1] = f32::NAN;
        let outcomes = outcomes(&case, Isa::best());
        assert_eq!(
            outcomes.iter().map(|outcome| outcome.converged).collect::<Vec<_>>(),
            [true, false, true]
        );
        let states = case.run(Isa::best()).states().to_time_major();
        assert_close(f64::from(states[0]), 2.0, 1e-5, "the step before");
    }
}

/// Absolute and relative tolerance each stop the iteration on their own.
#[test]
fn both_tolerances_are_used() {
    let iterations = |absolute: f64, relative: f64, drive: f64| {
        let mut case = hard_case(Method::FixedPoint, 0.5, true, drive);
        (case.solver.absolute, case.solver.relative) = (absolute, relative);
        outcomes(&case, Isa::best())[0].iterations
    };
    assert!(iterations(1e-2, 0.0, 1.0) < iterations(1e-5, 0.0, 1.0));
    assert!(iterations(0.0, 1e-2, 1.0) < iterations(0.0, 1e-5, 1.0));
    // A relative tolerance does not know the scale, an absolute one does.
    assert_eq!(iterations(0.0, 1e-3, 1.0), iterations(0.0, 1e-3, 1024.0));
    assert!(iterations(1e-3, 0.0, 1.0) < iterations(1e-3, 0.0, 1024.0));
}

/// Newton needs a handful of iterations where the contraction needs hundreds.
#[test]
fn newton_converges_in_few_iterations() {
    for case in cases() {
        if case.solver.method == Method::Newton {
            let most = outcomes(&case, Isa::best())
                .iter()
                .map(|outcome| outcome.iterations)
                .max();
            assert!(most <= Some(9), "{}: {most:?}", case.name);
        }
    }
}
