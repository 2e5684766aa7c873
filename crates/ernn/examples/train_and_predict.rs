//! Trains on the data inside the library, saves the model, loads it again, and predicts.
//!
//! ```sh
//! cargo run --release -p ernn --example train_and_predict
//! ```

use std::error::Error;

use ernn::checkpoint::{EpochRecord, SavedModel};
use ernn::data::{self, OpenOptions};
use ernn::evaluate;
use ernn::train::{self, Observer, Options, RunConfig};

/// Prints a line after each epoch. `&mut ()` is the observer that says nothing.
struct Lines;

impl Observer for Lines {
    fn epoch_done(&mut self, record: &EpochRecord) {
        let validation = 100.0 * record.validation_accuracy.unwrap_or(0.0);
        println!(
            "epoch {}: loss {:.3}, validation {validation:.1} %",
            record.epoch, record.train_loss
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // A known name or a path: .ts, .csv, .npy, a folder.
    let data = data::open("japanese-vowels", &OpenOptions::default())?;

    // All settings are public fields; the names are those of `config.toml`.
    let mut config = RunConfig::defaults("japanese-vowels");
    config.training.epochs = 20;
    config.training.seed = 7;

    // The test part is read once, at the end.
    let outcome = train::train(&data, &config, &Options::default(), &mut Lines)?;
    let accuracy = outcome.report.evaluation.accuracy.unwrap_or(0.0);
    println!("{} part: {:.1} %", outcome.report.part, 100.0 * accuracy);

    // The file has all that is needed to use the model: normalization and class names, too.
    let path = std::env::temp_dir().join(format!("ernn-example-{}.safetensors", std::process::id()));
    outcome.model.save(&path)?;
    let model = SavedModel::load(&path)?;
    std::fs::remove_file(&path)?;

    let test = data.test.as_ref().ok_or("this data set has a test part")?;
    for (sequence, prediction) in evaluate::predict(&model, test)?.iter().take(3).enumerate() {
        let probability = prediction.probabilities[prediction.class];
        println!(
            "sequence {}: speaker {}, probability {probability:.2}",
            sequence + 1,
            model.classes[prediction.class]
        );
    }
    Ok(())
}
