//! `.npy`, NumPy's array files, and how an array becomes sequences.
//!
//! ```text
//! "\x93NUMPY" | major, minor | header length (u16 or u32) | {'descr': '<f4', 'fortran_order': False, 'shape': (6, 16), } | values
//! ```
//!
//! Three dimensions are `[sequences, steps, features]`; labels then come as a second array of one dimension. Two dimensions are
//! EdgeML's layout: the label in column 0, then time-major features, whose number the caller has to know. Where recordings are cut,
//! they are `[rows, channels]`.

use std::path::Path;

use super::OpenOptions;
use super::label_sets;
use super::labels::Names;
use super::log_folder::cut_part;
use super::number::shown;
use super::raw::Raw;
use super::recordings::Log;
use crate::{Error, Result};

pub(crate) use elements::half;
use elements::{Element, Kind};

#[path = "array_elements.rs"]
mod elements;
#[path = "label_arrays.rs"]
mod label_arrays;
#[path = "array_rows.rs"]
pub(super) mod rows;

/// An array as it lies in the file.
pub(super) struct Array<'a> {
    path: &'a Path,
    /// Its name within an `.npz`, as a place for errors.
    place: String,
    pub shape: Vec<usize>,
    fortran_order: bool,
    element: Element,
    bytes: &'a [u8],
}

/// Reads a file that holds one array, with the labels inside it (two dimensions) or without labels (three).
pub(super) fn read(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<Raw> {
    options.table.recordings.check(options.table.window)?;
    let array = Array::parse(bytes, path, "")?;
    if rows::are_rows(&array.shape, options) {
        return cut_part(rows::log(&array, None, &[], "", options)?, 0, options);
    }
    rows::must_not_be_cut(path, options)?;
    sequences(&array, Beside::default(), options)
}

/// Reads a file that holds one array as a recording, not yet cut.
pub(super) fn read_log(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<Log> {
    rows::log(&Array::parse(bytes, path, "")?, None, &[], "", options)
}

/// Shape and numbers, row-major, of a file that holds one array that is no data set.
pub(crate) fn numbers(bytes: &[u8], path: &Path) -> Result<(Vec<usize>, Vec<f64>)> {
    let array = Array::parse(bytes, path, "")?;
    let count = array.shape.iter().product();
    let mut index = vec![0; array.shape.len()];
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let number = array.number(array.offset(&index));
        values.push(number.ok_or_else(|| array.error("", "text", "numbers"))?);
        for (place, &size) in index.iter_mut().zip(&array.shape).rev() {
            *place += 1;
            if *place < size {
                break;
            }
            *place = 0;
        }
    }
    Ok((array.shape, values))
}

/// The bytes of a file that holds one array of them, `[any number, shape ...]` in C order.
pub(super) fn bytes(bytes: &[u8], path: &Path, shape: &[usize]) -> Result<Vec<u8>> {
    let array = Array::parse(bytes, path, "")?;
    let element = array.element;
    if element.kind != Kind::Unsigned || element.size != 1 || array.fortran_order || array.shape.get(1..) != Some(shape)
    {
        let found = format!("an array of shape {:?}, {} bytes a value", array.shape, element.size);
        let expected = format!("unsigned bytes in C order, the shape behind the first dimension {shape:?}");
        return Err(array.error("", &found, &expected));
    }
    Ok(array.bytes.to_vec())
}

/// The arrays that say something about each sequence.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// Of three dimensions alone: two have the labels inside.
    pub labels: Option<&'a Array<'a>>,
    pub groups: Option<&'a Array<'a>>,
    /// Steps of each sequence of an array of three dimensions; the rest of its steps is not read.
    pub lengths: Option<&'a Array<'a>>,
    pub names: Option<&'a Array<'a>>,
}

/// Makes sequences of an array and what stands beside it.
pub(super) fn sequences(array: &Array, beside: Beside, options: &OpenOptions) -> Result<Raw> {
    let asked = &options.table.target;
    if asked.len() > 1 || asked.iter().any(|name| !name.eq_ignore_ascii_case("y")) {
        let found = format!(
            "arrays, which have no columns, and --target {}",
            shown(asked.join(",").as_bytes())
        );
        return Err(array.error("", &found, "--target y: the numbers beside the sequences"));
    }
    let mut raw = match (array.shape.as_slice(), beside.labels) {
        (&[sequences, steps, features], _) => stacked(array, [sequences, steps, features], beside, options),
        (&[sequences, columns], None) if beside.lengths.is_none() => edgeml(array, sequences, columns, options),
        (shape, labels) => {
            let expected = if labels.is_some() {
                "[sequences, steps, features]; rows of a recording, [rows, channels], are cut with --window"
            } else {
                "[sequences, steps, features], or [sequences, 1 + steps x features] with the label first"
            };
            Err(array.error("", &format!("an array of shape {shape:?}"), expected))
        }
    }?;
    if let Some(groups) = beside.groups {
        (raw.part.groups, raw.groups) = group_numbers(groups, raw.part.len())?;
    }
    if let Some(names) = beside.names {
        raw.names = self::names(names, "name", raw.part.len())?;
    }
    Ok(raw)
}

/// The texts of an array that has a `what` for each of so many things.
pub(super) fn names(array: &Array, what: &str, count: usize) -> Result<Vec<String>> {
    if array.shape != [count] {
        let found = format!("{what}s of shape {:?}", array.shape);
        return Err(array.error("", &found, &format!("[{count}]")));
    }
    (0..count).map(|index| array.text(index, what)).collect()
}

/// The groups of the sequences, numbered in order of first appearance as those of a table are.
fn group_numbers(groups: &Array, sequences: usize) -> Result<(Vec<u32>, Names)> {
    groups.must_be_one_a_sequence("group", sequences)?;
    let mut names = Names::default();
    let number = |sequence| Ok(names.number(&groups.text(sequence, "group")?));
    let numbers = (0..sequences).map(number).collect::<Result<_>>()?;
    Ok((numbers, names))
}

fn stacked(
    array: &Array,
    [sequences, steps, features]: [usize; 3],
    beside: Beside,
    options: &OpenOptions,
) -> Result<Raw> {
    array.refuse_empty()?;
    if let Some(labels) = beside.labels.filter(|_| options.table.has_label_sets()) {
        let beside = Beside { labels: None, ..beside };
        let mut raw = stacked(array, [sequences, steps, features], beside, options)?;
        label_arrays::read(labels, &options.table.labels_from, &mut raw)?;
        return Ok(raw);
    }
    let Beside { labels, lengths, .. } = beside;
    let several = |own: &Array| !options.table.target.is_empty() && own.shape.len() == 2;
    let of_steps = options.table.has_step_targets();
    for (what, own) in [("label", labels), ("length", lengths)] {
        match own {
            Some(own) if what == "label" && of_steps => own.must_be_some_a_step(sequences, steps)?,
            Some(own) if what == "label" && several(own) => own.must_be_some_a_sequence(sequences)?,
            Some(own) => own.must_be_one_a_sequence(what, sequences)?,
            None => {}
        }
    }
    let mut raw = Raw::new(array.path, features);
    let mut values = Vec::with_capacity(steps * features);
    for sequence in 0..sequences {
        let place = |at: usize| {
            format!(
                ", sequence {}, step {}, channel {}",
                sequence + 1,
                at / features + 1,
                at % features + 1
            )
        };
        values.clear();
        let steps = lengths.map_or(Ok(steps), |lengths| lengths.length(sequence, steps))?;
        for at in 0..steps * features {
            let index = array.offset(&[sequence, at / features, at % features]);
            values.push(array.value(index, &mut raw, || place(at))?);
        }
        let label = match labels {
            Some(labels) if of_steps => {
                labels.step_targets(sequence, steps, &mut raw)?;
                None
            }
            Some(labels) if !options.table.target.is_empty() => {
                let targets = labels.shape.get(1).copied().unwrap_or(1);
                for target in 0..targets {
                    let place = if targets > 1 {
                        labels.offset(&[sequence, target])
                    } else {
                        sequence
                    };
                    labels.target(place, sequence, &mut raw)?;
                }
                None
            }
            labels => labels.map(|labels| labels.text(sequence, "label")).transpose()?,
        };
        let label = label.map(|label| raw.labels.number(&label));
        raw.part.push(&values, label, None);
    }
    Ok(raw)
}

fn edgeml(array: &Array, sequences: usize, columns: usize, options: &OpenOptions) -> Result<Raw> {
    array.refuse_empty()?;
    label_sets::refuse(options, "an array with the labels inside")?;
    let found = format!(
        "an array of shape [{sequences}, {columns}], a label and {} values a row",
        columns - 1
    );
    let Some(features) = options.features.filter(|&features| features > 0) else {
        return Err(array.error("", &found, "to be told how many features a step has (--features N); rows of a recording, [rows, channels], are cut with --window"));
    };
    if columns == 1 || !(columns - 1).is_multiple_of(features) {
        let expected = format!("a multiple of {features} values behind the label, as --features says");
        return Err(array.error("", &found, &expected));
    }
    let mut raw = Raw::new(array.path, features);
    let mut values = Vec::with_capacity(columns - 1);
    for sequence in 0..sequences {
        let place = |column: usize| format!(", row {}, column {}", sequence + 1, column + 1);
        values.clear();
        for column in 1..columns {
            let index = array.offset(&[sequence, column]);
            values.push(array.value(index, &mut raw, || place(column))?);
        }
        let first = array.offset(&[sequence, 0]);
        let label = match options.table.target.is_empty() {
            false => array.target(first, sequence, &mut raw).map(|()| None)?,
            true => Some(array.text_at(first, "label", sequence)?),
        };
        let label = label.map(|label| raw.labels.number(&label));
        raw.part.push(&values, label, None);
    }
    Ok(raw)
}

impl<'a> Array<'a> {
    /// Reads the header and checks that the values are all there; `name` is the array's name within an `.npz`.
    pub fn parse(bytes: &'a [u8], path: &'a Path, name: &str) -> Result<Array<'a>> {
        let place = if name.is_empty() {
            String::new()
        } else {
            format!(", array {name}")
        };
        let refuse = |found: String, expected: String| Err(Error::format(path, &place, found, expected));
        let Some((header, values)) = split_header(bytes) else {
            return refuse(
                format!("{} bytes that are no NumPy array", bytes.len()),
                "an .npy file".to_owned(),
            );
        };
        let header_error =
            |expected: &str| Error::format(path, &place, format!("the header {}", shown(header)), expected);
        let text = std::str::from_utf8(header).map_err(|_| header_error("text"))?;
        let descr = entry(text, "descr").ok_or_else(|| header_error("an entry 'descr'"))?;
        let element = Element::parse(descr).ok_or_else(|| {
            let found = format!(
                "values of type {}",
                shown(descr.split(',').next().unwrap_or_default().as_bytes())
            );
            let expected = "whole numbers, floating-point numbers or text";
            Error::format(path, &place, found, expected)
        })?;
        let fortran_order = entry(text, "fortran_order").ok_or_else(|| header_error("an entry 'fortran_order'"))?;
        let shape = entry(text, "shape")
            .and_then(parse_shape)
            .ok_or_else(|| header_error("an entry 'shape'"))?;
        let needed = shape
            .iter()
            .try_fold(element.size, |product, &size| product.checked_mul(size));
        if needed != Some(values.len()) {
            let needed = needed.map_or("more than 2^64".to_owned(), |needed| needed.to_string());
            let found = format!("{} bytes of values", values.len());
            return refuse(
                found,
                format!("{needed} bytes for shape {shape:?} with {} bytes a value", element.size),
            );
        }
        Ok(Array {
            path,
            fortran_order: fortran_order.starts_with("True"),
            place,
            shape,
            element,
            bytes: values,
        })
    }

    fn error(&self, place: &str, found: &str, expected: &str) -> Error {
        Error::format(self.path, format!("{}{place}", self.place), found, expected)
    }

    fn refuse_empty(&self) -> Result<()> {
        if self.shape.contains(&0) {
            return Err(self.error(
                "",
                &format!("an array of shape {:?}", self.shape),
                "no dimension of size 0",
            ));
        }
        Ok(())
    }

    /// Where an element lies, in elements.
    fn offset(&self, index: &[usize]) -> usize {
        let axes = index.iter().zip(&self.shape);
        let fold = |offset: usize, (&index, &size): (&usize, &usize)| offset * size + index;
        if self.fortran_order {
            axes.rev().fold(0, fold)
        } else {
            axes.fold(0, fold)
        }
    }

    fn number(&self, offset: usize) -> Option<f64> {
        self.element
            .number(&self.bytes[offset * self.element.size..][..self.element.size])
    }

    /// The element as a value; a missing one is noted in `raw`.
    fn value(&self, offset: usize, raw: &mut Raw, place: impl Fn() -> String) -> Result<f32> {
        let Some(number) = self.number(offset) else {
            return Err(self.error("", "text", "numbers"));
        };
        let value = number as f32;
        if value.is_infinite() {
            return Err(self.error(
                &place(),
                &number.to_string(),
                "a finite number of at most 3.4e38 in size",
            ));
        }
        if value.is_nan() && raw.first_missing.is_none() {
            raw.first_missing = Some(format!("{}{}", self.place, place()));
        }
        Ok(value)
    }

    /// Takes the numbers to predict of the steps of a sequence, `[steps, targets]`; NaN where a step has none.
    fn step_targets(&self, sequence: usize, steps: usize, raw: &mut Raw) -> Result<()> {
        let targets = self.shape.get(2).copied().unwrap_or(1);
        for (step, target) in (0..steps).flat_map(|step| (0..targets).map(move |target| (step, target))) {
            let index = [sequence, step, target];
            let place = || format!(", sequence {}, step {}", sequence + 1, step + 1);
            let Some(number) = self.number(self.offset(&index[..self.shape.len()])) else {
                return Err(self.error(&place(), "text", "a number, as --target says"));
            };
            let value = number as f32;
            if value.is_infinite() {
                let expected = "a finite number of at most 3.4e38 in size, or NaN for a step without one";
                return Err(self.error(&place(), &number.to_string(), expected));
            }
            raw.part.step_numbers.push(value);
        }
        raw.targets.wanted = true;
        raw.of_steps = true;
        Ok(())
    }

    /// Takes a number to predict of a sequence, which is no label.
    fn target(&self, offset: usize, sequence: usize, raw: &mut Raw) -> Result<()> {
        let place = format!(", sequence {}", sequence + 1);
        let Some(number) = self.number(offset) else {
            return Err(self.error(&place, "text", "a number, as --target says"));
        };
        let value = number as f32;
        if value.is_infinite() {
            let expected = "a finite number of at most 3.4e38 in size";
            return Err(self.error(&place, &number.to_string(), expected));
        }
        if value.is_nan() && raw.targets.first_missing.is_none() {
            raw.targets.first_missing = Some(format!("{}{place}", self.place));
        }
        raw.targets.numbers.push(value);
        raw.targets.wanted = true;
        Ok(())
    }

    /// Refuses an array that does not hold numbers for each step.
    fn must_be_some_a_step(&self, sequences: usize, steps: usize) -> Result<()> {
        match self.shape[..] {
            [own, of_each] if (own, of_each) == (sequences, steps) => Ok(()),
            [own, of_each, targets] if (own, of_each) == (sequences, steps) && targets > 0 => Ok(()),
            _ => {
                let expected = format!(
                    "[{sequences}, {steps}] or [{sequences}, {steps}, targets], the numbers to predict of each step"
                );
                Err(self.error("", &format!("an array of shape {:?}", self.shape), &expected))
            }
        }
    }

    /// Refuses an array that does not hold numbers for each sequence.
    fn must_be_some_a_sequence(&self, sequences: usize) -> Result<()> {
        if self.shape[0] == sequences && self.shape[1] > 0 {
            return Ok(());
        }
        let expected = format!("[{sequences}, targets], the numbers to predict of each sequence");
        Err(self.error("", &format!("an array of shape {:?}", self.shape), &expected))
    }

    /// Refuses an array that does not hold one `what` a sequence.
    fn must_be_one_a_sequence(&self, what: &str, sequences: usize) -> Result<()> {
        if self.shape == [sequences] || self.shape == [sequences, 1] {
            return Ok(());
        }
        let several = match (what, &self.shape[..]) {
            ("label", &[rows, _]) if rows == sequences => {
                "; --task labels reads columns of 0 and 1 as several labels of a sequence"
            }
            _ => "",
        };
        let expected = format!("[{sequences}], one {what} a sequence{several}");
        Err(self.error("", &format!("{what}s of shape {:?}", self.shape), &expected))
    }

    /// The number of steps of a sequence, of so many at most.
    fn length(&self, sequence: usize, most: usize) -> Result<usize> {
        let number = self.number(sequence).unwrap_or(f64::NAN);
        if number.fract() == 0.0 && (1.0..=most as f64).contains(&number) {
            return Ok(number as usize);
        }
        let place = format!(", sequence {}", sequence + 1);
        let expected = format!("a whole number of steps from 1 to {most}");
        Err(self.error(&place, &number.to_string(), &expected))
    }

    /// The `what` of a sequence, in an array that holds one for each.
    fn text(&self, sequence: usize, what: &str) -> Result<String> {
        self.text_at(sequence, what, sequence)
    }

    /// The element as a label or group: whole numbers without a decimal point, other numbers in full, text as it is.
    fn text_at(&self, offset: usize, what: &str, sequence: usize) -> Result<String> {
        let bytes = &self.bytes[offset * self.element.size..][..self.element.size];
        let text = self.element.text(bytes).filter(|text| !text.is_empty());
        let place = format!(", sequence {}", sequence + 1);
        text.ok_or_else(|| self.error(&place, &format!("no {what}"), "a number or text"))
    }
}

/// Cuts a file into the text of its header and its values.
fn split_header(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (&[major, _minor], rest) = rest.split_first_chunk()?;
    let (length, rest) = if major == 1 {
        let (&length, rest) = rest.split_first_chunk()?;
        (usize::from(u16::from_le_bytes(length)), rest)
    } else {
        let (&length, rest) = rest.split_first_chunk()?;
        (u32::from_le_bytes(length) as usize, rest)
    };
    rest.split_at_checked(length)
}

/// What follows `'key':` in the header.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    ['\'', '"'].iter().find_map(|quote| {
        let (_, rest) = header.split_once(&format!("{quote}{key}{quote}"))?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    })
}

fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    inside
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().ok())
        .collect()
}

#[cfg(test)]
#[path = "npy_tests.rs"]
pub(super) mod tests;
