//! Labels: any text, kept as it was; classes are the distinct labels in numeric order if all are numbers, else as text.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::label_sets;
use super::{Aim, Dataset, LabelKind, Part, Sequences, TableOptions, Task, UNLABELLED};
use crate::{Error, Result};

/// Distinct texts in order of first appearance, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    /// The texts.
    pub names: Vec<String>,
}

impl Names {
    /// The number of a text, a new one if it has not been seen.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

/// Sorts labels into class order and drops doubles.
pub(crate) fn sort(labels: &mut Vec<String>) {
    let number = |label: &String| label.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if labels.iter().all(|label| number(label).is_some()) {
        labels.sort_by(|a, b| {
            let by_number = number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal);
            by_number.then_with(|| a.cmp(b))
        });
    } else {
        labels.sort();
    }
    labels.dedup();
}

/// Rewrites the labels of a part from indices into `from` to indices into `to`.
///
/// A label that `to` lacks is refused with its name, how many sequences have it, and the known ones; the part is then
/// unchanged.
pub(crate) fn map(part: &mut Part, from: &[String], to: &[String], source: &str) -> Result<()> {
    let classes = translation(part, from, to, source)?;
    let labels = part.labels.iter_mut().chain(&mut part.step_labels);
    for label in labels.filter(|label| **label != UNLABELLED) {
        *label = classes[*label as usize];
    }
    Ok(())
}

/// For each index into `from` the index into `to`; only labels that occur in the part need to be known.
fn translation(part: &Part, from: &[String], to: &[String], source: &str) -> Result<Vec<u32>> {
    let position: HashMap<&str, u32> = to
        .iter()
        .zip(0..)
        .map(|(label, class)| (label.as_str(), class))
        .collect();
    let classes: Vec<Option<u32>> = from.iter().map(|label| position.get(label.as_str()).copied()).collect();
    let mut labels = part.labels.iter().chain(&part.step_labels);
    match labels.find(|&&label| label != UNLABELLED && classes[label as usize].is_none()) {
        Some(&label) => {
            let count = |labels: &[u32]| labels.iter().filter(|&&other| other == label).count();
            let (what, count) = match part.step_labels.is_empty() {
                true => ("sequence", count(&part.labels)),
                false => ("step", count(&part.step_labels)),
            };
            Err(unknown(&from[label as usize], count, what, to, source))
        }
        None => Ok(classes.into_iter().map(Option::unwrap_or_default).collect()),
    }
}

/// The error for a label of `count` sequences or steps that is not known.
pub(super) fn unknown(name: &str, count: usize, what: &str, known: &[String], source: &str) -> Error {
    let problem = format!(
        "label {name:?} ({count} {what}{}) is not among the known labels {}",
        if count == 1 { "" } else { "s" },
        list(known)
    );
    Error::data(source, problem)
}

/// Up to twenty names, with commas.
pub fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut text = crate::names::joined(&names[..names.len().min(MOST)]);
    if names.len() > MOST {
        text.push_str(&format!(", ... ({} in all)", names.len()));
    }
    text
}

/// Asks about labels that look like numbers to predict: twenty or more different numbers, more than half as many as there are
/// sequences, or, where they are no whole numbers, a tenth.
pub(crate) fn check_classes(dataset: &Dataset, labels: LabelKind) -> Result<()> {
    const FEWEST: usize = 20;
    let numbers: Option<Vec<f64>> = dataset.classes.iter().map(|class| class.trim().parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() >= FEWEST && labels == LabelKind::Ask) else {
        return Ok(());
    };
    let whole = numbers.iter().all(|number| number.fract() == 0.0);
    let sequences = dataset.train.labels.len();
    if numbers.len() * if whole { 2 } else { 10 } <= sequences || sequences == 0 {
        return Ok(());
    }
    let problem = format!(
        "found {} different numbers as labels of {sequences} sequences, expected classes: are these numbers to predict? Then say \
         --target COLUMN, which names their column (--target y for arrays). Name another column with --label-column NAME, or say --labels \
         classes if each number is a class",
        numbers.len()
    );
    Err(Error::data(&dataset.name, problem))
}

/// Refuses data without numbers to predict where they are asked for, for each sequence or each step. New data of a model may lack them.
pub(crate) fn check_target(dataset: &Dataset, options: &TableOptions) -> Result<()> {
    let of_steps = options.recordings.aim == Aim::Steps;
    let expected = if of_steps {
        Task::StepRegression
    } else {
        Task::Regression
    };
    if options.target.is_empty() || !options.of_model.is_empty() || dataset.task == expected {
        return Ok(());
    }
    if dataset.task == Task::Regression {
        let problem = "found one number a sequence, expected one a step, as --task steps says: a column of a table with a row a step, or an \
                       array y of shape [sequences, steps]";
        return Err(Error::data(&dataset.name, problem.to_string()));
    }
    let target = options.target.join(",");
    let found = match dataset.is_labelled() {
        true => format!("classes alone ({})", list(&dataset.classes)),
        false => "no numbers to predict".to_string(),
    };
    let problem = format!(
        "found {found}, expected one number a sequence, as --target {target} says: a column of a table, the array y of numbers, or a .ts file \
         with @targetLabel true"
    );
    Err(Error::data(&dataset.name, problem))
}

impl Dataset {
    /// Brings a data set that was opened alone onto the classes of a model, so that its labels are indices into `classes`.
    /// Unlabelled data only takes over the names.
    ///
    /// # Errors
    /// If a sequence has a label that is not in `classes`; the data set is then unchanged.
    pub fn relabel(&mut self, classes: &[String]) -> Result<()> {
        for (_, part) in self.parts() {
            translation(part, &self.classes, classes, &self.name)?;
            label_sets::reorder(&mut part.clone(), &self.classes, classes, &self.name)?;
        }
        let old = std::mem::replace(&mut self.classes, classes.to_vec());
        let name = self.name.clone();
        self.parts_mut().try_for_each(|part| {
            label_sets::reorder(part, &old, classes, &name)?;
            map(part, &old, classes, &name)
        })
    }
}

impl Sequences {
    /// Brings the labels onto the classes of a model, see [`Dataset::relabel`].
    ///
    /// # Errors
    /// If a sequence has a label that is not in `classes`; the sequences are then unchanged.
    pub fn relabel(&mut self, classes: &[String]) -> Result<()> {
        label_sets::reorder(&mut self.part, &self.classes, classes, &self.source)?;
        map(&mut self.part, &self.classes, classes, &self.source)?;
        self.classes = classes.to_vec();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(labels: &[&str]) -> Vec<String> {
        let mut labels = labels.iter().map(|&label| label.to_owned()).collect();
        sort(&mut labels);
        labels
    }

    #[test]
    fn numbers_sort_as_numbers_and_text_as_text() {
        assert_eq!(sorted(&["10", "9", "2", "9"]), ["2", "9", "10"]);
        assert_eq!(sorted(&["1", "-1"]), ["-1", "1"]);
        assert_eq!(sorted(&["10", "9", "x"]), ["10", "9", "x"]);
        assert_eq!(sorted(&["nan", "2", "10"]), ["10", "2", "nan"]);
    }

    #[test]
    fn labels_that_look_like_numbers_to_predict_are_a_question() {
        let dataset = |classes: Vec<String>, sequences: usize| {
            let mut train = Part::new(1);
            (0..sequences).for_each(|index| train.push(&[0.0], Some((index % classes.len()) as u32), None));
            Dataset {
                name: "d".into(),
                classes,
                train,
                ..Dataset::default()
            }
        };
        let names = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<Vec<_>>();
        let asked =
            |classes: Vec<String>, sequences| check_classes(&dataset(classes, sequences), LabelKind::Ask).is_err();
        let whole = |number: usize| number.to_string();
        assert!(asked(names(600, &whole), 600));
        assert!(asked(names(100, &|number| format!("{}.25", number)), 600));
        assert!(!asked(names(100, &whole), 600) && !asked(names(10, &whole), 10));
        assert!(!asked(names(600, &|number| format!("person {number}")), 600));
        let many = dataset(names(600, &whole), 600);
        let error = check_classes(&many, LabelKind::Ask).unwrap_err().to_string();
        assert!(
            error.starts_with("d: found 600 different numbers as labels of 600 sequences"),
            "{error}"
        );
        assert!(check_classes(&many, LabelKind::Classes).is_ok());
    }

    #[test]
    fn relabel_maps_by_name_or_refuses_and_changes_nothing() {
        let mut part = Part::new(1);
        for label in [0, 1, 1] {
            part.push(&[0.0], Some(label), None);
        }
        let mut data = Dataset {
            name: "d".into(),
            classes: sorted(&["run", "walk"]),
            train: part,
            ..Dataset::default()
        };
        let before = data.clone();
        let error = data.relabel(&sorted(&["run", "sit"])).unwrap_err().to_string();
        assert_eq!(
            error,
            "d: label \"walk\" (2 sequences) is not among the known labels run, sit"
        );
        assert_eq!(data, before);
        data.train.step_labels = vec![1, 0, 0];
        data.relabel(&sorted(&["run", "sit", "walk"])).unwrap();
        assert_eq!(
            (data.train.labels, data.train.step_labels),
            (vec![0, 2, 2], vec![2, 0, 0])
        );
        assert_eq!(data.classes, ["run", "sit", "walk"]);
    }
}
