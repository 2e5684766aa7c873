//! An experiment: what its rows share, and the rows, each with complete settings.
//!
//! ```toml
//! # experiment.toml                                   # ROW.toml
//! title = "HAR-2: a phone's motion"                   title = "ERNN(K=1)"
//! table = "table 2"
//! place = 1               # in the list               [paper]
//! metric = "accuracy"                                 accuracy = 95.32
//! seeds = 3                                           kilobytes = 17
//! rows = ["ernn-k1", "lstm"]
//! default = "ernn-k1"     # what `ernn train` does
//!                                                     [[model.layers]]
//! [data]                                              kind = "ernn"
//! source = "har-2"                                    hidden = 80
//! [model]                                             rank = 20
//! [training]
//! [search]                                            [training]
//! [quick]                                             [search]
//! ```
//!
//! `data`, `model` and `training` are those of a run's `config.toml`; a row's stand over what all rows share, and together they
//! must be complete: the defaults of data sets, which may change, play no part. `training.seed` and `training.retrain` are the
//! command's and the protocol's. What a cell's own settings leave out has the value of the literature.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::files::SHARED_FILE;
use super::grid::{Grid, Search};
use super::{Paper, Quick, Variant};
use ernn::evaluate::Metric;
use ernn::train::{RunConfig, overlay};
use ernn::{Error, Result};

/// A row of a table: one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of its file.
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
    /// Name of its folder.
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
struct SharedFile {
    title: String,
    table: Option<String>,
    place: usize,
    metric: Metric,
    seeds: usize,
    rows: Vec<String>,
    default: Option<String>,
    data: Table,
    #[serde(default)]
    model: Table,
    #[serde(default)]
    training: Table,
    #[serde(default)]
    search: Grid,
    quick: Quick,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
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

/// A file with its path for messages.
struct Source<'a> {
    path: PathBuf,
    text: &'a str,
}

/// An experiment from the texts of its files; `rows` are names and texts.
pub(super) fn read(root: &Path, name: &str, text: &str, rows: &[(&str, &str)]) -> Result<Experiment> {
    let folder = root.join(name);
    let source = Source {
        path: folder.join(SHARED_FILE),
        text,
    };
    let shared: SharedFile = source.parse()?;
    source.check(
        shared.seeds > 0 && shared.quick.seeds > 0,
        "seeds",
        "no seed",
        "at least one",
    )?;
    source.check(shared.quick.limit > 0, "limit", "0", "at least one sequence")?;
    source.check(!shared.rows.is_empty(), "rows", "no row", "the names of the row files")?;
    let unlisted = rows
        .iter()
        .find(|(row, _)| !shared.rows.iter().any(|listed| listed == row));
    if let Some((row, _)) = unlisted {
        let found = format!("a file {row}.toml that is not among them");
        return Err(source.wrong(Some("rows"), &found, "the name of every row file"));
    }
    if let Some(default) = shared.default.as_ref().filter(|default| !shared.rows.contains(default)) {
        return Err(source.wrong(Some("default"), &format!("{default:?}"), "one of the rows"));
    }
    let mut read_rows = Vec::new();
    for row in &shared.rows {
        let Some((_, text)) = rows.iter().find(|(name, _)| name == row) else {
            return Err(source.wrong(
                Some("rows"),
                &format!("{row:?}"),
                &format!("a file {row}.toml beside it"),
            ));
        };
        let path = folder.join(format!("{row}.toml"));
        read_rows.push(read_row(row, &Source { path, text }, &shared, &source)?);
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

fn read_row(name: &str, source: &Source, shared: &SharedFile, shared_source: &Source) -> Result<Row> {
    let file: RowFile = source.parse()?;
    if let Some(stray) = file.paper.stray(shared.metric) {
        let expected = format!(
            "a figure of what the experiment is judged by ({})",
            shared.metric.title()
        );
        return Err(source.wrong(Some(stray), stray, &expected));
    }
    let settings = complete(shared, &file.model, &file.training, source, shared_source)?;
    let search = file.search.over(&shared.search, &settings).map_err(|wrong| {
        let own = file.search.has(&wrong.name);
        let source = if own { source } else { shared_source };
        source.wrong_last(
            &wrong.name,
            &format!("{} = {}", wrong.name, wrong.found),
            &wrong.expected,
        )
    })?;
    Ok(Row {
        name: name.to_string(),
        title: file.title,
        paper: file.paper,
        settings,
        search,
    })
}

/// The row's settings over the shared ones; nothing else may be missing.
fn complete(shared: &SharedFile, model: &Table, training: &Table, row: &Source, all: &Source) -> Result<RunConfig> {
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
    let settings: RunConfig = settings.try_into().map_err(|error: toml::de::Error| {
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
    fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(self.text).map_err(|error| {
            let (found, expected) = parted(error.message());
            let place = error.span().map(|span| {
                let before = &self.text[..span.start.min(self.text.len())];
                before.matches('\n').count() + 1
            });
            self.error(place, found, expected)
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
            let mut words = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            words.any(|word| word == key)
        };
        let lines = self.text.lines().collect::<Vec<_>>();
        let line = lines.iter().rposition(|line| names(line)).map(|line| line + 1);
        self.error(line, found.to_string(), expected.to_string())
    }

    fn wrong(&self, key: Option<&str>, found: &str, expected: &str) -> Error {
        self.error(self.line_of(key), found.to_string(), expected.to_string())
    }

    fn error(&self, line: Option<usize>, found: String, expected: String) -> Error {
        Error::Format {
            path: self.path.clone(),
            place: line.map_or_else(String::new, |line| format!(", line {line}")),
            found,
            expected,
        }
    }
}

/// What was found and what was expected, of a message of the TOML reader.
fn parted(message: &str) -> (String, String) {
    let message = message.trim().replace('\n', " ");
    match message.split_once(", expected ") {
        Some((found, expected)) => (found.to_string(), expected.to_string()),
        None => (message, "an experiment in TOML, with complete settings".to_string()),
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
