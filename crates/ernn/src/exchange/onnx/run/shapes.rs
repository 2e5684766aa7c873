//! Operators that move numbers, count them or add them up.

use super::Call;
use super::array::{Array, Found, Numbers, Value, places, strides};

/// One of these operators; nothing if it is another.
pub(super) fn run(operator: &str, call: &Call) -> Option<Found<Array>> {
    Some(match operator {
        "Shape" => shape(call),
        "Range" => range(call),
        "ConstantOfShape" => zeros(call),
        "Reshape" => reshape(call),
        "Transpose" => transpose(call),
        "Concat" => concat(call),
        "Gather" => gather(call),
        "ReverseSequence" => reverse(call),
        "ReduceSum" => sum(call),
        "ReduceMax" => largest(call),
        _ => return None,
    })
}

fn shape(call: &Call) -> Found<Array> {
    let shape = &call.input(0)?.shape;
    Ok(Array::integers(
        &[shape.len()],
        shape.iter().map(|&size| size as i64).collect(),
    ))
}

fn range(call: &Call) -> Found<Array> {
    let one = |place| -> Found<i64> {
        call.input(place)?
            .as_integers()?
            .first()
            .copied()
            .ok_or("no number".to_string())
    };
    let values: Vec<i64> = (one(0)?..one(1)?).step_by(one(2)?.max(1) as usize).collect();
    Ok(Array::integers(&[values.len()], values))
}

fn sizes(values: &[i64]) -> Found<Vec<usize>> {
    let size = |&value| usize::try_from(value).map_err(|_| format!("found a size of {value}"));
    values.iter().map(size).collect()
}

fn zeros(call: &Call) -> Found<Array> {
    let shape = sizes(call.input(0)?.as_integers()?)?;
    Ok(Array::floats(&shape, vec![0.0; shape.iter().product()]))
}

fn reshape(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    let mut wanted = call.input(1)?.as_integers()?.to_vec();
    for (axis, size) in wanted.iter_mut().enumerate().filter(|(_, size)| **size == 0) {
        *size = *x.shape.get(axis).ok_or("found a 0 behind the last axis")? as i64;
    }
    let known: i64 = wanted.iter().filter(|&&size| size >= 0).product();
    let rest = x.len() as i64 / known.max(1);
    wanted
        .iter_mut()
        .filter(|size| **size < 0)
        .for_each(|size| *size = rest);
    let shape = sizes(&wanted)?;
    if shape.iter().product::<usize>() != x.len() {
        return Err(format!(
            "found the shape {:?}, expected one that fits {wanted:?}",
            x.shape
        ));
    }
    Ok(x.picked(shape, 0..x.len()))
}

fn transpose(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    let order = sizes(call.integers("perm"))?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..x.shape.len()) {
        return Err(format!("found the order {order:?} of the axes of {:?}", x.shape));
    }
    let own = strides(&x.shape);
    let (shape, strides): (Vec<usize>, Vec<usize>) = order.iter().map(|&axis| (x.shape[axis], own[axis])).unzip();
    let places = places(&shape, &strides);
    Ok(x.picked(shape, places.into_iter()))
}

/// An axis that may be counted from the end.
fn axis(call: &Call, rank: usize) -> Found<usize> {
    let axis = call.integer("axis").unwrap_or(0);
    let own = if axis < 0 { axis + rank as i64 } else { axis };
    let own = usize::try_from(own).ok().filter(|&own| own < rank);
    own.ok_or_else(|| format!("found axis {axis}, expected one of {rank}"))
}

/// Arrays one after the other in a new first axis.
pub(super) fn stacked(rows: &[Value]) -> Found<Array> {
    let Some(first) = rows.first() else {
        return Err("found no step".to_string());
    };
    let mut values = Vec::new();
    for row in rows {
        values.extend_from_slice(row.as_floats()?);
    }
    Ok(Array::floats(&[&[rows.len()], &first.shape[..]].concat(), values))
}

fn concat(call: &Call) -> Found<Array> {
    let first = call.input(0)?;
    let axis = axis(call, first.shape.len())?;
    let mut shape = first.shape.clone();
    shape[axis] = call
        .inputs
        .iter()
        .map(|input| input.shape.get(axis).copied().unwrap_or(0))
        .sum();
    let outer: usize = shape[..axis].iter().product();
    // Where each number stands among those of all inputs one after the other.
    let (mut starts, mut start) = (Vec::new(), 0);
    for input in call.inputs {
        starts.push((start, input.len() / outer.max(1)));
        start += input.len();
    }
    let parts = (0..outer).flat_map(|row| {
        starts
            .iter()
            .map(move |&(start, len)| start + row * len..start + (row + 1) * len)
    });
    let places: Vec<usize> = parts.flatten().collect();
    let all = match &first.numbers {
        Numbers::Floats(_) => Array::floats(&[], joined(call.inputs, Array::as_floats)?),
        _ => Array::integers(&[], joined(call.inputs, Array::as_integers)?),
    };
    Ok(all.picked(shape, places.into_iter()))
}

fn joined<T: Copy>(inputs: &[Value], numbers: fn(&Array) -> Found<&[T]>) -> Found<Vec<T>> {
    let mut all = Vec::new();
    for input in inputs {
        all.extend_from_slice(numbers(input)?);
    }
    Ok(all)
}

/// Equal parts along an axis.
pub(super) fn split(call: &Call) -> Found<Vec<Array>> {
    let x = call.input(0)?;
    let (axis, count) = (axis(call, x.shape.len())?, call.node.outputs.len());
    if !x.shape[axis].is_multiple_of(count.max(1)) {
        return Err(format!("found {} entries, expected {count} equal parts", x.shape[axis]));
    }
    let mut shape = x.shape.clone();
    shape[axis] /= count;
    let places = places(&shape, &strides(&x.shape));
    let part = shape[axis] * strides(&x.shape)[axis];
    Ok((0..count)
        .map(|index| x.picked(shape.clone(), places.iter().map(|place| place + index * part)))
        .collect())
}

/// Entries of the first axis.
fn gather(call: &Call) -> Found<Array> {
    let (x, indices) = (call.input(0)?, call.input(1)?);
    let (&entries, rest) = x.shape.split_first().ok_or("found one number, expected an axis")?;
    let len: usize = rest.iter().product();
    let mut places = Vec::new();
    for &index in indices.as_integers()? {
        let place = usize::try_from(index).ok().filter(|&place| place < entries);
        let place = place.ok_or_else(|| format!("found the index {index}, expected one below {entries}"))?;
        places.extend(place * len..(place + 1) * len);
    }
    Ok(x.picked([&indices.shape, rest].concat(), places.into_iter()))
}

/// `[T,batch,..]`, each sequence turned at its own length.
fn reverse(call: &Call) -> Found<Array> {
    let (x, lengths) = (call.input(0)?, call.input(1)?.as_integers()?);
    if (call.integer("time_axis"), call.integer("batch_axis")) != (Some(0), Some(1)) || x.shape.len() < 2 {
        return Err("expected steps first, then sequences".to_string());
    }
    let (steps, batch) = (x.shape[0], x.shape[1]);
    let len: usize = x.shape[2..].iter().product();
    let source = |step: usize, sequence: usize| {
        let length = lengths
            .get(sequence)
            .map_or(0, |&length| length.max(0) as usize)
            .min(steps);
        if step < length { length - 1 - step } else { step }
    };
    let rows = (0..steps).flat_map(|step| (0..batch).map(move |sequence| source(step, sequence) * batch + sequence));
    let places: Vec<usize> = rows.flat_map(|row| row * len..(row + 1) * len).collect();
    Ok(x.picked(x.shape.clone(), places.into_iter()))
}

/// Over the first axis, which goes.
fn largest(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    if call.integers("axes") != [0] || call.integer("keepdims") != Some(0) {
        return Err("expected the maximum over the first axis".to_string());
    }
    let rest = x.shape.get(1..).ok_or("found one number")?;
    let mut most = vec![f32::NEG_INFINITY; rest.iter().product()];
    for row in x.as_floats()?.chunks_exact(most.len().max(1)) {
        most.iter_mut()
            .zip(row)
            .for_each(|(most, &value)| *most = most.max(value));
    }
    Ok(Array::floats(rest, most))
}

/// Over the first axis, which goes.
fn sum(call: &Call) -> Found<Array> {
    let x = call.input(0)?;
    if call.input(1)?.as_integers()? != [0] || call.integer("keepdims") != Some(0) {
        return Err("expected the sum over the first axis".to_string());
    }
    let rest = x.shape.get(1..).ok_or("found one number")?;
    let mut sums = vec![0.0; rest.iter().product()];
    for row in x.as_floats()?.chunks_exact(sums.len().max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    Ok(Array::floats(rest, sums))
}
