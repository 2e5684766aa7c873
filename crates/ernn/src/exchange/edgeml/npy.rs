//! `.npy` files of plain arrays: read with the reader of the data room, written as NumPy itself writes them.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data;
use crate::exchange::draft::singles;
use crate::exchange::matrix::Matrix;
use crate::{Error, Result};

/// EdgeML's folder.
pub(super) struct Folder<'a>(pub &'a Path);

impl Folder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.npy"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// An error about the folder.
    pub fn error(&self, found: impl Display, expected: impl Display) -> Error {
        Error::format(self.0, "", found, expected)
    }

    /// An error about one of the files.
    pub fn error_in(&self, name: &str, found: impl Display, expected: impl Display) -> Error {
        Error::format(&self.path(name), "", found, expected)
    }

    /// Shape and numbers of a file.
    fn array(&self, name: &str, expected: &str) -> Result<(Vec<usize>, Vec<f64>)> {
        let path = self.path(name);
        if !path.is_file() {
            return Err(Error::format(&path, "", "no such file", expected));
        }
        let bytes = fs::read(&path).map_err(Error::io(&path, "read"))?;
        data::numbers(&bytes, &path)
    }

    fn finite(&self, name: &str, values: &[f64]) -> Result<()> {
        singles(values).map(|_| ()).map_err(|(index, value)| {
            let found = format!("{value} at index {index}");
            self.error_in(name, found, "numbers that single precision can hold")
        })
    }

    /// A matrix without an empty side.
    pub fn matrix(&self, name: &str, expected: &str) -> Result<Matrix> {
        let (shape, values) = self.array(name, expected)?;
        self.finite(name, &values)?;
        match shape[..] {
            [rows, columns] if rows > 0 && columns > 0 => Ok(Matrix::new(rows, columns, values)),
            _ => Err(self.error_in(name, format!("shape {shape:?}"), expected)),
        }
    }

    /// The numbers of an array with at most one side longer than 1; so many where `len` says so.
    pub fn vector(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>> {
        let values = self.any_vector(name, len)?;
        self.finite(name, &values)?;
        Ok(values)
    }

    /// The same, with infinite numbers allowed.
    pub fn any_vector(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>> {
        let expected = match len {
            Some(1) => "one number".to_string(),
            Some(len) => format!("shape [1, {len}] or [{len}]"),
            None => "a vector".to_string(),
        };
        let (shape, values) = self.array(name, &expected)?;
        let longest = shape.iter().copied().max().unwrap_or(1);
        if values.is_empty() || longest != values.len() || len.is_some_and(|len| len != longest) {
            return Err(self.error_in(name, format!("shape {shape:?}"), expected));
        }
        Ok(values)
    }
}

/// An array of single-precision numbers, `float32`.
pub(super) fn single(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let numbers: Vec<u8> = values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    data::npy_bytes("<f4", shape, &numbers)
}

/// An array of double-precision numbers, `float64`.
pub(super) fn double(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let numbers: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    data::npy_bytes("<f8", shape, &numbers)
}
