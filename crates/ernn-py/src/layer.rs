//! One layer of cells for torch: whole sequences forward, over flat arrays that share torch's memory.
//!
//! Values of a step of a sequence stand together; step `t` of sequence `b` begins at `starts[t] + b * stride`. That is time-major,
//! batch-first and packed alike. Inputs are copied into the kernels' panels, states from there into `output`: nothing else is.

use std::sync::{Arc, Mutex, PoisonError};

use ernn::cell::{CellConfig, Folded, FoldedGradient, Piece};
use ernn::{Isa, Panels, Real};
use ernn_kernels::{StatesOut, StepRows, Trace};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::sequences::unsigned;
use crate::settings;
use crate::tape::{Recorded, Tape};
use crate::threads;

/// Buffers of one pass, kept for the next one: fresh memory costs more than a small layer's arithmetic.
pub struct Buffers<F: Real> {
    pub input: Panels<F>,
    pub trace: Trace<F>,
    pub at_input: Panels<F>,
    pub gradient: FoldedGradient<F>,
}

impl<F: Real> Default for Buffers<F> {
    fn default() -> Self {
        let empty = || Panels::new(Isa::best(), 1, &[]);
        Buffers {
            input: empty(),
            trace: Trace::default(),
            at_input: empty(),
            gradient: FoldedGradient::default(),
        }
    }
}

/// Buffers that nobody uses now; a few, so that one long batch does not stay in memory many times.
pub type Pool<F> = Arc<Mutex<Vec<Buffers<F>>>>;

const MOST_KEPT: usize = 2;

/// Puts buffers back.
pub fn give_back<F: Real>(pool: &Pool<F>, buffers: Buffers<F>) {
    let mut kept = pool.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < MOST_KEPT {
        kept.push(buffers);
    }
}

/// Where the rows of a flat array stand.
#[derive(FromPyObject)]
pub struct Rows<'py> {
    starts: PyReadonlyArray1<'py, i64>,
    stride: usize,
}

/// The same, as the library reads it.
pub struct Places {
    starts: Vec<usize>,
    stride: usize,
}

impl Rows<'_> {
    /// Checks that all rows of these sequences lie inside the array.
    pub fn places<F: Real>(&self, lengths: &[usize], width: usize, values: &[F]) -> PyResult<Places> {
        let places = Places {
            starts: unsigned(&self.starts)?,
            stride: self.stride,
        };
        if !places.rows(values, false).hold(lengths, width) {
            return Err(PyValueError::new_err("rows: found one beyond the end of the array"));
        }
        Ok(places)
    }
}

impl Places {
    /// The rows of `values`.
    pub fn rows<'a, F>(&'a self, values: &'a [F], reversed: bool) -> StepRows<'a, F> {
        StepRows {
            values,
            starts: &self.starts,
            stride: self.stride,
            reversed,
        }
    }
}

/// What a pass reads.
#[derive(FromPyObject)]
pub struct Call<'py> {
    /// A number type's array: `[parameters]`.
    parameters: Bound<'py, PyAny>,
    /// The memory of the inputs.
    input: Bound<'py, PyAny>,
    rows: Rows<'py>,
    /// Steps of each sequence, the longest first.
    lengths: PyReadonlyArray1<'py, i64>,
    /// Whether each sequence is read from its last step to its first.
    reversed: bool,
    /// `[sequences * state]`; none: zeros.
    initial: Option<Bound<'py, PyAny>>,
    /// `[steps of all sequences * hidden]`, step by step: the states are written here.
    output: Bound<'py, PyAny>,
    /// Whether a backward pass follows.
    keep: bool,
    threads: usize,
}

/// A layer of one direction: a cell and the size of its input.
#[pyclass(module = "ernn._ernn", frozen)]
pub struct Layer {
    cell: CellConfig,
    inputs: usize,
    single: Pool<f32>,
    double: Pool<f64>,
}

impl Layer {
    fn of(cell: CellConfig, inputs: usize) -> Self {
        Layer {
            cell,
            inputs,
            single: Pool::default(),
            double: Pool::default(),
        }
    }

    fn run<'py, F: Real + Element>(
        &self,
        py: Python<'py>,
        call: &Call<'py>,
        pool: &Pool<F>,
        recorded: impl FnOnce(Recorded<F>) -> Tape,
    ) -> PyResult<(Bound<'py, PyArray1<F>>, Option<Tape>)> {
        let parameters: PyReadonlyArray1<F> = call.parameters.extract()?;
        let parameters = sized(parameters.as_slice()?, self.parameter_count(), "parameters")?.to_vec();
        let input: PyReadonlyArray1<F> = call.input.extract()?;
        let input = input.as_slice()?;
        let lengths = unsigned(&call.lengths)?;
        if !lengths.is_sorted_by(|a, b| a >= b) {
            return Err(PyValueError::new_err(
                "lengths: found a sequence longer than the one before it",
            ));
        }
        let places = call.rows.places(&lengths, self.inputs, input)?;
        let cell: Folded<F> = self.cell.fold(self.inputs, &parameters);
        let mut output: PyReadwriteArray1<F> = call.output.extract()?;
        let output = output.as_slice_mut()?;
        sized(output, lengths.iter().sum::<usize>() * cell.hidden(), "output")?;
        let initial: Option<PyReadonlyArray1<F>> = call.initial.as_ref().map(|array| array.extract()).transpose()?;
        let initial = match &initial {
            Some(array) => Some(sized(
                array.as_slice()?,
                lengths.len() * cell.state_len(),
                "initial state",
            )?),
            None => None,
        };
        let mut buffers = pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        let (reversed, keep) = (call.reversed, call.keep);
        let last = threads::run_kernels(py, call.threads, || {
            let rows = places.rows(input, reversed);
            buffers.input.pack_steps(self.inputs, &lengths, |sequence, step| {
                rows.row(sequence, lengths[sequence], step, self.inputs)
            });
            let piece = Piece {
                input: &buffers.input,
                initial,
                first_step: 0,
            };
            let states = StatesOut {
                values: output,
                reversed,
            };
            cell.run_into(piece, &mut buffers.trace, keep, states);
            buffers.trace.last_state()
        })?;
        let last = last.to_pyarray(py);
        if !keep {
            give_back(pool, buffers);
            return Ok((last, None));
        }
        let tape = recorded(Recorded {
            config: self.cell.clone(),
            inputs: self.inputs,
            parameters,
            cell,
            reversed,
            buffers: Some(buffers),
            pool: Arc::clone(pool),
        });
        Ok((last, Some(tape)))
    }
}

/// The array, if it has the right size.
pub fn sized<'a, F>(values: &'a [F], expected: usize, name: &str) -> PyResult<&'a [F]> {
    if values.len() == expected {
        return Ok(values);
    }
    let found = values.len();
    Err(PyValueError::new_err(format!(
        "{name}: found {found} numbers, expected {expected}"
    )))
}

#[pymethods]
impl Layer {
    /// A cell of a kind with these settings by their names, for inputs of this size.
    #[new]
    fn new(kind: &str, inputs: usize, settings: &Bound<PyDict>) -> PyResult<Self> {
        Ok(Layer::of(settings::cell(kind, settings)?, inputs))
    }

    /// A layer from its own settings in JSON.
    #[staticmethod]
    fn from_json(text: &str, inputs: usize) -> PyResult<Self> {
        let cell: CellConfig = serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        cell.check().map_err(crate::failure::exception)?;
        Ok(Layer::of(cell, inputs))
    }

    /// Its settings in JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.cell).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, usize))> {
        let read = py.get_type::<Layer>().getattr("from_json")?;
        Ok((read, (self.to_json()?, self.inputs)))
    }

    /// Names and shapes of its tensors, in the order of the parameters.
    fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let spans = self.cell.spans(self.inputs, "", 0).into_iter();
        spans.map(|span| (span.name, span.shape)).collect()
    }

    /// Number of its parameters.
    #[getter]
    fn parameter_count(&self) -> usize {
        self.cell.parameter_count(self.inputs)
    }

    /// `D`.
    #[getter]
    fn hidden(&self) -> usize {
        self.cell.hidden()
    }

    /// Numbers in the state of a sequence: `D`, of an LSTM `2 D`.
    #[getter]
    fn state(&self) -> usize {
        let zeros = vec![0.0f32; self.parameter_count()];
        self.cell.fold(self.inputs, &zeros).state_len()
    }

    /// Initial parameters drawn from a seed.
    fn initial<'py>(&self, py: Python<'py>, seed: u64) -> Bound<'py, PyArray1<f64>> {
        let mut parameters = vec![0.0; self.parameter_count()];
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        self.cell.initialize(self.inputs, &mut random, &mut parameters);
        parameters.to_pyarray(py)
    }

    /// Runs over all sequences in single precision; gives each one's last state `[sequences * state]`, and the tape if it is kept.
    fn forward32<'py>(&self, py: Python<'py>, call: Call<'py>) -> PyResult<(Bound<'py, PyArray1<f32>>, Option<Tape>)> {
        self.run(py, &call, &self.single, Tape::single)
    }

    /// The same in double precision.
    fn forward64<'py>(&self, py: Python<'py>, call: Call<'py>) -> PyResult<(Bound<'py, PyArray1<f64>>, Option<Tape>)> {
        self.run(py, &call, &self.double, Tape::double)
    }
}
