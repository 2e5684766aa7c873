//! Given settings: values put over those of a run, and which of them change nothing there.

use toml::Value;

use super::{Given, RunConfig, SETTINGS, Setting, TeacherSettings, With};
use crate::data::{Dataset, Task};
use crate::optim::{OptimizerConfig, Schedule};
use crate::{Error, Result};

/// A given setting that changes nothing here, and what would have to be there for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The setting.
    pub setting: &'static Setting,
    /// What it does not go with; empty: the data.
    pub found: &'static str,
    /// What it is for.
    pub expected: &'static str,
}

impl RunConfig {
    /// Puts values over the settings, in the order of [`SETTINGS`]. With `cells`, those of the cells as well; without, they are left to a
    /// comparison, whose cells have them or not.
    ///
    /// # Errors
    /// If a value is of another kind, or the network has no such setting. Whether it is in range says [`RunConfig::check`].
    pub fn apply(&mut self, given: &[Given], cells: bool) -> Result<()> {
        for setting in SETTINGS {
            let Some((_, value)) = given.iter().find(|(given, _)| *given == setting) else {
                continue;
            };
            if cells || (setting.of_layers().is_none() && !setting.makes_rows()) {
                self.apply_one(setting, value).map_err(|error| match error {
                    Error::Setting { found, expected, .. } => Error::setting(setting.name(), found, expected),
                    error => error,
                })?;
            }
        }
        let value = |flag| {
            given
                .iter()
                .find(|(setting, _)| setting.flag == flag)
                .map(|(_, value)| value)
        };
        if value("max-steps").is_some() && value("min-steps").is_none() {
            self.lower_floor();
        }
        let every = value("halve-every").and_then(Value::as_integer);
        self.set_schedule(
            value("schedule").and_then(Value::as_str),
            every.and_then(|every| usize::try_from(every).ok()),
        )
    }

    fn apply_one(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        let name = setting.path.rsplit('.').next().unwrap_or(setting.path);
        let table = setting.path.strip_suffix(name).unwrap_or("").trim_end_matches('.');
        match (table, name) {
            ("layers", "kind") => self.change_cell(value.as_str().unwrap_or_default()),
            ("layers", name) => self.set_in_layers(name, value),
            ("", "layers") => {
                let count = value.as_integer().and_then(|count| usize::try_from(count).ok());
                self.stack(count.unwrap_or(0))
            }
            ("training.schedule", _) => Ok(()), // Kind and length together say what it is: `set_schedule`.
            ("training.optimizer", "kind") => {
                let kind = value.as_str().unwrap_or_default();
                let known = OptimizerConfig::of_kind(kind);
                self.training.optimizer = known.ok_or_else(|| Error::setting(name, kind, "adam, adamw or sgd"))?;
                Ok(())
            }
            ("training.optimizer", "momentum") if !matches!(self.training.optimizer, OptimizerConfig::Sgd(_)) => {
                let expected = "none: it is a setting of the optimizer sgd alone";
                Err(Error::setting(name, value.to_string(), expected))
            }
            ("training.teacher", name) => {
                match (name, &self.training.teacher) {
                    ("runs", None) => self.training.teacher = Some(TeacherSettings::default()),
                    (_, None) => {
                        return Err(Error::setting(
                            name,
                            value.to_string(),
                            "none: it goes with a teacher alone",
                        ));
                    }
                    _ => {}
                }
                self.set(table, name, value.clone())
            }
            ("model.embedding", _) => {
                self.model.embedding.get_or_insert_default();
                self.set(table, name, value.clone())
            }
            _ => self.set(table, name, value.clone()),
        }
    }

    /// How the learning rate falls, as flags say it in short: a kind, and after how many epochs it is halved. Nothing said changes nothing;
    /// steps of no stated length have that of the settings, or a third of the epochs.
    ///
    /// # Errors
    /// If there is no such kind, or it is not halved.
    pub fn set_schedule(&mut self, kind: Option<&str>, every: Option<usize>) -> Result<()> {
        let epochs = self.training.epochs;
        let usual = match &self.training.schedule {
            Schedule::Step { every, .. } => *every,
            _ => epochs.div_ceil(3),
        };
        self.training.schedule = match (kind, every) {
            (None, None) => return Ok(()),
            (None | Some("step"), every) => Schedule::Step {
                every: every.unwrap_or(usual),
                factor: 0.5,
            },
            (Some("constant"), None) => Schedule::Constant,
            (Some("cosine"), None) => Schedule::Cosine { epochs, floor: 0.0 },
            (Some(kind @ ("constant" | "cosine")), Some(every)) => {
                let expected = format!("none: it does not go with the schedule {kind}");
                return Err(Error::setting("halve_every", every.to_string(), expected));
            }
            (Some(kind), _) => return Err(Error::setting("schedule", kind, "step, cosine or constant")),
        };
        Ok(())
    }

    /// The first given setting that changes nothing for this data.
    pub fn unused_for(&self, given: &[Given], dataset: &Dataset) -> Option<Unused> {
        let tokens = dataset.train.values.are_tokens();
        let labels = dataset.task == Task::MultiLabel;
        let classes = matches!(dataset.task, Task::Classification | Task::StepClassification);
        let once = labels || matches!(dataset.task, Task::Classification | Task::Regression);
        first_unused(given, |with| match with {
            With::Text => (tokens, "", "text"),
            With::NextToken => (
                dataset.task == Task::NextToken,
                "",
                "text whose next token is predicted",
            ),
            With::Numbers => (!tokens, "", "numbers"),
            With::OneTarget => (once, "", "data with one target a sequence"),
            With::Classes => (classes, "", "data with classes"),
            With::OneClass => (
                dataset.task == Task::Classification,
                "",
                "data with a class for each sequence",
            ),
            With::Steps => (
                dataset.task == Task::StepClassification,
                "",
                "data with a class for each step",
            ),
            With::ClassesOrLabels => (
                labels || dataset.task == Task::Classification,
                "",
                "data with a class or labels for each sequence",
            ),
            With::OneNumber => (
                dataset.task.is_of_numbers(),
                "",
                "data with a number to predict for each sequence or step",
            ),
            With::NoValidation => (
                dataset.validation.is_none(),
                "",
                "data without a validation part of its own",
            ),
            With::Layers => (
                self.model.layers.len() > 1,
                "a single layer",
                "several layers (--layers)",
            ),
            With::All | With::Euler | With::Equilibrium => (true, "", ""),
        })
    }

    /// The first given setting of a way to find the state of an ERNN that is found in another.
    pub fn unused_for_solver(&self, given: &[Given]) -> Option<Unused> {
        let solver = self.layer_setting("solver")?;
        let euler = solver.as_str() == Some("euler");
        let found = match solver.as_str()? {
            "euler" => "--solver euler",
            "newton" => "--solver newton",
            "anderson" => "--solver anderson",
            _ => "--solver fixed-point",
        };
        first_unused(given, |with| match with {
            With::Euler => (euler, found, "--solver euler"),
            With::Equilibrium => (!euler, found, "--solver newton, anderson or fixed-point"),
            _ => (true, "", ""),
        })
    }
}

/// `goes` says of what a setting goes with whether it is here, what is here instead, and what it is for.
fn first_unused(given: &[Given], goes: impl Fn(With) -> (bool, &'static str, &'static str)) -> Option<Unused> {
    given.iter().find_map(|(setting, value)| {
        let (used, found, expected) = goes(setting.with);
        (!used && setting.asks(value)).then_some(Unused {
            setting,
            found,
            expected,
        })
    })
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::super::Kind;
    use super::*;
    use crate::cell::CellConfig;

    /// A value that each kind of setting takes.
    fn value(setting: &Setting) -> Value {
        let name = |text: &str| Value::String(text.to_string());
        match (setting.kind, setting.flag) {
            (Kind::Whole | Kind::WholeOrName, _) => Value::Integer(3),
            (Kind::Wholes, _) => Value::Array(vec![Value::Integer(3)]),
            (Kind::Number, _) => Value::Float(0.125),
            (Kind::Numbers, _) => Value::Array(vec![Value::Float(0.125), Value::Float(0.5)]),
            (Kind::Switch, _) => Value::Boolean(true),
            (Kind::Text, _) => name("a,b,c"),
            (Kind::Paths, _) => Value::Array(vec![name("run")]),
            (Kind::Name, "cell") => name("gru"),
            (Kind::Name, "activation") => name("tanh"),
            (Kind::Name, "gate-activation") => name("hard-sigmoid"),
            (Kind::Name, "pooling") => name("mean-std-max"),
            (Kind::Name, "start") => name("zero"),
            (Kind::Name, "sign") => name("minus"),
            (Kind::Name, "steps") => name("per-iteration"),
            (Kind::Name, "reset") => name("before"),
            (Kind::Name, "projection") => name("identity"),
            (Kind::Name, "solver") => name("newton"),
            (Kind::Name, "gradient") => name("one-step"),
            (Kind::Name, "schedule") => name("constant"),
            (Kind::Name, "optimizer") => name("sgd"),
            (Kind::Name, "class-weights") => name("balanced"),
            (Kind::Name, "quantize") => name("int8"),
            (Kind::Name, "loss") => name("huber"),
            (Kind::Name, flag) => panic!("{flag} has no value in this test"),
        }
    }

    /// Settings of a cell that has this one.
    fn with_cell_for(setting: &Setting) -> RunConfig {
        let mut config = RunConfig::defaults("x");
        if let Some(name) = setting.of_layers() {
            let has = |kind: &&&str| {
                let cell = CellConfig::of_kind(kind).unwrap();
                Table::try_from(&cell).unwrap().contains_key(name)
            };
            let kind = CellConfig::KINDS
                .iter()
                .find(has)
                .unwrap_or_else(|| panic!("no cell has {name}"));
            config.change_cell(kind).unwrap();
        }
        config
    }

    #[test]
    fn each_row_changes_its_place_and_no_other_row_has_its_flag() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            assert_eq!(Setting::of_flag(&setting.name()), Some(setting), "{}", setting.flag);
            assert!(SETTINGS[..index].iter().all(|other| other.flag != setting.flag));
            let before = with_cell_for(setting);
            let mut after = before.clone();
            let mut given: Vec<Given> = match setting.flag {
                "teacher-weight" | "teacher-temperature" => {
                    vec![Setting::given("teacher", value(Setting::of_flag("teacher").unwrap())).unwrap()]
                }
                "momentum" => vec![Setting::given("optimizer", Value::String("sgd".to_string())).unwrap()],
                _ => Vec::new(),
            };
            given.push((setting, value(setting)));
            after
                .apply(&given, true)
                .unwrap_or_else(|error| panic!("{}: {error}", setting.flag));
            assert_ne!(before, after, "{}", setting.flag);
            let table = Table::try_from(&after).unwrap();
            let path = setting.path.replacen(
                "layers",
                "model.layers",
                usize::from(setting.path.starts_with("layers")),
            );
            let found = path
                .split('.')
                .try_fold(&Value::Table(table), |outer, name| match outer {
                    Value::Array(layers) => layers[0].get(name),
                    outer => outer.get(name),
                })
                .cloned();
            if setting.path != "layers" {
                assert_eq!(found, Some(value(setting)), "{}", setting.flag);
            }
        }
    }

    #[test]
    fn a_schedule_is_said_in_short() {
        let schedule = |kind: Option<&str>, every: Option<usize>| {
            let mut config = RunConfig::defaults("x");
            config.training.epochs = 31;
            config.training.schedule = Schedule::Constant;
            config.set_schedule(kind, every).map(|()| config.training.schedule)
        };
        let step = |every| Schedule::Step { every, factor: 0.5 };
        assert_eq!(schedule(None, None).unwrap(), Schedule::Constant);
        assert_eq!(schedule(Some("step"), None).unwrap(), step(11));
        assert_eq!(schedule(None, Some(4)).unwrap(), step(4));
        assert_eq!(
            schedule(Some("cosine"), None).unwrap(),
            Schedule::Cosine { epochs: 31, floor: 0.0 }
        );
        let text = schedule(Some("cosine"), Some(4)).unwrap_err().to_string();
        assert_eq!(
            text,
            "halve_every: found 4, expected none: it does not go with the schedule cosine"
        );
        assert!(schedule(Some("never"), None).is_err());
    }

    #[test]
    fn zero_and_false_ask_for_nothing_where_they_leave_something_out() {
        let asks = |name: &str, value: Value| {
            let (setting, value) = Setting::given(name, value).unwrap();
            setting.asks(&value)
        };
        assert!(!asks("input_noise", Value::Float(0.0)));
        assert!(asks("input_noise", Value::Float(0.1)));
        assert!(!asks("tied", Value::Boolean(false)));
        assert!(asks("validation", Value::Float(0.0)), "it says that nothing validates");
        assert!(asks("eta", Value::Float(0.0)));
    }
}
