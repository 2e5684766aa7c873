//! The container of both files: safetensors, with JSON and a checksum in its metadata.
//!
//! Layout (as every safetensors reader knows it): 8 bytes little-endian header length, a JSON header padded with spaces to
//! a multiple of 8, then the tensors' bytes without gaps. The metadata entries are
//! `format` (which kind of file), `version` (of its content), `content` (JSON) and `checksum`.
//!
//! The header is written here, not by the crate `safetensors`: the crate keeps the metadata in a hash map, whose random
//! order would make two equal models differ in their bytes. Reading goes through the crate.

use std::fmt::Write as _;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::write_atomically;
use crate::{Error, Result};

/// A kind of file and the version of its content that this program reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub name: &'static str,
    pub version: u32,
}

/// A named tensor of single-precision numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor<'a> {
    pub name: &'a str,
    pub shape: &'a [usize],
    pub values: &'a [f32],
}

/// Writes the tensors and the content, atomically.
pub(super) fn write(path: &Path, format: Format, content: &impl Serialize, tensors: &[Tensor]) -> Result<()> {
    write_atomically(path, &encode(format, content, tensors))
}

/// The bytes of a file. Equal arguments give equal bytes.
pub(super) fn encode(format: Format, content: &impl Serialize, tensors: &[Tensor]) -> Vec<u8> {
    let content = serde_json::to_string(content).expect("contents are plain structs with text keys");
    let mut data = Vec::new();
    let mut entries = Map::new();
    for tensor in tensors {
        let start = data.len();
        data.extend(tensor.values.iter().flat_map(|value| value.to_le_bytes()));
        let entry = json!({"dtype": "F32", "shape": tensor.shape, "data_offsets": [start, data.len()]});
        entries.insert(tensor.name.to_string(), entry);
    }
    let checksum = checksum(format.name, format.version, &content, &data);
    let metadata = json!({
        "format": format.name,
        "version": format.version.to_string(),
        "content": content,
        "checksum": checksum,
    });
    entries.insert("__metadata__".to_string(), metadata);
    let mut header = Value::Object(entries).to_string();
    header.extend(std::iter::repeat_n(
        ' ',
        header.len().next_multiple_of(8) - header.len(),
    ));

    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.into_bytes());
    bytes.extend(data);
    bytes
}

/// A file that was read and whose checksum is right.
#[derive(Debug)]
pub(super) struct TensorFile<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
    content: String,
}

impl<'a> TensorFile<'a> {
    /// Checks the container, the kind, the version and the checksum.
    pub fn decode(path: &'a Path, bytes: &'a [u8], format: Format) -> Result<Self> {
        let expected = format!("an {} file, whole and undamaged", format.name);
        let (header, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| Error::format(path, "", format!("{} bytes: {error}", bytes.len()), &expected))?;
        let metadata = metadata.metadata().clone().unwrap_or_default();
        let entry = |key: &str| metadata.get(key).cloned().unwrap_or_default();
        if entry("format") != format.name {
            let found = match entry("format").as_str() {
                "" => "safetensors of another program".to_string(),
                other => format!("an {other} file"),
            };
            return Err(Error::format(path, "", found, format!("an {} file", format.name)));
        }
        if entry("version") != format.version.to_string() {
            let found = format!("{} version {}", format.name, entry("version"));
            return Err(Error::format(path, "", found, format!("version {}", format.version)));
        }
        let content = entry("content");
        let data = &bytes[8 + header..];
        if entry("checksum") != checksum(format.name, format.version, &content, data) {
            let found = "a checksum that does not fit the content";
            return Err(Error::format(path, "", found, &expected));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| Error::format(path, "", error, &expected))?;
        Ok(TensorFile { path, tensors, content })
    }

    /// The content's struct.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.content).map_err(|error| {
            let expected = "the settings of this version";
            Error::format(self.path, "", format!("metadata: {error}"), expected)
        })
    }

    /// The values of one tensor, of exactly this shape, all finite.
    pub fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let place = |found: String| {
            let expected = format!("tensor `{name}` of shape {shape:?}, float32");
            Error::format(self.path, "", found, expected)
        };
        let tensor = self
            .tensors
            .tensor(name)
            .map_err(|_| place("no such tensor".to_string()))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(place(format!("shape {:?} of {}", tensor.shape(), tensor.dtype())));
        }
        let values: Vec<f32> = tensor.data().chunks_exact(4).map(little_endian).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => {
                let found = format!("{} at index {index} of tensor `{name}`", values[index]);
                Err(Error::format(self.path, "", found, "finite numbers"))
            }
            None => Ok(values),
        }
    }

    /// Sum of the elements of all tensors: what a damaged or malicious header cannot exceed.
    pub fn elements(&self) -> usize {
        self.tensors.iter().map(|(_, tensor)| tensor.data().len() / 4).sum()
    }
}

fn little_endian(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn checksum(format: &str, version: u32, content: &str, data: &[u8]) -> String {
    let mut sum = Checksum::default();
    sum.add(format.as_bytes());
    sum.add(&version.to_le_bytes());
    sum.add(content.as_bytes());
    sum.add(data);
    sum.to_string()
}

/// FNV-1a, 64 bits: each byte's step is a bijection of the state, so no single damaged byte goes unseen. Against accidents,
/// not against an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Takes in more bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::with_capacity(16);
        write!(text, "{:016x}", self.0)?;
        formatter.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format {
        name: "ernn-test",
        version: 3,
    };

    fn example() -> Vec<u8> {
        let tensors = [
            Tensor {
                name: "b",
                shape: &[2, 2],
                values: &[1.0, -2.5, 3.0, f32::MIN_POSITIVE],
            },
            Tensor {
                name: "a",
                shape: &[1],
                values: &[7.0],
            },
        ];
        encode(FORMAT, &json!({"answer": 42}), &tensors)
    }

    #[test]
    fn comes_back_as_it_was() {
        let bytes = example();
        let file = TensorFile::decode(Path::new("x"), &bytes, FORMAT).unwrap();
        assert_eq!(file.values("b", &[2, 2]).unwrap(), [1.0, -2.5, 3.0, f32::MIN_POSITIVE]);
        assert_eq!(file.content::<Value>().unwrap()["answer"], 42);
        assert_eq!(file.elements(), 5);
        assert_eq!(bytes, example());
    }

    #[test]
    fn refuses_other_versions_kinds_and_shapes() {
        let bytes = example();
        let newer = Format { version: 4, ..FORMAT };
        let error = TensorFile::decode(Path::new("x"), &bytes, newer).unwrap_err();
        assert_eq!(error.to_string(), "x: found ernn-test version 3, expected version 4");
        let other = Format {
            name: "ernn-other",
            ..FORMAT
        };
        let error = TensorFile::decode(Path::new("x"), &bytes, other).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x: found an ernn-test file, expected an ernn-other file"
        );
        let file = TensorFile::decode(Path::new("x"), &bytes, FORMAT).unwrap();
        let error = file.values("b", &[4]).unwrap_err();
        assert!(error.to_string().contains("found shape [2, 2] of F32"), "{error}");
        assert!(file.values("c", &[4]).is_err());
    }

    #[test]
    fn sees_every_cut_and_every_flipped_bit_that_matters() {
        let bytes = example();
        for end in 0..bytes.len() {
            assert!(TensorFile::decode(Path::new("x"), &bytes[..end], FORMAT).is_err());
        }
        let whole = TensorFile::decode(Path::new("x"), &bytes, FORMAT).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(file) = TensorFile::decode(Path::new("x"), &damaged, FORMAT) else {
                continue;
            };
            // Names and shapes stand outside the checksum; the reader asks for them by name and shape.
            let same = file
                .values("b", &[2, 2])
                .is_ok_and(|values| values == whole.values("b", &[2, 2]).unwrap())
                && file.values("a", &[1]).is_ok_and(|values| values == [7.0]);
            let refused = file.values("b", &[2, 2]).is_err() || file.values("a", &[1]).is_err();
            assert!(same || refused, "bit {bit}");
        }
    }

    #[test]
    fn refuses_numbers_that_are_not_finite() {
        let tensor = Tensor {
            name: "w",
            shape: &[2],
            values: &[0.0, f32::NAN],
        };
        let bytes = encode(FORMAT, &json!({}), &[tensor]);
        let file = TensorFile::decode(Path::new("x"), &bytes, FORMAT).unwrap();
        let error = file.values("w", &[2]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x: found NaN at index 1 of tensor `w`, expected finite numbers"
        );
    }
}
