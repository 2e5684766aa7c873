//! Layers and a linear readout: what a model file of the command holds.
//!
//! Files are read and written by [`ernn::checkpoint::SavedModel`], which also keeps the normalization and the class names; this module
//! turns the [`Model`] inside into Burn modules and back. Each parameter keeps its value to the bit.

use burn::config::Config;
use burn::module::{Module, Param};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use ernn::Error;
use ernn::cell::CellConfig;
use ernn::data::Task;
use ernn::model::{self, Model, ModelConfig};

use crate::{Recurrent, RecurrentConfig, Sequences};

/// Which states the readout sees.
#[derive(Config, Debug, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The state after each sequence's last step.
    Last,
    /// The mean of the states of all its steps.
    Mean,
}

/// Configuration of a [`Network`].
#[derive(Config, Debug)]
pub struct NetworkConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The size of the output: the number of classes.
    pub d_output: usize,
    /// The cells, from input to readout.
    pub layers: Vec<CellConfig>,
    /// Which states the readout sees.
    #[config(default = "Pooling::Last")]
    pub pooling: Pooling,
}

impl NetworkConfig {
    /// Initialize a new [`Network`].
    ///
    /// # Panics
    /// If the settings contradict each other, or there is no layer.
    pub fn init(&self, device: &Device) -> Network {
        let mut size = self.d_input;
        let mut layers = Vec::new();
        for cell in &self.layers {
            layers.push(RecurrentConfig::new(size, cell.clone()).init(device));
            size = cell.hidden();
        }
        assert!(!layers.is_empty(), "layers: found none, expected at least one cell");
        Network {
            layers,
            readout: LinearConfig::new(size, self.d_output).init(device),
            pooling: self.pooling,
        }
    }
}

/// Layers of cells and a linear readout of each sequence.
#[derive(Module, Debug)]
pub struct Network {
    /// The layers, from input to readout.
    pub layers: Vec<Recurrent>,
    /// One output a class.
    pub readout: Linear,
    #[module(skip)]
    pooling: Pooling,
}

impl Network {
    /// Logits `[batch, d_output]` of sequences `[batch, steps, d_input]`. The initial state of all layers is 0.
    ///
    /// # Panics
    /// If the shapes do not fit, or a state or first step was given.
    pub fn forward(&self, sequences: impl Into<Sequences>) -> Tensor<2> {
        let mut sequences = sequences.into();
        assert!(
            sequences.state.is_none() && sequences.first_step == 0,
            "a network runs over whole sequences, from a state of 0"
        );
        let (top, below) = self.layers.split_last().expect("a network has a layer");
        for layer in below {
            sequences.input = layer.states(sequences.clone());
        }
        let pooled = match self.pooling {
            Pooling::Last => top.last(sequences).narrow(1, 0, top.d_hidden()),
            Pooling::Mean => mean(top, sequences),
        };
        self.readout.forward(pooled)
    }

    /// The layers and the readout of a model. Its rates of dropout are a matter of training and not taken over.
    ///
    /// # Errors
    /// If the model has what this one has not: a second direction, an embedding, a readout of more than the last state or the mean, or
    /// another task than a class or a number a sequence.
    pub fn from_model(model: &Model<f32>, device: &Device) -> Result<Self, Error> {
        let config = model.config();
        check(config)?;
        let pooling = match config.pooling {
            model::Pooling::Last => Pooling::Last,
            model::Pooling::Mean => Pooling::Mean,
            other => return refuse("pooling", format!("{other:?}"), "the last state or the mean"),
        };
        let (mut size, mut rest) = (config.input_size, model.parameters());
        let mut layers = Vec::new();
        for cell in &config.layers {
            let (own, tail) = rest.split_at(cell.parameter_count(size));
            layers.push(RecurrentConfig::new(size, cell.clone()).with_values(own, device)?);
            (size, rest) = (cell.hidden(), tail);
        }
        let (weight, bias) = rest.split_at(config.classes * size);
        // The file has a row a class, Burn a column.
        let columns = (0..size).flat_map(|input| weight[input..].iter().step_by(size).copied());
        let weight = TensorData::new(columns.collect(), [size, config.classes]);
        let bias = TensorData::new(bias.to_vec(), [config.classes]);
        let readout = Linear {
            weight: Param::from_data(weight, device),
            bias: Some(Param::from_data(bias, device)),
        };
        Ok(Network {
            layers,
            readout,
            pooling,
        })
    }

    /// The model with these layers and this readout, for [`ernn::checkpoint::SavedModel`] and all that the library does with a model;
    /// `task` says what it was trained for.
    ///
    /// # Errors
    /// If the task is none of a class or a number a sequence, or does not fit the size of the output.
    pub fn to_model(&self, task: Task) -> Result<Model<f32>, Error> {
        let [_, classes] = self.readout.weight.shape().dims();
        let cells = self.layers.iter().map(|layer| layer.cell().clone());
        let d_input = self.layers.first().map_or(0, Recurrent::d_input);
        let config = ModelConfig {
            pooling: match self.pooling {
                Pooling::Last => model::Pooling::Last,
                Pooling::Mean => model::Pooling::Mean,
            },
            task,
            ..ModelConfig::new(d_input, classes, cells.collect())
        };
        check(&config)?;
        let mut values = Vec::new();
        for layer in &self.layers {
            values.extend(layer.parameters.values());
        }
        values.extend(numbers(self.readout.weight.val().transpose()));
        match &self.readout.bias {
            Some(bias) => values.extend(numbers(bias.val())),
            None => values.extend(vec![0.0; classes]),
        }
        Model::from_parameters(config, values)
    }
}

/// The numbers of a tensor, row by row.
fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// The mean of each sequence's states.
fn mean(top: &Recurrent, sequences: Sequences) -> Tensor<2> {
    let [batch, steps, _] = sequences.input.dims();
    let lengths = sequences.lengths.clone().unwrap_or_else(|| vec![steps; batch]);
    let shares: Vec<f32> = lengths.iter().map(|&length| 1.0 / length.max(1) as f32).collect();
    // Behind a sequence's end its states are 0.
    let sums: Tensor<2> = top.states(sequences).sum_dim(1).squeeze_dim(1);
    let shares = TensorData::new(shares, [batch, 1]);
    let shares = Tensor::from_data(shares, (&sums.device(), sums.dtype()));
    sums * shares
}

fn refuse<T>(name: &str, found: String, expected: &str) -> Result<T, Error> {
    Err(Error::Setting {
        name: name.to_string(),
        found,
        expected: format!("{expected}; others run in the library"),
    })
}

fn check(config: &ModelConfig) -> Result<(), Error> {
    if config.bidirectional {
        return refuse("bidirectional", "true".to_string(), "false");
    }
    if config.embedding.is_some() {
        return refuse("embedding", "one".to_string(), "none");
    }
    match config.task {
        Task::Regression if config.classes > 1 => refuse("task", format!("{} numbers", config.classes), "one number"),
        Task::Classification | Task::Regression => Ok(()),
        other => refuse("task", format!("{other:?}"), "a class or a number a sequence"),
    }
}
