//! What every reader gives: sequences with NaN where a value is missing and labels as they stand in the file.
//!
//! [`Raw::finish`] deals with the missing values; [`assemble`] turns labels into classes and parts into a data set.

use std::path::{Path, PathBuf};

use super::channels::{self, ChannelMatch};
use super::label_sets;
use super::labels::{self, Names};
use super::{Dataset, Forecast, MissingPolicy, Part, RecordingFacts, Sequences, Task, missing};
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
    /// The group texts; empty if the groups are numbers alone.
    pub groups: Names,
    /// Labels that the file's header declares; some may not occur.
    pub declared: Vec<String>,
    /// Labels are sets, of which several can hold.
    pub of_sets: bool,
    /// The numbers of the sequences, where they are what is to be learned.
    pub targets: Targets,
    /// Where the first missing value stands, e.g. `, line 3, column "x"`.
    pub first_missing: Option<String>,
    /// From when to when each sequence goes, as a person says it, of windows of recordings; else empty.
    pub times: Vec<[String; 2]>,
    /// A class, or numbers, of each step are to be learned. The numbers stand in the part, each step's own, NaN for a missing one.
    pub of_steps: bool,
    /// When each step of a window begins, and when the last one ends, where each step has a class; else empty.
    pub step_times: Vec<Vec<String>>,
    /// When each value of a forecast is, of windows whose next values are asked for; else empty.
    pub ahead: Vec<Vec<String>>,
    /// Which values are to be predicted, where they are the next ones of channels.
    pub forecast: Option<Forecast>,
    /// What became of recordings, where sequences are cut from them.
    pub recordings: Option<RecordingFacts>,
    /// What a person should know about how the file was understood, a sentence each.
    pub notes: Vec<String>,
}

/// The numbers that are to be learned; none where a file has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// `[sequences, targets]`, NaN for a missing one.
    pub numbers: Vec<f32>,
    /// What the file calls each target; empty if it does not.
    pub names: Vec<String>,
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
        if self.of_sets {
            let source = format!("{}{}", self.path.display(), self.place);
            label_sets::unify(&mut self.part, &mut self.labels, &source)?;
        }
        if self.part.is_empty() {
            return Err(Error::format(&self.path, "", "no sequence", "at least one"));
        }
        missing::fill(&mut self, policy)?;
        Ok(self)
    }

    /// Leaves out windows that overlap one before them: those that judge a model are no two of the same steps.
    pub fn keep_apart(&mut self) {
        if self.part.overlapping.is_empty() {
            return;
        }
        let apart = self.part.apart();
        let all = self.part.len();
        self.part = self.part.select(&apart);
        self.part.overlapping.clear();
        let numbers = &self.targets.numbers;
        let targets = numbers.len() / all;
        self.targets.numbers = apart
            .iter()
            .flat_map(|&sequence| &numbers[sequence * targets..(sequence + 1) * targets])
            .copied()
            .collect();
        self.names = apart
            .iter()
            .filter_map(|&sequence| self.names.get(sequence).cloned())
            .collect();
        self.times = apart
            .iter()
            .filter_map(|&sequence| self.times.get(sequence).cloned())
            .collect();
        self.notes.push(format!(
            "{} of these windows overlap none before them: those judge",
            apart.len()
        ));
    }

    /// The sequences on their own, labels in class order. Numbers to predict are not looked at.
    pub fn into_sequences(mut self) -> Result<Sequences> {
        let classes = self.classes();
        let source = self.path.display().to_string();
        self.number_labels(&classes, &source)?;
        let names = if self.names.is_empty() {
            (1..=self.part.len()).map(|number| number.to_string()).collect()
        } else {
            self.names
        };
        Ok(Sequences {
            source,
            feature_names: self.feature_names,
            classes,
            group_names: self.groups.names,
            names,
            times: self.times,
            step_times: self.step_times,
            ahead: self.ahead,
            part: self.part,
            notes: self.notes,
        })
    }

    /// The same with the numbers to learn.
    pub fn into_labelled(mut self) -> Result<Sequences> {
        take_targets(&mut self)?;
        self.into_sequences()
    }

    /// The labels as indices into `classes`, or as indicators of them.
    fn number_labels(&mut self, classes: &[String], source: &str) -> Result<()> {
        match self.of_sets && !self.part.labels.is_empty() {
            true => label_sets::spread(&mut self.part, &self.labels.names, classes, source),
            false => labels::map(&mut self.part, &self.labels.names, classes, source),
        }
    }

    fn classes(&self) -> Vec<String> {
        if self.of_sets {
            return label_sets::classes(&self.declared, &self.labels.names);
        }
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
    train.number_labels(&classes, &source)?;
    let mut notes = std::mem::take(&mut train.notes);
    notes.extend(others.iter().flatten().flat_map(|raw| raw.notes.clone()));
    let recordings = std::iter::once(&train).chain(others.iter().flatten());
    let recordings = recordings.filter_map(|raw| raw.recordings.clone()).collect();
    let mut groups = std::mem::take(&mut train.groups);
    let others = others.map(|other| other.map(|raw| with_groups_of(&mut groups, raw)));
    let [validation, test] = others.map(|other| other.map(|raw| fit_to(&train, &classes, raw)).transpose());
    train.part.names = std::mem::take(&mut train.names);
    Ok(Dataset {
        name: name.to_owned(),
        classes,
        validation: validation?,
        test: test?,
        feature_names: train.feature_names,
        task: if train.of_steps && train.targets.wanted {
            Task::StepRegression
        } else if train.of_steps {
            Task::StepClassification
        } else if train.of_sets {
            Task::MultiLabel
        } else if train.targets.wanted {
            Task::Regression
        } else {
            Task::default()
        },
        target_names: std::mem::take(&mut train.targets.names),
        forecast: train.forecast,
        train: train.part,
        recordings,
        group_names: groups.names,
        notes,
        ..Dataset::default()
    })
}

/// Numbers the groups of a part as those of the parts before, by their names.
fn with_groups_of(groups: &mut Names, mut raw: Raw) -> Raw {
    let numbers: Vec<u32> = raw.groups.names.iter().map(|name| groups.number(name)).collect();
    for group in &mut raw.part.groups {
        *group = numbers.get(*group as usize).copied().unwrap_or(*group);
    }
    raw
}

/// The numbers to predict go into the part; refused if one is missing.
fn take_targets(raw: &mut Raw) -> Result<()> {
    if let Some(place) = &raw.targets.first_missing {
        let expected = "a number to predict for each sequence";
        return Err(Error::format(&raw.path, place, "a missing value", expected));
    }
    raw.part.numbers = std::mem::take(&mut raw.targets.numbers);
    let torn = raw.part.keep_whole_steps();
    if torn > 0 {
        let steps = crate::names::counted(torn, "step");
        let note = format!("{steps} with some of the numbers to predict, but not all, count as steps without any");
        raw.notes.push(note);
    }
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
    match (raw.part.is_labelled(), train.part.is_labelled()) {
        (false, true) => return differs("no labels", "labels"),
        (true, false) => return differs("labels", "none"),
        _ => {}
    }
    match (raw.targets.wanted, train.targets.wanted) {
        (false, true) if train.of_steps => return differs("no numbers to predict", "one a step"),
        (false, true) => return differs("no numbers to predict", "one a sequence"),
        (true, false) => return differs("numbers to predict", "none"),
        _ => {}
    }
    if raw.part.targets() != train.part.targets() {
        let [found, expected] = [&raw.part, &train.part].map(|part| part.targets().to_string());
        let each = if train.of_steps { "step" } else { "sequence" };
        return differs(&format!("{found} numbers to predict of each {each}"), &expected);
    }
    match ChannelMatch::of(&train.feature_names, &raw.feature_names) {
        ChannelMatch::Same | ChannelMatch::Unnamed => {}
        ChannelMatch::Reordered(order) => raw.part.reorder(&order),
        ChannelMatch::Foreign | ChannelMatch::Partly => {
            let [found, expected] = [&raw.feature_names, &train.feature_names].map(|names| labels::list(names));
            return differs(&format!("the channels {found}"), &expected);
        }
    }
    raw.number_labels(classes, &source)?;
    raw.part.names = raw.names;
    Ok(raw.part)
}
