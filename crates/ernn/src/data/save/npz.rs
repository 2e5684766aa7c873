//! Arrays in an archive; sequences of several lengths are filled up with zeros, and `lengths` says how many steps each has.

use std::io::{Cursor, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::channels::numbered;
use super::super::raw::assemble;
use super::super::{Dataset, MissingPolicy, Part, View, npz};
use super::npy::{floats, texts, wholes};
use super::{Files, first_same, unique_names, values, ways};
use crate::{Error, Result};

const ENDINGS: [(&str, &str); 3] = [("train", "_train"), ("validation", "_val"), ("test", "_test")];

pub(super) fn save(dataset: &Dataset) -> Result<(Files, Vec<String>)> {
    let several = dataset.parts().count() > 1;
    let mut arrays = Vec::new();
    for (name, part) in dataset.parts() {
        let ending = ENDINGS.iter().find(|(part, _)| several && *part == name);
        let ending = ending.map_or("", |(_, ending)| ending);
        for (what, bytes) in of_part(dataset, part) {
            arrays.push((format!("{what}{ending}.npy"), bytes));
        }
    }
    if !(0..)
        .zip(&dataset.feature_names)
        .all(|(number, name)| *name == numbered(number + 1))
    {
        arrays.push(("channels.npy".to_string(), texts(&dataset.feature_names)));
    }
    let bytes = archive(&arrays).map_err(|error| Error::data(&dataset.name, error))?;
    let target = (!dataset.train.numbers.is_empty()).then_some("y");
    let flags = first_same(dataset, ways(target, &[]), |options| {
        let parts = npz::read(&bytes, Path::new("data.npz"), options)?;
        let [train, validation, test] = parts.map(|part| part.map(|raw| raw.finish(MissingPolicy::Refuse)).transpose());
        assemble(&dataset.name, train?.unwrap_or_default(), [validation?, test?])
    })?;
    Ok((vec![("data.npz".to_string(), bytes)], flags))
}

fn archive(arrays: &[(String, Vec<u8>)]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        // No time is written: equal data gives equal bytes.
        let options = SimpleFileOptions::default().large_file(u32::try_from(bytes.len()).is_err());
        archive.start_file(name.as_str(), options)?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// The arrays of a part, by the beginnings of their names.
fn of_part(dataset: &Dataset, part: &Part) -> Vec<(&'static str, Vec<u8>)> {
    let view = View::of(part);
    let (longest, features) = (view.longest(), view.features());
    let mut all = Vec::with_capacity(part.len() * longest * features);
    for index in 0..part.len() {
        all.extend(values(&view, index));
        all.resize((index + 1) * longest * features, 0.0);
    }
    let mut arrays = vec![("X", floats(&[part.len(), longest, features], &all))];
    if !part.labels.is_empty() {
        let labels: Vec<String> = part
            .labels
            .iter()
            .map(|&label| dataset.classes[label as usize].clone())
            .collect();
        arrays.push(("y", named(&labels)));
    }
    if !part.numbers.is_empty() {
        arrays.push(("y", floats(&[part.len()], &part.numbers)));
    }
    if !part.groups.is_empty() {
        let groups: Vec<String> = part.groups.iter().map(|&group| dataset.group_name(group)).collect();
        arrays.push(("groups", named(&groups)));
    }
    let lengths: Vec<i64> = (0..part.len()).map(|index| part.length(index) as i64).collect();
    if lengths.iter().any(|&length| length != longest as i64) {
        arrays.push(("lengths", wholes(&lengths)));
    }
    if !part.names.is_empty() {
        arrays.push(("names", texts(&unique_names(part))));
    }
    arrays
}

/// Names as whole numbers where they are written as such, else as text.
fn named(names: &[String]) -> Vec<u8> {
    let whole = |name: &String| name.parse::<i64>().ok().filter(|number| number.to_string() == *name);
    match names.iter().map(whole).collect::<Option<Vec<i64>>>() {
        Some(numbers) => wholes(&numbers),
        None => texts(names),
    }
}
