//! What is tried: a recipe, a few changes of it that have helped somewhere, and combinations drawn from the axes.
//!
//! The axes stand in one table. A value that this version does not know, or a setting that the cell does not have, is left out; and so is what
//! the user has set: a setting that is other than the default of the data stays as it is.

use rand::RngExt;
use toml::{Table, Value};

use crate::compare::{Varied, parameters, value};
use ernn::Result;
use ernn::data::random::stream;
use ernn::data::{Dataset, Values};
use ernn::train::{RunConfig, eta};

const PURPOSE: &[u8; 8] = b"auto\0\0\0\0";

/// Settings by their names in the settings file, and their values, that of the recipe first.
const AXES: [(&str, &[&str]); 10] = [
    ("cell", &["ernn", "gru", "fastgrnn"]),
    ("pooling", &["mean-max", "mean", "last"]),
    ("differences", &["true", "false"]),
    ("compress", &["false", "true"]),
    ("steps", &["per-iteration", "per-step"]),
    ("input_noise", &["0.6", "0.3", "0.1", "0"]),
    ("hidden", &["64", "32", "128"]),
    ("learning_rate", &["0.005", "0.01", "0.002"]),
    ("input_rotation", &["0", "0.15"]),
    ("input_warp", &["0", "0.1"]),
];

/// Changes of the recipe that are tried before anything is drawn.
const DESIGNED: [&[(&str, &str)]; 10] = [
    &[],
    &[("cell", "gru")],
    &[("differences", "false")],
    &[("compress", "true")],
    &[("compress", "true"), ("input_rotation", "0.15")],
    &[("steps", "per-step")],
    &[("cell", "fastgrnn")],
    &[("pooling", "last")],
    &[("input_noise", "0.1")],
    &[("pooling", "mean"), ("hidden", "128")],
];

/// Draws until a combination is given up that has been drawn before.
const MOST_DRAWS: u64 = 64;
/// Hidden sizes of models that must be small.
const SMALLER: [i64; 8] = [96, 64, 48, 32, 24, 16, 8, 4];

/// One combination.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// What it has of its own; empty for the settings as they were asked for.
    pub varied: Vec<Varied>,
    /// The complete settings.
    pub settings: RunConfig,
    /// Size of its model.
    pub kilobytes: f64,
}

/// The settings that were asked for, and what may be changed of them.
pub(super) struct Space<'a> {
    asked: &'a RunConfig,
    base: RunConfig,
    dataset: &'a Dataset,
    budget: Option<f64>,
    axes: Vec<Axis>,
}

struct Axis {
    name: &'static str,
    values: Vec<Value>,
}

impl<'a> Space<'a> {
    pub fn new(asked: &'a RunConfig, dataset: &'a Dataset, budget: Option<f64>) -> Result<Self> {
        let usual = usual(asked, dataset);
        let base = asked.clone();
        let fixed = |name: &str| setting_of(asked, name) != setting_of(&usual, name);
        let mut axes = Vec::new();
        for (name, values) in AXES {
            let known = values
                .iter()
                .map(|text| value(text))
                .filter(|value| applied(&base, name, value).is_some());
            let values: Vec<Value> = known.collect();
            if !values.is_empty() && !fixed(name) && applies(name, asked, dataset) {
                axes.push(Axis { name, values });
            }
        }
        Ok(Space {
            asked,
            base,
            dataset,
            budget,
            axes,
        })
    }

    /// So many different combinations at most; the first one is what was asked for.
    pub fn candidates(&self, count: usize) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let add = |candidate: Option<Candidate>, found: &mut Vec<Candidate>| {
            let new = candidate.filter(|new| found.iter().all(|other| other.settings != new.settings));
            found.extend(new);
        };
        add(self.within_budget(Vec::new(), self.asked.clone()), &mut found);
        for changes in DESIGNED {
            add(self.designed(changes), &mut found);
        }
        let mut position = 0;
        let mut in_vain = 0;
        while found.len() < count && in_vain < MOST_DRAWS {
            let before = found.len();
            add(self.drawn(position), &mut found);
            position += 1;
            in_vain = if found.len() > before { 0 } else { in_vain + 1 };
        }
        found.truncate(count);
        found
    }

    /// The recipe with these changes; none if there is no such setting or value.
    fn designed(&self, changes: &[(&str, &str)]) -> Option<Candidate> {
        let is_axis = |(name, text): &(&str, &str)| {
            let axis = self.axes.iter().find(|axis| axis.name == *name);
            axis.is_some_and(|axis| axis.values.contains(&value(text)))
        };
        if !changes.iter().all(is_axis) {
            return None;
        }
        self.combined(|axis| {
            let change = changes.iter().find(|(name, _)| *name == axis.name);
            change.map_or_else(|| axis.values[0].clone(), |(_, text)| value(text))
        })
    }

    /// Half of the settings as in the recipe, the others by lot.
    fn drawn(&self, position: u64) -> Option<Candidate> {
        let mut random = stream(PURPOSE, self.asked.training.seed, position);
        self.combined(|axis| {
            let (keeps, choice) = (random.random_bool(0.5), random.random_range(0..axis.values.len()));
            axis.values[if keeps { 0 } else { choice }].clone()
        })
    }

    /// The axes one after the other, the cell first: what it does not have is left out.
    fn combined(&self, mut choose: impl FnMut(&Axis) -> Value) -> Option<Candidate> {
        let mut settings = self.base.clone();
        let mut varied = Vec::new();
        for axis in &self.axes {
            let value = choose(axis);
            let Some(applied) = applied(&settings, axis.name, &value) else {
                continue;
            };
            settings = applied;
            varied.push(Varied {
                name: axis.name.to_string(),
                value,
            });
        }
        self.set_eta(&mut settings);
        self.within_budget(varied, settings)
    }

    /// One step size an iteration begins large, one a step small; a step size that was asked for stays.
    fn set_eta(&self, settings: &mut RunConfig) {
        let usual = usual(self.asked, self.dataset);
        let asked = setting_of(self.asked, "eta") != setting_of(&usual, "eta");
        if asked || !settings.has_in_layers("eta") {
            return;
        }
        let per_iteration = settings.layer_setting("steps").as_ref().and_then(Value::as_str) == Some("per-iteration");
        let eta = match per_iteration {
            true => Some(Value::Float(eta(self.dataset.train.longest()))),
            false => RunConfig::defaults(&self.asked.data.source).layer_setting("eta"),
        };
        if let Some(eta) = eta {
            settings
                .set_in_layers("eta", &eta)
                .expect("every cell with step sizes takes them");
        }
    }

    /// The candidate with the largest hidden size that the budget allows; none if none does.
    fn within_budget(&self, mut varied: Vec<Varied>, settings: RunConfig) -> Option<Candidate> {
        settings.check().ok()?;
        let size = |settings: &RunConfig| {
            let resolved = settings.resolved(self.dataset);
            4.0 * parameters(&resolved, self.dataset) as f64 / 1024.0
        };
        let fits = |settings: &RunConfig| self.budget.is_none_or(|budget| size(settings) <= budget);
        let mut settings = settings;
        let hidden = settings.model.layers.first().map_or(0, |layer| layer.hidden()) as i64;
        for smaller in std::iter::once(hidden).chain(SMALLER.into_iter().filter(|smaller| *smaller < hidden)) {
            if smaller != hidden {
                settings.set_in_layers("hidden", &Value::Integer(smaller)).ok()?;
                varied.retain(|varied| varied.name != "hidden");
                varied.push(Varied {
                    name: "hidden".to_string(),
                    value: Value::Integer(smaller),
                });
            }
            if settings.check().is_ok() && fits(&settings) {
                return Some(Candidate {
                    varied,
                    kilobytes: size(&settings),
                    settings,
                });
            }
        }
        None
    }
}

/// Whether a setting can change anything for these data.
fn applies(name: &str, asked: &RunConfig, dataset: &Dataset) -> bool {
    let numbers = matches!(dataset.train.values, Values::Numbers(_));
    let transforms = &asked.model.transforms;
    match name {
        "input_rotation" => {
            numbers
                && transforms
                    .devices(&dataset.feature_names)
                    .is_ok_and(|found| !found.is_empty())
        }
        "input_warp" => numbers && !dataset.task.is_of_steps(),
        _ => true,
    }
}

/// The settings if nothing had been asked for.
fn usual(asked: &RunConfig, dataset: &Dataset) -> RunConfig {
    RunConfig::defaults_for(&asked.data.source, &asked.data.options(), dataset, true)
}

/// The settings with one more value; none if there is no such setting or value.
fn applied(settings: &RunConfig, name: &str, value: &Value) -> Option<RunConfig> {
    let mut settings = settings.clone();
    let done = match (name, value.as_str()) {
        ("cell", Some(kind)) => settings.change_cell(kind),
        _ => Varied {
            name: name.to_string(),
            value: value.clone(),
        }
        .apply(&mut settings),
    };
    done.and_then(|()| settings.check()).ok().map(|()| settings)
}

/// A setting by its name, wherever it stands; none if it has its usual value and is not written.
fn setting_of(settings: &RunConfig, name: &str) -> Option<Value> {
    if name == "cell" {
        return Some(Value::String(settings.cell().to_string()));
    }
    let in_layers = settings.layer_setting(name);
    in_layers.or_else(|| find(&Table::try_from(settings).expect("settings are plain structs"), name))
}

fn find(table: &Table, name: &str) -> Option<Value> {
    let own = table.get(name).filter(|value| !value.is_table());
    own.cloned().or_else(|| {
        table
            .values()
            .filter_map(Value::as_table)
            .find_map(|inner| find(inner, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ernn::data::{self, OpenOptions};

    fn vowels() -> Dataset {
        let mut dataset = data::open("japanese-vowels", &OpenOptions::default()).unwrap();
        dataset.test = None;
        dataset
    }

    fn defaults(dataset: &Dataset) -> RunConfig {
        RunConfig::defaults_for("mine.csv", &OpenOptions::default(), dataset, true)
    }

    #[test]
    fn candidates_differ_and_are_the_same_each_time() {
        let dataset = vowels();
        let asked = defaults(&dataset);
        let space = Space::new(&asked, &dataset, None).unwrap();
        let found = space.candidates(40);
        assert_eq!(found.len(), 40);
        assert_eq!(found[0].settings, asked);
        let of_kind = |steps: &str| {
            let is_one = |candidate: &&Candidate| candidate.settings.layer_setting("steps") == Some(value(steps));
            found.iter().find(is_one).unwrap().settings.layer_setting("eta")
        };
        assert_eq!(of_kind("per-iteration"), Some(Value::Float(0.3)));
        assert_eq!(
            of_kind("per-step"),
            RunConfig::defaults("mine.csv").layer_setting("eta")
        );
        for (index, candidate) in found.iter().enumerate() {
            assert!(found[..index].iter().all(|other| other.settings != candidate.settings));
        }
        assert_eq!(space.candidates(12)[..], found[..12]);
        for kind in ["ernn", "gru", "fastgrnn"] {
            assert!(
                found.iter().any(|candidate| candidate.settings.cell() == kind),
                "{kind}"
            );
        }
    }

    #[test]
    fn what_was_asked_for_stays() {
        let dataset = vowels();
        let mut asked = defaults(&dataset);
        asked.change_cell("gru").unwrap();
        asked.training.learning_rate = 0.007;
        asked.set_epochs(3);
        let space = Space::new(&asked, &dataset, None).unwrap();
        for candidate in space.candidates(20) {
            assert_eq!(candidate.settings.cell(), "gru");
            assert_eq!(candidate.settings.training.learning_rate, 0.007);
            assert_eq!(
                (
                    candidate.settings.training.epochs,
                    candidate.settings.training.min_steps
                ),
                (3, 0)
            );
        }
    }

    #[test]
    fn no_model_is_larger_than_the_budget() {
        let dataset = vowels();
        let asked = defaults(&dataset);
        let space = Space::new(&asked, &dataset, Some(8.0)).unwrap();
        let found = space.candidates(30);
        assert!(found.len() > 5 && found.iter().all(|candidate| candidate.kilobytes <= 8.0));
        assert!(
            Space::new(&asked, &dataset, Some(0.01))
                .unwrap()
                .candidates(30)
                .is_empty()
        );
    }
}
