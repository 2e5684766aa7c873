//! Foreign files under damage: an error or a model of finite numbers, never a panic.

use std::fs;
use std::path::Path;

use ernn::cell::{CellConfig, FastGrnnConfig, GruConfig};
use ernn::exchange::edgeml::Flavor;
use ernn::exchange::{ImportOptions, Imported, edgeml, torch};
use proptest::prelude::*;

use crate::drawn;

fn is_sound(outcome: ernn::Result<Imported>) -> bool {
    outcome.map_or_else(
        |error| !error.to_string().is_empty(),
        |imported| imported.model.model.parameters().iter().all(|value| value.is_finite()),
    )
}

fn read_torch(bytes: &[u8]) -> ernn::Result<Imported> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    fs::write(&path, bytes).unwrap();
    torch::read(&path, &ImportOptions::default(), None)
}

fn state_dict() -> Vec<u8> {
    let cell = CellConfig::Gru(GruConfig::default()).with_hidden(2);
    torch::to_bytes(&drawn(vec![cell], true)).unwrap().0
}

/// A folder of a FastGRNN; the damage is done to one of its files.
fn read_edgeml(file: &str, damage: impl FnOnce(&mut Vec<u8>)) -> ernn::Result<Imported> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell");
    let cell = CellConfig::FastGrnn(FastGrnnConfig::default()).with_hidden(2);
    let mut saved = drawn(vec![cell], false);
    saved.normalization.mean = vec![1.0; 3];
    edgeml::write(&path, &saved).unwrap();
    let file = path.join(file);
    let mut bytes = fs::read(&file).unwrap();
    damage(&mut bytes);
    fs::write(&file, bytes).unwrap();
    edgeml::read(&path, &ImportOptions::default(), Some(Flavor::PyTorch), true)
}

const FILES: [&str; 8] = [
    "W.npy",
    "U.npy",
    "Bh.npy",
    "zeta.npy",
    "FC.npy",
    "FCbias.npy",
    "mean.npy",
    "std.npy",
];

fn put(bytes: &mut [u8], start: usize, put: &[u8]) {
    let start = start % bytes.len();
    let end = (start + put.len()).min(bytes.len());
    bytes[start..end].copy_from_slice(&put[..end - start]);
}

#[test]
fn undamaged_files_are_read() {
    assert!(read_torch(&state_dict()).is_ok());
    for file in FILES {
        assert!(read_edgeml(file, |_| ()).is_ok(), "{file}");
    }
    assert!(torch::read(Path::new("missing"), &ImportOptions::default(), None).is_err());
}

proptest! {
    #[test]
    fn any_bytes_in_a_state_dict(start: usize, bytes in prop::collection::vec(any::<u8>(), 1..32)) {
        let mut dict = state_dict();
        put(&mut dict, start, &bytes);
        prop_assert!(is_sound(read_torch(&dict)));
    }

    #[test]
    fn any_digits_in_a_header(start in 8..1000_usize, text in "[0-9\\]\\[,\"]{1,8}") {
        let mut dict = state_dict();
        put(&mut dict, start, text.as_bytes());
        prop_assert!(is_sound(read_torch(&dict)));
    }

    #[test]
    fn any_bytes_in_a_folder(file in 0..FILES.len(), start: usize, bytes in prop::collection::vec(any::<u8>(), 1..16)) {
        prop_assert!(is_sound(read_edgeml(FILES[file], |own| put(own, start, &bytes))));
    }

    #[test]
    fn any_text_in_the_head_of_an_array(file in 0..FILES.len(), start in 10..128_usize, text in "[0-9,() <>fiU]{1,8}") {
        prop_assert!(is_sound(read_edgeml(FILES[file], |own| put(own, start, text.as_bytes()))));
    }
}
