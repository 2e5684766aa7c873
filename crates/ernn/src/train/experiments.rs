//! The files of `experiments/`, put into the library by `build.rs`: the settings of known data sets stand there and nowhere else.

use toml::{Table, Value};

use super::config::overlay;

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The tables `model` and `training` of the row that an experiment names as its `default`, over what its rows share; none for a name without
/// one.
pub(super) fn settings_of(name: &str) -> Option<Table> {
    let shared = table(name, "experiment")?;
    let row = table(name, shared.get("default")?.as_str()?)?;
    let mut settings = Table::new();
    for part in ["model", "training"] {
        let mut whole = Table::new();
        for file in [&shared, &row] {
            if let Some(Value::Table(written)) = file.get(part) {
                overlay(&mut whole, written.clone());
            }
        }
        settings.insert(part.to_string(), Value::Table(whole));
    }
    Some(settings)
}

fn table(name: &str, file: &str) -> Option<Table> {
    let path = format!("{name}/{file}.toml");
    let (_, text) = EMBEDDED.iter().find(|(file, _)| *file == path)?;
    text.parse().ok()
}
