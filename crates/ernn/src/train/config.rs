//! The settings of a run: one TOML file, complete, so that it repeats the run.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::check::demand;
use super::recipe::{self, Extent};
use super::{TeacherSettings, defaults, layers};
use crate::cell::CellConfig;
use crate::data::{
    Augmentation, Dataset, MissingPolicy, OpenOptions, Preparation, Scheme, TableOptions, Task, TextOptions, Transforms,
};
use crate::head::NumberLoss;
use crate::model::{Embedding, ModelConfig, Pooling, Quantize};
use crate::optim::{OptimizerConfig, Schedule};
use crate::{Error, Result};

/// Everything that decides what a run computes. Threads, folders and displays do not, and stand elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Which data, and how it is read.
    pub data: DataSettings,
    /// The network.
    pub model: ModelSettings,
    /// How it is trained.
    pub training: TrainingSettings,
}

/// Which data, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// A known name, a file or a folder.
    pub source: String,
    /// What to do about missing values.
    pub missing: MissingPolicy,
    /// Values a step in two-dimensional arrays (label in column 0, then the steps).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<usize>,
    /// Folder of a known data set that is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// Where the names of recordings of a person's own tell the group (speaker), such as `*_{group}_*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_pattern: Option<String>,
    /// How known data sets are prepared.
    #[serde(default)]
    pub preparation: Preparation,
    /// How text becomes tokens.
    #[serde(default, skip_serializing_if = "TextOptions::is_default")]
    pub text: TextOptions,
    /// What the columns of a table of numbers are.
    #[serde(default, skip_serializing_if = "TableOptions::is_default")]
    pub table: TableOptions,
}

impl DataSettings {
    /// How the data is opened.
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            data_dir: self.data_dir.clone(),
            missing: self.missing,
            features: self.features,
            group_pattern: self.group_pattern.clone(),
            preparation: self.preparation,
            text: self.text.clone(),
            table: self.table.clone(),
            ..OpenOptions::default()
        }
    }
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Part of the last states that is dropped during training.
    pub dropout: f64,
    /// What the readout sees of the last layer's states.
    pub pooling: Pooling,
    /// Whether every layer has a second cell that reads the sequences from their ends.
    pub bidirectional: bool,
    /// Part of each layer's states that the next layer does not see during training.
    pub layer_dropout: f64,
    /// What makes values of tokens; only for data of tokens, which have one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingSettings>,
    /// Which channels are derived of those of the data.
    #[serde(default, skip_serializing_if = "Transforms::is_default")]
    pub transforms: Transforms,
    /// The layers, first one first.
    pub layers: Vec<CellConfig>,
}

/// The embedding of tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingSettings {
    /// Values a token; 0: as many as the hidden size of the first layer.
    pub size: usize,
    /// Whether the readout uses the same matrix, for next-token data.
    pub tied: bool,
    /// Part of the values that is dropped during training.
    pub dropout: f64,
    /// Standard deviation of the initial values.
    pub deviation: f64,
}

impl Default for EmbeddingSettings {
    /// As large as the hidden state, on its own, initially normal with deviation 1 as torch's.
    fn default() -> Self {
        EmbeddingSettings {
            size: 0,
            tied: false,
            dropout: 0.0,
            deviation: 1.0,
        }
    }
}

/// How the network is trained. The default of each setting asks for nothing; `RunConfig::defaults` has those of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// Seed of the initial weights, the split, the batches, noise and dropout.
    pub seed: u64,
    /// Passes over the training part.
    pub epochs: usize,
    /// Optimizer steps that a run takes at least: where the epochs have fewer, there are more of them, and the schedule is stretched. 0: no
    /// floor.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_steps: usize,
    /// Optimizer steps at most, but for those of one epoch, which a run always takes. 0: no ceiling.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_steps: usize,
    /// How often the initial step sizes of the cells (of other cells the learning rate) were halved because the run diverged in its first epoch.
    /// The settings have the halves; this says what they were halves of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub halvings: u32,
    /// Sequences a step.
    pub batch_size: usize,
    /// Of the first epoch.
    pub learning_rate: f64,
    /// Largest global norm of a gradient; longer ones are scaled down. 0: no limit.
    pub clip_norm: f64,
    /// Part of the training sequences that selects the best epoch, unless the data brings a validation part. 0: none.
    pub validation: f64,
    /// What is made small where numbers are learned, on their scale (a standard deviation of 1).
    #[serde(default, skip_serializing_if = "NumberLoss::is_default")]
    pub loss: NumberLoss,
    /// The quantiles of the numbers that are predicted, rising, by their pinball loss; empty: the numbers, by `loss`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<f64>,
    /// Whether rare classes weigh more.
    pub class_weights: ClassWeights,
    /// Standard deviation of the noise added to the normalized inputs during training.
    pub input_noise: f64,
    /// Standard deviation of an offset added to each channel of a sequence, the same at all its steps, during training.
    pub input_offset: f64,
    /// How much the channels of a sequence are stretched during training, all steps alike: each by the exponential of a normal number of this
    /// standard deviation.
    #[serde(default)]
    pub input_gain: f64,
    /// Standard deviation of each component of a random rotation, rad, of all triads of a device alike, during training (see [`Augmentation`]).
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_rotation: f64,
    /// Largest share of a sequence's steps that is cut off at its ends during training; the rest is stretched.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_crop: f64,
    /// Largest share of a sequence's steps by which everything comes earlier or later during training.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_shift: f64,
    /// Standard deviation of the logarithm of the speed at which a sequence runs during training.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_warp: f64,
    /// Largest share of a sequence's steps that is masked during training.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_mask_steps: f64,
    /// Largest share of the channels that is masked during training.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_mask_channels: f64,
    /// What is measured, selected and saved is a running average of the parameters; this is how much of it stays at a step
    /// (0.99: about the last hundred steps). 0: the parameters themselves.
    pub average: f64,
    /// Share of the entries of each matrix of the cells that is zero in the end, by iterative hard thresholding; the best epoch is
    /// then one of the last third, in which the zeros are fixed. 0: dense.
    pub sparsity: f64,
    /// What the cells' matrices are rounded to, as a device will have them: in training, in what is measured, and in all that is done with
    /// the model later. Its file holds the weights that are not rounded, from which training can go on.
    #[serde(default, skip_serializing_if = "Quantize::is_none")]
    pub quantize: Quantize,
    /// A model file with the weights that the run begins with; without one they are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// Steps through which gradients flow back at most: sequences are cut into pieces of at most this many, the longest one into pieces
    /// of equal length, and the state is carried over their borders. 0: through all of the sequence. A text runs in windows of so
    /// many steps (0: 300), and `batch_size` streams of it run side by side.
    #[serde(default)]
    pub tbptt: usize,
    /// Epochs without a better one after which the run stops. 0: never.
    pub patience: usize,
    /// Whether to train anew on training and validation part together, for as many epochs as were run; that model is
    /// then the result.
    pub retrain: bool,
    /// For classes of steps: whether the end of the training chooses what a change of class costs
    /// ([`crate::checkpoint::Decision::switch_penalty`]), so that answers do not flicker.
    #[serde(default, skip_serializing_if = "is_default")]
    pub smooth: bool,
    /// For classes: whether the end of the training scales the readout so that probabilities are frequencies
    /// ([`crate::checkpoint::Decision::calibration`]).
    #[serde(default, skip_serializing_if = "is_default")]
    pub calibrate: bool,
    /// For classes of sequences: the share of right answers that may become "unknown"
    /// ([`crate::checkpoint::Decision::unknown_below`]); 0: there is always an answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown: f64,
    /// How gradients become steps, weight decay included.
    pub optimizer: OptimizerConfig,
    /// How the learning rate falls.
    pub schedule: Schedule,
    /// Models whose probabilities the run learns beside the labels; only for classes of sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<TeacherSettings>,
}

/// Whether rare classes weigh more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeights {
    /// Every sequence weighs the same.
    #[default]
    None,
    /// Every class weighs the same.
    Balanced,
}

impl TrainingSettings {
    /// What training changes about the sequences.
    pub fn augmentation(&self) -> Augmentation {
        Augmentation {
            rotation: self.input_rotation,
            crop: self.input_crop,
            shift: self.input_shift,
            warp: self.input_warp,
            mask_steps: self.input_mask_steps,
            mask_channels: self.input_mask_channels,
        }
    }
}

impl RunConfig {
    /// The settings that need no flag, for a known data set or any other.
    pub fn defaults(source: &str) -> Self {
        defaults::for_source(source)
    }

    /// The defaults of a data set that has been read: what its sequences ask for, where they are of one's own. They are no part of
    /// a settings file, which stands on [`defaults`](Self::defaults). `judged`: whether a test part or folds judge the model in the end, so
    /// that few sequences can all be trained on.
    pub fn defaults_for(source: &str, options: &OpenOptions, dataset: &Dataset, judged: bool) -> Self {
        recipe::for_dataset(source, options, dataset, judged)
    }

    /// The folds that judge a training of these data where nothing is said about it: few sequences of one's own without a test part. Else
    /// none.
    pub fn folds_for(source: &str, options: &OpenOptions, dataset: &Dataset) -> Option<Scheme> {
        recipe::folds(source, options, dataset)
    }

    /// Why no folds judge where few sequences of one's own have no other judge: a sentence about their groups, else none.
    pub fn folds_missing(source: &str, options: &OpenOptions, dataset: &Dataset) -> Option<String> {
        recipe::folds_missing(source, options, dataset)
    }

    /// The defaults of so many classified sequences of numbers, the longest of so many steps, that others judge.
    pub fn defaults_for_arrays(source: &str, sequences: usize, longest: usize) -> Self {
        let extent = Extent {
            sequences,
            longest,
            judged: true,
        };
        recipe::for_extent(source, &extent, recipe::INPUT_NOISE)
    }

    /// The defaults of sequences of one's own with a class for each step.
    pub fn defaults_for_steps(source: &str) -> Self {
        recipe::for_steps(source)
    }

    /// Reads a settings file; `source` takes the place of its `data.source`. What the file leaves out has the default of the
    /// data set.
    pub fn load(path: &Path, source: Option<&str>) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io(path, "read"))?;
        Self::from_toml(&text, path, source)
    }

    /// The settings in a file's text; `path` is only named in errors.
    pub fn from_toml(text: &str, path: &Path, source: Option<&str>) -> Result<Self> {
        let wrong = |place: String, found: &str| {
            let expected = "the settings of a run in TOML, as in the config.toml of a run folder";
            Error::format(path, place, found.trim().replace('\n', " "), expected)
        };
        let mut written: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            wrong(
                line.map_or_else(String::new, |line| format!(", line {line}")),
                error.message(),
            )
        })?;
        let named = || Some(written.get("data")?.get("source")?.as_str()?.to_string());
        let Some(source) = source.map(String::from).or_else(named) else {
            return Err(wrong(String::new(), "no data.source"));
        };
        let mut config = toml::Table::try_from(Self::defaults(&source)).expect("default settings are plain");
        layers::complete(&mut written, &source);
        overlay(&mut config, written);
        let mut config: RunConfig = config
            .try_into()
            .map_err(|error| wrong(String::new(), &error.to_string()))?;
        config.data.source = source;
        Ok(config)
    }

    /// The complete file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are plain structs that `check` has seen")
    }

    /// The file without what holds on this machine alone.
    pub fn to_portable_toml(&self) -> String {
        self.portable().to_toml()
    }

    /// These settings without what holds on this machine alone: two runs whose portable settings are equal compute the same.
    pub fn portable(&self) -> Self {
        let mut config = self.clone();
        config.data.data_dir = None;
        config
    }

    /// These settings with what follows from the training sequences filled in: one learned step size for each of their steps.
    pub fn resolved(&self, dataset: &Dataset) -> Self {
        let mut config = self.clone();
        let validation = dataset.validation.as_ref().map_or(0, |part| part.longest());
        let longest = match dataset.task {
            Task::NextToken => self.training.window().min(dataset.train.longest()),
            _ => dataset.train.longest().max(validation),
        };
        for layer in &mut config.model.layers {
            match layer {
                CellConfig::Ernn(cell) => cell.max_steps = longest,
                CellConfig::DeepTransition(cell) => cell.max_steps = longest,
                _ => {}
            }
        }
        // Sequences of numbers have none, whatever was asked for.
        config.model.embedding = dataset.train.values.are_tokens().then(|| {
            let mut embedding = config.model.embedding.unwrap_or_default();
            if embedding.size == 0 {
                embedding.size = config.model.layers.first().map_or(0, CellConfig::hidden);
            }
            embedding
        });
        config
    }

    /// The model for a data set, from settings that are [`resolved`](Self::resolved).
    pub fn model_for(&self, dataset: &Dataset) -> ModelConfig {
        let embedding = self.model.embedding.as_ref();
        let channels = dataset.train.features + self.model.transforms.count(&dataset.feature_names);
        let inputs = embedding.map_or(channels, |embedding| embedding.size);
        let classes = match dataset.task {
            Task::Classification | Task::StepClassification | Task::MultiLabel => dataset.classes.len(),
            Task::NextToken => dataset.vocabulary.len(),
            Task::Regression | Task::StepRegression => {
                dataset.train.targets().max(1) * self.training.quantiles.len().max(1)
            }
        };
        ModelConfig {
            dropout: self.model.dropout,
            pooling: self.model.pooling,
            bidirectional: self.model.bidirectional,
            layer_dropout: self.model.layer_dropout,
            task: dataset.task,
            embedding: embedding.map(|embedding| Embedding {
                vocabulary: dataset.vocabulary.len(),
                deviation: embedding.deviation,
                tied: embedding.tied,
            }),
            embedding_dropout: embedding.map_or(0.0, |embedding| embedding.dropout),
            quantize: self.training.quantize,
            quantiles: match dataset.task {
                Task::Regression | Task::StepRegression => self.training.quantiles.clone(),
                _ => Vec::new(),
            },
            ..ModelConfig::new(inputs, classes, self.model.layers.clone())
        }
    }

    /// Another number of epochs, and no other length: who names epochs wants so many. A cosine schedule ends with them.
    pub fn set_epochs(&mut self, epochs: usize) {
        self.training.epochs = epochs;
        self.training.min_steps = 0;
        self.training.max_steps = 0;
        if let Schedule::Cosine { epochs: end, .. } = &mut self.training.schedule {
            *end = epochs;
        }
    }

    /// Brings a floor of steps that nobody named down to a ceiling that somebody did.
    pub fn lower_floor(&mut self) {
        let ceiling = self.training.max_steps;
        if ceiling > 0 {
            self.training.min_steps = self.training.min_steps.min(ceiling);
        }
    }

    /// All settings, those too that a file leaves out because nothing is asked for.
    pub(super) fn tables(&self) -> toml::Table {
        let mut all = toml::Table::try_from(self).expect("settings are plain structs");
        let transforms = toml::Table::try_from(&self.model.transforms).expect("settings are plain structs");
        if let Some(model) = all.get_mut("model").and_then(toml::Value::as_table_mut) {
            model.insert("transforms".to_string(), toml::Value::Table(transforms));
        }
        all
    }

    /// The names of the settings in a table that have one value.
    pub fn names_in(&self, table: &str) -> Vec<String> {
        let all = toml::Value::try_from(self).expect("settings are plain structs");
        let inner = table.split('.').try_fold(&all, |outer, key| outer.get(key));
        inner
            .and_then(toml::Value::as_table)
            .map_or_else(Vec::new, layers::names_of_one_value)
    }

    /// Changes one setting of the table `data`, `model`, `model.transforms`, `training` or `training.optimizer` by its name in the settings file.
    ///
    /// # Errors
    /// If the table has no such setting, or its value is of another kind. Whether it is in range says [`RunConfig::check`].
    pub fn set(&mut self, table: &str, name: &str, value: toml::Value) -> Result<()> {
        let refused = |expected: &str| {
            let expected = expected.trim().replace('\n', " ");
            Error::setting(name, value.to_string().trim_matches('"'), expected)
        };
        let mut all = self.tables();
        let mut path = table.split('.');
        let first = path.next().and_then(|first| all.get_mut(first));
        let inner = path.fold(first, |outer, key| outer?.get_mut(key));
        let Some(inner) = inner.and_then(toml::Value::as_table_mut) else {
            return Err(refused("a setting of data, model or training"));
        };
        inner.insert(name.to_string(), value.clone());
        *self = all
            .try_into()
            .map_err(|error: toml::de::Error| refused(&layers::expectation(&error)))?;
        if (table, name) == ("training", "epochs") {
            self.set_epochs(self.training.epochs);
        }
        Ok(())
    }

    /// Lets a run go on to more epochs than it was made for.
    pub fn extend_to(&mut self, epochs: usize) -> Result<()> {
        let cosine = matches!(self.training.schedule, Schedule::Cosine { .. });
        let old = self.training.epochs;
        demand(
            epochs >= old,
            "epochs",
            epochs,
            &format!("at least the {old} of the run"),
        )?;
        demand(
            !cosine || epochs == old,
            "epochs",
            epochs,
            &format!("{old}: a cosine schedule ends with the run"),
        )?;
        demand(
            !self.training.retrain || epochs == old,
            "epochs",
            epochs,
            &format!("{old}: a run with retrain ends with it"),
        )?;
        demand(
            self.training.sparsity == 0.0 || epochs == old,
            "epochs",
            epochs,
            &format!("{old}: the thirds of a run with sparsity end with it"),
        )?;
        demand(
            epochs == old || (self.training.min_steps == 0 && self.training.max_steps == 0),
            "epochs",
            epochs,
            &format!("{old}: a run whose length is a number of steps ends with it"),
        )?;
        self.training.epochs = epochs;
        Ok(())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TrainingSettings {
    /// Passes over the epochs: one, and another one to retrain.
    pub fn passes(&self) -> usize {
        1 + usize::from(self.retrain)
    }

    /// Steps of a text that run, and learn, together.
    pub fn window(&self) -> usize {
        if self.tbptt == 0 { WINDOW } else { self.tbptt }
    }

    /// The largest gradient norm; infinite where the settings name no limit.
    pub(super) fn largest_norm(&self) -> f64 {
        if self.clip_norm > 0.0 {
            self.clip_norm
        } else {
            f64::INFINITY
        }
    }
}

/// Steps of a text that run together without a word about it: those of the paper.
const WINDOW: usize = 300;

/// Puts what is written over the defaults, table by table. A table of another `kind` takes the place of the default one.
pub fn overlay(defaults: &mut toml::Table, written: toml::Table) {
    for (key, value) in written {
        match (defaults.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above))
                if above.get("kind").is_none_or(|kind| below.get("kind") == Some(kind)) =>
            {
                overlay(below, above);
            }
            (_, value) => {
                defaults.insert(key, value);
            }
        }
    }
}
