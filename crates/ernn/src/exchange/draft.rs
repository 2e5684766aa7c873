//! A model under construction: tensors by the names of their spans, until all are there.

use std::collections::HashMap;
use std::path::Path;

use super::matrix::Factors;
use super::{ImportOptions, Imported};
use crate::cell::Rank;
use crate::checkpoint::{Provenance, SavedModel};
use crate::data::{Derivation, Normalization};
use crate::model::{Model, ModelConfig};
use crate::{Error, Result};

/// Tensors and settings found so far.
pub(super) struct Draft<'a> {
    pub path: &'a Path,
    /// What the file is, e.g. `torch state dict`.
    pub origin: &'static str,
    pub config: ModelConfig,
    /// None: the file says nothing about it.
    pub normalization: Option<Normalization>,
    pub notes: Vec<String>,
    pub tensors: HashMap<String, Vec<f64>>,
}

impl Draft<'_> {
    pub fn put(&mut self, name: String, values: Vec<f64>) {
        let twice = self.tensors.insert(name, values);
        assert!(twice.is_none(), "each tensor is put once");
    }

    /// A matrix `letter`, or its factors `letter1` and `letter2`.
    pub fn put_factors(&mut self, prefix: &str, letter: &str, factors: Factors) {
        match factors {
            Factors::Full(matrix) => self.put(format!("{prefix}{letter}"), matrix.values),
            Factors::Low(left, right) => {
                self.put(format!("{prefix}{letter}1"), left.values);
                self.put(format!("{prefix}{letter}2"), right.values);
            }
        }
    }

    /// The model.
    pub fn finish(mut self, options: &ImportOptions) -> Result<Imported> {
        self.config.check()?;
        let mut parameters = Vec::new();
        for span in self.config.spans() {
            let values = self.tensors.remove(&span.name);
            let values = values.unwrap_or_else(|| panic!("no tensor was put as {}", span.name));
            assert_eq!(values.len(), span.len(), "{}", span.name);
            parameters.extend(self.singles(&span.name, &values)?);
        }
        let (inputs, classes) = (self.config.input_size, self.config.classes);
        let numbered =
            |count: usize, from: usize, word: &str| (from..from + count).map(|n| format!("{word}{n}")).collect();
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let provenance = Provenance {
            dataset: format!("{} {file}", self.origin),
            version: env!("CARGO_PKG_VERSION").to_string(),
            ..Provenance::default()
        };
        let classes = match &options.classes {
            Some(names) => distinct("classes", names, classes, "row of the readout")?,
            None => numbered(classes, 0, ""),
        };
        let feature_names = match &options.feature_names {
            Some(names) => distinct("feature_names", names, inputs, "value of a step")?,
            None => numbered(inputs, 1, "channel "),
        };
        let model = SavedModel {
            model: Model::from_parameters(self.config, parameters)?,
            derivation: Derivation::default(),
            decision: Default::default(),
            normalization: self.normalization.unwrap_or_else(|| Normalization::identity(inputs)),
            classes,
            vocabulary: Vec::new(),
            feature_names,
            provenance,
        };
        Ok(Imported {
            model,
            notes: self.notes,
        })
    }

    fn singles(&self, name: &str, values: &[f64]) -> Result<Vec<f32>> {
        singles(values).map_err(|(index, value)| {
            let found = format!("{value} at index {index} of what becomes `{name}`");
            let expected = "numbers that single precision can hold";
            Error::format(self.path, "", found, expected)
        })
    }
}

/// The values in single precision, or the first one that is not finite there.
pub(super) fn singles(values: &[f64]) -> std::result::Result<Vec<f32>, (usize, f64)> {
    let single = |(index, &value): (usize, &f64)| match value as f32 {
        single if single.is_finite() => Ok(single),
        _ => Err((index, value)),
    };
    values.iter().enumerate().map(single).collect()
}

/// The rank of factors.
pub(super) fn rank(factors: &Factors) -> Rank {
    match factors {
        Factors::Full(_) => Rank::Full,
        Factors::Low(left, _) => Rank::Low(left.columns),
    }
}

/// Names that a person gave, if they are as many as there should be and no two alike.
fn distinct(what: &str, names: &[String], expected: usize, of: &str) -> Result<Vec<String>> {
    if names.len() != expected {
        let found = format!("{} names", names.len());
        return Err(Error::setting(what, found, format!("{expected}, one a {of}")));
    }
    for (index, name) in names.iter().enumerate() {
        // Labels of data have no blanks around them.
        if name.is_empty() || name.trim() != name {
            let expected = "names without blanks around them";
            return Err(Error::setting(what, format!("`{name}`"), expected));
        }
        if names[..index].contains(name) {
            return Err(Error::setting(what, format!("`{name}` twice"), "names that differ"));
        }
    }
    Ok(names.to_vec())
}
