//! States and their gradients in rows outside of panels: the same bits as through panels, however the rows stand.

#[expect(dead_code, reason = "the cells' own tests need all of it")]
mod support;

use ernn_kernels::gated::{Gated, GatedGradient, Gates};
use ernn_kernels::leaky::Recurrent;
use ernn_kernels::{Activation, Isa, Panels, Real, StateGradient, StatesOut, StepRows, Trace};
use ernn_kernels::{backward, forward, run_into};
use support::{Numbers, bits};

const INPUTS: usize = 3;

/// Full blocks of equal lengths and of unequal ones, with blocks that are not full.
const BATCHES: [(usize, usize); 4] = [(64, 0), (64, 40), (37, 0), (37, 3)];

/// Sequences of up to 9 steps, the longest first: all alike, or `same` of each length.
fn lengths((count, same): (usize, usize)) -> Vec<usize> {
    let length = |index: usize| 9 - index.checked_div(same).unwrap_or(0).min(8);
    (0..count).map(length).collect()
}

/// An LSTM of `hidden` units with its numbers.
struct Case<F> {
    hidden: usize,
    numbers: [Vec<F>; 3],
}

impl<F: Real> Case<F> {
    fn new(hidden: usize) -> Self {
        let mut numbers = Numbers(11);
        let rows = 4 * hidden;
        Case {
            hidden,
            numbers: [
                numbers.vector(rows * INPUTS, 0.5),
                numbers.vector(rows, 0.5),
                numbers.vector(rows * hidden, 0.3),
            ],
        }
    }

    fn cell(&self) -> Gated<'_, F> {
        let [input_weight, bias, recurrent] = &self.numbers;
        Gated {
            gates: Gates::Lstm,
            inputs: INPUTS,
            hidden: self.hidden,
            input_weight,
            bias,
            recurrent: Recurrent::Dense(recurrent),
            gate: Activation::Sigmoid,
            activation: Activation::Tanh,
            scalars: [F::ZERO; 2],
        }
    }
}

fn input<F: Real>(isa: Isa, lengths: &[usize]) -> Panels<F> {
    let steps = lengths[0];
    let values = Numbers(5).vector(steps * lengths.len() * INPUTS, 1.0);
    Panels::from_time_major(isa, &values, steps, INPUTS, lengths)
}

/// Hidden sizes with and without a rest beside whole registers.
fn each_case<F: Real>(mut check: impl FnMut(&Case<F>, Isa, &[usize], bool)) {
    for hidden in [16, 21] {
        let case = Case::new(hidden);
        for batch in BATCHES {
            for isa in Isa::available() {
                for reversed in [false, true] {
                    check(&case, isa, &lengths(batch), reversed);
                }
            }
        }
    }
}

fn states_are_those_of_the_panels<F: Real>() {
    each_case::<F>(|case, isa, lengths, reversed| {
        let (cell, input) = (case.cell(), input(isa, lengths));
        let (mut trace, mut other) = (Trace::default(), Trace::default());
        forward(&cell, &input, None, &mut trace);
        let mut expected = vec![F::ZERO; lengths.iter().sum::<usize>() * case.hidden];
        let mut found = expected.clone();
        trace.states().unpack_steps(reversed, &mut expected);
        for keep in [true, false] {
            found.fill(F::from_f64(f64::NAN));
            let output = StatesOut {
                values: &mut found,
                reversed,
            };
            run_into(&cell, &input, None, &mut other, keep, output);
            assert_eq!(bits(&found), bits(&expected), "{isa:?} {lengths:?} {reversed} {keep}");
        }
    });
}

#[test]
fn states_in_rows_are_those_of_the_panels() {
    states_are_those_of_the_panels::<f32>();
    states_are_those_of_the_panels::<f64>();
}

/// Where rows of `width` numbers of sequences of up to `steps` steps stand: all starts, and the distance of two sequences.
fn layouts(steps: usize, count: usize, width: usize) -> [(Vec<usize>, usize); 3] {
    let starts = |distance: usize| (0..steps).map(|step| step * distance).collect();
    [
        (starts(count * width), width),
        (starts(width), steps * width),
        // The gradient of a sum over the steps: one row for all.
        (starts(0), width),
    ]
}

fn gradients_are_those_of_panels<F: Real>() {
    each_case::<F>(|case, isa, lengths, reversed| {
        let (cell, input, width) = (case.cell(), input(isa, lengths), case.hidden);
        let values = Numbers(3).vector(lengths[0] * lengths.len() * width, 1.0);
        for (starts, stride) in layouts(lengths[0], lengths.len(), width) {
            let rows = StepRows {
                values: &values,
                starts: &starts,
                stride,
                reversed,
            };
            let mut panels = Panels::new(isa, 1, &[]);
            panels.pack_steps(width, lengths, |sequence, step| {
                let place = if reversed { lengths[sequence] - 1 - step } else { step };
                &values[starts[place] + sequence * stride..][..width]
            });
            let in_panels = StateGradient {
                all: Some(&panels),
                ..StateGradient::default()
            };
            let in_rows = StateGradient {
                rows: Some(rows),
                ..StateGradient::default()
            };
            let [expected, found] = [in_panels, in_rows].map(|states| {
                let mut trace = Trace::default();
                forward(&cell, &input, None, &mut trace);
                let (mut gradient, mut initial) = (GatedGradient::default(), Vec::new());
                backward(
                    &cell,
                    &input,
                    &mut trace,
                    states,
                    &mut gradient,
                    None,
                    Some(&mut initial),
                );
                [gradient.input_weight, gradient.bias, gradient.left, initial].map(|part| bits(&part))
            });
            assert!(found == expected, "{isa:?} {lengths:?} {reversed} {stride}");
        }
    });
}

#[test]
fn gradients_in_rows_are_those_of_panels() {
    gradients_are_those_of_panels::<f32>();
    gradients_are_those_of_panels::<f64>();
}

#[test]
fn rows_hold_what_lies_inside() {
    let (values, starts) = ([0.0f32; 12], [0, 4, 8]);
    let rows = StepRows {
        values: &values,
        starts: &starts,
        stride: 2,
        reversed: false,
    };
    assert!(rows.hold(&[3, 3], 2));
    assert!(rows.hold(&[2, 2, 2], 2));
    assert!(!rows.hold(&[3, 3, 3], 2), "the last row of the third sequence");
    assert!(!rows.hold(&[4], 2), "a step that has no start");
    assert!(rows.hold(&[0], 20), "no steps, no rows");
}

#[test]
#[should_panic(expected = "room for all steps and no more")]
fn output_has_room_for_all_steps_and_no_more() {
    let case = Case::<f32>::new(2);
    let output = StatesOut {
        values: &mut [0.0; 7],
        reversed: false,
    };
    run_into(
        &case.cell(),
        &input(Isa::best(), &[2, 1]),
        None,
        &mut Trace::default(),
        true,
        output,
    );
}
