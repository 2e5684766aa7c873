//! Sequences that an export is tried on: of data, or drawn.

use crate::checkpoint::SavedModel;
use crate::data::View;
use crate::data::random::Normals;
use crate::{Error, Result};

/// Sequences with raw values.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Each sequence: numbers `[length, features]`, or tokens as numbers.
    pub sequences: Vec<Vec<f32>>,
    /// Numbers of a step.
    pub features: usize,
    /// The class of each sequence, where it is known.
    pub labels: Vec<u32>,
    /// Which labels each sequence has, where several can hold and it is known.
    pub indicators: Vec<Vec<u8>>,
    /// The numbers to predict of each sequence, one after the other, where they are known.
    pub numbers: Vec<f32>,
    /// Whether they are data, and not drawn.
    pub real: bool,
    /// The first so many sequences give the ranges of whole numbers.
    pub ranged: usize,
}

/// Drawn sequences.
const DRAWN: usize = 16;
/// Steps of each.
const STEPS: usize = 64;
/// Seed of what is drawn.
const SEED: u64 = 6;

impl Samples {
    /// At most `count` sequences, spread evenly over those of a view, raw.
    ///
    /// # Errors
    /// If there is none, or it has other features than the model.
    pub fn of(saved: &SavedModel, view: &View, count: usize) -> Result<Self> {
        let problem = |problem: String| Error::data("the sequences", problem);
        let (features, expected) = (view.channels(), saved.channels());
        if view.is_tokens() != saved.model.config().embedding.is_some() || features != expected {
            return Err(problem(format!(
                "found {features} values a step, expected {expected}, as the model reads"
            )));
        }
        if view.steps() == 0 {
            return Err(problem("found no step, expected sequences".to_string()));
        }
        let count = count.min(view.len());
        let chosen = (0..count).map(|place| place * view.len() / count);
        let chosen: Vec<usize> = chosen.filter(|&index| view.length(index) > 0).collect();
        let sequences: Vec<_> = chosen.iter().map(|&index| raw(view, index)).collect();
        let labels: Vec<u32> = chosen.iter().filter_map(|&index| view.label(index)).collect();
        Ok(Samples {
            ranged: sequences.len(),
            sequences,
            features,
            labels,
            indicators: chosen
                .iter()
                .map(|&index| view.indicators(index).to_vec())
                .filter(|labels| !labels.is_empty())
                .collect(),
            numbers: chosen.iter().flat_map(|&index| view.numbers_of(index)).collect(),
            real: true,
        })
    }

    /// Sequences of normal numbers with the mean and deviation that the training data had, or of tokens.
    pub fn drawn(saved: &SavedModel) -> Self {
        Self::drawn_of(saved, STEPS)
    }

    /// The same of so many steps at most: a model that learned short sequences may grow beyond all bounds in longer ones.
    pub fn drawn_of(saved: &SavedModel, most: usize) -> Self {
        let steps = most.clamp(1, STEPS);
        let (features, normalization) = (saved.channels(), &saved.normalization);
        let vocabulary = saved
            .model
            .config()
            .embedding
            .as_ref()
            .map(|embedding| embedding.vocabulary);
        let sequence = |index: usize| {
            let mut values = vec![0.0; steps * features];
            Normals::new(SEED, index as u64, 0).fill(&mut values);
            for (place, value) in values.iter_mut().enumerate() {
                let (mean, scale) = (
                    normalization.mean[place % features],
                    normalization.scale[place % features],
                );
                *value = match vocabulary {
                    Some(vocabulary) => {
                        (f64::from(value.abs()) * vocabulary as f64 / 3.0) as usize as f32 % vocabulary as f32
                    }
                    None if scale == 0.0 => mean,
                    None => mean + *value / scale,
                };
            }
            values
        };
        Samples {
            sequences: (0..DRAWN).map(sequence).collect(),
            features,
            labels: Vec::new(),
            indicators: Vec::new(),
            numbers: Vec::new(),
            real: false,
            ranged: DRAWN,
        }
    }

    /// Steps of all sequences together.
    pub fn steps(&self) -> usize {
        self.sequences
            .iter()
            .map(|sequence| sequence.len() / self.features)
            .sum()
    }
}

fn raw(view: &View, index: usize) -> Vec<f32> {
    if view.is_tokens() {
        return view.tokens(index).iter().map(|&token| token as f32).collect();
    }
    let mut values = vec![0.0; view.length(index) * view.features()];
    view.read(index, &mut values);
    values
}
