//! What a model consists of: sizes, cells, task.

use ernn_kernels::Real;
use serde::{Deserialize, Serialize};

use super::{Embedding, Pooling};
use crate::cell::{CellConfig, Folded, Span};
use crate::data::Task;
use crate::head::Readout;
use crate::{Error, Result};

/// Sizes and cells of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// `d`, values a step; of tokens, the size of the embedding.
    pub input_size: usize,
    /// Number of classes; for regression of outputs, one for each target and quantile.
    pub classes: usize,
    /// The cells, from input to readout.
    pub layers: Vec<CellConfig>,
    /// Share of the pooled state that is dropped in training.
    pub dropout: f64,
    /// Which states the readout sees.
    pub pooling: Pooling,
    /// Whether every layer has a second cell that reads the sequences from their ends.
    #[serde(default)]
    pub bidirectional: bool,
    /// Share of each layer's states that the next layer does not see in training; drawn anew for every step, as torch does.
    #[serde(default)]
    pub layer_dropout: f64,
    /// What is learned: the class of a sequence, of each step, the next token, or numbers of either.
    #[serde(default)]
    pub task: Task,
    /// What makes values of tokens, for sequences of tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Embedding>,
    /// Share of the embedding's values that is dropped in training.
    #[serde(default)]
    pub embedding_dropout: f64,
    /// What the cells' matrices are rounded to wherever the model is used. The parameters stay what they are, and gradients go straight
    /// through the rounding.
    #[serde(default, skip_serializing_if = "Quantize::is_none")]
    pub quantize: Quantize,
    /// For regression: the quantiles of each target that the outputs are, rising; empty: one output a target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<f64>,
}

/// What matrices are rounded to before they are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantize {
    /// Nothing.
    #[default]
    None,
    /// Each row of a folded matrix to 8 bits, as `ernn export --format int8` does.
    Int8,
}

impl Quantize {
    pub(crate) fn is_none(&self) -> bool {
        *self == Quantize::None
    }
}

/// Sizes up to this overflow no product of two, with some gates and layers.
const LARGEST: u64 = 1 << 26;

impl ModelConfig {
    /// The largest of all sizes, whatever the cells call them.
    fn largest_size(&self) -> Option<u64> {
        let mut rest = vec![serde_json::to_value(self).ok()?];
        let mut largest = None;
        while let Some(value) = rest.pop() {
            match value {
                serde_json::Value::Number(number) => largest = largest.max(number.as_u64()),
                serde_json::Value::Array(values) => rest.extend(values),
                serde_json::Value::Object(entries) => rest.extend(entries.into_iter().map(|(_, value)| value)),
                _ => {}
            }
        }
        largest
    }

    /// A classifier of sequences by the last state of these layers, in one direction, without dropout.
    pub fn new(input_size: usize, classes: usize, layers: Vec<CellConfig>) -> Self {
        ModelConfig {
            input_size,
            classes,
            layers,
            dropout: 0.0,
            pooling: Pooling::Last,
            bidirectional: false,
            layer_dropout: 0.0,
            task: Task::Classification,
            embedding: None,
            embedding_dropout: 0.0,
            quantize: Quantize::None,
            quantiles: Vec::new(),
        }
    }

    /// Checks the settings.
    pub fn check(&self) -> Result<()> {
        if self.input_size == 0 {
            return Err(Error::setting("input_size", "0", "at least 1"));
        }
        match (self.task, self.classes) {
            (Task::Regression | Task::StepRegression, outputs) => check_outputs(outputs, &self.quantiles)?,
            _ if !self.quantiles.is_empty() => {
                return Err(Error::setting("quantiles", list(&self.quantiles), "none of classes"));
            }
            (Task::MultiLabel, 1..) => {}
            (Task::MultiLabel, 0) => return Err(Error::setting("classes", self.classes, "at least 1 label")),
            (_, 0 | 1) => return Err(Error::setting("classes", self.classes, "at least 2")),
            _ => {}
        }
        if let Some(size) = self.largest_size().filter(|&size| size > LARGEST) {
            return Err(Error::setting("size", size, "sizes of at most 67,108,864"));
        }
        if self.layers.is_empty() {
            return Err(Error::setting("layers", "none", "at least one cell"));
        }
        let rates = [
            ("dropout", self.dropout),
            ("layer_dropout", self.layer_dropout),
            ("embedding_dropout", self.embedding_dropout),
        ];
        for (name, rate) in rates {
            if !(0.0..1.0).contains(&rate) {
                return Err(Error::setting(name, rate, "at least 0 and below 1"));
            }
        }
        if self.task == Task::NextToken && (self.bidirectional || self.embedding.is_none()) {
            let found = if self.bidirectional {
                "a bidirectional model"
            } else {
                "no embedding"
            };
            let found = format!("next-token with {found}");
            return Err(Error::setting("task", found, "tokens, read in one direction"));
        }
        if let Some(embedding) = &self.embedding {
            if embedding.vocabulary == 0 || !embedding.deviation.is_finite() || embedding.deviation < 0.0 {
                let found = format!("{} tokens, deviation {}", embedding.vocabulary, embedding.deviation);
                let expected = "at least one token, and a deviation of 0 or more";
                return Err(Error::setting("embedding", found, expected));
            }
            let sizes = (self.classes, self.readout().inputs);
            if embedding.tied && sizes != (embedding.vocabulary, self.input_size) {
                let found = format!("true, with a readout of {} classes from {} values", sizes.0, sizes.1);
                let expected = format!("{} and {}, as the embedding", embedding.vocabulary, self.input_size);
                return Err(Error::setting("tied", found, expected));
            }
        }
        self.layers.iter().try_for_each(CellConfig::check)
    }

    /// A cell folded as this model uses it.
    pub(crate) fn fold<F: Real>(&self, cell: &CellConfig, inputs: usize, parameters: &[F]) -> Folded<F> {
        let mut folded = cell.fold(inputs, parameters);
        if self.quantize == Quantize::Int8 {
            folded.round_weights();
        }
        folded
    }

    /// Numbers that a regression predicts of each sequence.
    pub fn targets(&self) -> usize {
        self.classes / self.quantiles.len().max(1)
    }

    /// Whether anything is dropped in training.
    pub fn drops(&self) -> bool {
        [self.dropout, self.layer_dropout, self.embedding_dropout]
            .iter()
            .any(|&rate| rate > 0.0)
    }

    /// Values a step of the sequences that the model reads: 1 for tokens.
    pub fn features(&self) -> usize {
        if self.embedding.is_some() { 1 } else { self.input_size }
    }

    /// Cells in a layer.
    pub fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    /// Each cell with the size of its input, and the prefix of its tensors' names; the directions of a layer follow each other.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, &CellConfig, String)> {
        let directions = self.directions();
        let outputs = self.layers.iter().map(move |cell| cell.hidden() * directions);
        let sizes = std::iter::once(self.input_size).chain(outputs);
        sizes
            .zip(&self.layers)
            .enumerate()
            .flat_map(move |(index, (inputs, cell))| {
                let prefixes = [format!("layers.{index}."), format!("layers.{index}.reverse.")];
                prefixes
                    .into_iter()
                    .take(directions)
                    .map(move |prefix| (inputs, cell, prefix))
            })
    }

    pub(super) fn readout(&self) -> Readout {
        Readout {
            inputs: self.top() * self.pooled().statistics().len(),
            classes: self.classes,
        }
    }

    /// Numbers of the last layer's states at a step, of both directions.
    pub(super) fn top(&self) -> usize {
        self.layers.last().map_or(0, CellConfig::hidden) * self.directions()
    }

    /// What the readout sees: where every step is judged, the state of each, whatever the setting.
    pub fn pooled(&self) -> Pooling {
        match self.task {
            Task::StepClassification | Task::NextToken | Task::StepRegression => Pooling::Last,
            Task::Classification | Task::Regression | Task::MultiLabel => self.pooling,
        }
    }

    /// The named spans of the flat parameter vector.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let end = |spans: &[Span]| spans.last().map_or(0, |span: &Span| span.range().end);
        for (inputs, cell, prefix) in self.cells() {
            let start = end(&spans);
            spans.extend(cell.spans(inputs, &prefix, start));
        }
        let start = end(&spans);
        spans.extend(self.readout().spans(start));
        let start = end(&spans);
        spans.extend(
            self.embedding
                .as_ref()
                .and_then(|embedding| embedding.span(self.input_size, start)),
        );
        spans
    }
}

/// Refuses quantiles that are none, and outputs that are not one for each of them.
fn check_outputs(outputs: usize, quantiles: &[f64]) -> Result<()> {
    check_quantiles(quantiles)?;
    let each = quantiles.len().max(1);
    if outputs > 0 && outputs.is_multiple_of(each) {
        return Ok(());
    }
    let expected = match each {
        1 => "at least 1, a number for each target".to_string(),
        _ => format!("a multiple of {each}, a number for each target and quantile"),
    };
    Err(Error::setting("classes", outputs, expected))
}

/// Refuses quantiles that do not rise between 0 and 1.
///
/// # Errors
/// Names them all.
pub fn check_quantiles(quantiles: &[f64]) -> Result<()> {
    let inside = quantiles.iter().all(|&quantile| quantile > 0.0 && quantile < 1.0);
    if inside && quantiles.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    let expected = "numbers between 0 and 1, each larger than the one before, such as 0.1,0.5,0.9";
    Err(Error::setting("quantiles", list(quantiles), expected))
}

fn list(quantiles: &[f64]) -> String {
    let texts: Vec<String> = quantiles.iter().map(f64::to_string).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_rise_between_0_and_1_and_share_the_outputs() {
        let config = |task, classes, quantiles: &[f64]| ModelConfig {
            task,
            quantiles: quantiles.to_vec(),
            ..ModelConfig::new(2, classes, vec![CellConfig::of_kind("rnn").unwrap()])
        };
        for (classes, quantiles, targets) in [(1, &[][..], 1), (3, &[], 3), (6, &[0.1, 0.5, 0.9], 2)] {
            let config = config(Task::Regression, classes, quantiles);
            config.check().unwrap();
            assert_eq!(config.targets(), targets);
        }
        for quantiles in [&[0.0, 0.5][..], &[0.5, 1.0], &[0.5, 0.5], &[0.9, 0.1], &[f64::NAN]] {
            let error = config(Task::Regression, quantiles.len(), quantiles)
                .check()
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("quantiles: found ") && error.contains("larger than the one before"),
                "{error}"
            );
        }
        let error = config(Task::Regression, 4, &[0.1, 0.5, 0.9])
            .check()
            .unwrap_err()
            .to_string();
        assert!(error.contains("a multiple of 3"), "{error}");
        assert!(config(Task::Regression, 0, &[]).check().is_err());
        assert!(config(Task::Classification, 3, &[0.1, 0.5, 0.9]).check().is_err());
    }
}
