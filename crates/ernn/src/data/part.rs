//! The containers: ragged sequences of one part, and the data set that holds up to three parts.

/// Sequences of one part (train, validation or test), ragged: sequence `i` is rows `offsets[i]..offsets[i+1]` of `values`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Values a step.
    pub features: usize,
    /// Where each sequence starts, in steps; one more entry than sequences.
    pub offsets: Vec<usize>,
    /// `[total steps, features]`.
    pub values: Vec<f32>,
    /// The class of each sequence, an index into [`Dataset::classes`]; empty for unlabelled data.
    pub labels: Vec<u32>,
    /// The group (subject, speaker, session) of each sequence; empty where the data names none. A validation split never
    /// divides a group.
    pub groups: Vec<u32>,
    /// Positions in `values`, ascending, that were missing in the source and have been filled: statistics skip them.
    pub filled: Vec<usize>,
}

impl Part {
    /// A part without sequences.
    pub fn new(features: usize) -> Part {
        Part {
            features,
            offsets: vec![0],
            ..Part::default()
        }
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Holds no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Steps of a sequence.
    pub fn length(&self, sequence: usize) -> usize {
        self.offsets[sequence + 1] - self.offsets[sequence]
    }

    /// Values of a sequence, `[length, features]`.
    pub fn sequence(&self, sequence: usize) -> &[f32] {
        &self.values[self.offsets[sequence] * self.features..self.offsets[sequence + 1] * self.features]
    }

    /// Steps of the longest sequence; 0 for an empty part.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|sequence| self.length(sequence)).max().unwrap_or(0)
    }

    /// Steps of all sequences together.
    pub fn steps(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Appends a sequence `[length, features]`.
    ///
    /// # Panics
    /// If `values` is not a whole number of steps, or if some sequences have a label (a group) and others have none.
    pub fn push(&mut self, values: &[f32], label: Option<u32>, group: Option<u32>) {
        assert!(self.features > 0, "a part needs at least one feature");
        assert_eq!(values.len() % self.features, 0, "not a whole number of steps");
        assert!(
            self.labels.len() == if label.is_some() { self.len() } else { 0 },
            "either all sequences have a label or none"
        );
        assert!(
            self.groups.len() == if group.is_some() { self.len() } else { 0 },
            "either all sequences have a group or none"
        );
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.values.extend_from_slice(values);
        self.offsets.push(self.values.len() / self.features);
        self.labels.extend(label);
        self.groups.extend(group);
    }

    /// A part of these sequences, in this order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn select(&self, indices: &[usize]) -> Part {
        let mut part = Part::new(self.features);
        part.offsets.reserve(indices.len());
        part.values
            .reserve(indices.iter().map(|&index| self.length(index)).sum::<usize>() * self.features);
        for &index in indices {
            let label = self.labels.get(index).copied();
            let group = self.groups.get(index).copied();
            let (from, to) = (part.values.len(), self.offsets[index] * self.features);
            let end = self.offsets[index + 1] * self.features;
            let first = self.filled.partition_point(|&position| position < to);
            let filled = self.filled[first..].iter().take_while(|&&position| position < end);
            part.filled.extend(filled.map(|position| position - to + from));
            part.push(self.sequence(index), label, group);
        }
        part
    }
}

/// Labelled sequences with names; the test part is for `evaluate` alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    /// Known name or path.
    pub name: String,
    /// One a feature.
    pub feature_names: Vec<String>,
    /// Original label values as text, in class order (numeric order if all are numbers). Empty: unlabelled.
    pub classes: Vec<String>,
    /// The training part.
    pub train: Part,
    /// A validation part of its own, where the data comes with one.
    pub validation: Option<Part>,
    /// The test part, where there is one.
    pub test: Option<Part>,
}

impl Dataset {
    /// The parts that are there, with their names: `train`, `validation`, `test`.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Part)> {
        let others = [("validation", &self.validation), ("test", &self.test)];
        std::iter::once(("train", &self.train)).chain(
            others
                .into_iter()
                .filter_map(|(name, part)| part.as_ref().map(|part| (name, part))),
        )
    }

    /// The same, to change them.
    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.train)
            .chain(self.validation.as_mut())
            .chain(self.test.as_mut())
    }

    /// Sequences have a class.
    pub fn is_labelled(&self) -> bool {
        !self.train.labels.is_empty()
    }
}

/// The sequences of one file, for `predict`: with or without labels, in file order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequences {
    /// Path of the file, or `standard input`.
    pub source: String,
    /// One a feature.
    pub feature_names: Vec<String>,
    /// Original label values in class order; empty for unlabelled data.
    pub classes: Vec<String>,
    /// What the file calls each sequence: the `series` value of a long table, else its number from 1.
    pub names: Vec<String>,
    /// The sequences themselves.
    pub part: Part,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Part {
        let mut part = Part::new(2);
        part.push(&[1.0, 2.0], Some(0), Some(5));
        part.push(&[3.0, 4.0, 5.0, 6.0], Some(1), Some(6));
        part.push(&[7.0, 8.0], Some(0), Some(7));
        part.filled = vec![1, 4, 7];
        part
    }

    #[test]
    fn select_keeps_values_labels_groups_and_filled_positions() {
        let part = three().select(&[2, 1]);
        assert_eq!(part.offsets, [0, 1, 3]);
        assert_eq!(part.values, [7.0, 8.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(part.labels, [0, 1]);
        assert_eq!(part.groups, [7, 6]);
        assert_eq!(part.filled, [1, 4]);
        assert_eq!(three().select(&[0, 1, 2]), three());
    }

    #[test]
    fn sizes() {
        assert_eq!((three().len(), three().longest(), three().steps()), (3, 2, 4));
        assert!(Part::default().is_empty() && Part::new(3).is_empty());
        assert_eq!(Part::default().steps(), 0);
    }

    #[test]
    #[should_panic(expected = "either all sequences have a label or none")]
    fn labelled_and_unlabelled_do_not_mix() {
        three().push(&[1.0, 1.0], None, Some(1));
    }

    #[test]
    #[should_panic(expected = "either all sequences have a label or none")]
    fn unlabelled_and_labelled_do_not_mix() {
        let mut part = Part::new(1);
        part.push(&[1.0], None, None);
        part.push(&[1.0], Some(1), None);
    }
}
