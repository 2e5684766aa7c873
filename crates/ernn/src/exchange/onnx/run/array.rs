//! Arrays, row-major, and how two of them are brought to one shape.

use std::rc::Rc;

use crate::exchange::onnx::proto::{Tensor, Values};

/// Numbers of one kind in a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    pub numbers: Numbers,
}

/// Integers of 32 bits are kept as ones of 64.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    Floats(Vec<f32>),
    Integers(Vec<i64>),
    Bools(Vec<bool>),
}

pub(super) type Found<T> = Result<T, String>;
/// A value of the graph; constants of a loop are shared by its steps.
pub(super) type Value = Rc<Array>;

impl Array {
    pub fn floats(shape: &[usize], values: Vec<f32>) -> Self {
        Array {
            shape: shape.to_vec(),
            numbers: Numbers::Floats(values),
        }
    }

    pub fn integers(shape: &[usize], values: Vec<i64>) -> Self {
        Array {
            shape: shape.to_vec(),
            numbers: Numbers::Integers(values),
        }
    }

    /// The array of a tensor, if it holds as many numbers as its shape says.
    pub fn of(tensor: &Tensor) -> Found<Self> {
        let array = match &tensor.values {
            Values::Floats(values) => Array::floats(&tensor.shape, values.clone()),
            Values::Integers(values) => Array::integers(&tensor.shape, values.clone()),
        };
        let expected: usize = tensor.shape.iter().product();
        if array.len() != expected {
            return Err(format!(
                "{}: found {} numbers, expected {expected}",
                tensor.name,
                array.len()
            ));
        }
        Ok(array)
    }

    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Floats(values) => values.len(),
            Numbers::Integers(values) => values.len(),
            Numbers::Bools(values) => values.len(),
        }
    }

    pub fn as_floats(&self) -> Found<&[f32]> {
        match &self.numbers {
            Numbers::Floats(values) => Ok(values),
            other => Err(format!("found {}, expected floats", other.kind())),
        }
    }

    pub fn as_integers(&self) -> Found<&[i64]> {
        match &self.numbers {
            Numbers::Integers(values) => Ok(values),
            other => Err(format!("found {}, expected integers", other.kind())),
        }
    }

    pub fn as_bools(&self) -> Found<&[bool]> {
        match &self.numbers {
            Numbers::Bools(values) => Ok(values),
            other => Err(format!("found {}, expected booleans", other.kind())),
        }
    }

    /// The sizes, if there are as many as expected.
    pub fn sizes<const N: usize>(&self) -> Found<[usize; N]> {
        let found = self.shape.as_slice();
        found
            .try_into()
            .map_err(|_| format!("found the shape {found:?}, expected {N} sizes"))
    }

    /// The same numbers picked in another order, in a new shape.
    pub fn picked(&self, shape: Vec<usize>, places: impl Iterator<Item = usize>) -> Self {
        let numbers = match &self.numbers {
            Numbers::Floats(values) => Numbers::Floats(places.map(|place| values[place]).collect()),
            Numbers::Integers(values) => Numbers::Integers(places.map(|place| values[place]).collect()),
            Numbers::Bools(values) => Numbers::Bools(places.map(|place| values[place]).collect()),
        };
        Array { shape, numbers }
    }

    /// Entry `index` of the first axis.
    pub fn entry(&self, index: usize) -> Self {
        let shape = self.shape[1..].to_vec();
        let len: usize = shape.iter().product();
        self.picked(shape, index * len..(index + 1) * len)
    }
}

impl Numbers {
    pub fn kind(&self) -> &'static str {
        match self {
            Numbers::Floats(_) => "floats",
            Numbers::Integers(_) => "integers",
            Numbers::Bools(_) => "booleans",
        }
    }
}

/// Numbers from one entry of an axis to the next.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The place of each number of `shape` in an array with these strides.
pub(super) fn places(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut places = vec![0];
    for (&size, &stride) in shape.iter().zip(strides) {
        let entry = |&place: &usize| (0..size).map(move |index| place + index * stride);
        places = places.iter().flat_map(entry).collect();
    }
    places
}

/// The shape that arrays of these shapes are brought to: an axis of one entry is repeated, axes in front may be missing.
pub(super) fn common_shape(one: &[usize], other: &[usize]) -> Found<Vec<usize>> {
    let rank = one.len().max(other.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |own| shape[own]);
    (0..rank)
        .map(|axis| match (size(one, axis), size(other, axis)) {
            (1, size) | (size, 1) => Ok(size),
            (size, same) if size == same => Ok(size),
            _ => Err(format!(
                "found the shapes {one:?} and {other:?}, expected ones that fit"
            )),
        })
        .collect()
}

/// The place in an array of shape `own` of each number of the common shape.
pub(super) fn repeated(own: &[usize], common: &[usize]) -> Vec<usize> {
    let missing = common.len() - own.len();
    let mut all = vec![0; missing];
    let stride = |(&size, stride)| if size == 1 { 0 } else { stride };
    all.extend(own.iter().zip(strides(own)).map(stride));
    places(common, &all)
}
