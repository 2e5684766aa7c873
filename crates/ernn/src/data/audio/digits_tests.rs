use std::fs;

use super::super::wav::tests::sixteen_bits;
use super::*;
use crate::data::known::tests::published;

fn options(folder: &Path) -> AudioOptions {
    AudioOptions {
        cache: Some(folder.join("cache")),
        seed: 1,
    }
}

#[test]
fn the_published_recordings() {
    let kept = tempfile::tempdir().unwrap();
    let options = OpenOptions {
        cache: Some(kept.path().to_owned()),
        ..OpenOptions::default()
    };
    let Some(data) = published("fsdd", &options) else {
        return;
    };
    let sizes: Vec<usize> = data.parts().map(|(_, part)| part.len()).collect();
    assert_eq!(sizes, [2400, 300, 300]);
    for (_, part) in data.parts() {
        let class = |class: u32| part.labels.iter().filter(|&&label| label == class).count();
        let speaker = |speaker: u32| part.groups.iter().filter(|&&group| group == speaker).count();
        assert!((0..10).all(|digit| class(digit) == part.len() / 10));
        assert!((0..6).all(|person| speaker(person) == part.len() / 6));
    }
}

#[test]
fn parts_by_index_and_frames_by_length() {
    let folder = tempfile::tempdir().unwrap();
    let recordings = folder.path().join("fsdd/recordings");
    fs::create_dir_all(&recordings).unwrap();
    for index in [0, 4, 5, 9, 10, 49] {
        let file = recordings.join(format!("7_jackson_{index}.wav"));
        fs::write(file, sixteen_bits(8000, &vec![100; 200 + 80 * index])).unwrap();
    }
    assert_eq!(
        find(&folder.path().join("fsdd")),
        None,
        "not without the first recording"
    );
    fs::write(recordings.join("0_jackson_0.wav"), sixteen_bits(8000, &[5; 300])).unwrap();
    let found = find(&folder.path().join("fsdd")).unwrap();
    assert_eq!(found, recordings);
    let data = open_sized("fsdd", &found, &options(folder.path()), 7).unwrap();
    let lengths = |part: &crate::data::Part| {
        (0..part.len())
            .map(|sequence| part.length(sequence))
            .collect::<Vec<_>>()
    };
    assert_eq!(lengths(&data.train), [11, 50]);
    assert_eq!(lengths(data.validation.as_ref().unwrap()), [6, 10]);
    assert_eq!(lengths(data.test.as_ref().unwrap()), [3, 1, 5]);
    assert_eq!(data.test.as_ref().unwrap().labels, [0, 7, 7]);
}

#[test]
fn refuses_other_counts_and_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("0_jackson_0.wav"), sixteen_bits(8000, &[1])).unwrap();
    let refusal = |count: usize| {
        let error = open_sized("fsdd", folder.path(), &options(folder.path()), count)
            .unwrap_err()
            .to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER")
    };
    assert_eq!(
        refusal(3000),
        "FOLDER: found 1 recordings, expected 3000 as in the data set"
    );
    fs::write(folder.path().join("ten_jackson_0.wav"), sixteen_bits(8000, &[1])).unwrap();
    assert_eq!(
        refusal(2),
        "FOLDER: found \"ten_jackson_0.wav\", expected a name of the form digit_speaker_index.wav"
    );
}
