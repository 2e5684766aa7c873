//! The data sets that are known by name: one table a family of files, each beside the reader of its files.
//!
//! A set that is not built in is looked for in the data folder, in each folder in it, and in archives that lie there
//! ([`lookup`](super::lookup)).

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{Dataset, OpenOptions, audio, builtin, dsa, har, lookup, pictures, synthetic, text};
use crate::{Error, Result};

/// A data set known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// Its name for [`open`](super::open).
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Under what terms.
    pub license: &'static str,
    /// Is inside the library, or made by it; otherwise it is looked for in the data folder.
    pub built_in: bool,
}

/// What this room knows of a data set.
pub(super) struct Entry {
    pub known: Known,
    /// What is looked for, as an error names it.
    pub files: &'static str,
    /// Where its files lie in one folder: the folder, or the archive, that `open` takes.
    pub find: fn(&Path) -> Option<PathBuf>,
    /// Opens it by its name from what was found; the path of one that is built in is empty.
    pub open: fn(&str, &Path, &OpenOptions) -> Result<Dataset>,
    /// Sequences of each class in the training and the test part as published; empty where no number is published.
    pub counts: &'static [&'static [usize]],
}

/// All families.
static FAMILIES: [&[Entry]; 7] = [
    &builtin::SETS,
    &har::SETS,
    &dsa::SETS,
    &pictures::SETS,
    &audio::SETS,
    &text::SETS,
    &synthetic::SETS,
];

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| entries().map(|entry| entry.known).collect());

fn entries() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

fn entry(name: &str) -> Option<&'static Entry> {
    let (name, _) = synthetic::split_name(plain_name(name));
    entries().find(|entry| entry.known.name == name)
}

/// Stands before a known name that a file or folder has as well.
const PREFIX: &str = "known:";

/// A known name without the `known:` that tells it from a file.
pub fn plain_name(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// A source that is sure to be read as the known data set, if it is the name of one: the settings of a run say so whatever lies
/// beside its user.
pub fn as_known(source: &str) -> String {
    match entry(source) {
        Some(_) => format!("{PREFIX}{}", plain_name(source)),
        None => source.to_owned(),
    }
}

/// Refuses a known name that is a file or folder here as well, unless that is where the data set lies.
fn refuse_clash(entry: &Entry, name: &str, options: &OpenOptions) -> Result<()> {
    let here = Path::new(name);
    if name.starts_with(PREFIX) || here.symlink_metadata().is_err() {
        return Ok(());
    }
    let canonical = |path: &Path| path.canonicalize().ok();
    let own = found(name, options).is_some_and(|own| match (canonical(&own), canonical(here)) {
        (Some(own), Some(here)) => own.starts_with(here),
        _ => false,
    });
    if own && !entry.known.built_in {
        return Ok(());
    }
    let what = if here.is_dir() { "folder" } else { "file" };
    let found = format!("a {what} here that has the name of a known data set");
    let expected = format!("./{name} for the {what}, or {PREFIX}{name} for the data set");
    Err(Error::setting(name, found, expected))
}

/// The data sets that are known by name.
pub fn known() -> &'static [Known] {
    &KNOWN
}

/// Where a known data set that is not built in lies in the data folder; `None` if it is not there.
pub fn found(name: &str, options: &OpenOptions) -> Option<PathBuf> {
    let entry = entry(name)?;
    let places = lookup::places(&options.data_folder()?);
    places.iter().find_map(|place| (entry.find)(place))
}

/// The known data sets whose files lie in a folder.
pub(super) fn names_in(folder: &Path) -> Vec<&'static str> {
    let here = entries().filter(|entry| (entry.find)(folder).is_some());
    here.map(|entry| entry.known.name).collect()
}

/// Whether training and test part hold as many sequences of each class as published; `None` if no number is known.
pub(super) fn is_as_published(dataset: &Dataset) -> Option<bool> {
    let counts = entry(&dataset.name)?.counts;
    let found = [Some(&dataset.train), dataset.test.as_ref()];
    let as_published = counts.iter().zip(found).all(|(&counts, part)| {
        let labels = part.map_or(&[][..], |part| &part.labels);
        let of_class = |class: usize| labels.iter().filter(|&&label| label as usize == class).count();
        labels.len() == counts.iter().sum::<usize>() && (0..counts.len()).all(|class| of_class(class) == counts[class])
    });
    (!counts.is_empty()).then_some(as_published)
}

/// Opens a data set by its name; `None` if the name is not known.
pub(super) fn open(name: &str, options: &OpenOptions) -> Option<Result<Dataset>> {
    let entry = entry(name)?;
    if let Err(clash) = refuse_clash(entry, name, options) {
        return Some(Err(clash));
    }
    let name = plain_name(name);
    if entry.known.built_in {
        return Some((entry.open)(name, Path::new(""), options));
    }
    let found = found(name, options).ok_or_else(|| not_found(entry, options));
    Some(found.and_then(|found| (entry.open)(name, &found, options)))
}

/// Sets that each person has to ask for.
pub(crate) const IN_PERSON: [&str; 1] = ["yelp-5"];

fn not_found(entry: &Entry, options: &OpenOptions) -> Error {
    let Known { name, source, .. } = entry.known;
    let folder = options.data_folder();
    let folder = folder.as_deref().unwrap_or(Path::new("DIR")).display();
    let fetch = match cfg!(feature = "fetch") && !IN_PERSON.contains(&name) {
        true => format!("`ernn data fetch {name} --data-dir {folder}` downloads it; or "),
        false => String::new(),
    };
    let searched = match options.data_folder() {
        Some(folder) => format!("no {} in {} or a folder in it", entry.files, folder.display()),
        None => "no data folder was named".to_owned(),
    };
    Error::data(
        name,
        format!("{searched}; {fetch}download it from {source}, and name the folder with --data-dir or ERNN_DATA_DIR"),
    )
}

#[cfg(test)]
#[path = "known_tests.rs"]
pub(super) mod tests;
