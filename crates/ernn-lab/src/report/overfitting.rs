//! Which rows of a group have learned their training part by heart, in words.

use super::group::{Group, GroupRow};
use ernn::train::Overfitting;

/// A paragraph; none where no row has.
pub(super) fn paragraph(group: &Group) -> Option<String> {
    let row = |row: &GroupRow| {
        let train = row.mean_curve(|run| &run.history.train_loss);
        let validation = row.mean_curve(|run| &run.history.validation_loss);
        let found = Overfitting::of(&train[..validation.len().min(train.len())], &validation)?;
        Some((row.runs[0].row_title.clone(), found))
    };
    let rows: Vec<(String, Overfitting)> = group.rows.iter().filter_map(row).collect();
    match &rows[..] {
        [] => None,
        [(title, found)] => Some(format!("{title}: {}.", found.sentence())),
        rows => {
            let row = |(title, found): &(String, Overfitting)| format!("{title} from epoch {} on", found.epoch);
            let rows: Vec<String> = rows.iter().map(row).collect();
            let meaning = "the validation loss rises while the training loss falls";
            Some(format!("Overfitting ({meaning}): {}.", rows.join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::super::{html, markdown};
    use super::*;

    #[test]
    fn is_said_on_the_page_and_in_markdown() {
        let mut record = run("lstm", 1, &[0.5; 6]);
        record.history.train_loss = vec![2.0, 1.0, 0.5, 0.2, 0.1, 0.05];
        record.history.validation_loss = vec![1.5, 0.8, 0.9, 1.1, 1.2, 1.3];
        let one = group(vec![vec![record.clone()]]);
        assert!(
            paragraph(&one)
                .unwrap()
                .starts_with("LSTM: overfitting from epoch 2 on: the validation loss rises from 0.800")
        );
        let mut other = record.clone();
        other.row_title = "GRU".to_string();
        let two = group(vec![vec![record], vec![other], vec![run("rnn", 1, &[0.5; 6])]]);
        let words = "LSTM from epoch 2 on; GRU from epoch 2 on.";
        assert!(paragraph(&two).unwrap().ends_with(words));
        let groups = [two];
        assert!(html(&groups, "x").contains(words) && markdown(&groups, "x").contains(words));
        assert_eq!(paragraph(&group(vec![vec![run("rnn", 1, &[0.5; 6])]])), None);
    }
}
