//! Which settings there are, by their names in the settings file.

use toml::{Table, Value};

use super::RunConfig;

impl RunConfig {
    /// Whether a table has a setting of this name; a table inside another one is `training.optimizer`.
    pub fn has(&self, table: &str, name: &str) -> bool {
        let all = self.tables();
        let mut path = table.split('.');
        let first = path.next().and_then(|first| all.get(first));
        let inner = path.fold(first, |outer, key| outer?.get(key));
        inner.is_some_and(|inner| inner.get(name).is_some()) || omits(all, table, name)
    }
}

/// Whether a table leaves out a setting that has its usual value: only an unknown name is refused as one, whatever its value.
fn omits(mut all: Table, table: &str, name: &str) -> bool {
    let Some(inner) = all.get_mut(table).and_then(Value::as_table_mut) else {
        return false;
    };
    inner.insert(name.to_string(), Value::Array(Vec::new()));
    let read: Result<RunConfig, toml::de::Error> = all.try_into();
    read.map_or_else(|error| !error.message().contains("unknown field"), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_settings_that_are_not_written() {
        let config = RunConfig::defaults("digits");
        for (table, name) in [
            ("training", "epochs"),
            ("training", "min_steps"),
            ("training", "quantize"),
            ("training.optimizer", "beta1"),
            ("model", "pooling"),
            ("data", "features"),
        ] {
            assert!(config.has(table, name), "{table}.{name}");
        }
        for (table, name) in [
            ("training", "min_epochs"),
            ("training", "dropout"),
            ("model", "epochs"),
            ("training.optimizer", "momentum"),
            ("trainings", "epochs"),
        ] {
            assert!(!config.has(table, name), "{table}.{name}");
        }
    }
}
