//! What data of one's own is trained with where nothing else is asked for: the general defaults, and over them what its sequences ask for.
//!
//! Found by cross-validation on the training parts of small public sets of motions, gestures, heartbeats and sensors, each part of it taken
//! away in turn. Together they win; each alone can hurt.

use toml::Value;

use super::{RunConfig, defaults};
use crate::data::{self, Dataset, OpenOptions, Scheme, SourceKind, Task, View, kind};
use crate::model::Pooling;
use crate::names::counted;

/// Standard deviation of the noise on normalized inputs in training.
pub(super) const INPUT_NOISE: f64 = 0.6;
/// Optimizer steps at least: 60 epochs of some tens of sequences are too few.
const LEAST_STEPS: usize = 1500;
/// With fewer sequences, a best epoch on a fifth of them is a lottery: all of them are trained on, where a test part or folds judge.
const FEW: usize = 500;
/// Folds that judge few sequences without a test part.
const FOLDS: Scheme = Scheme::Number(5);
/// Standard deviation of the rotation of sensors in training, rad.
const ROTATION: f64 = 0.3;
/// Initial step sizes: so large, but less for long sequences, whose states would grow beyond all numbers.
const LARGEST_ETA: f64 = 0.3;
const ETA_TIMES_STEPS: f64 = 20.0;

/// What they follow from.
pub(super) struct Extent {
    /// Training sequences.
    pub sequences: usize,
    /// Steps of the longest one.
    pub longest: usize,
    /// Whether sequences that are not trained on judge in the end.
    pub judged: bool,
}

/// The complete settings for these data where nothing is asked for.
pub(super) fn for_dataset(source: &str, options: &OpenOptions, dataset: &Dataset, judged: bool) -> RunConfig {
    let Some(input_noise) = input_noise(source, options, dataset) else {
        if !is_own(source, options) || !dataset.task.is_of_steps() {
            return defaults::for_source(source);
        }
        let mut config = for_steps(source);
        // What numbers say is no probability, and needs no run of steps.
        let classes = dataset.task == Task::StepClassification;
        config.training.smooth &= classes;
        config.training.calibrate &= classes;
        for_motion(&mut config, dataset);
        return config;
    };
    let extent = Extent {
        sequences: dataset.train.len(),
        longest: dataset.train.longest(),
        judged: judged && dataset.validation.is_none(),
    };
    let mut config = for_extent(source, &extent, input_noise);
    config.training.calibrate = dataset.task == Task::Classification;
    for_motion(&mut config, dataset);
    config
}

/// Sensors whose axes have names, on several persons or devices: small motions as further channels, and sensors that are worn a little
/// otherwise each time. What is learned is judged on another person, and these differ in both.
fn for_motion(config: &mut RunConfig, dataset: &Dataset) {
    let groups = View::of(&dataset.train).groups().len();
    if groups > 1 && data::are_axes(&dataset.feature_names) {
        config.model.transforms.compress = true;
        config.training.input_rotation = ROTATION;
    }
}

/// Data of one's own, as far as its kind tells.
fn is_own(source: &str, options: &OpenOptions) -> bool {
    let kind = kind(source, options);
    !matches!(kind, SourceKind::Known(_) | SourceKind::RunningText | SourceKind::Texts)
}

/// The noise for sequences of numbers of one's own that have a class or a number to predict; none for other data.
fn input_noise(source: &str, options: &OpenOptions, dataset: &Dataset) -> Option<f64> {
    let judged = matches!(dataset.task, Task::Classification | Task::Regression | Task::MultiLabel);
    let numbers = judged && !dataset.train.values.are_tokens();
    let noise = match kind(source, options) {
        SourceKind::Recordings => 0.3,
        SourceKind::Table | SourceKind::Ts | SourceKind::Arrays | SourceKind::Other => INPUT_NOISE,
        SourceKind::Known(_) | SourceKind::RunningText | SourceKind::Texts => return None,
    };
    numbers.then_some(noise)
}

/// The folds that judge, where nothing else is asked for: few sequences without a part of the data that does.
pub(super) fn folds(source: &str, options: &OpenOptions, dataset: &Dataset) -> Option<Scheme> {
    // Fewer groups, or different sequences, than folds cannot be cut.
    (wants_folds(source, options, dataset) && data::folds(&dataset.train, FOLDS, 0).is_ok()).then_some(FOLDS)
}

/// Whether the sequences are few, and no part of the data judges.
fn wants_folds(source: &str, options: &OpenOptions, dataset: &Dataset) -> bool {
    let own = input_noise(source, options, dataset).is_some();
    let unjudged = dataset.test.is_none() && dataset.validation.is_none();
    let targets = dataset.is_labelled() || dataset.task == Task::Regression;
    own && unjudged && dataset.train.len() < FEW && targets
}

/// Why no folds judge few sequences that nothing else does, in words: they have too few groups.
pub(super) fn folds_missing(source: &str, options: &OpenOptions, dataset: &Dataset) -> Option<String> {
    let groups = View::of(&dataset.train).groups().len();
    let missing = groups > 0 && wants_folds(source, options, dataset) && folds(source, options, dataset).is_none();
    missing.then(|| {
        let groups = counted(groups, "group");
        format!(
            "{groups}, which stay whole, are too few for the {FOLDS} folds that would judge without a test part: a share of the groups \
             validates instead (--folds groups: each group in turn)"
        )
    })
}

/// The complete settings for sequences with a class for each step.
pub(super) fn for_steps(source: &str) -> RunConfig {
    let mut config = defaults::for_source(source);
    config.training.min_steps = LEAST_STEPS;
    config.training.smooth = true;
    config.training.calibrate = true;
    config
}

/// The complete settings for classified sequences of numbers.
pub(super) fn for_extent(source: &str, extent: &Extent, input_noise: f64) -> RunConfig {
    let mut config = defaults::for_source(source);
    config.model.pooling = Pooling::MeanMax;
    config.model.transforms.differences = true;
    config.training.min_steps = LEAST_STEPS;
    config.training.calibrate = true;
    config.training.input_noise = input_noise;
    if extent.judged && extent.sequences < FEW {
        config.training.validation = 0.0;
    }
    let steps = Value::String("per-iteration".to_string());
    for (name, value) in [("steps", steps), ("eta", Value::Float(eta(extent.longest)))] {
        let set = config.set_in_layers(name, &value);
        set.expect("the default cell has step sizes");
    }
    config
}

/// The initial step size, one for all steps, for sequences of this length.
pub fn eta(longest: usize) -> f64 {
    LARGEST_ETA.min(ETA_TIMES_STEPS / longest.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Part;

    fn dataset(sequences: usize, steps: usize, test: bool) -> Dataset {
        let mut train = Part::new(1);
        for sequence in 0..sequences {
            train.push(&vec![sequence as f32; steps], Some(sequence as u32 % 2), None);
        }
        Dataset {
            classes: vec!["a".to_string(), "b".to_string()],
            test: test.then(|| train.clone()),
            train,
            ..Dataset::default()
        }
    }

    fn settings(source: &str, dataset: &Dataset) -> RunConfig {
        RunConfig::defaults_for(source, &OpenOptions::default(), dataset, dataset.test.is_some())
    }

    #[test]
    fn few_sequences_are_all_trained_on_where_a_test_part_judges() {
        let validation = |sequences, test| settings("mine.csv", &dataset(sequences, 5, test)).training.validation;
        assert_eq!((validation(499, true), validation(500, true)), (0.0, 0.2));
        assert_eq!(validation(30, false), 0.2);
    }

    #[test]
    fn folds_judge_few_sequences_that_nothing_else_does() {
        let folds = |source: &str, dataset: &Dataset| RunConfig::folds_for(source, &OpenOptions::default(), dataset);
        assert_eq!(folds("mine.csv", &dataset(499, 5, false)), Some(FOLDS));
        for other in [dataset(500, 5, false), dataset(30, 5, true), dataset(4, 5, false)] {
            assert_eq!(folds("mine.csv", &other), None);
        }
        assert_eq!(folds("digits", &dataset(30, 5, false)), None);
        let config = RunConfig::defaults_for("mine.csv", &OpenOptions::default(), &dataset(30, 5, false), true);
        assert_eq!(config.training.validation, 0.0);
    }

    #[test]
    fn long_sequences_have_smaller_steps() {
        let eta = |steps| settings("mine.ts", &dataset(4, steps, true)).layer_setting("eta");
        assert_eq!(eta(10), Some(Value::Float(0.3)));
        assert_eq!(eta(1000), Some(Value::Float(0.02)));
    }

    #[test]
    fn sensors_of_several_persons_are_turned_and_small_motions_are_channels() {
        let mut data = dataset(30, 5, true);
        let set = |data: &Dataset| {
            let config = settings("mine.csv", data);
            (config.model.transforms.compress, config.training.input_rotation)
        };
        data.train.groups = (0..30).map(|sequence| sequence / 10).collect();
        assert_eq!(set(&data), (false, 0.0), "one channel");
        data.feature_names = ["ax", "ay", "az", "load"].map(String::from).to_vec();
        assert_eq!(set(&data), (true, ROTATION));
        data.task = Task::StepClassification;
        assert_eq!(set(&data), (true, ROTATION));
        data.train.groups.clear();
        assert_eq!(set(&data), (false, 0.0), "nobody says that there are several persons");
        data.feature_names = ["c1", "c2", "c3"].map(String::from).to_vec();
        data.train.groups = (0..30).map(|sequence| sequence / 10).collect();
        assert_eq!(set(&data), (false, 0.0), "numbers are no axes");
    }

    #[test]
    fn known_sets_and_texts_keep_their_own() {
        let data = dataset(30, 5, true);
        assert_eq!(settings("digits", &data), RunConfig::defaults("digits"));
        let mut steps = data.clone();
        steps.task = Task::StepClassification;
        let mut general = RunConfig::defaults("mine.csv");
        general.training.min_steps = LEAST_STEPS;
        (general.training.smooth, general.training.calibrate) = (true, true);
        assert_eq!(settings("mine.csv", &steps), general);
        assert!(settings("mine.csv", &data).model.transforms.differences);
    }
}
