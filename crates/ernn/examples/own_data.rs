//! A data set that a program holds in memory: two gestures of two channels, 12 to 23 steps long.
//!
//! ```sh
//! cargo run --release -p ernn --example own_data
//! ```
//!
//! Data in files needs none of this: `ernn::data::open("my.csv", &OpenOptions::default())`.

use std::error::Error;

use ernn::data::{Dataset, Part};
use ernn::evaluate;
use ernn::train::{self, Options, RunConfig};

const CHANNELS: usize = 2;

/// A circle, drawn to the left (class 0) or to the right (class 1): `[steps, CHANNELS]`, step after step.
fn gesture(number: usize) -> (Vec<f32>, u32) {
    let class = number % 2;
    let steps = 12 + number % 12;
    let turn = if class == 0 { 1.0 } else { -1.0 };
    let start = number as f32;
    let mut values = Vec::with_capacity(steps * CHANNELS);
    for step in 0..steps {
        let angle = start + turn * 6.3 * step as f32 / steps as f32;
        values.extend([angle.cos(), angle.sin()]);
    }
    (values, class as u32)
}

/// A part of the gestures with these numbers. Sequences may have different lengths.
fn part(numbers: std::ops::Range<usize>) -> Part {
    let mut part = Part::new(CHANNELS);
    for number in numbers {
        let (values, class) = gesture(number);
        part.push(&values, Some(class), None); // the last is a group: a person whose sequences stay together
    }
    part
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = Dataset {
        name: "gestures".to_string(),
        feature_names: vec!["x".to_string(), "y".to_string()],
        classes: vec!["left".to_string(), "right".to_string()],
        train: part(0..120),
        test: Some(part(120..160)),
        ..Dataset::default()
    };

    // What follows from the number of sequences and their length; any field can be changed.
    let mut config = RunConfig::defaults_for_arrays(&data.name, data.train.len(), data.train.longest());
    config.training.min_steps = 300; // a short example; the default is a longer training

    let outcome = train::train(&data, &config, &Options::default(), &mut ())?;
    println!(
        "{:.1} % of the {} part, {:.1} KB",
        100.0 * outcome.report.evaluation.accuracy.unwrap_or(0.0),
        outcome.report.part,
        outcome.model.size_kb()
    );

    // New sequences have no labels.
    let mut unknown = Part::new(CHANNELS);
    unknown.push(&gesture(1001).0, None, None);
    let prediction = &evaluate::predict(&outcome.model, &unknown)?[0];
    println!(
        "a new gesture: {}, probability {:.2}",
        outcome.model.classes[prediction.class], prediction.probabilities[prediction.class]
    );
    Ok(())
}
