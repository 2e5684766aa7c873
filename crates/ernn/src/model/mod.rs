//! The model: layers of cells and a readout over one flat parameter vector.
//!
//! Inputs `[block][time][feature][lane]` go through the layers; the state at each sequence's last step, or the mean of its
//! states, goes through dropout and the readout to logits `[sequences, classes]`. In a bidirectional model every layer has a second
//! cell that reads the sequence backwards, and the readout sees both cells' states side by side: `[forwards, backwards]`, each at
//! the end of its own way.

mod layers;
mod pieces;
mod runner;
mod states;

use std::ops::Range;

use ernn_kernels::{Panels, Real};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use self::layers::{AtTop, FoldedLayer, LayerDropout, LayerWorkspace, Pass};
pub use self::pieces::State;
pub use self::runner::Runner;
pub use self::states::LayerStates;
use crate::batch::Batch;
use crate::cell::{CellConfig, Span};
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
    /// Whether every layer has a second cell that reads the sequences from their ends.
    #[serde(default)]
    pub bidirectional: bool,
    /// Share of each layer's states that the next layer does not see in training; drawn anew for every step, as torch does.
    #[serde(default)]
    pub layer_dropout: f64,
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
        for (name, rate) in [("dropout", self.dropout), ("layer_dropout", self.layer_dropout)] {
            if !(0.0..1.0).contains(&rate) {
                return setting(name, rate.to_string(), "at least 0 and below 1");
            }
        }
        self.layers.iter().try_for_each(CellConfig::check)
    }

    /// Cells in a layer.
    pub fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    /// Each cell with the size of its input, and the prefix of its tensors' names; the directions of a layer follow each other.
    fn cells(&self) -> impl Iterator<Item = (usize, &CellConfig, String)> {
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

    fn readout(&self) -> Readout {
        Readout {
            inputs: self.layers.last().map_or(0, CellConfig::hidden) * self.directions(),
            classes: self.classes,
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

/// Steps after which a sequence that is only looked at is cut.
const PIECE: usize = 1024;

/// Working memory of a model; reuse it from batch to batch.
#[derive(Debug)]
pub struct Workspace<F: Real> {
    layers: Vec<LayerWorkspace<F>>,
    /// Gradient at all states of the last layer, for mean pooling; one a direction.
    all: Vec<Panels<F>>,
    /// The piece of the inputs under way.
    piece: Panels<F>,
    logit_gradient: Vec<F>,
    pooled_gradient: Vec<F>,
    mask: Vec<F>,
}

impl<F: Real> Default for Workspace<F> {
    fn default() -> Self {
        Workspace {
            layers: Vec::new(),
            all: Vec::new(),
            piece: Panels::new(ernn_kernels::Isa::best(), 1, &[]),
            logit_gradient: Vec::new(),
            pooled_gradient: Vec::new(),
            mask: Vec::new(),
        }
    }
}

impl<F: Real> Workspace<F> {
    /// Numbers that all buffers over time have room for: what grows with the length of a batch, or of its pieces.
    pub fn capacity(&self) -> usize {
        let layers: usize = self.layers.iter().map(LayerWorkspace::capacity).sum();
        let all: usize = self.all.iter().map(Panels::capacity).sum();
        layers + all + self.piece.capacity()
    }
}

/// How the loss of a training batch is formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossOptions<F> {
    /// Weight of each class.
    pub class_weights: Option<Vec<F>>,
    /// Seed of the run and epoch: dropout is on.
    pub dropout: Option<(u64, u64)>,
    /// Truncated backpropagation through time: the sequences are cut into pieces of this many steps, over whose borders the state is
    /// carried and no gradient flows. Memory then grows with the piece, not with the sequence. `None`, or a piece as long as the
    /// longest sequence: all of it.
    pub tbptt: Option<usize>,
}

impl<F: Real> Model<F> {
    /// A model with initial parameters drawn from the seed.
    pub fn new(config: ModelConfig, seed: u64) -> Result<Self> {
        config.check()?;
        let spans = config.spans();
        let mut parameters = vec![F::ZERO; spans.last().map_or(0, |span| span.range().end)];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut start = 0;
        for (inputs, cell, _) in config.cells() {
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

    /// The folded cells of each layer, and the readout's parameters.
    fn fold(&self) -> (Vec<FoldedLayer<F>>, &[F]) {
        let mut rest = &self.parameters[..];
        let folded: Vec<_> = self
            .config
            .cells()
            .map(|(inputs, cell, _)| {
                let (own, tail) = rest.split_at(cell.parameter_count(inputs));
                rest = tail;
                cell.fold(inputs, own)
            })
            .collect();
        let layers = folded.chunks(self.config.directions()).map(<[_]>::to_vec).collect();
        (layers, rest)
    }

    /// Logits `[sequences, classes]`, no dropout. The bits of a sequence's logits do not depend on the batch that it is in. Long
    /// sequences are run in pieces, which give the same bits, so that memory does not grow with them; a bidirectional model needs
    /// them whole.
    pub fn logits(&self, inputs: &Panels<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        self.check_input(inputs)?;
        let (folded, readout) = self.fold();
        let longest = inputs.lengths().iter().copied().max().unwrap_or(0);
        if longest > PIECE && !self.config.bidirectional {
            return Ok(self.logits_in_pieces(&folded, readout, inputs, workspace));
        }
        let pass = Pass {
            input: inputs,
            initial: None,
            first_step: 0,
            dropout: None,
        };
        layers::forward(&folded, pass, &mut workspace.layers, false);
        let mut logits = Vec::new();
        self.config
            .readout()
            .forward(readout, &self.pooled(workspace), &mut logits);
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
        self.check_training(batch, options)?;
        gradient.fill(F::ZERO);
        let longest = batch.inputs.lengths().iter().copied().max().unwrap_or(0);
        if let Some(piece) = options.tbptt.filter(|&piece| piece < longest) {
            return self.loss_in_pieces(batch, options, piece, workspace, gradient);
        }
        let (folded, readout) = self.fold();
        let pass = Pass {
            input: &batch.inputs,
            initial: None,
            first_step: 0,
            dropout: self.layer_dropout(batch, options),
        };
        layers::forward(&folded, pass, &mut workspace.layers, true);
        let pooled = self.pooled(workspace);
        let outcome = self.readout_loss(readout, batch, options, pooled, workspace, gradient);
        if batch.inputs.sequences() > 0 {
            let counts = pieces::counts(batch.inputs.lengths());
            self.backward(&folded, pass, &counts, workspace, gradient);
        }
        Ok(outcome)
    }

    fn layer_dropout<'a>(&self, batch: &'a Batch<F>, options: &LossOptions<F>) -> Option<LayerDropout<'a>> {
        let (seed, epoch) = options.dropout.filter(|_| self.config.layer_dropout > 0.0)?;
        Some(LayerDropout {
            rate: self.config.layer_dropout,
            seed,
            epoch,
            sequences: &batch.indices,
        })
    }

    /// Dropout, readout and loss on the pooled states; adds the readout's gradient and leaves that at the pooled states in the
    /// workspace.
    fn readout_loss(
        &self,
        parameters: &[F],
        batch: &Batch<F>,
        options: &LossOptions<F>,
        mut pooled: Vec<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> (F, usize) {
        let readout = self.config.readout();
        let dropped = options.dropout.filter(|_| self.config.dropout > 0.0);
        if let Some((seed, epoch)) = dropped {
            let mask = &mut workspace.mask;
            dropout_mask(self.config.dropout, seed, epoch, &batch.indices, readout.inputs, mask);
            apply_mask(&mut pooled, mask);
        }
        let mut logits = Vec::new();
        readout.forward(parameters, &pooled, &mut logits);
        let weights = options.class_weights.as_deref();
        let at_logits = &mut workspace.logit_gradient;
        let loss = cross_entropy(&logits, readout.classes, &batch.targets, weights, at_logits);
        let own = gradient.len() - parameters.len();
        let at_pooled = &mut workspace.pooled_gradient;
        readout.backward(parameters, &pooled, at_logits, &mut gradient[own..], at_pooled);
        if dropped.is_some() {
            apply_mask(at_pooled, &workspace.mask);
        }
        (loss, correct(&logits, &batch.targets, readout.classes))
    }

    /// Back through the layers from the gradient at the pooled states; `counts` are the steps that a mean is over.
    fn backward(
        &self,
        folded: &[FoldedLayer<F>],
        pass: Pass<F>,
        counts: &[F],
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) {
        let Workspace {
            layers,
            all,
            pooled_gradient,
            ..
        } = workspace;
        let directions = self.config.directions();
        let hidden = self.config.readout().inputs / directions;
        let rows = |place: usize| -> Vec<F> {
            let rows = pooled_gradient.chunks_exact(hidden * directions);
            rows.flat_map(|row| &row[place * hidden..(place + 1) * hidden])
                .copied()
                .collect()
        };
        let mut last: Vec<Vec<F>> = (0..directions).map(rows).collect();
        let top = match self.config.pooling {
            Pooling::Last => AtTop::Last(&last),
            Pooling::Mean => {
                all.resize_with(directions, || Panels::new(pass.input.isa(), 1, &[]));
                for (panels, rows) in all.iter_mut().zip(&mut last) {
                    for (row, &count) in rows.chunks_exact_mut(hidden).zip(counts) {
                        row.iter_mut().for_each(|value| *value /= count);
                    }
                    panels.spread(pass.input.isa(), pass.input.lengths(), rows);
                }
                AtTop::All(&all[..])
            }
        };
        let places = self.places();
        let cells: Vec<_> = self.config.cells().collect();
        layers::backward(folded, pass, layers, top, |layer, direction, folded| {
            let index = layer * directions + direction;
            let (inputs, cell, _) = &cells[index];
            let place = places[index].clone();
            cell.unfold(*inputs, &self.parameters[place.clone()], folded, &mut gradient[place]);
        });
    }

    /// Where each cell's parameters stand.
    fn places(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        self.config
            .cells()
            .map(|(inputs, cell, _)| {
                let start = end;
                end += cell.parameter_count(inputs);
                start..end
            })
            .collect()
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

    fn check_training(&self, batch: &Batch<F>, options: &LossOptions<F>) -> Result<()> {
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
        if options.tbptt == Some(0) {
            return error("tbptt", 0, "at least 1 step, or none".to_string());
        }
        match options.class_weights.as_ref().map(Vec::len) {
            Some(weights) if weights != classes => error("class_weights", weights, format!("{classes}, one a class")),
            _ => Ok(()),
        }
    }

    /// What the readout sees, `[sequences, D]`, or `[sequences, 2 D]` of a bidirectional model.
    fn pooled(&self, workspace: &Workspace<F>) -> Vec<F> {
        let layer = workspace.layers.last().expect("a model has a layer");
        let pool = |panels: &Panels<F>| match self.config.pooling {
            Pooling::Last => panels.last_steps(),
            Pooling::Mean => panels.mean_steps(),
        };
        let parts = layer.directions.iter().map(|direction| direction.trace.states());
        side_by_side(&parts.map(pool).collect::<Vec<_>>(), self.config.readout().inputs)
    }
}

/// Rows of several parts beside each other, `width` numbers in all.
fn side_by_side<F: Real>(parts: &[Vec<F>], width: usize) -> Vec<F> {
    let [first, rest @ ..] = parts else {
        return Vec::new();
    };
    if rest.is_empty() {
        return first.clone();
    }
    let own = width / parts.len();
    let rows = first.len() / own.max(1);
    (0..rows)
        .flat_map(|row| parts.iter().flat_map(move |part| &part[row * own..(row + 1) * own]))
        .copied()
        .collect()
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
