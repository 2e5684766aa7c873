//! A model that reads steps as they come.

use ernn::checkpoint::{Listening, SavedModel};
use ernn::data::{Hearing, SoundRecipe};
use ernn::evaluate::{self, Event};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
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

/// A window that has ended: its last step from 1, its class, the probabilities, the class whose event is under way, and whether one begins
/// or has ended with it.
type Window<'py> = (
    usize,
    usize,
    Bound<'py, PyArray1<f64>>,
    Option<usize>,
    Option<&'static str>,
);

/// A stream without an end.
#[pyclass(module = "ernn._ernn")]
pub struct Listener {
    listener: evaluate::Listener<'static>,
    /// Of a model of sound.
    sound: Option<(SoundRecipe, Hearing)>,
}

impl Listener {
    pub fn new(saved: &SavedModel, listening: &Listening) -> PyResult<Self> {
        let sound = saved
            .sound()
            .map(|recipe| Ok((recipe.clone(), Hearing::new(&recipe.mel)?)));
        Ok(Listener {
            listener: evaluate::Listener::owned(saved, listening).map_err(exception)?,
            sound: sound.transpose().map_err(exception)?,
        })
    }

    fn take<'py>(&mut self, py: Python<'py>, step: &[f32]) -> PyResult<Option<Window<'py>>> {
        let heard = self.listener.push(step).map_err(exception)?;
        Ok(heard.map(|heard| {
            let (event, change) = match heard.event {
                Event::Begins(class) => (Some(class), Some("begins")),
                Event::Lasts(class) => (Some(class), None),
                Event::Ends(_) => (None, Some("ends")),
                Event::None => (None, None),
            };
            let prediction = heard.prediction;
            (
                heard.step,
                prediction.class,
                prediction.probabilities.to_pyarray(py),
                event,
                change,
            )
        }))
    }
}

#[pymethods]
impl Listener {
    /// One step of raw values `[features]`; gives the window that ends with it, if one does.
    fn push<'py>(&mut self, py: Python<'py>, values: PyReadonlyArray1<f32>) -> PyResult<Option<Window<'py>>> {
        self.take(py, values.as_slice()?)
    }

    /// Samples of sound at the model's rate; gives the windows that end with them.
    fn hear<'py>(&mut self, py: Python<'py>, samples: PyReadonlyArray1<i16>) -> PyResult<Vec<Window<'py>>> {
        let problem = "the model was not trained on recordings of sound: push() takes its steps";
        let (recipe, hearing) = self.sound.as_mut().ok_or_else(|| PyValueError::new_err(problem))?;
        let features = recipe.mel.filters;
        let steps = hearing.push(samples.as_slice()?);
        let mut windows = Vec::new();
        for step in steps.chunks_exact(features) {
            windows.extend(self.take(py, step)?);
        }
        Ok(windows)
    }

    /// When a step ends, from 1: in seconds for sound; none for what has no rate.
    fn end_of(&self, step: usize) -> Option<f64> {
        self.sound.as_ref().map(|(recipe, _)| recipe.end_of(step))
    }

    /// Samples of sound a second; none of a model that does not read sound.
    #[getter]
    fn sample_rate(&self) -> Option<u32> {
        self.sound.as_ref().map(|(recipe, _)| recipe.mel.rate)
    }

    /// The next step, or sample, is a first one.
    fn reset(&mut self) {
        self.listener.reset();
        if let Some((_, hearing)) = &mut self.sound {
            hearing.reset();
        }
    }
}
