//! Settings that several cells share.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Tensor;
use crate::{Error, Result};

/// The function `phi` of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x` between -1 and 1: piecewise-linear tanh.
    HardTanh,
    /// `(x + 1) / 2` between 0 and 1: piecewise-linear sigmoid.
    HardSigmoid,
}

impl Activation {
    /// Whether its values have a bound.
    pub fn is_bounded(self) -> bool {
        self != Activation::Relu
    }
}

impl From<Activation> for ernn_kernels::Activation {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Relu => ernn_kernels::Activation::Relu,
            Activation::Tanh => ernn_kernels::Activation::Tanh,
            Activation::Sigmoid => ernn_kernels::Activation::Sigmoid,
            Activation::HardTanh => ernn_kernels::Activation::HardTanh,
            Activation::HardSigmoid => ernn_kernels::Activation::HardSigmoid,
        }
    }
}

/// The activation of a gate: a function between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateActivation {
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `(x + 1) / 2` between 0 and 1: piecewise-linear sigmoid.
    HardSigmoid,
}

impl From<GateActivation> for ernn_kernels::Activation {
    fn from(activation: GateActivation) -> Self {
        match activation {
            GateActivation::Sigmoid => ernn_kernels::Activation::Sigmoid,
            GateActivation::HardSigmoid => ernn_kernels::Activation::HardSigmoid,
        }
    }
}

/// The rank of a recurrent matrix; in files `"full"` or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// A dense matrix.
    Full,
    /// A product `[D,r] [r,D]`.
    Low(usize),
}

impl Rank {
    /// Lengths of the tensors of a matrix `[rows, columns]`: all of it and nothing, or its factors `[rows,r]` and `[r,columns]`.
    pub(crate) fn lengths(self, rows: usize, columns: usize) -> [usize; 2] {
        match self {
            Rank::Full => [rows * columns, 0],
            Rank::Low(rank) => [rows * rank, rank * columns],
        }
    }

    /// Those tensors, under the name of the dense matrix or of its factors.
    pub(crate) fn tensors(
        self,
        rows: usize,
        columns: usize,
        dense: &'static str,
        factors: [&'static str; 2],
    ) -> Vec<Tensor> {
        match self {
            Rank::Full => vec![Tensor::matrix(dense, rows, columns)],
            Rank::Low(rank) => {
                vec![
                    Tensor::matrix(factors[0], rows, rank),
                    Tensor::matrix(factors[1], rank, columns),
                ]
            }
        }
    }

    /// Checks it against the hidden size.
    pub(crate) fn check(self, hidden: usize) -> Result<()> {
        self.check_as("rank", hidden)
    }

    /// As [`Rank::check`], for a setting of another name.
    pub(crate) fn check_as(self, name: &str, hidden: usize) -> Result<()> {
        match self {
            Rank::Low(rank) if rank == 0 || rank > hidden => Err(Error::setting(
                name,
                rank,
                format!("full or a number from 1 to the hidden size, {hidden}"),
            )),
            _ => Ok(()),
        }
    }
}

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Rank::Full => serializer.serialize_str("full"),
            Rank::Low(rank) => serializer.serialize_u64(*rank as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Rank {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Text {
            Number(usize),
            Word(String),
        }
        match Text::deserialize(deserializer)? {
            Text::Number(rank) => Ok(Rank::Low(rank)),
            Text::Word(word) if word == "full" => Ok(Rank::Full),
            Text::Word(word) => Err(serde::de::Error::custom(format!(
                "rank: found \"{word}\", expected \"full\" or a number"
            ))),
        }
    }
}

/// Checks a hidden size.
pub(crate) fn check_hidden(hidden: usize) -> Result<()> {
    if (1..=65_536).contains(&hidden) {
        Ok(())
    } else {
        Err(Error::setting("hidden", hidden, "a number from 1 to 65536"))
    }
}

/// Larger numbers are slips of the finger, and make numbers beyond those of 32 bits.
pub(crate) const LARGEST: f64 = 1e6;

/// Larger initial step sizes leave no state that anything could be learned from.
const LARGEST_ETA: f64 = 1000.0;

/// Checks a number that must be above 0.
pub(crate) fn check_positive(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value <= LARGEST {
        Ok(())
    } else {
        Err(Error::setting(
            name,
            value,
            format!("a number above 0, at most {LARGEST}"),
        ))
    }
}

/// Checks a number that must be at least 0.
pub(crate) fn check_not_negative(name: &str, value: f64) -> Result<()> {
    check_up_to(name, value, LARGEST)
}

/// Checks the initial step size of an ERNN.
pub(crate) fn check_eta(eta: f64) -> Result<()> {
    check_up_to("eta", eta, LARGEST_ETA)
}

fn check_up_to(name: &str, value: f64, most: f64) -> Result<()> {
    if (0.0..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::setting(name, value, format!("a number from 0 to {most}")))
    }
}
