//! How the classes fare, as tables: recall, precision and F1 of each, and which is taken for which.

use std::collections::HashSet;

use ernn::evaluate::{ClassReport, Evaluation};
use ernn::names;

use crate::output::{grouped, percent};
use crate::table::{Cell, Table, columns_of, shortened};
use crate::terminal::{COLUMNS, Look};

/// A matrix of more classes is no longer read, and does not fit.
const MOST_CLASSES: usize = 12;
/// Pairs that are named where there is no matrix.
const PAIRS: usize = 5;
/// Columns of a class's name beside the matrix at most, where there is room.
const LONGEST_NAME: usize = 20;

/// Both tables.
pub fn text(found: &Evaluation, colors: bool) -> String {
    let what = if found.segments.is_some() { "steps" } else { "sequences" };
    let mut lines = per_class(&found.per_class, what).lines(COLUMNS, colors);
    lines.extend(confusions(found, colors));
    lines.join("\n")
}

fn per_class(classes: &[ClassReport], what: &str) -> Table {
    let share = |value: Option<f64>| Cell::from(value.map_or_else(|| "-".to_string(), percent));
    let mut table = Table::new(["class", what, " recall", "precision", "     F1"]);
    for class in classes {
        table.row([
            names::line(&class.name).into(),
            grouped(class.support).into(),
            share(class.recall),
            share(class.precision),
            share(class.f1),
        ]);
    }
    table
}

/// The matrix, or the most frequent pairs of many classes.
fn confusions(found: &Evaluation, colors: bool) -> Vec<String> {
    let safe: Vec<String> = found.per_class.iter().map(|class| names::line(&class.name)).collect();
    let names: Vec<&str> = safe.iter().map(String::as_str).collect();
    let matrix = match names.len() {
        0 | 1 => return Vec::new(),
        2..=MOST_CLASSES => matrix(&names, &found.confusion),
        _ => None,
    };
    let Some(matrix) = matrix else {
        let pairs = pairs(&names, &found.confusion).into_iter();
        return pairs.flat_map(|pairs| [String::new(), pairs]).collect();
    };
    let mut lines = vec![
        String::new(),
        "  confusion matrix: a row a true class, a column a predicted one".to_string(),
    ];
    lines.extend(matrix.lines(COLUMNS, colors));
    lines
}

/// None if not even the counts fit beside each other.
fn matrix(names: &[&str], counts: &[Vec<usize>]) -> Option<Table> {
    let digits = counts.iter().flatten().max()?.to_string().len();
    let longest = names.iter().map(|name| columns_of(name)).max()?.clamp(6, LONGEST_NAME);
    // Two blanks between columns, or one where there is no room for two.
    let fits = |gap: &usize| 2 + 6 + names.len() * (digits + gap) <= COLUMNS;
    let gap = [2, 1].into_iter().find(fits)?;
    let room = COLUMNS - 2 - names.len() * (digits + gap);
    let room_for_head = (COLUMNS - 2 - longest.min(room)) / names.len() - gap;
    let (head, numbered) = heads(names, room_for_head.max(digits));
    let mut table = Table::new(std::iter::once(String::new()).chain(head)).with_gap(gap);
    for (index, (name, row)) in names.iter().zip(counts).enumerate() {
        let label = match numbered {
            true => format!("{} {name}", index + 1),
            false => name.to_string(),
        };
        let cells = row.iter().enumerate().map(|(column, &count)| {
            let look = match count {
                0 => Look::Dim,
                _ if column == index => Look::Bold,
                _ => Look::Plain,
            };
            Cell::new(count.to_string(), look)
        });
        table.row(std::iter::once(Cell::from(shortened(&label, longest.min(room)))).chain(cells));
    }
    Some(table)
}

/// The names, shortened; if two are no longer told from each other, their numbers (and true).
fn heads(names: &[&str], columns: usize) -> (Vec<String>, bool) {
    let short: Vec<String> = names.iter().map(|name| shortened(name, columns)).collect();
    let different: HashSet<&String> = short.iter().collect();
    if different.len() == names.len() && short.iter().all(|name| name != "…") {
        return (short, false);
    }
    ((1..=names.len()).map(|number| number.to_string()).collect(), true)
}

/// `most often confused: 3 as 5 (12), 9 as 4 (8)`.
fn pairs(names: &[&str], counts: &[Vec<usize>]) -> Option<String> {
    let mut wrong: Vec<(usize, usize, usize)> = Vec::new();
    for (class, row) in counts.iter().enumerate() {
        let others = row
            .iter()
            .enumerate()
            .filter(|&(called, &count)| called != class && count > 0);
        wrong.extend(others.map(|(called, &count)| (count, class, called)));
    }
    wrong.sort_by_key(|&(count, class, called)| (std::cmp::Reverse(count), class, called));
    let name = |class: usize| shortened(names[class], LONGEST_NAME);
    let texts = wrong
        .iter()
        .take(PAIRS)
        .map(|&(count, class, called)| format!("{} as {} ({})", name(class), name(called), grouped(count)));
    let text = texts.collect::<Vec<_>>().join(", ");
    (!wrong.is_empty()).then(|| shortened(&format!("  most often confused: {text}"), COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str], counts: &[Vec<usize>]) -> Vec<String> {
        matrix(names, counts).map_or_else(Vec::new, |table| table.lines(COLUMNS, false))
    }

    #[test]
    fn a_small_matrix_has_its_names() {
        let found = lines(&["down", "up"], &[vec![10, 2], vec![0, 8]]);
        assert_eq!(found, ["        down  up", "  down    10   2", "  up       0   8"]);
    }

    #[test]
    fn twelve_long_names_fit_and_stay_different() {
        let names: Vec<String> = (0..12).map(|class| format!("walking up the stairs {class}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for count in [3, 99_999] {
            let found = lines(&names, &vec![vec![count; 12]; 12]);
            assert_eq!(found.len(), 13);
            assert!(found.iter().all(|line| columns_of(line) <= COLUMNS), "{found:#?}");
            assert!(
                found[0].ends_with("12") && found[12].starts_with("  12 wa"),
                "{found:#?}"
            );
        }
        // Eight digits twelve times do not fit; nothing is better than lines that wrap.
        assert!(matrix(&names, &vec![vec![12_345_678; 12]; 12]).is_none());
    }

    #[test]
    fn many_classes_have_the_pairs_that_are_confused_most() {
        let names = ["a", "b", "c"];
        let text = pairs(&names, &[vec![9, 1, 0], vec![0, 9, 4], vec![0, 1, 2]]).unwrap();
        assert_eq!(text, "  most often confused: b as c (4), a as b (1), c as b (1)");
        assert_eq!(pairs(&names, &[vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 1]]), None);
    }
}
