//! `[search]` of an experiment: the settings that its rows were chosen from, and how they are compared.
//!
//! ```toml
//! [search]
//! seeds = 2
//! vary = { learning_rate = [0.002, 0.005], pooling = ["last", "mean"] }
//! ```

use serde::Deserialize;
use toml::{Table, Value};

use crate::compare::{Varied, Vary, refuse_unknown};
use ernn::train::RunConfig;
use ernn::{Error, Result};

/// What all rows share, or what a row has of its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    /// Draws of the validation part, a run of each combination on each.
    seeds: Option<usize>,
    /// Settings by their names, each with a list of values; a row's stand over the shared ones.
    #[serde(default)]
    vary: Table,
}

/// What the settings of a row were chosen from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Runs of each combination, each on its own draw of the validation part.
    pub seeds: usize,
    /// Settings and their values; empty: nothing was searched for.
    pub vary: Vec<Vary>,
}

/// What is wrong with a grid: the setting, what was found and what was expected.
pub(super) struct Wrong {
    pub name: String,
    pub found: String,
    pub expected: String,
}

impl Grid {
    /// Whether a name that is wrong is one of these.
    pub fn has(&self, name: &str) -> bool {
        self.vary.contains_key(name) || (name == "seeds" && self.seeds.is_some())
    }

    /// Names of what is varied.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.vary.keys().map(String::as_str)
    }

    /// The search of a row with these settings: its own values over the shared ones, for the settings that its cell has.
    pub fn over(&self, shared: &Grid, settings: &RunConfig) -> std::result::Result<Search, Wrong> {
        let seeds = self.seeds.or(shared.seeds).unwrap_or(1);
        if seeds == 0 {
            return Err(wrong("seeds", "0", "at least one"));
        }
        let mut table = shared.vary.clone();
        table.extend(self.vary.clone());
        let mut vary = Vec::new();
        for (name, values) in table {
            let values = match values {
                Value::Array(values) if !values.is_empty() => values,
                other => return Err(wrong(&name, &other.to_string(), "a list of values, [A, B]")),
            };
            let text = Value::Array(values.clone()).to_string();
            let repeated = (1..values.len()).find(|&index| values[..index].contains(&values[index]));
            if let Some(index) = repeated {
                return Err(wrong(
                    &name,
                    &format!("{text}, {} twice", values[index]),
                    "each value once",
                ));
            }
            let own = Vary { name, values };
            match check(&own, settings) {
                Ok(()) => vary.push(own),
                // What another row has.
                Err(_) if !self.vary.contains_key(&own.name) && unknown(&own, settings) => {}
                Err(error) => return Err(wrong(&own.name, &text, &expectation(error))),
            }
        }
        Ok(Search { seeds, vary })
    }
}

fn unknown(vary: &Vary, settings: &RunConfig) -> bool {
    refuse_unknown(std::slice::from_ref(settings), std::slice::from_ref(vary)).is_err()
}

/// Whether settings can have every one of the values.
fn check(vary: &Vary, settings: &RunConfig) -> Result<()> {
    refuse_unknown(std::slice::from_ref(settings), std::slice::from_ref(vary))?;
    vary.values.iter().try_for_each(|value| {
        let mut settings = settings.clone();
        let varied = Varied {
            name: vary.name.clone(),
            value: value.clone(),
        };
        varied.apply(&mut settings)?;
        settings.check()
    })
}

/// What another kind of value would be.
fn expectation(error: Error) -> String {
    match error {
        Error::Setting { found, expected, .. } => format!("{expected} instead of {found}"),
        error => error.to_string(),
    }
}

fn wrong(name: &str, found: &str, expected: &str) -> Wrong {
    Wrong {
        name: name.to_string(),
        found: found.to_string(),
        expected: expected.to_string(),
    }
}
