//! `ernn train --show`: all settings that a run would have, and behind each why it is so.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use ernn::data::{Dataset, Scheme};
use ernn::names::counted;
use ernn::train::{RunConfig, SETTINGS, Setting};
use toml::{Table, Value};

/// The column of the reasons, where the setting before is not longer.
const REASONS: usize = 36;

/// Where the settings of a run come from.
pub struct Sources<'a> {
    /// Names of the arguments on the command line.
    pub given: &'a HashSet<String>,
    /// The settings file, where there is one.
    pub file: Option<&'a Path>,
    /// The folds that judge, where there are any.
    pub folds: Option<Scheme>,
}

/// The settings as TOML that `--config` reads, with a reason behind each.
pub fn text(config: &RunConfig, dataset: &Dataset, sources: &Sources) -> String {
    let reasons = Reasons::new(config, dataset, sources);
    let part = &dataset.train;
    let mut text = format!(
        "# all settings of a run; `ernn train --config FILE{}` with them does it\n# {} of up to {} to train on\n\n",
        sources
            .folds
            .map_or_else(String::new, |folds| format!(" --folds {folds}")),
        counted(part.len(), "sequence"),
        counted(part.longest(), "step"),
    );
    let mut place = Place::default();
    for line in config.resolved(dataset).to_toml().lines() {
        match place.enter(line) {
            Some(path) => text += &format!("{line:<REASONS$}  # {}\n", reasons.of(&path)),
            None => text += &format!("{line}\n"),
        }
    }
    text.trim_end().to_string()
}

/// Where a line of TOML stands, as the writer of the settings lays it out: a table or a setting a line.
#[derive(Default)]
struct Place {
    table: String,
    layers: usize,
}

impl Place {
    /// Goes on by a line; its path if it is a setting.
    fn enter(&mut self, line: &str) -> Option<String> {
        if let Some(name) = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
            self.table = format!("{name}.{}", self.layers);
            self.layers += 1;
            return None;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            self.table = name.to_string();
            return None;
        }
        let (name, _) = line.split_once(" = ")?;
        Some(format!("{}.{name}", self.table))
    }
}

/// The settings at each stage on their way to a run.
struct Reasons<'a> {
    sources: &'a Sources<'a>,
    source: String,
    /// Of any data.
    any: Table,
    /// Of this data by its name.
    defaults: Table,
    /// Of this data as it was read.
    of_data: Table,
    file: Table,
    asked: Table,
    resolved: Table,
}

impl<'a> Reasons<'a> {
    fn new(config: &RunConfig, dataset: &Dataset, sources: &'a Sources<'a>) -> Self {
        let table = |config: &RunConfig| Table::try_from(config).expect("settings are plain structs");
        let source = config.data.source.clone();
        let file = sources.file.and_then(|path| fs::read_to_string(path).ok());
        Reasons {
            sources,
            any: table(&RunConfig::defaults("")),
            defaults: table(&RunConfig::defaults(&source)),
            of_data: table(&RunConfig::defaults_for(
                &source,
                &config.data.options(),
                dataset,
                sources.folds.is_some() || dataset.test.is_some(),
            )),
            // It was read before, or the run would have been refused.
            file: file.and_then(|text| text.parse().ok()).unwrap_or_default(),
            asked: table(config),
            resolved: table(&config.resolved(dataset)),
            source,
        }
    }

    /// Why a setting is as it is.
    fn of(&self, path: &str) -> String {
        if let Some(flag) = self.flag(path) {
            return flag;
        }
        if at(&self.asked, path) != at(&self.resolved, path) {
            return "follows from the data".to_string();
        }
        if let Some(file) = self.sources.file.filter(|_| at(&self.file, path).is_some()) {
            return format!("from {}", file.display());
        }
        let default = at(&self.defaults, path);
        let of_data = at(&self.of_data, path);
        if of_data != default && at(&self.asked, path) == of_data {
            return "default for data of one's own".to_string();
        }
        if at(&self.asked, path) != default || default.is_none() {
            return match self.cell(path) {
                Some(cell) => format!("default of {cell}"),
                None => "follows from the other settings".to_string(),
            };
        }
        if default == at(&self.any, path) {
            return "default".to_string();
        }
        format!("default for {}", self.source)
    }

    /// The argument that decided.
    fn flag(&self, path: &str) -> Option<String> {
        let flags: Vec<String> = match path {
            "data.source" => vec!["data".to_string()],
            _ if path.starts_with("training.schedule.") => {
                ["halve_every", "schedule", "epochs"].map(String::from).into()
            }
            _ => match setting(path) {
                Some(setting) => vec![setting.name()],
                // What is read of the data has flags of the same names.
                None => path.rsplit('.').next().map(String::from).into_iter().collect(),
            },
        };
        let given = flags.iter().find(|flag| self.sources.given.contains(*flag))?;
        Some(match &given[..] {
            "data" => "as given".to_string(),
            flag => format!("--{}", flag.replace('_', "-")),
        })
    }

    /// The kind of the layer that a setting belongs to.
    fn cell(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix("model.layers.")?;
        let layer = rest.split('.').next()?;
        let kind = at(&self.asked, &format!("model.layers.{layer}.kind"))?;
        Some(kind.as_str()?.to_string())
    }
}

/// The setting at a path, whose layers have numbers.
fn setting(path: &str) -> Option<&'static Setting> {
    let layer = path.strip_prefix("model.layers.").and_then(|rest| rest.split_once('.'));
    let path = layer.map_or(path.to_string(), |(_, name)| format!("layers.{name}"));
    SETTINGS.iter().find(|setting| setting.path == path)
}

/// The value at a path with dots; numbers count in arrays.
fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = table.get(names.next()?)?;
    names.try_fold(first, |value, name| match value {
        Value::Array(values) => values.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_toml_has_its_place() {
        let mut place = Place::default();
        let lines = [
            "[training]",
            "seed = 1",
            "",
            "[training.optimizer]",
            "kind = \"adam\"",
            "[[model.layers]]",
            "hidden = 2",
            "[[model.layers]]",
            "hidden = 3",
        ];
        let paths: Vec<String> = lines.iter().filter_map(|line| place.enter(line)).collect();
        let expected = [
            "training.seed",
            "training.optimizer.kind",
            "model.layers.0.hidden",
            "model.layers.1.hidden",
        ];
        assert_eq!(paths, expected);
    }
}
