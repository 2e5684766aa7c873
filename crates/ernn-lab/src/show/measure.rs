//! What is shown of a data set, in numbers. All but the counts is of the training part.
//!
//! ```text
//! mean_c, std_c        of channel c over all steps, without missing values
//! shift[k, c]          (mean of channel c over the steps of class or group k - mean_c) / std_c
//! ```

use std::collections::BTreeMap;

use ernn::data::{self, Dataset, DatasetFacts, UNLABELLED, View};

/// Channels that are measured, and classes or groups that are.
const MOST: usize = 40;

/// A channel over all steps of the training part.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelFacts {
    /// Its name.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Its smallest value.
    pub smallest: f64,
    /// Its largest value.
    pub largest: f64,
    /// Share of its values that were missing.
    pub missing: f64,
}

/// Where the channels of a class or a group lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The class or the group.
    pub name: String,
    /// Steps of it.
    pub steps: usize,
    /// One a channel: how far its mean is from that of all, in standard deviations.
    pub shifts: Vec<f64>,
}

/// What is shown.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The data set itself, for examples.
    pub dataset: &'a Dataset,
    /// Counts of all parts.
    pub facts: DatasetFacts,
    /// Steps of each sequence of the training part.
    pub lengths: Vec<usize>,
    /// Empty for text.
    pub channels: Vec<ChannelFacts>,
    /// By class; empty without labels.
    pub by_class: Vec<Shift>,
    /// By group; empty without groups.
    pub by_group: Vec<Shift>,
}

/// Sums over the steps of something.
#[derive(Clone)]
struct Sums {
    steps: usize,
    /// One a channel: how many values are known, their sum.
    known: Vec<(usize, f64)>,
}

impl Sums {
    fn new(channels: usize) -> Self {
        Sums {
            steps: 0,
            known: vec![(0, 0.0); channels],
        }
    }

    fn add(&mut self, values: &[f32], missing: &[bool]) {
        self.steps += 1;
        for (known, (&value, &missing)) in self.known.iter_mut().zip(values.iter().zip(missing)) {
            if !missing {
                known.0 += 1;
                known.1 += f64::from(value);
            }
        }
    }

    fn mean(&self, channel: usize) -> f64 {
        let (count, sum) = self.known[channel];
        sum / count.max(1) as f64
    }
}

/// Measures a data set.
pub fn measure(dataset: &Dataset) -> Shown<'_> {
    let facts = data::describe(dataset);
    let part = &dataset.train;
    let lengths = (0..part.len()).map(|sequence| part.length(sequence)).collect();
    let mut shown = Shown {
        dataset,
        facts,
        lengths,
        channels: Vec::new(),
        by_class: Vec::new(),
        by_group: Vec::new(),
    };
    if !part.values.are_tokens() && !part.is_empty() {
        measure_channels(&mut shown);
    }
    shown
}

fn measure_channels(shown: &mut Shown) {
    let part = &shown.dataset.train;
    let channels = part.features.min(MOST);
    let view = View::of(part);
    let mut all = Sums::new(channels);
    let mut by_class = vec![Sums::new(channels); shown.dataset.classes.len().min(MOST)];
    let mut by_group: BTreeMap<u32, Sums> = BTreeMap::new();
    let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); channels];
    let mut squares = vec![0.0_f64; channels];
    each_step(&view, channels, |step| {
        all.add(step.values, step.missing);
        let known = |channel: &usize| !step.missing[*channel];
        for channel in (0..channels).filter(known) {
            let value = f64::from(step.values[channel]);
            ends[channel] = (ends[channel].0.min(value), ends[channel].1.max(value));
        }
        if let Some(sums) = step.class.and_then(|class| by_class.get_mut(class as usize)) {
            sums.add(step.values, step.missing);
        }
        if let Some(&group) = part.groups.get(step.sequence) {
            by_group
                .entry(group)
                .or_insert_with(|| Sums::new(channels))
                .add(step.values, step.missing);
        }
    });
    let means: Vec<f64> = (0..channels).map(|channel| all.mean(channel)).collect();
    each_step(&view, channels, |step| {
        for channel in (0..channels).filter(|&channel| !step.missing[channel]) {
            squares[channel] += (f64::from(step.values[channel]) - means[channel]).powi(2);
        }
    });
    let channel_facts = |channel: usize| ChannelFacts {
        name: shown.dataset.feature_names.get(channel).cloned().unwrap_or_default(),
        mean: means[channel],
        deviation: (squares[channel] / all.known[channel].0.max(1) as f64).sqrt(),
        smallest: ends[channel].0,
        largest: ends[channel].1,
        missing: 1.0 - all.known[channel].0 as f64 / all.steps.max(1) as f64,
    };
    shown.channels = (0..channels).map(channel_facts).collect();
    let shift = |name: String, sums: &Sums| Shift {
        name,
        steps: sums.steps,
        shifts: (0..channels)
            .map(|channel| {
                let own = &shown.channels[channel];
                (sums.mean(channel) - own.mean) / if own.deviation > 0.0 { own.deviation } else { 1.0 }
            })
            .collect(),
    };
    let classes = shown
        .dataset
        .classes
        .iter()
        .zip(&by_class)
        .filter(|(_, sums)| sums.steps > 0);
    shown.by_class = classes.map(|(name, sums)| shift(name.clone(), sums)).collect();
    let groups = by_group.iter().take(MOST);
    shown.by_group = groups
        .map(|(&group, sums)| shift(shown.dataset.group_name(group), sums))
        .collect();
}

/// A step of the training part.
struct Step<'s> {
    sequence: usize,
    class: Option<u32>,
    /// One a channel.
    values: &'s [f32],
    /// Whether they were missing, and are made up.
    missing: &'s [bool],
}

fn each_step(view: &View, channels: usize, mut see: impl FnMut(Step)) {
    let features = view.features();
    let mut values = Vec::new();
    let mut missing = Vec::new();
    for sequence in 0..view.len() {
        values.resize(view.length(sequence) * features, 0.0);
        view.read(sequence, &mut values);
        missing.clear();
        missing.resize(values.len(), false);
        for position in view.filled(sequence) {
            missing[position] = true;
        }
        let steps = values.chunks_exact(features).zip(missing.chunks_exact(features));
        for (place, (values, missing)) in steps.enumerate() {
            let own = view.step_labels(sequence).get(place).copied();
            see(Step {
                sequence,
                class: own.or(view.label(sequence)).filter(|&label| label != UNLABELLED),
                values: &values[..channels],
                missing: &missing[..channels],
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use ernn::data::Part;

    use super::*;

    #[test]
    fn channels_are_measured_by_class_and_by_group_without_what_is_missing() {
        let mut train = Part::new(2);
        train.push(&[1.0, 10.0, 3.0, 0.0], Some(0), Some(0));
        train.push(&[5.0, 30.0], Some(1), Some(1));
        train.filled = vec![3];
        let dataset = Dataset {
            classes: vec!["a".into(), "b".into()],
            feature_names: vec!["x".into(), "y".into()],
            group_names: vec!["anna".into(), "ben".into()],
            train,
            ..Dataset::default()
        };
        let shown = measure(&dataset);
        let [x, y] = &shown.channels[..] else {
            panic!("two channels")
        };
        assert_eq!((x.mean, x.smallest, x.largest, x.missing), (3.0, 1.0, 5.0, 0.0));
        assert!((x.deviation - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            (y.mean, y.smallest, y.deviation),
            (20.0, 10.0, 10.0),
            "without the zero that was filled in"
        );
        assert!((y.missing - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            (shown.by_class[1].name.as_str(), shown.by_class[1].shifts[1]),
            ("b", 1.0)
        );
        assert_eq!((shown.by_group[0].name.as_str(), shown.by_group[0].steps), ("anna", 2));
        assert_eq!(shown.lengths, [2, 1]);
    }
}
