//! Arrays that say which labels sequences have: `[sequences, labels]` of 0 and 1.

use super::super::label_sets;
use super::super::raw::Raw;
use super::Array;
use crate::Result;

/// Takes the labels of the sequences; they are called `names`, or without names by their column, from 1.
pub(super) fn read(labels: &Array, names: &[String], raw: &mut Raw) -> Result<()> {
    let sequences = raw.part.len();
    let (rows, columns) = match labels.shape[..] {
        [rows, columns] => (rows, columns),
        _ => (0, 0),
    };
    let called = if names.is_empty() { columns } else { names.len() };
    if rows != sequences || columns == 0 || columns != called {
        let labels_of = if names.is_empty() {
            "labels".to_owned()
        } else {
            called.to_string()
        };
        let expected = format!("[{sequences}, {labels_of}], 0 or 1 for each sequence and label");
        return Err(labels.error("", &format!("labels of shape {:?}", labels.shape), &expected));
    }
    raw.declared = match names.is_empty() {
        true => (1..=columns).map(|column| column.to_string()).collect(),
        false => names.to_vec(),
    };
    for sequence in 0..sequences {
        let mut own: Vec<&str> = Vec::new();
        for column in 0..columns {
            match labels.number(labels.offset(&[sequence, column])) {
                Some(0.0) => {}
                Some(1.0) => own.push(&raw.declared[column]),
                other => {
                    let place = format!(", sequence {}, column {}", sequence + 1, column + 1);
                    let found = other.map_or("text".to_owned(), |number| number.to_string());
                    return Err(labels.error(&place, &found, "0 or 1, whether the sequence has the label"));
                }
            }
        }
        let number = raw.labels.number(&label_sets::text(own.into_iter()));
        raw.part.labels.push(number);
    }
    raw.of_sets = true;
    Ok(())
}
