//! A trained model in the runtime of a device, one step at a time: `ernn_core` allocates nothing and needs no operating system.
//!
//! ```sh
//! cargo run --release -p ernn --example stream
//! ```
//!
//! In firmware the image is `include_bytes!("model.ernn")`, and the buffers are arrays whose sizes `Sizes::of` gives at compile
//! time. `ernn export --to rust` writes such a crate, `ernn export --to c` the same in C.

use std::error::Error;

use ernn::data::{self, OpenOptions};
use ernn::export;
use ernn::train::{self, Options, RunConfig};
use ernn_core::Sizes;
use ernn_core::float::{Model, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let data = data::open("japanese-vowels", &OpenOptions::default())?;
    let mut config = RunConfig::defaults("japanese-vowels");
    config.training.epochs = 20;
    let saved = train::train(&data, &config, &Options::default(), &mut ())?.model;

    // All numbers of the model in one piece, which the runtime reads in place.
    let image = export::float_image(&saved)?;
    let sizes = Sizes::of(&image);
    println!("image {} bytes, state {} numbers", image.len(), sizes.state);

    let model = Model::parse(&image)?;
    let mut state = vec![0.0; sizes.state]; // one for each stream
    let mut scratch = vec![0.0; sizes.scratch]; // shared by all streams
    let mut logits = vec![0.0; sizes.outputs];
    let mut session = Session::new(&model, &mut state)?;

    // Steps come as from a sensor: raw values, which the runtime normalizes.
    let test = data.test.as_ref().ok_or("this data set has a test part")?;
    for step in test.sequence(0).chunks(test.features) {
        session.push(&mut scratch, step)?;
        let class = session.class(&mut scratch, &mut logits)?;
        println!("after {} steps: speaker {}", session.steps(), saved.classes[class]);
    }
    println!("in truth: speaker {}", saved.classes[test.labels[0] as usize]);
    Ok(())
}
