//! Recordings: a row a step, and nothing that says where a sequence ends. Rows of one series and group are one recording; how it is cut is
//! for [`recordings`](super::super::recordings) to say.

use std::collections::HashMap;

use super::super::UNLABELLED;
use super::super::number::{exact, shown};
use super::super::recordings::{Log, Recording, TimeReader};
use super::channel;
use super::label_cells::LabelCells;
use super::long::Rows;
use super::survey;
use super::target::Target;
use super::{Line, Table};
use crate::Result;

/// The series and the group of some rows, as they stand in their cells.
type Key = (Vec<u8>, Vec<u8>);

/// A recording that is being read.
struct Growing {
    recording: Recording,
    /// The time or step of the row before, and its line.
    last: (f64, Line),
}

/// Reads all recordings of a table.
pub(super) fn read(mut table: Table) -> Result<Log> {
    let cells = LabelCells::of(&table);
    let mut log = Log {
        files: vec![table.path.to_owned()],
        feature_names: table
            .columns
            .values
            .iter()
            .map(|&column| table.columns.names[column].clone())
            .collect(),
        time_column: table.columns.time.map(|column| table.columns.names[column].clone()),
        forecast: forecast(&table),
        targets: table
            .columns
            .targets
            .iter()
            .map(|&column| table.columns.names[column].clone())
            .collect(),
        declared: cells.as_ref().map_or_else(Vec::new, |cells| cells.declared(&table)),
        of_sets: table.options.table.has_label_sets(),
        ..Log::default()
    };
    // Those of a forecast are channels.
    let numbers = if log.forecast.is_empty() {
        table.columns.targets.len()
    } else {
        0
    };
    let mut targets = Target::of(&table);
    let mut rows = Rows::new(&table);
    let mut times = TimeReader::default();
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut growing: Vec<Growing> = Vec::new();
    let mut current: Option<(Key, usize)> = None;
    while table.next_row()? {
        let place = match &current {
            Some((key, place)) if is_of(&table, key) => *place,
            _ => {
                let key = key(&table);
                let place = *places.entry(key.clone()).or_insert_with(|| {
                    growing.push(begin(&table, &key, &mut log));
                    growing.len() - 1
                });
                current = Some((key, place));
                place
            }
        };
        let own = &mut growing[place];
        take_time(&table, own, &mut times)?;
        if let Some(cells) = &cells {
            take_label(&table, cells, own, &mut log)?;
        }
        for target in targets.iter_mut().take(numbers) {
            own.recording.numbers.push(target.read_step(&mut table)?);
        }
        rows.push(&mut table)?;
        own.recording.values.append(&mut rows.values);
        own.recording.rows += 1;
    }
    log.form = times.form();
    log.first_missing = rows.first_missing.take();
    log.recordings = growing.into_iter().map(|own| own.recording).collect();
    targets.iter().try_for_each(|target| target.check(&table))?;
    check_channels(&table, &rows, &log)?;
    Ok(log)
}

/// The places of the targets among the channels, where their next values are asked for.
fn forecast(table: &Table) -> Vec<usize> {
    let columns = &table.columns;
    let place = |target: &usize| columns.values.iter().position(|value| value == target);
    match table.options.table.recordings.horizon {
        Some(_) => columns.targets.iter().filter_map(place).collect(),
        None => Vec::new(),
    }
}

fn key(table: &Table) -> Key {
    let text = |column: Option<usize>| column.map_or_else(Vec::new, |column| table.text(column).to_vec());
    (text(table.columns.series), text(table.columns.group))
}

fn is_of(table: &Table, (series, group): &Key) -> bool {
    let same = |column: Option<usize>, own: &[u8]| column.is_none_or(|column| table.text(column) == own);
    same(table.columns.series, series) && same(table.columns.group, group)
}

fn begin(table: &Table, (series, group): &Key, log: &mut Log) -> Growing {
    let [series, person] = [series, group].map(|text| String::from_utf8_lossy(text).into_owned());
    let group = table.columns.group.map(|_| log.groups.number(&person));
    let name = match (table.columns.series, table.columns.group) {
        (Some(_), Some(_)) => format!("{person}/{series}"),
        (Some(_), None) => series,
        (None, Some(_)) => person,
        (None, None) => String::new(),
    };
    Growing {
        recording: Recording {
            name,
            group,
            ..Recording::default()
        },
        last: (f64::NEG_INFINITY, 0),
    }
}

/// The time of the current row, or its step, rises within a recording.
fn take_time(table: &Table, own: &mut Growing, times: &mut TimeReader) -> Result<()> {
    let Some(column) = table.columns.time.or(table.columns.step) else {
        return Ok(());
    };
    let text = table.text(column);
    let error = |expected: &str| Err(table.error(table.line(), &table.column_place(column), &shown(text), expected));
    let time = match table.columns.time {
        Some(_) => times.read(text, table.decimal),
        None => exact(text, table.decimal).ok_or_else(|| "a number".to_owned()),
    };
    let time = match time {
        Ok(time) => time,
        Err(expected) => return error(&expected),
    };
    let ((last, line), word) = (own.last, table.words.line);
    if time == last {
        return error(&format!("a later time than that of {word} {line}, which is the same"));
    }
    if time < last {
        let of = match (table.columns.series, table.columns.group) {
            (None, None) => {
                " (where another recording begins here, name the column that tells them apart with --series-column)"
            }
            (None, Some(_)) => {
                " (where a person has several recordings, name the column that tells them apart with --series-column)"
            }
            _ => "",
        };
        return error(&format!(
            "a later time than that of {word} {line}: times do not run backwards in a recording{of}"
        ));
    }
    own.last = (time, table.line());
    if table.columns.time.is_some() {
        own.recording.times.push(time);
    }
    Ok(())
}

fn take_label(table: &Table, cells: &LabelCells, own: &mut Growing, log: &mut Log) -> Result<()> {
    let label = match cells.is_silent(table) {
        true => UNLABELLED,
        false => {
            let name = cells.name(table)?;
            match own.recording.labels.last() {
                Some(&last) if last != UNLABELLED && log.labels.names[last as usize] == name => last,
                _ => log.labels.number(&name),
            }
        }
    };
    own.recording.labels.push(label);
    Ok(())
}

/// Refuses channels that are none: clocks, identifiers, offsets too large.
fn check_channels(table: &Table, rows: &Rows, log: &Log) -> Result<()> {
    if !table.options.table.of_model.is_empty() {
        return Ok(());
    }
    let features = table.columns.values.len();
    survey::refuse_lost(table, rows.channels())?;
    survey::refuse_clock(table, (0..features).filter(|&feature| rows.channels()[feature].rises()))?;
    let values: Vec<&[f32]> = log.recordings.iter().map(|recording| &recording.values[..]).collect();
    let identifies = |&feature: &usize| channel::identifies(&values, features, feature);
    survey::refuse_identifier(table, (0..features).filter(identifies))
}
