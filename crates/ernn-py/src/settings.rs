//! Settings of a run by their names in `config.toml`, over the command's defaults for other data.

use ernn::cell::CellConfig;
use ernn::train::{Given, RunConfig, SETTINGS, Setting};
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
    /// The command's defaults for so many sequences, the longest of so many steps, with one answer each or one a step.
    #[new]
    #[pyo3(signature = (sequences, longest, of_steps = false))]
    fn new(sequences: usize, longest: usize, of_steps: bool) -> Self {
        Settings {
            config: match of_steps {
                true => RunConfig::defaults_for_steps(SOURCE),
                false => RunConfig::defaults_for_arrays(SOURCE, sequences, longest),
            },
        }
    }

    /// Puts settings over these: names of the table of settings, flags with `_`, and their values.
    fn apply(&mut self, settings: &Bound<PyDict>) -> PyResult<()> {
        let given = |(name, value): (Bound<PyAny>, Bound<PyAny>)| {
            let name: String = name.extract()?;
            Setting::given(&name, toml_value(&name, &value)?).map_err(exception)
        };
        let given: Vec<Given> = settings.iter().map(given).collect::<PyResult<_>>()?;
        self.config.apply(&given, true).map_err(exception)
    }

    /// The names that `apply` takes.
    #[staticmethod]
    fn names() -> Vec<String> {
        SETTINGS.iter().map(Setting::name).collect()
    }

    /// Changes one setting of all layers.
    fn set_in_layers(&mut self, name: &str, value: &Bound<PyAny>) -> PyResult<()> {
        self.config
            .set_in_layers(name, &toml_value(name, value)?)
            .map_err(exception)
    }

    /// What to do about missing values.
    fn set_missing(&mut self, policy: &str) -> PyResult<()> {
        self.config
            .set("data", "missing", Value::String(policy.to_string()))
            .map_err(exception)
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
pub fn toml_value(name: &str, value: &Bound<PyAny>) -> PyResult<Value> {
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
