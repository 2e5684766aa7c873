//! The model: layers of cells and a readout over one flat parameter vector.
//!
//! Inputs `[block][time][feature][lane]` go through the layers; the state at each sequence's last step, or the mean and other
//! statistics of its states (`pooling.rs`), go through dropout and the readout to logits `[sequences, classes]`. In a bidirectional
//! model every layer has a second cell that reads the sequence backwards, and the readout sees both cells' states side by side:
//! `[forwards, backwards]`, each at the end of its own way.
//!
//! Tokens go through an embedding first. Where each step has a target, the readout sees the state of every step (`steps.rs`); a
//! number for each sequence is a readout of one logit with a squared loss.

mod checks;
mod config;
mod embedding;
mod layers;
mod pieces;
mod pooling;
mod runner;
mod states;
mod steps;

use std::ops::Range;

use ernn_kernels::{Panels, Real, SoftmaxWorkspace};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use self::config::{ModelConfig, Quantize, check_quantiles};
pub use self::embedding::Embedding;
use self::layers::{AtTop, FoldedLayer, LayerDropout, LayerWorkspace, Pass};
pub use self::pieces::State;
pub use self::pooling::{EPSILON, Pooling, Statistic};
use self::pooling::{Pooled, Rows};
pub use self::runner::Runner;
pub use self::states::LayerStates;
use crate::batch::Batch;
use crate::cell::{CellConfig, Equilibria, Span};
use crate::data::{TargetScale, Task};
use crate::head::{
    Distillation, NumberLoss, SoftTargets, all_right, apply_mask, binary_cross_entropy, distilled_cross_entropy,
    dropout_mask, number_loss, pinball_loss, weighted_cross_entropy,
};
use crate::{Error, Result};

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
    /// What the embedding makes of tokens, and what was dropped of it.
    embedded: Option<Panels<F>>,
    embedded_mask: Option<Panels<F>>,
    logit_gradient: Vec<F>,
    pooled_gradient: Vec<F>,
    mask: Vec<F>,
    softmax: SoftmaxWorkspace<F>,
}

impl<F: Real> Default for Workspace<F> {
    fn default() -> Self {
        Workspace {
            layers: Vec::new(),
            all: Vec::new(),
            piece: Panels::new(ernn_kernels::Isa::best(), 1, &[]),
            embedded: None,
            embedded_mask: None,
            logit_gradient: Vec::new(),
            pooled_gradient: Vec::new(),
            mask: Vec::new(),
            softmax: SoftmaxWorkspace::default(),
        }
    }
}

impl<F: Real> Workspace<F> {
    /// How the equilibria were found since the last time that this was asked; none if no layer has sought one.
    pub fn take_equilibria(&mut self) -> Option<Equilibria> {
        let mut all = Equilibria::default();
        for layer in &mut self.layers {
            all.add(&std::mem::take(&mut layer.equilibria));
        }
        (all.steps > 0).then_some(all)
    }

    /// Numbers that all buffers over time have room for: what grows with the length of a batch, or of its pieces.
    pub fn capacity(&self) -> usize {
        let layers: usize = self.layers.iter().map(LayerWorkspace::capacity).sum();
        let all: usize = self.all.iter().map(Panels::capacity).sum();
        let tokens = [&self.embedded, &self.embedded_mask].into_iter().flatten();
        layers + all + self.piece.capacity() + tokens.map(Panels::capacity).sum::<usize>()
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
    /// What is made small where numbers are learned, and no quantiles.
    pub loss: NumberLoss,
    /// How much the batch's soft targets count, for classes of sequences. `None`: there are none.
    pub distillation: Option<Distillation>,
}

impl<F: Real> Model<F> {
    /// A model with initial parameters drawn from the seed.
    pub fn new(config: ModelConfig, seed: u64) -> Result<Self> {
        config.check()?;
        let spans = config.spans();
        let mut parameters = reserved(spans.last().map_or(0, |span| span.range().end))?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut start = 0;
        for (inputs, cell, _) in config.cells() {
            let end = start + cell.parameter_count(inputs);
            cell.initialize(inputs, &mut rng, &mut parameters[start..end]);
            start = end;
        }
        let readout = start..start + config.readout().parameter_count();
        config.readout().initialize(&mut rng, &mut parameters[readout.clone()]);
        if let Some(embedding) = &config.embedding {
            let rows = if embedding.tied {
                &mut parameters[readout.start..][..embedding.vocabulary * config.input_size]
            } else {
                &mut parameters[readout.end..]
            };
            embedding.initialize(&mut rng, rows);
        }
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
            let expected = format!("{expected} numbers");
            return Err(Error::setting("parameters", parameters.len(), expected));
        }
        Ok(Model {
            config,
            spans,
            parameters,
        })
    }

    /// The same model with other settings of its layers: tensors of the same name and shape are kept, others have the initial values of
    /// `seed` 1.
    ///
    /// # Errors
    /// If the settings are not ones that a model can have.
    pub fn with_layers(&self, layers: Vec<CellConfig>) -> Result<Self> {
        let config = ModelConfig {
            layers,
            ..self.config.clone()
        };
        let mut model = Model::new(config, 1)?;
        for span in model.spans.clone() {
            let same = |other: &&Span| other.name == span.name && other.shape == span.shape;
            if let Some(old) = self.spans.iter().find(same) {
                model.parameters[span.range()].copy_from_slice(&self.parameters[old.range()]);
            }
        }
        Ok(model)
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

    /// Changes the readout so that each number `z` it gave becomes `deviation z + mean`, by the scale of its target; without scales nothing.
    ///
    /// # Panics
    /// If there is not one a target.
    pub fn scale_outputs(&mut self, scales: &[TargetScale]) {
        if scales.is_empty() {
            return;
        }
        assert_eq!(scales.len(), self.config.targets(), "one scale a target");
        let (own, readout) = (self.readout_range(), self.config.readout());
        let (weight, bias) = self.parameters[own].split_at_mut(readout.classes * readout.inputs);
        let each = readout.classes / scales.len();
        let rows = weight.chunks_exact_mut(readout.inputs).zip(bias);
        for ((weight, bias), scale) in rows.zip(scales.iter().flat_map(|scale| std::iter::repeat_n(scale, each))) {
            let times = |value: &F| value.to_f64() * scale.deviation;
            weight.iter_mut().for_each(|value| *value = F::from_f64(times(value)));
            *bias = F::from_f64(times(bias) + scale.mean);
        }
    }

    /// Changes the readout so that each logit is this many times what it was.
    pub fn scale_logits(&mut self, factor: f64) {
        let own = self.readout_range();
        let scaled = |value: &F| F::from_f64(value.to_f64() * factor);
        self.parameters[own].iter_mut().for_each(|value| *value = scaled(value));
    }

    /// The folded cells of each layer, and the readout's parameters.
    pub(crate) fn fold(&self) -> (Vec<FoldedLayer<F>>, &[F]) {
        let mut rest = &self.parameters[..];
        let folded: Vec<_> = self
            .config
            .cells()
            .map(|(inputs, cell, _)| {
                let (own, tail) = rest.split_at(cell.parameter_count(inputs));
                rest = tail;
                self.config.fold(cell, inputs, own)
            })
            .collect();
        let layers = folded.chunks(self.config.directions()).map(<[_]>::to_vec).collect();
        (layers, &rest[..self.config.readout().parameter_count()])
    }

    /// Where the readout's parameters stand.
    fn readout_range(&self) -> Range<usize> {
        let start = self.places().last().map_or(0, |place| place.end);
        start..start + self.config.readout().parameter_count()
    }

    /// Where the embedding's rows stand.
    fn embedding_range(&self) -> Option<Range<usize>> {
        let embedding = self.config.embedding.as_ref()?;
        let readout = self.readout_range();
        let start = if embedding.tied { readout.start } else { readout.end };
        Some(start..start + embedding.vocabulary * self.config.input_size)
    }

    /// The values `[tokens, input_size]` that the embedding makes of tokens, for a [`Runner`].
    ///
    /// # Panics
    /// If the model has no embedding, or a token is not in it.
    pub fn embed(&self, tokens: &[u32]) -> Vec<F> {
        let range = self.embedding_range().expect("a model with an embedding");
        let (rows, size) = (&self.parameters[range], self.config.input_size);
        let row = |&token: &u32| &rows[token as usize * size..][..size];
        tokens.iter().flat_map(row).copied().collect()
    }

    /// The values that the embedding makes of a batch's tokens, with dropout in training; none for sequences of numbers. The
    /// workspace's own, to be put back.
    fn embedded(&self, batch: &Batch<F>, options: &LossOptions<F>, workspace: &mut Workspace<F>) -> Option<Panels<F>> {
        let rows = &self.parameters[self.embedding_range()?];
        let isa = batch.inputs.isa();
        let mut out = workspace.embedded.take().unwrap_or_else(|| Panels::new(isa, 1, &[]));
        let size = self.config.input_size;
        embedding::look_up(rows, size, &batch.tokens, batch.inputs.lengths(), &mut out);
        let dropped = options.dropout.filter(|_| self.config.embedding_dropout > 0.0);
        if let Some((seed, epoch)) = dropped {
            let mask = workspace.embedded_mask.get_or_insert_with(|| Panels::new(isa, 1, &[]));
            let dropout = LayerDropout {
                rate: self.config.embedding_dropout,
                seed,
                epoch,
                sequences: &batch.indices,
            };
            dropout.draw(EMBEDDING_LAYER, 0, &out, mask);
            out.multiply(mask);
        } else {
            workspace.embedded_mask = None;
        }
        Some(out)
    }

    /// Logits `[sequences, classes]`, no dropout. The bits of a sequence's logits do not depend on the batch that it is in. Long
    /// sequences are run in pieces, which give the same bits, so that memory does not grow with them; a bidirectional model needs
    /// them whole.
    pub fn logits(&self, inputs: &Panels<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        self.check_input(inputs)?;
        Ok(self.logits_of_values(inputs, workspace))
    }

    /// [`Model::logits`] of a batch, of numbers or tokens.
    pub fn batch_logits(&self, batch: &Batch<F>, workspace: &mut Workspace<F>) -> Result<Vec<F>> {
        let Some(embedded) = self.embedded(batch, &LossOptions::default(), workspace) else {
            return self.logits(&batch.inputs, workspace);
        };
        self.check_tokens(batch)?;
        let logits = self.logits_of_values(&embedded, workspace);
        workspace.embedded = Some(embedded);
        Ok(logits)
    }

    fn logits_of_values(&self, inputs: &Panels<F>, workspace: &mut Workspace<F>) -> Vec<F> {
        let (folded, readout) = self.fold();
        let longest = inputs.lengths().iter().copied().max().unwrap_or(0);
        if longest > PIECE && !self.config.bidirectional {
            return self.logits_in_pieces(&folded, readout, inputs, workspace);
        }
        let pass = Pass {
            input: inputs,
            initial: None,
            first_step: 0,
            dropout: None,
        };
        layers::forward(&folded, pass, &mut workspace.layers, false);
        let mut logits = Vec::new();
        let pooled = pooling::rows(&self.pooled(workspace));
        self.config.readout().forward(readout, &pooled, &mut logits);
        logits
    }

    /// The mean loss of a batch, the number of right predictions, and the gradient of the loss, written to `gradient`.
    pub fn loss_and_gradient(
        &self,
        batch: &Batch<F>,
        options: &LossOptions<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        self.check_batch(batch, options)?;
        gradient.fill(F::ZERO);
        let embedded = self.embedded(batch, options, workspace);
        let inputs = embedded.as_ref().unwrap_or(&batch.inputs);
        let outcome = match self.config.task {
            Task::StepClassification | Task::NextToken | Task::StepRegression => {
                self.loss_of_steps(batch, inputs, options, &mut State::default(), workspace, gradient)
            }
            Task::Classification | Task::Regression | Task::MultiLabel => {
                self.loss_of_sequences(batch, inputs, options, workspace, gradient)
            }
        };
        workspace.embedded = embedded;
        outcome
    }

    fn loss_of_sequences(
        &self,
        batch: &Batch<F>,
        inputs: &Panels<F>,
        options: &LossOptions<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) -> Result<(F, usize)> {
        let longest = inputs.lengths().iter().copied().max().unwrap_or(0);
        if let Some(piece) = options.tbptt.filter(|&piece| piece < longest) {
            return self.loss_in_pieces(batch, inputs, options, piece, workspace, gradient);
        }
        let (folded, readout) = self.fold();
        let pass = Pass {
            input: inputs,
            initial: None,
            first_step: 0,
            dropout: self.layer_dropout(batch, options),
        };
        layers::forward(&folded, pass, &mut workspace.layers, true);
        let pooled = self.pooled(workspace);
        let rows = pooling::rows(&pooled);
        let outcome = self.readout_loss(readout, batch, options, rows, workspace, gradient);
        if inputs.sequences() > 0 {
            self.backward(&folded, pass, &pooled, batch, workspace, gradient);
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
        let at_logits = &mut workspace.logit_gradient;
        let (loss, correct) = match self.config.task {
            Task::Regression if !self.config.quantiles.is_empty() => {
                let loss = pinball_loss(&self.config.quantiles, &logits, &batch.numbers, at_logits);
                (loss, 0)
            }
            Task::Regression => (number_loss(options.loss, &logits, &batch.numbers, at_logits), 0),
            Task::MultiLabel => {
                let weights = options.class_weights.as_deref();
                (
                    binary_cross_entropy(&logits, readout.classes, &batch.indicators, weights, at_logits),
                    all_right(&logits, &batch.indicators, readout.classes),
                )
            }
            _ => (
                class_loss(&logits, readout.classes, batch, options, at_logits),
                correct(&logits, &batch.targets, readout.classes),
            ),
        };
        let own = self.readout_range();
        let at_pooled = &mut workspace.pooled_gradient;
        readout.backward(parameters, &pooled, at_logits, &mut gradient[own], at_pooled);
        if dropped.is_some() {
            apply_mask(at_pooled, &workspace.mask);
        }
        (loss, correct)
    }

    /// Back through the layers from the gradient at what the readout has read; `pooled`: of all pieces, one a direction.
    fn backward(
        &self,
        folded: &[FoldedLayer<F>],
        pass: Pass<F>,
        pooled: &[Pooled<F>],
        batch: &Batch<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) {
        let mut all = std::mem::take(&mut workspace.all);
        let (pooling, directions) = (self.config.pooled(), self.config.directions());
        let rows = |place: usize| Rows {
            all: &workspace.pooled_gradient,
            pooling,
            hidden: self.config.top() / directions,
            directions,
            place,
        };
        let (lengths, from) = (pass.input.lengths(), pass.first_step);
        let last: Vec<Vec<F>>;
        let top = if pooling.sees_all_steps() {
            let layer = workspace.layers.last().expect("a model has a layer");
            all.resize_with(directions, || Panels::new(pass.input.isa(), 1, &[]));
            for (place, (panels, pooled)) in all.iter_mut().zip(pooled).enumerate() {
                pooled.gradient(&rows(place), layer.directions[place].trace.states(), from, panels);
            }
            AtTop::All(&all[..])
        } else {
            let at_last = |(place, pooled): (usize, &Pooled<F>)| pooled.last_gradient(&rows(place), lengths, from);
            last = pooled.iter().enumerate().map(at_last).collect();
            AtTop::Last(&last)
        };
        self.back_through(folded, pass, top, batch, workspace, gradient);
        workspace.all = all;
    }

    /// Back through the layers, and to the embedding, from the gradient at the states of the last layer.
    fn back_through(
        &self,
        folded: &[FoldedLayer<F>],
        pass: Pass<F>,
        top: AtTop<F>,
        batch: &Batch<F>,
        workspace: &mut Workspace<F>,
        gradient: &mut [F],
    ) {
        let places = self.places();
        let cells: Vec<_> = self.config.cells().collect();
        let directions = self.config.directions();
        let embedding = self.embedding_range();
        let layers = &mut workspace.layers;
        layers::backward(
            folded,
            pass,
            layers,
            top,
            embedding.is_some(),
            |layer, direction, folded| {
                let index = layer * directions + direction;
                let (inputs, cell, _) = &cells[index];
                let place = places[index].clone();
                cell.unfold(*inputs, &self.parameters[place.clone()], folded, &mut gradient[place]);
            },
        );
        let Some(rows) = embedding else {
            return;
        };
        let at_input = layers::input_gradient(layers);
        if let Some(mask) = &workspace.embedded_mask {
            workspace
                .piece
                .copy_piece(mask, pass.first_step, pass.first_step + longest(at_input));
            at_input.multiply(&workspace.piece);
        }
        let lengths = batch.inputs.lengths();
        embedding::add_back(at_input, &batch.tokens, lengths, pass.first_step, &mut gradient[rows]);
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

    /// What the readout needs to know of the last layer's states, one a direction.
    fn pooled(&self, workspace: &Workspace<F>) -> Vec<Pooled<F>> {
        let layer = workspace.layers.last().expect("a model has a layer");
        let states = layer.directions.iter().map(|direction| direction.trace.states());
        states.map(|states| Pooled::of(self.config.pooled(), states)).collect()
    }
}

/// The loss of logits `[sequences, classes]` by labels and, where there is a teacher, by what it says; sets their gradient.
fn class_loss<F: Real>(
    logits: &[F],
    classes: usize,
    batch: &Batch<F>,
    options: &LossOptions<F>,
    gradient: &mut Vec<F>,
) -> F {
    let weights = options.class_weights.as_deref();
    let rows = (!batch.weights.is_empty()).then_some(&batch.weights[..]);
    let Some(distillation) = options.distillation else {
        return weighted_cross_entropy(logits, classes, &batch.targets, weights, rows, gradient);
    };
    let teacher = SoftTargets {
        probabilities: &batch.soft_targets,
        distillation,
    };
    distilled_cross_entropy(logits, classes, &batch.targets, weights, rows, teacher, gradient)
}

/// So many zeros, or an error: their number is a person's choice.
fn reserved<F: Real>(count: usize) -> Result<Vec<F>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| Error::Memory {
        needed: count as u128 * size_of::<F>() as u128,
        available: None,
        smaller: "a smaller --hidden, a low --rank, fewer --layers".to_string(),
    })?;
    numbers.resize(count, F::ZERO);
    Ok(numbers)
}

fn longest<F: Real>(panels: &Panels<F>) -> usize {
    panels.lengths().iter().copied().max().unwrap_or(0)
}

/// What stands for a layer in the draws of the embedding's dropout.
const EMBEDDING_LAYER: usize = usize::MAX;

/// How many rows of logits have their largest entry at the target.
fn correct<F: Real>(logits: &[F], targets: &[u32], classes: usize) -> usize {
    let right = |row: &[F], target: u32| row.iter().all(|&logit| logit <= row[target as usize]);
    logits
        .chunks_exact(classes)
        .zip(targets)
        .filter(|&(row, &target)| right(row, target))
        .count()
}
