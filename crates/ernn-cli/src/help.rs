//! The defaults of settings in `--help`: read off the settings themselves, so that they cannot be others.

use clap::{Arg, Command};
use ernn::cell::CellConfig;
use ernn::data;
use ernn::train::{Kind, RunConfig, Setting};
use toml::{Table, Value};

/// A source that is no known data set and no text: it has the general defaults.
const ANY_DATA: &str = "";

/// The commands whose flags are settings of a run.
const OF_RUNS: [&str; 2] = ["train", "compare"];

/// The command with the defaults of its settings behind their descriptions. They are only looked up where they are asked for.
pub fn with_defaults(command: Command) -> Command {
    if !is_asked_for() {
        return command;
    }
    let defaults = Defaults::new();
    OF_RUNS.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| command.mut_args(|arg| with_default(arg, &defaults)))
    })
}

/// Whether the descriptions of flags are about to be printed.
fn is_asked_for() -> bool {
    let words = ["-h", "--help", "help", "man", "completions"];
    std::env::args().skip(1).any(|word| words.contains(&word.as_str()))
}

fn with_default(arg: Arg, defaults: &Defaults) -> Arg {
    let Some(help) = arg.get_help().map(ToString::to_string) else {
        return arg;
    };
    // What says it in its own words keeps them.
    if help.contains("[default") {
        return arg;
    }
    match defaults.of(arg.get_id().as_str()) {
        Some(default) => arg.help(format!("{help} [default: {default}]")),
        None => arg,
    }
}

/// The settings of a run, for any data and for each that is known.
struct Defaults {
    any: Table,
    known: Vec<Table>,
    /// A layer of each kind, `ernn` first.
    cells: Vec<Table>,
}

impl Defaults {
    fn new() -> Self {
        let table = |source: &str| Table::try_from(RunConfig::defaults(source)).expect("settings are plain structs");
        let cell = |kind: &&str| Table::try_from(CellConfig::of_kind(kind)?).ok();
        let any = table(ANY_DATA);
        let ernn = layer(&any).cloned();
        let others = CellConfig::KINDS.iter().filter(|kind| **kind != "ernn");
        Defaults {
            known: data::known().iter().map(|set| table(set.name)).collect(),
            cells: ernn.into_iter().chain(others.filter_map(cell)).collect(),
            any,
        }
    }

    /// What a flag stands at when it is not given; none if it is no setting.
    fn of(&self, flag: &str) -> Option<String> {
        let setting = Setting::of_flag(flag)?;
        let (default, on_data, on_cell) = match setting.of_layers() {
            Some(name) => self.of_cell(name)?,
            None => {
                let written = |table| at(table, setting.path).or(left_out(setting));
                let default = written(&self.any).filter(|value| is_plain(value))?;
                let differs = |known| written(known) != Some(default);
                (default, self.known.iter().any(differs), false)
            }
        };
        let depends = match (on_data, on_cell) {
            (true, true) => "; depends on data and cell",
            (true, false) => "; depends on the data",
            (false, true) => "; depends on the cell",
            (false, false) => "",
        };
        Some(format!("{}{depends}", text(default)))
    }

    /// A setting of cells: its value in the first kind that has it, and whether data or cells differ in it.
    fn of_cell(&self, name: &str) -> Option<(&Value, bool, bool)> {
        let mut values = self.cells.iter().filter_map(|cell| cell.get(name));
        let default = values.next()?;
        let layers = self.known.iter().filter_map(layer);
        let on_data = layers.filter_map(|layer| layer.get(name)).any(|value| value != default);
        // The size is that of the data for every cell.
        let on_cell = name != "hidden" && values.any(|value| value != default);
        let in_ernn = self.cells.first().is_some_and(|ernn| ernn.contains_key(name));
        Some((default, on_data && in_ernn, on_cell))
    }
}

/// What a setting is that files leave out where it asks for nothing.
fn left_out(setting: &Setting) -> Option<&'static Value> {
    static NONE: Value = Value::Integer(0);
    static NO: Value = Value::Boolean(false);
    let (table, _) = setting.path.rsplit_once('.')?;
    match (table, setting.kind) {
        ("training", Kind::Whole | Kind::Number) => Some(&NONE),
        ("model.transforms", Kind::Switch) => Some(&NO),
        _ => None,
    }
}

fn layer(settings: &Table) -> Option<&Table> {
    settings.get("model")?.get("layers")?.get(0)?.as_table()
}

/// No table and none of tables: something that a flag can say.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Table(_) => false,
        Value::Array(values) => values.iter().all(is_plain),
        _ => true,
    }
}

/// The value at a path with dots.
fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = table.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
