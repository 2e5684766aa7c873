//! Sets of labels: a sequence has none, one or several of them.
//!
//! ```text
//! a|b        in a label column: the names, separated by |; an empty cell means none of the labels
//! y[n,l]     in the end: 1 where sequence n has label l, else 0
//! ```
//!
//! While files are read a set is one text, its names in order and each once, so that readers treat it as they treat the name of a class.

use super::labels::{self, Names};
use super::{Aim, OpenOptions, Part};
use crate::{Error, Result};

/// What stands between the labels of a set.
pub const SEPARATOR: char = '|';

/// The one text of a set of names.
pub(super) fn text<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names.join("|")
}

/// The one text of a set as it stands in a cell; none if a name in it is empty.
pub(super) fn of_cell(cell: &str) -> Option<String> {
    if cell.trim().is_empty() {
        return Some(String::new());
    }
    let names = || cell.split(SEPARATOR).map(str::trim);
    names().all(|name| !name.is_empty()).then(|| text(names()))
}

/// The names in the text of a set.
pub(super) fn names(set: &str) -> impl Iterator<Item = &str> {
    set.split(SEPARATOR).filter(|name| !name.is_empty())
}

/// The labels of some sets: those that are declared in their order, then the others sorted.
pub(super) fn classes(declared: &[String], sets: &[String]) -> Vec<String> {
    let mut others: Vec<String> = sets.iter().flat_map(|set| names(set)).map(str::to_owned).collect();
    others.retain(|name| !declared.contains(name));
    labels::sort(&mut others);
    [declared, &others].concat()
}

/// Sets of which the readers of arrays and series know nothing, as one text each.
pub(super) fn unify(part: &mut Part, sets: &mut Names, source: &str) -> Result<()> {
    let mut unified = Names::default();
    let mut numbers = Vec::with_capacity(sets.names.len());
    for set in &sets.names {
        let text = of_cell(set).ok_or_else(|| {
            let problem = format!("found the labels {set:?}, expected names separated by |");
            Error::data(source, problem)
        })?;
        numbers.push(unified.number(&text));
    }
    let all = part.labels.iter_mut();
    all.for_each(|label| *label = numbers[*label as usize]);
    *sets = unified;
    Ok(())
}

/// Turns the sets of a part, indices into `sets`, into indicators of `classes`.
///
/// # Errors
/// If a sequence has a label that is not among them.
pub(super) fn spread(part: &mut Part, sets: &[String], classes: &[String], source: &str) -> Result<()> {
    let place = |name: &str| classes.iter().position(|class| class == name);
    let mut rows: Vec<Vec<u8>> = vec![vec![0; classes.len()]; sets.len()];
    let mut unknown: Option<&str> = None;
    for (row, set) in rows.iter_mut().zip(sets) {
        for name in names(set) {
            match place(name) {
                Some(class) => row[class] = 1,
                None => unknown = unknown.or(Some(name)),
            }
        }
    }
    if let Some(name) = unknown {
        let has = |&&label: &&u32| names(&sets[label as usize]).any(|other| other == name);
        return Err(labels::unknown(
            name,
            part.labels.iter().filter(has).count(),
            "sequence",
            classes,
            source,
        ));
    }
    let of = |&label: &u32| rows[label as usize].iter().copied();
    part.indicators = part.labels.iter().flat_map(of).collect();
    part.labels.clear();
    Ok(())
}

/// Brings the indicators of a part from the labels `from` onto the labels `to`; only labels that a sequence has need to be known.
///
/// # Errors
/// If a sequence has a label that is not among them; the part is then unchanged.
pub(super) fn reorder(part: &mut Part, from: &[String], to: &[String], source: &str) -> Result<()> {
    if part.indicators.is_empty() {
        return Ok(());
    }
    let mut places = Vec::with_capacity(from.len());
    for (label, name) in from.iter().enumerate() {
        let count = part
            .indicators
            .iter()
            .skip(label)
            .step_by(from.len())
            .filter(|&&has| has == 1)
            .count();
        let place = to.iter().position(|other| other == name);
        if place.is_none() && count > 0 {
            return Err(labels::unknown(name, count, "sequence", to, source));
        }
        places.push(place);
    }
    let mut moved = vec![0; part.len() * to.len()];
    for (row, out) in part
        .indicators
        .chunks_exact(from.len())
        .zip(moved.chunks_exact_mut(to.len().max(1)))
    {
        for (&has, place) in row.iter().zip(&places) {
            if let (1, &Some(place)) = (has, place) {
                out[place] = 1;
            }
        }
    }
    part.indicators = moved;
    Ok(())
}

/// Refuses what contradicts labels of which several can hold.
pub(super) fn check(options: &OpenOptions) -> Result<()> {
    let table = &options.table;
    if !table.has_label_sets() {
        return Ok(());
    }
    let from = !table.labels_from.is_empty();
    let flag = if from { "labels-from" } else { "task" };
    let refuse = |found: String, expected: &str| Err(Error::setting(flag, found, expected));
    if let Some(label) = options.text.label_column.as_ref().filter(|_| from) {
        return refuse(
            format!("columns of 0 and 1 and --label-column {label}"),
            "one of them: the labels stand in several columns or in one",
        );
    }
    if !table.target.is_empty() {
        return refuse(
            format!("labels and --target {}", table.target.join(",")),
            "one of them: a model learns numbers or labels",
        );
    }
    if from && table.recordings.aim == Aim::Steps {
        return refuse(
            "labels and --task steps".to_owned(),
            "--task labels or none: a step has one class",
        );
    }
    if table.recordings.events.is_some() {
        return refuse(
            "several labels and a file of events".to_owned(),
            "labels in a column (--task labels) or in columns of 0 and 1 (--labels-from)",
        );
    }
    for (index, name) in table.labels_from.iter().enumerate() {
        if name.trim().is_empty() || name.contains(SEPARATOR) {
            return refuse(format!("{name:?}"), "names of columns, without |");
        }
        if table.labels_from[..index]
            .iter()
            .any(|other| other.eq_ignore_ascii_case(name))
        {
            return refuse(format!("{name} twice"), "each column once");
        }
    }
    Ok(())
}

/// Refuses data that has one class each.
pub(super) fn refuse(options: &OpenOptions, what: &str) -> Result<()> {
    match options.table.has_label_sets() {
        true => {
            let found = format!("several labels of {what}");
            Err(Error::setting(
                "task",
                found,
                "tables of numbers, recordings or arrays for several labels",
            ))
        }
        false => Ok(()),
    }
}

/// What to say about classes that look like several labels each; `classes` of the training sequences.
pub(super) fn note(part: &Part, classes: &[String]) -> Option<String> {
    let like = |&&label: &&u32| classes[label as usize].contains(SEPARATOR);
    let count = part.labels.iter().filter(like).count();
    let example = part.labels.iter().find(|label| like(label))?;
    (2 * count > part.labels.len()).then(|| {
        format!(
            "labels such as {:?} are one class each; --task labels reads them as several labels of a sequence, separated by |",
            classes[*example as usize]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn part(labels: &[u32]) -> Part {
        let mut part = Part::new(1);
        labels.iter().for_each(|&label| part.push(&[0.0], Some(label), None));
        part
    }

    #[test]
    fn a_set_is_one_text_however_it_is_written() {
        assert_eq!(of_cell("b| a |b").unwrap(), "a|b");
        assert_eq!(
            (of_cell(" ").unwrap(), of_cell("a").unwrap()),
            (String::new(), "a".to_owned())
        );
        assert_eq!((of_cell("a||b"), of_cell("a|")), (None, None));
    }

    #[test]
    fn sets_become_indicators() {
        let sets = owned(&["10|9", "", "9"]);
        let all = classes(&[], &sets);
        assert_eq!(all, ["9", "10"]);
        assert_eq!(classes(&owned(&["x", "9"]), &sets), ["x", "9", "10"]);
        let mut own = part(&[0, 1, 2]);
        spread(&mut own, &sets, &all, "f").unwrap();
        assert_eq!((&own.indicators[..], own.labels.len()), (&[1, 1, 0, 0, 1, 0][..], 0));
        assert_eq!((own.indicators_of(0), own.indicators_of(2)), (&[1, 1][..], &[1, 0][..]));
        let error = spread(&mut part(&[0, 0, 1]), &sets, &owned(&["9"]), "f")
            .unwrap_err()
            .to_string();
        assert_eq!(error, "f: label \"10\" (2 sequences) is not among the known labels 9");
    }

    #[test]
    fn labels_of_a_model_may_be_more_and_stand_in_another_order() {
        let mut own = part(&[0, 1]);
        spread(&mut own, &owned(&["a", "b"]), &owned(&["a", "b", "c"]), "f").unwrap();
        reorder(&mut own, &owned(&["a", "b", "c"]), &owned(&["d", "b", "a"]), "f").unwrap();
        assert_eq!(own.indicators, [0, 0, 1, 0, 1, 0]);
        let before = own.clone();
        let error = reorder(&mut own, &owned(&["d", "b", "a"]), &owned(&["a"]), "f")
            .unwrap_err()
            .to_string();
        assert_eq!(error, "f: label \"b\" (1 sequence) is not among the known labels a");
        assert_eq!(own, before);
    }

    #[test]
    fn classes_that_look_like_sets_are_named() {
        let classes = owned(&["a|b", "c"]);
        assert!(note(&part(&[0, 0, 1]), &classes).unwrap().contains("\"a|b\""));
        assert_eq!(
            (note(&part(&[0, 1]), &classes), note(&part(&[1]), &classes)),
            (None, None)
        );
    }
}
