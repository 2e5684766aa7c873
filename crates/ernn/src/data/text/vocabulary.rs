//! Tokens and their numbers.
//!
//! ```text
//! while reading   Seen: every distinct token gets the next number, in order of first appearance
//! afterwards      Vocabulary: <unk>, then the most frequent tokens of the training part, the more frequent first,
//!                 ties in order of first appearance; the numbers read so far are translated in place
//! ```
//!
//! So a text is read once, and only its tokens are kept. Counts come from the training part alone.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::words::words_of;
use crate::{Error, Result};

/// Stands for every token outside the vocabulary.
pub const UNKNOWN: &str = "<unk>";
/// Stands for the end of a line.
pub const END_OF_LINE: &str = "<eos>";

/// The distinct tokens of a text so far.
#[derive(Default)]
pub(super) struct Seen {
    numbers: HashMap<Box<str>, u32>,
}

impl Seen {
    /// The number of a token, the next one if it is new.
    pub fn number(&mut self, token: &str) -> u32 {
        if let Some(&number) = self.numbers.get(token) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(token.into(), number);
        number
    }

    /// Distinct tokens so far.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The `size` most frequent tokens of `train`, `<unk>` among them if `unknown` says so, and for each number seen its
    /// index there: a token that is left out becomes `<unk>`, or `None` without one.
    pub fn select(self, train: &[u32], size: usize, unknown: bool) -> (Vec<String>, Vec<Option<u32>>) {
        let mut counts = vec![0u64; self.len()];
        train.iter().for_each(|&number| counts[number as usize] += 1);
        let mut texts = vec![String::new(); self.len()];
        for (text, number) in self.numbers {
            texts[number as usize] = text.into_string();
        }
        let is_unknown = |number: u32| unknown && texts[number as usize] == UNKNOWN;
        let mut order: Vec<u32> = (0..texts.len() as u32)
            .filter(|&number| counts[number as usize] > 0 && !is_unknown(number))
            .collect();
        order.sort_by_key(|&number| (Reverse(counts[number as usize]), number));
        order.truncate(size.saturating_sub(usize::from(unknown)));

        let mut index = vec![unknown.then_some(0); texts.len()];
        let mut vocabulary = if unknown { vec![UNKNOWN.to_owned()] } else { Vec::new() };
        for number in order {
            index[number as usize] = Some(vocabulary.len() as u32);
            vocabulary.push(std::mem::take(&mut texts[number as usize]));
        }
        (vocabulary, index)
    }

    /// For each number seen the index in a vocabulary that is given, that of a model; a token outside becomes its `<unk>`.
    ///
    /// # Errors
    /// The first token outside, if the vocabulary has no `<unk>`.
    pub fn find_in(self, vocabulary: &[String]) -> std::result::Result<Vec<Option<u32>>, String> {
        let vocabulary = Vocabulary::new(vocabulary.to_vec());
        let mut index = vec![None; self.len()];
        let mut outside: Option<(u32, Box<str>)> = None;
        for (text, number) in self.numbers {
            let found = vocabulary.index(&text);
            index[number as usize] = found;
            if found.is_none() && outside.as_ref().is_none_or(|(first, _)| number < *first) {
                outside = Some((number, text));
            }
        }
        outside.map_or(Ok(index), |(_, text)| Err(text.into_string()))
    }

    /// The vocabulary that a data set is read with and for each number seen its index there: that of a model if the options
    /// name one, see [`find_in`](Seen::find_in), else one of its own, see [`select`](Seen::select).
    pub fn vocabulary(
        self,
        name: &str,
        of_model: Option<&Vec<String>>,
        own: (&[u32], usize, bool),
    ) -> Result<(Vec<String>, Vec<Option<u32>>)> {
        let Some(vocabulary) = of_model else {
            let (train, size, unknown) = own;
            return Ok(self.select(train, size, unknown));
        };
        let index = self.find_in(vocabulary).map_err(|token| {
            let tokens = vocabulary.len();
            Error::data(
                name,
                format!("found the token {token:?}, expected one of the {tokens} of the model, whose vocabulary has no {UNKNOWN}"),
            )
        })?;
        Ok((vocabulary.clone(), index))
    }
}

/// Text to index and back, for text that comes after training.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    texts: Vec<String>,
    indices: HashMap<String, u32>,
}

impl Vocabulary {
    /// The tokens of [`Dataset::vocabulary`](crate::data::Dataset::vocabulary), in its order.
    pub fn new(texts: Vec<String>) -> Vocabulary {
        let indices = texts.iter().cloned().zip(0..).collect();
        Vocabulary { texts, indices }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Has no token.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The index of a token, that of `<unk>` for one outside; `None` if there is no `<unk>` either.
    pub fn index(&self, token: &str) -> Option<u32> {
        self.indices.get(token).or_else(|| self.indices.get(UNKNOWN)).copied()
    }

    /// The first `most` words of a raw text, as texts to classify are read; one without any word is a single `<unk>`.
    pub fn words(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = Vec::new();
        words_of(text, |word| {
            tokens.extend(self.index(word));
            tokens.len() < most
        });
        if tokens.is_empty() {
            tokens.extend(self.index(UNKNOWN));
        }
        tokens
    }

    /// The token of an index; `None` beyond the last.
    pub fn text(&self, index: u32) -> Option<&str> {
        self.texts.get(index as usize).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(seen: &mut Seen, text: &str) -> Vec<u32> {
        text.split(' ').map(|token| seen.number(token)).collect()
    }

    #[test]
    fn the_most_frequent_come_first_and_ties_in_order_of_appearance() {
        let mut seen = Seen::default();
        let train = read(&mut seen, "c b a b d a e");
        let (vocabulary, index) = seen.select(&train, 4, true);
        assert_eq!(vocabulary, [UNKNOWN, "b", "a", "c"]);
        let unknown = Some(0);
        assert_eq!(index, [Some(3), Some(1), Some(2), unknown, unknown]);
    }

    #[test]
    fn only_the_training_part_counts() {
        let mut seen = Seen::default();
        let train = read(&mut seen, "a b b");
        read(&mut seen, "z z z a");
        let (vocabulary, index) = seen.select(&train, 10, true);
        assert_eq!(vocabulary, [UNKNOWN, "b", "a"]);
        assert_eq!(index[2], Some(0));
    }

    #[test]
    fn an_unknown_token_of_the_text_itself_is_the_same_one() {
        let mut seen = Seen::default();
        let train = read(&mut seen, "a <unk> <unk> b a a");
        let (vocabulary, index) = seen.select(&train, 3, true);
        assert_eq!(vocabulary, [UNKNOWN, "a", "b"]);
        assert_eq!(index, [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn without_an_unknown_token_what_is_left_out_has_no_index() {
        let mut seen = Seen::default();
        let train = read(&mut seen, "a b a");
        assert_eq!(
            seen.select(&train, 1, false),
            (vec!["a".to_owned()], vec![Some(0), None])
        );
    }

    #[test]
    fn tokens_are_found_in_the_vocabulary_of_a_model() {
        let vocabulary = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let mut seen = Seen::default();
        read(&mut seen, "b soup a");
        let index = seen.find_in(&vocabulary("a <unk> c b")).unwrap();
        assert_eq!(index, [Some(3), Some(1), Some(0)]);
        let mut seen = Seen::default();
        read(&mut seen, "b y x a");
        assert_eq!(seen.find_in(&vocabulary("a b")), Err("y".to_owned()));
    }

    #[test]
    fn a_vocabulary_goes_both_ways() {
        let vocabulary = Vocabulary::new(["<unk>", "good", "food"].map(String::from).to_vec());
        assert_eq!(vocabulary.index("food"), Some(2));
        assert_eq!(vocabulary.index("soup"), Some(0));
        assert_eq!(vocabulary.words("GOOD, good soup: food!", 3), [1, 1, 0]);
        assert_eq!(vocabulary.words(" ... ", 3), [0]);
        assert_eq!((vocabulary.text(1), vocabulary.text(3)), (Some("good"), None));
        assert_eq!(Vocabulary::new(vec!["a".into()]).index("b"), None);
    }
}
