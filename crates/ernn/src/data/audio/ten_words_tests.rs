use std::fs;

use super::super::commands::tests::write_release;
use super::*;
use crate::data::known::tests::published;
use crate::data::open::tests::data_folder;

fn options(folder: &Path) -> OpenOptions {
    OpenOptions {
        cache: Some(folder.join("cache")),
        ..OpenOptions::default()
    }
}

#[test]
fn the_arrays_are_the_published_ones() {
    let Some(data) = published("speech-10", &OpenOptions::default()) else {
        return;
    };
    let parts: Vec<(&str, usize)> = data.parts().map(|(name, part)| (name, part.len())).collect();
    assert_eq!(parts, [("train", 9618), ("validation", 1309), ("test", 1261)]);
    assert_eq!(
        (data.train.features, data.train.length(0), data.classes[9].as_str()),
        (32, 99, "happy")
    );
    let all = data.parts().flat_map(|(_, part)| part.groups.iter());
    assert_eq!(all.max(), Some(&1821), "1,822 speakers");
}

#[test]
fn the_rule_for_speakers_gives_the_published_split() {
    let Some(folder) = data_folder("speech_commands") else {
        return;
    };
    let arrays = Arrays::read(&folder).unwrap();
    for (file, &part) in arrays.files.iter().zip(&arrays.split) {
        assert_eq!(part_of(speaker_of(file)), usize::from(part), "{file}");
    }
}

#[test]
fn recordings_give_the_features_of_the_arrays() {
    let Some(folder) = data_folder("speech_commands") else {
        return;
    };
    let arrays = open("speech-10", &folder, &OpenOptions::default()).unwrap();
    let other = tempfile::tempdir().unwrap();
    let recordings = open("speech-10", &folder.join("wav_sample.tar.xz"), &options(other.path())).unwrap();
    let sizes: Vec<usize> = recordings.parts().map(|(_, part)| part.len()).collect();
    assert_eq!(sizes, [180, 30, 40]);
    assert_eq!(recordings.classes, arrays.classes);
    // Half a step of the arrays' bytes, and a little for the last bits.
    let near = |features: &[f32], other: &[f32]| features.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.093_76);
    for ((name, own), (_, all)) in recordings.parts().zip(arrays.parts()) {
        for sequence in 0..own.len() {
            let found = (0..all.len()).filter(|&other| near(own.sequence(sequence), all.sequence(other)));
            let labels: Vec<u32> = found.map(|other| all.labels[other]).collect();
            assert_eq!(labels, [own.labels[sequence]], "{name}, sequence {sequence}");
        }
    }
}

#[test]
fn a_folder_a_word_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("speech_commands");
    write_release(&base, &[WORDS.as_slice(), &["other"]].concat());
    fs::remove_file(base.join("testing_list.txt")).unwrap();
    fs::remove_dir_all(base.join("_background_noise_")).unwrap();
    assert!(!holds_the_words(&base, 0), "a folder of other words is the user's own");
    fs::remove_dir_all(base.join("other")).unwrap();
    assert!(holds_the_words(&base, 130) && !holds_the_words(&base, 131));
    assert_eq!(find(&base), None, "a folder of few recordings is the user's own");
    let data = open("speech-10", &base, &options(folder.path())).unwrap();
    assert_eq!(data.parts().map(|(_, part)| part.len()).sum::<usize>(), 130);
    fs::remove_dir_all(base.join("cat")).unwrap();
    let error = open("speech-10", &base, &options(folder.path()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no training recording of \"cat\""), "{error}");
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let array = |shape: &str, bytes: &[u8]| {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
        [
            b"\x93NUMPY\x01\x00",
            &(header.len() as u16).to_le_bytes()[..],
            header.as_bytes(),
            bytes,
        ]
        .concat()
    };
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    let refusal = || {
        let arrays = Arrays::read(folder.path()).and_then(|arrays| arrays.check(folder.path(), 2));
        arrays
            .unwrap_err()
            .to_string()
            .replace(&folder.path().display().to_string(), "FOLDER")
    };
    write("logmel_u8.npy", array("(2, 99, 32)", &[7; 2 * 99 * 32]));
    write("labels.npy", array("(2,)", &[0, 10]));
    write("split.npy", array("(2,)", &[0, 2]));
    write("files.txt", b"yes/a_nohash_0.wav\n".to_vec());
    assert_eq!(
        refusal(),
        "FOLDER/files.txt: found 1 entries, expected 2 as in the data set"
    );
    write("files.txt", b"yes/a_nohash_0.wav\nno/b_nohash_0.wav\n".to_vec());
    assert_eq!(refusal(), "FOLDER/labels.npy, entry 2: found 10, expected at most 9");
    write("labels.npy", array("(1, 2)", &[0, 1]));
    assert_eq!(
        refusal(),
        "FOLDER/labels.npy: found an array of shape [1, 2], 1 bytes a value, expected unsigned bytes in C order, the shape behind the first dimension []"
    );
}
