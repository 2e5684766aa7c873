//! Operators that work number by number, and products.

use super::Call;
use super::array::{Array, Found, Numbers, common_shape, repeated};

/// One of these operators; nothing if it is another.
pub(super) fn run(operator: &str, call: &Call) -> Option<Found<Array>> {
    Some(match operator {
        "Add" => arithmetic(call, |a, b| a + b),
        "Sub" => arithmetic(call, |a, b| a - b),
        "Mul" => arithmetic(call, |a, b| a * b),
        "Div" => arithmetic(call, |a, b| a / b),
        "Min" => least(call),
        "Less" => less(call),
        "Where" => choose(call),
        "Relu" => each(call, |x| x.max(0.0)),
        "Sqrt" => each(call, f32::sqrt),
        "Tanh" => each(call, f32::tanh),
        "Asinh" => each(call, f32::asinh),
        "Sigmoid" => each(call, sigmoid),
        "HardSigmoid" => {
            let (alpha, beta) = (call.float("alpha").unwrap_or(0.2), call.float("beta").unwrap_or(0.5));
            each(call, |x| (alpha * x + beta).clamp(0.0, 1.0))
        }
        "Clip" => clip(call),
        "Cast" => cast(call),
        "Softmax" => softmax(call),
        "MatMul" => product(call),
        "Gemm" => general_product(call),
        _ => return None,
    })
}

pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn each(call: &Call, function: impl Fn(f32) -> f32) -> Found<Array> {
    let x = call.input(0)?;
    Ok(Array::floats(
        &x.shape,
        x.as_floats()?.iter().map(|&x| function(x)).collect(),
    ))
}

fn arithmetic(call: &Call, function: impl Fn(f32, f32) -> f32) -> Found<Array> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let shape = common_shape(&a.shape, &b.shape)?;
    let pairs = pairs(&a.shape, &b.shape, &shape);
    let (a, b) = (a.as_floats()?, b.as_floats()?);
    Ok(Array::floats(
        &shape,
        pairs.map(|(left, right)| function(a[left], b[right])).collect(),
    ))
}

/// The places in both operands of each number of the result.
fn pairs(one: &[usize], other: &[usize], common: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    repeated(one, common).into_iter().zip(repeated(other, common))
}

fn least(call: &Call) -> Found<Array> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let shape = common_shape(&a.shape, &b.shape)?;
    let pairs = pairs(&a.shape, &b.shape, &shape);
    let (a, b) = (a.as_integers()?, b.as_integers()?);
    Ok(Array::integers(
        &shape,
        pairs.map(|(left, right)| a[left].min(b[right])).collect(),
    ))
}

fn less(call: &Call) -> Found<Array> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let shape = common_shape(&a.shape, &b.shape)?;
    let pairs = pairs(&a.shape, &b.shape, &shape);
    let (a, b) = (a.as_integers()?, b.as_integers()?);
    let numbers = Numbers::Bools(pairs.map(|(left, right)| a[left] < b[right]).collect());
    Ok(Array { shape, numbers })
}

fn choose(call: &Call) -> Found<Array> {
    let (condition, a, b) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let shape = common_shape(&common_shape(&condition.shape, &a.shape)?, &b.shape)?;
    let [of_condition, of_a, of_b] = [condition, a, b].map(|value| repeated(&value.shape, &shape));
    let (condition, a, b) = (condition.as_bools()?, a.as_floats()?, b.as_floats()?);
    let places = of_condition.iter().zip(of_a.iter().zip(&of_b));
    let values = places.map(|(&at, (&left, &right))| if condition[at] { a[left] } else { b[right] });
    Ok(Array::floats(&shape, values.collect()))
}

fn clip(call: &Call) -> Found<Array> {
    let bound = |place| -> Found<f32> { Ok(call.input(place)?.as_floats()?.first().copied().unwrap_or(0.0)) };
    let (least, most) = (bound(1)?, bound(2)?);
    each(call, |x| x.max(least).min(most))
}

/// To floats (1) or 64-bit integers (7), from the integers that lengths are.
fn cast(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    let values = x.as_integers()?;
    match call.integer("to") {
        Some(1) => Ok(Array::floats(
            &x.shape,
            values.iter().map(|&value| value as f32).collect(),
        )),
        Some(7) => Ok(x.as_ref().clone()),
        to => Err(format!("found a cast to {to:?}, expected 1 or 7")),
    }
}

/// Over the last axis.
fn softmax(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    let mut values = x.as_floats()?.to_vec();
    for row in values.chunks_exact_mut(x.shape.last().copied().unwrap_or(1).max(1)) {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|value| *value = (*value - most).exp());
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    Ok(Array::floats(&x.shape, values))
}

/// `[.., k] [k, n]`.
fn product(call: &Call) -> Found<Array> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let [inner, columns] = b.sizes::<2>()?;
    let mut shape = a.shape.clone();
    if shape.pop() != Some(inner) {
        return Err(format!(
            "found the shapes {:?} and {:?}, expected ones that fit",
            a.shape, b.shape
        ));
    }
    shape.push(columns);
    let (rows, weight) = (a.as_floats()?.chunks_exact(inner.max(1)), b.as_floats()?);
    let mut out = vec![0.0; shape.iter().product()];
    for (row, out) in rows.zip(out.chunks_exact_mut(columns.max(1))) {
        for (x, weights) in row.iter().zip(weight.chunks_exact(columns.max(1))) {
            out.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight);
        }
    }
    Ok(Array::floats(&shape, out))
}

/// `A B^T + C`; other settings are not written.
fn general_product(call: &Call) -> Found<Array> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let ([rows, inner], [columns, same]) = (a.sizes::<2>()?, b.sizes::<2>()?);
    if inner != same || call.integer("transB") != Some(1) || call.node.attributes.len() != 1 {
        return Err(format!(
            "found A {:?}, B {:?}, expected B to be transposed and to fit",
            a.shape, b.shape
        ));
    }
    let shape = [rows, columns];
    let (a, b) = (a.as_floats()?, b.as_floats()?);
    let columns = |row| b.chunks_exact(inner.max(1)).map(move |column| dot(row, column));
    let mut out: Vec<f32> = a.chunks_exact(inner.max(1)).flat_map(columns).collect();
    if let Ok(c) = call.input(2) {
        let places = repeated(&c.shape, &shape);
        let c = c.as_floats()?;
        out.iter_mut().zip(places).for_each(|(sum, place)| *sum += c[place]);
    }
    Ok(Array::floats(&shape, out))
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
