//! Preparation: what is chosen about known data sets that are made or cut here: seeds, noise, lengths, splits.

use super::NoiseKind;

/// How known data sets are prepared. Each setting matters to some of them and is ignored by the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// Seed of permutations, noise behind pictures and synthetic sequences. It is apart from the seed of training, so that
    /// several trainings see the same data.
    pub data_seed: u64,
    /// Whether each sequence has noise of its own behind its picture, or all have the same.
    pub noise: NoiseKind,
    /// What the test part of a set with persons has to itself.
    pub split: SplitBy,
    /// Steps of synthetic sequences (`copy-memory`: blank steps between the symbols and their recall).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
    /// Training sequences of a synthetic set; its test part has a tenth as many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequences: Option<usize>,
}

impl Default for Preparation {
    fn default() -> Self {
        Preparation {
            data_seed: 1,
            noise: NoiseKind::default(),
            split: SplitBy::default(),
            length: None,
            sequences: None,
        }
    }
}

/// What the test part has to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// Persons: the test asks what a model knows of people whom it has never seen.
    #[default]
    Persons,
    /// Segments of the same recordings: training and test part know the same persons.
    Segments,
}
