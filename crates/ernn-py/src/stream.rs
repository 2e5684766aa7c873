//! A model that reads steps as they come.

use ernn::checkpoint::SavedModel;
use ernn::evaluate;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::failure::exception;

/// A stream of steps.
#[pyclass(module = "ernn._ernn")]
pub struct Stream {
    stream: evaluate::Stream<'static>,
}

impl Stream {
    pub fn new(saved: SavedModel) -> PyResult<Self> {
        let stream = evaluate::Stream::owned(saved).map_err(exception)?;
        Ok(Stream { stream })
    }
}

#[pymethods]
impl Stream {
    /// One step of raw values `[features]`; gives class and probabilities after it.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        values: PyReadonlyArray1<f32>,
    ) -> PyResult<(usize, Bound<'py, PyArray1<f64>>)> {
        self.stream.push(values.as_slice()?).map_err(exception)?;
        let said = self.stream.prediction().expect("a step was taken");
        Ok((said.class, said.probabilities.to_pyarray(py)))
    }

    /// One step of raw values `[features]`; gives the numbers of a model of numbers after it.
    fn push_numbers(&mut self, values: PyReadonlyArray1<f32>) -> PyResult<Vec<f32>> {
        self.stream.push(values.as_slice()?).map_err(exception)?;
        Ok(self.stream.numbers())
    }

    /// One step of raw values `[features]`; gives the probability of each label after it, of a model of which several can hold.
    fn push_labels<'py>(
        &mut self,
        py: Python<'py>,
        values: PyReadonlyArray1<f32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.stream.push(values.as_slice()?).map_err(exception)?;
        Ok(self.stream.label_probabilities().unwrap_or_default().to_pyarray(py))
    }

    /// The next step is a first one.
    fn reset(&mut self) {
        self.stream.reset();
    }

    /// Steps since the beginning.
    #[getter]
    fn steps(&self) -> usize {
        self.stream.steps()
    }
}
