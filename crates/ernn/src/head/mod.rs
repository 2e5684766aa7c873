//! Head: the last states become class logits, a loss and the gradient at the states.
//!
//! ```text
//! states [sequences, inputs] -> dropout -> readout -> logits [sequences, classes] -> cross-entropy -> loss
//! ```
//!
//! Each function comes with its backward pass; none knows how the states were found.

mod distillation;
mod dropout;
mod label_loss;
mod loss;
mod number_loss;
mod pinball;
mod readout;

pub use distillation::{Distillation, SoftTargets, distilled_cross_entropy};
pub use dropout::{apply_mask, dropout_mask};
pub use label_loss::{all_right, binary_cross_entropy, label_loss, sigmoid};
pub use loss::{balanced_class_weights, cross_entropy, softmax, weighted_cross_entropy};
pub use number_loss::{NumberLoss, number_loss, number_loss_sum};
pub use pinball::{pinball, pinball_loss, pinball_loss_sum};
pub use readout::Readout;
