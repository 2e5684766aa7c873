//! An experiment, a file: what its rows share, and the rows, each with complete settings.
//!
//! ```toml
//! title = "HAR-2: a phone's motion"
//! table = "table 2"
//! place = 1               # in the list
//! metric = "accuracy"
//! seeds = 3
//! default = "ernn-k1"     # what `ernn train` does
//!
//! [data]
//! source = "har-2"
//! [model]
//! [training]
//! [search]
//! [quick]
//!
//! [[row]]                 # as many as there are rows, in the order of the table
//! name = "ernn-k1"
//! title = "ERNN(K=1)"
//! [row.paper]
//! accuracy = 95.32
//! kilobytes = 17
//! [[row.model.layers]]
//! kind = "ernn"
//! hidden = 80
//! rank = 20
//! [row.training]
//! [row.search]
//! ```
//!
//! `data`, `model` and `training` are those of a run's `config.toml`; a row's stand over what all rows share, and together they
//! must be complete: the defaults of data sets, which may change, play no part. `training.seed` and `training.retrain` are the
//! command's and the protocol's. What a cell's own settings leave out has the value of the literature.

use std::mem;
use std::path::Path;

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::grid::{Grid, Search};
use super::{Paper, Quick, Variant, missing};
use ernn::evaluate::Metric;
use ernn::train::{RunConfig, overlay};
use ernn::{Error, Result};

/// A row of a table: one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name, also that of the folder of its results.
    pub name: String,
    /// Its name in the paper.
    pub title: String,
    /// What the paper says about it.
    pub paper: Paper,
    /// Complete settings, with seed 1 and the honest protocol.
    pub settings: RunConfig,
    /// What they were chosen from.
    pub search: Search,
}

/// Rows on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name of its file.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// Which table or figure of the paper it is.
    pub table: Option<String>,
    /// Its place among the experiments.
    pub place: usize,
    /// What its rows are judged by.
    pub metric: Metric,
    /// Seeds of each row.
    pub seeds: usize,
    /// The tiny version.
    pub quick: Quick,
    /// In the order of the table.
    pub rows: Vec<Row>,
    /// The row whose settings `ernn train` has where nothing is asked for; none where it has others.
    pub default: Option<String>,
}

impl Experiment {
    /// Its data set.
    pub fn source(&self) -> &str {
        &self.rows[0].settings.data.source
    }

    /// The settings of a row in a variant, with a seed.
    pub fn settings(&self, row: &Row, variant: Variant, seed: u64) -> RunConfig {
        let mut settings = row.settings.clone();
        variant.protocol.apply(&mut settings);
        if variant.quick {
            self.quick.apply(&mut settings);
        }
        settings.training.seed = seed;
        settings
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    table: Option<String>,
    place: usize,
    metric: Metric,
    seeds: usize,
    default: Option<String>,
    data: Table,
    #[serde(default)]
    model: Table,
    #[serde(default)]
    training: Table,
    #[serde(default)]
    search: Grid,
    quick: Quick,
    #[serde(default)]
    row: Vec<Spanned<RowTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowTable {
    name: String,
    title: String,
    #[serde(default)]
    paper: Paper,
    #[serde(default)]
    model: Table,
    #[serde(default)]
    training: Table,
    #[serde(default)]
    search: Grid,
}

/// What a message may be about: what the rows share, or a row.
struct Source<'a> {
    path: &'a Path,
    /// Name of the row.
    row: Option<&'a str>,
    /// Lines of the file before this part.
    before: usize,
    text: &'a str,
}

/// An experiment from the text of its file.
pub(super) fn read(root: &Path, name: &str, text: &str) -> Result<Experiment> {
    let path = &root.join(format!("{name}.toml"));
    let part = |row, start: usize, end: usize| Source {
        path,
        row,
        before: text[..start].matches('\n').count(),
        text: &text[start..end],
    };
    let mut shared: File = part(None, 0, text.len()).parse()?;
    let rows = mem::take(&mut shared.row);
    // A table begins at its header, and ends where the next one begins.
    let starts: Vec<usize> = rows.iter().map(|row| row.span().start).collect();
    let end = |row: usize| starts.get(row).copied().unwrap_or(text.len());
    let source = part(None, 0, end(0));
    source.check(
        shared.seeds > 0 && shared.quick.seeds > 0,
        "seeds",
        "no seed",
        "at least one",
    )?;
    source.check(shared.quick.limit > 0, "limit", "0", "at least one sequence")?;
    source.check(!rows.is_empty(), "row", "no row", "a [[row]] for each row")?;
    let mut read_rows: Vec<Row> = Vec::new();
    for (index, row) in rows.iter().map(Spanned::get_ref).enumerate() {
        let name = &row.name;
        let own = part(Some(name), starts[index], end(index + 1));
        let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        own.check(
            name.starts_with(char::is_alphanumeric) && name.chars().all(plain),
            "name",
            &format!("{name:?}"),
            "letters, digits, -, _ and .: a folder of results has this name",
        )?;
        let is_new = read_rows.iter().all(|other| other.name != *name);
        own.check(is_new, "name", &format!("{name:?} a second time"), "each name once")?;
        read_rows.push(read_row(row, &own, &shared, &source)?);
    }
    if let Some(default) = &shared.default {
        let is_row = read_rows.iter().any(|row| row.name == *default);
        source.check(is_row, "default", &format!("{default:?}"), "one of the rows")?;
    }
    let searched = |name: &str| {
        read_rows
            .iter()
            .any(|row| row.search.vary.iter().any(|vary| vary.name == name))
    };
    if let Some(stray) = shared.search.names().find(|name| !searched(name)) {
        let expected = "a setting of the network or the training that some row has and one value says";
        return Err(source.wrong_last(stray, stray, expected));
    }
    Ok(Experiment {
        name: name.to_string(),
        title: shared.title,
        table: shared.table,
        place: shared.place,
        metric: shared.metric,
        seeds: shared.seeds,
        quick: shared.quick,
        rows: read_rows,
        default: shared.default,
    })
}

fn read_row(row: &RowTable, source: &Source, shared: &File, shared_source: &Source) -> Result<Row> {
    if let Some(stray) = row.paper.stray(shared.metric) {
        let expected = format!(
            "a figure of what the experiment is judged by ({})",
            shared.metric.title()
        );
        return Err(source.wrong(Some(stray), stray, &expected));
    }
    let settings = complete(shared, &row.model, &row.training, source, shared_source)?;
    let search = row.search.over(&shared.search, &settings).map_err(|wrong| {
        let own = row.search.has(&wrong.name);
        let source = if own { source } else { shared_source };
        source.wrong_last(
            &wrong.name,
            &format!("{} = {}", wrong.name, wrong.found),
            &wrong.expected,
        )
    })?;
    Ok(Row {
        name: row.name.clone(),
        title: row.title.clone(),
        paper: row.paper.clone(),
        settings,
        search,
    })
}

/// The row's settings over the shared ones; nothing else may be missing.
fn complete(shared: &File, model: &Table, training: &Table, row: &Source, all: &Source) -> Result<RunConfig> {
    let mut settings = Table::new();
    let mut data = Table::from_iter([("missing".to_string(), Value::String("refuse".to_string()))]);
    overlay(&mut data, shared.data.clone());
    settings.insert("data".to_string(), Value::Table(data));
    for (name, below, above) in [
        ("model", &shared.model, model),
        ("training", &shared.training, training),
    ] {
        let mut table = below.clone();
        overlay(&mut table, above.clone());
        for given in ["seed", "retrain"] {
            if table.contains_key(given) {
                let found = format!("{name}.{given}");
                let source = if above.contains_key(given) { row } else { all };
                return Err(source.wrong(Some(given), &found, "no such setting: --seeds and --protocol say it"));
            }
        }
        settings.insert(name.to_string(), Value::Table(table));
    }
    let training = settings.get_mut("training").and_then(Value::as_table_mut);
    training.into_iter().for_each(|training| {
        training.insert("seed".to_string(), Value::Integer(1));
        training.insert("retrain".to_string(), Value::Boolean(false));
    });
    let given = settings.clone();
    let settings: RunConfig = settings.try_into().map_err(|error: toml::de::Error| {
        let missing = missing::settings(&given);
        if error.message().starts_with("missing field") && !missing.is_empty() {
            return row.incomplete(&missing);
        }
        let (found, expected) = parted(error.message());
        let key = key_of(&error);
        let line = |source: &Source| {
            let line = source.line_of(key.as_deref());
            line.or_else(|| source.line_with_value(error.message()))
        };
        // The row's own settings stand over the shared ones: they are looked at first.
        match (line(row), line(all)) {
            (None, Some(line)) => all.error(Some(line), found, expected),
            (line, _) => row.error(line, found, expected),
        }
    })?;
    settings.check().map_err(|error| match error {
        Error::Setting { name, found, expected } => {
            let source = if row.line_of(Some(&name)).is_some() { row } else { all };
            source.wrong(Some(&name), &format!("{name} = {found}"), &expected)
        }
        error => error,
    })?;
    Ok(settings)
}

impl Source<'_> {
    fn parse(&self) -> Result<File> {
        toml::from_str(self.text).map_err(|error| {
            let missing = missing::in_file(self.text);
            if let Some((line, found)) = missing.filter(|_| error.message().starts_with("missing field")) {
                return self.error(Some(line), found, COMPLETE.to_string());
            }
            let (found, expected) = parted(error.message());
            let before = |start| self.text.bytes().take(start).filter(|&byte| byte == b'\n').count();
            self.error(error.span().map(|span| before(span.start) + 1), found, expected)
        })
    }

    fn check(&self, holds: bool, key: &str, found: &str, expected: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        Err(self.wrong(Some(key), found, expected))
    }

    /// The first line that gives a key a value.
    fn line_of(&self, key: Option<&str>) -> Option<usize> {
        let gives = |line: &str| {
            let rest = line.trim_start().strip_prefix(key?)?;
            Some(rest.trim_start().starts_with('='))
        };
        self.text
            .lines()
            .position(|line| gives(line) == Some(true))
            .map(|line| line + 1)
    }

    /// The first line that gives some key the value which a message names: inside a list of layers it names no key.
    fn line_with_value(&self, message: &str) -> Option<usize> {
        let value = message.split(['`', '"']).nth(1)?;
        let gives = |line: &str| {
            let given = line.split_once('=').map(|(_, given)| given.trim());
            given.is_some_and(|given| given.trim_matches('"') == value)
        };
        self.text.lines().position(gives).map(|line| line + 1)
    }

    /// As `wrong`, at the last place of a key: `[search]` stands behind the settings that it names again.
    fn wrong_last(&self, key: &str, found: &str, expected: &str) -> Error {
        let names = |line: &str| {
            let said = line.split('#').next().unwrap_or_default();
            let mut words = said.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            words.any(|word| word == key)
        };
        let lines = self.text.lines().collect::<Vec<_>>();
        let line = lines.iter().rposition(|line| names(line)).map(|line| line + 1);
        self.error(line, found.to_string(), expected.to_string())
    }

    /// Settings that neither the row nor what all rows share says.
    fn incomplete(&self, missing: &[String]) -> Error {
        let place = format!(", line {}, row {}", self.before + 1, self.row.unwrap_or_default());
        let expected = "complete settings: in [model] and [training], which all rows share, or in [row.model] and [row.training] of this \
                        row (`ernn train DATA --show` has them)";
        Error::format(self.path, place, format!("no {}", missing.join(", ")), expected)
    }

    fn wrong(&self, key: Option<&str>, found: &str, expected: &str) -> Error {
        self.error(self.line_of(key), found.to_string(), expected.to_string())
    }

    fn error(&self, line: Option<usize>, found: String, expected: String) -> Error {
        let place = match (line, self.row) {
            (Some(line), _) => format!(", line {}", self.before + line),
            (None, Some(row)) => format!(", row {row}"),
            (None, None) => String::new(),
        };
        Error::format(self.path, place, found, expected)
    }
}

const COMPLETE: &str = "an experiment in TOML, with complete settings";

/// What was found and what was expected, of a message of the TOML reader.
fn parted(message: &str) -> (String, String) {
    let message = message.trim().replace('\n', " ");
    match message.split_once(", expected ") {
        Some((found, expected)) => (found.to_string(), expected.to_string()),
        None => (message, COMPLETE.to_string()),
    }
}

/// The key that a message is about: an unknown one is named in it, any other stands at the end of the path behind it.
fn key_of(error: &toml::de::Error) -> Option<String> {
    let message = error.message();
    if let Some(after) = message.strip_prefix("unknown field `") {
        return after.split('`').next().map(String::from);
    }
    let text = error.to_string();
    let path = text.rsplit_once("in `")?.1.split('`').next()?;
    path.rsplit('.').next().map(String::from)
}

#[cfg(test)]
#[path = "experiment_tests.rs"]
mod tests;
