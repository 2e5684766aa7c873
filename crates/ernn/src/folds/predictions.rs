//! `folds/predictions.csv`: what each sequence was called by the model that had not seen it.

use super::one::Done;
use crate::checkpoint::output_names;
use crate::data::{Dataset, Folds, Task};
use crate::evaluate;

/// One line a sequence of the training part, in its order: what the data calls it, the fold that held it out, its group, what it is, what
/// it was called, and the probability of each class; of numbers those that are true, and what was said of each target and quantile.
pub(super) fn csv(dataset: &Dataset, cut: &Folds, done: &[Done], quantiles: &[f64]) -> String {
    let part = &dataset.train;
    let mut lines: Vec<(usize, Vec<String>)> = Vec::new();
    for (fold, (held_out, done)) in cut.held_out.iter().zip(done).enumerate() {
        for (place, &sequence) in held_out.iter().enumerate() {
            let Some(outputs) = done.outputs.get(place) else {
                continue;
            };
            let group = part.groups.get(sequence).copied();
            let group = group.map_or_else(String::new, |group| dataset.group_name(group));
            let mut line = vec![part.name(sequence), (fold + 1).to_string(), group];
            if dataset.task == Task::MultiLabel {
                let own: Vec<f64> = part
                    .indicators_of(sequence)
                    .iter()
                    .map(|&holds| f64::from(holds))
                    .collect();
                line.extend([&own, outputs].map(|row| evaluate::called_labels(&dataset.classes, row)));
            } else if dataset.task == Task::Classification {
                line.push(dataset.classes[part.labels[sequence] as usize].clone());
                line.push(dataset.classes[done.result.classes[place]].clone());
            } else {
                line.extend(part.numbers_of(sequence).iter().map(ToString::to_string));
            }
            line.extend(outputs.iter().map(ToString::to_string));
            lines.push((sequence, line));
        }
    }
    lines.sort_by_key(|(sequence, _)| *sequence);
    let mut header: Vec<String> = ["sequence", "fold", "group"].map(String::from).into();
    if matches!(dataset.task, Task::Classification | Task::MultiLabel) {
        let label = if dataset.task == Task::MultiLabel {
            "labels"
        } else {
            "label"
        };
        header.extend([label, "prediction"].map(String::from));
        header.extend(dataset.classes.iter().map(|class| format!("probability {class}")));
    } else {
        header.extend(number_columns(dataset, quantiles));
    }
    let lines = std::iter::once(header).chain(lines.into_iter().map(|(_, line)| line));
    lines.map(|line| quoted(&line) + "\n").collect()
}

/// `number,prediction`; with a name behind each where there are several.
fn number_columns(dataset: &Dataset, quantiles: &[f64]) -> Vec<String> {
    let targets = match dataset.train.targets() {
        0 | 1 => vec![String::new()],
        count if dataset.target_names.len() == count => dataset.target_names.clone(),
        count => (1..=count).map(|place| place.to_string()).collect(),
    };
    let column = |what: &str, name: &String| format!("{what} {name}").trim_end().to_string();
    let numbers = targets.iter().map(|name| column("number", name));
    let outputs = output_names(targets.clone(), quantiles);
    numbers
        .chain(outputs.iter().map(|name| column("prediction", name)))
        .collect()
}

fn quoted(fields: &[String]) -> String {
    let quote = |field: &String| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(quote).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_column_for_each_target_and_quantile() {
        let mut dataset = Dataset::default();
        dataset.train.offsets = vec![0, 1];
        dataset.train.numbers = vec![1.0];
        assert_eq!(number_columns(&dataset, &[]), ["number", "prediction"]);
        assert_eq!(
            number_columns(&dataset, &[0.1, 0.9]),
            ["number", "prediction q0.1", "prediction q0.9"]
        );
        dataset.train.numbers.push(2.0);
        dataset.target_names = ["a", "b"].map(String::from).into();
        assert_eq!(
            number_columns(&dataset, &[]),
            ["number a", "number b", "prediction a", "prediction b"]
        );
    }

    #[test]
    fn names_with_commas_are_quoted() {
        assert_eq!(
            quoted(&["a".into(), "b, c".into(), "\"d\"".into()]),
            "a,\"b, c\",\"\"\"d\"\"\""
        );
    }
}
