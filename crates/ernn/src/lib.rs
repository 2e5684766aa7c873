//! `ernn`: small recurrent networks on long sequences.
//!
//! Open a data set, train, evaluate, save, load, predict:
//!
//! ```
//! use ernn::checkpoint::SavedModel;
//! use ernn::data::{self, OpenOptions};
//! use ernn::evaluate;
//! use ernn::train::{self, Options, RunConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("vowels.safetensors");
//! let data = data::open("japanese-vowels", &OpenOptions::default())?; // or a path: .ts, .csv, .npy, a folder
//! let mut config = RunConfig::defaults("japanese-vowels");
//! config.training.epochs = 3; // a first look; the default takes longer and gets further
//! let outcome = train::train(&data, &config, &Options::default(), &mut ())?;
//! let accuracy = outcome.report.evaluation.accuracy.unwrap_or(0.0);
//! println!("{:.1} % of the {} part", 100.0 * accuracy, outcome.report.part);
//!
//! outcome.model.save(&path)?;
//! let model = SavedModel::load(&path)?;
//! let test = data.test.as_ref().expect("this data set has a test part");
//! let first = &evaluate::predict(&model, test)?[0];
//! println!("speaker {}, {:.2}", model.classes[first.class], first.probabilities[first.class]);
//! # assert_eq!(evaluate::evaluate(&model, test)?, outcome.report.evaluation);
//! # Ok(())
//! # }
//! ```
//!
//! The modules are in the order in which data walks through them; a room uses only rooms before it. What compares, reproduces, reports and
//! analyzes is a crate of its own, `ernn-lab`.

pub mod error;

pub mod names;

pub mod data;

#[cfg(feature = "fetch")]
pub mod fetch;

pub mod batch;

pub mod cell;

pub mod head;

pub mod model;

pub mod optim;

pub mod checkpoint;

pub mod exchange;

pub mod evaluate;

pub mod chart;

pub mod export;

pub mod train;

pub mod folds;

pub mod ensemble;

pub use ernn_kernels::{Isa, IsaError, Panels, Real};
pub use error::{Error, Result};

#[cfg(test)]
mod tests {
    /// The example above is compiled and run; the book shows the same lines.
    #[test]
    fn the_book_shows_the_example() {
        let page = include_str!("../../../docs/rust.md");
        let code = page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
        let here = include_str!("lib.rs");
        for line in code.lines().filter(|line| !line.is_empty()) {
            assert!(here.contains(&format!("//! {line}\n")), "{line}");
        }
    }
}
