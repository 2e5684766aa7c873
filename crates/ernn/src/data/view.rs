//! Sequences as training and evaluation see them: chosen, in an order of their own, normalized; nothing is copied.
//!
//! A [`View`] borrows one or more parts and is the only way in which batches read them. Channels are derived, numbers normalized, pixels
//! and noise made, where they are read.

use std::collections::BTreeSet;

use super::augment::{Augmenter, Draw};
use super::normalize::Reader;
use super::{Derivation, Deriver, Normalization, Part, TargetScale, Values};
use crate::{Error, Result};

/// Chosen sequences of one or more parts.
#[derive(Clone, Debug)]
pub struct View<'a> {
    parts: Vec<&'a Part>,
    /// (part, sequence)
    members: Vec<(u32, u32)>,
    /// Of a text: the tokens that are seen; else all steps.
    tokens: Option<(usize, usize)>,
    /// What makes further channels of those of the data.
    deriver: Option<Deriver>,
    reader: Reader,
    /// The scale on which numbers to predict are given, one a target; empty: as they are.
    scales: Vec<TargetScale>,
    /// What training changes about them.
    augmenter: Option<Augmenter>,
}

impl<'a> View<'a> {
    /// All sequences of a part, as they are.
    pub fn of(part: &'a Part) -> Self {
        Self::of_all([part])
    }

    /// All sequences of several parts, one part after the other.
    ///
    /// # Panics
    /// If their steps are not alike.
    pub fn of_all(parts: impl IntoIterator<Item = &'a Part>) -> Self {
        let parts: Vec<&Part> = parts.into_iter().collect();
        let alike = |pair: &[&Part]| pair[0].features == pair[1].features;
        assert!(parts.windows(2).all(alike), "parts of the same features");
        let members = (0..).zip(&parts).flat_map(|(part, sequences)| {
            let count = u32::try_from(sequences.len()).expect("fewer than 2^32 sequences");
            (0..count).map(move |sequence| (part, sequence))
        });
        View {
            members: members.collect(),
            tokens: None,
            deriver: None,
            reader: Reader::plain(parts.first().copied()),
            scales: Vec::new(),
            augmenter: None,
            parts,
        }
    }

    /// These sequences of a part, in this order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn chosen(part: &'a Part, indices: &[usize]) -> Self {
        let all = Self::of(part);
        View {
            members: indices.iter().map(|&index| all.members[index]).collect(),
            ..all
        }
    }

    /// These of the tokens of a part that is one text.
    ///
    /// # Panics
    /// If the part is not one sequence of tokens, or has fewer.
    pub fn of_text(part: &'a Part, tokens: std::ops::Range<usize>) -> Self {
        assert!(
            part.values.are_tokens() && part.len() == 1 && tokens.end <= part.steps(),
            "tokens of one text"
        );
        View {
            tokens: Some((tokens.start, tokens.end)),
            ..Self::of(part)
        }
    }

    /// The groups of its sequences, each once, ascending; empty where the data names none.
    pub fn groups(&self) -> Vec<u32> {
        let group = |&(part, sequence): &(u32, u32)| self.parts[part as usize].groups.get(sequence as usize).copied();
        let groups: BTreeSet<u32> = self.members.iter().filter_map(group).collect();
        groups.into_iter().collect()
    }

    /// The first sequences alone.
    pub fn truncate(&mut self, count: usize) {
        self.members.truncate(count);
    }

    /// These of the sequences alone, in this order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn choose(&mut self, indices: &[usize]) {
        self.members = indices.iter().map(|&index| self.members[index]).collect();
    }

    /// The same sequences with the channels that a model derives behind their own. Comes before [`View::normalized`].
    ///
    /// # Errors
    /// If the sequences are not numbers, or have other channels.
    pub fn derived(mut self, derivation: &Derivation) -> Result<Self> {
        if !derivation.is_none() {
            derivation.check(self.first_part())?;
            self.deriver = Some(derivation.ready(self.channels()));
        }
        Ok(self)
    }

    /// The same sequences, normalized where they are read.
    ///
    /// # Errors
    /// If the features do not fit, or a value is not finite before or after.
    pub fn normalized(mut self, normalization: &Normalization) -> Result<Self> {
        self.reader = Reader::new(self.parts.first().copied(), self.features(), normalization)?;
        let numbers = |part: &Part| matches!(part.values, Values::Numbers(_));
        if self.first_part().is_some_and(numbers) {
            let mut room = Vec::new();
            for index in 0..self.len() {
                normalization.check(self.unnormalized(index, &mut room), self.channels(), index)?;
            }
        }
        Ok(self)
    }

    /// The same sequences, whose numbers to predict are given on these scales, one a target; without any as they are.
    pub fn scaled(mut self, scales: &[TargetScale]) -> Self {
        self.scales = scales.to_vec();
        self
    }

    /// The same sequences, changed where they are read for training, by [`View::read_drawn`] alone.
    pub fn augmented(mut self, augmenter: Option<Augmenter>) -> Self {
        self.augmenter = augmenter;
        self
    }

    /// Whether training changes them.
    pub fn is_augmented(&self) -> bool {
        self.augmenter.is_some()
    }

    /// The numbers of a sequence with all derived channels, in `room` if there are any.
    fn unnormalized<'r>(&self, index: usize, room: &'r mut Vec<f32>) -> &'r [f32]
    where
        'a: 'r,
    {
        let stored = self.numbers(index);
        match &self.deriver {
            None => stored,
            Some(deriver) => {
                room.resize(self.length(index) * deriver.features(), 0.0);
                deriver.sequence(stored, room);
                room
            }
        }
    }

    /// Why a sequence cannot be normalized, with its place; none if it can.
    pub fn refusal(&self, index: usize, normalization: &Normalization) -> Option<Error> {
        let (part, _) = self.member(index);
        if !matches!(part.values, Values::Numbers(_)) {
            return None;
        }
        let mut room = Vec::new();
        let values = self.unnormalized(index, &mut room);
        normalization.check(values, self.channels(), index).err()
    }

    fn member(&self, index: usize) -> (&'a Part, usize) {
        let (part, sequence) = self.members[index];
        (self.parts[part as usize], sequence as usize)
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Holds no sequence.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Values a step with those that are derived; 1 for tokens.
    pub fn features(&self) -> usize {
        self.deriver.as_ref().map_or(self.channels(), Deriver::features)
    }

    /// Values a step of the data itself; 1 for tokens.
    pub fn channels(&self) -> usize {
        self.parts.first().map_or(0, |part| part.features)
    }

    /// Whether the sequences are tokens.
    pub fn is_tokens(&self) -> bool {
        self.parts.first().is_some_and(|part| part.values.are_tokens())
    }

    /// Steps of a sequence.
    pub fn length(&self, index: usize) -> usize {
        let (part, sequence) = self.member(index);
        self.tokens
            .map_or_else(|| part.length(sequence), |(start, end)| end - start)
    }

    /// Steps of the longest sequence; 0 for none.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|index| self.length(index)).max().unwrap_or(0)
    }

    /// Steps of all sequences together.
    pub fn steps(&self) -> usize {
        (0..self.len()).map(|index| self.length(index)).sum()
    }

    /// The class of a sequence; none if it has no label.
    pub fn label(&self, index: usize) -> Option<u32> {
        let (part, sequence) = self.member(index);
        part.labels.get(sequence).copied()
    }

    /// The classes of all sequences; as many as have one.
    pub fn labels(&self) -> Vec<u32> {
        (0..self.len()).filter_map(|index| self.label(index)).collect()
    }

    /// How much a sequence counts in the training loss; none if all count the same.
    pub fn weight(&self, index: usize) -> Option<f32> {
        let (part, sequence) = self.member(index);
        part.weights.get(sequence).copied()
    }

    /// Which labels a sequence has, one entry a label; empty if there are none.
    pub fn indicators(&self, index: usize) -> &'a [u8] {
        let (part, sequence) = self.member(index);
        part.indicators_of(sequence)
    }

    /// The numbers to predict of a sequence, one a target; nothing if there are none.
    pub fn numbers_of(&self, index: usize) -> impl Iterator<Item = f32> {
        let (part, sequence) = self.member(index);
        self.on_scale(part.numbers_of(sequence), part.targets())
    }

    /// The numbers to predict of the steps of a sequence, `[length, targets]`, NaN for a step without any; nothing if steps have none.
    pub fn step_numbers(&self, index: usize) -> impl Iterator<Item = f32> {
        let (part, sequence) = self.member(index);
        self.on_scale(part.step_numbers_of(sequence), part.targets())
    }

    /// Numbers `[.., targets]` on the scales of their targets.
    fn on_scale(&self, numbers: &'a [f32], targets: usize) -> impl Iterator<Item = f32> {
        let numbers = numbers.iter().enumerate();
        numbers.map(move |(place, &number)| match self.scales.get(place % targets.max(1)) {
            Some(scale) => scale.scaled(number),
            None => number,
        })
    }

    /// Numbers to predict of each sequence, or of each step; 0 where there are none.
    pub fn targets(&self) -> usize {
        match self.is_empty() {
            true => 0,
            false => self.member(0).0.targets(),
        }
    }

    /// Steps that have numbers to predict.
    pub fn steps_with_numbers(&self) -> usize {
        let known = (0..self.len()).flat_map(|index| self.step_numbers(index));
        known.filter(|number| !number.is_nan()).count() / self.targets().max(1)
    }

    /// The class of each step of a sequence; empty if steps have none.
    pub fn step_labels(&self, index: usize) -> &'a [u32] {
        let (part, sequence) = self.member(index);
        if part.step_labels.is_empty() {
            return &[];
        }
        &part.step_labels[part.offsets[sequence]..part.offsets[sequence + 1]]
    }

    /// Whether a sequence, a window of a recording, goes on where the one before it in the view ends.
    pub fn follows(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else {
            return false;
        };
        let ((part, sequence), last) = (self.members[index], self.members[before]);
        last == (part, sequence.wrapping_sub(1))
            && self.parts[part as usize].follows.get(sequence as usize) == Some(&true)
    }

    /// The tokens of a sequence; empty if it is of something else.
    pub fn tokens(&self, index: usize) -> &'a [u32] {
        let (part, sequence) = self.member(index);
        match &part.values {
            Values::Tokens(tokens) => {
                let all = &tokens[part.offsets[sequence]..part.offsets[sequence + 1]];
                self.tokens.map_or(all, |(start, end)| &all[start..end])
            }
            _ => &[],
        }
    }

    /// The numbers of a sequence as they are stored, `[length, channels]`; empty if it is of something else.
    pub fn numbers(&self, index: usize) -> &'a [f32] {
        let (part, sequence) = self.member(index);
        match &part.values {
            Values::Numbers(_) => part.sequence(sequence),
            _ => &[],
        }
    }

    /// Where values of a sequence were missing and have been filled, as positions in `[length, channels]`.
    pub fn filled(&self, index: usize) -> impl Iterator<Item = usize> {
        let (part, sequence) = self.member(index);
        let [from, end] = [part.offsets[sequence], part.offsets[sequence + 1]].map(|step| step * part.features);
        let first = part.filled.partition_point(|&position| position < from);
        let own = part.filled[first..].iter().take_while(move |&&position| position < end);
        own.map(move |position| position - from)
    }

    /// Writes the values of a sequence, `[length, features]`, derived and normalized from these numbers `[length, channels]`: those of
    /// [`View::numbers`], or what an augmentation has made of them.
    ///
    /// # Panics
    /// If `out` has another size.
    pub fn read_from(&self, numbers: &[f32], out: &mut [f32]) {
        match &self.deriver {
            None => self.reader.numbers(numbers, out),
            Some(deriver) => {
                assert_eq!(
                    numbers.len() * self.features(),
                    out.len() * self.channels(),
                    "room for a sequence"
                );
                deriver.sequence(numbers, out);
                self.reader.in_place(out);
            }
        }
    }

    /// Writes the normalized values of a sequence, `[length, features]`.
    ///
    /// # Panics
    /// If `out` has another size, or the sequences are tokens.
    pub fn read(&self, index: usize, out: &mut [f32]) {
        let (part, sequence) = self.member(index);
        assert_eq!(
            out.len(),
            part.length(sequence) * self.features(),
            "room for a sequence"
        );
        match &part.values {
            Values::Numbers(_) => self.read_from(part.sequence(sequence), out),
            Values::Images(images) => images.read(sequence, self.reader.tables(), out),
            Values::Tokens(_) => panic!("tokens are not numbers"),
        }
    }

    /// Writes the normalized values of a sequence, `[length, features]`, as training sees them in an epoch.
    ///
    /// # Panics
    /// As [`View::read`].
    pub fn read_drawn(&self, index: usize, seed: u64, epoch: usize, out: &mut [f32]) {
        let Some(augmenter) = &self.augmenter else {
            return self.read(index, out);
        };
        let draw = Draw {
            seed,
            epoch: epoch as u64,
            sequence: index as u64,
        };
        if augmenter.changes_numbers() {
            let mut numbers = Vec::with_capacity(self.numbers(index).len());
            augmenter.numbers(draw, self.numbers(index), &mut numbers);
            self.read_from(&numbers, out);
        } else {
            self.read(index, out);
        }
        let by_channel = self.deriver.as_ref().map_or(self.channels(), Deriver::by_channel);
        augmenter.mask(draw, [self.features(), by_channel], out);
    }

    /// Gives each sequence's numbers before they are normalized, with the positions among its stored ones that were filled in.
    pub(super) fn each_unnormalized(&self, mut take: impl FnMut(&[f32], &mut dyn Iterator<Item = usize>)) {
        let mut room = Vec::new();
        for index in 0..self.len() {
            let (part, sequence) = self.member(index);
            let [start, end] = [0, 1].map(|next| part.offsets[sequence + next] * part.features);
            let first = part.filled.partition_point(|&position| position < start);
            let filled = part.filled[first..].iter().take_while(|&&position| position < end);
            take(
                self.unnormalized(index, &mut room),
                &mut filled.map(|&position| position - start),
            );
        }
    }

    /// Each sequence's picture, for parts of pictures.
    pub(super) fn pictures(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(|index| {
            let (part, sequence) = self.member(index);
            match &part.values {
                Values::Images(images) => Some(images.picture(sequence)),
                _ => None,
            }
        })
    }

    /// The part that says what all sequences are like.
    pub(super) fn first_part(&self) -> Option<&'a Part> {
        self.parts.first().copied()
    }
}

impl<'a> From<&'a Part> for View<'a> {
    fn from(part: &'a Part) -> Self {
        View::of(part)
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::Images;
    use super::*;

    fn numbers() -> Part {
        let mut part = Part::new(2);
        part.push(&[1.0, 2.0], Some(0), Some(5));
        part.push(&[3.0, 4.0, 5.0, 6.0], Some(1), Some(6));
        part.push(&[7.0, 8.0], Some(0), Some(7));
        part.filled = vec![1, 4, 7];
        part
    }

    fn read(view: &View, index: usize) -> Vec<f32> {
        let mut out = vec![0.0; view.length(index) * view.features()];
        view.read(index, &mut out);
        out
    }

    #[test]
    fn chosen_sequences_keep_values_labels_and_filled_positions() {
        let part = numbers();
        let view = View::chosen(&part, &[2, 1]);
        assert_eq!((view.len(), view.longest(), view.steps()), (2, 2, 3));
        assert_eq!((read(&view, 0), view.labels()), (vec![7.0, 8.0], vec![0, 1]));
        let mut filled: Vec<Vec<usize>> = Vec::new();
        view.each_unnormalized(|_, positions| filled.push(positions.collect()));
        assert_eq!(filled, [vec![1], vec![2]]);
    }

    #[test]
    fn several_parts_follow_each_other() {
        let (first, second) = (numbers(), numbers());
        let view = View::of_all([&first, &second]);
        assert_eq!((view.len(), view.steps()), (6, 8));
        assert_eq!(read(&view, 4), [3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn values_are_normalized_where_they_are_read() {
        let part = numbers();
        let normalization = Normalization {
            mean: vec![1.0, 2.0],
            scale: vec![2.0, 0.5],
        };
        let view = View::of(&part).normalized(&normalization).unwrap();
        assert_eq!(read(&view, 1), [4.0, 1.0, 8.0, 2.0]);
    }

    #[test]
    fn pictures_are_normalized_by_color() {
        let images = Images {
            bytes: vec![0, 255, 51, 0, 102, 0, 153, 0],
            pixels: 2,
            colors: 2,
            row: 2,
            ..Images::default()
        };
        let part = Part::of_images(images, vec![0, 1]);
        let view = View::of(&part);
        let normalization = Normalization::fit(&view).unwrap();
        let close = |found: f32, expected: f32| (found - expected).abs() < 1e-6;
        assert!(close(normalization.mean[0], 0.3) && close(normalization.mean[2], 0.3));
        assert!(close(normalization.mean[1], 0.25) && close(normalization.mean[3], 0.25));
        let values = read(&view.normalized(&normalization).unwrap(), 1);
        let deviation = (0.05f32).sqrt();
        assert!(close(values[0], (0.4 - 0.3) / deviation) && close(values[2], (0.6 - 0.3) / deviation));
    }

    #[test]
    fn tokens_are_given_as_they_are() {
        let part = Part::of_tokens(vec![5, 6, 7, 8], vec![0, 1, 4], vec![]);
        let view = View::of(&part);
        assert_eq!(
            (view.tokens(1), view.label(0), view.features()),
            (&[6, 7, 8][..], None, 1)
        );
    }
    #[test]
    fn a_text_is_seen_in_pieces() {
        let part = Part::of_tokens(vec![5, 6, 7, 8], vec![0, 4], vec![]);
        let view = View::of_text(&part, 1..3);
        assert_eq!(
            (view.tokens(0), view.len(), view.length(0), view.steps()),
            (&[6, 7][..], 1, 2, 2)
        );
    }
}
