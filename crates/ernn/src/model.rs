//! The model: layers of cells and a readout over one flat parameter vector.
//!
//! Inputs `[block][time][feature][lane]` go through the layers; the state at each sequence's last step, or the mean of its
//! states, goes through dropout and the readout to logits `[sequences, classes]`.

use ernn_kernels::leaky::{LeakyGradient, SequenceRunner, StateGradient, Trace, backward, forward, infer};
use ernn_kernels::{Panels, Real};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::cell::{CellConfig, Folded, Span};
use crate::head::{Readout, apply_mask, cross_entropy, dropout_mask};
use crate::{Error, Result};

/// Which states the readout sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The state after the last step.
    Last,
    /// The mean of the states after every step.
    Mean,
}

/// Sizes and cells of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// `d`, values a step.
    pub input_size: usize,
    /// Number of classes.
    pub classes: usize,
    /// The cells, from input to readout.
    pub layers: Vec<CellConfig>,
    /// Share of the pooled state that is dropped in training.
    pub dropout: f64,
    /// Which states the readout sees.
    pub pooling: Pooling,
}

impl ModelConfig {
    /// Checks the settings.
    pub fn check(&self) -> Result<()> {
        let setting = |name: &str, found: String, expected: &str| {
            Err(Error::Setting {
                name: name.to_string(),
                found,
                expected: expected.to_string(),
            })
        };
        if self.input_size == 0 {
            return setting("input_size", "0".to_string(), "at least 1");
        }
        if self.classes < 2 {
            return setting("classes", self.classes.to_string(), "at least 2");
        }
        if self.layers.is_empty() {
            return setting("layers", "none".to_string(), "at least one cell");
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return setting("dropout", self.dropout.to_string(), "at least 0 and below 1");
        }
        self.layers.iter().try_for_each(CellConfig::check)
    }

    /// Each layer with the size of its input.
    fn layers(&self) -> impl Iterator<Item = (usize, &CellConfig)> {
        let sizes = std::iter::once(self.input_size).chain(self.layers.iter().map(CellConfig::hidden));
        sizes.zip(&self.layers)
    }

    fn readout(&self) -> Readout {
        Readout {
            inputs: self.layers.last().map_or(0, CellConfig::hidden),
            classes: self.classes,
        }
    }

    /// The named spans of the flat parameter vector.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let end = |spans: &[Span]| spans.last().map_or(0, |span: &Span| span.range().end);
        for (index, (inputs, cell)) in self.layers().enumerate() {
            let start = end(&spans);
            spans.extend(cell.spans(inputs, &format!("layers.{index}."), start));
        }
        let start = end(&spans);
        spans.extend(self.readout().spans(start));
        spans
    }
}

/// A model and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<F> {
    config: ModelConfig,
    spans: Vec<Span>,
    parameters: Vec<F>,
}

/// Working memory of a model; reuse it from batch to batch.
#[derive(Debug)]
pub struct Workspace<F: Real> {
    layers: Vec<LayerWorkspace<F>>,
    /// Gradient at all states, for mean pooling.
    all: Panels<F>,
    logit_gradient: Vec<F>,
    state_gradient: Vec<F>,
    mask: Vec<F>,
}

#[derive(Debug)]
struct LayerWorkspace<F: Real> {
    trace: Trace<F>,
    gradient: LeakyGradient<F>,
    input_gradient: Panels<F>,
}

impl<F: Real> Default for Workspace<F> {
    fn default() -> Self {
        Workspace {
            layers: Vec::new(),
            all: empty(),
            logit_gradient: Vec::new(),
            state_gradient: Vec::new(),
            mask: Vec::new(),
        }
    }
}

fn empty<F: Real>() -> Panels<F> {
    Panels::new(ernn_kernels::Isa::best(), 1, &[])
}

impl<F: Real> Workspace<F> {
    fn prepare(&mut self, layers: usize) {
        self.layers.resize_with(layers, || LayerWorkspace {
            trace: Trace::default(),
            gradient: LeakyGradient::default(),
            input_gradient: empty(),
        });
    }
}

/// How the loss of a training batch is formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossOptions<F> {
    /// Weight of each class.
    pub class_weights: Option<Vec<F>>,
    /// Seed of the run and epoch: dropout is on.
    pub dropout: Option<(u64, u64)>,
}

impl<F: Real> Model<F> {
    /// A model with initial parameters drawn from the seed.
    pub fn new(config: ModelConfig, seed: u64) -> Result<Self> {
        config.check()?;
        let spans = config.spans();
        let mut parameters = vec![F::ZERO; spans.last().map_or(0, |span| span.range().end)];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut start = 0;
        for (inputs, cell) in config.layers() {
            let end = start + cell.parameter_count(inputs);
            cell.initialize(inputs, &mut rng, &mut parameters[start..end]);
            start = end;
        }
        config.readout().initialize(&mut rng, &mut parameters[start..]);
        Ok(Model {
            config,
            spans,
            parameters,
        })
    }

    /// A model with these parameters.
    pub fn from_parameters(config: ModelConfig, parameters: Vec<F>) -> Result<Self> {
        config.check()?;
        let spans = config.spans();
        let expected = spans.last().map_or(0, |span| span.range().end);
        if parameters.len() != expected {
            return Err(Error::Setting {
                name: "parameters".to_string(),
                found: parameters.len().to_string(),
                expected: format!("{expected} numbers"),
            });
        }
        Ok(Model {
            config,
            spans,
            parameters,
        })
    }

    /// Sizes and cells.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The named tensors inside [`Model::parameters`].
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// All parameters, one flat vector.
    pub fn parameters(&self) -> &[F] {
        &self.parameters
    }

    /// All parameters, for an optimizer.
    pub fn parameters_mut(&mut self) -> &mut [F] {
        &mut self.parameters
    }

    /// The folded cells, and the readout's parameters.
    fn fold(&self) -> (Vec<Folded<F>>, &[F]) {
        let mut rest = &self.parameters[..];
        let folded = self
            .config
            .layers()
            .map(|(inputs, cell)| {
                let (own, tail) = rest.split_at(cell.parameter_count(inputs));
                rest = tail;
                cell.fold(inputs, own)
            })
            .collect();
        (folded, rest)
    }

    /// Logits `[sequences, classes]`, no dropout. The bits of a sequence's logits do not depend on the batch that it is in.
    pub fn logits(&self, inputs: &Panels<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        self.check_input(inputs)?;
        let (folded, readout) = self.fold();
        workspace.prepare(folded.len());
        run_layers(&folded, inputs, &mut workspace.layers, infer);
        let pooled = self.pooled(workspace);
        let mut logits = Vec::new();
        self.config.readout().forward(readout, &pooled, &mut logits);
        Ok(logits)
    }

    /// The mean loss of a batch, the number of right predictions, and the gradient of the loss, written to `gradient`.
    pub fn loss_and_gradient(
        &self,
        batch: &Batch<F>,
        options: &LossOptions<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        self.check_input(&batch.inputs)?;
        self.check_labels(batch, options)?;
        let (folded, readout_parameters) = self.fold();
        workspace.prepare(folded.len());
        run_layers(&folded, &batch.inputs, &mut workspace.layers, forward);
        let mut pooled = self.pooled(workspace);
        let readout = self.config.readout();
        if let Some((seed, epoch)) = options.dropout.filter(|_| self.config.dropout > 0.0) {
            let mask = &mut workspace.mask;
            dropout_mask(self.config.dropout, seed, epoch, &batch.indices, readout.inputs, mask);
            apply_mask(&mut pooled, mask);
        }
        let mut logits = Vec::new();
        readout.forward(readout_parameters, &pooled, &mut logits);
        let weights = options.class_weights.as_deref();
        let loss = cross_entropy(
            &logits,
            readout.classes,
            &batch.targets,
            weights,
            &mut workspace.logit_gradient,
        );
        gradient.fill(F::ZERO);
        let (cells, readout_gradient) = gradient.split_at_mut(self.parameters.len() - readout_parameters.len());
        let at_states = &mut workspace.state_gradient;
        readout.backward(
            readout_parameters,
            &pooled,
            &workspace.logit_gradient,
            readout_gradient,
            at_states,
        );
        if options.dropout.is_some() && self.config.dropout > 0.0 {
            apply_mask(at_states, &workspace.mask);
        }
        self.backward_layers(&folded, &batch.inputs, workspace, cells);
        Ok((loss, correct(&logits, &batch.targets, readout.classes)))
    }

    fn check_input(&self, inputs: &Panels<F>) -> Result<()> {
        if inputs.features() == self.config.input_size {
            return Ok(());
        }
        Err(Error::Setting {
            name: "features".to_string(),
            found: inputs.features().to_string(),
            expected: format!("{}, the input size of the model", self.config.input_size),
        })
    }

    fn check_labels(&self, batch: &Batch<F>, options: &LossOptions<F>) -> Result<()> {
        let classes = self.config.classes;
        let error = |name: &str, found: usize, expected: String| {
            Err(Error::Setting {
                name: name.to_string(),
                found: found.to_string(),
                expected,
            })
        };
        let (labels, sequences) = (batch.targets.len(), batch.inputs.sequences());
        if labels != sequences {
            return error("labels", labels, format!("{sequences}, one a sequence"));
        }
        if let Some(&label) = batch.targets.iter().find(|&&label| label as usize >= classes) {
            return error("label", label as usize, format!("a class below {classes}"));
        }
        match options.class_weights.as_ref().map(Vec::len) {
            Some(weights) if weights != classes => error("class_weights", weights, format!("{classes}, one a class")),
            _ => Ok(()),
        }
    }

    /// What the readout sees, `[sequences, D]`.
    fn pooled(&self, workspace: &Workspace<F>) -> Vec<F> {
        let states = workspace.layers.last().expect("a model has a layer").trace.states();
        match self.config.pooling {
            Pooling::Last => states.last_steps(),
            Pooling::Mean => states.mean_steps(),
        }
    }

    fn backward_layers(
        &self,
        folded: &[Folded<F>],
        inputs: &Panels<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) {
        let Workspace {
            layers,
            all,
            state_gradient,
            ..
        } = workspace;
        if inputs.sequences() == 0 {
            return;
        }
        if self.config.pooling == Pooling::Mean {
            if all.isa() != inputs.isa() {
                *all = Panels::new(inputs.isa(), 1, &[]);
            }
            all.spread_mean(inputs.lengths(), state_gradient);
        }
        let mut end = gradient.len();
        for (index, (layer_inputs, cell)) in self.config.layers().enumerate().collect::<Vec<_>>().into_iter().rev() {
            let (before, rest) = layers.split_at_mut(index);
            let (own, after) = rest.split_first_mut().expect("one workspace a layer");
            let input = before.last().map_or(inputs, |layer| layer.trace.states());
            let states = match (after.first(), self.config.pooling) {
                (Some(next), _) => StateGradient {
                    last: None,
                    all: Some(&next.input_gradient),
                },
                (None, Pooling::Last) => StateGradient {
                    last: Some(state_gradient),
                    all: None,
                },
                (None, Pooling::Mean) => StateGradient {
                    last: None,
                    all: Some(all),
                },
            };
            let input_gradient = (index > 0).then_some(&mut own.input_gradient);
            let view = folded[index].view();
            backward(
                &view,
                input,
                &mut own.trace,
                states,
                &mut own.gradient,
                input_gradient,
                None,
            );
            let start = end - cell.parameter_count(layer_inputs);
            cell.unfold(
                layer_inputs,
                &self.parameters[start..end],
                &own.gradient,
                &mut gradient[start..end],
            );
            end = start;
        }
    }
}

type Pass<F> = fn(&ernn_kernels::leaky::Leaky<F>, &Panels<F>, Option<&[F]>, &mut Trace<F>);

/// Runs the layers, each on the states of the one before.
fn run_layers<F: Real>(folded: &[Folded<F>], inputs: &Panels<F>, layers: &mut [LayerWorkspace<F>], pass: Pass<F>) {
    for (index, cell) in folded.iter().enumerate() {
        let (before, rest) = layers.split_at_mut(index);
        let input = before.last().map_or(inputs, |layer| layer.trace.states());
        pass(&cell.view(), input, None, &mut rest[0].trace);
    }
}

/// How many rows of logits have their largest entry at the target.
fn correct<F: Real>(logits: &[F], targets: &[u32], classes: usize) -> usize {
    let right = |row: &[F], target: u32| row.iter().all(|&logit| logit <= row[target as usize]);
    logits
        .chunks_exact(classes)
        .zip(targets)
        .filter(|&(row, &target)| right(row, target))
        .count()
}

/// A model ready to run one sequence at a time with the least delay.
#[derive(Clone, Debug)]
pub struct Runner<F> {
    layers: Vec<SequenceRunner<F>>,
    readout: Readout,
    readout_parameters: Vec<F>,
    pooling: Pooling,
    states: [Vec<F>; 2],
}

impl<F: Real> Model<F> {
    /// Folds and packs the model for [`Runner::logits`].
    pub fn runner(&self) -> Runner<F> {
        let (folded, readout) = self.fold();
        let isa = ernn_kernels::Isa::best();
        Runner {
            layers: folded
                .iter()
                .map(|cell| SequenceRunner::new(isa, &cell.view()))
                .collect(),
            readout: self.config.readout(),
            readout_parameters: readout.to_vec(),
            pooling: self.config.pooling,
            states: [Vec::new(), Vec::new()],
        }
    }
}

impl<F: Real> Runner<F> {
    /// Logits `[classes]` of one sequence `[T, d]`, the same bits as [`Model::logits`]'s.
    pub fn logits(&mut self, sequence: &[F]) -> Vec<F> {
        let [current, other] = &mut self.states;
        let mut input = sequence;
        for layer in &mut self.layers {
            std::mem::swap(current, other);
            layer.run(
                if std::ptr::eq(input, sequence) {
                    input
                } else {
                    &other[..]
                },
                None,
                current,
            );
            input = &[];
        }
        let hidden = self.readout.inputs;
        let pooled = match self.pooling {
            // A sequence of no steps is in the initial state.
            Pooling::Last if current.is_empty() => vec![F::ZERO; hidden],
            Pooling::Last => current[current.len() - hidden..].to_vec(),
            Pooling::Mean => mean_rows(current, hidden),
        };
        let mut logits = Vec::new();
        self.readout.forward(&self.readout_parameters, &pooled, &mut logits);
        logits
    }
}

/// The mean of rows, summed in their order as [`Panels::mean_steps`] does.
fn mean_rows<F: Real>(rows: &[F], width: usize) -> Vec<F> {
    let mut sums = vec![F::ZERO; width];
    for row in rows.chunks_exact(width) {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let count = F::from_f64((rows.len() / width).max(1) as f64);
    sums.into_iter().map(|sum| sum / count).collect()
}
