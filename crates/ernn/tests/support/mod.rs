//! Reads golden files; `reference/README.md` states their layout.

// Each test binary compiles this file for itself and uses a part of it.
#![allow(dead_code)]

use std::path::Path;

use ernn::Real;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// One golden file: tensors, and JSON that says which case uses them in which role.
pub struct Golden {
    bytes: Vec<u8>,
    descriptions: Vec<Value>,
}

/// One case of a golden file.
pub struct Case<'a> {
    tensors: SafeTensors<'a>,
    /// Settings of the case; see the README for their names.
    pub description: &'a Value,
}

impl Golden {
    /// Opens a file of `tests/golden`.
    pub fn open(name: &str) -> Golden {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (_, header) = SafeTensors::read_metadata(&bytes).expect("a safetensors file");
        let metadata = header.metadata().as_ref().expect("metadata");
        let descriptions = serde_json::from_str(&metadata["cases"]).expect("descriptions in JSON");
        Golden { bytes, descriptions }
    }

    /// All cases, in the order of the script.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.descriptions.iter().map(|description| Case {
            tensors: SafeTensors::deserialize(&self.bytes).expect("a safetensors file"),
            description,
        })
    }

    /// The cases whose name starts with `prefix` and whose numbers are of type `F`; at least one.
    pub fn cases_of<F: Real>(&self, prefix: &str) -> Vec<Case<'_>> {
        let suffix = if size_of::<F>() == 4 { ".f32" } else { ".f64" };
        let wanted = |case: &Case| case.name().starts_with(prefix) && case.name().ends_with(suffix);
        let found: Vec<_> = self.cases().filter(wanted).collect();
        assert!(!found.is_empty(), "no golden case {prefix}*{suffix}");
        found
    }
}

impl Case<'_> {
    /// Name of the case.
    pub fn name(&self) -> &str {
        self.description["name"].as_str().expect("a name")
    }

    /// A setting that is a number.
    pub fn number(&self, setting: &str) -> f64 {
        self.description[setting]
            .as_f64()
            .unwrap_or_else(|| self.lacks(setting))
    }

    /// A setting that is a whole number.
    pub fn count(&self, setting: &str) -> usize {
        self.description[setting]
            .as_u64()
            .unwrap_or_else(|| self.lacks(setting)) as usize
    }

    /// A setting that is text.
    pub fn text(&self, setting: &str) -> &str {
        self.description[setting]
            .as_str()
            .unwrap_or_else(|| self.lacks(setting))
    }

    /// Steps of each sequence.
    pub fn lengths(&self) -> Vec<usize> {
        self.counts("lengths")
    }

    /// A setting that is a list of whole numbers.
    pub fn counts(&self, setting: &str) -> Vec<usize> {
        let numbers = self.description[setting].as_array();
        let number = |value: &Value| value.as_u64().expect("a whole number") as usize;
        let numbers = numbers.unwrap_or_else(|| self.lacks(setting));
        numbers.iter().map(number).collect()
    }

    /// Whether a tensor plays this role.
    pub fn has(&self, role: &str) -> bool {
        self.description["tensors"].get(role).is_some()
    }

    /// Roles of all tensors.
    pub fn roles(&self) -> Vec<&str> {
        let roles = self.description["tensors"].as_object().expect("roles");
        roles.keys().map(String::as_str).collect()
    }

    /// Shape of the tensor in this role.
    pub fn shape(&self, role: &str) -> Vec<usize> {
        self.view(role).shape().to_vec()
    }

    /// Values of the tensor in this role, row-major, rounded to `F`.
    pub fn values<F: Real>(&self, role: &str) -> Vec<F> {
        let view = self.view(role);
        let widen: fn(&[u8]) -> f64 = match view.dtype() {
            Dtype::F32 => |bytes| f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes"))),
            Dtype::F64 => |bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
            other => panic!("{role} of {} is {other:?}", self.name()),
        };
        let size = view.dtype().bitsize() / 8;
        view.data()
            .chunks_exact(size)
            .map(|bytes| F::from_f64(widen(bytes)))
            .collect()
    }

    /// Values of an integer tensor in this role.
    pub fn integers(&self, role: &str) -> Vec<u32> {
        let view = self.view(role);
        assert_eq!(view.dtype(), Dtype::I32, "{role} of {}", self.name());
        let words = view.data().chunks_exact(4);
        words
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
            .collect()
    }

    fn view(&self, role: &str) -> safetensors::tensor::TensorView<'_> {
        let name = self.description["tensors"][role].as_str();
        let name = name.unwrap_or_else(|| self.lacks(role));
        self.tensors.tensor(name).expect("a tensor that the metadata names")
    }

    fn lacks(&self, what: &str) -> ! {
        panic!("golden case {} lacks {what}", self.name())
    }
}

/// Asserts that every value is within `tolerance`, relative to the larger of 1 and the expected value.
pub fn assert_close<F: Real>(what: &str, actual: &[F], expected: &[F], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}: number of values");
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let (actual, expected) = (actual.to_f64(), expected.to_f64());
        let error = (actual - expected).abs() / expected.abs().max(1.0);
        // Written so that a NaN fails.
        assert!(
            error <= tolerance,
            "{what}[{index}]: {actual} instead of {expected}, error {error:.1e}"
        );
    }
}
