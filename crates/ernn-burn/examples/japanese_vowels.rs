//! Who says the vowels: an ERNN trained by Burn's Adam and Learner on the data set inside the library, then saved as a model of the
//! command.
//!
//! ```console
//! $ cargo run --release --example japanese_vowels -- FOLDER
//! $ ernn evaluate FOLDER/model.safetensors japanese-vowels
//! ```

use std::path::PathBuf;

use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::grad_clipping::GradientClippingConfig;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::AdamConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::{ClassificationOutput, InferenceStep, Learner, TrainOutput, TrainStep};
use ernn::cell::{CellConfig, ErnnConfig, Rank};
use ernn::checkpoint::{Provenance, SavedModel};
use ernn::data::{self, Normalization, OpenOptions, Part, Task, View};
use ernn::evaluate;
use ernn_burn::{Network, NetworkConfig, Sequences};

const EPOCHS: usize = 40;
const BATCH_SIZE: usize = 30;
const LEARNING_RATE: f64 = 1e-2;

/// A sequence `[steps, d]` and its class.
#[derive(Clone, Debug)]
struct Utterance {
    values: Vec<f32>,
    class: u32,
}

fn utterances(part: &Part) -> InMemDataset<Utterance> {
    let utterance = |sequence: usize| Utterance {
        values: part.sequence(sequence).to_vec(),
        class: part.labels[sequence],
    };
    InMemDataset::new((0..part.len()).map(utterance).collect())
}

/// Sequences side by side, the shorter ones padded.
#[derive(Clone, Debug)]
struct Batch {
    sequences: Sequences,
    classes: Tensor<1, Int>,
}

struct Padding {
    features: usize,
}

impl Batcher<Utterance, Batch> for Padding {
    fn batch(&self, items: Vec<Utterance>, device: &Device) -> Batch {
        let lengths: Vec<usize> = items.iter().map(|item| item.values.len() / self.features).collect();
        let steps = lengths.iter().copied().max().unwrap_or(0);
        let mut values = vec![0.0; items.len() * steps * self.features];
        for (row, item) in values.chunks_exact_mut(steps * self.features).zip(&items) {
            row[..item.values.len()].copy_from_slice(&item.values);
        }
        let input = Tensor::from_data(TensorData::new(values, [items.len(), steps, self.features]), device);
        let classes: Vec<i64> = items.iter().map(|item| i64::from(item.class)).collect();
        Batch {
            sequences: Sequences::new(input).with_lengths(lengths),
            classes: Tensor::from_data(&classes[..], device),
        }
    }
}

/// The network with its loss.
#[derive(Module, Debug)]
struct Classifier {
    network: Network,
}

impl Classifier {
    fn forward(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.network.forward(batch.sequences);
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), batch.classes.clone());
        ClassificationOutput::new(loss, logits, batch.classes)
    }
}

impl TrainStep for Classifier {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let output = self.forward(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Classifier {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        self.forward(batch)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: japanese_vowels FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    let data = data::open("japanese-vowels", &OpenOptions::default())?;
    let test = data.test.as_ref().ok_or("this data set has a test part")?;
    let normalization = Normalization::fit(&View::of(&data.train))?;
    let mut part = data.train.clone();
    normalization.apply(&mut part)?;
    let padding = Padding {
        features: part.features,
    };
    let device = Device::flex().autodiff();
    device.seed(1);
    let loader = DataLoaderBuilder::new(padding)
        .batch_size(BATCH_SIZE)
        .shuffle(1)
        .set_device(device.clone())
        .build(utterances(&part));

    let cell = CellConfig::Ernn(ErnnConfig {
        hidden: 64,
        rank: Rank::Low(8),
        max_steps: data.train.longest(),
        ..ErnnConfig::default()
    });
    let network = NetworkConfig::new(data.train.features, data.classes.len(), vec![cell]).init(&device);
    let optimizer = AdamConfig::new().with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)));
    let steps = EPOCHS * data.train.len().div_ceil(BATCH_SIZE);
    let schedule = CosineAnnealingLrSchedulerConfig::new(LEARNING_RATE, steps).init()?;
    let mut learner = Learner::new(Classifier { network }, optimizer.init(), schedule);
    for epoch in 1..=EPOCHS {
        let (mut total, mut right) = (0.0, 0);
        for batch in loader.iter() {
            learner.lr_step();
            let TrainOutput { grads, item } = learner.train_step(batch?);
            learner.optimizer_step(grads);
            total += item.targets.dims()[0] as f32 * item.loss.into_scalar::<f32>();
            let found = item.output.argmax(1).squeeze_dim(1);
            right += found.equal(item.targets).int().sum().into_scalar::<i64>();
        }
        if epoch % 10 == 0 {
            let [loss, share] = [total, 100.0 * right as f32].map(|sum| sum / data.train.len() as f32);
            println!("epoch {epoch}: training loss {loss:.4}, {share:.1} % right");
        }
    }

    // From here on it is a model of the command.
    let saved = SavedModel {
        model: learner.model().network.to_model(Task::Classification)?,
        derivation: Default::default(),
        decision: Default::default(),
        normalization,
        classes: data.classes.clone(),
        vocabulary: Vec::new(),
        feature_names: data.feature_names.clone(),
        provenance: Provenance {
            dataset: data.name.clone(),
            ..Provenance::default()
        },
    };
    let path = folder.join("model.safetensors");
    saved.save(&path)?;
    let accuracy = evaluate::evaluate(&saved, test)?.accuracy.unwrap_or(0.0);
    println!("{:.1} % of the test part, {}", 100.0 * accuracy, path.display());
    Ok(())
}
