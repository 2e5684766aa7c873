//! A recurrent layer: one cell over whole sequences, as a Burn module.

use std::sync::Arc;

use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::{DType, Device, Distribution, Int, Tensor};
use ernn::Error;
use ernn::cell::CellConfig;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::memory::Pool;
use crate::operation::sweep;
use crate::parameters::Parameters;
use crate::sequences::Sequences;
use crate::sweep::Sweep;

/// Configuration of a layer of any cell. The cells' own configurations, such as [`crate::ErnnConfig`], are shorter to write.
#[derive(Config, Debug)]
pub struct RecurrentConfig {
    /// The size of the input features.
    pub d_input: usize,
    /// The cell with its settings, the size of the hidden state among them.
    pub cell: CellConfig,
    /// If true, inputs and outputs are `[batch, steps, features]`; if false, `[steps, batch, features]`.
    #[config(default = true)]
    pub batch_first: bool,
}

impl RecurrentConfig {
    /// Initialize a new [`Recurrent`] layer. The initial values are drawn from the device's generator ([`Device::seed`]) in the way of
    /// the cell's paper, as `ernn train` draws them.
    ///
    /// # Panics
    /// If the settings contradict each other; [`RecurrentConfig::try_init`] says so in a value.
    pub fn init(&self, device: &Device) -> Recurrent {
        self.try_init(device).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`RecurrentConfig::init`].
    ///
    /// # Errors
    /// If the settings contradict each other.
    pub fn try_init(&self, device: &Device) -> Result<Recurrent, Error> {
        self.check()?;
        let mut values = vec![0.0; self.cell.parameter_count(self.d_input)];
        let mut random = ChaCha8Rng::seed_from_u64(seed(device));
        self.cell.initialize(self.d_input, &mut random, &mut values);
        self.with_values(&values, device)
    }

    /// A layer with these parameters, in the order and with the shapes of [`CellConfig::spans`].
    ///
    /// # Errors
    /// If the settings contradict each other, or there are more or fewer numbers than the cell has.
    pub fn with_values(&self, values: &[f32], device: &Device) -> Result<Recurrent, Error> {
        self.check()?;
        let spans = self.cell.spans(self.d_input, "", 0);
        let count = self.cell.parameter_count(self.d_input);
        if values.len() != count {
            return Err(Error::Setting {
                name: format!("parameters of the cell {}", self.cell.name()),
                found: format!("{} numbers", values.len()),
                expected: count.to_string(),
            });
        }
        Ok(Recurrent {
            parameters: Parameters::new(&spans, values, device),
            cell: self.cell.clone(),
            d_input: self.d_input,
            batch_first: self.batch_first,
            pool: Arc::default(),
        })
    }

    fn check(&self) -> Result<(), Error> {
        if self.d_input == 0 {
            return Err(Error::Setting {
                name: "d_input".to_string(),
                found: "0".to_string(),
                expected: "at least 1".to_string(),
            });
        }
        self.cell.check()
    }
}

/// A seed from the device's generator.
fn seed(device: &Device) -> u64 {
    let draw = Tensor::<1, Int>::random([2], Distribution::Uniform(0.0, f64::from(i32::MAX)), device);
    let numbers = draw.into_data().iter::<i64>().collect::<Vec<_>>();
    numbers.iter().fold(0, |seed, &number| (seed << 31) ^ number as u64)
}

/// A recurrent layer. Should be created with the configuration of its cell, or with [`RecurrentConfig`].
///
/// A whole sequence, whatever its length, is one node of the autodiff graph: forward and backward run in the fused kernels of `ernn`.
/// The layer runs on Burn's Flex backend, in `f32` or `f64`.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Recurrent {
    /// The cell's tensors under the names of its formula.
    pub parameters: Parameters,
    #[module(skip)]
    cell: CellConfig,
    /// The size of the input features.
    d_input: usize,
    /// If true, inputs and outputs are `[batch, steps, features]`.
    batch_first: bool,
    #[module(skip)]
    pool: Arc<Pool>,
}

impl ModuleDisplay for Recurrent {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("cell", &self.cell.name().to_string())
            .add("d_input", &self.d_input)
            .add("d_hidden", &self.d_hidden())
            .optional()
    }
}

impl Recurrent {
    /// The cell with its settings.
    pub fn cell(&self) -> &CellConfig {
        &self.cell
    }

    /// The size of the input features.
    pub fn d_input(&self) -> usize {
        self.d_input
    }

    /// The size of the hidden state.
    pub fn d_hidden(&self) -> usize {
        self.cell.hidden()
    }

    /// The size of the whole state: that of the hidden state, the LSTM's twice (`h`, then `c`).
    pub fn d_state(&self) -> usize {
        match self.cell {
            CellConfig::Lstm(_) => 2 * self.d_hidden(),
            _ => self.d_hidden(),
        }
    }

    /// Runs over sequences of equal length.
    ///
    /// - `input`: `[batch, steps, d_input]`, or `[steps, batch, d_input]` if `batch_first` is false
    /// - `state`: the whole state to start from, `[batch, d_state]`; zeros if there is none
    ///
    /// Returns the hidden states of all steps, `[batch, steps, d_hidden]` or `[steps, batch, d_hidden]`, and the whole state after the
    /// last one, `[batch, d_state]`.
    ///
    /// # Panics
    /// If the shapes do not fit the layer, as Burn's own layers.
    pub fn forward(&self, input: Tensor<3>, state: Option<Tensor<2>>) -> (Tensor<3>, Tensor<2>) {
        self.run(Sequences { state, ..input.into() })
    }

    /// As [`Recurrent::forward`], of sequences that may have different lengths. Behind a sequence's end its hidden states are 0, and
    /// what stands in the input there is not read.
    ///
    /// # Panics
    /// As [`Recurrent::forward`].
    pub fn run(&self, sequences: impl Into<Sequences>) -> (Tensor<3>, Tensor<2>) {
        let sequences = sequences.into();
        let [batch, steps] = self.sizes(&sequences);
        let (hidden, size) = (self.d_hidden(), self.d_state());
        if size == hidden && sequences.lengths.is_none() && steps > 0 {
            // The last state is the last of all states.
            let states = self.sweep(sequences, true, false).reshape([batch, steps, hidden]);
            let last = states.clone().narrow(1, steps - 1, 1).reshape([batch, hidden]);
            return (self.lay_out(states), last);
        }
        let output = self.sweep(sequences, true, true);
        let states = output.clone().narrow(1, 0, steps * hidden);
        let states = states.reshape([batch, steps, hidden]);
        (self.lay_out(states), output.narrow(1, steps * hidden, size))
    }

    /// The hidden states of all steps, `[batch, steps, d_hidden]` or `[steps, batch, d_hidden]`; 0 behind a sequence's end.
    ///
    /// # Panics
    /// As [`Recurrent::forward`].
    pub fn states(&self, sequences: impl Into<Sequences>) -> Tensor<3> {
        let sequences = sequences.into();
        let [batch, steps] = self.sizes(&sequences);
        let states = self.sweep(sequences, true, false);
        self.lay_out(states.reshape([batch, steps, self.d_hidden()]))
    }

    /// The whole state after each sequence's last step, `[batch, d_state]`: the cheapest, where a classifier reads nothing else.
    ///
    /// # Panics
    /// As [`Recurrent::forward`].
    pub fn last(&self, sequences: impl Into<Sequences>) -> Tensor<2> {
        self.sweep(sequences.into(), false, true)
    }

    /// One node of the graph.
    fn sweep(&self, sequences: Sequences, all: bool, last: bool) -> Tensor<2> {
        let [batch, steps] = self.sizes(&sequences);
        let Sequences {
            input,
            lengths,
            state,
            first_step,
        } = sequences;
        let (device, dtype) = (input.device(), input.dtype());
        let size = self.d_state();
        let initial = state.unwrap_or_else(|| Tensor::zeros([batch, size], (&device, dtype)));
        let parameters = self.parameters.flat();
        check_types(dtype, &initial, &parameters);
        let input = if self.batch_first { input } else { input.swap_dims(0, 1) };
        let what = Sweep {
            cell: self.cell.clone(),
            inputs: self.d_input,
            steps,
            lengths: lengths.unwrap_or_else(|| vec![steps; batch]),
            first_step,
            all,
            last,
            pool: self.pool.clone(),
        };
        sweep(input, initial, parameters, what)
    }

    /// Batch and steps of sequences that fit the layer.
    fn sizes(&self, sequences: &Sequences) -> [usize; 2] {
        sequences
            .sizes(self.batch_first, self.d_input, self.d_state())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// From `[batch, steps, features]` to the layer's layout.
    fn lay_out(&self, states: Tensor<3>) -> Tensor<3> {
        if self.batch_first {
            states
        } else {
            states.swap_dims(0, 1)
        }
    }
}

/// All tensors of a sweep hold one type of number.
fn check_types(input: DType, initial: &Tensor<2>, parameters: &Tensor<1>) {
    for (name, found) in [("state", initial.dtype()), ("parameters", parameters.dtype())] {
        assert!(
            found == input,
            "{name}: found numbers of {found:?}, expected {input:?}, as the input's"
        );
    }
}
