use std::fs;

use super::super::wav::tests::sixteen_bits;
use super::*;

struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    /// A folder with recordings of these names and sampling rates, half a second each.
    fn new(recordings: &[(&str, u32)]) -> Made {
        let folder = tempfile::tempdir().unwrap();
        for (name, rate) in recordings {
            let path = folder.path().join("sounds").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let step = std::f32::consts::TAU * 440.0 / *rate as f32;
            let samples: Vec<i16> = (0..rate / 2)
                .map(|n| (9000.0 * (step * n as f32).sin()) as i16)
                .collect();
            fs::write(path, sixteen_bits(*rate, &samples)).unwrap();
        }
        Made { folder }
    }

    fn open(&self) -> Result<Dataset> {
        self.open_grouped(None)
    }

    fn open_grouped(&self, pattern: Option<&str>) -> Result<Dataset> {
        let options = OpenOptions {
            group_pattern: pattern.map(str::to_owned),
            cache: Some(self.folder.path().join("cache")),
            ..OpenOptions::default()
        };
        open("sounds", &self.folder.path().join("sounds"), &options)
    }
}

#[test]
fn a_folder_a_class() {
    let made = Made::new(&[("dog/a.wav", 16_000), ("cat/b.WAV", 16_000), ("dog/c.wav", 16_000)]);
    fs::write(made.folder.path().join("sounds/dog/.hidden.wav"), "no sound").unwrap();
    fs::write(made.folder.path().join("sounds/notes.txt"), "no sound").unwrap();
    assert!(is_one(&made.folder.path().join("sounds")));
    let data = made.open().unwrap();
    assert_eq!(data.classes, ["cat", "dog"]);
    assert_eq!(
        (data.train.labels.as_slice(), data.train.length(0)),
        (&[0, 1, 1][..], 49)
    );
    assert!(data.test.is_none() && data.train.groups.is_empty());
}

#[test]
fn a_folder_a_part() {
    let made = Made::new(&[
        ("train/1/a.wav", 16_000),
        ("train/10/a.wav", 16_000),
        ("Test/10/b.wav", 16_000),
        ("val/1/c.wav", 16_000),
    ]);
    assert!(is_one(&made.folder.path().join("sounds")));
    let data = made.open().unwrap();
    let labels: Vec<&[u32]> = data.parts().map(|(_, part)| part.labels.as_slice()).collect();
    assert_eq!(labels, [&[0, 1][..], &[0], &[1]]);
}

#[test]
fn every_sampling_rate_gives_nearly_the_same_features() {
    let made = Made::new(&[("a/1.wav", 16_000), ("b/1.wav", 44_100), ("c/1.wav", 8_000)]);
    let data = made.open().unwrap();
    for sequence in 1..3 {
        assert_eq!(data.train.length(sequence), data.train.length(0));
        let frame = |sequence: usize| &data.train.sequence(sequence)[20 * 32..][..32];
        // The filters around 440 Hz.
        for filter in 5..9 {
            let difference = frame(sequence)[filter] - frame(0)[filter];
            assert!(difference.abs() < 0.05, "{sequence}, filter {filter}: {difference}");
        }
    }
}

#[test]
fn speakers_are_groups_where_all_names_tell_them() {
    let made = Made::new(&[
        ("a/anna_nohash_0.wav", 8_000),
        ("b/anna_nohash_1.wav", 8_000),
        ("b/ben_nohash_0.wav", 8_000),
    ]);
    for _ in 0..2 {
        // The second time from the cache.
        let data = made.open().unwrap();
        assert_eq!(data.train.groups, [0, 0, 1]);
        assert_eq!(data.group_names, ["anna", "ben"]);
        assert_eq!(data.train.names[2], "b/ben_nohash_0.wav");
    }
}

#[test]
fn a_pattern_tells_speakers_and_a_note_says_that_there_may_be_some() {
    let made = Made::new(&[
        ("0/0_george_0.wav", 8_000),
        ("0/0_jackson_0.wav", 8_000),
        ("1/1_george_0.wav", 8_000),
        ("1/1_jackson_0.wav", 8_000),
    ]);
    for _ in 0..2 {
        // The second time from the cache.
        let data = made.open().unwrap();
        assert!(data.train.groups.is_empty());
        assert_eq!(data.notes.len(), 1);
        assert!(
            data.notes[0].ends_with("(george, jackson): --group-pattern '*_{group}_*'"),
            "{:?}",
            data.notes
        );
    }
    let data = made.open_grouped(Some("*_{group}_*")).unwrap();
    assert_eq!(data.group_names, ["george", "jackson"]);
    assert_eq!((data.train.groups, data.notes), (vec![0, 1, 0, 1], Vec::new()));
    let error = made.open_grouped(Some("{group}-*")).unwrap_err().to_string();
    assert_eq!(
        error,
        "sounds: found \"0/0_george_0.wav\", expected names that all fit --group-pattern '{group}-*'"
    );
}

#[test]
fn what_is_no_such_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_one(folder.path()) && !is_one(&folder.path().join("missing")));
    fs::write(folder.path().join("a.wav"), "").unwrap();
    assert!(!is_one(folder.path()));
}

#[test]
fn refusals_name_the_recording() {
    let refusal = |recordings: &[(&str, u32)]| Made::new(recordings).open().unwrap_err().to_string();
    assert_eq!(
        refusal(&[("a/1.wav", 8_000), ("2.wav", 8_000)]),
        "sounds: found \"2.wav\", expected CLASS/*.wav or train/CLASS/*.wav"
    );
    assert_eq!(
        refusal(&[("some/a/1.wav", 8_000)]),
        "sounds: found \"some/a/1.wav\", expected CLASS/*.wav or train/CLASS/*.wav"
    );
    assert_eq!(
        refusal(&[("test/a/1.wav", 8_000)]),
        "sounds: no recording to train with: expected CLASS/*.wav or train/CLASS/*.wav"
    );
    let error = refusal(&[("train/a/1.wav", 8_000), ("test/b/1.wav", 8_000)]);
    assert!(
        error.contains("label \"b\" (1 sequence) is not among the known labels a"),
        "{error}"
    );
    let error = refusal(&[("a/1.wav", 500)]);
    assert!(
        error.contains("1.wav: found 500 samples a second, expected 1000 to 768000"),
        "{error}"
    );
}
