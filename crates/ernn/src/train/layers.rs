//! Layers seen from outside: their kinds, and changing one setting of all of them by its name in the settings file.

use toml::Value;

use super::RunConfig;
use super::check::demand;
use super::config::overlay;
use super::defaults;
use crate::cell::CellConfig;
use crate::{Error, Result};

impl RunConfig {
    /// The kind of the layers, as in the settings file; `mixed` if they differ.
    pub fn cell(&self) -> &'static str {
        let mut kinds = self.model.layers.iter().map(CellConfig::name);
        let first = kinds.next().unwrap_or_default();
        if kinds.all(|kind| kind == first) {
            first
        } else {
            "mixed"
        }
    }

    /// Makes every layer one of another kind, as large as it was, with the default settings of the kind. Layers of that kind
    /// already stay as they are.
    pub fn change_cell(&mut self, kind: &str) -> Result<()> {
        for layer in &mut self.model.layers {
            if layer.name() != kind {
                let hidden = table_of(layer).remove("hidden");
                *layer = defaults::layer(&self.data.source, kind)?;
                set(layer, "hidden", &hidden.unwrap_or(Value::Integer(0)))?;
            }
        }
        Ok(())
    }

    /// Puts `layers` layers like the first one on top of each other.
    pub fn stack(&mut self, layers: usize) -> Result<()> {
        demand((1..=MOST_LAYERS).contains(&layers), "layers", layers, "1 to 64")?;
        let first = self.model.layers[0].clone();
        self.model.layers.resize(layers, first);
        Ok(())
    }

    /// Whether all layers have a setting of this name.
    pub fn has_in_layers(&self, name: &str) -> bool {
        self.model.layers.iter().all(|layer| table_of(layer).contains_key(name))
    }

    /// The names of the settings of the first layer that have one value.
    pub fn layer_names(&self) -> Vec<String> {
        self.model
            .layers
            .first()
            .map_or_else(Vec::new, |layer| names_of_one_value(&table_of(layer)))
    }

    /// One setting of the first layer, if it has it.
    pub fn layer_setting(&self, name: &str) -> Option<Value> {
        table_of(self.model.layers.first()?).remove(name)
    }

    /// Changes one setting of all layers. A hidden size below the rank that a cell has by default makes its matrix a dense one: nobody has
    /// asked for that rank.
    pub fn set_in_layers(&mut self, name: &str, value: &Value) -> Result<()> {
        for layer in &mut self.model.layers {
            set(layer, name, value)?;
            if name == "hidden" {
                let usual = table_of(&defaults::layer(&self.data.source, layer.name())?).remove("rank");
                let rank = table_of(layer)
                    .remove("rank")
                    .filter(|rank| Some(rank) == usual.as_ref());
                if rank.as_ref().and_then(Value::as_integer) > value.as_integer() && value.as_integer() > Some(0) {
                    set(layer, "rank", &Value::String("full".to_string()))?;
                }
            }
        }
        Ok(())
    }
}

/// The names in a table that stand for neither a list nor a table; the kind of a layer is no setting of it.
pub(super) fn names_of_one_value(table: &toml::Table) -> Vec<String> {
    let one = |(name, value): &(&String, &Value)| !value.is_array() && !value.is_table() && name.as_str() != "kind";
    table.iter().filter(one).map(|(name, _)| name.clone()).collect()
}

const MOST_LAYERS: usize = 64;

fn table_of(layer: &CellConfig) -> toml::Table {
    toml::Table::try_from(layer).expect("layers are plain structs")
}

/// What the TOML reader expected of a value, in people's words.
pub(super) fn expectation(error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', " ");
    let expected = message
        .split_once(", expected ")
        .map_or(&message[..], |(_, expected)| expected);
    match expected {
        "usize" | "u64" | "u32" => "a whole number, 0 or more".to_string(),
        "f64" | "f32" => "a number".to_string(),
        "a boolean" => "true or false".to_string(),
        "a sequence" => "a list, which only the settings file can say".to_string(),
        expected => expected.to_string(),
    }
}

fn set(layer: &mut CellConfig, name: &str, value: &Value) -> Result<()> {
    let refused = |expected: String| Error::setting(name, value.to_string().trim_matches('"'), expected);
    let mut table = table_of(layer);
    if !table.contains_key(name) {
        let known: Vec<&str> = table.keys().map(String::as_str).filter(|key| *key != "kind").collect();
        let expected = format!(
            "no such setting for the cell {} (it has {})",
            layer.name(),
            known.join(", ")
        );
        return Err(refused(expected));
    }
    table.insert(name.to_string(), value.clone());
    *layer = table
        .try_into()
        .map_err(|error: toml::de::Error| refused(expectation(&error)))?;
    Ok(())
}

/// Gives each written layer the default values of its kind where the file leaves them out.
pub(super) fn complete(written: &mut toml::Table, source: &str) {
    let model = written.get_mut("model").and_then(Value::as_table_mut);
    let layers = model
        .and_then(|model| model.get_mut("layers"))
        .and_then(Value::as_array_mut);
    for layer in layers.into_iter().flatten().filter_map(Value::as_table_mut) {
        let kind = layer.get("kind").and_then(Value::as_str);
        let Some(Ok(default)) = kind.map(|kind| defaults::layer(source, kind)) else {
            continue; // Reading the settings says what is wrong with it.
        };
        let mut complete = table_of(&default);
        overlay(&mut complete, std::mem::take(layer));
        *layer = complete;
    }
}
