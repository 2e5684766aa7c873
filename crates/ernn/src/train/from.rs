//! A run that begins with the weights of a model: classes, channels and tokens of the data are put into the model's order, by their names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use super::RunConfig;
use crate::checkpoint::SavedModel;
use crate::data::{ChannelMatch, Dataset, TargetScale, Values, list};
use crate::model::Model;
use crate::{Error, Result};

/// The data set in the order of the model that the settings name, if they name one; refused if it has other names.
pub(super) fn in_order<'d>(dataset: &'d Dataset, config: &RunConfig) -> Result<Cow<'d, Dataset>> {
    match &config.training.from {
        Some(path) => in_order_of(&SavedModel::load(path)?, path, dataset),
        None => Ok(Cow::Borrowed(dataset)),
    }
}

fn in_order_of<'d>(saved: &SavedModel, path: &Path, dataset: &'d Dataset) -> Result<Cow<'d, Dataset>> {
    let refuse = |what: &str, found: &[String], expected: &[String]| {
        let (found, expected) = (named(found), named(expected));
        let problem = format!("found {what} {found}, expected those of {}: {expected}", path.display());
        Error::data(&dataset.name, problem)
    };
    let channels = match ChannelMatch::of(&saved.feature_names, &dataset.feature_names) {
        ChannelMatch::Same | ChannelMatch::Unnamed => None,
        ChannelMatch::Reordered(order) => Some(order),
        ChannelMatch::Foreign | ChannelMatch::Partly => {
            return Err(refuse("the channels", &dataset.feature_names, &saved.feature_names));
        }
    };
    let classes = match order(&dataset.classes, &saved.classes) {
        None if has_made_up_classes(saved, dataset) => None,
        None => return Err(refuse("the classes", &dataset.classes, &saved.classes)),
        Some(_) => Some(&saved.classes).filter(|classes| **classes != dataset.classes),
    };
    let Some(tokens) = order(&dataset.vocabulary, &saved.vocabulary) else {
        return Err(refuse("the vocabulary", &dataset.vocabulary, &saved.vocabulary));
    };
    if channels.is_none() && classes.is_none() && dataset.vocabulary == saved.vocabulary {
        return Ok(Cow::Borrowed(dataset));
    }
    let mut ordered = dataset.clone();
    if let Some(order) = channels {
        ordered.feature_names = order.iter().map(|&from| dataset.feature_names[from].clone()).collect();
        ordered.parts_mut().for_each(|part| part.reorder(&order));
        for channel in ordered.forecast.iter_mut().flat_map(|forecast| &mut forecast.channels) {
            *channel = order.iter().position(|from| from == channel).unwrap_or(*channel);
        }
    }
    if let Some(classes) = classes {
        ordered.relabel(classes)?;
    }
    ordered.vocabulary.clone_from(&saved.vocabulary);
    for part in ordered.parts_mut() {
        if let Values::Tokens(all) = &mut part.values {
            all.iter_mut().for_each(|token| *token = tokens[*token as usize]);
        }
    }
    Ok(Cow::Owned(ordered))
}

/// Where each name stands in the other list; none if the lists have different names.
fn order(names: &[String], others: &[String]) -> Option<Vec<u32>> {
    let places: HashMap<&String, u32> = others.iter().zip(0..).collect();
    let order: Option<Vec<u32>> = names.iter().map(|name| places.get(name).copied()).collect();
    order.filter(|_| names.len() == others.len())
}

/// Other programs' models have numbers from 0 for classes where nobody named them.
fn has_made_up_classes(saved: &SavedModel, dataset: &Dataset) -> bool {
    let numbered = |(number, name): (usize, &String)| *name == number.to_string();
    saved.provenance.is_imported()
        && saved.classes.len() == dataset.classes.len()
        && saved.classes.iter().enumerate().all(numbered)
}

fn named(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_string()
    } else {
        list(names)
    }
}

/// Puts the weights of a model file in the place of the drawn ones. Its readout gives numbers in their own unit, the run learns them on a
/// scale.
pub(super) fn take_over(model: &mut Model<f32>, path: &Path, targets: &[TargetScale]) -> Result<()> {
    let saved = SavedModel::load(path)?;
    if saved.model.spans() != model.spans() {
        return Err(refusal(&saved.model, model, path));
    }
    model.parameters_mut().copy_from_slice(saved.model.parameters());
    let inverse = |scale: &TargetScale| TargetScale {
        mean: -scale.mean / scale.deviation,
        deviation: 1.0 / scale.deviation,
    };
    model.scale_outputs(&targets.iter().map(inverse).collect::<Vec<_>>());
    Ok(())
}

/// Why the weights of one model are none of the other.
fn refusal(saved: &Model<f32>, model: &Model<f32>, path: &Path) -> Error {
    let (found, expected) = match steps(saved, model) {
        Some((found, expected)) => (
            format!("{} with a step size for each of {found} steps", path.display()),
            format!(
                "{expected}, the steps of the longest sequence to train on: a model that was trained on sequences as long, or with \
                 --steps per-iteration"
            ),
        ),
        None => (
            format!("{} ({})", path.display(), described(saved)),
            format!("a model of the network that is trained ({})", described(model)),
        ),
    };
    Error::setting("from", found, expected)
}

/// Steps that have a step size in each model, if that is all in which they differ.
fn steps(saved: &Model<f32>, model: &Model<f32>) -> Option<(usize, usize)> {
    if saved.spans().len() != model.spans().len() {
        return None;
    }
    let mut steps = None;
    for (found, expected) in saved.spans().iter().zip(model.spans()) {
        if found.name == expected.name && found.shape == expected.shape {
            continue;
        }
        let (&[more, iterations], &[fewer, others]) = (&found.shape[..], &expected.shape[..]) else {
            return None;
        };
        if found.name != expected.name || !found.name.ends_with(".eta") || iterations != others {
            return None;
        }
        steps = Some((more, fewer));
    }
    steps
}

fn described(model: &Model<f32>) -> String {
    let cells = model.config().layers.iter();
    let cells: Vec<String> = cells.map(|cell| format!("{} {}", cell.name(), cell.hidden())).collect();
    format!("{}, {} parameters", cells.join(", "), model.parameters().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CellConfig;
    use crate::checkpoint::Provenance;
    use crate::data::{Normalization, Part, Task};
    use crate::model::ModelConfig;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn saved(channels: &str, classes: &str) -> SavedModel {
        let config = ModelConfig::new(2, 2, vec![CellConfig::of_kind("rnn").unwrap()]);
        SavedModel {
            model: Model::new(config, 1).unwrap(),
            derivation: Default::default(),
            decision: Default::default(),
            normalization: Normalization::identity(2),
            classes: names(classes),
            vocabulary: Vec::new(),
            feature_names: names(channels),
            provenance: Provenance::default(),
        }
    }

    fn dataset() -> Dataset {
        let mut train = Part::new(2);
        train.push(&[1.0, 2.0], Some(0), None);
        train.push(&[3.0, 4.0], Some(1), None);
        Dataset {
            name: "d".to_owned(),
            feature_names: names("x y"),
            classes: names("no yes"),
            train,
            ..Dataset::default()
        }
    }

    fn refused(channels: &str, classes: &str) -> String {
        let found = in_order_of(&saved(channels, classes), Path::new("m"), &dataset()).map(|_| ());
        found.unwrap_err().to_string()
    }

    #[test]
    fn channels_and_classes_get_the_order_of_the_model() {
        let data = dataset();
        let ordered = in_order_of(&saved("y x", "yes no"), Path::new("m"), &data).unwrap();
        assert_eq!(ordered.train.values.numbers(), [2.0, 1.0, 4.0, 3.0]);
        assert_eq!(ordered.train.labels, [1, 0]);
        assert_eq!(
            (&ordered.feature_names, &ordered.classes),
            (&names("y x"), &names("yes no"))
        );
        let same = in_order_of(&saved("x y", "no yes"), Path::new("m"), &data).unwrap();
        assert!(matches!(same, Cow::Borrowed(_)));
    }

    #[test]
    fn tokens_get_the_order_of_the_model() {
        let data = Dataset {
            feature_names: names("token"),
            vocabulary: names("a b c"),
            task: Task::NextToken,
            train: Part::of_tokens(vec![0, 1, 2, 0], vec![0, 4], Vec::new()),
            ..Dataset::default()
        };
        let model = SavedModel {
            vocabulary: names("b c a"),
            ..saved("token", "")
        };
        let ordered = in_order_of(&model, Path::new("m"), &data).unwrap();
        assert_eq!(ordered.train.values.tokens(), [2, 0, 1, 2]);
        assert_eq!(ordered.vocabulary, model.vocabulary);
    }

    #[test]
    fn other_names_are_refused() {
        assert_eq!(
            refused("x y", "no maybe"),
            "d: found the classes no, yes, expected those of m: no, maybe"
        );
        assert_eq!(
            refused("x z", "no yes"),
            "d: found the channels x, y, expected those of m: x, z"
        );
        assert_eq!(
            refused("a b", "no yes"),
            "d: found the channels x, y, expected those of m: a, b"
        );
    }

    #[test]
    fn numbers_that_an_import_made_up_are_no_names() {
        let data = dataset();
        let kept = in_order_of(&saved("x y", "0 1"), Path::new("m"), &data).unwrap();
        assert!(matches!(kept, Cow::Borrowed(_)));
    }
}
