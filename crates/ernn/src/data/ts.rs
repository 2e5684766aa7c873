//! `.ts`, the text format of the UEA and UCR archives (sktime, aeon).
//!
//! ```text
//! # comment
//! @problemName Name
//! @timeStamps false
//! @univariate false
//! @dimensions 2                     or @dimension
//! @equalLength true
//! @seriesLength 3
//! @classLabel true up down          or @classLabel false, or @targetLabel true: the last field is a number to predict
//! @data
//! 1.0,2.0,3.0:4.0,?,6.0:up          channel:channel:label, `?` or NaN for a missing value
//! ```

use std::path::Path;

use super::number::{parse, shown};
use super::raw::Raw;
use crate::{Error, Result};

/// Reads a whole file.
pub(crate) fn read(bytes: &[u8], path: &Path) -> Result<Raw> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .map(|(number, text)| Line {
            path,
            number,
            text: text.trim_ascii(),
        });
    let header = Header::read(&mut lines, path)?;
    let mut cases = Cases {
        raw: Raw::new(path, 0),
        header,
        channel: Vec::new(),
        values: Vec::new(),
    };
    lines.filter(Line::counts).try_for_each(|line| cases.push(&line))?;
    cases.raw.targets.wanted = matches!(cases.header.labels, Labels::Number);
    if let Labels::Declared(labels) = cases.header.labels {
        cases.raw.declared = labels;
    }
    Ok(cases.raw)
}

/// One line with its number from 1.
struct Line<'a> {
    path: &'a Path,
    number: usize,
    text: &'a [u8],
}

impl Line<'_> {
    fn counts(&self) -> bool {
        !self.text.is_empty() && self.text[0] != b'#'
    }

    fn error(&self, place: &str, found: &str, expected: &str) -> Error {
        Error::format(self.path, format!(", line {}{place}", self.number), found, expected)
    }
}

enum Labels {
    None,
    /// A number to predict.
    Number,
    Any,
    Declared(Vec<String>),
}

struct Header {
    dimensions: Option<usize>,
    equal_length: bool,
    series_length: Option<usize>,
    labels: Labels,
}

impl Header {
    /// Reads up to and with `@data`.
    fn read<'a>(lines: &mut impl Iterator<Item = Line<'a>>, path: &Path) -> Result<Header> {
        let mut labels = None;
        let mut header = Header {
            dimensions: None,
            equal_length: false,
            series_length: None,
            labels: Labels::None,
        };
        for line in lines.filter(Line::counts) {
            let text = String::from_utf8_lossy(line.text);
            let mut words = text.split_whitespace();
            let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
            match keyword.as_str() {
                "@data" => {
                    header.labels = labels.ok_or_else(|| {
                        line.error(
                            "",
                            "no @classLabel line before @data",
                            "@classLabel true NAMES or @classLabel false",
                        )
                    })?;
                    return Ok(header);
                }
                "@timestamps" if flag(&line, words.next())? => {
                    return Err(line.error("", "@timeStamps true", "values without time stamps, @timeStamps false"));
                }
                "@univariate" if flag(&line, words.next())? => header.dimensions = Some(1),
                "@dimensions" | "@dimension" => header.dimensions = Some(count(&line, words.next())?),
                "@equallength" => header.equal_length = flag(&line, words.next())?,
                "@serieslength" => header.series_length = Some(count(&line, words.next())?),
                "@classlabel" => labels = Some(read_labels(&line, words, labels)?),
                "@targetlabel" if flag(&line, words.next())? => {
                    if let Some(Labels::Any | Labels::Declared(_)) = labels {
                        return Err(line.error("", "@targetLabel true after @classLabel true", "one of them"));
                    }
                    labels = Some(Labels::Number);
                }
                "@targetlabel" => labels = Some(labels.unwrap_or(Labels::None)),
                word if word.starts_with('@') => {}
                _ => return Err(line.error("", &shown(line.text), "a header line that begins with @, or @data")),
            }
        }
        let expected = "a line @data and sequences after it";
        Err(Error::format(path, "", "the end of the file", expected))
    }
}

/// What `@classLabel` says; a file that has said that it has numbers keeps them where it has no classes.
fn read_labels<'a>(line: &Line, mut words: impl Iterator<Item = &'a str>, before: Option<Labels>) -> Result<Labels> {
    if !flag(line, words.next())? {
        return Ok(before.unwrap_or(Labels::None));
    }
    if let Some(Labels::Number) = before {
        return Err(line.error("", "@classLabel true after @targetLabel true", "one of them"));
    }
    let labels: Vec<String> = words.map(str::to_owned).collect();
    Ok(if labels.is_empty() {
        Labels::Any
    } else {
        Labels::Declared(labels)
    })
}

fn flag(line: &Line, word: Option<&str>) -> Result<bool> {
    match word.map(str::to_ascii_lowercase).as_deref() {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => Err(line.error("", &shown(line.text), "true or false after the keyword")),
    }
}

fn count(line: &Line, word: Option<&str>) -> Result<usize> {
    let number = word.and_then(|word| word.parse().ok()).filter(|&number| number > 0);
    number.ok_or_else(|| line.error("", &shown(line.text), "a number of at least 1 after the keyword"))
}

struct Cases {
    raw: Raw,
    header: Header,
    /// One channel of the case being read.
    channel: Vec<f32>,
    /// The case being read, `[step][feature]`.
    values: Vec<f32>,
}

impl Cases {
    fn push(&mut self, line: &Line) -> Result<()> {
        if line.text.contains(&b'(') {
            return Err(line.error("", "values with time stamps, (time,value)", "plain values"));
        }
        let mut fields: Vec<&[u8]> = line.text.split(|&byte| byte == b':').collect();
        let label = match self.header.labels {
            Labels::None => None,
            _ => fields.pop(),
        };
        self.check_channels(line, fields.len())?;
        let label = match self.header.labels {
            Labels::Number => self.number(line, label.unwrap_or_default())?,
            _ => label.map(|label| self.label(line, label)).transpose()?,
        };
        self.values.clear();
        for (feature, field) in fields.iter().enumerate() {
            self.read_channel(line, feature, field, fields.len())?;
        }
        self.check_length(line, self.values.len() / fields.len())?;
        self.raw.part.push(&self.values, label, None);
        Ok(())
    }

    fn check_channels(&mut self, line: &Line, channels: usize) -> Result<()> {
        if channels == 0 {
            let found = format!("only one field, {}", shown(line.text));
            return Err(line.error("", &found, "values, a colon, and the label"));
        }
        let expected = *self.header.dimensions.get_or_insert(channels);
        if channels != expected {
            return Err(line.error("", &format!("{channels} channels"), &expected.to_string()));
        }
        if self.raw.part.features == 0 {
            self.raw = Raw::new(line.path, channels);
        }
        Ok(())
    }

    /// Takes the number behind the last colon, which is no label.
    fn number(&mut self, line: &Line, text: &[u8]) -> Result<Option<u32>> {
        let place = ", after the last colon";
        let number = parse(text).map_err(|expected| line.error(place, &shown(text), expected))?;
        let targets = &mut self.raw.targets;
        if number.is_nan() && targets.first_missing.is_none() {
            targets.first_missing = Some(format!(", line {}{place}", line.number));
        }
        targets.numbers.push(number);
        Ok(None)
    }

    fn label(&mut self, line: &Line, text: &[u8]) -> Result<u32> {
        let label = String::from_utf8_lossy(text.trim_ascii());
        match &self.header.labels {
            Labels::Declared(declared) if !declared.iter().any(|name| *name == label) => {
                let found = format!("label {}", shown(text));
                Err(line.error(
                    "",
                    &found,
                    &format!("one of those declared: {}", super::labels::list(declared)),
                ))
            }
            _ if label.is_empty() => Err(line.error("", "no label after the last colon", "a label")),
            _ => Ok(self.raw.labels.number(&label)),
        }
    }

    /// Reads one channel and puts it between the others.
    fn read_channel(&mut self, line: &Line, feature: usize, field: &[u8], features: usize) -> Result<()> {
        let place = |step: usize| format!(", channel {}, step {step}", feature + 1);
        self.channel.clear();
        if field.trim_ascii().is_empty() {
            return Err(line.error(&place(1), "a sequence of no steps", "at least one value"));
        }
        for (step, text) in (1..).zip(field.split(|&byte| byte == b',')) {
            let value = parse(text).map_err(|expected| line.error(&place(step), &shown(text), expected))?;
            if value.is_nan() && self.raw.first_missing.is_none() {
                self.raw.first_missing = Some(format!(", line {}{}", line.number, place(step)));
            }
            self.channel.push(value);
        }
        if feature == 0 {
            self.values.resize(self.channel.len() * features, 0.0);
        }
        let (found, expected) = (self.channel.len(), self.values.len() / features);
        if found != expected {
            let expected = format!("{expected} as in channel 1");
            return Err(line.error(
                &format!(", channel {}", feature + 1),
                &format!("{found} steps"),
                &expected,
            ));
        }
        let slots = self.values.iter_mut().skip(feature).step_by(features);
        slots.zip(&self.channel).for_each(|(slot, &value)| *slot = value);
        Ok(())
    }

    /// Holds the header to its promise of equal lengths.
    fn check_length(&mut self, line: &Line, steps: usize) -> Result<()> {
        if !self.header.equal_length {
            return Ok(());
        }
        let expected = *self.header.series_length.get_or_insert(steps);
        if steps == expected {
            return Ok(());
        }
        let expected = format!("{expected}, as the header says @equalLength true");
        Err(line.error("", &format!("{steps} steps"), &expected))
    }
}

#[cfg(test)]
#[path = "ts_tests.rs"]
mod tests;
