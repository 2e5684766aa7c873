//! `.npz`, several NumPy arrays in a zip archive: `X` and `y` for one part, or `X_train`, `y_train`, `X_test`, ... for several.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::OpenOptions;
use super::npy::{self, Array};
use super::raw::{Raw, format_error};
use crate::Result;

/// The parts of an archive: training (or the only one), validation, test.
pub(super) fn read(bytes: &[u8], path: &Path, options: &OpenOptions) -> Result<[Option<Raw>; 3]> {
    let arrays = unpack(bytes, path)?;
    let find = |names: &[&str]| part(&arrays, names, path, options);
    let parts = [
        find(&["X_train", "X"])?,
        find(&["X_val", "X_valid", "X_validation"])?,
        find(&["X_test"])?,
    ];
    if parts[0].is_none() {
        let names: Vec<String> = arrays.into_iter().map(|(name, _)| name).collect();
        let found = format!("the arrays {}", super::labels::list(&names));
        return Err(format_error(
            path,
            "",
            &found,
            "X [sequences, steps, features] and y, or X_train, y_train, X_test, ...",
        ));
    }
    Ok(parts)
}

type Arrays = Vec<(String, Vec<u8>)>;

fn unpack(bytes: &[u8], path: &Path) -> Result<Arrays> {
    let error = |error: &dyn std::fmt::Display| format_error(path, "", &error.to_string(), "an .npz archive");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|found| error(&found))?;
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|found| error(&found))?;
        let name = file
            .name()
            .map_err(|found| error(&found))?
            .trim_end_matches(".npy")
            .to_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(|found| error(&found))?;
        arrays.push((name, content));
    }
    Ok(arrays)
}

fn part(arrays: &Arrays, names: &[&str], path: &Path, options: &OpenOptions) -> Result<Option<Raw>> {
    let find = |wanted: &str| arrays.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let Some((name, values)) = names.iter().find_map(|name| find(name)) else {
        return Ok(None);
    };
    let values = Array::parse(values, path, name)?;
    let labels = find(&name.replacen(['X', 'x'], "y", 1));
    let labels = labels
        .map(|(name, bytes)| Array::parse(bytes, path, name))
        .transpose()?;
    let raw = npy::sequences(&values, labels.as_ref(), options)?;
    Ok(Some(Raw {
        place: format!(", array {name}"),
        ..raw
    }))
}
