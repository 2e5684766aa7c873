//! What is to be compared: rows, each a named variant with complete settings, times seeds.

use serde::Serialize;
use toml::Value;

use super::Shard;
use super::matching::{match_parameters, parameters};
use super::vary::{self, Varied, Vary};
use ernn::data::{Dataset, Scheme};
use ernn::folds;
use ernn::train::{self, RunConfig};
use ernn::{Error, Result};

/// A hundred seeds tell means apart by a tenth of their spread; more is a slip of the finger.
const MOST_SEEDS: usize = 100;
/// As many rows of a cell as someone can mean.
const MOST_ROWS: usize = 1000;

/// What all cells have alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The hidden size.
    #[default]
    Hidden,
    /// The number of parameters of the whole model, as nearly as a whole hidden size comes to that of the first row.
    Parameters,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Kinds of cells.
    pub cells: Vec<String>,
    /// Inner iterations, a row each, of the cells that have them; empty: as in the settings.
    pub iterations: Vec<usize>,
    /// Settings of layers by their names, for the cells that have them.
    pub layer_settings: Vec<(String, Value)>,
    /// Number of seeds, from that of the settings on.
    pub seeds: usize,
    /// What all cells have alike.
    pub matching: Matching,
    /// Settings that are varied. Where there are some, the validation part judges and the test part is not read.
    pub vary: Vec<Vary>,
    /// So many of the combinations, drawn at random for each cell; none: all of them.
    pub draw: Option<usize>,
    /// How the training part is cut into folds, which then judge, and the test part is not read; none: no folds.
    pub folds: Option<Scheme>,
}

/// The part that rows are judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The test part, read once a run.
    #[default]
    Test,
    /// The part that also selects the epoch: for choosing settings, not for results.
    Validation,
    /// The folds of the training part, each judged by a model that has not seen it.
    Folds,
}

impl Part {
    fn is_test(&self) -> bool {
        *self == Part::Test
    }
}

/// A named variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name, also that of its folder: its kind, and what it has of its own.
    pub name: String,
    /// The cell, and its inner iterations if it has them; or a name of its own (`Plan::search`).
    #[serde(skip)]
    pub kind: String,
    /// Number of parameters of its model.
    pub parameters: usize,
    /// What it has of its own, where settings are varied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<Varied>,
    /// The complete settings, with the first seed.
    pub settings: RunConfig,
}

/// All rows and seeds; what `compare.toml` holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Name of the data set.
    pub dataset: String,
    /// Checksum of what is trained on.
    pub fingerprint: String,
    /// What judges the rows.
    #[serde(skip_serializing_if = "Part::is_test")]
    pub part: Part,
    /// How the training part is cut, where folds judge; the same folds for all rows, others for each seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<Scheme>,
    /// The seeds of every row.
    pub seeds: Vec<u64>,
    /// The rows, in the order of the table.
    pub rows: Vec<Row>,
}

impl Row {
    /// A row of settings that are complete but for what follows from the data.
    fn new(name: Option<&str>, mut settings: RunConfig, varied: Vec<Varied>, dataset: &Dataset) -> Result<Self> {
        varied.iter().try_for_each(|varied| varied.apply(&mut settings))?;
        let settings = settings.portable().resolved(dataset);
        settings.check()?;
        let first = name.map_or_else(|| kind_of(&settings), String::from);
        // The kind of a cell says its iterations.
        let own = varied
            .iter()
            .filter(|varied| name.is_some() || varied.name != ITERATIONS);
        let parts = std::iter::once(first.clone()).chain(own.map(Varied::file_name));
        let searched = varied.iter().any(|varied| varied.name == ITERATIONS);
        Ok(Row {
            name: parts.collect::<Vec<_>>().join("-"),
            // Iterations that are searched for make no kinds.
            kind: match name {
                None if searched => settings.cell().to_string(),
                _ => first,
            },
            parameters: parameters(&settings, dataset),
            varied,
            settings,
        })
    }
}

/// One run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index of its row.
    pub row: usize,
    /// Its seed.
    pub seed: u64,
}

impl Plan {
    /// The rows that are asked for, on the base of settings that all of them share.
    pub fn new(base: &RunConfig, dataset: &Dataset, request: &Request) -> Result<Self> {
        let seeds = seeds(base.training.seed, request.seeds)?;
        refuse_repeated("--cells", &request.cells)?;
        refuse_repeated("--iterations", &request.iterations)?;
        let mut variants = Vec::new();
        for cell in &request.cells {
            variants.extend(cell_variants(base, cell, request)?);
        }
        refuse_unused(request, &variants)?;
        vary::refuse_unknown(&variants, &request.vary)?;
        let part = judge(base, dataset, request)?;
        let mut rows: Vec<Row> = Vec::new();
        for mut settings in variants {
            match part {
                Part::Test => {}
                // A second pass would train on what judges.
                Part::Validation => settings.training.retrain = false,
                Part::Folds => settings = folds::settings_for(&settings, dataset),
            }
            for varied in vary::combinations(&settings, &request.vary, request.draw, base.training.seed) {
                let mut row = Row::new(None, settings.clone(), varied, dataset)?;
                if let (Matching::Parameters, Some(first)) = (request.matching, rows.first()) {
                    match_parameters(&mut row.settings, dataset, first.parameters)?;
                    row.parameters = parameters(&row.settings, dataset);
                }
                if rows.iter().any(|other| other.name == row.name) {
                    return Err(setting(
                        "--vary",
                        format!("{} twice", row.name),
                        "each combination once",
                    ));
                }
                rows.push(row);
            }
        }
        Ok(Plan {
            dataset: dataset.name.clone(),
            fingerprint: train::fingerprint(dataset),
            part,
            folds: request.folds,
            seeds,
            rows,
        })
    }

    /// A search: what is varied, on the base of settings that have a name of their own.
    ///
    /// # Errors
    /// If there is no such setting, too many combinations, or no validation part to judge by.
    pub fn search(name: &str, base: &RunConfig, vary: &[Vary], seeds: usize, dataset: &Dataset) -> Result<Self> {
        let request = Request {
            vary: vary.to_vec(),
            ..Request::default()
        };
        vary::refuse_unknown(std::slice::from_ref(base), vary)?;
        let part = judge(base, dataset, &request)?;
        let mut base = base.clone();
        base.training.retrain = false;
        let rows = vary::combinations(&base, vary, None, base.training.seed).into_iter();
        Ok(Plan {
            dataset: dataset.name.clone(),
            fingerprint: train::fingerprint(dataset),
            part,
            folds: None,
            seeds: self::seeds(base.training.seed, seeds)?,
            rows: rows
                .map(|varied| Row::new(Some(name), base.clone(), varied, dataset))
                .collect::<Result<_>>()?,
        })
    }

    /// The runs of one process. The seeds of a row lie one behind the other and are dealt out in turns, so that every process
    /// has its share of the rows that take long. Each process goes through all rows before it takes another seed.
    pub fn runs(&self, shard: Shard) -> Vec<PlannedRun> {
        let rows = 0..self.rows.len();
        let all = rows.flat_map(|row| self.seeds.iter().map(move |&seed| PlannedRun { row, seed }));
        let own = all.enumerate().filter(|(index, _)| shard.holds(*index));
        let mut own: Vec<PlannedRun> = own.map(|(_, run)| run).collect();
        own.sort_by_key(|run| run.seed);
        own
    }

    /// The settings of a run.
    pub fn settings(&self, run: PlannedRun) -> RunConfig {
        let mut settings = self.rows[run.row].settings.clone();
        settings.training.seed = run.seed;
        settings
    }

    /// `ROW/seed-N`: its name, and its place in the folder.
    pub fn run_name(&self, run: PlannedRun) -> String {
        format!("{}/seed-{}", self.rows[run.row].name, run.seed)
    }
}

fn seeds(first: u64, count: usize) -> Result<Vec<u64>> {
    let last = first.checked_add(count as u64);
    if !(1..=MOST_SEEDS).contains(&count) {
        return Err(setting("--seeds", count, format!("1 to {MOST_SEEDS}")));
    }
    match last {
        Some(last) if i64::try_from(last).is_ok() => Ok((first..last).collect()),
        _ => Err(setting(
            "--seed",
            first,
            format!("room for {count} seeds below {}", i64::MAX),
        )),
    }
}

/// The settings of all rows of a cell.
fn cell_variants(base: &RunConfig, cell: &str, request: &Request) -> Result<Vec<RunConfig>> {
    let mut config = base.clone();
    config.change_cell(cell).map_err(|error| match error {
        Error::Setting { found, expected, .. } => setting("--cells", found, expected),
        error => error,
    })?;
    for (name, value) in &request.layer_settings {
        if config.has_in_layers(name) {
            config.set_in_layers(name, value)?;
        }
    }
    if request.iterations.is_empty() || !config.has_in_layers(ITERATIONS) {
        return Ok(vec![config]);
    }
    let variant = |&iterations: &usize| {
        let mut config = config.clone();
        let iterations = i64::try_from(iterations).unwrap_or(i64::MAX);
        config.set_in_layers(ITERATIONS, &Value::Integer(iterations))?;
        Ok(config)
    };
    request.iterations.iter().map(variant).collect()
}

/// The one setting of a cell that makes rows.
pub(super) const ITERATIONS: &str = "iterations";

fn kind_of(settings: &RunConfig) -> String {
    match settings.layer_setting(ITERATIONS) {
        Some(iterations) => format!("{}-k{iterations}", settings.cell()),
        None => settings.cell().to_string(),
    }
}

/// Settings are chosen by the validation part, which must then be there.
fn judge(base: &RunConfig, dataset: &Dataset, request: &Request) -> Result<Part> {
    let part = match request.folds {
        Some(_) => {
            folds::check_data(dataset, base)?;
            Part::Folds
        }
        None if request.vary.is_empty() => Part::Test,
        None => Part::Validation,
    };
    let Some(varied) = request.vary.first() else {
        return match request.draw {
            Some(draw) => Err(setting("--draw", draw, "settings to draw from, which --vary names")),
            None => Ok(part),
        };
    };
    if request.draw == Some(0) {
        return Err(setting("--draw", 0, "at least 1"));
    }
    if part == Part::Validation && base.training.validation == 0.0 && dataset.validation.is_none() {
        let expected = format!(
            "a share above 0, of which --vary {} is judged (or --folds 5)",
            varied.name
        );
        return Err(setting("--validation", 0, expected));
    }
    let rows = |vary: &Vary| vary.values.len();
    let all = request.vary.iter().map(rows).try_fold(1, usize::checked_mul);
    match all.map(|all| all.min(request.draw.unwrap_or(MOST_ROWS + 1))) {
        Some(rows) if rows <= MOST_ROWS => Ok(part),
        _ => {
            let found = all.map_or_else(|| "more than can be counted".to_string(), |all| all.to_string());
            let expected = format!("at most {MOST_ROWS} combinations a cell, or --draw N of them");
            Err(setting("--vary", found, expected))
        }
    }
}

fn refuse_repeated<T: PartialEq + ToString>(flag: &str, values: &[T]) -> Result<()> {
    let repeated = values
        .iter()
        .enumerate()
        .find(|(index, value)| values[..*index].contains(value));
    match repeated {
        None => Ok(()),
        Some((_, value)) => Err(setting(flag, format!("{} twice", value.to_string()), "each one once")),
    }
}

/// A setting that no cell has would be asked for in vain.
fn refuse_unused(request: &Request, variants: &[RunConfig]) -> Result<()> {
    let of_rows = request.iterations.first().map(|&first| (ITERATIONS, first.to_string()));
    let of_layers = request.layer_settings.iter();
    let of_layers = of_layers.map(|(name, value)| (name.as_str(), value.to_string()));
    for (name, value) in of_layers.chain(of_rows) {
        if !variants.iter().any(|config| config.has_in_layers(name)) {
            let cells = request.cells.join(", ");
            return Err(setting(
                name,
                value.trim_matches('"'),
                format!("no such setting for any of {cells}"),
            ));
        }
    }
    Ok(())
}

fn setting(name: &str, found: impl ToString, expected: impl ToString) -> Error {
    Error::Setting {
        name: name.to_string(),
        found: found.to_string(),
        expected: expected.to_string(),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
