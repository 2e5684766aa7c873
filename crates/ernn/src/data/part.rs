//! The containers: ragged sequences of one part, and the data set that holds up to three parts.

use super::values::{Images, Values};
use super::{Forecast, RecordingFacts};

/// The class of a step that has none: nothing is learned from it, and it judges nothing.
pub const UNLABELLED: u32 = u32::MAX;

/// Sequences of one part (train, validation or test), ragged: sequence `i` is the steps `offsets[i]..offsets[i+1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Values a step; 1 for tokens.
    pub features: usize,
    /// Where each sequence starts, in steps; one more entry than sequences.
    pub offsets: Vec<usize>,
    /// What the steps hold.
    pub values: Values,
    /// The class of each sequence, an index into [`Dataset::classes`]; empty for unlabelled data and other tasks.
    pub labels: Vec<u32>,
    /// The class of each step or [`UNLABELLED`], for [`Task::StepClassification`]; otherwise empty.
    pub step_labels: Vec<u32>,
    /// Which labels each sequence has, `[sequences, labels]`, 1 where it has one and else 0, for [`Task::MultiLabel`]; otherwise empty.
    pub indicators: Vec<u8>,
    /// The numbers to predict, `[sequences, targets]`, for [`Task::Regression`]; otherwise empty.
    pub numbers: Vec<f32>,
    /// The numbers to predict of each step, `[steps, targets]`, for [`Task::StepRegression`]; otherwise empty. A step without a target is all NaN:
    /// nothing is learned from it, and it judges nothing.
    pub step_numbers: Vec<f32>,
    /// How much each sequence counts in the training loss of [`Task::Classification`]; empty: all the same.
    pub weights: Vec<f32>,
    /// The group (subject, speaker, session) of each sequence; empty where the data names none. A validation split never
    /// divides a group.
    pub groups: Vec<u32>,
    /// Whether a sequence, a window of a recording, overlaps one before it; empty if none does. Only training reads those that do.
    pub overlapping: Vec<bool>,
    /// Whether a sequence, a window of a recording, goes on where the one before it ends; empty if none does.
    pub follows: Vec<bool>,
    /// What the data calls each sequence; empty where it calls them nothing.
    pub names: Vec<String>,
    /// Positions in `values`, ascending, that were missing in the source and have been filled: statistics skip them.
    pub filled: Vec<usize>,
}

impl Part {
    /// A part without sequences, of numbers.
    pub fn new(features: usize) -> Part {
        Part {
            features,
            offsets: vec![0],
            ..Part::default()
        }
    }

    /// A part of pictures, with the class of each.
    ///
    /// # Panics
    /// If there is not one label a picture.
    pub fn of_images(images: Images, labels: Vec<u32>) -> Part {
        assert_eq!(images.len(), labels.len(), "one label a picture");
        let steps = images.steps();
        Part {
            features: images.features(),
            offsets: (0..=images.len()).map(|picture| picture * steps).collect(),
            values: Values::Images(images),
            labels,
            ..Part::default()
        }
    }

    /// A part of tokens; `labels` may be empty.
    ///
    /// # Panics
    /// If `offsets` do not rise from 0 to the number of tokens, or labels are there and not one a sequence.
    pub fn of_tokens(tokens: Vec<u32>, offsets: Vec<usize>, labels: Vec<u32>) -> Part {
        assert!(
            offsets.first() == Some(&0) && offsets.last() == Some(&tokens.len()) && offsets.is_sorted(),
            "offsets from 0 to the number of tokens"
        );
        assert!(
            labels.is_empty() || labels.len() + 1 == offsets.len(),
            "one label a sequence"
        );
        Part {
            features: 1,
            offsets,
            values: Values::Tokens(tokens),
            labels,
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

    /// What a sequence is called: its name, or its number from 1 where it has none.
    pub fn name(&self, sequence: usize) -> String {
        let name = self.names.get(sequence);
        name.cloned().unwrap_or_else(|| (sequence + 1).to_string())
    }

    /// Numbers to predict of each sequence, or of each step; 0 where there are none.
    pub fn targets(&self) -> usize {
        let of = |numbers: &[f32], examples| numbers.len().checked_div(examples).unwrap_or(0);
        of(&self.numbers, self.len()).max(of(&self.step_numbers, self.steps()))
    }

    /// The numbers to predict of a sequence, one a target; empty if it has none of its own.
    pub fn numbers_of(&self, sequence: usize) -> &[f32] {
        let targets = self.numbers.len() / self.len().max(1);
        &self.numbers[sequence * targets..(sequence + 1) * targets]
    }

    /// The numbers to predict of the steps of a sequence, `[length, targets]`; empty if steps have none.
    pub fn step_numbers_of(&self, sequence: usize) -> &[f32] {
        let targets = self.step_numbers.len() / self.steps().max(1);
        &self.step_numbers[self.offsets[sequence] * targets..self.offsets[sequence + 1] * targets]
    }

    /// A step has all numbers or none: where some are missing all are, and where no step has any there are none. Gives the number of steps that
    /// had some.
    pub(super) fn keep_whole_steps(&mut self) -> usize {
        let targets = self.step_numbers.len() / self.steps().max(1);
        let (mut torn, mut whole) = (0, 0);
        for step in self.step_numbers.chunks_exact_mut(targets.max(1)) {
            let missing = step.iter().filter(|number| number.is_nan()).count();
            torn += usize::from(missing > 0 && missing < targets);
            whole += usize::from(missing == 0);
            if missing > 0 {
                step.fill(f32::NAN);
            }
        }
        if whole == 0 {
            self.step_numbers.clear();
        }
        torn
    }

    /// Which labels a sequence has, one entry a label; empty if there are none.
    pub fn indicators_of(&self, sequence: usize) -> &[u8] {
        let labels = self.indicators.len() / self.len().max(1);
        &self.indicators[sequence * labels..(sequence + 1) * labels]
    }

    /// Sequences, or their steps, have classes or labels.
    pub fn is_labelled(&self) -> bool {
        !self.labels.is_empty() || !self.step_labels.is_empty() || !self.indicators.is_empty()
    }

    /// What a split deals out evenly: the class of each sequence; of several labels the rarest that it has, from 1, and 0 for none. Empty
    /// where sequences have neither.
    pub fn strata(&self) -> Vec<u32> {
        if self.indicators.is_empty() {
            return self.labels.clone();
        }
        let labels = self.indicators_of(0).len();
        let count = |label: usize| {
            self.indicators
                .iter()
                .skip(label)
                .step_by(labels)
                .filter(|&&has| has == 1)
                .count()
        };
        let counts: Vec<usize> = (0..labels).map(count).collect();
        let rarest = |row: &[u8]| {
            let own = (0..labels).filter(|&label| row[label] == 1);
            own.min_by_key(|&label| counts[label])
                .map_or(0, |label| label as u32 + 1)
        };
        self.indicators.chunks_exact(labels).map(rarest).collect()
    }

    /// Steps of a sequence.
    pub fn length(&self, sequence: usize) -> usize {
        self.offsets[sequence + 1] - self.offsets[sequence]
    }

    /// Numbers of a sequence, `[length, features]`, as they are stored.
    ///
    /// # Panics
    /// If the part is of pictures or tokens; [`View::read`](super::View::read) takes those, too.
    pub fn sequence(&self, sequence: usize) -> &[f32] {
        &self.values.numbers()[self.offsets[sequence] * self.features..self.offsets[sequence + 1] * self.features]
    }

    /// The numbers, to change them; those of pictures and tokens can't be changed, and are none.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        match &mut self.values {
            Values::Numbers(values) => values,
            _ => &mut [],
        }
    }

    /// Steps of the longest sequence; 0 for an empty part.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|sequence| self.length(sequence)).max().unwrap_or(0)
    }

    /// Steps of all sequences together.
    pub fn steps(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Appends a sequence of numbers `[length, features]`.
    ///
    /// # Panics
    /// If `values` is not a whole number of steps, if some sequences have a label (a group) and others have none, or the part is
    /// of pictures or tokens.
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
        let Values::Numbers(all) = &mut self.values else {
            panic!("numbers are added to a part of numbers");
        };
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        all.extend_from_slice(values);
        self.offsets.push(all.len() / self.features);
        self.labels.extend(label);
        self.groups.extend(group);
    }
}

impl Part {
    /// A part of these sequences, in this order, with copies of all that belongs to them.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn select(&self, indices: &[usize]) -> Part {
        let steps = |&index: &usize| self.offsets[index]..self.offsets[index + 1];
        let mut offsets = vec![0];
        offsets.extend(indices.iter().scan(0, |end, &index| {
            *end += self.length(index);
            Some(*end)
        }));
        let values = match &self.values {
            Values::Numbers(_) => {
                let sequences = indices.iter().flat_map(|&index| self.sequence(index));
                Values::Numbers(sequences.copied().collect())
            }
            Values::Images(images) => {
                let pictures = indices.iter().flat_map(|&index| images.picture(index));
                Values::Images(Images {
                    bytes: pictures.copied().collect(),
                    order: images.order.clone(),
                    ..Images {
                        bytes: Vec::new(),
                        order: None,
                        ..*images
                    }
                })
            }
            Values::Tokens(tokens) => {
                let sequences = indices.iter().map(steps).flat_map(|range| &tokens[range]);
                Values::Tokens(sequences.copied().collect())
            }
        };
        let filled = indices.iter().zip(&offsets).flat_map(|(index, &to)| {
            let range = steps(index);
            let [from, end] = [range.start, range.end].map(|step| step * self.features);
            let first = self.filled.partition_point(|&position| position < from);
            let own = self.filled[first..].iter().take_while(move |&&position| position < end);
            own.map(move |position| position - from + to * self.features)
        });
        let weights = |all: &[f32]| indices.iter().filter_map(|&index| all.get(index).copied()).collect();
        let of = |all: &[u32]| indices.iter().filter_map(|&index| all.get(index).copied()).collect();
        let step_labels = indices
            .iter()
            .map(steps)
            .flat_map(|range| self.step_labels.get(range).unwrap_or_default());
        Part {
            features: self.features,
            filled: filled.collect(),
            labels: of(&self.labels),
            indicators: match self.indicators.is_empty() {
                true => Vec::new(),
                false => indices
                    .iter()
                    .flat_map(|&index| self.indicators_of(index))
                    .copied()
                    .collect(),
            },
            groups: of(&self.groups),
            overlapping: indices
                .iter()
                .filter_map(|&index| self.overlapping.get(index).copied())
                .collect(),
            // What does not stand behind its neighbor any more follows nothing.
            follows: match self.follows.is_empty() {
                true => Vec::new(),
                false => (0..indices.len())
                    .map(|place| place > 0 && indices[place - 1] + 1 == indices[place] && self.follows[indices[place]])
                    .collect(),
            },
            names: indices
                .iter()
                .filter_map(|&index| self.names.get(index).cloned())
                .collect(),
            step_labels: step_labels.copied().collect(),
            numbers: indices
                .iter()
                .flat_map(|&index| self.numbers_of(index))
                .copied()
                .collect(),
            step_numbers: indices
                .iter()
                .flat_map(|&index| self.step_numbers_of(index))
                .copied()
                .collect(),
            weights: weights(&self.weights),
            offsets,
            values,
        }
    }

    /// The sequences that overlap none before them, in their order: those that judge a model.
    pub fn apart(&self) -> Vec<usize> {
        let apart = |&sequence: &usize| !self.overlapping.get(sequence).is_some_and(|&overlapping| overlapping);
        (0..self.len()).filter(apart).collect()
    }

    /// The first tokens of a text alone.
    pub fn truncate_text(&mut self, tokens: usize) {
        if let Values::Tokens(all) = &mut self.values {
            all.truncate(tokens);
            self.offsets
                .iter_mut()
                .for_each(|offset| *offset = (*offset).min(tokens));
        }
    }
}

/// What is to be learned of the sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The class of each sequence.
    #[default]
    Classification,
    /// The class of each step.
    StepClassification,
    /// The next token after each. A part is one long text, which is its own target.
    NextToken,
    /// A number for each sequence, or several.
    Regression,
    /// Which of some labels each sequence has: none, one or several.
    MultiLabel,
    /// A number for each step, or several.
    StepRegression,
}

impl Task {
    /// Whether numbers are learned, of sequences or of steps.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Task::Regression | Task::StepRegression)
    }

    /// Whether each step has a class, or numbers, of its own.
    pub fn is_of_steps(self) -> bool {
        matches!(self, Task::StepClassification | Task::StepRegression)
    }
}

/// Labelled sequences with names; the test part is for `evaluate` alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    /// Known name or path.
    pub name: String,
    /// One a feature.
    pub feature_names: Vec<String>,
    /// Original label values as text, in class order (numeric order if all are numbers). Empty: unlabelled, or no classes.
    pub classes: Vec<String>,
    /// The text of each token; empty where sequences are not tokens.
    pub vocabulary: Vec<String>,
    /// What the data calls each group, by its number, the same in all parts; empty where it has numbers alone.
    pub group_names: Vec<String>,
    /// What the data calls each number to predict; empty where it does not.
    pub target_names: Vec<String>,
    /// Which values the numbers to predict are, where they are the next ones of channels.
    pub forecast: Option<Forecast>,
    /// What is to be learned.
    pub task: Task,
    /// The training part.
    pub train: Part,
    /// A validation part of its own, where the data comes with one.
    pub validation: Option<Part>,
    /// The test part, where there is one.
    pub test: Option<Part>,
    /// What became of the recordings of each part, in the order of [`Dataset::parts`], where sequences are cut from them; else empty.
    pub recordings: Vec<RecordingFacts>,
    /// What a person should know about how the files were understood, a sentence each.
    pub notes: Vec<String>,
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

    /// What a group is called: its name, or its number where it has none.
    pub fn group_name(&self, group: u32) -> String {
        let name = self.group_names.get(group as usize);
        name.cloned().unwrap_or_else(|| group.to_string())
    }

    /// Steps a second, where sequences are cut from recordings and anyone said how many.
    pub fn rate(&self) -> Option<f64> {
        self.recordings.first()?.rate
    }

    /// Sequences have a class, or labels.
    pub fn is_labelled(&self) -> bool {
        self.train.is_labelled()
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
    /// What the data calls each group, by its number; empty where it names none.
    pub group_names: Vec<String>,
    /// What the file calls each sequence: the `series` value of a long table, else its number from 1.
    pub names: Vec<String>,
    /// From when to when each sequence goes, of windows of recordings; else empty.
    pub times: Vec<[String; 2]>,
    /// When each step of a window begins, and when the last one ends, where each step has a class; else empty.
    pub step_times: Vec<Vec<String>>,
    /// When each value of a forecast is, of windows of recordings whose next values are asked for; else empty.
    pub ahead: Vec<Vec<String>>,
    /// The sequences themselves.
    pub part: Part,
    /// What a person should know about how the file was understood, a sentence each.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Part {
        let mut part = Part::new(2);
        part.push(&[1.0, 2.0], Some(0), Some(5));
        part.push(&[3.0, 4.0, 5.0, 6.0], Some(1), Some(6));
        part.push(&[7.0, 8.0], Some(0), Some(7));
        part
    }

    #[test]
    fn select_copies_all_that_belongs_to_a_sequence() {
        let mut part = three();
        part.filled = vec![1, 4, 7];
        part.weights = vec![0.5, 1.0, 2.0];
        part.numbers = vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        part.step_numbers = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        part.indicators = vec![1, 0, 0, 1, 1, 1];
        part.names = ["one", "two", "three"].map(String::from).into();
        let chosen = part.select(&[2, 1]);
        assert_eq!(chosen.names, ["three", "two"]);
        assert_eq!(chosen.indicators, [1, 1, 0, 1]);
        assert_eq!(chosen.step_numbers, [7.0, 8.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(
            (&chosen.numbers[..], chosen.targets()),
            (&[3.0, 30.0, 2.0, 20.0][..], 2)
        );
        assert_eq!(
            (&chosen.offsets[..], &chosen.labels[..], &chosen.groups[..]),
            (&[0, 1, 3][..], &[0, 1][..], &[7, 6][..])
        );
        assert_eq!(chosen.values.numbers(), [7.0, 8.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(
            (&chosen.filled[..], &chosen.weights[..]),
            (&[1, 4][..], &[2.0, 1.0][..])
        );
        assert_eq!(part.select(&[0, 1, 2]), part);
        let mut tokens = Part::of_tokens(vec![1, 2, 3], vec![0, 2, 3], vec![]);
        tokens.step_labels = vec![4, 5, 6];
        let last = tokens.select(&[1]);
        assert_eq!((last.values.tokens(), &last.step_labels[..]), (&[3][..], &[6][..]));
        let images = Images {
            bytes: vec![1, 2, 3, 4],
            pixels: 2,
            colors: 1,
            row: 1,
            ..Images::default()
        };
        let Values::Images(last) = Part::of_images(images, vec![0, 1]).select(&[1]).values else {
            panic!("pictures stay pictures");
        };
        assert_eq!(last.bytes, [3, 4]);
    }

    #[test]
    fn the_rarest_label_is_dealt_out() {
        let mut part = three();
        assert_eq!(part.strata(), part.labels);
        part.labels.clear();
        part.indicators = vec![1, 0, 1, 1, 0, 0];
        assert_eq!(part.strata(), [1, 2, 0]);
    }

    #[test]
    fn sizes() {
        assert_eq!((three().len(), three().longest(), three().steps()), (3, 2, 4));
        assert!(Part::default().is_empty() && Part::new(3).is_empty());
        assert_eq!(Part::default().steps(), 0);
        assert_eq!(three().sequence(1), [3.0, 4.0, 5.0, 6.0]);
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
