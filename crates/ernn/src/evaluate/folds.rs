//! The numbers of a training by folds: each sequence is judged by the one model that has not seen it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::report::mean;
use super::{Evaluation, LabelsReport, Metric, NumberReport, Reliability, Segments, Spread, statistics};
use crate::checkpoint::Calibration;
use crate::data::{Dataset, Folds, Part, Scheme, Task};

/// What training by folds has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldsReport {
    /// How the training part was cut.
    pub scheme: Scheme,
    /// What the score is.
    pub metric: Metric,
    /// Over the folds that came to their end.
    pub score: Option<Spread>,
    /// All sequences together, each judged by the model of the fold that held it out.
    pub pooled: Evaluation,
    /// In it the accuracy of other sequences (of other groups, where there are groups) lies with 95 % confidence, by the number of these; all
    /// trials together, where the settings were chosen among several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The accuracy of naming the most frequent class each time; of labels the mean average precision of always the same probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// One a fold.
    pub folds: Vec<FoldReport>,
    /// One a group, the worst first, where the data names groups and sequences have classes or numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupReport>,
    /// Trials among which the settings were chosen by the same sequences; 1 if they were not chosen.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub trials: usize,
    /// What makes the probabilities of the pooled sequences frequencies, where the final run asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Below this probability their answers are unknown, where the final run asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_below: Option<f64>,
    /// Sequences that are copies of another one; they were held out together.
    #[serde(default)]
    pub copies: usize,
    /// Copies in another group than the one they are copies of, which could not be kept together.
    #[serde(default)]
    pub torn: usize,
}

fn one() -> usize {
    1
}

fn is_one(trials: &usize) -> bool {
    *trials == 1
}

/// One fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldReport {
    /// From 1.
    pub fold: usize,
    /// The group held out, where each group is a fold; earlier versions wrote its number.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "name_or_number"
    )]
    pub group: Option<String>,
    /// Sequences held out.
    pub sequences: usize,
    /// None if the training diverged.
    pub score: Option<f64>,
    /// Wall time of its training.
    pub train_seconds: f64,
}

fn name_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Name(String),
        Number(u32),
    }
    let written = Option::<Written>::deserialize(deserializer)?;
    Ok(written.map(|written| match written {
        Written::Name(name) => name,
        Written::Number(number) => number.to_string(),
    }))
}

/// How the sequences of one group fared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    /// Its name.
    pub group: String,
    /// Sequences.
    pub sequences: usize,
    /// Part of them that were classified correctly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean absolute error of their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_absolute_error: Option<f64>,
}

/// What came of one fold.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldResult {
    /// The held-out sequences, measured; none if the training diverged.
    pub evaluation: Option<Evaluation>,
    /// Which class each held-out sequence was given, in their order; empty for other tasks.
    pub classes: Vec<usize>,
    /// Which number each held-out sequence was given for each target, in their order (of quantiles the one nearest to the median); empty for
    /// other tasks.
    pub numbers: Vec<Vec<f64>>,
    /// Wall time of the training.
    pub train_seconds: f64,
}

impl FoldsReport {
    /// Collects the folds of a training part; one result each. `trials`: of how many the settings were chosen by the same sequences.
    pub fn new(scheme: Scheme, cut: &Folds, dataset: &Dataset, results: &[FoldResult], trials: usize) -> Self {
        let (part, task) = (&dataset.train, dataset.task);
        let metric = Metric::of(task);
        let ended: Vec<&Evaluation> = results.iter().filter_map(|result| result.evaluation.as_ref()).collect();
        let scores: Vec<f64> = ended.iter().map(|evaluation| evaluation.score().1).collect();
        let pooled = Evaluation::pooled(&ended, task);
        // The best of many trials is above the truth more often than one (Bonferroni).
        let missed = 0.05 / trials.max(1) as f64;
        let right = right(cut, part, results);
        let by_group = by_group(part, &right);
        let folds = results.iter().zip(&cut.held_out).enumerate();
        let fold = |(index, (result, held_out)): (usize, (&FoldResult, &Vec<usize>))| FoldReport {
            fold: index + 1,
            group: (scheme == Scheme::Groups).then(|| dataset.group_name(part.groups[held_out[0]])),
            sequences: held_out.len(),
            score: result.evaluation.as_ref().map(|evaluation| evaluation.score().1),
            train_seconds: result.train_seconds,
        };
        let classes = task == Task::Classification;
        FoldsReport {
            scheme,
            metric,
            score: Spread::of(&scores),
            interval: match by_group.is_empty() {
                _ if !classes => None,
                true => {
                    let count = right.iter().filter(|(_, right)| *right).count();
                    statistics::share_interval(count, right.len(), missed)
                }
                false => {
                    let clusters: Vec<(usize, usize)> = by_group.values().copied().collect();
                    statistics::clustered_interval(&clusters, missed)
                }
            },
            chance: match &pooled.labels {
                Some(labels) => labels.always_the_same,
                None => classes.then(|| most_frequent(&pooled)).flatten(),
            },
            folds: folds.map(fold).collect(),
            groups: match task {
                Task::Regression => worst_numbers_first(cut, dataset, results),
                _ => worst_first(&by_group, dataset),
            },
            pooled,
            trials: trials.max(1),
            calibration: None,
            unknown_below: None,
            copies: cut.copies,
            torn: cut.torn,
        }
    }

    /// Whether the accuracy is no better than that of naming the most frequent class each time, as far as these sequences can tell.
    pub fn is_chance(&self) -> bool {
        matches!((self.interval, self.chance), (Some([low, _]), Some(chance)) if low <= chance)
    }
}

/// (sequence, whether its class was found), of the folds that came to their end.
fn right(cut: &Folds, part: &Part, results: &[FoldResult]) -> Vec<(usize, bool)> {
    let folds = cut.held_out.iter().zip(results);
    let pairs = folds.flat_map(|(held_out, result)| held_out.iter().zip(&result.classes));
    pairs
        .map(|(&sequence, &class)| (sequence, part.labels[sequence] as usize == class))
        .collect()
}

/// (right, all) of each group.
fn by_group(part: &Part, right: &[(usize, bool)]) -> BTreeMap<u32, (usize, usize)> {
    let mut groups = BTreeMap::new();
    for &(sequence, right) in right {
        if let Some(&group) = part.groups.get(sequence) {
            let count: &mut (usize, usize) = groups.entry(group).or_default();
            count.0 += usize::from(right);
            count.1 += 1;
        }
    }
    groups
}

fn worst_first(groups: &BTreeMap<u32, (usize, usize)>, dataset: &Dataset) -> Vec<GroupReport> {
    let report = |(group, &(right, all)): (&u32, &(usize, usize))| GroupReport {
        group: dataset.group_name(*group),
        sequences: all,
        accuracy: Some(right as f64 / all as f64),
        mean_absolute_error: None,
    };
    let mut reports: Vec<GroupReport> = groups.iter().map(report).collect();
    // Equals stay in the order of their names.
    reports.sort_by(|one, other| one.accuracy.unwrap_or(0.0).total_cmp(&other.accuracy.unwrap_or(0.0)));
    reports
}

/// The same of numbers, by their mean absolute errors.
fn worst_numbers_first(cut: &Folds, dataset: &Dataset, results: &[FoldResult]) -> Vec<GroupReport> {
    let part = &dataset.train;
    let mut groups: BTreeMap<u32, (f64, usize)> = BTreeMap::new();
    let folds = cut.held_out.iter().zip(results);
    for (&sequence, number) in folds.flat_map(|(held_out, result)| held_out.iter().zip(&result.numbers)) {
        if let Some(&group) = part.groups.get(sequence) {
            let sum = groups.entry(group).or_default();
            let pairs = number.iter().zip(part.numbers_of(sequence));
            sum.0 += mean(pairs.map(|(number, &target)| (number - f64::from(target)).abs()));
            sum.1 += 1;
        }
    }
    let mut reports: Vec<GroupReport> = groups
        .into_iter()
        .map(|(group, (error, sequences))| GroupReport {
            group: dataset.group_name(group),
            sequences,
            accuracy: None,
            mean_absolute_error: Some(error / sequences as f64),
        })
        .collect();
    let error = |report: &GroupReport| report.mean_absolute_error.unwrap_or(0.0);
    reports.sort_by(|one, other| error(other).total_cmp(&error(one)));
    reports
}

fn most_frequent(pooled: &Evaluation) -> Option<f64> {
    let most = pooled.per_class.iter().map(|class| class.support).max()?;
    (pooled.examples > 0).then(|| most as f64 / pooled.examples as f64)
}

impl Evaluation {
    /// Several parts as one; examples weigh the same.
    pub fn pooled(parts: &[&Evaluation], task: Task) -> Self {
        let examples: usize = parts.iter().map(|part| part.examples).sum();
        let total: f64 = parts.iter().map(|part| part.loss * part.examples as f64).sum();
        let correct = |part: &&Evaluation| (part.accuracy.unwrap_or(0.0) * part.examples as f64).round() as usize;
        match task {
            Task::Classification | Task::StepClassification => {
                Self::of_confusion(parts, total / examples.max(1) as f64)
            }
            Task::Regression | Task::StepRegression => {
                let part = |part: &&Evaluation| (part.examples, part.numbers.clone().unwrap_or_default());
                let reports: Vec<(usize, NumberReport)> = parts.iter().map(part).collect();
                let reports: Vec<_> = reports.iter().map(|(count, report)| (*count, report)).collect();
                Evaluation::of_number_report(examples, NumberReport::pooled(&reports))
            }
            Task::MultiLabel => {
                let reports: Vec<(usize, &LabelsReport)> = parts
                    .iter()
                    .filter_map(|part| Some((part.examples, part.labels.as_ref()?)))
                    .collect();
                Evaluation::of_labels(examples, total / examples.max(1) as f64, LabelsReport::pooled(&reports))
            }
            Task::NextToken => Evaluation::of_tokens(examples, total, parts.iter().map(correct).sum()),
        }
    }

    fn of_confusion(parts: &[&Evaluation], loss: f64) -> Self {
        let names = parts.first().map_or_else(Vec::new, |part| {
            part.per_class.iter().map(|class| class.name.clone()).collect()
        });
        let (mut labels, mut called) = (Vec::new(), Vec::new());
        for part in parts {
            for (label, row) in part.confusion.iter().enumerate() {
                for (class, &count) in row.iter().enumerate() {
                    labels.extend(std::iter::repeat_n(label as u32, count));
                    called.extend(std::iter::repeat_n(class, count));
                }
            }
        }
        let segments: Vec<&Segments> = parts.iter().filter_map(|part| part.segments.as_ref()).collect();
        let reliability = parts.iter().filter_map(|part| part.reliability.as_ref());
        Evaluation {
            reliability: (reliability.clone().count() == parts.len()).then(|| Reliability::pooled(reliability)),
            segments: (!segments.is_empty()).then(|| Segments::pooled(segments.into_iter())),
            ..Evaluation::new(&names, &labels, called.into_iter().map(|class| (class, loss)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;

    fn classes(labels: &[u32], called: &[usize]) -> Evaluation {
        let names = ["a", "b"].map(String::from);
        Evaluation::new(&names, labels, called.iter().map(|&class| (class, 0.5)))
    }

    #[test]
    fn parts_are_pooled_by_their_examples() {
        let (one, other) = (classes(&[0, 0, 1], &[0, 1, 1]), classes(&[1], &[0]));
        let pooled = Evaluation::pooled(&[&one, &other], Task::Classification);
        assert_eq!(pooled, classes(&[0, 0, 1, 1], &[0, 1, 1, 0]));
        let pairs = [(1.0, 2.0), (3.0, 5.0), (4.0, 4.0), (0.0, 1.0)];
        let of_pairs =
            |pairs: &[(f64, f64)]| Evaluation::of_number_report(pairs.len(), NumberReport::new(pairs, Some(1.0)));
        let numbers = [of_pairs(&pairs[..3]), of_pairs(&pairs[3..])];
        let pooled = Evaluation::pooled(&[&numbers[0], &numbers[1]], Task::Regression);
        let all = of_pairs(&pairs);
        assert_eq!(pooled.examples, 4);
        assert!((pooled.loss - 1.5).abs() < 1e-12 && (all.loss - 1.5).abs() < 1e-12);
        let tokens = [Evaluation::of_tokens(3, 1.5, 2), Evaluation::of_tokens(2, 1.0, 2)];
        let pooled = Evaluation::pooled(&[&tokens[0], &tokens[1]], Task::NextToken);
        assert_eq!(pooled, Evaluation::of_tokens(5, 2.5, 4));
    }

    #[test]
    fn reports_with_numbers_of_groups_still_load() {
        let fold = |group: &str| -> FoldReport {
            let text = format!(r#"{{"fold": 1, {group}"sequences": 4, "score": 0.5, "train_seconds": 1.0}}"#);
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(fold(r#""group": 8, "#).group.as_deref(), Some("8"));
        assert_eq!(fold(r#""group": "anna", "#).group.as_deref(), Some("anna"));
        assert_eq!(fold("").group, None);
        let group: GroupReport = serde_json::from_str(r#"{"group": "3", "sequences": 4, "accuracy": 0.5}"#).unwrap();
        assert_eq!(group.accuracy, Some(0.5));
    }

    #[test]
    fn groups_stand_with_the_worst_first_and_make_the_interval() {
        let mut part = Part::new(1);
        for index in 0..8_u32 {
            part.push(
                &[index as f32],
                Some(index % 2),
                Some([3, 3, 3, 3, 8, 8, 1, 1][index as usize]),
            );
        }
        let cut = data::folds(&part, Scheme::Groups, 1).unwrap();
        // Each model names class 0: half of each group is right, but for the last one, which is right.
        let result = |held_out: &Vec<usize>, all: bool| {
            let labels: Vec<u32> = held_out.iter().map(|&sequence| part.labels[sequence]).collect();
            let called: Vec<usize> = labels
                .iter()
                .map(|&label| if all { label as usize } else { 0 })
                .collect();
            FoldResult {
                evaluation: Some(classes(&labels, &called)),
                classes: called,
                numbers: Vec::new(),
                train_seconds: 1.0,
            }
        };
        let results: Vec<FoldResult> = (0..3).map(|fold| result(&cut.held_out[fold], fold == 2)).collect();
        let dataset = Dataset {
            train: part,
            group_names: ["zero", "one", "two", "three"].map(String::from).into(),
            ..Dataset::default()
        };
        let report = FoldsReport::new(Scheme::Groups, &cut, &dataset, &results, 1);
        assert_eq!(report.pooled.accuracy, Some(5.0 / 8.0));
        let groups: Vec<(&str, f64)> = report
            .groups
            .iter()
            .map(|group| (&group.group[..], group.accuracy.unwrap()))
            .collect();
        assert_eq!(groups, [("three", 0.5), ("8", 0.5), ("one", 1.0)]);
        assert_eq!(report.folds[1].group.as_deref(), Some("8"));
        assert_eq!((report.chance, report.is_chance()), (Some(0.5), true));
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<FoldsReport>(&text).unwrap(), report);
    }

    #[test]
    fn a_fold_that_diverged_counts_in_no_mean() {
        let mut part = Part::new(1);
        (0..4).for_each(|index| part.push(&[index as f32], Some(index % 2), None));
        let cut = data::folds(&part, Scheme::Number(2), 1).unwrap();
        let labels: Vec<u32> = cut.held_out[0].iter().map(|&sequence| part.labels[sequence]).collect();
        let called: Vec<usize> = labels.iter().map(|&label| label as usize).collect();
        let results = [
            FoldResult {
                evaluation: Some(classes(&labels, &called)),
                classes: called,
                numbers: Vec::new(),
                train_seconds: 1.0,
            },
            FoldResult {
                evaluation: None,
                classes: Vec::new(),
                numbers: Vec::new(),
                train_seconds: 0.5,
            },
        ];
        let dataset = Dataset {
            train: part,
            ..Dataset::default()
        };
        let report = FoldsReport::new(Scheme::Number(2), &cut, &dataset, &results, 1);
        assert_eq!((report.score.unwrap().mean, report.pooled.examples), (1.0, 2));
        assert_eq!(report.folds[1].score, None);
    }
}
