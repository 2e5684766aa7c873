//! The written bytes against the model: both run over random sequences.
//!
//! Sequences have several lengths, up to a few steps beyond the learned step sizes, in batches of several sizes; behind the end of a
//! sequence stands what must not count. Both sides compute in `f32`, in another order, so their logits differ by rounding.

use std::fmt;

use ernn_kernels::{Isa, Panels};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::run::{Array, run};
use super::{layers, problem, proto};
use crate::cell::Folded;
use crate::checkpoint::SavedModel;
use crate::data::{Normalization, Task};
use crate::model::Workspace;
use crate::{Error, Result};

/// The largest difference that rounding may make, for logits up to 1; larger ones in proportion; of numbers to predict in their deviations.
const BOUND: f32 = 2e-4;
/// Steps of the longest sequence of a model whose steps are all alike.
const STEPS: usize = 40;
/// Steps of the longest sequence at most: the check is no benchmark.
const MOST_STEPS: usize = 1000;
/// Stands behind a sequence's end.
const PADDING: f32 = 1e6;

/// How well both agree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parity {
    sequences: usize,
    longest: usize,
    /// Largest difference of two logits, and the largest logit.
    difference: f32,
    largest: f32,
    /// Standard deviations of the numbers that the outputs of a model of numbers were trained on; empty of others.
    deviations: Vec<f32>,
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Parity {
            sequences,
            longest,
            difference,
            largest,
            deviations,
        } = self;
        if !deviations.is_empty() {
            return write!(
                f,
                "parity: the file's bytes, run on {sequences} random sequences of 1 to {longest} steps, give the model's numbers; the \
                 largest difference is {difference:.1e}, of numbers up to {largest:.3e}"
            );
        }
        write!(
            f,
            "parity: the file's bytes, run on {sequences} random sequences of 1 to {longest} steps, give the model's logits; \
             the largest difference is {difference:.1e}, of logits up to {largest:.3}"
        )
    }
}

/// Runs both.
///
/// # Errors
/// If they differ by more than rounding.
pub(super) fn check(bytes: &[u8], saved: &SavedModel) -> Result<Parity> {
    let model = proto::Model::decode(bytes).map_err(problem)?;
    let longest = longest(saved);
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut parity = Parity {
        sequences: 0,
        longest,
        difference: 0.0,
        largest: 0.0,
        deviations: deviations(saved),
    };
    for lengths in [vec![longest, longest / 2 + 1, 1], vec![longest.div_ceil(3)]] {
        let batch = Batch::draw(saved, &lengths, &mut random);
        let theirs = batch.theirs(&model).map_err(problem)?;
        let ours = batch.ours(saved)?;
        parity.compare(&ours, &theirs)?;
        parity.sequences += lengths.len();
    }
    Ok(parity)
}

/// The deviation of the target of each output; empty of a model that knows none.
fn deviations(saved: &SavedModel) -> Vec<f32> {
    let each = saved.model.config().quantiles.len().max(1);
    let targets = saved.provenance.targets.iter();
    targets
        .flat_map(|scale| std::iter::repeat_n(scale.deviation as f32, each))
        .collect()
}

impl Parity {
    /// What rounding may make of each output, of logits `[.., outputs]`; one for all of a model of classes.
    fn bounds(&self, logits: &[f32], largest: f32) -> Vec<f32> {
        if self.deviations.is_empty() {
            return vec![BOUND * largest.max(1.0)];
        }
        let bound = |(place, deviation): (usize, &f32)| {
            let own = logits.iter().skip(place).step_by(self.deviations.len());
            let largest = own.fold(0.0f32, |most, number| most.max(number.abs()));
            BOUND * deviation + 16.0 * f32::EPSILON * largest
        };
        self.deviations.iter().enumerate().map(bound).collect()
    }

    fn compare(&mut self, ours: &[Vec<f32>], theirs: &[Vec<f32>]) -> Result<()> {
        let (ours, theirs) = (ours.concat(), theirs.concat());
        if ours.len() != theirs.len() {
            return Err(problem(format!("{} logits, expected {}", theirs.len(), ours.len())));
        }
        let largest = ours.iter().fold(0.0f32, |most, logit| most.max(logit.abs()));
        let bounds = self.bounds(&ours, largest);
        for ((&ours, &theirs), &bound) in ours.iter().zip(&theirs).zip(bounds.iter().cycle()) {
            let difference = (ours - theirs).abs();
            // Not of what is no number.
            let close = difference <= bound;
            if !close {
                return Err(differs(ours, theirs, bound));
            }
            self.difference = self.difference.max(difference);
        }
        self.largest = self.largest.max(largest);
        Ok(())
    }
}

fn differs(ours: f32, theirs: f32, bound: f32) -> Error {
    problem(format!(
        "run on random sequences it gives the logit {theirs}, the model {ours}: more than {bound:.1e} apart. Nothing was written"
    ))
}

/// Some steps more than there are learned step sizes.
fn longest(saved: &SavedModel) -> usize {
    let (layers, _) = saved.model.fold();
    let rows = layers.iter().flatten().map(|cell| match cell {
        Folded::Leaky(cell) => cell.decay.len() / cell.iterations,
        Folded::Deep(cell) => cell.decay.len() / cell.iterations,
        Folded::Gated(_) | Folded::Equilibrium(_) => 1,
    });
    match rows.max().unwrap_or(1) {
        1 => STEPS,
        rows => (rows + 3).min(MOST_STEPS),
    }
}

/// Random sequences, padded.
struct Batch {
    lengths: Vec<usize>,
    /// `[batch,steps,d]`, or `[batch,steps]` tokens.
    input: Input,
}

enum Input {
    Values(Vec<f32>),
    Tokens(Vec<u32>),
}

impl Batch {
    fn draw(saved: &SavedModel, lengths: &[usize], random: &mut ChaCha8Rng) -> Self {
        let config = saved.model.config();
        let mut value = |mean: f32, scale: f32| {
            let value: f32 = StandardNormal.sample(random);
            if scale == 0.0 { mean } else { mean + value / scale }
        };
        let input = match &config.embedding {
            Some(embedding) => {
                let count = lengths.len() * steps(lengths);
                Input::Tokens(
                    (0..count)
                        .map(|_| random.random_range(0..embedding.vocabulary as u32))
                        .collect(),
                )
            }
            None => {
                let mut values = Vec::new();
                for &length in lengths {
                    for _ in 0..length {
                        let Normalization { mean, scale } = &saved.normalization;
                        let channels = mean.iter().zip(scale).take(saved.channels());
                        values.extend(channels.map(|(&mean, &scale)| value(mean, scale)));
                    }
                    let behind = (steps(lengths) - length) * saved.channels();
                    values.extend(std::iter::repeat_n(PADDING, behind));
                }
                Input::Values(values)
            }
        };
        Batch {
            lengths: lengths.to_vec(),
            input,
        }
    }

    /// The logits of each sequence, by the file.
    fn theirs(&self, model: &proto::Model) -> std::result::Result<Vec<Vec<f32>>, String> {
        let (batch, steps) = (self.lengths.len(), steps(&self.lengths));
        let (name, input) = match &self.input {
            Input::Values(values) => {
                let shape = [batch, steps, values.len() / (batch * steps)];
                (layers::INPUT, Array::floats(&shape, values.clone()))
            }
            Input::Tokens(tokens) => {
                let tokens = tokens.iter().map(|&token| i64::from(token)).collect();
                (layers::TOKENS, Array::integers(&[batch, steps], tokens))
            }
        };
        let lengths = self.lengths.iter().map(|&length| length as i64).collect();
        let lengths = Array::integers(&[batch], lengths);
        let outputs = run(model, &[(name, input), (layers::LENGTHS, lengths)])?;
        let logits = outputs.first().ok_or("no output")?;
        let rows = logits.as_floats()?.chunks_exact(logits.len() / batch);
        let every_step = logits.shape.len() == 3;
        let meant = |(row, &length): (&[f32], &usize)| {
            let end = if every_step {
                row.len() / steps * length
            } else {
                row.len()
            };
            row[..end].to_vec()
        };
        Ok(rows.zip(&self.lengths).map(meant).collect())
    }

    /// The same by the model.
    fn ours(&self, saved: &SavedModel) -> Result<Vec<Vec<f32>>> {
        let model = &saved.model;
        let (size, steps) = (model.config().input_size, steps(&self.lengths));
        let values = match &self.input {
            Input::Tokens(tokens) => model.embed(tokens),
            Input::Values(values) => {
                let mut values = derived(saved, values, steps);
                for row in values.chunks_exact_mut(size) {
                    saved.normalization.apply_row(row);
                }
                values
            }
        };
        let mut panels = Panels::new(Isa::best(), size, &self.lengths);
        panels.pack_steps(size, &self.lengths, |sequence, step| {
            &values[(sequence * steps + step) * size..][..size]
        });
        let mut workspace = Workspace::default();
        let classes = model.config().classes;
        if let Task::Classification | Task::Regression | Task::MultiLabel = model.config().task {
            let logits = model.logits(&panels, &mut workspace)?;
            return Ok(logits.chunks_exact(classes).map(<[f32]>::to_vec).collect());
        }
        let states = model.states(&panels, &mut workspace)?;
        let states = &states.last().expect("a model has a layer").all;
        let (_, readout) = model.fold();
        let mut row = vec![0.0; states.features()];
        let of_sequence = |(sequence, &length): (usize, &usize)| {
            let mut logits = Vec::new();
            for step in 0..length {
                states.read_step(sequence, step, &mut row);
                logits.extend(read_out(readout, classes, &row));
            }
            logits
        };
        Ok(self.lengths.iter().enumerate().map(of_sequence).collect())
    }
}

/// The channels that the model reads, of sequences `[batch,steps,channels]`.
fn derived(saved: &SavedModel, values: &[f32], steps: usize) -> Vec<f32> {
    let deriver = saved.derivation.ready(saved.channels());
    let mut all = vec![0.0; values.len() / saved.channels() * deriver.features()];
    let sequences = values.chunks_exact(steps * saved.channels());
    for (values, out) in sequences.zip(all.chunks_exact_mut(steps * deriver.features())) {
        deriver.sequence(values, out);
    }
    all
}

/// The logits of one state.
fn read_out(parameters: &[f32], classes: usize, state: &[f32]) -> Vec<f32> {
    let (weight, bias) = parameters.split_at(parameters.len() - classes);
    let rows = weight.chunks_exact(state.len()).zip(bias);
    rows.map(|(row, bias)| row.iter().zip(state).map(|(a, b)| a * b).sum::<f32>() + bias)
        .collect()
}

fn steps(lengths: &[usize]) -> usize {
    lengths.iter().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CellConfig;
    use crate::checkpoint::Provenance;
    use crate::data::Derivation;
    use crate::exchange::onnx::proto::{Attribute, Graph, Model as File, Values};
    use crate::model::{Model, ModelConfig};

    fn model(kind: &str) -> SavedModel {
        let cell = CellConfig::of_kind(kind).unwrap().with_hidden(9);
        SavedModel {
            model: Model::new(ModelConfig::new(2, 2, vec![cell]), 1).unwrap(),
            derivation: Default::default(),
            decision: Default::default(),
            normalization: Normalization {
                mean: vec![1.0, -2.0],
                scale: vec![0.5, 3.0],
            },
            classes: vec!["no".to_string(), "yes".to_string()],
            vocabulary: Vec::new(),
            feature_names: vec!["x".to_string(), "y".to_string()],
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn derived_channels_are_in_the_file() {
        for kinds in 1..8 {
            let derivation = Derivation {
                differences: kinds & 1 != 0,
                scales: if kinds & 2 != 0 {
                    vec![0.3, 0.02, 4.0]
                } else {
                    Vec::new()
                },
                triads: if kinds & 4 != 0 { vec![[2, 0, 1]] } else { Vec::new() },
            };
            let features = derivation.features(3);
            let cell = CellConfig::of_kind(["gru", "ernn"][kinds % 2]).unwrap().with_hidden(9);
            let mut saved = SavedModel {
                model: Model::new(ModelConfig::new(features, 2, vec![cell]), 1).unwrap(),
                normalization: Normalization {
                    mean: vec![1.0; features],
                    scale: vec![0.5; features],
                },
                derivation,
                feature_names: vec!["x".to_string(), "y".to_string(), "z".to_string()],
                ..model("gru")
            };
            let (bytes, notes) = crate::exchange::onnx::to_bytes(&saved).unwrap();
            assert!(notes[0].contains("[batch, steps, 3]"), "{notes:?}");
            // Another scale is another model.
            if !saved.derivation.scales.is_empty() {
                saved.derivation.scales[1] *= 2.0;
                let error = check(&bytes, &saved).unwrap_err().to_string();
                assert!(error.contains("run on random sequences"), "{error}");
            }
        }
    }

    /// What the check says about a file that was changed.
    fn refusal(kind: &str, change: fn(&mut Graph)) -> String {
        let saved = model(kind);
        let (bytes, _) = crate::exchange::onnx::to_bytes(&saved).unwrap();
        let mut file = File::decode(&bytes).unwrap();
        change(&mut file.graph);
        check(&file.encode(), &saved).unwrap_err().to_string()
    }

    fn add(graph: &mut Graph, place: usize, by: f32) {
        let mut constants = graph
            .constants
            .iter_mut()
            .filter_map(|constant| match &mut constant.values {
                Values::Floats(values) if values.len() > 1 => Some(values),
                _ => None,
            });
        constants.nth(place).unwrap()[0] += by;
    }

    /// Another mean, another scale, another weight.
    const CHANGES: [fn(&mut Graph); 3] = [
        |graph| add(graph, 0, 0.1),
        |graph| add(graph, 1, 0.1),
        |graph| add(graph, 2, 0.1),
    ];

    #[test]
    fn a_file_that_computes_something_else_is_refused() {
        for kind in ["lstm", "gru", "ernn", "ugrnn"] {
            for (place, change) in CHANGES.into_iter().enumerate() {
                let text = refusal(kind, change);
                assert!(text.contains("Nothing was written"), "{kind} {place}: {text}");
            }
        }
        let text = refusal("rnn", |graph| add(graph, 2, f32::NAN));
        assert!(text.contains("NaN"), "{text}");
    }

    #[test]
    fn a_state_that_reads_padding_is_refused() {
        let text = refusal("fastrnn", |graph| {
            let scan = graph.nodes.iter_mut().find(|node| node.operator == "Scan").unwrap();
            let body = scan.attributes.iter_mut().find_map(|(_, value)| match value {
                Attribute::Graph(body) => Some(body),
                _ => None,
            });
            let kept = body
                .unwrap()
                .nodes
                .iter_mut()
                .find(|node| node.operator == "Where")
                .unwrap();
            kept.inputs[2] = kept.inputs[1].clone();
        });
        assert!(text.contains("apart"), "{text}");
    }

    #[test]
    fn what_is_no_graph_of_ours_is_refused() {
        let text = refusal("gru", |graph| graph.nodes.clear());
        assert!(text.contains("no value logits"), "{text}");
        let text = refusal("gru", |graph| graph.nodes[0].operator = "Einsum".to_string());
        assert!(text.contains("Einsum"), "{text}");
        assert!(
            check(b"not a file", &model("rnn"))
                .unwrap_err()
                .to_string()
                .starts_with("the ONNX file: ")
        );
    }
}
