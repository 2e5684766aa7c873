//! What a data set holds, in numbers, for `ernn data info`.

use super::{
    Dataset, Forecast, Normalization, RecordingFacts, TargetScale, Task, UNLABELLED, View, known, one_or_more,
};

/// The facts of a data set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DatasetFacts {
    /// Known name or path.
    pub name: String,
    /// Values a step.
    pub features: usize,
    /// One a feature.
    pub feature_names: Vec<String>,
    /// What is learned of it.
    pub task: Task,
    /// Label values in class order; empty for unlabelled data.
    pub classes: Vec<String>,
    /// Tokens that are known; 0 of data that is no text.
    pub vocabulary: usize,
    /// Training, validation and test part, those that are there.
    pub parts: Vec<PartFacts>,
    /// What became of the recordings of each part, where sequences are cut from them; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<RecordingFacts>,
    /// Features that never change in the training part.
    pub constant_features: Vec<String>,
    /// Whether each class has as many sequences in each part as published; `None` for data of which no number is known.
    pub as_published: Option<bool>,
    /// Values in memory, in megabytes (10^6 bytes).
    pub megabytes: f64,
    /// What the data calls each number to predict; empty where it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_names: Vec<String>,
    /// Which values they are, where they are the next ones of channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
}

/// The facts of one part.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PartFacts {
    /// `train`, `validation` or `test`.
    pub name: &'static str,
    /// Sequences.
    pub sequences: usize,
    /// Steps of all sequences together.
    pub steps: usize,
    /// Steps of the shortest sequence.
    pub shortest: usize,
    /// Steps of the sequence in the middle.
    pub median_length: usize,
    /// Steps of the longest sequence.
    pub longest: usize,
    /// Sequences of each class, or steps where each has one; empty for unlabelled data.
    pub class_counts: Vec<usize>,
    /// Mean and standard deviation of each number to predict, where there are some.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "one_or_more::serialize")]
    pub targets: Vec<TargetScale>,
    /// The smallest and the largest of each.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "one_or_more::serialize")]
    pub target_ranges: Vec<[f32; 2]>,
    /// Distinct groups; 0 where the data names none.
    pub groups: usize,
    /// Missing values that were filled.
    pub filled: usize,
}

/// Counts what a data set holds.
pub fn describe(dataset: &Dataset) -> DatasetFacts {
    let scale = Normalization::fit(&View::of(&dataset.train))
        .map(|normalization| normalization.scale)
        .unwrap_or_default();
    let constant = dataset
        .feature_names
        .iter()
        .zip(scale)
        .filter(|&(_, scale)| scale == 0.0);
    let bytes: usize = dataset.parts().map(|(_, part)| part.values.bytes()).sum();
    DatasetFacts {
        name: dataset.name.clone(),
        features: dataset.train.features,
        feature_names: dataset.feature_names.clone(),
        task: dataset.task,
        classes: dataset.classes.clone(),
        vocabulary: dataset.vocabulary.len(),
        parts: dataset
            .parts()
            .map(|(name, part)| PartFacts::of(name, &View::of(part), dataset.classes.len()))
            .collect(),
        recordings: dataset.recordings.clone(),
        constant_features: constant.map(|(name, _)| name.clone()).collect(),
        as_published: known::is_as_published(dataset),
        megabytes: bytes as f64 / 1e6,
        target_names: dataset.target_names.clone(),
        forecast: dataset.forecast.clone(),
    }
}

impl PartFacts {
    /// Counts what chosen sequences hold, of so many classes.
    pub fn of(name: &'static str, view: &View, classes: usize) -> Self {
        let mut lengths: Vec<usize> = (0..view.len()).map(|index| view.length(index)).collect();
        lengths.sort_unstable();
        let mut labels = view.labels();
        if labels.is_empty() {
            labels = (0..view.len())
                .flat_map(|index| view.step_labels(index))
                .copied()
                .collect();
        }
        let mut class_counts = vec![0; if labels.is_empty() { 0 } else { classes }];
        let labels = labels.iter().filter(|&&label| label != UNLABELLED);
        labels.for_each(|&label| class_counts[label as usize] += 1);
        let of_label = |label: usize| {
            (0..view.len())
                .filter(|&index| view.indicators(index)[label] == 1)
                .count()
        };
        if (0..view.len()).any(|index| !view.indicators(index).is_empty()) {
            class_counts = (0..classes).map(of_label).collect();
        }
        let ends = |[low, high]: [f32; 2], number: f32| [low.min(number), high.max(number)];
        let of_target = |target: usize| {
            (0..view.len()).flat_map(move |index| {
                let of_steps = view.step_numbers(index).skip(target).step_by(view.targets());
                view.numbers_of(index).nth(target).into_iter().chain(of_steps)
            })
        };
        PartFacts {
            targets: TargetScale::fit(view).unwrap_or_default(),
            target_ranges: (0..view.targets())
                .map(|target| of_target(target).fold([f32::INFINITY, f32::NEG_INFINITY], ends))
                .collect(),
            name,
            sequences: view.len(),
            steps: view.steps(),
            shortest: lengths.first().copied().unwrap_or(0),
            median_length: lengths.get(lengths.len() / 2).copied().unwrap_or(0),
            longest: lengths.last().copied().unwrap_or(0),
            class_counts,
            groups: view.groups().len(),
            filled: (0..view.len()).map(|index| view.filled(index).count()).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{OpenOptions, Part, open};
    use super::*;

    #[test]
    fn facts_of_a_built_in_set() {
        let facts = describe(&open("japanese-vowels", &OpenOptions::default()).unwrap());
        let test = &facts.parts[1];
        assert_eq!((facts.features, facts.classes.len(), facts.parts.len()), (12, 9, 2));
        assert_eq!(
            (test.name, test.sequences, test.shortest, test.longest),
            ("test", 370, 7, 29)
        );
        assert_eq!(facts.parts[0].class_counts, [30; 9]);
        assert!(facts.constant_features.is_empty());
        assert!((facts.megabytes - 0.478).abs() < 0.001, "{}", facts.megabytes);
        let facts = describe(&open("digits", &OpenOptions::default()).unwrap());
        assert_eq!(
            (
                facts.parts[0].median_length,
                facts.parts[0].steps,
                facts.parts[0].groups
            ),
            (64, 1437 * 64, 0)
        );
    }

    #[test]
    fn constant_channels_groups_and_filled_values() {
        let mut train = Part::new(2);
        train.push(&[1.0, 7.0, 2.0, 7.0], None, Some(3));
        train.push(&[3.0, 7.0], None, Some(3));
        train.filled = vec![0];
        let dataset = Dataset {
            feature_names: vec!["x".to_owned(), "y".to_owned()],
            train,
            ..Dataset::default()
        };
        let facts = describe(&dataset);
        assert_eq!(facts.constant_features, ["y"]);
        assert_eq!((facts.parts[0].groups, facts.parts[0].filled), (1, 1));
        assert!(facts.parts[0].class_counts.is_empty());
        assert_eq!(describe(&Dataset::default()).parts[0].longest, 0);
    }
}
