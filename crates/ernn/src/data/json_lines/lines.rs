//! The objects of a file one after the other, the first of them looked at before.

use std::collections::VecDeque;
use std::io::{BufRead, Read};
use std::path::Path;

use serde_json::Value;

use super::object::{Object, refusal};
use crate::Result;
use crate::data::OpenOptions;
use crate::data::text::InvalidText;
use crate::data::text::checked::{Checked, table_error};
use crate::data::text::encoding::Decoded;

/// Objects that tell which keys there are.
const LOOKED_AT: usize = 100;

/// The objects of a file.
pub(super) struct Lines<'a> {
    source: Checked<Decoded<Box<dyn Read + 'a>>>,
    path: &'a Path,
    number: u64,
    line: String,
}

impl<'a> Lines<'a> {
    pub fn new(source: Box<dyn Read + 'a>, path: &'a Path, options: &OpenOptions) -> Lines<'a> {
        let decoded = Decoded::new(source, options.text.encoding);
        Lines {
            source: Checked::new(decoded, InvalidText::Refuse),
            path,
            number: 0,
            line: String::new(),
        }
    }

    /// The next object and its line, from 1; nothing at the end. Blank lines are left out.
    fn next(&mut self) -> Result<Option<(u64, Object)>> {
        loop {
            self.line.clear();
            let read = self.source.read_line(&mut self.line);
            if read.map_err(|error| table_error(self.path, error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let line = self.line.trim();
            if line.is_empty() {
                continue;
            }
            let object = serde_json::from_str(line).map_err(|error| refusal(self.path, self.number, line, &error))?;
            return Ok(Some((self.number, object)));
        }
    }
}

/// A file whose first objects were looked at.
pub(super) struct Beginning<'a> {
    seen: VecDeque<(u64, Object)>,
    lines: Lines<'a>,
}

impl<'a> Beginning<'a> {
    pub fn of(mut lines: Lines<'a>) -> Result<Beginning<'a>> {
        let mut seen = VecDeque::new();
        while seen.len() < LOOKED_AT {
            match lines.next()? {
                Some(object) => seen.push_back(object),
                None => break,
            }
        }
        Ok(Beginning { seen, lines })
    }

    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The first key of the first object that has a list.
    pub fn first_list(&self) -> Option<String> {
        let (_, first) = self.seen.front()?;
        let list = first.0.iter().find(|(_, value)| value.is_array());
        list.map(|(key, _)| key.clone())
    }

    /// Whether the first object has this key.
    pub fn first_has(&self, key: &str) -> bool {
        let first = self.seen.front();
        first.is_some_and(|(_, first)| first.0.iter().any(|(own, _)| own == key))
    }

    /// The keys of all objects that were looked at, in the order in which they come first, with their first values.
    pub fn keys(&self) -> Vec<(String, &Value)> {
        let mut keys: Vec<(String, &Value)> = Vec::new();
        for (_, object) in &self.seen {
            for (place, (key, value)) in object.0.iter().enumerate() {
                let expected = keys.get(place).is_some_and(|(other, _)| other == key);
                if !expected && !keys.iter().any(|(other, _)| other == key) {
                    keys.push((key.clone(), value));
                }
            }
        }
        keys
    }

    /// The next object and its line.
    pub fn next(&mut self) -> Result<Option<(u64, Object)>> {
        match self.seen.pop_front() {
            Some(object) => Ok(Some(object)),
            None => self.lines.next(),
        }
    }
}
