//! What a layer runs over.

use burn::tensor::Tensor;
use ernn::{Error, Result};

/// A batch of sequences: a tensor, and what is to know about it. A tensor alone is a batch of sequences of equal length that start from
/// a state of zeros.
#[derive(Clone, Debug)]
pub struct Sequences {
    pub(crate) input: Tensor<3>,
    pub(crate) lengths: Option<Vec<usize>>,
    pub(crate) state: Option<Tensor<2>>,
    pub(crate) first_step: usize,
}

impl From<Tensor<3>> for Sequences {
    fn from(input: Tensor<3>) -> Self {
        Sequences {
            input,
            lengths: None,
            state: None,
            first_step: 0,
        }
    }
}

impl Sequences {
    /// Sequences `[batch, steps, features]`, or `[steps, batch, features]` where the layer is not `batch_first`.
    pub fn new(input: Tensor<3>) -> Self {
        input.into()
    }

    /// Steps of each sequence, `[batch]`, each at most `steps`; what stands behind them in the input is not read.
    pub fn with_lengths(mut self, lengths: impl Into<Vec<usize>>) -> Self {
        self.lengths = Some(lengths.into());
        self
    }

    /// The whole state to start from, `[batch, d_state]`.
    pub fn with_state(mut self, state: Tensor<2>) -> Self {
        self.state = Some(state);
        self
    }

    /// Steps of the sequences before this piece of them: where an ERNN learns a step size for each time step, it goes on from here.
    pub fn with_first_step(mut self, first_step: usize) -> Self {
        self.first_step = first_step;
        self
    }

    /// Batch and steps.
    ///
    /// # Errors
    /// If the shapes do not fit each other, or a layer with these sizes.
    pub(crate) fn sizes(&self, batch_first: bool, features: usize, state: usize) -> Result<[usize; 2]> {
        let [first, second, found] = self.input.dims();
        let [batch, steps] = if batch_first { [first, second] } else { [second, first] };
        let order = if batch_first { "batch, steps" } else { "steps, batch" };
        if found != features {
            let expected = format!("[{order}, {features}]");
            return Err(wrong("input", format!("[{first}, {second}, {found}]"), expected));
        }
        if let Some(given) = &self.state
            && given.dims() != [batch, state]
        {
            let found = format!("{:?}", given.dims());
            return Err(wrong("state", found, format!("[{batch}, {state}]")));
        }
        let lengths = self.lengths.as_deref().unwrap_or(&[]);
        if self.lengths.is_some() && lengths.len() != batch {
            return Err(wrong(
                "lengths",
                lengths.len().to_string(),
                format!("{batch}, one a sequence"),
            ));
        }
        match lengths.iter().find(|&&length| length > steps) {
            Some(length) => Err(wrong(
                "lengths",
                length.to_string(),
                format!("at most {steps}, the steps of the input"),
            )),
            None => Ok([batch, steps]),
        }
    }
}

fn wrong(name: &str, found: String, expected: String) -> Error {
    Error::Setting {
        name: name.to_string(),
        found,
        expected,
    }
}
