//! The model's file under damage: an error with a place and a reason, never a panic, never a wrong model.

use std::path::Path;
use std::sync::OnceLock;

use ernn::checkpoint::SavedModel;
use ernn::data::{self, OpenOptions};
use ernn::model::{Model, ModelConfig, Pooling};
use ernn::train::{self, Options, RunConfig};
use proptest::prelude::*;

/// The file of a small model, trained once.
fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let dataset = data::open("japanese-vowels", &OpenOptions::default()).unwrap();
        let mut config = RunConfig::defaults("japanese-vowels");
        config.training.epochs = 1;
        let hidden = toml::Value::Integer(6);
        config.set_in_layers("rank", &toml::Value::Integer(2)).unwrap();
        config.set_in_layers("hidden", &hidden).unwrap();
        let outcome = train::train(&dataset, &config, &Options::default(), &mut ()).unwrap();
        outcome.model.to_bytes()
    })
}

fn read(bytes: &[u8]) -> ernn::Result<SavedModel> {
    SavedModel::from_bytes(Path::new("model.safetensors"), bytes)
}

#[test]
fn a_model_comes_back_to_the_same_bytes() {
    let model = read(bytes()).unwrap();
    assert!(model.to_bytes() == bytes());
    let folder = tempfile::tempdir().unwrap();
    model.save(&folder.path().join("model.safetensors")).unwrap();
    // A run folder stands for the model in it.
    assert!(SavedModel::load(folder.path()).unwrap().to_bytes() == bytes());
}

/// Each pooling keeps its name and the readout its width; the names of earlier versions stay.
#[test]
fn every_pooling_comes_back() {
    for (pooling, name, statistics) in [
        (Pooling::Last, "last", 1),
        (Pooling::Mean, "mean", 1),
        (Pooling::MeanMax, "mean-max", 2),
        (Pooling::MeanMaxLast, "mean-max-last", 3),
        (Pooling::MeanStdMax, "mean-std-max", 3),
    ] {
        let mut saved = read(bytes()).unwrap();
        let config = ModelConfig {
            pooling,
            ..saved.model.config().clone()
        };
        saved.model = Model::new(config, 2).unwrap();
        let file = saved.to_bytes();
        let found = read(&file).unwrap();
        assert!(found.to_bytes() == file && found.model == saved.model, "{name}");
        let quoted = format!("\\\"pooling\\\":\\\"{name}\\\"");
        assert!(String::from_utf8_lossy(&file).contains(&quoted), "{name}");
        let tensors = safetensors::SafeTensors::deserialize(&file).unwrap();
        assert_eq!(
            tensors.tensor("readout.weight").unwrap().shape(),
            [9, 6 * statistics],
            "{name}"
        );
    }
}

#[test]
fn every_safetensors_reader_knows_it() {
    let tensors = safetensors::SafeTensors::deserialize(bytes()).unwrap();
    let model = read(bytes()).unwrap();
    for span in model.model.spans() {
        assert_eq!(tensors.tensor(&span.name).unwrap().shape(), span.shape, "{}", span.name);
    }
    assert_eq!(tensors.len(), model.model.spans().len());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn an_arbitrary_header_is_refused(text in "\\{\"[a-z_]{0,12}\":[\\[\\]\\{\\}0-9a-z\",: ]{0,80}\\}") {
        let mut file = (text.len() as u64).to_le_bytes().to_vec();
        file.extend(text.bytes());
        prop_assert!(read(&file).is_err());
    }

    #[test]
    fn a_cut_file_is_refused(end in 0..bytes().len()) {
        let error = read(&bytes()[..end]).unwrap_err().to_string();
        prop_assert!(error.starts_with("model.safetensors: found "), "{error}");
    }

    #[test]
    fn a_flipped_bit_is_refused_or_changes_nothing(bit in 0..bytes().len() * 8) {
        let mut damaged = bytes().to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(model) = read(&damaged) {
            prop_assert!(model.to_bytes() == bytes());
        }
    }

    #[test]
    fn bytes_in_the_place_of_others_are_refused_or_change_nothing(
        start in 0..bytes().len(),
        put in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let mut damaged = bytes().to_vec();
        let end = (start + put.len()).min(damaged.len());
        damaged[start..end].copy_from_slice(&put[..end - start]);
        if let Ok(model) = read(&damaged) {
            prop_assert!(model.to_bytes() == bytes());
        }
    }
}
