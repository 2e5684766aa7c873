//! An object a sequence: lists have a number a step, and what is said of the whole sequence is the same in all its rows.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::WORDS;
use super::lines::Beginning;
use super::object::{Object, kind, place, write_cell};
use crate::data::OpenOptions;
use crate::data::channels::numbered;
use crate::data::csv::{Cells, Words};
use crate::data::number::shown;
use crate::{Error, Result};

/// The column that tells sequences apart, where no key does.
const SERIES: &str = "series";

/// Where the cells of a column come from.
enum Source {
    /// The list of a key.
    List(usize),
    /// A place in the lists of a key, which has one for each step.
    Place(usize, usize),
    /// A value for the whole sequence.
    Whole(String),
    /// The number of the sequence.
    Number,
    /// It is not read.
    Ignored,
}

/// A key whose values are lists.
struct List {
    key: String,
    /// Values a step, where each step is a list.
    width: Option<usize>,
}

pub(super) struct Sequences<'a> {
    beginning: Beginning<'a>,
    path: &'a Path,
    lists: Vec<List>,
    names: Vec<String>,
    sources: Vec<Source>,
    /// The column that names sequences, if it is one of the file, and the lines of the names so far.
    series: Option<usize>,
    seen: HashMap<Vec<u8>, u64>,
    notes: Vec<String>,
    /// The current object, its number from 1, its line, and where its lists stand in it.
    object: Object,
    number: usize,
    line: u64,
    places: Vec<usize>,
    /// Steps of it, and those that were read.
    steps: usize,
    step: usize,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> Sequences<'a> {
    /// `first` is the key of the first list.
    pub fn new(beginning: Beginning<'a>, first: &str, path: &'a Path, options: &OpenOptions) -> Result<Sequences<'a>> {
        let mut keys = beginning.keys();
        let is = |wanted: &String, key: &str| wanted.trim().eq_ignore_ascii_case(key);
        let ignored = |key: &str| options.table.ignore.iter().any(|name| is(name, key));
        // A list that comes later is told with its line.
        keys.retain(|(key, value)| !value.is_array() || beginning.first_has(key) || ignored(key));
        let series = options.table.series_column.clone();
        let has_series = keys.iter().any(|(key, _)| is(&SERIES.to_owned(), key));
        let roles = roles(options);
        let nested = |value: &Value| {
            value
                .as_array()
                .is_some_and(|steps| steps.first().is_some_and(Value::is_array))
        };
        let lists_read = keys.iter().filter(|(key, value)| value.is_array() && !ignored(key));
        let is_only = lists_read.clone().filter(|(_, value)| nested(value)).count() == 1;
        let (mut lists, mut names, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let mut unused: Vec<String> = Vec::new();
        if series.is_none() && !has_series {
            names.push(SERIES.to_owned());
            sources.push(Source::Number);
        }
        for (key, value) in &keys {
            let width = value
                .as_array()
                .and_then(|steps| steps.first()?.as_array())
                .map(Vec::len);
            match (ignored(key), width) {
                (true, _) => {
                    names.push(key.clone());
                    sources.push(Source::Ignored);
                    continue;
                }
                _ if !value.is_array() => {
                    if roles.iter().any(|role| is(role, key)) {
                        names.push(key.clone());
                        sources.push(Source::Whole(key.clone()));
                    } else {
                        unused.push(key.clone());
                    }
                    continue;
                }
                (_, Some(width)) => {
                    names.extend((1..=width).map(|number| match is_only {
                        true => numbered(number),
                        false => format!("{key}_{number}"),
                    }));
                    sources.extend((0..width).map(|place| Source::Place(lists.len(), place)));
                }
                (_, None) => {
                    names.push(key.clone());
                    sources.push(Source::List(lists.len()));
                }
            }
            lists.push(List {
                key: key.clone(),
                width,
            });
        }
        if lists.is_empty() {
            let found = format!(
                "no list but that of the key {}, which is ignored",
                shown(first.as_bytes())
            );
            return Err(Error::format(
                path,
                ", line 1",
                found,
                "a list with the numbers of a channel",
            ));
        }
        let mut notes = vec![format!(
            "{}: a line is a sequence, with a list of its steps in the key {} (a row a line has none)",
            path.display(),
            shown(first.as_bytes())
        )];
        if !unused.is_empty() {
            let (keys, verb) = match unused.len() {
                1 => ("key", "is"),
                _ => ("keys", "are"),
            };
            notes.push(format!(
                "{}: the {keys} {} {verb} not used; --label-column, --group-column, --series-column and --target say what a key is",
                path.display(),
                crate::data::labels::list(&unused)
            ));
        }
        let name = series.unwrap_or_else(|| SERIES.to_owned());
        let series = names
            .iter()
            .position(|own| is(&name, own))
            .filter(|&column| matches!(sources[column], Source::Whole(_)));
        Ok(Sequences {
            beginning,
            path,
            lists,
            names,
            sources,
            series,
            seen: HashMap::new(),
            notes,
            object: Object(Vec::new()),
            number: 0,
            line: 0,
            places: Vec::new(),
            steps: 0,
            step: 0,
            text: Vec::new(),
            ends: Vec::new(),
        })
    }

    fn error(&self, within: &str, key: &str, found: &str, expected: &str) -> Error {
        Error::format(self.path, place(self.line, within, key), found, expected)
    }

    /// Takes the next object; false at the end.
    fn take(&mut self) -> Result<bool> {
        let Some((line, object)) = self.beginning.next()? else {
            return Ok(false);
        };
        (self.line, self.object, self.step) = (line, object, 0);
        self.number += 1;
        self.places.clear();
        self.steps = 0;
        for (index, list) in self.lists.iter().enumerate() {
            let found = self.object.0.iter().position(|(key, _)| *key == list.key);
            let Some(at) = found else {
                return Err(self.error("", &list.key, "no such key", "a list, as in the lines before"));
            };
            let value = &self.object.0[at].1;
            let Some(steps) = value.as_array() else {
                return Err(self.error("", &list.key, kind(value), "a list, as in the lines before"));
            };
            let first = &self.lists[0].key;
            match (index, steps.len()) {
                (_, 0) => return Err(self.error("", &list.key, "an empty list", "at least one step")),
                (0, length) => self.steps = length,
                (_, length) if length == self.steps => {}
                (_, length) => {
                    let expected = format!("{}, as of the key {}", self.steps, shown(first.as_bytes()));
                    return Err(self.error("", &list.key, &format!("{length} steps"), &expected));
                }
            }
            self.places.push(at);
        }
        let known =
            |key: &str| self.names.iter().any(|name| name == key) || self.lists.iter().any(|list| list.key == key);
        let new = self
            .object
            .0
            .iter()
            .find(|(key, value)| value.is_array() && !known(key));
        if let Some((key, _)) = new {
            let expected = "the lists of the lines before";
            return Err(self.error("", key, "a list that is new", expected));
        }
        Ok(true)
    }

    /// Writes the cell of a column.
    fn write(&mut self, column: usize) -> Result<()> {
        let none = Value::Null;
        let step = self.step;
        let within = || format!(", step {}", step + 1);
        let (key, value) = match &self.sources[column] {
            Source::Ignored => return Ok(()),
            Source::Number => {
                self.text.extend_from_slice(self.number.to_string().as_bytes());
                return Ok(());
            }
            Source::Whole(key) => (key, self.object.value(key).unwrap_or(&none)),
            Source::List(list) => (&self.lists[*list].key, &self.object.0[self.places[*list]].1[step]),
            Source::Place(list, place) => {
                let List { key, width } = &self.lists[*list];
                let value = &self.object.0[self.places[*list]].1[step];
                let expected = width.unwrap_or_default();
                match value.as_array() {
                    Some(values) if values.len() == expected => (key, &values[*place]),
                    Some(values) => {
                        let found = format!("{} values", values.len());
                        return Err(self.error(&within(), key, &found, &format!("{expected}, as in the first step")));
                    }
                    None => {
                        let expected = format!("a list of {expected} values, as in the first step");
                        return Err(self.error(&within(), key, kind(value), &expected));
                    }
                }
            }
        };
        if !write_cell(value, &mut self.text) {
            let (within, expected) = match self.sources[column] {
                Source::Whole(_) => (String::new(), "a number or a text of the whole sequence"),
                _ => (within(), "a number"),
            };
            return Err(self.error(&within, key, kind(value), expected));
        }
        Ok(())
    }

    /// A sequence has a line.
    fn check_name(&mut self, column: usize) -> Result<()> {
        let name = self.cell(column).to_vec();
        if let Some(line) = self.seen.insert(name.clone(), self.line) {
            let expected = format!("one line a sequence; the first of this name is line {line}");
            return Err(self.error("", &self.names[column], &format!("{} again", shown(&name)), &expected));
        }
        Ok(())
    }
}

/// The keys that say something about a whole sequence.
fn roles(options: &OpenOptions) -> Vec<String> {
    let table = &options.table;
    let or = |named: &Option<String>, usual: &str| named.clone().unwrap_or_else(|| usual.to_owned());
    let mut roles = vec![
        or(&options.text.label_column, "label"),
        or(&table.group_column, "group"),
        or(&table.series_column, SERIES),
    ];
    roles.extend(table.target.iter().chain(&table.labels_from).cloned());
    roles
}

impl Cells for Sequences<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn words(&self) -> Words {
        WORDS
    }

    fn advance(&mut self) -> Result<bool> {
        if self.step == self.steps && !self.take()? {
            return Ok(false);
        }
        self.text.clear();
        self.ends.clear();
        for column in 0..self.sources.len() {
            self.write(column)?;
            self.ends.push(self.text.len());
        }
        self.step += 1;
        match self.series.filter(|_| self.step == 1) {
            Some(column) => self.check_name(column).map(|()| true),
            None => Ok(true),
        }
    }

    fn cell(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[column]]
    }

    fn line(&self) -> usize {
        self.line as usize
    }

    fn within(&self) -> String {
        format!(", step {}", self.step)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
