//! Recordings cut into windows, as the command cuts them.

use std::path::PathBuf;

use ernn::data::{self, OpenOptions, Sequences, TableOptions, TextOptions};
use numpy::{PyArray1, PyArrayMethods, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::exception;
use crate::settings::toml_value;

/// Windows of a file or a folder (`path`), or of a table as CSV (`table`). `options` are the settings of a table in `config.toml`
/// (`[data.table]`); `label` is the label column.
#[pyfunction]
#[pyo3(signature = (path, table, options, label, missing))]
pub fn windows<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    table: Option<&str>,
    options: &Bound<'py, PyDict>,
    label: Option<String>,
    missing: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let options = OpenOptions {
        missing: missing.parse().map_err(exception)?,
        text: TextOptions {
            label_column: label,
            ..TextOptions::default()
        },
        table: table_options(options)?,
        ..OpenOptions::default()
    };
    let found = py.detach(|| match (&path, table) {
        (Some(path), _) => data::open_windows(path, &options),
        (None, table) => data::read_windows(table.unwrap_or_default().as_bytes(), "the table", &options),
    });
    as_dict(py, found.map_err(exception)?)
}

fn table_options(options: &Bound<PyDict>) -> PyResult<TableOptions> {
    let value = toml_value("recordings", options.as_any())?;
    value
        .try_into()
        .map_err(|error: toml::de::Error| PyValueError::new_err(error.message().to_owned()))
}

fn as_dict(py: Python, found: Sequences) -> PyResult<Bound<PyDict>> {
    let part = &found.part;
    let steps = part.steps();
    let values = part.values.numbers();
    let all = PyDict::new(py);
    all.set_item("values", values.to_pyarray(py).reshape([steps, part.features])?)?;
    all.set_item(
        "offsets",
        PyArray1::from_iter(py, part.offsets.iter().map(|&step| step as i64)),
    )?;
    all.set_item("labels", part.labels.to_pyarray(py))?;
    all.set_item("step_labels", part.step_labels.to_pyarray(py))?;
    all.set_item("numbers", part.numbers.to_pyarray(py))?;
    all.set_item("step_numbers", part.step_numbers.to_pyarray(py))?;
    all.set_item("groups", part.groups.to_pyarray(py))?;
    all.set_item("classes", found.classes)?;
    all.set_item("group_names", found.group_names)?;
    all.set_item("names", found.names)?;
    all.set_item("times", found.times.into_iter().map(Vec::from).collect::<Vec<_>>())?;
    all.set_item("channels", found.feature_names)?;
    all.set_item("notes", found.notes)?;
    Ok(all)
}
