//! A table that may be read in several ways, or a column that is no channel: what was understood, and the flags that settle it.

use std::collections::HashSet;

use super::Table;
use super::channel::Channel;
use super::columns::Shape;
use super::names::{self, Sound, quoted, sound};
use crate::data::number::{exact, is_missing, shown};
use crate::data::recordings::is_iso;
use crate::{Error, Result};

/// Distinct texts of a column that are counted.
const COUNTED: usize = 1000;
/// Columns that are described.
const DESCRIBED: usize = 20;
/// Words in a cell, on average, of a column of sentences.
const WORDS: usize = 3;
/// Names that columns of classes have.
const CLASSES: [&str; 8] = [
    "class", "target", "activity", "category", "gesture", "y", "event", "state",
];

/// What the cells of a column are.
#[derive(Default)]
struct Facts {
    cells: usize,
    missing: usize,
    numbers: usize,
    words: usize,
    falls: bool,
    last: Option<f64>,
    distinct: HashSet<Box<[u8]>>,
}

impl Facts {
    fn see(&mut self, text: &[u8], table: &Table) {
        self.cells += 1;
        if is_missing(text) {
            self.missing += 1;
            return;
        }
        if self.distinct.len() <= COUNTED && !self.distinct.contains(text) {
            self.distinct.insert(text.into());
        }
        self.words += text.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).count();
        if let Some(number) = exact(text, table.decimal) {
            self.numbers += 1;
            self.falls |= self.last.is_some_and(|last| number <= last);
            self.last = Some(number);
        }
    }

    fn are_numbers(&self) -> bool {
        self.numbers + self.missing == self.cells
    }

    /// Times in words.
    fn are_times(&self) -> bool {
        !self.distinct.is_empty() && self.distinct.iter().take(9).all(|text| is_iso(text))
    }

    fn are_sentences(&self) -> bool {
        !self.are_numbers() && self.words >= WORDS * (self.cells - self.missing)
    }

    fn rise(&self) -> bool {
        self.are_numbers() && self.numbers > 2 && !self.falls
    }

    /// Some cells are alike, others are not.
    fn tell_apart(&self) -> bool {
        self.distinct.len() > 1 && self.distinct.len() <= COUNTED && 2 * self.distinct.len() <= self.cells
    }

    fn described(&self) -> String {
        if self.missing == self.cells {
            "nothing".to_owned()
        } else if self.rise() {
            "numbers that rise".to_owned()
        } else if self.are_numbers() {
            "numbers".to_owned()
        } else if self.are_times() {
            "times".to_owned()
        } else if self.are_sentences() {
            "sentences".to_owned()
        } else {
            match self.distinct.len() {
                1 => "one text".to_owned(),
                many if many > COUNTED => format!("over {COUNTED} texts"),
                texts => format!("{texts} texts"),
            }
        }
    }
}

/// The rest of the table, looked through.
struct Survey<'t, 'a> {
    table: &'t Table<'a>,
    rows: usize,
    /// One a column.
    facts: Vec<Facts>,
}

/// The question that a table leaves open, as an error.
pub(super) fn ask(mut table: Table) -> Error {
    let line = table.line();
    let mut facts: Vec<Facts> = table.columns.names.iter().map(|_| Facts::default()).collect();
    let mut rows = 0;
    loop {
        if !std::mem::take(&mut table.waiting) {
            match table.records.advance(table.path) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return error,
            }
        }
        rows += 1;
        for (column, facts) in facts.iter_mut().enumerate() {
            facts.see(table.text(column), &table);
        }
    }
    let survey = Survey {
        table: &table,
        rows,
        facts,
    };
    if rows == 0 {
        return Error::format(table.path, "", "no sequence", "at least one");
    }
    let (found, expected) = match table.columns.shape {
        Shape::Unclear => survey.about_rows(),
        _ => survey.about_columns(),
    };
    table.error(line, "", &found, &expected)
}

impl Survey<'_, '_> {
    fn name(&self, column: usize) -> &str {
        &self.table.columns.names[column]
    }

    fn flag(&self, flag: &str, column: usize) -> String {
        format!("{flag} {}", quoted(self.name(column)))
    }

    fn described(&self, column: usize) -> String {
        format!("{} ({})", self.name(column), self.facts[column].described())
    }

    /// Nobody knows what a row is.
    fn about_rows(&self) -> (String, String) {
        let names = &self.table.columns.names;
        let mut described: Vec<String> = (0..names.len().min(DESCRIBED))
            .map(|column| self.described(column))
            .collect();
        if names.len() > DESCRIBED {
            described.push(format!("... ({} in all)", names.len()));
        }
        let found = format!(
            "{} rows with the columns {}; no column says which rows are one sequence, and the columns are not called as steps of one are \
             (0, 1, 2 or t0, t1, t2)",
            self.rows,
            described.join(", ")
        );
        (found, format!("a word on what a row is:{}", self.ways()))
    }

    /// The ways in which a table without series can be read, the likeliest first.
    fn ways(&self) -> String {
        if let Some(text) = self.sentences() {
            let mut flags = vec![self.flag("--text-column", text)];
            flags.extend(self.label_beside(text).map(|label| self.flag("--label-column", label)));
            return way(&flags, "a text a row, to classify");
        }
        let values = &self.table.columns.values;
        let texts: Vec<&str> = values.iter().map(|&column| self.name(column)).collect();
        let is_step = names::steps(&texts);
        let steps: Vec<usize> = values
            .iter()
            .zip(&is_step)
            .filter(|&(_, &step)| step)
            .map(|(&column, _)| column)
            .collect();
        let others: Vec<usize> = values
            .iter()
            .zip(&is_step)
            .filter(|&(_, &step)| !step)
            .map(|(&column, _)| column)
            .collect();
        let has_time = others
            .iter()
            .any(|&column| sound(self.name(column)) == Some(Sound::Time));
        if steps.len() > 3 && !others.is_empty() && steps.len() > others.len() && !has_time {
            let meaning = format!(
                "a sequence a row, with the steps {} to {}",
                self.name(steps[0]),
                self.name(steps[steps.len() - 1])
            );
            return way(&self.settled(&others, false), &meaning);
        }
        let series = values.iter().copied().find(|&column| self.is_series(column));
        let rest: Vec<usize> = values
            .iter()
            .copied()
            .filter(|&column| Some(column) != series)
            .collect();
        let mut flags = self.settled(&rest, true);
        match series {
            Some(series) => {
                flags.insert(0, self.flag("--series-column", series));
                way(&flags, &format!("a step a row, and a sequence a {}", self.name(series)))
            }
            None => {
                flags.insert(0, format!("--window {}", (self.rows / 20).clamp(2, 128)));
                way(
                    &flags,
                    "a step a row of one long recording, cut into sequences of so many rows",
                ) + &way(
                    &["--series-column COLUMN".to_owned()],
                    "a step a row, where a column says which rows are one sequence",
                )
            }
        }
    }

    /// Some columns are no channels.
    fn about_columns(&self) -> (String, String) {
        let doubtful: Vec<usize> = self.table.columns.doubtful.iter().map(|&(column, _)| column).collect();
        let names: Vec<String> = doubtful.iter().map(|&column| self.described(column)).collect();
        let found = format!(
            "columns whose names say that they are no values to learn from: {}",
            names.join(", ")
        );
        let flags = way(&self.settled(&doubtful, true), "what they seem to be");
        let expected = format!(
            "a word on each:{flags}\n  --ignore NAME,... leaves columns out, --channels NAME,... names all channels"
        );
        (found, expected)
    }

    /// Flags for columns that are no channels, and, among those that may be, for a label where the table has none.
    fn settled(&self, columns: &[usize], with_step: bool) -> Vec<String> {
        let clock = if self.is_log() { "--time" } else { "--step-column" };
        let mut flags = Vec::new();
        let mut step = self.table.columns.step.or(self.table.columns.time).is_some() || !with_step;
        let mut group = self.table.columns.group.is_some();
        let mut ignored = Vec::new();
        let label = self
            .table
            .columns
            .label
            .or(self.table.columns.targets.first().copied())
            .is_none()
            .then(|| self.label_among(columns))
            .filter(|_| self.table.columns.label_flags.is_empty())
            .flatten();
        for &column in columns.iter().filter(|&&column| Some(column) != label) {
            let facts = &self.facts[column];
            let is_clock = |sound: Option<Sound>| {
                sound == Some(Sound::Time) || (sound.is_none() && facts.rise() && self.rows > 15)
            };
            match sound(self.name(column)) {
                sound if is_clock(sound) && (facts.are_numbers() || facts.are_times()) && !step => {
                    step = true;
                    flags.push(self.flag(clock, column));
                }
                Some(Sound::Person) if !group => {
                    group = true;
                    flags.push(self.flag("--group-column", column));
                }
                None if facts.are_numbers() && with_step => {}
                _ => ignored.push(quoted(self.name(column))),
            }
        }
        flags.extend(label.map(|label| self.flag("--label-column", label)));
        if !ignored.is_empty() {
            flags.push(format!("--ignore {}", ignored.join(",")));
        }
        flags
    }

    /// A row is a step of a recording, or may be one: no column says which rows are one sequence.
    fn is_log(&self) -> bool {
        let columns = &self.table.columns;
        let names = |&column: &usize| self.is_series(column);
        match columns.shape {
            Shape::Log => true,
            Shape::Unclear => !columns.values.iter().any(names),
            Shape::Long | Shape::Wide => false,
        }
    }

    /// A column that numbers or names sequences.
    fn is_series(&self, column: usize) -> bool {
        sound(self.name(column)) == Some(Sound::Identifier) && self.facts[column].tell_apart()
    }

    /// The column that is most like a label: called so, or the one with the fewest texts.
    fn label_among(&self, columns: &[usize]) -> Option<usize> {
        let silent = |column: &usize| sound(self.name(*column)).is_none() && !self.facts[*column].are_sentences();
        let called = |column: &usize| {
            CLASSES
                .iter()
                .any(|class| self.name(*column).eq_ignore_ascii_case(class))
        };
        let candidates: Vec<usize> = columns.iter().copied().filter(silent).collect();
        let by_name = candidates
            .iter()
            .copied()
            .find(|column| called(column) && self.facts[*column].tell_apart());
        by_name.or_else(|| {
            let texts = candidates
                .into_iter()
                .filter(|&column| !self.facts[column].are_numbers());
            let texts = texts.filter(|&column| self.facts[column].distinct.len() > 1);
            texts.min_by_key(|&column| self.facts[column].distinct.len())
        })
    }

    /// The column with the longest texts, if they are sentences and nothing else can be learned from.
    fn sentences(&self) -> Option<usize> {
        let texts = (0..self.facts.len()).filter(|&column| self.facts[column].are_sentences());
        texts.max_by_key(|&column| self.facts[column].words)
    }

    fn label_beside(&self, text: usize) -> Option<usize> {
        let others: Vec<usize> = (0..self.facts.len()).filter(|&column| column != text).collect();
        let few = |column: &usize| sound(self.name(*column)).is_none() && self.facts[*column].distinct.len() > 1;
        let by_count = |column: &usize| self.facts[*column].distinct.len();
        let own = self.table.columns.label.filter(|&label| label != text);
        own.or_else(|| self.label_among(&others))
            .or_else(|| others.into_iter().filter(few).min_by_key(by_count))
    }
}

/// A line with flags and what they mean.
fn way(flags: &[String], meaning: &str) -> String {
    format!("\n  {}: {meaning}", flags.join(" "))
}

/// What to say about a text in a column of numbers: which flag makes something else of the column.
pub(super) fn hint_for_text(table: &Table, column: usize) -> String {
    let (columns, text) = (&table.columns, table.text(column));
    let name = quoted(&columns.names[column]);
    let words = text.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).count();
    if words > WORDS {
        let label = columns
            .label
            .map_or("COLUMN".to_owned(), |label| quoted(&columns.names[label]));
        return format!(" (a table of texts to classify is read with --text-column {name} --label-column {label})");
    }
    match columns.label.or(columns.targets.first().copied()) {
        None => format!(
            " (a column with class names is read with --label-column {name}, and --ignore {name} leaves one out)"
        ),
        Some(_) if table.rows == 1 => {
            format!(" (--ignore {name} leaves the column out, --group-column {name} makes groups of it)")
        }
        Some(_) => String::new(),
    }
}

/// Refuses a channel whose values 32 bits hardly tell apart.
pub(super) fn refuse_lost(table: &Table, channels: &[Channel]) -> Result<()> {
    let found = channels
        .iter()
        .enumerate()
        .find_map(|(index, channel)| Some((index, channel.lost()?)));
    let Some((index, (smallest, largest))) = found else {
        return Ok(());
    };
    let column = table.columns.values[index];
    let place = match table.columns.shape {
        Shape::Wide => String::new(),
        _ => table.column_place(column),
    };
    let found = format!(
        "values from {smallest} to {largest}, an offset too large for numbers of 32 bits (about 7 digits): most of their differences \
         would be lost"
    );
    let name = quoted(&table.columns.names[column]);
    let ignore = match table.columns.shape {
        Shape::Wide => String::new(),
        _ => format!(", or --ignore {name}"),
    };
    let expected = format!("values with {smallest} subtracted from each{ignore}");
    Err(Error::format(table.path, place, found, expected))
}

/// Refuses a column that rises through the whole file.
pub(super) fn refuse_clock(table: &Table, features: impl IntoIterator<Item = usize>) -> Result<()> {
    let what = "numbers that rise from row to row through all series, as a time or a number of the row does";
    let step = if table.columns.step.is_none() {
        "--step-column NAME orders the rows by it, "
    } else {
        ""
    };
    refuse_column(table, features, what, step)
}

/// Refuses a column that names the sequences.
pub(super) fn refuse_identifier(table: &Table, features: impl IntoIterator<Item = usize>) -> Result<()> {
    let what =
        "a number that never changes within a series and is another one in nearly every series, as an identifier does";
    refuse_column(table, features, what, "")
}

fn refuse_column(table: &Table, features: impl IntoIterator<Item = usize>, what: &str, choice: &str) -> Result<()> {
    let columns = features.into_iter().map(|feature| table.columns.values[feature]);
    let mut doubtful = columns.filter(|column| !table.columns.asked.contains(column));
    let Some(column) = doubtful.next() else { return Ok(()) };
    let name = quoted(&table.columns.names[column]);
    let channels: Vec<String> = table
        .columns
        .values
        .iter()
        .map(|&column| quoted(&table.columns.names[column]))
        .collect();
    let choice = choice.replace("NAME", &name);
    let expected = format!(
        "a word on it: {choice}--ignore {name} leaves it out, --channels {} takes it as a channel",
        channels.join(",")
    );
    let place = format!(", column {}", shown(table.columns.names[column].as_bytes()));
    Err(Error::format(table.path, place, what, expected))
}
