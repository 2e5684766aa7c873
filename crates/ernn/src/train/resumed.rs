//! Which settings a run may go on with: those of its checkpoint, perhaps with more epochs.

use std::path::Path;

use toml::{Table, Value};

use super::{RunConfig, restart};
use crate::{Error, Result};

/// The settings to go on with: those asked for, with their steps halved as often as the checkpoint's were.
pub(super) fn settings(trained: &str, now: &RunConfig) -> Result<RunConfig> {
    let times = match trained {
        "" => 0,
        trained => read(trained)?.training.halvings,
    };
    Ok(match times == now.training.halvings {
        true => now.clone(),
        false => restart::halved(&now.asked(), times),
    })
}

/// Complete as they are, unless an earlier version knew fewer settings.
fn read(trained: &str) -> Result<RunConfig> {
    toml::from_str(trained).or_else(|_| RunConfig::from_toml(trained, Path::new("the checkpoint's settings"), None))
}

/// Refuses settings other than those that a checkpoint was trained with; `trained` is empty where a checkpoint does not know.
pub(super) fn check(trained: &str, now: &RunConfig) -> Result<()> {
    if trained.is_empty() {
        return Ok(());
    }
    let mut trained = read(trained)?;
    trained.extend_to(now.training.epochs)?;
    trained.training.patience = now.training.patience;
    // Whether it is the same data tells its fingerprint.
    trained.data.source.clone_from(&now.data.source);
    let table = |config: &RunConfig| Table::try_from(config.portable()).expect("settings are plain structs");
    match difference("", &Value::Table(table(&trained)), &Value::Table(table(now))) {
        None => Ok(()),
        Some(Difference { name, trained, now }) => Err(Error::setting(
            name,
            now,
            format!("{trained}, which the checkpoint was trained with (other settings are another run)"),
        )),
    }
}

/// A setting with its two values.
struct Difference {
    name: String,
    trained: String,
    now: String,
}

/// The first setting that differs.
fn difference(name: &str, trained: &Value, now: &Value) -> Option<Difference> {
    let below = |key: &str| match name {
        "" => key.to_string(),
        name => format!("{name}.{key}"),
    };
    match (trained, now) {
        (Value::Table(trained), Value::Table(now)) => {
            let keys = trained.keys().chain(now.keys());
            let mut found = keys.map(|key| either(&below(key), trained.get(key), now.get(key)));
            found.find_map(|found| found)
        }
        (Value::Array(trained), Value::Array(now)) => {
            let indices = 0..trained.len().max(now.len());
            let mut found = indices.map(|index| either(&below(&index.to_string()), trained.get(index), now.get(index)));
            found.find_map(|found| found)
        }
        _ => either_text(name, Some(trained), Some(now)),
    }
}

/// As [`difference`], of values of which one may be absent.
fn either(name: &str, trained: Option<&Value>, now: Option<&Value>) -> Option<Difference> {
    match (trained, now) {
        (Some(trained), Some(now)) => difference(name, trained, now),
        (trained, now) => either_text(name, trained, now),
    }
}

fn either_text(name: &str, trained: Option<&Value>, now: Option<&Value>) -> Option<Difference> {
    let text = |value: Option<&Value>| match value {
        None => "none".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    (trained != now).then(|| Difference {
        name: name.to_string(),
        trained: text(trained),
        now: text(now),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut RunConfig)) -> Option<String> {
        let trained = RunConfig::defaults("digits");
        let mut now = trained.clone();
        change(&mut now);
        let found = check(&trained.to_portable_toml(), &now);
        found.err().map(|error| error.to_string())
    }

    #[test]
    fn another_setting_is_another_run() {
        let error = refusal(|config| config.training.seed = 2).unwrap();
        assert!(
            error.starts_with("training.seed: found 2, expected 1, which"),
            "{error}"
        );
        let error = refusal(|config| config.training.validation = 0.5).unwrap();
        assert!(
            error.starts_with("training.validation: found 0.5, expected 0.2,"),
            "{error}"
        );
        let error = refusal(|config| config.change_cell("gru").unwrap()).unwrap();
        assert!(error.starts_with("model.layers.0."), "{error}");
        let error = refusal(|config| config.training.from = Some("m".into())).unwrap();
        assert!(error.starts_with("training.from: found m, expected none,"), "{error}");
        let error = refusal(|config| config.training.epochs = 3).unwrap();
        assert!(
            error.starts_with("epochs: found 3, expected at least the 100"),
            "{error}"
        );
    }

    #[test]
    fn length_and_places_may_change() {
        let changed = refusal(|config| {
            config.training.epochs += 5;
            config.training.patience = 3;
            config.data.data_dir = Some("elsewhere".into());
            config.data.source = "moved.csv".to_string();
        });
        assert_eq!(changed, None);
        assert!(
            check("", &RunConfig::defaults("digits")).is_ok(),
            "of an earlier version"
        );
    }
}
