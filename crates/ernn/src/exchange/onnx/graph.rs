//! A graph under construction: operators are called like functions of names.

use std::collections::HashSet;

use super::proto::{Attribute, Dimension, Element, Graph, Node, Tensor, ValueInfo, Values};

/// The name of a value in the graph.
pub(super) type Name = String;

/// A graph to which nodes are added.
#[derive(Debug)]
pub(super) struct Builder {
    graph: Graph,
    /// What all names begin with, so that no name inside a loop hides one outside.
    prefix: String,
    count: usize,
}

impl Builder {
    pub fn new(name: &str, prefix: &str) -> Self {
        Builder {
            graph: Graph {
                name: name.to_string(),
                ..Graph::default()
            },
            prefix: prefix.to_string(),
            count: 0,
        }
    }

    fn fresh(&mut self, word: &str) -> Name {
        self.count += 1;
        format!("{}{word}.{}", self.prefix, self.count)
    }

    /// An operator with as many outputs as it has `outputs`, each of which is wanted or left out.
    pub fn call_for(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute)>,
        outputs: &[bool],
    ) -> Vec<Name> {
        let name = self.fresh(operator);
        let output = |(place, &wanted): (usize, &bool)| {
            if !wanted {
                return String::new();
            }
            format!("{name}.{place}")
        };
        let outputs: Vec<Name> = outputs.iter().enumerate().map(output).collect();
        self.graph.nodes.push(Node {
            operator: operator.to_string(),
            name,
            inputs: inputs.iter().map(ToString::to_string).collect(),
            outputs: outputs.clone(),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| (name.to_string(), value))
                .collect(),
        });
        outputs
    }

    /// An operator with one output.
    pub fn call_with(&mut self, operator: &str, inputs: &[&str], attributes: Vec<(&str, Attribute)>) -> Name {
        self.call_for(operator, inputs, attributes, &[true]).remove(0)
    }

    /// An operator with one output and no attributes.
    pub fn call(&mut self, operator: &str, inputs: &[&str]) -> Name {
        self.call_with(operator, inputs, Vec::new())
    }

    /// Cut into equal parts along the last axis.
    pub fn split(&mut self, value: &str, parts: usize) -> Vec<Name> {
        if parts == 1 {
            return vec![value.to_string()];
        }
        self.call_for(
            "Split",
            &[value],
            vec![("axis", Attribute::Integer(-1))],
            &vec![true; parts],
        )
    }

    /// The axes in another order.
    pub fn transpose(&mut self, value: &str, order: &[i64]) -> Name {
        self.call_with(
            "Transpose",
            &[value],
            vec![("perm", Attribute::Integers(order.to_vec()))],
        )
    }

    /// In another shape: 0 keeps a size, -1 is the rest.
    pub fn reshape(&mut self, value: &str, shape: &[i64]) -> Name {
        let shape = self.integers(&[shape.len()], shape);
        self.call("Reshape", &[value, &shape])
    }

    /// Side by side along an axis.
    pub fn concat(&mut self, values: &[Name], axis: i64) -> Name {
        if let [only] = values {
            return only.clone();
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        self.call_with("Concat", &values, vec![("axis", Attribute::Integer(axis))])
    }

    /// Constant numbers.
    pub fn floats(&mut self, shape: &[usize], values: &[f32]) -> Name {
        self.constant(shape, Values::Floats(values.to_vec()))
    }

    /// One constant number.
    pub fn float(&mut self, value: f32) -> Name {
        self.floats(&[], &[value])
    }

    /// Constant integers.
    pub fn integers(&mut self, shape: &[usize], values: &[i64]) -> Name {
        self.constant(shape, Values::Integers(values.to_vec()))
    }

    /// Equal ones are one: iterations of a step share their matrices.
    fn constant(&mut self, shape: &[usize], values: Values) -> Name {
        let mut known = self.graph.constants.iter();
        if let Some(same) = known.find(|known| known.shape == shape && known.values.same_bits(&values)) {
            return same.name.clone();
        }
        let name = self.fresh("constant");
        self.graph.constants.push(Tensor {
            name: name.clone(),
            shape: shape.to_vec(),
            values,
        });
        name
    }

    /// An input of the graph.
    pub fn input(&mut self, name: &str, element: Element, shape: Vec<Dimension>) -> Name {
        self.graph.inputs.push(value_info(name, element, shape));
        name.to_string()
    }

    /// An input of the graph whose name begins as all of it.
    pub fn own_input(&mut self, name: &str, element: Element, shape: Vec<Dimension>) -> Name {
        let name = format!("{}{name}", self.prefix);
        self.input(&name, element, shape)
    }

    /// Makes a value an output of the graph, under its name.
    pub fn output(&mut self, name: &str, element: Element, shape: Vec<Dimension>) {
        self.graph.outputs.push(value_info(name, element, shape));
    }

    /// Makes a value an output of the graph, under another name.
    pub fn output_as(&mut self, name: &str, value: &str, element: Element, shape: Vec<Dimension>) {
        self.graph.nodes.push(Node {
            operator: "Identity".to_string(),
            name: format!("output.{name}"),
            inputs: vec![value.to_string()],
            outputs: vec![name.to_string()],
            attributes: Vec::new(),
        });
        self.output(name, element, shape);
    }

    /// The graph, without what no output needs.
    pub fn finish(mut self) -> Graph {
        let mut used: HashSet<Name> = self.graph.outputs.iter().map(|output| output.name.clone()).collect();
        let mut nodes = Vec::new();
        // Nodes stand in the order of their use.
        for node in self.graph.nodes.into_iter().rev() {
            if node.outputs.iter().any(|name| used.contains(name)) {
                used.extend(node.inputs.iter().cloned());
                nodes.push(node);
            }
        }
        nodes.reverse();
        self.graph.nodes = nodes;
        self.graph.constants.retain(|constant| used.contains(&constant.name));
        self.graph
    }
}

fn value_info(name: &str, element: Element, shape: Vec<Dimension>) -> ValueInfo {
    ValueInfo {
        name: name.to_string(),
        element,
        shape,
    }
}

/// A dimension of any size, by its name.
pub(super) fn free(name: &str) -> Dimension {
    Dimension::Named(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_are_one_and_what_nobody_needs_is_left_out() {
        let mut graph = Builder::new("g", "");
        let x = graph.input("x", Element::Float, vec![free("n")]);
        let one = graph.floats(&[1], &[0.0]);
        assert_eq!(graph.floats(&[1], &[0.0]), one);
        // Another number, and another shape.
        let others = [graph.floats(&[1], &[-0.0]), graph.float(0.0)];
        assert!(!others.contains(&one) && others[0] != others[1]);
        let sum = graph.call("Add", &[&x, &one]);
        graph.call("Mul", &[&sum, &others[0]]);
        graph.output(&sum, Element::Float, vec![free("n")]);
        let graph = graph.finish();
        assert_eq!((graph.nodes.len(), graph.constants.len()), (1, 1));
    }
}
