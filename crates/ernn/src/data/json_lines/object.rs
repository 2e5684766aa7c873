//! One object: its keys in the order of the file, and why a line is none.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use crate::Error;
use crate::data::number::shown;

/// The keys and values of an object.
#[derive(Debug)]
pub(super) struct Object(pub Vec<(String, Value)>);

impl Object {
    /// The value of a key; upper and lower case are the same.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(own, _)| own.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if object.iter().any(|(other, _)| *other == key) {
                return Err(A::Error::custom(format!("the key {} twice", shown(key.as_bytes()))));
            }
            object.push((key, value));
        }
        Ok(Object(object))
    }
}

/// The error for a line that is no object. The parser has seen this line alone, and calls it line 1.
pub(in crate::data) fn refusal(path: &Path, number: u64, line: &str, error: &serde_json::Error) -> Error {
    let found = error.to_string();
    let found = found.split(" at line 1").next().unwrap_or(&found);
    let place = format!(", line {number}, column {}", error.column());
    let has = |word: &str| line.contains(word);
    let expected = match error.is_syntax() && (has("NaN") || has("Infinity")) {
        true => "one JSON object a line (JSON has no NaN and no Infinity: write null for a missing value)",
        false => "one JSON object a line",
    };
    Error::format(path, place, found, expected)
}

/// Writes a text, a number, a truth value or nothing as the cell of a table; false for a list or an object.
pub(super) fn write_cell(value: &Value, out: &mut Vec<u8>) -> bool {
    use std::io::Write;
    let written = match value {
        Value::Null => Ok(()),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) => out.write_all(text.trim().as_bytes()),
        Value::Array(_) | Value::Object(_) => return false,
    };
    written.expect("memory to write to");
    true
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A key as a place.
pub(super) fn place(line: u64, within: &str, key: &str) -> String {
    format!(", line {line}{within}, key {}", shown(key.as_bytes()))
}
