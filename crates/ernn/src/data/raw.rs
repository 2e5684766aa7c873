//! What every reader gives: sequences with NaN where a value is missing and labels as they stand in the file.
//!
//! [`Raw::finish`] deals with the missing values; [`assemble`] turns labels into classes and parts into a data set.

use std::path::{Path, PathBuf};

use super::channels::{self, ChannelMatch};
use super::labels::{self, Names};
use super::{Dataset, MissingPolicy, Part, Sequences, Task, missing};
use crate::{Error, Result};

/// The content of one file (or of the arrays that belong together).
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    /// The file.
    pub path: PathBuf,
    /// Which array of the file, e.g. `, array X_test`; empty if the file is one part.
    pub place: String,
    /// One a feature.
    pub feature_names: Vec<String>,
    /// What the file calls each sequence; empty if it does not.
    pub names: Vec<String>,
    /// The sequences; labels count in order of first appearance, missing values are NaN.
    pub part: Part,
    /// The label texts.
    pub labels: Names,
    /// Labels that the file's header declares; some may not occur.
    pub declared: Vec<String>,
    /// The numbers of the sequences, where they are what is to be learned.
    pub targets: Targets,
    /// Where the first missing value stands, e.g. `, line 3, column "x"`.
    pub first_missing: Option<String>,
    /// What a person should know about how the file was understood, a sentence each.
    pub notes: Vec<String>,
}

/// The numbers that are to be learned, one a sequence; none where a file has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// NaN for a missing one.
    pub numbers: Vec<f32>,
    /// Where the first missing one stands.
    pub first_missing: Option<String>,
    /// Whether they are what the file is read for.
    pub wanted: bool,
}

impl Raw {
    /// No sequences yet; features are named by their number from 1.
    pub fn new(path: &Path, features: usize) -> Raw {
        Raw {
            path: path.to_owned(),
            feature_names: (1..=features).map(channels::numbered).collect(),
            part: Part::new(features),
            ..Raw::default()
        }
    }

    /// Refuses an empty file and fills, or refuses, missing values.
    pub fn finish(mut self, policy: MissingPolicy) -> Result<Raw> {
        if self.part.is_empty() {
            return Err(Error::format(&self.path, "", "no sequence", "at least one"));
        }
        missing::fill(&mut self, policy)?;
        Ok(self)
    }

    /// The sequences on their own, labels in class order. Numbers to predict are not looked at.
    pub fn into_sequences(mut self) -> Result<Sequences> {
        let classes = self.classes();
        let source = self.path.display().to_string();
        labels::map(&mut self.part, &self.labels.names, &classes, &source)?;
        let names = if self.names.is_empty() {
            (1..=self.part.len()).map(|number| number.to_string()).collect()
        } else {
            self.names
        };
        Ok(Sequences {
            source,
            feature_names: self.feature_names,
            classes,
            names,
            part: self.part,
            notes: self.notes,
        })
    }

    fn classes(&self) -> Vec<String> {
        let mut classes = [self.declared.as_slice(), &self.labels.names].concat();
        labels::sort(&mut classes);
        classes
    }
}

/// Puts the parts together: the training part says which classes there are, and the others may not go beyond it.
pub(crate) fn assemble(name: &str, mut train: Raw, others: [Option<Raw>; 2]) -> Result<Dataset> {
    take_targets(&mut train)?;
    let classes = train.classes();
    let source = train.path.display().to_string();
    labels::map(&mut train.part, &train.labels.names, &classes, &source)?;
    let mut notes = std::mem::take(&mut train.notes);
    notes.extend(others.iter().flatten().flat_map(|raw| raw.notes.clone()));
    let [validation, test] = others.map(|other| other.map(|raw| fit_to(&train, &classes, raw)).transpose());
    Ok(Dataset {
        name: name.to_owned(),
        classes,
        validation: validation?,
        test: test?,
        feature_names: train.feature_names,
        task: if train.targets.wanted {
            Task::Regression
        } else {
            Task::default()
        },
        train: train.part,
        notes,
        ..Dataset::default()
    })
}

/// The numbers to predict go into the part; refused if one is missing.
fn take_targets(raw: &mut Raw) -> Result<()> {
    if let Some(place) = &raw.targets.first_missing {
        let expected = "a number to predict for each sequence";
        return Err(Error::format(&raw.path, place, "a missing value", expected));
    }
    raw.part.numbers = std::mem::take(&mut raw.targets.numbers);
    Ok(())
}

fn fit_to(train: &Raw, classes: &[String], mut raw: Raw) -> Result<Part> {
    take_targets(&mut raw)?;
    let source = raw.path.display().to_string();
    let differs = |found: &str, expected: &str| {
        let expected = format!("{expected} as in {}{}", train.path.display(), train.place);
        Err(Error::format(&raw.path, &raw.place, found, expected))
    };
    let (found, expected) = (raw.part.features, train.part.features);
    if found != expected {
        return differs(&format!("{found} channels"), &expected.to_string());
    }
    match (raw.part.labels.is_empty(), train.part.labels.is_empty()) {
        (true, false) => return differs("no labels", "labels"),
        (false, true) => return differs("labels", "none"),
        _ => {}
    }
    match (raw.targets.wanted, train.targets.wanted) {
        (false, true) => return differs("no numbers to predict", "one a sequence"),
        (true, false) => return differs("numbers to predict", "none"),
        _ => {}
    }
    match ChannelMatch::of(&train.feature_names, &raw.feature_names) {
        ChannelMatch::Same | ChannelMatch::Unnamed => {}
        ChannelMatch::Reordered(order) => raw.part.reorder(&order),
        ChannelMatch::Foreign | ChannelMatch::Partly => {
            let [found, expected] = [&raw.feature_names, &train.feature_names].map(|names| labels::list(names));
            return differs(&format!("the channels {found}"), &expected);
        }
    }
    labels::map(&mut raw.part, &raw.labels.names, classes, &source)?;
    Ok(raw.part)
}
