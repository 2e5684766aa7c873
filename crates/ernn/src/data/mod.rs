//! Data: a path or a name becomes a [`Dataset`] of ragged, labelled sequences.

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
}

impl Part {
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
