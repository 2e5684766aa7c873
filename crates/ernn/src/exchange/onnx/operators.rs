//! Cells that an ONNX operator computes as they are: RNN, GRU (both resets) and LSTM, of version 14.
//!
//! ```text
//! X [T,batch,d]   W [dirs,G D,d]   R [dirs,G D,D]   B [dirs,2 G D] = [Wb, Rb]   sequence_lens [batch], 32 bits
//! Y [T,dirs,batch,D] (0 behind a sequence's end)   Y_h [dirs,batch,D] (of the second direction: after the first step)
//! ```
//!
//! | operator | groups | from the kernel's groups of W; of R |
//! |---|---|---|
//! | RNN | - | a leaky cell with `K = 1, c0 = 1, s = 0, a = 0, e = 1` |
//! | LSTM | i, o, f, c | i, f, o, g; the same |
//! | GRU, `linear_before_reset` 1 | z, r, h; `Rb` holds `b_n` | n, r, z; r, z, n (reset after the product) |
//! | GRU, `linear_before_reset` 0 | z, r, h | r, z, n; the same (reset before the product) |
//!
//! Low-rank matrices are multiplied out. The operators know no hard tanh; everything else is a `Scan` (`scan.rs`).

use ernn_kernels::Activation;
use ernn_kernels::gated::Gates;

use super::graph::{Builder, Name};
use super::layers::{Output, Sequences};
use super::pieces::Steps;
use super::proto::Attribute;
use crate::cell::{FoldedGated, FoldedLeaky, FoldedRecurrent, reorder};
use crate::exchange::matrix::Matrix;

/// A cell as an operator's inputs and attributes, one direction of it.
struct Operator {
    name: &'static str,
    hidden: usize,
    inputs: usize,
    input_weight: Vec<f32>,
    recurrent: Vec<f32>,
    /// Of the input's products, then of the state's.
    bias: Vec<f32>,
    activations: Vec<Activation>,
    linear_before_reset: bool,
}

/// The name of a function in the operators; none for the one that they lack.
fn function(activation: Activation) -> Option<&'static str> {
    match activation {
        Activation::Relu => Some("Relu"),
        Activation::Tanh => Some("Tanh"),
        Activation::Sigmoid => Some("Sigmoid"),
        Activation::HardSigmoid => Some("HardSigmoid"),
        Activation::HardTanh => None,
    }
}

impl Operator {
    /// The operator that computes what the cell does, if there is one.
    fn of(cell: &Steps) -> Option<Self> {
        let operator = match cell {
            Steps::Leaky(leaky) => Self::of_leaky(leaky)?,
            Steps::Gated(gated) => Self::of_gated(gated)?,
            Steps::Deep(_) => return None,
        };
        let known = operator
            .activations
            .iter()
            .all(|&activation| function(activation).is_some());
        known.then_some(operator)
    }

    fn of_leaky(cell: &FoldedLeaky<f32>) -> Option<Self> {
        let plain = cell.iterations == 1 && (cell.start_scale, cell.previous_scale) == (1.0, 0.0);
        if !plain || cell.decay != [0.0] || cell.gain != [1.0] {
            return None;
        }
        let mut bias = cell.bias.clone();
        bias.resize(2 * cell.hidden, 0.0);
        Some(Operator {
            name: "RNN",
            hidden: cell.hidden,
            inputs: cell.inputs,
            input_weight: cell.input_weight.clone(),
            recurrent: dense(&cell.recurrent, cell.hidden),
            bias,
            activations: vec![cell.activation],
            linear_before_reset: false,
        })
    }

    fn of_gated(cell: &FoldedGated<f32>) -> Option<Self> {
        let (name, input_order, state_order) = match cell.gates {
            Gates::Lstm => ("LSTM", &[0, 2, 1, 3][..], &[0, 2, 1, 3][..]),
            Gates::GruAfter => ("GRU", &[2, 1, 0][..], &[1, 0, 2][..]),
            Gates::GruBefore => ("GRU", &[1, 0, 2][..], &[1, 0, 2][..]),
            Gates::Ugrnn | Gates::FastGrnn | Gates::Antisymmetric => return None,
        };
        let groups = input_order.len() * cell.hidden;
        let (own, of_state) = cell.bias.split_at(groups);
        let mut bias = reorder(own, input_order);
        bias.resize(2 * groups - of_state.len(), 0.0);
        bias.extend_from_slice(of_state);
        Some(Operator {
            name,
            hidden: cell.hidden,
            inputs: cell.inputs,
            input_weight: reorder(&cell.input_weight, input_order),
            recurrent: reorder(&dense(&cell.recurrent, cell.hidden), state_order),
            bias,
            activations: match name {
                "LSTM" => vec![cell.gate, cell.activation, cell.activation],
                _ => vec![cell.gate, cell.activation],
            },
            linear_before_reset: cell.gates == Gates::GruAfter,
        })
    }

    /// Attributes of an operator with so many directions.
    fn attributes(&self, directions: usize) -> Vec<(&'static str, Attribute)> {
        let functions = self.activations.repeat(directions);
        // Each function takes the numbers that it needs from the head of the list.
        let hard = functions
            .iter()
            .filter(|&&function| function == Activation::HardSigmoid)
            .count();
        let names = functions.into_iter().filter_map(function).map(String::from).collect();
        let mut attributes = vec![
            ("hidden_size", Attribute::Integer(self.hidden as i64)),
            ("activations", Attribute::Texts(names)),
        ];
        if directions > 1 {
            attributes.push(("direction", Attribute::Text("bidirectional".to_string())));
        }
        if hard > 0 {
            // (x + 1) / 2 between 0 and 1.
            attributes.push(("activation_alpha", Attribute::Floats(vec![0.5; hard])));
            attributes.push(("activation_beta", Attribute::Floats(vec![0.5; hard])));
        }
        if self.name == "GRU" {
            attributes.push((
                "linear_before_reset",
                Attribute::Integer(self.linear_before_reset.into()),
            ));
        }
        attributes
    }
}

/// `R` as one matrix, row-major.
fn dense(recurrent: &FoldedRecurrent<f32>, hidden: usize) -> Vec<f32> {
    let FoldedRecurrent::LowRank {
        rank,
        identity,
        left,
        right,
    } = recurrent
    else {
        let FoldedRecurrent::Dense(weight) = recurrent else {
            unreachable!("two kinds of R")
        };
        return weight.clone();
    };
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
    let left = Matrix::new(left.len() / rank, *rank, wide(left));
    let mut product = left.times(&Matrix::new(*rank, hidden, wide(right)));
    if *identity != 0.0 {
        product
            .values
            .iter_mut()
            .step_by(hidden + 1)
            .for_each(|value| *value += f64::from(*identity));
    }
    product.values.iter().map(|&value| value as f32).collect()
}

/// The layer as one operator, if there is one for it; `all` says whether the states of all steps are wanted.
pub(super) fn layer(graph: &mut Builder, cells: &[Steps], of: &Sequences, all: bool) -> Option<Output> {
    let directions: Vec<Operator> = cells.iter().map(Operator::of).collect::<Option<_>>()?;
    let first = &directions[0];
    let (count, hidden, groups) = (directions.len(), first.hidden, first.recurrent.len() / first.hidden);
    let mut stacked = |shape: &[usize], part: fn(&Operator) -> &Vec<f32>| {
        let values: Vec<f32> = directions.iter().flat_map(part).copied().collect();
        graph.floats(&[&[count], shape].concat(), &values)
    };
    let weight = stacked(&[groups, first.inputs], |operator| &operator.input_weight);
    let recurrent = stacked(&[groups, hidden], |operator| &operator.recurrent);
    let bias = stacked(&[2 * groups], |operator| &operator.bias);
    let inputs = [of.values.as_str(), &weight, &recurrent, &bias, of.lengths.as_str()];
    let outputs = graph.call_for(first.name, &inputs, first.attributes(count), &[all, true]);
    Some(Output {
        all: all.then(|| side_by_side(graph, &outputs[0], count * hidden)),
        last: last(graph, &outputs[1], count * hidden),
    })
}

/// `[T,dirs,batch,D]` to `[T,batch,dirs D]`.
fn side_by_side(graph: &mut Builder, states: &str, width: usize) -> Name {
    let turned = graph.transpose(states, &[0, 2, 1, 3]);
    graph.reshape(&turned, &[0, 0, width as i64])
}

/// `[dirs,batch,D]` to `[batch,dirs D]`.
fn last(graph: &mut Builder, states: &str, width: usize) -> Name {
    let turned = graph.transpose(states, &[1, 0, 2]);
    graph.reshape(&turned, &[0, width as i64])
}
