//! Flags that change settings: each row of the library's table of settings is one, under its own name.

use std::path::PathBuf;

use clap::parser::MatchesError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use ernn::train::{Given, Kind, SETTINGS, Setting};
use toml::Value;

use crate::reading::word;

/// The flags of one network and its training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingFlags(Vec<Given>);

/// The same for several networks side by side: what makes each a row of its own is no flag here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedFlags(SettingFlags);

impl SettingFlags {
    /// What was given.
    pub fn given(&self) -> &[Given] {
        &self.0
    }

    /// Whether a flag was given.
    pub fn has(&self, flag: &str) -> bool {
        self.value(flag).is_some()
    }

    /// The whole number that a flag was given.
    pub fn whole(&self, flag: &str) -> Option<usize> {
        usize::try_from(self.value(flag)?.as_integer()?).ok()
    }

    /// The settings of cells that were given, by their names.
    pub fn of_layers(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let given = self.0.iter();
        given.filter_map(|(setting, value)| Some((setting.of_layers()?, value.clone())))
    }

    fn value(&self, flag: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(setting, _)| setting.flag == flag);
        found.map(|(_, value)| value)
    }
}

impl SharedFlags {
    /// The flags.
    pub fn all(&self) -> &SettingFlags {
        &self.0
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        SETTINGS
            .iter()
            .fold(command, |command, setting| command.arg(arg(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut flags = SettingFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        let values = SETTINGS.iter().map(|setting| Some((setting, value(setting, matches)?)));
        self.0 = values.flatten().collect();
        Ok(())
    }
}

impl Args for SharedFlags {
    fn augment_args(command: Command) -> Command {
        let shared = SETTINGS.iter().filter(|setting| !setting.makes_rows());
        shared.fold(command, |command, setting| command.arg(arg(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SharedFlags {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut flags = SharedFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        let shared = SETTINGS.iter().filter(|setting| !setting.makes_rows());
        let values = shared.map(|setting| Some((setting, value(setting, matches)?)));
        self.0.0 = values.flatten().collect();
        Ok(())
    }
}

/// The flag of a setting.
fn arg(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.name())
        .long(setting.flag)
        .value_name(setting.placeholder)
        .help_heading(setting.heading.text())
        .help(setting.help);
    // TOML's integers have 63 bits.
    let whole = value_parser!(i64).range(0..);
    match setting.kind {
        Kind::Whole => arg.value_parser(whole),
        Kind::Wholes => arg.value_parser(whole).value_delimiter(','),
        Kind::Number => arg.value_parser(value_parser!(f64)),
        Kind::Numbers => arg.value_parser(value_parser!(f64)).value_delimiter(','),
        Kind::Switch => arg
            .value_parser(value_parser!(bool))
            .num_args(0..=1)
            .default_missing_value("true"),
        Kind::Name | Kind::WholeOrName | Kind::Text => arg.value_parser(value_parser!(String)),
        Kind::Paths => arg.value_parser(value_parser!(PathBuf)).value_delimiter(','),
    }
}

/// The value that a setting was given; none if it was not, or is no flag of this command.
fn value(setting: &Setting, matches: &ArgMatches) -> Option<Value> {
    fn one<T: Clone + Send + Sync + 'static>(name: &str, matches: &ArgMatches) -> Option<T> {
        known(matches.try_get_one(name)).cloned()
    }
    fn known<T>(found: std::result::Result<Option<T>, MatchesError>) -> Option<T> {
        found.ok().flatten()
    }
    let name = setting.name();
    match setting.kind {
        Kind::Whole => one(&name, matches).map(Value::Integer),
        Kind::Wholes => {
            let numbers = known(matches.try_get_many::<i64>(&name))?;
            Some(Value::Array(numbers.copied().map(Value::Integer).collect()))
        }
        Kind::Number => one(&name, matches).map(Value::Float),
        Kind::Numbers => {
            let numbers = known(matches.try_get_many::<f64>(&name))?;
            Some(Value::Array(numbers.copied().map(Value::Float).collect()))
        }
        Kind::Switch => one(&name, matches).map(Value::Boolean),
        Kind::Name => one::<String>(&name, matches).map(|text| Value::String(word(&text))),
        Kind::WholeOrName => one::<String>(&name, matches)
            .map(|text| text.parse().map_or_else(|_| Value::String(word(&text)), Value::Integer)),
        Kind::Text => one(&name, matches).map(Value::String),
        Kind::Paths => {
            let paths = known(matches.try_get_many::<PathBuf>(&name))?;
            let text = |path: &PathBuf| Value::String(path.to_string_lossy().into_owned());
            Some(Value::Array(paths.map(text).collect()))
        }
    }
}
