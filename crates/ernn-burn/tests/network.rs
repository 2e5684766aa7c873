//! Networks and the library's models.

mod cases;

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use ernn::cell::{CellConfig, LstmConfig, RnnConfig};
use ernn::checkpoint::SavedModel;
use ernn::data::{self, OpenOptions, Task};
use ernn::evaluate;
use ernn::model::{self, Model, ModelConfig, Workspace};
use ernn::train::{self, Options, RunConfig};
use ernn::{Isa, Panels};
use ernn_burn::{Network, Sequences};

use crate::cases::{cases, draw};

const INPUTS: usize = 3;
const LENGTHS: [usize; 4] = [5, 2, 5, 1];

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// Two layers of a cell and a readout.
fn model(cell: &CellConfig, pooling: model::Pooling) -> Model<f32> {
    let config = ModelConfig {
        pooling,
        ..ModelConfig::new(INPUTS, 3, vec![cell.clone(), cell.clone().with_hidden(6)])
    };
    Model::new(config, 1).expect("a model")
}

fn logits(network: &Network, input: &[f32], lengths: &[usize], features: usize) -> Vec<f32> {
    let steps = lengths.iter().copied().max().expect("a sequence");
    let shape = [lengths.len(), steps, features];
    let input = Tensor::from_data(TensorData::new(input.to_vec(), shape), &Device::flex());
    let logits = network.forward(Sequences::new(input).with_lengths(lengths));
    logits.into_data().iter::<f32>().collect()
}

fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-5,
            "{what}: found {found}, expected {expected}"
        );
    }
}

#[test]
fn a_models_logits_are_the_librarys() {
    let input = narrow(&draw(1, LENGTHS.len() * 5 * INPUTS));
    let mut panels = Panels::new(Isa::best(), INPUTS, &LENGTHS);
    for (sequence, row) in input.chunks_exact(5 * INPUTS).enumerate() {
        panels.set_sequence(sequence, &row[..LENGTHS[sequence] * INPUTS]);
    }
    for case in cases(6) {
        for pooling in [model::Pooling::Last, model::Pooling::Mean] {
            let model = model(&case.cell, pooling);
            let expected = model.logits(&panels, &mut Workspace::default()).expect("logits");
            let network = Network::from_model(&model, &Device::flex()).expect("a network");
            let found = logits(&network, &input, &LENGTHS, INPUTS);
            assert_near(&found, &expected, &format!("{}, {pooling:?}", case.name));
            assert_eq!(
                network.to_model(Task::Classification).expect("a model"),
                model,
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn a_file_of_the_command_classifies_alike() {
    let data = data::open("japanese-vowels", &OpenOptions::default()).expect("built in");
    let mut config = RunConfig::defaults("japanese-vowels");
    config.training.epochs = 2;
    let trained = train::train(&data, &config, &Options::default(), &mut ())
        .expect("a run")
        .model;
    let saved = SavedModel::from_bytes(Path::new("m"), &trained.to_bytes()).expect("a file");
    let network = Network::from_model(&saved.model, &Device::flex()).expect("a network");
    let mut test = data.test.expect("a test part");
    let expected = evaluate::predict(&saved, &test).expect("predictions");
    saved.normalization.apply(&mut test).expect("as many features");
    for (sequence, expected) in expected.iter().enumerate() {
        let logits = logits(
            &network,
            test.sequence(sequence),
            &[test.length(sequence)],
            test.features,
        );
        let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
        let found: Vec<f32> = logits.iter().map(|logit| logit.exp() / total).collect();
        assert_near(
            &found,
            &narrow(&expected.probabilities),
            &format!("sequence {sequence}"),
        );
    }
    // And back: the same bytes.
    let again = SavedModel {
        model: network.to_model(Task::Classification).expect("a model"),
        ..saved.clone()
    };
    assert_eq!(again.to_bytes(), saved.to_bytes());
}

#[test]
fn what_a_network_has_not_is_refused() {
    let lstm = CellConfig::Lstm(LstmConfig::default());
    let both = ModelConfig {
        bidirectional: true,
        ..ModelConfig::new(INPUTS, 3, vec![lstm.clone()])
    };
    let steps = ModelConfig {
        task: Task::StepClassification,
        ..ModelConfig::new(INPUTS, 3, vec![lstm])
    };
    for (config, expected) in [
        (
            both,
            "bidirectional: found true, expected false; others run in the library",
        ),
        (
            steps,
            "task: found StepClassification, expected a class or a number a sequence; others run in the library",
        ),
    ] {
        let model = Model::new(config, 1).expect("a model");
        let error = Network::from_model(&model, &Device::flex()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let model = model(&CellConfig::Rnn(RnnConfig::default()), model::Pooling::Last);
    let network = Network::from_model(&model, &Device::flex()).expect("a network");
    let error = network.to_model(Task::Regression).unwrap_err().to_string();
    assert_eq!(error, "classes: found 3, expected 1, the number of a regression");
}
