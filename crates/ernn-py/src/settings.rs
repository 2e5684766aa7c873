//! Settings of a run by their names in `config.toml`, over the command's defaults for other data.

use ernn::Error;
use ernn::cell::CellConfig;
use ernn::optim::{OptimizerConfig, Schedule};
use ernn::train::RunConfig;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use toml::Value;

use crate::failure::exception;

/// What the data of a run from Python is called in its settings.
pub const SOURCE: &str = "arrays";

/// The settings of a run.
#[pyclass(module = "ernn._ernn")]
#[derive(Clone)]
pub struct Settings {
    pub config: RunConfig,
}

#[pymethods]
impl Settings {
    /// The command's defaults for so many sequences, the longest of so many steps.
    #[new]
    fn new(sequences: usize, longest: usize) -> Self {
        Settings {
            config: RunConfig::defaults_for_arrays(SOURCE, sequences, longest),
        }
    }

    /// Makes all layers cells of a kind, and stacks so many of them.
    fn network(&mut self, cell: Option<&str>, layers: Option<usize>) -> PyResult<()> {
        if let Some(kind) = cell {
            self.config.change_cell(kind).map_err(exception)?;
        }
        layers.map_or(Ok(()), |layers| self.config.stack(layers).map_err(exception))
    }

    /// Changes one setting of all layers.
    fn set_in_layers(&mut self, name: &str, value: &Bound<PyAny>) -> PyResult<()> {
        self.config
            .set_in_layers(name, &toml_value(name, value)?)
            .map_err(exception)
    }

    /// Changes one setting of the table `data`, `model` or `training`.
    fn set(&mut self, table: &str, name: &str, value: &Bound<PyAny>) -> PyResult<()> {
        self.config
            .set(table, name, toml_value(name, value)?)
            .map_err(exception)
    }

    /// Schedule and optimizer by their kinds; comes after the epochs.
    #[pyo3(signature = (schedule, halve_every, optimizer, weight_decay))]
    fn training_rules(
        &mut self,
        schedule: Option<&str>,
        halve_every: Option<usize>,
        optimizer: Option<&str>,
        weight_decay: Option<f64>,
    ) -> PyResult<()> {
        let training = &mut self.config.training;
        let every = match (halve_every, &training.schedule) {
            (Some(every), _) => every,
            (None, Schedule::Step { every, .. }) => *every,
            (None, _) => 0,
        };
        match (schedule, halve_every) {
            (None | Some("step"), _) => training.schedule = Schedule::Step { every, factor: 0.5 },
            (Some("constant"), None) => training.schedule = Schedule::Constant,
            (Some("cosine"), None) => {
                let epochs = training.epochs;
                training.schedule = Schedule::Cosine { epochs, floor: 0.0 };
            }
            (Some(kind @ ("constant" | "cosine")), Some(every)) => {
                let expected = format!("None: it does not go with the schedule {kind}");
                return Err(refusal("halve_every", every, &expected));
            }
            (Some(kind), _) => return Err(refusal("schedule", kind, "step, cosine or constant")),
        }
        if let Some(kind) = optimizer {
            let known = OptimizerConfig::of_kind(kind);
            training.optimizer = known.ok_or_else(|| refusal("optimizer", kind, "adam, adamw or sgd"))?;
        }
        if let Some(decay) = weight_decay {
            *training.optimizer.weight_decay_mut() = decay;
        }
        Ok(())
    }

    /// Refuses values out of range.
    fn check(&self) -> PyResult<()> {
        self.config.check().map_err(exception)
    }

    /// The complete settings in TOML.
    fn to_toml(&self) -> String {
        self.config.to_toml()
    }
}

fn refusal(name: &str, found: impl std::fmt::Display, expected: &str) -> PyErr {
    exception(Error::setting(name, found, expected))
}

/// A cell of a kind with the literature's defaults, and these settings over them.
pub fn cell(kind: &str, settings: &Bound<PyDict>) -> PyResult<CellConfig> {
    let mut config = RunConfig::defaults(SOURCE);
    config.change_cell(kind).map_err(exception)?;
    config.model.layers = CellConfig::of_kind(kind).into_iter().collect();
    for (name, value) in settings {
        let name: String = name.extract()?;
        let value = toml_value(&name, &value)?;
        config.set_in_layers(&name, &value).map_err(exception)?;
    }
    let cell = config.model.layers.swap_remove(0);
    cell.check().map_err(exception)?;
    Ok(cell)
}

/// A Python value as it would stand in a settings file.
fn toml_value(name: &str, value: &Bound<PyAny>) -> PyResult<Value> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<PyAny>, Bound<PyAny>)| Ok((key.extract()?, toml_value(name, &value)?));
        return dict
            .iter()
            .map(entry)
            .collect::<PyResult<toml::Table>>()
            .map(Value::Table);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let entries = value.try_iter()?.map(|entry| toml_value(name, &entry?));
        return entries.collect::<PyResult<Vec<_>>>().map(Value::Array);
    }
    let boolean = value.extract().map(Value::Boolean);
    let number = boolean.or_else(|_| value.extract().map(Value::Integer));
    number
        .or_else(|_| value.extract().map(Value::Float))
        .map_err(|_: PyErr| {
            let kind = value
                .get_type()
                .name()
                .map_or_else(|_| "?".to_string(), |kind| kind.to_string());
            PyTypeError::new_err(format!(
                "{name}: found a value of type {kind}, expected a number, a text or None"
            ))
        })
}
