//! What a fold holds out has no influence on its model.

use super::cut::{dataset_of, settings_for};
use crate::checkpoint::SavedModel;
use crate::data::{self, Dataset, OpenOptions, Scheme};
use crate::train::{self, Options, RunConfig};

fn vowels() -> Dataset {
    let mut dataset = data::open("japanese-vowels", &OpenOptions::default()).unwrap();
    dataset.train.groups = (0..270).map(|sequence| sequence % 10).collect();
    dataset
}

fn settings() -> RunConfig {
    let mut config = RunConfig::defaults("japanese-vowels");
    config.set_in_layers("rank", &toml::Value::Integer(2)).unwrap();
    config.set_in_layers("hidden", &toml::Value::Integer(4)).unwrap();
    config.training.epochs = 2;
    config.training.class_weights = train::ClassWeights::Balanced;
    config
}

fn model_of(dataset: &Dataset, fold: usize) -> SavedModel {
    let cut = data::folds(&dataset.train, Scheme::Number(5), 1).unwrap();
    let config = settings_for(&settings(), dataset);
    let options = Options::default();
    let outcome = train::train(&dataset_of(dataset, &cut, fold), &config, &options, &mut ()).unwrap();
    outcome.model
}

#[test]
fn neither_values_nor_statistics_of_what_is_held_out_reach_the_model() {
    let plain = vowels();
    let cut = data::folds(&plain.train, Scheme::Number(5), 1).unwrap();
    let mut other = plain.clone();
    for &sequence in &cut.held_out[2] {
        let steps = other.train.offsets[sequence]..other.train.offsets[sequence + 1];
        let features = other.train.features;
        let values = &mut other.train.numbers_mut()[steps.start * features..steps.end * features];
        values.iter_mut().for_each(|value| *value = -100.0 * *value + 3.0);
    }
    let [one, same] = [&plain, &other].map(|dataset| model_of(dataset, 2));
    assert!(one.model.parameters() == same.model.parameters());
    assert_eq!(one.normalization, same.normalization);
    // The other folds are trained on it.
    let [one, another] = [&plain, &other].map(|dataset| model_of(dataset, 0));
    assert_ne!(one.normalization, another.normalization);
}

#[test]
fn the_test_part_of_the_data_reaches_no_fold() {
    let plain = vowels();
    let mut other = plain.clone();
    let test = other.test.as_mut().unwrap();
    test.numbers_mut().iter_mut().for_each(|value| *value *= -7.0);
    let cut = data::folds(&plain.train, Scheme::Groups, 1).unwrap();
    let held_out = |dataset: &Dataset| dataset_of(dataset, &cut, 3);
    assert_eq!(held_out(&plain), held_out(&other));
    let of_fold = held_out(&plain);
    let groups = |part: &data::Part| -> Vec<u32> {
        let mut groups = part.groups.clone();
        groups.sort_unstable();
        groups.dedup();
        groups
    };
    assert_eq!(groups(of_fold.test.as_ref().unwrap()), [3]);
    assert_eq!(groups(&of_fold.train), [0, 1, 2, 4, 5, 6, 7, 8, 9]);
}
