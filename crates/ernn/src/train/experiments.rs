//! The files of `experiments/`, put into the library by `build.rs`: the settings of known data sets stand there and nowhere else.

use toml::{Table, Value};

use super::config::overlay;

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The tables `model` and `training` of the row that an experiment names as its `default`, over what its rows share; none for a name without
/// one.
pub(super) fn settings_of(name: &str) -> Option<Table> {
    let (_, text) = EMBEDDED.iter().find(|(of, _)| *of == name)?;
    let shared: Table = text.parse().ok()?;
    let default = shared.get("default")?;
    let mut rows = shared.get("row")?.as_array()?.iter().filter_map(Value::as_table);
    let row = rows.find(|row| row.get("name") == Some(default))?;
    let mut settings = Table::new();
    for part in ["model", "training"] {
        let mut whole = Table::new();
        for table in [&shared, row] {
            if let Some(Value::Table(written)) = table.get(part) {
                overlay(&mut whole, written.clone());
            }
        }
        settings.insert(part.to_string(), Value::Table(whole));
    }
    Some(settings)
}
