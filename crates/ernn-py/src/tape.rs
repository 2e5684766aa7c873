//! What a forward pass leaves behind, and the way back.

use std::sync::Mutex;

use ernn::Real;
use ernn::cell::{CellConfig, Folded, Piece};
use ernn_kernels::StateGradient;
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1, ToPyArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::layer::{Buffers, Pool, Rows, give_back, sized};
use crate::threads;

/// A forward pass in one number type.
pub struct Recorded<F: Real> {
    pub config: CellConfig,
    pub inputs: usize,
    pub parameters: Vec<F>,
    pub cell: Folded<F>,
    pub reversed: bool,
    /// Always there until the end.
    pub buffers: Option<Buffers<F>>,
    pub pool: Pool<F>,
}

impl<F: Real> Drop for Recorded<F> {
    fn drop(&mut self) {
        if let Some(buffers) = self.buffers.take() {
            give_back(&self.pool, buffers);
        }
    }
}

/// The gradient at what a pass has given.
#[derive(FromPyObject)]
pub struct AtOutput<'py> {
    /// The memory of the gradient at all states, and where its rows stand.
    states: Option<(Bound<'py, PyAny>, Rows<'py>)>,
    /// At the last states, `[sequences * hidden]`.
    last: Option<Bound<'py, PyAny>>,
    /// At the last memories of an LSTM, `[sequences * hidden]`.
    last_memory: Option<Bound<'py, PyAny>>,
    /// `[steps of all sequences * inputs]`, step by step: the gradient at the inputs is written here.
    at_input: Option<Bound<'py, PyAny>>,
    /// Whether the gradient at the initial state is wanted.
    at_initial: bool,
    threads: usize,
}

/// The gradient of the parameters, and that of the initial states where it is wanted.
type Gradients<'py, F> = (Bound<'py, PyArray1<F>>, Option<Bound<'py, PyArray1<F>>>);

impl<F: Real + Element> Recorded<F> {
    fn backward<'py>(&mut self, py: Python<'py>, at: &AtOutput<'py>) -> PyResult<Gradients<'py, F>> {
        let missing = || PyRuntimeError::new_err("the pass is over");
        let buffers = self.buffers.as_mut().ok_or_else(missing)?;
        let Buffers {
            input,
            trace,
            at_input,
            gradient,
        } = buffers;
        let lengths = input.lengths().to_vec();
        let hidden = self.cell.hidden();
        let read = |array: &Option<Bound<'py, PyAny>>| -> PyResult<Option<PyReadonlyArray1<'py, F>>> {
            array.as_ref().map(|array| array.extract()).transpose()
        };
        let (last, last_memory) = (read(&at.last)?, read(&at.last_memory)?);
        let rows = |array: &'_ Option<PyReadonlyArray1<'py, F>>| -> PyResult<Option<Vec<F>>> {
            let Some(array) = array else { return Ok(None) };
            Ok(Some(
                sized(array.as_slice()?, lengths.len() * hidden, "gradient")?.to_vec(),
            ))
        };
        let (last, last_memory) = (rows(&last)?, rows(&last_memory)?);
        let all: Option<(PyReadonlyArray1<F>, &Rows)> = match &at.states {
            Some((array, rows)) => Some((array.extract()?, rows)),
            None => None,
        };
        let all = match &all {
            Some((array, rows)) => {
                let values = array.as_slice()?;
                Some((values, rows.places(&lengths, hidden, values)?))
            }
            None => None,
        };
        let mut written: Option<PyReadwriteArray1<F>> =
            at.at_input.as_ref().map(|array| array.extract()).transpose()?;
        let written = match &mut written {
            Some(array) => {
                let values = array.as_slice_mut()?;
                sized(
                    values,
                    lengths.iter().sum::<usize>() * self.inputs,
                    "gradient at the inputs",
                )?;
                Some(values)
            }
            None => None,
        };
        let mut initial = at.at_initial.then(Vec::new);
        let (config, cell, parameters) = (&self.config, &self.cell, &self.parameters);
        let (inputs, reversed) = (self.inputs, self.reversed);
        let found = threads::run_kernels(py, at.threads, || {
            let states = StateGradient {
                last: last.as_deref(),
                last_memory: last_memory.as_deref(),
                rows: all.as_ref().map(|(values, places)| places.rows(values, reversed)),
                ..StateGradient::default()
            };
            let piece = Piece {
                input,
                initial: None,
                first_step: 0,
            };
            let to_input = written.is_some().then_some(&mut *at_input);
            cell.backward(piece, trace, states, gradient, to_input, initial.as_mut());
            if let Some(out) = written {
                at_input.unpack_steps(reversed, out);
            }
            let mut found = vec![F::ZERO; parameters.len()];
            config.unfold(inputs, parameters, gradient, &mut found);
            found
        })?;
        Ok((found.to_pyarray(py), initial.map(|values| values.to_pyarray(py))))
    }
}

enum Kind {
    Single(Recorded<f32>),
    Double(Recorded<f64>),
}

/// A forward pass that waits for its backward pass.
#[pyclass(module = "ernn._ernn", frozen)]
pub struct Tape {
    kind: Mutex<Kind>,
}

impl Tape {
    /// Of single precision.
    pub fn single(recorded: Recorded<f32>) -> Self {
        let kind = Mutex::new(Kind::Single(recorded));
        Tape { kind }
    }

    /// Of double precision.
    pub fn double(recorded: Recorded<f64>) -> Self {
        let kind = Mutex::new(Kind::Double(recorded));
        Tape { kind }
    }
}

#[pymethods]
impl Tape {
    /// The gradients of the parameters, and of the initial states where they are wanted.
    fn backward<'py>(
        &self,
        py: Python<'py>,
        at: AtOutput<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        // Waiting here would keep the interpreter from the thread that is at work.
        let busy = |_| PyRuntimeError::new_err("another thread is on its way back through this pass");
        let mut kind = self.kind.try_lock().map_err(busy)?;
        match &mut *kind {
            Kind::Single(recorded) => recorded.backward(py, &at).map(untyped),
            Kind::Double(recorded) => recorded.backward(py, &at).map(untyped),
        }
    }
}

fn untyped<'py, F: Element>(
    (parameters, initial): Gradients<'py, F>,
) -> (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>) {
    (parameters.into_any(), initial.map(Bound::into_any))
}
