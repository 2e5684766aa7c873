//! A trained model: the file of the command, in both directions.

use std::path::{Path, PathBuf};

use ernn::checkpoint::{Listening, SavedModel};
use ernn::data::{MissingPolicy, Part};
use ernn::evaluate::{self, Prediction};
use ernn::export::{Options, Samples, Target};
use ernn::train::RunConfig;
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::failure::exception;
use crate::sequences::Arrays;
use crate::stream::{Listener, Stream};
use crate::threads;

/// The class of each sequence, an index into the classes, and its probabilities `[sequences, classes]`.
type Predictions<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray2<f64>>);

/// A trained model.
#[pyclass(module = "ernn._ernn", frozen)]
pub struct Model {
    saved: SavedModel,
}

impl Model {
    pub fn new(saved: SavedModel) -> Self {
        Model { saved }
    }

    fn arrays<'py>(&self, py: Python<'py>, found: &[Prediction]) -> PyResult<Predictions<'py>> {
        let classes = PyArray1::from_iter(py, found.iter().map(|prediction| prediction.class as u32));
        let values = found.iter().flat_map(|prediction| &prediction.probabilities).copied();
        let shape = [found.len(), self.saved.classes.len()];
        Ok((classes, PyArray1::from_iter(py, values).reshape(shape)?))
    }

    /// Sequences whose missing values are treated as in its run, or as `missing` says.
    fn part(&self, sequences: &Arrays, missing: Option<&str>) -> PyResult<Part> {
        sequences.part(missing.map_or_else(|| self.missing(), |policy| policy.parse().map_err(exception))?)
    }

    /// What its run did about missing values.
    fn missing(&self) -> PyResult<MissingPolicy> {
        if self.saved.provenance.is_imported() {
            return Ok(MissingPolicy::default());
        }
        let settings = &self.saved.provenance.settings;
        let config = RunConfig::from_toml(settings, Path::new("the model's settings"), None);
        Ok(config.map_err(exception)?.data.missing)
    }
}

#[pymethods]
impl Model {
    /// Reads a model file, or the one in a run folder.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        SavedModel::load(&path).map(Model::new).map_err(exception)
    }

    /// The model in a file's bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        SavedModel::from_bytes(Path::new("the bytes"), bytes)
            .map(Model::new)
            .map_err(exception)
    }

    /// The bytes of its file; equal models give equal bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.saved.to_bytes())
    }

    /// Writes its file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.saved.save(&path).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py),)))
    }

    /// Class names in the order of the probabilities.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.saved.classes.clone()
    }

    /// Channel names.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.saved.feature_names.clone()
    }

    /// What is learned, as in the file: `classification`, ...
    #[getter]
    fn task(&self) -> String {
        let task = serde_json::to_value(self.saved.model.config().task).ok();
        task.and_then(|task| task.as_str().map(String::from))
            .unwrap_or_default()
    }

    /// Kinds of the layers.
    #[getter]
    fn cells(&self) -> Vec<&'static str> {
        self.saved
            .model
            .config()
            .layers
            .iter()
            .map(|layer| layer.name())
            .collect()
    }

    /// Number of parameters.
    #[getter]
    fn parameter_count(&self) -> usize {
        self.saved.model.parameters().len()
    }

    /// The settings of its run in TOML; empty for an imported model.
    #[getter]
    fn settings(&self) -> &str {
        &self.saved.provenance.settings
    }

    /// Its tensors by their names in the file.
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for span in self.saved.model.spans() {
            let values = self.saved.model.parameters()[span.range()].to_pyarray(py);
            let tensor: Bound<PyArrayDyn<f32>> = values.reshape(span.shape.clone())?;
            all.set_item(&span.name, tensor)?;
        }
        Ok(all)
    }

    /// Classifies sequences; missing values are treated as in its run, or as `missing` says.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        sequences: Arrays,
        missing: Option<&str>,
        threads: usize,
    ) -> PyResult<Predictions<'py>> {
        let part = self.part(&sequences, missing)?;
        let found = threads::run(py, threads, || evaluate::predict(&self.saved, &part))?.map_err(exception)?;
        self.arrays(py, &found)
    }

    /// The same of each step of all sequences, one after the other, of a model of steps.
    fn predict_steps<'py>(
        &self,
        py: Python<'py>,
        sequences: Arrays,
        missing: Option<&str>,
        threads: usize,
    ) -> PyResult<Predictions<'py>> {
        let part = self.part(&sequences, missing)?;
        let found = threads::run(py, threads, || evaluate::predict_steps(&self.saved, &part, &[]))?;
        self.arrays(py, &found.map_err(exception)?.concat())
    }

    /// How many numbers a model of numbers says of each sequence, and which quantiles of each.
    #[getter]
    fn numbers(&self) -> (usize, Vec<f64>) {
        let config = self.saved.model.config();
        (config.targets(), config.quantiles.clone())
    }

    /// The probability of each label `[sequences, labels]`, of a model of labels of which several can hold; missing values as in
    /// [`Model::predict`].
    fn predict_labels<'py>(
        &self,
        py: Python<'py>,
        sequences: Arrays,
        missing: Option<&str>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let part = self.part(&sequences, missing)?;
        let found = threads::run(py, threads, || evaluate::predict_labels(&self.saved, &part, &[]))?;
        let found = found.map_err(exception)?;
        let shape = [found.len(), self.saved.classes.len()];
        PyArray1::from_iter(py, found.into_iter().flatten()).reshape(shape)
    }

    /// The numbers of each sequence, one after the other, of a model of numbers; missing values as in [`Model::predict`].
    fn predict_numbers<'py>(
        &self,
        py: Python<'py>,
        sequences: Arrays,
        missing: Option<&str>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let part = self.part(&sequences, missing)?;
        let found = threads::run(py, threads, || evaluate::predict_numbers(&self.saved, &part, &[]))?;
        Ok(PyArray1::from_vec(py, found.map_err(exception)?))
    }

    /// The same of each step of all sequences, one after the other, of a model of numbers of steps.
    fn predict_step_numbers<'py>(
        &self,
        py: Python<'py>,
        sequences: Arrays,
        missing: Option<&str>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let part = self.part(&sequences, missing)?;
        let found = threads::run(py, threads, || evaluate::predict_step_numbers(&self.saved, &part, &[]))?;
        Ok(PyArray1::from_vec(py, found.map_err(exception)?.concat()))
    }

    /// What is worth saying about sequences of so many steps.
    fn length_note(&self, longest: usize) -> Option<String> {
        evaluate::length_note(&self.saved.model, longest)
    }

    /// A stream at its beginning.
    fn stream(&self) -> PyResult<Stream> {
        Stream::new(self.saved.clone())
    }

    /// A stream without an end at its beginning: as the model's file says, but for what is given.
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (window, hop, average, on, off, least, rest, background))]
    fn listener(
        &self,
        window: Option<usize>,
        hop: Option<usize>,
        average: Option<u16>,
        on: Option<f64>,
        off: Option<f64>,
        least: Option<u16>,
        rest: Option<u16>,
        background: Option<Vec<String>>,
    ) -> PyResult<Listener> {
        let saved = &self.saved;
        let of_clips = saved.sound().and_then(|recipe| Some(recipe.mel.frames(recipe.length?)));
        let fresh = window
            .or(of_clips)
            .map(|window| Listening::of_window(window, &saved.classes));
        let mut way = match (window, saved.decision.listening.clone()) {
            (None, Some(stored)) => stored,
            (_, stored) => {
                let problem =
                    "window: the model does not say how long its sequences were, expected the steps of a window";
                let fresh = fresh.ok_or_else(|| PyValueError::new_err(problem))?;
                match stored {
                    Some(stored) => Listening {
                        window: fresh.window,
                        hop: fresh.hop,
                        ..stored
                    },
                    None => fresh,
                }
            }
        };
        way.hop = hop.unwrap_or(way.hop);
        way.average = average.unwrap_or(way.average);
        way.on = on.unwrap_or(way.on);
        way.off = off.unwrap_or(way.off.min(way.on));
        way.least = least.unwrap_or(way.least);
        way.rest = rest.unwrap_or(way.rest);
        way.background = background.unwrap_or(way.background);
        Listener::new(saved, &way)
    }

    /// Writes a folder of code that computes the same in single precision, `to` as at the command; gives the program that has tried it, if
    /// there is one.
    fn export(&self, py: Python, to: &str, path: PathBuf, name: String) -> PyResult<Option<String>> {
        let target: Target = to.parse().map_err(exception)?;
        let options = Options {
            name,
            ..Options::default()
        };
        let report = py.detach(|| {
            let samples = Samples::drawn(&self.saved);
            target.write(&path, &self.saved, &samples, &options)
        });
        Ok(report.map_err(exception)?.program)
    }
}
