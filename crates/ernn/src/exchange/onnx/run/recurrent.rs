//! The operators RNN, GRU and LSTM of version 14, from `X [T,batch,d]`; no clip, no peepholes, no initial states.
//!
//! ```text
//! RNN   h' = f(x W^T + h R^T + Wb + Rb)
//! GRU   z, r = f(..)   n = g(x Wh^T + (r h) Rh^T + Rbh + Wbh)          linear_before_reset 0
//!                      n = g(x Wh^T + r (h Rh^T + Rbh) + Wbh)          1            h' = (1 - z) n + z h
//! LSTM  i, o, f = f(..)   c~ = g(..)   c' = f c + i c~   h' = o h(c')
//! ```

use super::Call;
use super::array::{Array, Found, Value};
use super::elements::{dot, sigmoid};

/// A function with its two numbers, where it has some.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    alpha: f32,
    beta: f32,
}

impl Function {
    fn apply(&self, x: f32) -> Found<f32> {
        Ok(match self.name.as_str() {
            "Relu" => x.max(0.0),
            "Tanh" => x.tanh(),
            "Sigmoid" => sigmoid(x),
            "HardSigmoid" => (self.alpha * x + self.beta).clamp(0.0, 1.0),
            other => return Err(format!("found the function {other}, which this program does not write")),
        })
    }
}

/// One direction of an operator.
struct Direction<'a> {
    operator: &'a str,
    hidden: usize,
    weight: &'a [f32],
    recurrent: &'a [f32],
    bias: &'a [f32],
    functions: &'a [Function],
    linear_before_reset: bool,
}

/// `Y`, `Y_h`, and `Y_c` of an LSTM.
pub(super) fn run(call: &Call) -> Found<Vec<Array>> {
    let operator = call.node.operator.as_str();
    let (x, weight, recurrent) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let ([steps, batch, inputs], [count, rows, _], [_, _, hidden]) =
        (x.sizes::<3>()?, weight.sizes::<3>()?, recurrent.sizes::<3>()?);
    if weight.shape != [count, rows, inputs] || recurrent.shape != [count, rows, hidden] || call.inputs.len() > 5 {
        return Err(format!(
            "found W {:?} and R {:?}, expected ones that fit",
            weight.shape, recurrent.shape
        ));
    }
    let none = vec![0.0; count * 2 * rows];
    let bias = call.input(3).ok().map_or(Ok(&none[..]), |bias| bias.as_floats())?;
    let lengths = match call.input(4) {
        Ok(lengths) => lengths.as_integers()?.to_vec(),
        Err(_) => vec![steps as i64; batch],
    };
    let functions = functions(call, operator, count);
    let turned = turned(call.text("direction"), count)?;
    let mut all = vec![0.0; steps * count * batch * hidden];
    let (mut last, mut memories) = (vec![0.0; count * batch * hidden], vec![0.0; count * batch * hidden]);
    let part = |values: &'_ Value, direction: usize| -> Found<Vec<f32>> {
        let len = values.len() / count;
        Ok(values.as_floats()?[direction * len..(direction + 1) * len].to_vec())
    };
    for (direction, &turned) in turned.iter().enumerate() {
        let (weight, recurrent) = (part(weight, direction)?, part(recurrent, direction)?);
        let each = functions.len() / count;
        let own = Direction {
            operator,
            hidden,
            weight: &weight,
            recurrent: &recurrent,
            bias: &bias[direction * 2 * rows..(direction + 1) * 2 * rows],
            functions: &functions[direction * each..(direction + 1) * each],
            linear_before_reset: call.integer("linear_before_reset") == Some(1),
        };
        for (sequence, &length) in lengths.iter().enumerate().take(batch) {
            let (mut h, mut c) = (vec![0.0; hidden], vec![0.0; hidden]);
            let length = usize::try_from(length).unwrap_or(0).min(steps);
            for step in 0..length {
                let step = if turned { length - 1 - step } else { step };
                let from = (step * batch + sequence) * inputs;
                own.step(&x.as_floats()?[from..from + inputs], &mut h, &mut c)?;
                let to = ((step * count + direction) * batch + sequence) * hidden;
                all[to..to + hidden].copy_from_slice(&h);
            }
            let to = (direction * batch + sequence) * hidden;
            last[to..to + hidden].copy_from_slice(&h);
            memories[to..to + hidden].copy_from_slice(&c);
        }
    }
    let shape = [count, batch, hidden];
    Ok(vec![
        Array::floats(&[steps, count, batch, hidden], all),
        Array::floats(&shape, last),
        Array::floats(&shape, memories),
    ])
}

/// Which directions read the sequences from their ends.
fn turned(direction: Option<&str>, count: usize) -> Found<Vec<bool>> {
    let turned = match direction.unwrap_or("forward") {
        "forward" => vec![false],
        "reverse" => vec![true],
        "bidirectional" => vec![false, true],
        other => return Err(format!("found the direction {other}")),
    };
    if turned.len() == count {
        Ok(turned)
    } else {
        Err(format!("found weights of {count} directions"))
    }
}

/// The functions of all directions; each takes its numbers from the head of the lists.
fn functions(call: &Call, operator: &str, directions: usize) -> Vec<Function> {
    let usual: &[&str] = match operator {
        "RNN" => &["Tanh"],
        "GRU" => &["Sigmoid", "Tanh"],
        _ => &["Sigmoid", "Tanh", "Tanh"],
    };
    let given = call.texts("activations");
    let names = if given.is_empty() {
        usual.repeat(directions).into_iter().map(String::from).collect()
    } else {
        given.to_vec()
    };
    let mut numbers = call
        .floats("activation_alpha")
        .iter()
        .zip(call.floats("activation_beta"));
    let function = |name: String| {
        let hard = name == "HardSigmoid";
        let (alpha, beta) = if hard {
            numbers.next().unwrap_or((&0.2, &0.5))
        } else {
            (&0.0, &0.0)
        };
        Function {
            name,
            alpha: *alpha,
            beta: *beta,
        }
    };
    names.into_iter().map(function).collect()
}

impl Direction<'_> {
    /// `x W^T + Wb` of a group.
    fn of_input(&self, group: usize, x: &[f32]) -> Vec<f32> {
        let (rows, bias) = (self.rows(self.weight, group, x.len()), self.bias_of(group));
        rows.zip(bias).map(|(row, bias)| dot(row, x) + bias).collect()
    }

    /// `h R^T + Rb` of a group.
    fn of_state(&self, group: usize, h: &[f32]) -> Vec<f32> {
        let groups = self.recurrent.len() / (self.hidden * self.hidden);
        let (rows, bias) = (self.rows(self.recurrent, group, h.len()), self.bias_of(groups + group));
        rows.zip(bias).map(|(row, bias)| dot(row, h) + bias).collect()
    }

    fn rows<'a>(&self, matrix: &'a [f32], group: usize, width: usize) -> impl Iterator<Item = &'a [f32]> {
        matrix[group * self.hidden * width..][..self.hidden * width].chunks_exact(width)
    }

    fn bias_of(&self, group: usize) -> &[f32] {
        &self.bias[group * self.hidden..][..self.hidden]
    }

    /// `f(x W^T + h R^T + Wb + Rb)` of a group.
    fn group(&self, group: usize, function: usize, x: &[f32], h: &[f32]) -> Found<Vec<f32>> {
        let sums = self.of_input(group, x).into_iter().zip(self.of_state(group, h));
        sums.map(|(a, b)| self.functions[function].apply(a + b)).collect()
    }

    fn step(&self, x: &[f32], h: &mut Vec<f32>, c: &mut [f32]) -> Found<()> {
        match self.operator {
            "RNN" => *h = self.group(0, 0, x, h)?,
            "GRU" => *h = self.gru(x, h)?,
            _ => {
                let [i, o, f] = [0, 1, 2].map(|group| self.group(group, 0, x, h));
                let (i, o, f, new) = (i?, o?, f?, self.group(3, 1, x, h)?);
                for unit in 0..self.hidden {
                    c[unit] = f[unit] * c[unit] + i[unit] * new[unit];
                    h[unit] = o[unit] * self.functions[2].apply(c[unit])?;
                }
            }
        }
        Ok(())
    }

    fn gru(&self, x: &[f32], h: &[f32]) -> Found<Vec<f32>> {
        let (z, r) = (self.group(0, 0, x, h)?, self.group(1, 0, x, h)?);
        let reset = |values: &[f32]| -> Vec<f32> { values.iter().zip(&r).map(|(value, r)| r * value).collect() };
        let of_state = if self.linear_before_reset {
            reset(&self.of_state(2, h))
        } else {
            self.of_state(2, &reset(h))
        };
        let sums = self.of_input(2, x).into_iter().zip(of_state);
        let new = sums.zip(z.iter().zip(h));
        new.map(|((a, b), (z, h))| Ok((1.0 - z) * self.functions[1].apply(a + b)? + z * h))
            .collect()
    }
}
