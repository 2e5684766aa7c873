//! `folds/predictions.csv`: what each sequence was called by the model that had not seen it.

use super::one::Done;
use crate::data::{Dataset, Folds, Task};

/// One line a sequence of the training part, in its order: what the data calls it, the fold that held it out, its group, what it is, what
/// it was called, and the probability of each class.
pub(super) fn csv(dataset: &Dataset, cut: &Folds, done: &[Done]) -> String {
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
            if dataset.task == Task::Classification {
                line.push(dataset.classes[part.labels[sequence] as usize].clone());
                line.push(dataset.classes[done.result.classes[place]].clone());
            } else {
                line.push(part.numbers[sequence].to_string());
            }
            line.extend(outputs.iter().map(ToString::to_string));
            lines.push((sequence, line));
        }
    }
    lines.sort_by_key(|(sequence, _)| *sequence);
    let mut header: Vec<String> = ["sequence", "fold", "group"].map(String::from).into();
    if dataset.task == Task::Classification {
        header.extend(["label", "prediction"].map(String::from));
        header.extend(dataset.classes.iter().map(|class| format!("probability {class}")));
    } else {
        header.extend(["number", "prediction"].map(String::from));
    }
    let lines = std::iter::once(header).chain(lines.into_iter().map(|(_, line)| line));
    lines.map(|line| quoted(&line) + "\n").collect()
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
    fn names_with_commas_are_quoted() {
        assert_eq!(
            quoted(&["a".into(), "b, c".into(), "\"d\"".into()]),
            "a,\"b, c\",\"\"\"d\"\"\""
        );
    }
}
