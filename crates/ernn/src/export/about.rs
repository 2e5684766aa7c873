//! What an export says about its model besides the numbers: names, units, where it comes from.

use ernn_core::Format;

use super::Prepared;
use super::unit::{output_names, target_name};
use crate::checkpoint::{Checksum, SavedModel};
use crate::data::{Task, list};
use crate::names::{counted, line};

/// What a run knows of its model beyond the model's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// Steps of the longest training sequence.
    pub steps: Option<usize>,
    /// `accuracy 97.3 % on the test part`.
    pub score: Option<String>,
    /// The accuracy in it, from 0 to 1; only of a test part.
    pub test_accuracy: Option<f64>,
}

/// A logit of a model of whole numbers, divided by this, is the number that was trained.
pub(super) const WHOLE_LOGIT: u32 = 1 << 16;

/// What divides a logit of this export.
pub(super) fn logit_scale(format: Format) -> u32 {
    match format {
        Format::Float => 1,
        Format::Int8 => WHOLE_LOGIT,
    }
}

/// 16 hexadecimal digits that two exports share if their numbers are the same.
pub(super) fn id(prepared: &Prepared) -> String {
    let mut sum = Checksum::default();
    sum.add(&prepared.image);
    sum.to_string()
}

/// Where the model comes from: the data set and the program, the cells, how good it is.
pub(super) fn origin(saved: &SavedModel, about: &About) -> Vec<String> {
    let cells = saved.model.config().layers.iter();
    let cells: Vec<String> = cells.map(|cell| format!("{} {}", cell.name(), cell.hidden())).collect();
    let provenance = &saved.provenance;
    let from = line(&provenance.dataset);
    let mut lines = vec![format!(
        "A recurrent network ({}), trained on \"{from}\".",
        cells.join(", ")
    )];
    if !provenance.is_imported() {
        lines.push(format!(
            "Trained by ernn {}, seed {}.",
            line(&provenance.version),
            provenance.seed
        ));
    }
    lines.extend(about.score.as_ref().map(|score| format!("In the run: {score}.")));
    lines
}

/// What a step of the inputs is, and what has to be computed before: an export takes the values as the model read them.
pub(super) fn inputs(saved: &SavedModel) -> Vec<String> {
    if saved.model.config().embedding.is_some() {
        let task = saved.model.config().task;
        let unit = if task == Task::Classification { "words" } else { "text" };
        return vec![
            "A step is the number of a token, in the order of vocabulary.json.".to_string(),
            format!("There is no tokenizer here: the caller turns {unit} into those numbers, as in training."),
        ];
    }
    let mut lines = Vec::new();
    match saved.sound() {
        Some(recipe) => {
            lines.push(format!(
                "A step are {} log-mel values, which are computed here, of",
                saved.feature_names.len()
            ));
            lines.extend(recipe.lines());
            lines.extend(recipe.length.map(|length| {
                format!(
                    "It learned from sounds of {length} samples: shorter ones had silence in front, longer ones were cut."
                )
            }));
        }
        None => lines.push(
            "Inputs are in the units of the training data, raw: they are normalized here. Their order:".to_string(),
        ),
    }
    lines
}

/// What the output of a model of numbers or labels is; none of another model.
pub(super) fn output(saved: &SavedModel) -> Option<String> {
    if saved.model.config().task == Task::MultiLabel {
        return Some("Each output is a label of its own: none, one or several can hold.".to_string());
    }
    if let Some(least) = saved.decision.unknown_below {
        return Some(format!(
            "It learned where to say \"unknown\": where the largest probability is below {least:.4}. This code leaves that to the caller."
        ));
    }
    if saved.decision.penalty() > 0.0 {
        return Some(
            "In its run, classes of steps were smoothed over whole recordings; this code says each step for itself."
                .to_string(),
        );
    }
    let config = saved.model.config();
    let each = if config.task == Task::StepRegression {
        " at each step"
    } else {
        ""
    };
    config
        .task
        .is_of_numbers()
        .then(|| match (config.classes, target_name(saved)) {
            (1, Some(name)) if config.quantiles.is_empty() => {
                format!("It says one number{each}, \"{name}\" of the training data, in its unit.")
            }
            (1, _) if config.quantiles.is_empty() => {
                format!("It says one number{each}, in the unit of the training data.")
            }
            (count, _) => format!(
                "It says {}{each}, in the units of the training data: {}.",
                counted(count, "number"),
                list(&output_names(saved))
            ),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_logit_has_16_places() {
        assert_eq!((logit_scale(Format::Float), logit_scale(Format::Int8)), (1, 65_536));
    }
}
