//! The one table of the settings that a flag says: each row is a flag, its place in `config.toml`, its kind of value and its description.
//!
//! The command makes its flags of it (and `--show` and `--help` their reasons and defaults), Python its keywords. To add a setting: a field
//! of [`RunConfig`] or of a cell, a row here, and the place where it is used.

use toml::Value;

use crate::data::nearest_first;
use crate::{Error, Result};

/// A setting that a flag says.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the flag, without `--`.
    pub flag: &'static str,
    /// Its place in the settings file; `layers.NAME` is a setting of every layer.
    pub path: &'static str,
    /// What values it has.
    pub kind: Kind,
    /// What stands for a value in the help.
    pub placeholder: &'static str,
    /// What it goes with: elsewhere it would change nothing.
    pub with: With,
    /// The heading that it is listed under.
    pub heading: Heading,
    /// What it is, for people.
    pub help: &'static str,
}

/// What values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0, 1, 2, ...
    Whole,
    /// Several of them.
    Wholes,
    /// Any number.
    Number,
    /// Several of them.
    Numbers,
    /// True or false.
    Switch,
    /// A name in small letters.
    Name,
    /// A whole number, or a name.
    WholeOrName,
    /// A text that stays as it is.
    Text,
    /// Files or folders.
    Paths,
}

/// What a setting goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// All data; of cells, those that have it.
    All,
    /// Data of tokens.
    Text,
    /// Text whose next token is predicted.
    NextToken,
    /// Sequences of numbers.
    Numbers,
    /// One target for each sequence.
    OneTarget,
    /// Classes, of sequences or of steps.
    Classes,
    /// A class for each sequence.
    OneClass,
    /// A class for each step.
    Steps,
    /// A class, or labels, for each sequence.
    ClassesOrLabels,
    /// A number for each sequence.
    OneNumber,
    /// Data without a validation part of its own.
    NoValidation,
    /// More than one layer.
    Layers,
    /// A state found by K Euler steps.
    Euler,
    /// A state that is the equilibrium itself.
    Equilibrium,
}

/// The heading of a group of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The network.
    Network,
    /// Its training.
    Training,
}

impl Heading {
    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            Heading::Network => "Network",
            Heading::Training => "Training",
        }
    }
}

/// A row a setting: flag, place, kind and placeholder of its value, what it goes with, description.
macro_rules! settings {
    ($($heading:ident { $($flag:literal $path:literal $kind:ident($placeholder:literal) $with:ident: $help:literal;)* })*) => {
        /// All settings that a flag says, in the order in which they are put over others.
        pub static SETTINGS: &[Setting] = &[$($(Setting {
            flag: $flag,
            path: $path,
            kind: Kind::$kind,
            placeholder: $placeholder,
            with: With::$with,
            heading: Heading::$heading,
            help: $help,
        }),*),*];
    };
}

settings! {
    Network {
        "cell" "layers.kind" Name("KIND") All:
            "Kind of the cells: ernn, deep-transition, rnn, fastrnn, fastgrnn, ugrnn, gru, lstm, antisymmetric, \
             gated-antisymmetric, spectral [default: ernn]";
        "iterations" "layers.iterations" Whole("K") Euler:
            "ERNN: inner iterations K of a step";
        "layers" "layers" Whole("N") All:
            "Layers on top of each other [default: 1]";
        "bidirectional" "model.bidirectional" Switch("BOOL") All:
            "A second cell in every layer that reads the sequences from their ends";
        "layer-dropout" "model.layer_dropout" Number("X") Layers:
            "Part of each layer's states that the next layer does not see during training";
        "embedding" "model.embedding.size" Whole("N") Text:
            "Text: values of a token's embedding [default: the hidden size, or as known data has it]";
        "tied" "model.embedding.tied" Switch("BOOL") NextToken:
            "Text: the readout uses the embedding's matrix, to predict next tokens";
        "embedding-dropout" "model.embedding.dropout" Number("X") Text:
            "Text: part of the embedding's values that is dropped during training";
        "hidden" "layers.hidden" Whole("N") All:
            "Hidden size D";
        "rank" "layers.rank" WholeOrName("N|full") All:
            "Rank of the recurrent matrix: a number, or full";
        "input-rank" "layers.input_rank" WholeOrName("N|full") All:
            "Rank of the input matrix: a number, or full (of rnn, fastrnn, fastgrnn, ugrnn, gru and lstm)";
        "activation" "layers.activation" Name("NAME") All:
            "Nonlinearity: relu, tanh, sigmoid, or the piecewise-linear hard-tanh, hard-sigmoid";
        "gate-activation" "layers.gate_activation" Name("NAME") All:
            "Gated cells: nonlinearity of the gates, sigmoid or hard-sigmoid";
        "differences" "model.transforms.differences" Switch("BOOL") All:
            "First differences of all channels as further channels, for sequences of numbers";
        "compress" "model.transforms.compress" Switch("BOOL") All:
            "Small motions as further channels: asinh of what a channel is above its running mean, for sequences of numbers";
        "magnitudes" "model.transforms.magnitudes" Switch("BOOL") All:
            "Lengths of triads (x, y, z of a sensor) as further channels, for sequences of numbers";
        "triads" "model.transforms.triads" Text("A,B,C;..") All:
            "Triads of channels by name or number, such as \"ax,ay,az;gx,gy,gz\", with | between those of devices that turn \
             apart [default: names that differ in x, y, z alone, or in numbers by threes]";
        "pooling" "model.pooling" Name("NAME") OneTarget:
            "What the readout sees of the last layer: last (state), mean (of all states), or side by side mean-max (and each \
             unit's largest value), mean-max-last, mean-std-max (and the standard deviation)";
        "dropout" "model.dropout" Number("X") All:
            "Part of the features that is dropped during training";
        "start" "layers.start" Name("NAME") All:
            "ERNN: where the inner iteration starts: previous (state) or zero";
        "sign" "layers.sign" Name("NAME") All:
            "ERNN: sign of the previous state inside the nonlinearity: plus or minus";
        "steps" "layers.steps" Name("NAME") Euler:
            "ERNN: what a learned step size belongs to: per-step (of the sequence, and iteration) or per-iteration";
        "eta" "layers.eta" Number("X") Euler:
            "ERNN: initial step size";
        "reset" "layers.reset" Name("NAME") All:
            "GRU: whether the reset comes after the recurrent product (as torch) or before (as the paper)";
        "reflections" "layers.reflections" Whole("N") All:
            "Spectral: reflections in each orthogonal factor (0: a quarter of the hidden size)";
        "radius" "layers.radius" Number("X") All:
            "Spectral: the singular values lie within this distance of 1";
        "widths" "layers.widths" Wholes("N,N,..") All:
            "Deep transition: widths of the layers inside one step before the last, such as 64,32";
        "gamma" "layers.gamma" Number("X") All:
            "ERNN, antisymmetric: damping";
        "epsilon" "layers.epsilon" Number("X") All:
            "Antisymmetric: step size";
        "solver" "layers.solver" Name("NAME") All:
            "ERNN: how the state is found: euler (K steps), or the equilibrium itself by fixed-point, anderson or newton";
        "gradient" "layers.gradient" Name("NAME") Equilibrium:
            "Equilibrium: gradients implicit (a linear solve), one-step, or (fixed-point) unrolled";
        "tolerance" "layers.tolerance" Number("X") Equilibrium:
            "Equilibrium: absolute tolerance of the residual; a step has converged within --tolerance + --relative-tolerance \
             times the size of its state";
        "relative-tolerance" "layers.relative_tolerance" Number("X") Equilibrium:
            "Equilibrium: relative tolerance of the residual";
        "max-iterations" "layers.max_iterations" Whole("N") Equilibrium:
            "Equilibrium: iterations of a step at most";
        "contract" "layers.contract" Number("X") All:
            "ERNN: norm of P U at most this share of gamma, so that there is exactly one equilibrium (0: not bounded)";
        "projection" "layers.projection" Name("NAME") All:
            "ERNN: the projection P: shared (P = U) or identity";
    }
    Training {
        "epochs" "training.epochs" Whole("N") All:
            "Passes over the training part (without --min-steps: so many, neither more nor fewer)";
        "min-steps" "training.min_steps" Whole("N") All:
            "Optimizer steps at least: a small data set gets more epochs, and the schedule is stretched along (0: no floor)";
        "max-steps" "training.max_steps" Whole("N") All:
            "Optimizer steps at most, but for those of one epoch (0: no ceiling)";
        "batch-size" "training.batch_size" Whole("N") All:
            "Sequences a step";
        "learning-rate" "training.learning_rate" Number("X") All:
            "Learning rate of the first epoch";
        "schedule" "training.schedule.kind" Name("KIND") All:
            "How the learning rate falls: step, cosine or constant";
        "halve-every" "training.schedule.every" Whole("N") All:
            "Halve the learning rate every N epochs (of --epochs, where --min-steps makes more of them)";
        "clip-norm" "training.clip_norm" Number("X") All:
            "Largest global norm of a gradient (0: no limit)";
        "optimizer" "training.optimizer.kind" Name("KIND") All:
            "Rule of the steps: adam, adamw or sgd";
        "momentum" "training.optimizer.momentum" Number("X") All:
            "sgd: part of the last step that goes on";
        "weight-decay" "training.optimizer.weight_decay" Number("X") All:
            "Pull of the matrices towards zero";
        "input-noise" "training.input_noise" Number("X") Numbers:
            "Standard deviation of the noise added to the normalized inputs";
        "input-offset" "training.input_offset" Number("X") Numbers:
            "Standard deviation of an offset added to each channel of a sequence, the same at all its steps";
        "input-gain" "training.input_gain" Number("X") Numbers:
            "Standard deviation of the logarithm of a factor of each channel of a sequence, the same at all its steps";
        "input-rotation" "training.input_rotation" Number("X") Numbers:
            "Standard deviation of a random rotation (rad, about each axis) of the triads of each device, anew for each \
             sequence and epoch";
        "input-crop" "training.input_crop" Number("X") Numbers:
            "Largest share of a sequence that is cut off at its ends in training; the rest is stretched to its length";
        "input-shift" "training.input_shift" Number("X") Numbers:
            "Largest share of a sequence's length by which it comes earlier or later in training";
        "input-warp" "training.input_warp" Number("X") Numbers:
            "Standard deviation of the logarithm of the speed at which a sequence runs, now faster, now slower, in training";
        "input-mask-steps" "training.input_mask_steps" Number("X") Numbers:
            "Largest share of a sequence's steps that is masked in training";
        "input-mask-channels" "training.input_mask_channels" Number("X") Numbers:
            "Largest share of the channels that is masked in training";
        "average" "training.average" Number("X") All:
            "How much of the running average of the weights stays at a step; it is what is selected and saved (0: the last \
             weights)";
        "validation" "training.validation" Number("X") NoValidation:
            "Part of the training sequences that selects the best epoch (0: none; the model is the last one, its weights \
             averaged)";
        "loss" "training.loss" Name("NAME") OneNumber:
            "What is made small where numbers are learned (--target): mse (squared errors), mae (absolute ones: outliers pull less) or \
             huber (squared up to one standard deviation of the targets, absolute beyond) [default: mse]";
        "quantiles" "training.quantiles" Numbers("Q,..") OneNumber:
            "Learn quantiles of the number (--target), such as 0.1,0.5,0.9, by the pinball loss: an output for each, in order";
        "class-weights" "training.class_weights" Name("NAME") ClassesOrLabels:
            "Weights of the classes, or of each label and its absence, in the loss: none or balanced";
        "sparsity" "training.sparsity" Number("X") All:
            "Share of zeros in each matrix of the cells in the end (0: dense; EdgeML's sW and sU are 1 - X); thinned in the \
             second third of the steps, fixed in the last, which has the best epoch";
        "quantize" "training.quantize" Name("NAME") All:
            "What the cells' matrices are rounded to for a device, in training and in all that is done with the model later: \
             none or int8 (gradients go straight through; the file holds the weights behind the rounded ones)";
        "tbptt" "training.tbptt" Whole("N") All:
            "Steps through which gradients flow back at most: longer sequences are cut into pieces, over whose borders the \
             state is carried (0: no limit)";
        "patience" "training.patience" Whole("N") All:
            "Stop after N epochs without a better one (0: never)";
        "retrain" "training.retrain" Switch("BOOL") All:
            "At the end, train anew on training and validation part together, as long; that model is the result";
        "smooth" "training.smooth" Switch("BOOL") Steps:
            "Classes of steps: choose by validation what a change of class costs, so that answers do not flicker";
        "calibrate" "training.calibrate" Switch("BOOL") Classes:
            "Classes: scale the outputs in the end, by validation or folds, so that probabilities are frequencies";
        "unknown" "training.unknown" Number("X") OneClass:
            "Answer \"unknown\" where the probability is low: the share of right answers that may be lost by it, by validation or folds \
             (0: never)";
        "seed" "training.seed" Whole("N") All:
            "Seed of weights, split, batches, noise and dropout";
        "teacher" "training.teacher.runs" Paths("RUN,..") OneClass:
            "Learn from these runs (or ensembles, or model files) as well: beside the labels, the mean of their probabilities \
             for each sequence";
        "teacher-weight" "training.teacher.weight" Number("X") All:
            "With --teacher: its share in the loss, 0 to 1 [default: 0.5]";
        "teacher-temperature" "training.teacher.temperature" Number("X") All:
            "With --teacher: what logits are divided by, the teacher's and the model's; higher says more of the classes that \
             are not the likeliest [default: 2]";
    }
}

/// A setting and the value that it is given.
pub type Given = (&'static Setting, Value);

impl Setting {
    /// The setting of a flag, or of its name with `_`.
    pub fn of_flag(flag: &str) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| is_name(setting.flag, flag))
    }

    /// The setting of a name, with its value.
    ///
    /// # Errors
    /// If there is no such setting.
    pub fn given(name: &str, value: Value) -> Result<Given> {
        let known = || SETTINGS.iter().map(|setting| setting.flag);
        let unknown = || Error::setting(name, "no such setting", nearest_first(name, known()).join(", "));
        Ok((Self::of_flag(name).ok_or_else(unknown)?, value))
    }

    /// Its name in words of a program: the flag with `_`.
    pub fn name(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// The name of a setting of every layer; none of another one.
    pub fn of_layers(&self) -> Option<&'static str> {
        self.path.strip_prefix("layers.").filter(|name| *name != "kind")
    }

    /// Whether each of several networks of a comparison has a value of its own.
    pub fn makes_rows(&self) -> bool {
        matches!(self.flag, "cell" | "iterations")
    }

    /// Whether a value asks for something; 0 and false leave most things out.
    pub(super) fn asks(&self, value: &Value) -> bool {
        let nothing = match value {
            Value::Float(number) => *number == 0.0,
            Value::Boolean(is) => !is,
            _ => false,
        };
        !nothing || !matches!(self.with, With::Text | With::NextToken | With::Numbers | With::Layers)
    }
}

fn is_name(flag: &str, name: &str) -> bool {
    let mut letters = flag.bytes().zip(name.bytes());
    flag.len() == name.len() && letters.all(|(ours, theirs)| ours == theirs || (ours == b'-' && theirs == b'_'))
}
