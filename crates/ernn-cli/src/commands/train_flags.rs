//! Flags that change settings: each one is a setting of `config.toml` under its own name.

use std::path::PathBuf;

use clap::Args;
use ernn::model::Pooling;
use ernn::model::Quantize;
use ernn::optim::{OptimizerConfig, Schedule};
use ernn::train::{ClassWeights, RunConfig, TeacherSettings, TrainingSettings};
use toml::Value;

use crate::failure::{Failure, Result};
use crate::reading::{named, word};

/// Flags of the network.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Network")]
pub struct ModelFlags {
    /// Kind of the cells: ernn, deep-transition, rnn, fastrnn, fastgrnn, ugrnn, gru, lstm, antisymmetric,
    /// gated-antisymmetric, spectral [default: ernn]
    #[arg(long, value_name = "KIND")]
    pub cell: Option<String>,
    /// ERNN: inner iterations K of a step
    #[arg(long, value_name = "K")]
    pub iterations: Option<i64>,
    #[command(flatten)]
    pub shared: SharedModelFlags,
}

/// Flags of the network that go with several cells at once.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Network")]
pub struct SharedModelFlags {
    /// Layers on top of each other [default: 1]
    #[arg(long, value_name = "N")]
    pub layers: Option<usize>,
    /// A second cell in every layer that reads the sequences from their ends
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub bidirectional: Option<bool>,
    /// Part of each layer's states that the next layer does not see during training
    #[arg(long, value_name = "X")]
    pub layer_dropout: Option<f64>,
    /// Text: values of a token's embedding [default: the hidden size, or as known data has it]
    #[arg(long, value_name = "N")]
    pub embedding: Option<usize>,
    /// Text: the readout uses the embedding's matrix, to predict next tokens
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub tied: Option<bool>,
    /// Text: part of the embedding's values that is dropped during training
    #[arg(long, value_name = "X")]
    pub embedding_dropout: Option<f64>,
    /// Hidden size D
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Rank of the recurrent matrix: a number, or full
    #[arg(long, value_name = "N|full")]
    pub rank: Option<String>,
    /// Rank of the input matrix: a number, or full (of rnn, fastrnn, fastgrnn, ugrnn, gru and lstm)
    #[arg(long, value_name = "N|full")]
    pub input_rank: Option<String>,
    /// Nonlinearity: relu, tanh, sigmoid, or the piecewise-linear hard-tanh, hard-sigmoid
    #[arg(long, value_name = "NAME")]
    pub activation: Option<String>,
    /// Gated cells: nonlinearity of the gates, sigmoid or hard-sigmoid
    #[arg(long, value_name = "NAME")]
    pub gate_activation: Option<String>,
    /// First differences of all channels as further channels, for sequences of numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub differences: Option<bool>,
    /// Small motions as further channels: asinh of what a channel is above its running mean, for sequences of numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub compress: Option<bool>,
    /// Lengths of triads (x, y, z of a sensor) as further channels, for sequences of numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub magnitudes: Option<bool>,
    /// Triads of channels by name or number, such as "ax,ay,az;gx,gy,gz", with | between those of devices that turn apart [default: names
    /// that differ in x, y, z alone, or in numbers by threes]
    #[arg(long, value_name = "A,B,C;..")]
    pub triads: Option<String>,
    /// What the readout sees of the last layer: last (state), mean (of all states), or side by side mean-max (and each unit's largest
    /// value), mean-max-last, mean-std-max (and the standard deviation)
    #[arg(long, value_name = "NAME", value_parser = named::<Pooling>)]
    pub pooling: Option<Pooling>,
    /// Part of the features that is dropped during training
    #[arg(long, value_name = "X")]
    pub dropout: Option<f64>,
    /// ERNN: where the inner iteration starts: previous (state) or zero
    #[arg(long, value_name = "NAME")]
    pub start: Option<String>,
    /// ERNN: sign of the previous state inside the nonlinearity: plus or minus
    #[arg(long, value_name = "NAME")]
    pub sign: Option<String>,
    /// ERNN: what a learned step size belongs to: per-step (of the sequence, and iteration) or per-iteration
    #[arg(long, value_name = "NAME")]
    pub steps: Option<String>,
    /// ERNN: initial step size
    #[arg(long, value_name = "X")]
    pub eta: Option<f64>,
    /// GRU: whether the reset comes after the recurrent product (as torch) or before (as the paper)
    #[arg(long, value_name = "NAME")]
    pub reset: Option<String>,
    /// Spectral: reflections in each orthogonal factor (0: a quarter of the hidden size)
    #[arg(long, value_name = "N")]
    pub reflections: Option<usize>,
    /// Spectral: the singular values lie within this distance of 1
    #[arg(long, value_name = "X")]
    pub radius: Option<f64>,
    /// Deep transition: widths of the layers inside one step before the last, such as 64,32
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    pub widths: Option<Vec<usize>>,
    /// ERNN, antisymmetric: damping
    #[arg(long, value_name = "X")]
    pub gamma: Option<f64>,
    /// Antisymmetric: step size
    #[arg(long, value_name = "X")]
    pub epsilon: Option<f64>,
    /// ERNN: how the state is found: euler (K steps), or the equilibrium itself by fixed-point, anderson or newton
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// Equilibrium: gradients implicit (a linear solve), one-step, or (fixed-point) unrolled
    #[arg(long, value_name = "NAME")]
    pub gradient: Option<String>,
    /// Equilibrium: absolute tolerance of the residual; a step has converged within --tolerance + --relative-tolerance times the size of
    /// its state
    #[arg(long, value_name = "X")]
    pub tolerance: Option<f64>,
    /// Equilibrium: relative tolerance of the residual
    #[arg(long, value_name = "X")]
    pub relative_tolerance: Option<f64>,
    /// Equilibrium: iterations of a step at most
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,
    /// ERNN: norm of P U at most this share of gamma, so that there is exactly one equilibrium (0: not bounded)
    #[arg(long, value_name = "X")]
    pub contract: Option<f64>,
    /// ERNN: the projection P: shared (P = U) or identity
    #[arg(long, value_name = "NAME")]
    pub projection: Option<String>,
}

impl ModelFlags {
    /// Puts the given flags over the settings.
    pub fn apply(&self, config: &mut RunConfig) -> Result<()> {
        if let Some(kind) = &self.cell {
            config.change_cell(&word(kind))?;
        }
        self.shared.apply_to_all(config)?;
        let iterations = self
            .iterations
            .map(|iterations| ("iterations", Value::Integer(iterations)));
        for (name, value) in self.shared.layer_settings().chain(iterations) {
            config.set_in_layers(name, &value)?;
        }
        Ok(())
    }
}

impl SharedModelFlags {
    /// Puts those flags over the settings that are not of a cell.
    pub fn apply_to_all(&self, config: &mut RunConfig) -> Result<()> {
        if let Some(layers) = self.layers {
            config.stack(layers)?;
        }
        set(&mut config.model.dropout, self.dropout);
        set(&mut config.model.pooling, self.pooling);
        set(&mut config.model.bidirectional, self.bidirectional);
        let transforms = &mut config.model.transforms;
        set(&mut transforms.differences, self.differences);
        set(&mut transforms.compress, self.compress);
        set(&mut transforms.magnitudes, self.magnitudes);
        set(&mut transforms.triads, self.triads.clone());
        set(&mut config.model.layer_dropout, self.layer_dropout);
        if self.embedding.is_some() || self.tied.is_some() || self.embedding_dropout.is_some() {
            let embedding = config.model.embedding.get_or_insert_default();
            set(&mut embedding.size, self.embedding);
            set(&mut embedding.tied, self.tied);
            set(&mut embedding.dropout, self.embedding_dropout);
        }
        Ok(())
    }

    /// The given settings of cells, by their names.
    pub fn layer_settings(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let text = |text: &Option<String>| text.as_deref().map(|text| Value::String(word(text)));
        let rank = |text: &String| text.parse().map_or_else(|_| Value::String(word(text)), Value::Integer);
        let integer = |number: usize| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let widths = self.widths.as_ref();
        let widths = widths.map(|widths| Value::Array(widths.iter().copied().map(integer).collect()));
        [
            ("hidden", self.hidden.map(integer)),
            ("rank", self.rank.as_ref().map(rank)),
            ("input_rank", self.input_rank.as_ref().map(rank)),
            ("activation", text(&self.activation)),
            ("gate_activation", text(&self.gate_activation)),
            ("reset", text(&self.reset)),
            ("reflections", self.reflections.map(integer)),
            ("radius", self.radius.map(Value::Float)),
            ("widths", widths),
            ("start", text(&self.start)),
            ("sign", text(&self.sign)),
            ("steps", text(&self.steps)),
            ("eta", self.eta.map(Value::Float)),
            ("gamma", self.gamma.map(Value::Float)),
            ("epsilon", self.epsilon.map(Value::Float)),
            ("projection", text(&self.projection)),
            ("solver", text(&self.solver)),
            ("gradient", text(&self.gradient)),
            ("tolerance", self.tolerance.map(Value::Float)),
            ("relative_tolerance", self.relative_tolerance.map(Value::Float)),
            ("max_iterations", self.max_iterations.map(integer)),
            ("contract", self.contract.map(Value::Float)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Flags of the training.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Training")]
pub struct TrainingFlags {
    /// Optimizer steps at least: a small data set gets more epochs, and the schedule is stretched along (0: no floor)
    #[arg(long, value_name = "N")]
    pub min_steps: Option<usize>,
    /// Optimizer steps at most, but for those of one epoch (0: no ceiling)
    #[arg(long, value_name = "N")]
    pub max_steps: Option<usize>,
    /// Sequences a step
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Learning rate of the first epoch
    #[arg(long, value_name = "X")]
    pub learning_rate: Option<f64>,
    /// How the learning rate falls: step, cosine or constant
    #[arg(long, value_name = "KIND")]
    pub schedule: Option<String>,
    /// Halve the learning rate every N epochs (of --epochs, where --min-steps makes more of them)
    #[arg(long, value_name = "N")]
    pub halve_every: Option<usize>,
    /// Largest global norm of a gradient (0: no limit)
    #[arg(long, value_name = "X")]
    pub clip_norm: Option<f64>,
    /// Rule of the steps: adam, adamw or sgd
    #[arg(long, value_name = "KIND")]
    pub optimizer: Option<String>,
    /// sgd: part of the last step that goes on
    #[arg(long, value_name = "X")]
    pub momentum: Option<f64>,
    /// Pull of the matrices towards zero
    #[arg(long, value_name = "X")]
    pub weight_decay: Option<f64>,
    /// Standard deviation of the noise added to the normalized inputs
    #[arg(long, value_name = "X")]
    pub input_noise: Option<f64>,
    /// Standard deviation of an offset added to each channel of a sequence, the same at all its steps
    #[arg(long, value_name = "X")]
    pub input_offset: Option<f64>,
    /// Standard deviation of the logarithm of a factor of each channel of a sequence, the same at all its steps
    #[arg(long, value_name = "X")]
    pub input_gain: Option<f64>,
    /// Standard deviation of a random rotation (rad, about each axis) of the triads of each device, anew for each sequence and epoch
    #[arg(long, value_name = "X")]
    pub input_rotation: Option<f64>,
    /// Largest share of a sequence that is cut off at its ends in training; the rest is stretched to its length
    #[arg(long, value_name = "X")]
    pub input_crop: Option<f64>,
    /// Largest share of a sequence's length by which it comes earlier or later in training
    #[arg(long, value_name = "X")]
    pub input_shift: Option<f64>,
    /// Standard deviation of the logarithm of the speed at which a sequence runs, now faster, now slower, in training
    #[arg(long, value_name = "X")]
    pub input_warp: Option<f64>,
    /// Largest share of a sequence's steps that is masked in training
    #[arg(long, value_name = "X")]
    pub input_mask_steps: Option<f64>,
    /// Largest share of the channels that is masked in training
    #[arg(long, value_name = "X")]
    pub input_mask_channels: Option<f64>,
    /// How much of the running average of the weights stays at a step; it is what is selected and saved (0: the last weights)
    #[arg(long, value_name = "X")]
    pub average: Option<f64>,
    /// Part of the training sequences that selects the best epoch (0: none; the model is the last one, its weights averaged)
    #[arg(long, value_name = "X")]
    pub validation: Option<f64>,
    /// Weights of the classes in the loss: none or balanced
    #[arg(long, value_name = "NAME", value_parser = named::<ClassWeights>)]
    pub class_weights: Option<ClassWeights>,
    /// Share of zeros in each matrix of the cells in the end (0: dense; EdgeML's sW and sU are 1 - X); thinned in the second third
    /// of the steps, fixed in the last, which has the best epoch
    #[arg(long, value_name = "X")]
    pub sparsity: Option<f64>,
    /// What the cells' matrices are rounded to for a device, in training and in all that is done with the model later: none or int8
    /// (gradients go straight through; the file holds the weights behind the rounded ones)
    #[arg(long, value_name = "NAME", value_parser = named::<Quantize>)]
    pub quantize: Option<Quantize>,
    /// Steps through which gradients flow back at most: longer sequences are cut into pieces, over whose borders the state is
    /// carried (0: no limit)
    #[arg(long, value_name = "N")]
    pub tbptt: Option<usize>,
    /// Stop after N epochs without a better one (0: never)
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,
    /// At the end, train anew on training and validation part together, as long; that model is the result
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub retrain: Option<bool>,
    /// Seed of weights, split, batches, noise and dropout
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Learn from these runs (or ensembles, or model files) as well: beside the labels, the mean of their probabilities for each sequence
    #[arg(long, value_name = "RUN,..", value_delimiter = ',')]
    pub teacher: Option<Vec<PathBuf>>,
    /// With --teacher: its share in the loss, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "X")]
    pub teacher_weight: Option<f64>,
    /// With --teacher: what logits are divided by, the teacher's and the model's; higher says more of the classes that are not the likeliest
    /// [default: 2]
    #[arg(long, value_name = "X")]
    pub teacher_temperature: Option<f64>,
}

impl TrainingFlags {
    /// Puts the given flags over the settings; `epochs` are set before.
    pub fn apply(&self, config: &mut RunConfig) -> Result<()> {
        let training = &mut config.training;
        set(&mut training.min_steps, self.min_steps);
        set(&mut training.max_steps, self.max_steps);
        set(&mut training.batch_size, self.batch_size);
        set(&mut training.learning_rate, self.learning_rate);
        set(&mut training.clip_norm, self.clip_norm);
        set(&mut training.input_noise, self.input_noise);
        set(&mut training.input_offset, self.input_offset);
        set(&mut training.input_gain, self.input_gain);
        set(&mut training.input_rotation, self.input_rotation);
        set(&mut training.input_crop, self.input_crop);
        set(&mut training.input_shift, self.input_shift);
        set(&mut training.input_warp, self.input_warp);
        set(&mut training.input_mask_steps, self.input_mask_steps);
        set(&mut training.input_mask_channels, self.input_mask_channels);
        set(&mut training.average, self.average);
        set(&mut training.validation, self.validation);
        set(&mut training.class_weights, self.class_weights);
        set(&mut training.sparsity, self.sparsity);
        set(&mut training.quantize, self.quantize);
        set(&mut training.tbptt, self.tbptt);
        set(&mut training.patience, self.patience);
        set(&mut training.retrain, self.retrain);
        set(&mut training.seed, self.seed);
        self.apply_teacher(training)?;
        if let Some(schedule) = self.schedule(&training.schedule, training.epochs)? {
            training.schedule = schedule;
        }
        self.apply_optimizer(&mut training.optimizer)
    }

    fn apply_teacher(&self, training: &mut TrainingSettings) -> Result<()> {
        if let Some(runs) = &self.teacher {
            let teacher = training.teacher.get_or_insert_with(TeacherSettings::default);
            teacher.runs.clone_from(runs);
        }
        let given = [
            ("--teacher-weight", self.teacher_weight),
            ("--teacher-temperature", self.teacher_temperature),
        ];
        let Some(teacher) = &mut training.teacher else {
            return match given.iter().find(|(_, value)| value.is_some()) {
                None => Ok(()),
                Some((flag, _)) => Err(Failure::Usage(format!("{flag} goes with --teacher alone"))),
            };
        };
        set(&mut teacher.weight, self.teacher_weight);
        set(&mut teacher.temperature, self.teacher_temperature);
        Ok(())
    }

    fn schedule(&self, old: &Schedule, epochs: usize) -> Result<Option<Schedule>> {
        let every = match (self.halve_every, old) {
            (Some(every), _) => every,
            (None, Schedule::Step { every, .. }) => *every,
            (None, _) => epochs.div_ceil(3),
        };
        let schedule = self.schedule.as_deref().map(word);
        match (schedule.as_deref(), self.halve_every) {
            (None, None) => Ok(None),
            (Some("constant"), None) => Ok(Some(Schedule::Constant)),
            (Some("cosine"), None) => Ok(Some(Schedule::Cosine { epochs, floor: 0.0 })),
            (None | Some("step"), _) => Ok(Some(Schedule::Step { every, factor: 0.5 })),
            (Some(kind @ ("constant" | "cosine")), Some(_)) => Err(Failure::Usage(format!(
                "--halve-every does not go with --schedule {kind}"
            ))),
            (Some(kind), _) => Err(Failure::Usage(format!(
                "--schedule: found {kind}, expected step, cosine or constant"
            ))),
        }
    }

    fn apply_optimizer(&self, optimizer: &mut OptimizerConfig) -> Result<()> {
        if let Some(kind) = &self.optimizer {
            *optimizer = OptimizerConfig::of_kind(&word(kind))
                .ok_or_else(|| Failure::Usage(format!("--optimizer: found {kind}, expected adam, adamw or sgd")))?;
        }
        if let Some(momentum) = self.momentum {
            let OptimizerConfig::Sgd(sgd) = optimizer else {
                return Err(Failure::Usage(
                    "--momentum is a setting of --optimizer sgd alone".to_string(),
                ));
            };
            sgd.momentum = momentum;
        }
        set(optimizer.weight_decay_mut(), self.weight_decay);
        Ok(())
    }
}

fn set<T>(setting: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *setting = value;
    }
}
