//! What the numbers of a regression model are called.

use super::SavedModel;

impl SavedModel {
    /// What each target is called: by the data, or where it says nothing `value`, of several with its place from 1.
    pub fn target_names(&self) -> Vec<String> {
        let (known, targets) = (&self.provenance.target_names, self.model.config().targets());
        match targets {
            _ if known.len() == targets => known.clone(),
            1 => vec!["value".to_string()],
            _ => (1..=targets).map(|place| format!("value{place}")).collect(),
        }
    }

    /// A name for each output: `value` or the target, its quantile `q0.1`, or both: `load_q0.1`.
    pub fn output_names(&self) -> Vec<String> {
        output_names(self.target_names(), &self.model.config().quantiles)
    }
}

/// A name for each output of these targets.
pub(crate) fn output_names(targets: Vec<String>, quantiles: &[f64]) -> Vec<String> {
    if quantiles.is_empty() {
        return targets;
    }
    let several = targets.len() > 1;
    let of = |target: &String| {
        let prefix = if several { format!("{target}_") } else { String::new() };
        quantiles.iter().map(move |quantile| format!("{prefix}q{quantile}"))
    };
    targets.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::cell::CellConfig;
    use crate::checkpoint::{Provenance, SavedModel};
    use crate::data::{Normalization, Task};
    use crate::model::{Model, ModelConfig};

    fn names(outputs: usize, quantiles: &[f64], targets: &[&str]) -> Vec<String> {
        let config = ModelConfig {
            task: Task::Regression,
            quantiles: quantiles.to_vec(),
            ..ModelConfig::new(1, outputs, vec![CellConfig::of_kind("rnn").unwrap()])
        };
        let saved = SavedModel {
            model: Model::new(config, 1).unwrap(),
            derivation: Default::default(),
            decision: Default::default(),
            normalization: Normalization::identity(1),
            classes: Vec::new(),
            vocabulary: Vec::new(),
            feature_names: vec!["x".to_string()],
            provenance: Provenance {
                target_names: targets.iter().map(ToString::to_string).collect(),
                ..Provenance::default()
            },
        };
        saved.output_names()
    }

    #[test]
    fn outputs_are_targets_quantiles_or_both() {
        assert_eq!(names(1, &[], &[]), ["value"]);
        assert_eq!(names(2, &[], &[]), ["value1", "value2"]);
        assert_eq!(names(2, &[], &["a", "b"]), ["a", "b"]);
        assert_eq!(names(2, &[0.1, 0.9], &[]), ["q0.1", "q0.9"]);
        assert_eq!(
            names(4, &[0.25, 0.5], &["a", "b"]),
            ["a_q0.25", "a_q0.5", "b_q0.25", "b_q0.5"]
        );
    }
}
