//! State dicts of `torch.nn.RNN`, `LSTM` and `GRU` with a linear readout, as `.safetensors` files.
//!
//! ```text
//! weight_ih_l{k} [G D, d]   layer k's W, and of a bidirectional model weight_ih_l{k}_reverse; from layer 1 on [G D, D directions]
//! weight_hh_l{k} [G D, D]   U
//! bias_ih_l{k}, bias_hh_l{k} [G D]   b is their sum; but the GRU's n has b[n] from the first and b_n from the second.
//!                           Both may be absent (bias=False): 0
//! NAME.weight [C, D directions], NAME.bias [C]   the readout, of the last states (h_n), forwards and backwards side by side; of
//!                           several statistics of the states (pooling) [C, statistics D directions], in the order of `Pooling`
//! ```
//!
//! All names may have a common prefix (`encoder.lstm.`). G tells the kind: 1 RNN, 3 GRU (gates r, z, n; reset after the product),
//! 4 LSTM (i, f, g, o): the orders that the cells here have. Numbers are of 64, 32 or 16 bits (also bfloat16).
//!
//! A normalization that is not the identity is written as two more tensors, `normalization.mean` and `normalization.scale`, of
//! d numbers each: torch has no place for it, and a module that does not expect them refuses the file instead of computing
//! something else.

mod read;
mod write;

pub use read::read;
pub use write::{to_bytes, write};

use crate::cell::{Activation, CellConfig, GruConfig, LstmConfig, Rank, RnnConfig};
use crate::model::{Pooling, Statistic};

/// What is easily mistaken in a bidirectional module.
const TWO_DIRECTIONS: &str = "the readout reads the last state of each direction (h_n), not the last output, where the second \
                              direction has read one step only";

/// What the readout reads of the states, in torch's words.
fn reads(pooling: Pooling) -> String {
    if pooling == Pooling::Mean {
        return "the readout reads the mean of all states (output.mean(time))".to_string();
    }
    let part = |statistic: &Statistic| match statistic {
        Statistic::Mean => "output.mean(time)",
        Statistic::Deviation => "(output.var(time, unbiased=False) + 2**-16).sqrt()",
        Statistic::Largest => "output.amax(time)",
        Statistic::Last => "the last state",
    };
    let parts: Vec<&str> = pooling.statistics().iter().map(part).collect();
    format!("the readout reads side by side torch.cat([{}], -1)", parts.join(", "))
}

const MEAN: &str = "normalization.mean";
const SCALE: &str = "normalization.scale";

/// Torch's recurrent modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rnn,
    Gru,
    Lstm,
}

impl Kind {
    /// `G`.
    fn gates(self) -> usize {
        match self {
            Kind::Rnn => 1,
            Kind::Gru => 3,
            Kind::Lstm => 4,
        }
    }

    /// The name of the module, and here of the cell.
    fn name(self) -> &'static str {
        match self {
            Kind::Rnn => "rnn",
            Kind::Gru => "gru",
            Kind::Lstm => "lstm",
        }
    }

    /// The cell here that computes the same; the gates' function is torch's own, the sigmoid.
    fn cell(self, hidden: usize, activation: Activation) -> CellConfig {
        let (rank, input_rank) = (Rank::Full, Rank::Full);
        match self {
            Kind::Rnn => CellConfig::Rnn(RnnConfig {
                hidden,
                rank,
                input_rank,
                activation,
            }),
            // The defaults are torch's: sigmoid, tanh, reset after the product.
            Kind::Gru => CellConfig::Gru(GruConfig {
                hidden,
                ..GruConfig::default()
            }),
            Kind::Lstm => CellConfig::Lstm(LstmConfig {
                hidden,
                ..LstmConfig::default()
            }),
        }
    }
}

/// The suffixes of torch's names for the directions, in the order of the directions here.
const DIRECTIONS: [&str; 2] = ["", "_reverse"];

/// The prefix of the spans' names, as in [`crate::model::ModelConfig::spans`].
fn span_prefix(layer: usize, direction: usize) -> String {
    let direction = ["", "reverse."][direction];
    format!("layers.{layer}.{direction}")
}
