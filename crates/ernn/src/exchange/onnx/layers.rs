//! The model as a graph: input, layers, pooling, readout.
//!
//! ```text
//! input [batch,steps,d], as it is measured; or tokens [batch,steps], 64 bits      sequence_lens [batch], 32 bits, each at least 1
//! -> derived channels and normalization, or embedding -> [steps,batch,d] -> layers -> last state, mean, ... -> readout
//! -> logits [batch,classes] and probabilities; value [batch,1] of a regression; of every step [batch,steps,classes]
//! ```
//!
//! What stands behind a sequence's end counts nothing. Outputs of steps behind the end mean nothing.

use super::graph::{Builder, Name, free};
use super::pieces::Steps;
use super::proto::{Attribute, Dimension, Element, Graph};
use super::{derived, operators, scan};
use crate::Result;
use crate::checkpoint::SavedModel;
use crate::data::{Normalization, Task};
use crate::model::{EPSILON, Statistic};

/// The names of inputs and outputs.
pub(super) const INPUT: &str = "input";
pub(super) const TOKENS: &str = "tokens";
pub(super) const LENGTHS: &str = "sequence_lens";
pub(super) const LOGITS: &str = "logits";
pub(super) const PROBABILITIES: &str = "probabilities";
pub(super) const VALUE: &str = "value";

/// Sequences `[T,batch,width]` and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    pub values: Name,
    /// `[batch]`, 32 bits.
    pub lengths: Name,
    /// `[batch]`, 64 bits.
    pub long_lengths: Name,
    /// `[T]`: 0, 1, 2, ..
    pub steps: Name,
    /// `[1]`: how many sequences.
    pub batch: Name,
    /// `[T,batch,1]`: whether a step is one of its sequence.
    pub mask: Name,
}

/// What a layer gives.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// `[T,batch,D directions]`, 0 behind the end; if it was asked for.
    pub all: Option<Name>,
    /// `[batch,D directions]`: the state of each direction at the end of its way.
    pub last: Name,
}

/// The model's graph, and how many of its layers are operators of their own.
///
/// # Errors
/// If a cell cannot be written.
pub(super) fn graph(saved: &SavedModel) -> Result<(Graph, usize)> {
    let config = saved.model.config();
    let (layers, _) = saved.model.fold();
    let mut graph = Builder::new("ernn", "");
    let mut sequences = read(&mut graph, saved);
    let every_step = config.task.is_of_steps() || config.task == Task::NextToken;
    let mut own = 0;
    let mut output = None;
    for (index, cells) in layers.iter().enumerate() {
        let cells: Vec<Steps> = cells.iter().map(Steps::of).collect::<Result<_>>()?;
        let all = index + 1 < layers.len() || every_step || config.pooled().sees_all_steps();
        let found = match operators::layer(&mut graph, &cells, &sequences, all) {
            Some(found) => {
                own += 1;
                found
            }
            None => scan::layer(&mut graph, index, &cells, &sequences, all),
        };
        sequences.values = found.all.clone().unwrap_or_default();
        output = Some(found);
    }
    let output = output.expect("a model has a layer");
    if every_step {
        read_out_steps(&mut graph, saved, &output.all.expect("all states were asked for"));
    } else {
        let pooled = pool(&mut graph, config.pooled().statistics(), &output, &sequences);
        read_out(&mut graph, saved, &pooled);
    }
    Ok((graph.finish(), own))
}

/// The inputs, normalized or embedded.
fn read(graph: &mut Builder, saved: &SavedModel) -> Sequences {
    let config = saved.model.config();
    let (batch, steps) = (free("batch"), free("steps"));
    let values = match &config.embedding {
        Some(embedding) => {
            let tokens = graph.input(TOKENS, Element::Int64, vec![batch.clone(), steps]);
            let all: Vec<u32> = (0..embedding.vocabulary as u32).collect();
            let rows = graph.floats(&[embedding.vocabulary, config.input_size], &saved.model.embed(&all));
            graph.call("Gather", &[&rows, &tokens])
        }
        None => {
            let size = Dimension::Fixed(saved.channels());
            let input = graph.input(INPUT, Element::Float, vec![batch.clone(), steps, size]);
            if saved.derivation.is_none() {
                normalize(graph, &saved.normalization, input)
            } else {
                input
            }
        }
    };
    let lengths = graph.input(LENGTHS, Element::Int32, vec![batch]);
    let mut values = graph.transpose(&values, &[1, 0, 2]);
    if !saved.derivation.is_none() {
        values = derived::derive(graph, &saved.derivation, saved.channels(), values);
        values = normalize(graph, &saved.normalization, values);
    }
    measure(graph, values, lengths)
}

/// `(x - mean) * scale`.
fn normalize(graph: &mut Builder, normalization: &Normalization, values: Name) -> Name {
    let features = normalization.mean.len();
    if *normalization == Normalization::identity(features) {
        return values;
    }
    let mean = graph.floats(&[features], &normalization.mean);
    let scale = graph.floats(&[features], &normalization.scale);
    let centered = graph.call("Sub", &[&values, &mean]);
    graph.call("Mul", &[&centered, &scale])
}

/// Sizes and the mask of sequences `[T,batch,width]`.
fn measure(graph: &mut Builder, values: Name, lengths: Name) -> Sequences {
    let shape = graph.call("Shape", &[&values]);
    let [zero, one] = [0, 1].map(|value| graph.integers(&[], &[value]));
    let count = graph.call("Gather", &[&shape, &zero]);
    let steps = graph.call("Range", &[&zero, &count, &one]);
    let place = graph.integers(&[1], &[1]);
    let batch = graph.call("Gather", &[&shape, &place]);
    let to_long = vec![("to", Attribute::Integer(Element::Int64 as i64))];
    let long_lengths = graph.call_with("Cast", &[&lengths], to_long);
    let (rows, columns) = (
        graph.reshape(&steps, &[-1, 1, 1]),
        graph.reshape(&long_lengths, &[1, -1, 1]),
    );
    let mask = graph.call("Less", &[&rows, &columns]);
    Sequences {
        values,
        lengths,
        long_lengths,
        steps,
        batch,
        mask,
    }
}

/// The statistics side by side, as `model/pooling.rs` says.
fn pool(graph: &mut Builder, statistics: &[Statistic], output: &Output, sequences: &Sequences) -> Name {
    let all = || output.all.as_deref().expect("all states were asked for");
    let mut found = Vec::new();
    for statistic in statistics {
        found.push(match statistic {
            Statistic::Mean => mean(graph, all(), sequences),
            Statistic::Deviation => deviation(graph, all(), sequences),
            Statistic::Largest => largest(graph, all(), sequences),
            Statistic::Last => output.last.clone(),
        });
    }
    graph.concat(&found, 1)
}

/// The mean over the steps of `[T,batch,width]`, which is 0 behind the end.
fn mean(graph: &mut Builder, states: &str, sequences: &Sequences) -> Name {
    let axis = graph.integers(&[1], &[0]);
    let sum = graph.call_with("ReduceSum", &[states, &axis], vec![("keepdims", Attribute::Integer(0))]);
    let to_float = vec![("to", Attribute::Integer(Element::Float as i64))];
    let count = graph.call_with("Cast", &[&sequences.lengths], to_float);
    let count = graph.reshape(&count, &[-1, 1]);
    graph.call("Div", &[&sum, &count])
}

/// `sqrt(max(mean of squares - mean^2, 0) + 2^-16)`.
fn deviation(graph: &mut Builder, states: &str, sequences: &Sequences) -> Name {
    let squares = graph.call("Mul", &[states, states]);
    let squares = mean(graph, &squares, sequences);
    let means = mean(graph, states, sequences);
    let means = graph.call("Mul", &[&means, &means]);
    let variance = graph.call("Sub", &[&squares, &means]);
    let variance = graph.call("Relu", &[&variance]);
    let epsilon = graph.float(EPSILON as f32);
    let variance = graph.call("Add", &[&variance, &epsilon]);
    graph.call("Sqrt", &[&variance])
}

/// The largest value over a sequence's own steps.
fn largest(graph: &mut Builder, states: &str, sequences: &Sequences) -> Name {
    let least = graph.float(f32::MIN);
    let own = graph.call("Where", &[&sequences.mask, states, &least]);
    let attributes = vec![
        ("axes", Attribute::Integers(vec![0])),
        ("keepdims", Attribute::Integer(0)),
    ];
    graph.call_with("ReduceMax", &[&own], attributes)
}

/// The readout of `[batch,width]`.
fn read_out(graph: &mut Builder, saved: &SavedModel, pooled: &str) {
    let (config, (_, parameters)) = (saved.model.config(), saved.model.fold());
    let classes = config.classes;
    let (weight, bias) = parameters.split_at(parameters.len() - classes);
    let weight = graph.floats(&[classes, weight.len() / classes], weight);
    let bias = graph.floats(&[classes], bias);
    let logits = graph.call_with(
        "Gemm",
        &[pooled, &weight, &bias],
        vec![("transB", Attribute::Integer(1))],
    );
    let shape = vec![free("batch"), Dimension::Fixed(classes)];
    name_outputs(graph, config.task, &logits, &shape);
}

/// The readout of every step, `[T,batch,width]`.
fn read_out_steps(graph: &mut Builder, saved: &SavedModel, states: &str) {
    let (config, (_, parameters)) = (saved.model.config(), saved.model.fold());
    let classes = config.classes;
    let (weight, bias) = parameters.split_at(parameters.len() - classes);
    let weight = graph.floats(
        &[weight.len() / classes, classes],
        &transposed(weight, weight.len() / classes),
    );
    let bias = graph.floats(&[classes], bias);
    let turned = graph.transpose(states, &[1, 0, 2]);
    let product = graph.call("MatMul", &[&turned, &weight]);
    let logits = graph.call("Add", &[&product, &bias]);
    let shape = vec![free("batch"), free("steps"), Dimension::Fixed(classes)];
    name_outputs(graph, config.task, &logits, &shape);
}

/// `[rows,columns]` to `[columns,rows]`.
pub(super) fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    let column = |column| values.iter().skip(column).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

fn name_outputs(graph: &mut Builder, task: Task, logits: &str, shape: &[Dimension]) {
    if task.is_of_numbers() {
        graph.output_as(VALUE, logits, Element::Float, shape.to_vec());
        return;
    }
    let probabilities = match task {
        Task::MultiLabel => graph.call("Sigmoid", &[logits]),
        _ => graph.call_with("Softmax", &[logits], vec![("axis", Attribute::Integer(-1))]),
    };
    graph.output_as(LOGITS, logits, Element::Float, shape.to_vec());
    graph.output_as(PROBABILITIES, &probabilities, Element::Float, shape.to_vec());
}
