//! A long table for each part: a row for each step.

use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;

use super::super::raw::{Raw, assemble};
use super::super::{Dataset, MissingPolicy, OpenOptions, Part, View, csv};
use super::{Files, first_same, unique_names, values, ways};
use crate::Result;

/// The columns beside the channels, by the names that no channel has.
struct Columns {
    series: String,
    step: String,
    label: String,
    group: String,
}

impl Columns {
    fn new(dataset: &Dataset) -> Self {
        let free = |usual: &str| {
            let taken = |name: &String| {
                dataset
                    .feature_names
                    .iter()
                    .any(|other| other.eq_ignore_ascii_case(name))
            };
            let mut name = usual.to_string();
            while taken(&name) {
                name.push('_');
            }
            name
        };
        Columns {
            series: free("series"),
            step: free("step"),
            label: free(if dataset.train.numbers.is_empty() {
                "label"
            } else {
                "target"
            }),
            group: free("group"),
        }
    }

    /// The same as options and flags, where a name is not the usual one.
    fn say(&self, (mut options, mut flags): (OpenOptions, Vec<String>)) -> (OpenOptions, Vec<String>) {
        let mut other = |usual: &str, name: &String| {
            let said = (name != usual).then(|| name.clone());
            flags.extend(said.iter().map(|name| format!("--{usual}-column {name}")));
            said
        };
        options.table.series_column = other("series", &self.series);
        options.table.step_column = other("step", &self.step);
        options.table.group_column = other("group", &self.group);
        if options.table.target.is_empty() {
            options.text.label_column = other("label", &self.label);
        }
        (options, flags)
    }
}

pub(super) fn save(dataset: &Dataset) -> Result<(Files, Vec<String>)> {
    let columns = Columns::new(dataset);
    let parts: Vec<(&str, Vec<u8>)> = dataset
        .parts()
        .map(|(name, part)| (name, text(dataset, part, &columns).into_bytes()))
        .collect();
    let target = (!dataset.train.numbers.is_empty()).then_some(columns.label.as_str());
    let ways = ways(target, &dataset.feature_names);
    let ways = ways.into_iter().map(|way| columns.say(way)).collect();
    let flags = first_same(dataset, ways, |options| read(dataset, &parts, options))?;
    let files = parts.into_iter().map(|(name, bytes)| (format!("{name}.csv"), bytes));
    Ok((files.collect(), flags))
}

/// What a reader of the files finds.
fn read(dataset: &Dataset, parts: &[(&str, Vec<u8>)], options: &OpenOptions) -> Result<Dataset> {
    let part = |wanted: &str| -> Result<Option<Raw>> {
        let Some((name, bytes)) = parts.iter().find(|(name, _)| *name == wanted) else {
            return Ok(None);
        };
        let file = format!("{name}.csv");
        let raw = csv::read_stream(Cursor::new(bytes), Path::new(&file), options)?;
        raw.finish(MissingPolicy::Refuse).map(Some)
    };
    assemble(
        &dataset.name,
        part("train")?.unwrap_or_default(),
        [part("validation")?, part("test")?],
    )
}

fn text(dataset: &Dataset, part: &Part, columns: &Columns) -> String {
    let mut head = vec![quoted(&columns.series), quoted(&columns.step)];
    head.extend(dataset.feature_names.iter().map(|name| quoted(name)));
    if !part.labels.is_empty() || !part.numbers.is_empty() {
        head.push(quoted(&columns.label));
    }
    if !part.groups.is_empty() {
        head.push(quoted(&columns.group));
    }
    let mut text = head.join(",") + "\n";
    let view = View::of(part);
    for (index, name) in unique_names(part).iter().enumerate() {
        let name = quoted(name);
        let mut tail = String::new();
        if let Some(&label) = part.labels.get(index) {
            let _ = write!(tail, ",{}", quoted(&dataset.classes[label as usize]));
        }
        if let Some(&number) = part.numbers.get(index) {
            let _ = write!(tail, ",{}", shown(number));
        }
        if let Some(&group) = part.groups.get(index) {
            let _ = write!(tail, ",{}", quoted(&dataset.group_name(group)));
        }
        for (step, row) in values(&view, index).chunks_exact(view.features()).enumerate() {
            let _ = write!(text, "{name},{step}");
            for &value in row {
                let _ = write!(text, ",{}", shown(value));
            }
            text += &tail;
            text.push('\n');
        }
    }
    text
}

/// The fewest digits that read again to the same number of 32 bits.
fn shown(value: f32) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-5..1e9).contains(&size) => format!("{value}"),
        _ => format!("{value:e}"),
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', ';', '\t', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}
