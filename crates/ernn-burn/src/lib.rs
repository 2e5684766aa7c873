//! The cells of [`ernn`] as [Burn](burn) modules: ERNN, RNN, FastRNN, AntisymmetricRNN, SpectralRNN, LSTM, GRU, UGRNN, FastGRNN.
//!
//! ```
//! use burn::optim::GradientsParams;
//! use burn::tensor::{Device, Distribution, Tensor};
//! use ernn_burn::{ErnnConfig, Sequences};
//! use ernn::cell::Rank;
//!
//! let device = Device::flex().autodiff();
//! let layer = ErnnConfig::new(9, 80).with_rank(Rank::Low(20)).init(&device);
//!
//! let input = Tensor::random([4, 128, 9], Distribution::Default, &device); // [batch, steps, features]
//! let (states, last) = layer.forward(input.clone(), None); // [4, 128, 80] and [4, 80]
//! # assert_eq!((states.dims(), last.dims()), ([4, 128, 80], [4, 80]));
//!
//! // Sequences of different lengths, of which a classifier reads the last state.
//! let last = layer.last(Sequences::new(input).with_lengths([128, 90, 17, 1]));
//! let gradients = GradientsParams::from_grads(last.sum().backward(), &layer); // for one of Burn's optimizers
//! # assert_eq!(gradients.len(), 5);
//! ```
//!
//! A whole sequence is one node of the autodiff graph: forward and backward run in the fused kernels of `ernn`, which pass over a
//! batch once in each direction, instead of in dozens of small operations for each time step. The gradients are those of Burn's own
//! autodiff over the same formula; the tests compare them.
//!
//! A layer runs on Burn's Flex backend, in `f32` or `f64`. Its parameters stand under the names of the cell's formula
//! (`parameters.V`, `parameters.eta`), in records as well as in parameter groups of an optimizer: there, biases and step sizes can be
//! spared weight decay, and step sizes given a learning rate of their own, as `ernn train` does. [`Network`] exchanges layers and
//! readout with the model files of the command `ernn`.

mod cells;
mod memory;
mod network;
mod operation;
mod parameters;
mod recurrent;
mod sequences;
mod sweep;

pub use self::cells::*;
pub use self::network::{Network, NetworkConfig, Pooling};
pub use self::parameters::{Parameter, Parameters};
pub use self::recurrent::{Recurrent, RecurrentConfig};
pub use self::sequences::Sequences;
