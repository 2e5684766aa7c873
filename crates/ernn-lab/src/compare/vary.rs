//! Settings that are varied: each combination of their values is a row.
//!
//! Which combination is best, the validation part says; the test part is not read (`Part::Validation`).

use std::fmt;
use std::str::FromStr;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use toml::Value;

use ernn::data::nearest_first;
use ernn::train::{Kind, RunConfig, SETTINGS, Setting, alias};
use ernn::{Error, Result};

/// A setting and the values that are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// Its name in the settings file.
    pub name: String,
    /// Its values, at least one.
    pub values: Vec<Value>,
}

impl FromStr for Vary {
    type Err = String;

    /// `NAME=VALUE,VALUE,...`; a name may be written as the flag is, `learning-rate`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = "expected NAME=VALUE,VALUE,..., such as learning-rate=0.002,0.005";
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("found {text}, {expected}"))?;
        let name = name.trim().replace('-', "_");
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if name.is_empty() || values.iter().any(|value| value.is_empty()) {
            return Err(format!("found {text}, {expected}"));
        }
        let repeated = values
            .iter()
            .enumerate()
            .find(|(index, value)| values[..*index].contains(value));
        if let Some((_, value)) = repeated {
            return Err(format!("found {value} twice in {text}, expected each one once"));
        }
        Ok(Vary {
            name,
            values: values.into_iter().map(value).collect(),
        })
    }
}

/// A number, true or false, or a word.
pub(crate) fn value(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::Integer(number);
    }
    match (text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(number), _) => Value::Float(number),
        (_, Ok(flag)) => Value::Boolean(flag),
        // Names of settings have small letters.
        _ => Value::String(text.to_lowercase()),
    }
}

/// One setting of a row and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Varied {
    /// Name in the settings file.
    pub name: String,
    /// Its value.
    pub value: Value,
}

impl fmt::Display for Varied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.word())
    }
}

impl Varied {
    /// The value as it is written on a command line.
    pub fn word(&self) -> String {
        self.value.to_string().trim_matches('"').to_string()
    }

    /// Its part of a row's name, which is the name of a folder.
    pub fn file_name(&self) -> String {
        let allowed = |letter: char| {
            if letter.is_alphanumeric() || "._-+".contains(letter) {
                letter
            } else {
                '_'
            }
        };
        format!("{}-{}", self.name, self.word()).chars().map(allowed).collect()
    }

    /// Puts it over the settings.
    ///
    /// # Errors
    /// If the setting has no such value.
    pub fn apply(&self, config: &mut RunConfig) -> Result<()> {
        let name = &self.name[..];
        // The cells' `max_steps` follows from the data; the name means that of the training.
        if name != "max_steps" && config.has_in_layers(name) {
            return config.set_in_layers(name, &self.value);
        }
        match table_of(config, name) {
            Some(_) if name == "epochs" => {
                config.set("training", name, self.value.clone())?;
                config.set_epochs(config.training.epochs);
                Ok(())
            }
            Some(table) => {
                config.set(table, name, self.value.clone())?;
                if name == "max_steps" {
                    config.lower_floor();
                }
                Ok(())
            }
            None => Err(unknown(name, std::slice::from_ref(config))),
        }
    }
}

/// The tables of a settings file that a setting may stand in, besides the layers.
const TABLES: [&str; 4] = ["training", "training.optimizer", "model", "model.transforms"];

fn table_of(config: &RunConfig, name: &str) -> Option<&'static str> {
    // What only the settings file can say in full is not varied, and neither is what judges.
    let whole = [
        "layers",
        "optimizer",
        "schedule",
        "embedding",
        "transforms",
        "from",
        "seed",
        "retrain",
        "validation",
    ];
    let found = TABLES.into_iter().find(|table| config.has(table, name));
    found.filter(|_| !whole.contains(&name))
}

/// The names of all settings that can be varied for any of these.
fn names(configs: &[RunConfig]) -> Vec<String> {
    let mut names = Vec::new();
    for config in configs {
        let tables = TABLES.into_iter().flat_map(|table| config.names_in(table));
        names.extend(tables.filter(|name| table_of(config, name).is_some()));
        names.extend(config.layer_names());
        // A settings file leaves out what has its usual value.
        let known = SETTINGS.iter().filter(|setting| has_one_value(setting));
        let known = known.filter_map(|setting| setting.path.rsplit('.').next());
        let varies = |name: &&str| config.has_in_layers(name) || table_of(config, name).is_some();
        names.extend(known.filter(varies).map(String::from));
    }
    names.sort();
    names.dedup();
    names
}

/// Whether a setting is said by one value of its own.
fn has_one_value(setting: &Setting) -> bool {
    matches!(
        setting.kind,
        Kind::Whole | Kind::Number | Kind::Switch | Kind::Name | Kind::WholeOrName
    ) && !setting.path.starts_with("training.schedule")
        && !setting.path.ends_with(".kind")
}

fn unknown(name: &str, configs: &[RunConfig]) -> Error {
    let names = names(configs);
    let wanted = alias(&name.replace('_', "-")).map_or(name.to_string(), |own| own.replace('-', "_"));
    let near = nearest_first(&wanted, names.iter().map(String::as_str));
    Error::Setting {
        name: "--vary".to_string(),
        found: name.to_string(),
        expected: format!(
            "a setting of the network or the training that one value says, by its name in config.toml: {}",
            near.join(", ")
        ),
    }
}

/// The combinations for one cell: those of the settings that it has, the last one changing fastest. At most `draw` of them, drawn at
/// random but the same for the same seed, in their order. Their number must be one that can be counted.
pub(super) fn combinations(config: &RunConfig, varied: &[Vary], draw: Option<usize>, seed: u64) -> Vec<Vec<Varied>> {
    let has = |vary: &&Vary| config.has_in_layers(&vary.name) || table_of(config, &vary.name).is_some();
    let own: Vec<&Vary> = varied.iter().filter(has).collect();
    let all: usize = own.iter().map(|vary| vary.values.len()).product();
    // Only what is drawn is made: of many settings there are more combinations than memory.
    let mut numbers = match draw.filter(|&draw| draw < all) {
        Some(draw) => sample(&mut ChaCha8Rng::seed_from_u64(seed), all, draw).into_vec(),
        None => (0..all).collect(),
    };
    numbers.sort_unstable();
    numbers.into_iter().map(|number| combination(&own, number)).collect()
}

/// A number read with the settings as its digits.
fn combination(varied: &[&Vary], mut number: usize) -> Vec<Varied> {
    let mut row = Vec::with_capacity(varied.len());
    for vary in varied.iter().rev() {
        row.push(Varied {
            name: vary.name.clone(),
            value: vary.values[number % vary.values.len()].clone(),
        });
        number /= vary.values.len();
    }
    row.reverse();
    row
}

/// Refuses a setting that none of the cells has.
pub(crate) fn refuse_unknown(configs: &[RunConfig], varied: &[Vary]) -> Result<()> {
    let known = |name: &str| {
        configs
            .iter()
            .any(|config| config.has_in_layers(name) || table_of(config, name).is_some())
    };
    for (index, vary) in varied.iter().enumerate() {
        if !known(&vary.name) {
            return Err(unknown(&vary.name, configs));
        }
        if varied[..index].iter().any(|other| other.name == vary.name) {
            return Err(Error::Setting {
                name: "--vary".to_string(),
                found: format!("{} twice", vary.name),
                expected: "each setting once, with all its values".to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(texts: &[&str]) -> Vec<Vary> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn names(combinations: &[Vec<Varied>]) -> Vec<String> {
        let name = |row: &Vec<Varied>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        combinations.iter().map(name).collect()
    }

    #[test]
    fn numbers_flags_and_words_are_told_apart() {
        let vary: Vary = "input-noise=0,0.5,1e-3,full,true".parse().unwrap();
        assert_eq!(vary.name, "input_noise");
        let expected = [
            Value::Integer(0),
            Value::Float(0.5),
            Value::Float(1e-3),
            Value::String("full".to_string()),
            Value::Boolean(true),
        ];
        assert_eq!(vary.values, expected);
        for text in ["rate", "=1", "rate=", "rate=1,,2", "rate=1,1"] {
            assert!(text.parse::<Vary>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_cell_has_the_combinations_of_the_settings_that_it_has() {
        let mut config = RunConfig::defaults("x");
        let varied = varied(&["learning-rate=0.001,0.002", "rank=2,3"]);
        let all = combinations(&config, &varied, None, 1);
        let expected = [
            "learning_rate 0.001, rank 2",
            "learning_rate 0.001, rank 3",
            "learning_rate 0.002, rank 2",
            "learning_rate 0.002, rank 3",
        ];
        assert_eq!(names(&all), expected);
        config.change_cell("spectral").unwrap();
        assert_eq!(
            names(&combinations(&config, &varied, None, 1)),
            ["learning_rate 0.001", "learning_rate 0.002"]
        );
    }

    #[test]
    fn a_draw_is_the_same_for_the_same_seed() {
        let config = RunConfig::defaults("x");
        let varied = varied(&["learning-rate=1,2,3,4,5", "input-noise=1,2,3,4,5"]);
        let drawn = |seed| names(&combinations(&config, &varied, Some(6), seed));
        assert_eq!(drawn(1).len(), 6);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        // More combinations than memory.
        let names: Vec<String> = [
            "batch-size",
            "average",
            "tbptt",
            "patience",
            "dropout",
            "hidden",
            "clip-norm",
            "input-noise",
        ]
        .map(|name| {
            format!(
                "{name}={}",
                (1..=100).map(|value| value.to_string()).collect::<Vec<_>>().join(",")
            )
        })
        .into();
        let varied: Vec<Vary> = names.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(combinations(&config, &varied, Some(3), 1).len(), 3);
    }

    #[test]
    fn values_reach_layers_training_and_optimizer() {
        let mut config = RunConfig::defaults("x");
        for text in [
            "hidden=20",
            "batch-size=7",
            "weight-decay=0.5",
            "dropout=0.25",
            "input-noise=1",
            "compress=true",
        ] {
            let vary: Vary = text.parse().unwrap();
            refuse_unknown(std::slice::from_ref(&config), std::slice::from_ref(&vary)).unwrap();
            combinations(&config.clone(), &[vary], None, 1)[0][0]
                .apply(&mut config)
                .unwrap();
        }
        assert_eq!(config.model.layers[0].hidden(), 20);
        assert_eq!((config.training.batch_size, config.model.dropout), (7, 0.25));
        assert_eq!(config.training.input_noise, 1.0);
        assert!(config.model.transforms.compress && !config.model.transforms.differences);
        let text = config.to_portable_toml();
        assert!(text.contains("weight_decay = 0.5"), "{text}");
    }

    #[test]
    fn the_names_that_there_are_stand_in_the_error_nearest_first() {
        let config = RunConfig::defaults("x");
        for (wrong, nearest) in [
            ("lr", "learning_rate"),
            ("hiden", "hidden"),
            ("noise", "input_noise"),
            ("wd", "weight_decay"),
        ] {
            let vary: Vary = format!("{wrong}=1").parse().unwrap();
            let error = refuse_unknown(std::slice::from_ref(&config), &[vary]).unwrap_err();
            let names = error.to_string().rsplit_once("config.toml: ").unwrap().1.to_string();
            assert!(names.starts_with(&format!("{nearest}, ")), "{wrong}: {names}");
            let all: Vec<&str> = names.split(", ").collect();
            assert!(
                all.contains(&"eta") && all.contains(&"batch_size") && !all.contains(&"layers"),
                "{names}"
            );
        }
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        let config = RunConfig::defaults("x");
        for name in ["color", "layers", "optimizer", "seed", "retrain", "validation"] {
            let vary: Vary = format!("{name}=1").parse().unwrap();
            let error = refuse_unknown(std::slice::from_ref(&config), &[vary])
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("--vary: found {name}, expected a setting")),
                "{error}"
            );
        }
    }
}
