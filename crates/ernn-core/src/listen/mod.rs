//! Streams without an end: a model that learned sequences of one length reads windows of that length, and what it says of them becomes
//! events.
//!
//! ```text
//! step -> Windows: copies of the state, begun one after the other -> logits of a window -> Events: an event begins, ends
//! ```
//!
//! A recurrent network that learned windows and runs on for ever is wrong after them: its state has been nowhere like it. So each window
//! begins with a state of its own. All here is whole numbers: every machine and exported C decide alike.

mod events;
mod windows;

pub use self::events::{EXPONENTIALS, Event, Events, Rule, probabilities, whole_logit};
pub use self::windows::{Windows, copies};
