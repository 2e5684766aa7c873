//! Errors of the library as Python exceptions, with the words that the command prints.

use std::io::ErrorKind;

use ernn::Error;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::{PyErr, create_exception};

create_exception!(
    ernn,
    DivergedError,
    pyo3::exceptions::PyArithmeticError,
    "Loss or gradient became infinite or NaN during training."
);

/// The exception for an error.
pub fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        Error::Fetch { .. } => PyOSError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        Error::NotFinite { .. } => DivergedError::new_err(text),
        Error::Format { .. } | Error::Missing { .. } | Error::Data { .. } | Error::Setting { .. } => {
            PyValueError::new_err(text)
        }
    }
}
