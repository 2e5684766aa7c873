//! What a run trains on: the parts after the split, normalized, with what was measured on them.

use super::teacher::{self, Taught};
use super::{ClassWeights, RunConfig};
use crate::checkpoint::{Checksum, Phase};
use crate::data::{self, Dataset, Derivation, NoiseKind, Normalization, Part, TargetScale, Task, Values, View};
use crate::{Error, Result};
use crate::{head, names};

/// The parts of one pass of a run.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    /// Normalized sequences to train on.
    pub fit: View<'a>,
    /// Normalized sequences to select the best epoch with; none in a run without validation, or when retraining.
    pub validation: Option<View<'a>>,
    /// Fitted on the sequences to train on, before any other part was looked at.
    pub derivation: Derivation,
    /// The same, of the channels of the data and the derived ones.
    pub normalization: Normalization,
    /// The scale of each number to predict, fitted on the sequences to train on alone.
    pub targets: Vec<TargetScale>,
    /// Weight of each class in the loss.
    pub class_weights: Option<Vec<f32>>,
    /// What a teacher says of the sequences to train on.
    pub taught: Option<Taught>,
}

impl<'a> Parts<'a> {
    /// Splits and normalizes.
    pub fn prepare(dataset: &'a Dataset, config: &RunConfig, phase: Phase) -> Result<Self> {
        check_targets(dataset)?;
        let (fit, validation) = match phase {
            Phase::Select => split(dataset, config.training.validation, config.training.seed)?,
            Phase::Retrain => (everything(dataset), None),
        };
        let taught = teacher::ask(config.training.teacher.as_ref(), dataset, &fit)?;
        let derivation = Derivation::fit(&config.model.transforms, &fit, &dataset.feature_names)?;
        let fit = fit.derived(&derivation)?;
        let normalization = Normalization::fit(&fit)?;
        let targets = TargetScale::fit(&fit)?;
        let class_weights = match config.training.class_weights {
            ClassWeights::None => None,
            ClassWeights::Balanced if dataset.task == Task::MultiLabel => {
                Some(balanced_labels(&fit, dataset.classes.len()))
            }
            ClassWeights::Balanced => Some(balanced(&fit, dataset.classes.len())),
        };
        let augmentation = config.training.augmentation();
        let augmenter = augmentation.ready(&config.model.transforms, &fit, &dataset.feature_names, dataset.task)?;
        Ok(Parts {
            fit: fit.normalized(&normalization)?.scaled(&targets).augmented(augmenter),
            validation: validation
                .map(|validation| {
                    let validation = validation.derived(&derivation)?.normalized(&normalization)?;
                    Ok(validation.scaled(&targets))
                })
                .transpose()?,
            derivation,
            normalization,
            targets,
            class_weights,
            taught,
        })
    }
}

/// The raw training and validation sequences of a run: the data set's own validation part, or a part split off by class (and
/// by group, where the data names groups). Of a text it is the end, where both parts have a token to predict.
pub fn split(dataset: &Dataset, fraction: f64, seed: u64) -> Result<(View<'_>, Option<View<'_>>)> {
    if let Some(validation) = &dataset.validation {
        return Ok((View::of(&dataset.train), Some(View::of(validation))));
    }
    if fraction == 0.0 {
        return Ok((View::of(&dataset.train), None));
    }
    if dataset.task == Task::NextToken {
        return Ok(split_text(&dataset.train, fraction));
    }
    let (fit, mut validation) = data::split(&dataset.train, fraction, seed)?;
    // Windows that overlap say the same twice.
    let overlapping = &dataset.train.overlapping;
    validation.retain(|&sequence| !overlapping.get(sequence).is_some_and(|&overlapping| overlapping));
    Ok((
        View::chosen(&dataset.train, &fit),
        Some(View::chosen(&dataset.train, &validation)),
    ))
}

fn split_text(text: &Part, fraction: f64) -> (View<'_>, Option<View<'_>>) {
    let tokens = text.steps();
    let validation = (fraction * tokens as f64).round() as usize;
    if text.len() != 1 || validation < 2 || tokens - validation < 2 {
        return (View::of(text), None);
    }
    let border = tokens - validation;
    (
        View::of_text(text, 0..border),
        Some(View::of_text(text, border..tokens)),
    )
}

/// Training and validation sequences together.
fn everything(dataset: &Dataset) -> View<'_> {
    View::of_all(std::iter::once(&dataset.train).chain(&dataset.validation))
}

/// Tells whether two data sets would be trained on alike: a checksum of the training and validation sequences, labels, groups
/// and class names. The test part does not belong to it.
pub fn fingerprint(dataset: &Dataset) -> String {
    let mut sum = Checksum::default();
    for part in [Some(&dataset.train), dataset.validation.as_ref()]
        .into_iter()
        .flatten()
    {
        sum.add(&(part.features as u64).to_le_bytes());
        part.offsets
            .iter()
            .for_each(|&offset| sum.add(&(offset as u64).to_le_bytes()));
        add_values(&mut sum, &part.values);
        for &number in part.labels.iter().chain(&part.groups).chain(&part.step_labels) {
            sum.add(&number.to_le_bytes());
        }
        sum.add(&part.indicators);
        for number in part.numbers.iter().chain(&part.weights).chain(&part.step_numbers) {
            sum.add(&number.to_le_bytes());
        }
    }
    for class in dataset.classes.iter().chain(&dataset.vocabulary) {
        sum.add(class.as_bytes());
        sum.add(&[0]);
    }
    sum.to_string()
}

fn add_values(sum: &mut Checksum, values: &Values) {
    match values {
        Values::Numbers(values) => values.iter().for_each(|value| sum.add(&value.to_le_bytes())),
        Values::Tokens(tokens) => tokens.iter().for_each(|token| sum.add(&token.to_le_bytes())),
        Values::Images(images) => {
            sum.add(&images.bytes);
            for &place in images.order.iter().flatten() {
                sum.add(&place.to_le_bytes());
            }
            for number in [images.row, images.colors] {
                sum.add(&(number as u64).to_le_bytes());
            }
            if let Some(noise) = images.noise {
                sum.add(&noise.seed.to_le_bytes());
                sum.add(&[u8::from(noise.kind == NoiseKind::Fixed)]);
            }
        }
    }
}

fn check_targets(dataset: &Dataset) -> Result<()> {
    let refuse = |problem: String| Err(Error::data(&dataset.name, problem));
    if dataset.train.is_empty() {
        return refuse("found no sequence, expected sequences to train on".to_string());
    }
    check_weights(dataset).or_else(refuse)?;
    match dataset.task {
        Task::Classification | Task::StepClassification => {}
        Task::NextToken if dataset.train.steps() < 2 => {
            return refuse("found fewer than two tokens, expected a text to learn from".to_string());
        }
        Task::Regression => return check_numbers(dataset).or_else(refuse),
        Task::StepRegression => return check_step_numbers(dataset).or_else(refuse),
        Task::NextToken => return Ok(()),
        Task::MultiLabel => return check_labels(&dataset.train).or_else(refuse),
    }
    if !dataset.is_labelled() {
        let expected = "a label for each to train on (--label-column names the column with classes, --target one with numbers to predict, \
             --labels a file of events of recordings)";
        return refuse(format!("found sequences without labels, expected {expected}"));
    }
    if dataset.classes.len() < 2 {
        let found = dataset.classes.join(", ");
        return refuse(format!(
            "found 1 class ({found}), expected at least 2 classes to tell apart"
        ));
    }
    Ok(())
}

/// Says what is wrong with the numbers to predict.
fn check_numbers(dataset: &Dataset) -> std::result::Result<(), String> {
    let part = &dataset.train;
    let targets = part.targets();
    if targets == 0 || part.numbers.len() != part.len() * targets {
        return Err("found sequences without a number, expected one for each".to_string());
    }
    for target in 0..targets {
        let numbers = || part.numbers.iter().skip(target).step_by(targets);
        let first = part.numbers[target];
        if part.len() > 1 && numbers().all(|&number| number == first) {
            let name = match &dataset.target_names[..] {
                names if targets > 1 && names.len() == targets => format!(" of {}", names::line(&names[target])),
                _ => String::new(),
            };
            let count = part.len();
            return Err(format!(
                "found the number {first}{name} to predict for each of {count} sequences, expected numbers that differ"
            ));
        }
    }
    for other in [&dataset.validation, &dataset.test].into_iter().flatten() {
        if other.targets() != targets {
            return Err(format!(
                "found {} numbers to predict of each sequence in one part, {targets} in another",
                other.targets()
            ));
        }
    }
    Ok(())
}

/// Says what is wrong with the numbers of steps.
fn check_step_numbers(dataset: &Dataset) -> std::result::Result<(), String> {
    let part = &dataset.train;
    let targets = part.targets();
    if targets == 0 || part.step_numbers.len() != part.steps() * targets {
        return Err("found steps without numbers, expected a number for each step, or for some of them".to_string());
    }
    for target in 0..targets {
        let mut known = part
            .step_numbers
            .iter()
            .skip(target)
            .step_by(targets)
            .filter(|number| !number.is_nan());
        let Some(first) = known.next() else {
            return Err("found no step with a number, expected numbers to learn".to_string());
        };
        if known.all(|number| number == first) {
            let name = match &dataset.target_names[..] {
                names if names.len() == targets => format!(" of {}", names::line(&names[target])),
                _ => String::new(),
            };
            return Err(format!(
                "found the number {first}{name} to predict at each step, expected numbers that differ"
            ));
        }
    }
    Ok(())
}

/// Says what is wrong with labels of which several can hold.
fn check_labels(part: &Part) -> std::result::Result<(), String> {
    let first = part.indicators_of(0);
    match part.indicators.chunks(first.len().max(1)).all(|row| row == first) {
        false => Ok(()),
        true if first.is_empty() => Err("found sequences without labels, expected labels to learn".to_string()),
        true => Err(format!(
            "found the same labels for each of {} sequences, expected labels that differ",
            part.len()
        )),
    }
}

/// Says what is wrong with the weights of the training sequences.
fn check_weights(dataset: &Dataset) -> std::result::Result<(), String> {
    let weights = &dataset.train.weights;
    if weights.is_empty() {
        return Ok(());
    }
    if dataset.task != Task::Classification {
        return Err("found weights of sequences, expected them for classes of sequences alone".to_string());
    }
    if weights.len() != dataset.train.len() {
        return Err(format!(
            "found {} weights for {} sequences, expected one each",
            weights.len(),
            dataset.train.len()
        ));
    }
    if let Some(place) = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
        return Err(format!(
            "weight of sequence {}: found {}, expected 0 or more",
            place + 1,
            weights[place]
        ));
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err("found weights that are all zero, expected one above zero".to_string());
    }
    Ok(())
}

/// For each label the weights of its absence and its presence, which let both count the same; `[labels, 2]`.
fn balanced_labels(view: &View, labels: usize) -> Vec<f32> {
    let mut counts = vec![[0; 2]; labels];
    for index in 0..view.len() {
        for (count, &holds) in counts.iter_mut().zip(view.indicators(index)) {
            count[usize::from(holds)] += 1;
        }
    }
    let weights = counts.iter().flat_map(|count| head::balanced_class_weights(count));
    weights.map(|weight| weight as f32).collect()
}

fn balanced(view: &View, classes: usize) -> Vec<f32> {
    let mut counts = vec![0; classes];
    for index in 0..view.len() {
        let labels = view
            .label(index)
            .into_iter()
            .chain(view.step_labels(index).iter().copied());
        for label in labels.filter(|&label| label != data::UNLABELLED) {
            counts[label as usize] += 1;
        }
    }
    head::balanced_class_weights(&counts)
        .into_iter()
        .map(|weight| weight as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_overlap_validate_nothing() {
        let mut train = Part::new(1);
        for window in 0..20 {
            train.push(&[window as f32], Some(window / 2 % 2), Some(window / 4));
            train.overlapping.push(window % 2 == 1);
        }
        let dataset = Dataset {
            classes: vec!["a".to_string(), "b".to_string()],
            train,
            ..Dataset::default()
        };
        let (fit, validation) = split(&dataset, 0.2, 1).unwrap();
        let validation = validation.unwrap();
        assert_eq!(
            (fit.len(), validation.len()),
            (16, 2),
            "a group of four, and two of them apart"
        );
        assert_eq!(validation.numbers(0)[0] % 2.0, 0.0);
    }

    #[test]
    fn the_end_of_a_text_validates() {
        let text = |tokens: u32| Dataset {
            task: Task::NextToken,
            train: Part::of_tokens((0..tokens).collect(), vec![0, tokens as usize], Vec::new()),
            ..Dataset::default()
        };
        let long = text(10);
        let (fit, validation) = split(&long, 0.2, 1).unwrap();
        assert_eq!(fit.tokens(0), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(validation.unwrap().tokens(0), [8, 9]);
        assert!(split(&long, 0.0, 1).unwrap().1.is_none());
        let short = text(3);
        let (fit, validation) = split(&short, 0.2, 1).unwrap();
        assert!(fit.steps() == 3 && validation.is_none());
    }
}
