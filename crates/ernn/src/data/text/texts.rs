//! Texts that have a class, as tokens.

use super::vocabulary::{Seen, UNKNOWN};
use super::words::words_of;
use crate::data::Part;

/// The vocabulary of classified texts if nothing else is said, that of Yelp-5.
pub(super) const VOCABULARY: usize = 20_000;

/// Sequences of tokens with labels, still as they are read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Texts {
    pub tokens: Vec<u32>,
    /// Where each text ends.
    ends: Vec<usize>,
    pub labels: Vec<u32>,
}

impl Texts {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends the first `words` words of a text; one without any word becomes a single `<unk>`, as a sequence has at least a step.
    pub fn push(&mut self, text: &str, words: usize, seen: &mut Seen, label: u32) {
        let start = self.tokens.len();
        words_of(text, |word| {
            self.tokens.push(seen.number(word));
            self.tokens.len() < start + words
        });
        if self.tokens.len() == start {
            self.tokens.push(seen.number(UNKNOWN));
        }
        self.ends.push(self.tokens.len());
        self.labels.push(label);
    }

    /// Appends other texts.
    pub fn append(&mut self, mut other: Texts) {
        let start = self.tokens.len();
        self.tokens.append(&mut other.tokens);
        self.ends.extend(other.ends.iter().map(|end| end + start));
        self.labels.append(&mut other.labels);
    }

    /// Moves the texts that `taken` names by their numbers into a set of their own. The others move up in place, so that
    /// they are never in memory twice.
    pub fn take_out(&mut self, taken: impl Fn(usize) -> bool) -> Texts {
        let mut out = Texts::default();
        let (mut start, mut kept, mut kept_tokens) = (0, 0, 0);
        for text in 0..self.len() {
            let (end, label) = (self.ends[text], self.labels[text]);
            if taken(text) {
                out.tokens.extend_from_slice(&self.tokens[start..end]);
                out.ends.push(out.tokens.len());
                out.labels.push(label);
            } else {
                self.tokens.copy_within(start..end, kept_tokens);
                kept_tokens += end - start;
                self.ends[kept] = kept_tokens;
                self.labels[kept] = label;
                kept += 1;
            }
            start = end;
        }
        self.tokens.truncate(kept_tokens);
        self.ends.truncate(kept);
        self.labels.truncate(kept);
        out
    }

    /// The part, with the tokens' indices in the vocabulary that [`Seen::select`] gave; it had an `<unk>`.
    pub fn into_part(mut self, index: &[Option<u32>]) -> Part {
        for token in &mut self.tokens {
            *token = index[*token as usize].unwrap_or_default();
        }
        self.tokens.shrink_to_fit();
        let mut offsets = self.ends;
        offsets.insert(0, 0);
        Part::of_tokens(self.tokens, offsets, self.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> (Texts, Seen) {
        let (mut texts, mut seen) = (Texts::default(), Seen::default());
        for (text, label) in [("Good food, good", 4), ("...", 2), ("bad food indeed", 0)] {
            texts.push(text, 2, &mut seen, label);
        }
        (texts, seen)
    }

    #[test]
    fn texts_are_cut_and_none_is_empty() {
        let (texts, seen) = three();
        assert_eq!(texts.tokens, [0, 1, 2, 3, 1]);
        assert_eq!(texts.ends, [2, 3, 5]);
        let (vocabulary, index) = seen.select(&texts.tokens, 9, true);
        assert_eq!(vocabulary, [UNKNOWN, "food", "good", "bad"]);
        let part = texts.into_part(&index);
        assert_eq!((part.offsets, part.labels), (vec![0, 2, 3, 5], vec![4, 2, 0]));
    }

    #[test]
    fn taking_out_and_appending_keep_each_text_whole() {
        let (mut texts, _) = three();
        let out = texts.take_out(|text| text == 1);
        assert_eq!(
            (&texts.tokens[..], &texts.ends[..], &texts.labels[..]),
            (&[0, 1, 3, 1][..], &[2, 4][..], &[4, 0][..])
        );
        assert_eq!(
            (&out.tokens[..], &out.ends[..], &out.labels[..]),
            (&[2][..], &[1][..], &[2][..])
        );
        texts.append(out);
        assert_eq!(
            (&texts.tokens[..], &texts.ends[..], &texts.labels[..]),
            (&[0, 1, 3, 1, 2][..], &[2, 4, 5][..], &[4, 0, 2][..])
        );
    }
}
