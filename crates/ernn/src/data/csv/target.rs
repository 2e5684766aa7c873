//! The columns with the numbers to predict: `y[n]` of each sequence, the same in all rows of a series, or `y[n,t]` of each step.

use super::super::number::{exact, is_missing, parse_as, shown};
use super::super::raw::Targets;
use super::channel::Channel;
use super::{Line, Table};
use crate::{Error, Result};

/// The numbers of such a column, one a sequence.
pub(super) struct Target {
    column: usize,
    numbers: Vec<f32>,
    /// The number of each sequence with all its digits, none for a missing one, and the line on which it stands first.
    first: Vec<(Option<f64>, Line)>,
    /// Where the first missing one stands.
    missing: Option<Line>,
    channel: Channel,
}

impl Target {
    /// Those of a table.
    pub fn of(table: &Table) -> Vec<Target> {
        let target = |&column: &usize| Target {
            column,
            numbers: Vec::new(),
            first: Vec::new(),
            missing: None,
            channel: Channel::new(),
        };
        table.columns.targets.iter().map(target).collect()
    }

    /// Takes the number of the current row for a sequence; sequences come in order of their numbers, rows in any order.
    pub fn read(&mut self, table: &mut Table, sequence: usize, name: &[u8]) -> Result<()> {
        let Some(&(known, line)) = self.first.get(sequence) else {
            let number = self.number(table)?;
            self.channel.see(table.text(self.column), table.decimal);
            self.numbers.push(number);
            self.first.push((self.exact(table), table.line()));
            return Ok(());
        };
        if self.exact(table) == known && known.is_some() {
            return Ok(());
        }
        // Not the same: says what is wrong with the text, if it is no number.
        self.number(table)?;
        if self.exact(table) == known {
            return Ok(());
        }
        let series = if name.is_empty() {
            "the sequence".to_owned()
        } else {
            format!("series {}", shown(name))
        };
        let known = known.map_or("a missing number".to_owned(), |number| number.to_string());
        let found = format!("{} for {series}", shown(table.text(self.column)));
        let expected = format!(
            "{known} as on {} {line}, one number for all rows of a sequence",
            table.words.line
        );
        Err(self.error(table, table.line(), &found, &expected))
    }

    /// The number of the current row, which is a step with a number of its own; NaN for a missing one.
    pub fn read_step(&mut self, table: &mut Table) -> Result<f32> {
        let number = self.number(table)?;
        self.channel.see(table.text(self.column), table.decimal);
        Ok(number)
    }

    fn exact(&self, table: &Table) -> Option<f64> {
        exact(table.text(self.column), table.decimal)
    }

    /// The number of the current row, NaN for a missing one.
    fn number(&mut self, table: &mut Table) -> Result<f32> {
        let text = table.text(self.column);
        if parse_as(text, table.decimal).is_err() {
            let expected = match self.exact(table) {
                Some(_) => "a finite number of at most 3.4e38 in size",
                None => "a number, as --target says",
            };
            return Err(self.error(table, table.line(), &shown(text), expected));
        }
        if is_missing(text) {
            self.missing.get_or_insert(table.line());
        }
        table.number(self.column)
    }

    fn error(&self, table: &Table, line: Line, found: &str, expected: &str) -> Error {
        table.error(line, &table.column_place(self.column), found, expected)
    }

    /// Refuses numbers of which 32 bits would lose most.
    pub fn check(&self, table: &Table) -> Result<()> {
        let (Some((smallest, largest)), true) = (self.channel.lost(), table.options.table.of_model.is_empty()) else {
            return Ok(());
        };
        let found = format!(
            "numbers from {smallest} to {largest}, an offset too large for numbers of 32 bits (about 7 digits): most of their differences \
             would be lost"
        );
        let expected = format!("numbers with {smallest} subtracted from each");
        let place = table.column_place(self.column);
        Err(Error::format(table.path, place, found, expected))
    }
}

/// The numbers of all sequences; nothing if all columns are empty, as those of new data may be, or steps have numbers of their own.
pub(super) fn finish(targets: &[Target], table: &Table) -> Result<Targets> {
    targets.iter().try_for_each(|target| target.check(table))?;
    let sequences = targets.first().map_or(0, |target| target.numbers.len());
    let numbers = (0..sequences).flat_map(|sequence| targets.iter().map(move |target| target.numbers[sequence]));
    let numbers: Vec<f32> = numbers.collect();
    let of_steps = table.options.table.has_step_targets();
    let missing = targets
        .iter()
        .filter(|_| !of_steps)
        .filter_map(|target| Some((target.missing?, target.column)));
    let place = |(line, column): (Line, usize)| table.place_on(line, &table.column_place(column));
    Ok(Targets {
        numbers: match numbers.iter().all(|number| number.is_nan()) {
            true => Vec::new(),
            false => numbers,
        },
        names: targets
            .iter()
            .map(|target| table.columns.names[target.column].clone())
            .collect(),
        first_missing: missing.min().map(place),
        wanted: !targets.is_empty(),
    })
}
