//! Derived channels of sequences `[T,batch,d]`: a `Scan` that remembers the step before and the running mean, then `Asinh`; the lengths of
//! triads by a product with a matrix of zeros and ones.
//!
//! ```text
//! Scan, both states x_1 at first:  x_t - previous        mean = mean + (0.1 x_t - 0.1 mean);  (x_t - mean) / s
//! outside:                         Asinh of the last     Sqrt((x x) M), M [d,triads]
//! ```

use super::graph::{Builder, Name, free};
use super::proto::{Attribute, Dimension, Element, Graph};
use crate::data::Derivation;

/// All channels that the model reads, of sequences with so many.
pub(super) fn derive(graph: &mut Builder, derivation: &Derivation, channels: usize, values: Name) -> Name {
    let mut all = vec![values.clone()];
    let compresses = !derivation.scales.is_empty();
    if derivation.differences || compresses {
        let mut found = scan(graph, derivation, channels, &values).into_iter();
        all.extend(derivation.differences.then(|| found.next()).flatten());
        let quotient = found.next();
        all.extend(quotient.map(|quotient| graph.call("Asinh", &[&quotient])));
    }
    if !derivation.triads.is_empty() {
        all.push(magnitudes(graph, derivation, channels, &values));
    }
    graph.concat(&all, 2)
}

/// Differences, and what becomes compressed; those of both that are wanted.
fn scan(graph: &mut Builder, derivation: &Derivation, channels: usize, values: &str) -> Vec<Name> {
    let zero = graph.integers(&[], &[0]);
    let first = graph.call("Gather", &[values, &zero]);
    let count = usize::from(derivation.differences) + usize::from(!derivation.scales.is_empty());
    let mut inputs = vec![first.as_str(); count];
    inputs.push(values);
    let attributes = vec![
        ("num_scan_inputs", Attribute::Integer(1)),
        ("body", Attribute::Graph(body(derivation, channels))),
    ];
    graph
        .call_for("Scan", &inputs, attributes, &vec![true; 2 * count])
        .split_off(count)
}

/// What is done in a step.
fn body(derivation: &Derivation, channels: usize) -> Graph {
    let mut body = Builder::new("derive.step", "derive.");
    let own = || vec![free("batch"), Dimension::Fixed(channels)];
    let compresses = !derivation.scales.is_empty();
    let mut input = |name: &str, wanted: bool| wanted.then(|| body.own_input(name, Element::Float, own()));
    let (previous, mean) = (input("previous", derivation.differences), input("mean", compresses));
    let x = body.own_input("x", Element::Float, own());
    let (mut kept, mut shown) = (Vec::new(), Vec::new());
    if let Some(previous) = previous {
        shown.push(body.call("Sub", &[&x, &previous]));
        kept.push(body.call("Identity", &[&x]));
    }
    if let Some(mean) = mean {
        let tenth = body.float(0.1);
        let [new, old] = [&x, &mean].map(|value| body.call("Mul", &[value, &tenth]));
        let change = body.call("Sub", &[&new, &old]);
        let followed = body.call("Add", &[&mean, &change]);
        let above = body.call("Sub", &[&x, &followed]);
        let scales = body.floats(&[channels], &derivation.scales);
        shown.push(body.call("Div", &[&above, &scales]));
        kept.push(followed);
    }
    for name in kept.iter().chain(&shown) {
        body.output(name, Element::Float, own());
    }
    body.finish()
}

/// `[T,batch,triads]`.
fn magnitudes(graph: &mut Builder, derivation: &Derivation, channels: usize, values: &str) -> Name {
    let count = derivation.triads.len();
    let mut members = vec![0.0; channels * count];
    for (column, triad) in derivation.triads.iter().enumerate() {
        triad
            .iter()
            .for_each(|&channel| members[channel as usize * count + column] = 1.0);
    }
    let members = graph.floats(&[channels, count], &members);
    let squares = graph.call("Mul", &[values, values]);
    let sums = graph.call("MatMul", &[&squares, &members]);
    graph.call("Sqrt", &[&sums])
}
