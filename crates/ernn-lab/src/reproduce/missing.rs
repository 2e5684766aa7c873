//! What the file of an experiment leaves out: all of it at once, and where it belongs.

use serde::Deserialize;
use toml::{Spanned, Table};

use ernn::train::RunConfig;

/// What all rows share, and what each row has.
const SHARED: [&str; 6] = ["title", "place", "metric", "seeds", "data", "quick"];
const QUICK: [&str; 2] = ["limit", "epochs"];
const ROW: [&str; 2] = ["name", "title"];

#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    row: Vec<Spanned<Table>>,
}

/// What is missing besides settings, in words, and the line of the first place where it is; none if nothing is, or the text is no TOML.
pub(super) fn in_file(text: &str) -> Option<(usize, String)> {
    let file: Table = text.parse().ok()?;
    let mut missing = absent(&file, &SHARED, "");
    if let Some(quick) = file.get("quick").and_then(toml::Value::as_table) {
        missing.extend(absent(quick, &QUICK, "quick."));
    }
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push((1, format!("no {}", missing.join(", "))));
    }
    let rows: Rows = toml::from_str(text).ok()?;
    for row in &rows.row {
        let missing = absent(row.get_ref(), &ROW, "");
        if !missing.is_empty() {
            let line = text[..row.span().start].matches('\n').count() + 1;
            let what = format!("no {} in the [[row]] of line {line}", missing.join(", "));
            found.push((line, what));
        }
    }
    let (lines, found): (Vec<usize>, Vec<String>) = found.into_iter().unzip();
    Some((*lines.first()?, found.join(", ")))
}

/// Settings without which a run is not complete and that are not given, as `training.epochs`.
pub(super) fn settings(given: &Table) -> Vec<String> {
    let complete = Table::try_from(RunConfig::defaults("")).expect("default settings are plain");
    let mut missing = Vec::new();
    for (table, value) in &complete {
        let names = value.as_table().into_iter().flat_map(Table::keys);
        let given = given.get(table).and_then(toml::Value::as_table);
        let is_given = |name: &str| given.is_some_and(|given| given.contains_key(name));
        missing.extend(
            names
                .filter(|name| !is_given(name) && is_needed(&complete, table, name))
                .map(|name| format!("{table}.{name}")),
        );
    }
    missing
}

/// Whether settings without this one are none.
fn is_needed(complete: &Table, table: &str, name: &str) -> bool {
    let mut without = complete.clone();
    if let Some(table) = without.get_mut(table).and_then(toml::Value::as_table_mut) {
        table.remove(name);
    }
    without.try_into::<RunConfig>().is_err()
}

fn absent(table: &Table, names: &[&str], before: &str) -> Vec<String> {
    let absent = names.iter().filter(|name| !table.contains_key(**name));
    absent.map(|name| format!("{before}{name}")).collect()
}
