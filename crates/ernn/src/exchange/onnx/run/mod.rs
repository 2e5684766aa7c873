//! Runs a graph of the operators that the export writes, as the ONNX specification words them (onnx/onnx, `docs/Operators.md`).
//!
//! It knows nothing of cells: what it computes comes from the file's bytes alone, in plain loops over `f32`. So it can say whether
//! the file is right before anyone relies on it; it is slow, and no runtime.

mod array;
mod elements;
mod recurrent;
mod shapes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

pub(super) use array::Array;
#[cfg(test)]
use array::Numbers;
use array::{Found, Value};

use super::proto::{Attribute, Graph, Model, Node};

/// Values of a graph by their names.
type Scope<'a> = HashMap<&'a str, Value>;

/// The outputs of a model for these inputs, in its order.
pub(super) fn run(model: &Model, inputs: &[(&str, Array)]) -> Found<Vec<Array>> {
    let mut scope = constants(&model.graph)?;
    for wanted in &model.graph.inputs {
        let given = inputs.iter().find(|(name, _)| *name == wanted.name);
        let (_, array) = given.ok_or_else(|| format!("no input {}", wanted.name))?;
        scope.insert(&wanted.name, Rc::new(array.clone()));
    }
    let outputs = run_graph(&model.graph, scope)?;
    Ok(outputs.iter().map(|value| value.as_ref().clone()).collect())
}

fn constants(graph: &Graph) -> Found<Scope<'_>> {
    let constants = graph.constants.iter();
    constants
        .map(|tensor| Ok((tensor.name.as_str(), Rc::new(Array::of(tensor)?))))
        .collect()
}

fn run_graph<'a>(graph: &'a Graph, mut scope: Scope<'a>) -> Found<Vec<Value>> {
    for node in &graph.nodes {
        let outputs = run_node(node, &scope).map_err(|problem| format!("{}: {problem}", node.name))?;
        let named = node.outputs.iter().zip(outputs);
        scope.extend(named.map(|(name, value)| (name.as_str(), value)));
    }
    let find = |name: &String| {
        scope
            .get(name.as_str())
            .cloned()
            .ok_or_else(|| format!("no value {name}"))
    };
    graph.outputs.iter().map(|output| find(&output.name)).collect()
}

fn run_node(node: &Node, scope: &Scope) -> Found<Vec<Value>> {
    let mut inputs = Vec::new();
    for name in &node.inputs {
        let value = scope.get(name.as_str()).ok_or_else(|| format!("no value {name:?}"))?;
        inputs.push(value.clone());
    }
    let call = Call { node, inputs: &inputs };
    let operator = node.operator.as_str();
    let one = match operator {
        "Scan" => return scan(&call),
        "RNN" | "GRU" | "LSTM" => return Ok(recurrent::run(&call)?.into_iter().map(Rc::new).collect()),
        "Split" => return Ok(shapes::split(&call)?.into_iter().map(Rc::new).collect()),
        "Identity" => return Ok(vec![call.input(0)?.clone()]),
        _ => elements::run(operator, &call).or_else(|| shapes::run(operator, &call)),
    };
    let one = one.unwrap_or_else(|| {
        Err(format!(
            "found the operator {operator}, which this program does not write"
        ))
    })?;
    Ok(vec![Rc::new(one)])
}

/// A node and the values of its inputs.
struct Call<'a> {
    node: &'a Node,
    inputs: &'a [Value],
}

impl Call<'_> {
    fn input(&self, place: usize) -> Found<&Value> {
        self.inputs.get(place).ok_or_else(|| format!("no input {place}"))
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        let mut attributes = self.node.attributes.iter();
        attributes.find(|(own, _)| own == name).map(|(_, value)| value)
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn float(&self, name: &str) -> Option<f32> {
        match self.attribute(name)? {
            Attribute::Float(value) => Some(*value),
            _ => None,
        }
    }

    fn integers(&self, name: &str) -> &[i64] {
        match self.attribute(name) {
            Some(Attribute::Integers(values)) => values,
            _ => &[],
        }
    }

    fn floats(&self, name: &str) -> &[f32] {
        match self.attribute(name) {
            Some(Attribute::Floats(values)) => values,
            _ => &[],
        }
    }

    fn texts(&self, name: &str) -> &[String] {
        match self.attribute(name) {
            Some(Attribute::Texts(values)) => values,
            _ => &[],
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            Attribute::Text(value) => Some(value),
            _ => None,
        }
    }
}

/// `Scan` along the first axis, forwards: states first, then what is read a step at a time.
fn scan(call: &Call) -> Found<Vec<Value>> {
    let Some(Attribute::Graph(body)) = call.attribute("body") else {
        return Err("found no body".to_string());
    };
    let scanned = call
        .integer("num_scan_inputs")
        .and_then(|count| usize::try_from(count).ok());
    let count = scanned.and_then(|scanned| call.inputs.len().checked_sub(scanned));
    let (initial, scanned) = call.inputs.split_at(count.ok_or("found no num_scan_inputs that fits")?);
    let steps = scanned.first().and_then(|value| value.shape.first()).copied();
    let steps = steps.ok_or("found nothing to scan")?;
    if scanned.iter().any(|value| value.shape.first() != Some(&steps)) || body.inputs.len() != call.inputs.len() {
        return Err("found inputs of different lengths, or of another number than the body's".to_string());
    }
    let constants = constants(body)?;
    let mut states = initial.to_vec();
    let mut shown: Vec<Vec<Value>> = vec![Vec::new(); body.outputs.len().saturating_sub(states.len())];
    for step in 0..steps {
        let mut scope = constants.clone();
        let values = states
            .iter()
            .cloned()
            .chain(scanned.iter().map(|value| Rc::new(value.entry(step))));
        scope.extend(body.inputs.iter().map(|input| input.name.as_str()).zip(values));
        let mut outputs = run_graph(body, scope)?;
        let rows = outputs.split_off(states.len());
        shown.iter_mut().zip(rows).for_each(|(all, row)| all.push(row));
        states = outputs;
    }
    let mut outputs = states;
    for rows in shown {
        outputs.push(Rc::new(shapes::stacked(&rows)?));
    }
    Ok(outputs)
}
