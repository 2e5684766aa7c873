//! A text goes on: tokens drawn from what a model of running text expects next, each given back to it as a step.
//!
//! ```text
//! logits z of the next token, <unk> left out, of the rest the K greatest
//! temperature T > 0   drawn with probability exp(z_i / T) / sum_j exp(z_j / T)
//! temperature 0       the greatest, the first of equals
//! ```
//!
//! The state goes from step to step, so that N tokens take N steps. The number that draws token n depends on seed and n alone.

use rand::Rng;

use super::{Stream, unusable};
use crate::checkpoint::SavedModel;
use crate::data::random::stream;
use crate::data::{Task, UNKNOWN};
use crate::{Error, Result};

const PURPOSE: &[u8; 8] = b"generate";

/// How the next token is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Below 1 likely tokens become likelier; 0 takes the likeliest.
    pub temperature: f64,
    /// How many of the likeliest tokens are drawn from; none: all.
    pub top_k: Option<usize>,
    /// What the draws come from.
    pub seed: u64,
}

impl Default for Sampling {
    /// The model's own probabilities.
    fn default() -> Self {
        Sampling {
            temperature: 1.0,
            top_k: None,
            seed: 1,
        }
    }
}

impl Sampling {
    fn check(&self) -> Result<()> {
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return Err(Error::setting("temperature", self.temperature, "a number, 0 or more"));
        }
        if self.top_k == Some(0) {
            return Err(Error::setting("top-k", 0, "at least 1"));
        }
        Ok(())
    }
}

/// A token that the model went on with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextToken {
    /// Its place in the model's vocabulary.
    pub token: u32,
    /// What the model gave it, among all tokens and whatever the temperature.
    pub probability: f64,
}

/// A model of running text that writes. Memory does not grow with the text.
#[derive(Clone, Debug)]
pub struct Generator<'a> {
    stream: Stream<'a>,
    sampling: Sampling,
    /// `<unk>`, which says nothing. A model has another token, having at least two.
    left_out: Option<usize>,
    /// Tokens drawn so far.
    drawn: u64,
    /// The token drawn last, which the model has not read yet.
    waiting: Option<u32>,
}

impl<'a> Generator<'a> {
    /// A text at its beginning.
    ///
    /// # Errors
    /// If the model was not trained on running text, reads from both ends, or the sampling is out of range.
    pub fn new(saved: &'a SavedModel, sampling: Sampling) -> Result<Self> {
        sampling.check()?;
        if saved.model.config().task != Task::NextToken {
            let problem = "found one that does not give the next token, expected one that was trained on running text";
            return Err(Error::data("the model", problem));
        }
        let unknown = saved.vocabulary.iter().position(|token| token == UNKNOWN);
        Ok(Generator {
            stream: Stream::new(saved)?,
            sampling,
            left_out: unknown,
            drawn: 0,
            waiting: None,
        })
    }

    /// The text so far goes on with these tokens.
    ///
    /// # Errors
    /// As [`Stream::push_token`].
    pub fn read(&mut self, tokens: &[u32]) -> Result<()> {
        let waiting = self.waiting.take();
        waiting
            .iter()
            .chain(tokens)
            .try_for_each(|&token| self.stream.push_token(token))
    }

    /// Goes on with a token of the model's own.
    ///
    /// # Errors
    /// Before the first token, or if what the model makes of the text is not finite.
    pub fn write(&mut self) -> Result<NextToken> {
        self.read(&[])?;
        let Some(prediction) = self.stream.prediction() else {
            return Err(unusable(
                "found no token, expected at least one to go on from".to_string(),
            ));
        };
        let place = stream(PURPOSE, self.sampling.seed, self.drawn).next_u64();
        let token = self.drawn_from(self.stream.logits(), place);
        self.drawn += 1;
        self.waiting = Some(token as u32);
        Ok(NextToken {
            token: token as u32,
            probability: prediction.probabilities[token],
        })
    }

    /// The token that 64 random bits choose.
    fn drawn_from(&self, logits: &[f32], bits: u64) -> usize {
        let mut tokens: Vec<usize> = (0..logits.len())
            .filter(|&token| Some(token) != self.left_out)
            .collect();
        let greatest_first = |a: &usize, b: &usize| logits[*b].total_cmp(&logits[*a]).then(a.cmp(b));
        if let Some(most) = self.sampling.top_k.filter(|&most| most < tokens.len()) {
            tokens.select_nth_unstable_by(most - 1, greatest_first);
            tokens.truncate(most);
            tokens.sort_unstable();
        }
        let best = tokens.iter().copied().min_by(greatest_first);
        let best = best.expect("a model of at least two tokens");
        if self.sampling.temperature == 0.0 {
            return best;
        }
        let weight = |&token: &usize| {
            let below = f64::from(logits[token]) - f64::from(logits[best]);
            (below / self.sampling.temperature).exp()
        };
        let sum: f64 = tokens.iter().map(weight).sum();
        // Uniform in [0, 1).
        let mut left = (bits >> 11) as f64 * 2f64.powi(-53) * sum;
        for token in &tokens {
            left -= weight(token);
            if left < 0.0 {
                return *token;
            }
        }
        best
    }
}

#[cfg(test)]
#[path = "generate_tests.rs"]
mod tests;
