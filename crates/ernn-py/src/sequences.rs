//! Sequences from Python: values `[steps of all, features]` in one array, and where each sequence starts.

use ernn::data::{self, MissingPolicy, Part};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::exception;

/// What the sequences are called in errors.
pub const NAME: &str = "X";

/// Arrays as `ernn._sequences.gather` lays them out.
#[derive(FromPyObject)]
pub struct Arrays<'py> {
    /// `[steps of all sequences * features]`.
    values: PyReadonlyArray1<'py, f32>,
    /// `[sequences + 1]`, in steps.
    offsets: PyReadonlyArray1<'py, i64>,
    features: usize,
}

impl Arrays<'_> {
    /// The sequences as a part, missing values filled.
    pub fn part(&self, missing: MissingPolicy) -> PyResult<Part> {
        let offsets = unsigned(&self.offsets)?;
        let values = self.values.as_slice()?.to_vec();
        data::in_memory(NAME, self.features, offsets, values, missing).map_err(exception)
    }
}

/// Whole numbers that count or place something.
pub fn unsigned(array: &PyReadonlyArray1<i64>) -> PyResult<Vec<usize>> {
    let mut all = Vec::with_capacity(array.len());
    for &value in array.as_slice()? {
        let value = usize::try_from(value);
        all.push(value.map_err(|_| PyValueError::new_err("expected numbers of 0 or more"))?);
    }
    Ok(all)
}
