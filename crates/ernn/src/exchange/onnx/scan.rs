//! Cells that no operator computes: `Scan` over a step of the folded cell.
//!
//! ```text
//! outside:  u = X W^T + b [T,batch,width], for all steps at once;  a, e [T,K] where step sizes are learned for each step
//! a step:   new = step(u_t, a_t, e_t, h)     h = new where the step is one of its sequence, else h     y_t = new there, else 0
//! ```
//!
//! A second direction reads each sequence turned at its own length (`ReverseSequence`), and its states are turned back.

use super::graph::{Builder, Name, free};
use super::layers::{Output, Sequences, transposed};
use super::pieces::{Size, Steps};
use super::proto::{Attribute, Dimension, Element, Graph};
use super::{gated, leaky};

/// The layer as a `Scan` a direction; `all` says whether the states of all steps are wanted.
pub(super) fn layer(graph: &mut Builder, index: usize, cells: &[Steps], of: &Sequences, all: bool) -> Output {
    let mut states = Vec::new();
    let mut last = Vec::new();
    for (direction, cell) in cells.iter().enumerate() {
        let name = ["", "reverse."][direction];
        let prefix = format!("layers.{index}.{name}");
        let values = if direction == 0 {
            of.values.clone()
        } else {
            turned(graph, &of.values, of)
        };
        let input = Sequences { values, ..of.clone() };
        let mut found = scan(graph, &prefix, cell, &input, all);
        last.push(found.remove(0));
        if all {
            let own = found.pop().expect("all states were asked for");
            states.push(if direction == 0 { own } else { turned(graph, &own, of) });
        }
    }
    Output {
        all: all.then(|| graph.concat(&states, 2)),
        last: graph.concat(&last, 1),
    }
}

/// Each sequence from its last step to its first; what is behind the end stays there.
fn turned(graph: &mut Builder, values: &str, of: &Sequences) -> Name {
    let axes = vec![
        ("time_axis", Attribute::Integer(0)),
        ("batch_axis", Attribute::Integer(1)),
    ];
    graph.call_with("ReverseSequence", &[values, &of.long_lengths], axes)
}

/// The last state, that of an LSTM's memory, and the states of all steps if wanted.
fn scan(graph: &mut Builder, prefix: &str, cell: &Steps, of: &Sequences, all: bool) -> Vec<Name> {
    let (weight, bias) = projection(cell);
    let sums = project(graph, weight, bias, &of.values);
    let mut tables = Vec::new();
    if let Some((decay, gain, iterations)) = step_sizes(cell) {
        tables = [decay, gain]
            .map(|table| step_table(graph, table, iterations, &of.steps))
            .to_vec();
    }
    let count = states(cell);
    let initial = zeros(graph, hidden(cell), of);
    let mut inputs = vec![initial.as_str(); count];
    inputs.extend([sums.as_str(), &of.mask]);
    inputs.extend(tables.iter().map(String::as_str));
    let attributes = vec![
        ("num_scan_inputs", Attribute::Integer((2 + tables.len()) as i64)),
        ("body", Attribute::Graph(body(prefix, cell, bias.len(), all))),
    ];
    graph.call_for("Scan", &inputs, attributes, &vec![true; count + usize::from(all)])
}

/// `u = X W^T + b`.
fn project(graph: &mut Builder, weight: &[f32], bias: &[f32], values: &str) -> Name {
    let (rows, columns) = (bias.len(), weight.len() / bias.len());
    let weight = graph.floats(&[columns, rows], &transposed(weight, columns));
    let product = graph.call("MatMul", &[values, &weight]);
    let bias = graph.floats(&[rows], bias);
    graph.call("Add", &[&product, &bias])
}

/// The rows of a table `[rows,K]` for all steps, `[T,K]`: beyond its end the last one.
fn step_table(graph: &mut Builder, table: &[f32], iterations: usize, steps: &str) -> Name {
    let rows = table.len() / iterations;
    let table = graph.floats(&[rows, iterations], table);
    let last = graph.integers(&[], &[rows as i64 - 1]);
    let places = graph.call("Min", &[steps, &last]);
    graph.call("Gather", &[&table, &places])
}

/// The state before the first step, `[batch,D]`.
fn zeros(graph: &mut Builder, hidden: usize, of: &Sequences) -> Name {
    let width = graph.integers(&[1], &[hidden as i64]);
    let shape = graph.concat(&[of.batch.clone(), width], 0);
    graph.call("ConstantOfShape", &[&shape])
}

/// What is done in a step; the sizes of `u` are `width`.
fn body(prefix: &str, cell: &Steps, width: usize, all: bool) -> Graph {
    let mut body = Builder::new(&format!("{prefix}step"), prefix);
    let batch = || free("batch");
    let fixed = Dimension::Fixed;
    let own = || vec![batch(), fixed(hidden(cell))];
    let old: Vec<Name> = ["h", "c"][..states(cell)]
        .iter()
        .map(|name| body.own_input(name, Element::Float, own()))
        .collect();
    let sums = body.own_input("u", Element::Float, vec![batch(), fixed(width)]);
    let mask = body.own_input("mask", Element::Bool, vec![batch(), fixed(1)]);
    let new = match cell {
        Steps::Leaky(leaky) => {
            let sizes = sizes(&mut body, &leaky.decay, &leaky.gain, leaky.iterations);
            vec![leaky::step(&mut body, leaky, &sizes, &sums, &old[0])]
        }
        Steps::Deep(deep) => {
            let sizes = sizes(&mut body, &deep.decay, &deep.gain, deep.iterations);
            vec![leaky::deep_step(&mut body, deep, &sizes, &sums, &old[0])]
        }
        Steps::Gated(gated) => gated::step(&mut body, gated, &sums, &old),
    };
    for (new, old) in new.iter().zip(&old) {
        let kept = body.call("Where", &[&mask, new, old]);
        body.output(&kept, Element::Float, own());
    }
    if all {
        let zero = body.float(0.0);
        let shown = body.call("Where", &[&mask, &new[0], &zero]);
        body.output(&shown, Element::Float, own());
    }
    body.finish()
}

/// `a` and `e` of each iteration: constants, or of the step.
fn sizes(body: &mut Builder, decay: &[f32], gain: &[f32], iterations: usize) -> Vec<[Size; 2]> {
    if decay.len() == iterations {
        let pairs = decay.iter().zip(gain);
        return pairs
            .map(|(&decay, &gain)| [Size::Fixed(decay), Size::Fixed(gain)])
            .collect();
    }
    let tables = ["a", "e"].map(|name| body.own_input(name, Element::Float, vec![Dimension::Fixed(iterations)]));
    (0..iterations)
        .map(|iteration| {
            tables.clone().map(|table| {
                if iterations == 1 {
                    return Size::OfStep(table);
                }
                let place = body.integers(&[1], &[iteration as i64]);
                Size::OfStep(body.call("Gather", &[&table, &place]))
            })
        })
        .collect()
}

/// `a`, `e` and `K` of a cell whose step sizes differ from step to step.
fn step_sizes<'a>(cell: &Steps<'a>) -> Option<(&'a [f32], &'a [f32], usize)> {
    let (decay, gain, iterations) = match cell {
        Steps::Leaky(cell) => (&cell.decay, &cell.gain, cell.iterations),
        Steps::Deep(cell) => (&cell.decay, &cell.gain, cell.iterations),
        Steps::Gated(_) => return None,
    };
    (decay.len() > iterations).then_some((decay, gain, iterations))
}

/// `W` and `b` of what does not depend on the state.
fn projection<'a>(cell: &Steps<'a>) -> (&'a [f32], &'a [f32]) {
    match cell {
        Steps::Leaky(cell) => (&cell.input_weight, &cell.bias),
        Steps::Deep(cell) => (&cell.input_weight, &cell.layers[0].bias),
        Steps::Gated(cell) => gated::projection(cell),
    }
}

fn hidden(cell: &Steps) -> usize {
    match cell {
        Steps::Leaky(cell) => cell.hidden,
        Steps::Deep(cell) => cell.hidden,
        Steps::Gated(cell) => cell.hidden,
    }
}

/// Vectors that a cell carries from step to step.
fn states(cell: &Steps) -> usize {
    match cell {
        Steps::Gated(cell) => gated::states(cell),
        _ => 1,
    }
}
