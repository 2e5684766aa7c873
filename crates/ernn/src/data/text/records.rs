//! Tables of texts, record by record: CSV and JSON lines.
//!
//! ```text
//! .csv .tsv              a header, then records; quoted fields may hold separators and line ends
//! .json .jsonl .ndjson   {"stars": 4.0, "text": "...", ...} a line
//! ```
//!
//! A record is in memory, never the file.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::TextOptions;
use super::checked::{self, Checked, reading_error};
use super::files::{TABLES, ending};
use super::lines::for_each_line;
use crate::data::csv::records::{Broken, Records, Separator};
use crate::data::csv::separator::separator;
use crate::data::json_lines;
use crate::data::open::is_stream;
use crate::{Error, Result};

/// Which columns, or fields, are what.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub text: &'a str,
    /// None if labels are not wanted: then a record's is empty.
    pub label: Option<&'a str>,
    /// What is told apart by it; may be missing.
    pub id: &'a str,
}

/// A text with what belongs to it.
pub(super) struct Record<'a> {
    pub text: &'a str,
    pub label: &'a str,
    pub id: Option<&'a str>,
    /// The line, from 1, that it begins in.
    pub line: u64,
}

/// Calls `take` with each record of a file, for as long as it wants more.
pub(super) fn read(
    path: &Path,
    columns: Columns,
    options: &TextOptions,
    take: impl FnMut(Record) -> Result<bool>,
) -> Result<()> {
    let mut text = checked::open(path, options)?;
    if is_stream(path) {
        let start = text.fill_buf().map_err(|error| reading_error(path, error))?;
        return match start.first() {
            Some(b'{') => read_lines(text, path, columns, take),
            _ => read_table(text, path, columns, take),
        };
    }
    match ending(path).as_str() {
        "csv" | "tsv" => read_table(text, path, columns, take),
        end if TABLES.contains(&end) => read_lines(text, path, columns, take),
        end => Err(Error::format(
            path,
            "",
            format!("the ending {end:?}"),
            format!("one of .{}", TABLES.join(", .")),
        )),
    }
}

fn read_table(
    mut text: Checked<Box<dyn Read>>,
    path: &Path,
    columns: Columns,
    mut take: impl FnMut(Record) -> Result<bool>,
) -> Result<()> {
    let first_piece = text.fill_buf().map_err(|error| reading_error(path, error))?;
    let separator = match ending(path).as_str() {
        "tsv" => b'\t',
        _ => separator(first_piece),
    };
    let mut table = Records::new(text, Separator::Byte(separator));
    let header = match advance(&mut table, path)? {
        true => (0..table.len())
            .map(|field| text_of(table.field(field)).to_owned())
            .collect(),
        false => Vec::new(),
    };
    let find = |wanted: &str| header.iter().position(|name| name == wanted);
    let needed = |wanted: &str| {
        let found = format!("the columns {}", header.join(", "));
        find(wanted).ok_or_else(|| Error::format(path, ", line 1", found, format!("one named {wanted:?}")))
    };
    let (text, id) = (needed(columns.text)?, find(columns.id));
    let label = columns.label.map(needed).transpose()?;
    while advance(&mut table, path)? {
        let (found, expected) = (table.len(), header.len());
        if found != expected {
            let place = format!(", line {}", table.line());
            let expected = format!("{expected} as in the header");
            return Err(Error::format(path, place, format!("{found} columns"), expected));
        }
        let record = Record {
            text: text_of(table.whole_field(text)),
            label: label.map_or("", |label| text_of(table.field(label))),
            id: id.map(|id| text_of(table.whole_field(id))),
            line: table.line() as u64,
        };
        if !take(record)? {
            break;
        }
    }
    Ok(())
}

/// The text of a field: the reader has checked it.
fn text_of(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default()
}

fn advance(table: &mut Records<Checked<Box<dyn Read>>>, path: &Path) -> Result<bool> {
    table.advance().map_err(|broken| match broken {
        Broken::Source(error) => reading_error(path, error),
        Broken::Quote(line) => {
            let expected = "a second one at the end of its field";
            Error::format(path, format!(", line {line}"), "a quote that never closes", expected)
        }
    })
}

fn read_lines(
    text: Checked<Box<dyn Read>>,
    path: &Path,
    columns: Columns,
    mut take: impl FnMut(Record) -> Result<bool>,
) -> Result<()> {
    for_each_line(text, path, |number, line| {
        if line.trim().is_empty() {
            return Ok(true);
        }
        let mut json = serde_json::Deserializer::from_str(line);
        let object = columns
            .deserialize(&mut json)
            .and_then(|object| json.end().map(|()| object));
        let object = object.map_err(|error| json_lines::refusal(path, number, line, &error))?;
        let needed = |field: &Option<String>, name: &str| {
            let missing = || {
                let found = format!("no field {name:?}");
                let expected = "one in each object";
                Error::format(path, format!(", line {number}"), found, expected)
            };
            field.clone().ok_or_else(missing)
        };
        let label = columns.label.map(|name| needed(&object.label, name)).transpose()?;
        let label = label.unwrap_or_default();
        take(Record {
            text: &needed(&object.text, columns.text)?,
            label: label.trim(),
            id: object.id.as_deref(),
            line: number,
        })
    })
}

/// The fields of an object that are wanted.
#[derive(Default)]
pub(super) struct Object {
    text: Option<String>,
    label: Option<String>,
    id: Option<String>,
}

impl<'de> DeserializeSeed<'de> for Columns<'_> {
    type Value = Object;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Object, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Columns<'_> {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.label {
            Some(label) => write!(formatter, "an object with the fields {:?} and {label:?}", self.text),
            None => write!(formatter, "an object with the field {:?}", self.text),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
        let mut object = Object::default();
        while let Some(name) = map.next_key::<String>()? {
            let field = match &name {
                name if *name == self.text => &mut object.text,
                name if Some(name.as_str()) == self.label => &mut object.label,
                name if *name == self.id => &mut object.id,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = match map.next_value()? {
                serde_json::Value::String(text) => Some(text),
                serde_json::Value::Null => None,
                value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => Some(value.to_string()),
                _ => return Err(A::Error::custom(format!("a list or an object in the field {name:?}"))),
            };
        }
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns = Columns {
        text: "text",
        label: Some("stars"),
        id: "review_id",
    };

    /// `line: text = label (id)` of each record.
    fn records(name: &str, content: &str) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut records = Vec::new();
        read(&path, COLUMNS, &TextOptions::default(), |record| {
            records.push(format!(
                "{}: {} = {} ({:?})",
                record.line, record.text, record.label, record.id
            ));
            Ok(records.len() < 3)
        })?;
        Ok(records)
    }

    fn refusal(name: &str, content: &str) -> String {
        let error = records(name, content).unwrap_err().to_string();
        error
            .split_once(name)
            .map_or(error.clone(), |(_, after)| after.to_owned())
    }

    #[test]
    fn quoted_fields_hold_separators_quotes_and_line_ends() {
        let table = "\u{feff}stars,text,more\r\n5,\"good, \"\"very\"\" good\n\nindeed\",x\r\n1,bad,\r\n";
        let read = records("a.csv", table).unwrap();
        assert_eq!(
            read,
            ["2: good, \"very\" good\n\nindeed = 5 (None)", "5: bad = 1 (None)"]
        );
    }

    #[test]
    fn objects_may_have_more_fields_in_any_order() {
        let lines = "{\"text\":\"a \\u00e9\\n\",\"x\":{\"stars\":1},\"stars\":4.0,\"review_id\":\"r\"}\r\n\n{\"stars\":\"2\",\"text\":\"b\"}";
        let read = records("a.json", lines).unwrap();
        assert_eq!(read, ["1: a é\n = 4.0 (Some(\"r\"))", "3: b = 2 (None)"]);
    }

    #[test]
    fn reading_stops_when_no_more_is_wanted() {
        assert_eq!(
            records("a.tsv", "stars\ttext\n1\ta\n1\tb\n1\tc\n1\td\n").unwrap().len(),
            3
        );
    }

    #[test]
    fn refusals_of_tables() {
        assert_eq!(
            refusal("a.csv", "stars,words\n1,a\n"),
            ", line 1: found the columns stars, words, expected one named \"text\""
        );
        assert_eq!(
            refusal("a.csv", "stars,text\n1,a\n2\n"),
            ", line 3: found 1 columns, expected 2 as in the header"
        );
        assert!(refusal("a.txt", "x").contains("found the ending \"txt\", expected one of .csv, .tsv, .json"));
    }

    #[test]
    fn a_quote_that_never_closes_is_told_with_its_line() {
        let found = refusal("a.csv", "stars,text\n1,a\n2,\"b\n3,c\n");
        assert_eq!(
            found,
            ", line 3: found a quote that never closes, expected a second one at the end of its field"
        );
    }

    #[test]
    fn semicolons_may_separate() {
        assert_eq!(
            records("a.csv", "stars;text\n1;a, b\n").unwrap(),
            ["2: a, b = 1 (None)"]
        );
    }

    #[test]
    fn refusals_of_lines() {
        let good = "{\"text\":\"a\",\"stars\":1}\n";
        let second = |line: &str| refusal("a.json", &format!("{good}{line}\n"));
        assert_eq!(
            second("{\"text\":\"a\"}"),
            ", line 2: found no field \"stars\", expected one in each object"
        );
        assert!(second("{\"text\":\"a\",\"sta").starts_with(", line 2, column 16: found EOF while parsing a string"));
        assert!(second("[1]").starts_with(", line 2, column 0: found invalid type: sequence"));
        assert!(second("{\"text\":[1],\"stars\":1}").contains("found a list or an object in the field \"text\""));
        assert!(second("{\"text\":\"a\",\"stars\":1} x").contains("found trailing characters"));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_content_never_panics(content in "[\\PC\n\"{}:,]{0,80}", table in proptest::bool::ANY) {
            let _ = records(if table { "a.csv" } else { "a.json" }, &format!("stars,text\n{content}"));
        }
    }
}
