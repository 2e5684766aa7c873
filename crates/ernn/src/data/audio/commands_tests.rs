use std::collections::HashSet;
use std::fs;

use super::super::release::ADDED;
use super::super::wav::tests::sixteen_bits;
use super::*;

/// Recordings of each word in the made-up release: so many speakers.
const SPEAKERS: usize = 13;
const MADE: [usize; 2] = [30 * SPEAKERS, 31 * SPEAKERS];

fn speaker(number: usize) -> String {
    format!("{number:08x}")
}

/// A tone that tells word and speaker.
fn tone(word: usize, speaker: usize, length: usize) -> Vec<i16> {
    let frequency = 200.0 + 150.0 * word as f32 + 5.0 * speaker as f32;
    let step = std::f32::consts::TAU * frequency / RATE as f32;
    (0..length).map(|n| (8000.0 * (step * n as f32).sin()) as i16).collect()
}

/// A small Speech Commands: every speaker says every word; speakers 0 and 1 are for validation, 2 for test. Unless all of them have
/// the full second, most are shorter.
pub(in crate::data) fn write_release(folder: &Path, words: &[&str]) {
    for (word, name) in words.iter().enumerate() {
        fs::create_dir_all(folder.join(name)).unwrap();
        for person in 0..SPEAKERS {
            let samples = tone(word, person, 4000 + 1000 * person);
            let file = format!("{}_nohash_0.wav", speaker(person));
            fs::write(folder.join(name).join(file), sixteen_bits(RATE, &samples)).unwrap();
        }
    }
    let list = |people: &[usize]| {
        let line = |word: &str, person: &usize| format!("{word}/{}_nohash_0.wav\n", speaker(*person));
        words
            .iter()
            .flat_map(|word| people.iter().map(move |person| line(word, person)))
            .collect::<String>()
    };
    fs::write(folder.join("validation_list.txt"), list(&[0, 1])).unwrap();
    fs::write(folder.join("testing_list.txt"), list(&[2])).unwrap();
    fs::create_dir_all(folder.join(NOISE)).unwrap();
    fs::write(folder.join(NOISE).join("README.md"), "noise").unwrap();
    // Every tenth of the noise file has a tone of its own.
    let noise: Vec<i16> = (0..10).flat_map(|tenth| tone(100 + tenth, 0, 30_000)).collect();
    fs::write(folder.join(NOISE).join("hum.wav"), sixteen_bits(RATE, &noise)).unwrap();
    fs::write(
        folder.join(NOISE).join("short.wav"),
        sixteen_bits(RATE, &noise[..20_000]),
    )
    .unwrap();
}

fn all_words() -> Vec<&'static str> {
    [KEYWORDS.as_slice(), &OTHERS].concat()
}

/// A release, its folder and the options that keep features in a folder of their own.
struct Made {
    folder: tempfile::TempDir,
    options: AudioOptions,
}

impl Made {
    fn new(words: &[&str]) -> Made {
        let folder = tempfile::tempdir().unwrap();
        write_release(&folder.path().join("speech_commands_v0.01"), words);
        Made {
            options: AudioOptions {
                cache: Some(folder.path().join("cache")),
                seed: 1,
            },
            folder,
        }
    }

    fn path(&self) -> PathBuf {
        find(self.folder.path()).unwrap()
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        open_sized(name, &self.path(), &self.options, MADE)
    }

    fn refusal(&self, name: &str) -> String {
        let error = self.open(name).unwrap_err().to_string();
        error.replace(&self.path().display().to_string(), "FOLDER")
    }
}

/// The features that a recording of the release should have.
fn expected(word: &str, person: usize) -> Vec<f32> {
    let word = all_words().iter().position(|other| *other == word).unwrap();
    let mut samples: Vec<f32> = tone(word, person, 4000 + 1000 * person)
        .iter()
        .map(|&s| f32::from(s) / 32768.0)
        .collect();
    samples.splice(..0, vec![0.0; RATE as usize - samples.len()]);
    super::super::mel::MelBank::new(&MelSettings::at(RATE))
        .unwrap()
        .features(&samples)
}

#[test]
fn thirty_words_by_the_lists() {
    let made = Made::new(&all_words());
    let data = made.open("google-30").unwrap();
    let (validation, test) = (data.validation.as_ref().unwrap(), data.test.as_ref().unwrap());
    assert_eq!([data.train.len(), validation.len(), test.len()], [300, 60, 30]);
    assert_eq!(
        (data.classes.len(), data.classes[0].as_str(), data.train.features),
        (30, "bed", 32)
    );
    assert!(
        data.parts()
            .all(|(_, part)| (0..part.len()).all(|sequence| part.length(sequence) == 99))
    );
    for sequence in 0..test.len() {
        let word = &data.classes[test.labels[sequence] as usize];
        assert_eq!(test.sequence(sequence), expected(word, 2), "{word}");
    }
    // The groups tell the speakers apart, in all parts together.
    let people = |part: &Part| part.groups.iter().copied().collect::<HashSet<u32>>();
    let [train, validation, test] = [&data.train, validation, test].map(people);
    assert_eq!([train.len(), validation.len(), test.len()], [10, 2, 1]);
    assert!(train.is_disjoint(&validation) && train.is_disjoint(&test) && validation.is_disjoint(&test));
}

#[test]
fn twelve_classes_as_tensorflow_draws_them() {
    let made = Made::new(&all_words());
    let data = made.open("google-12").unwrap();
    assert_eq!(data.classes, [KEYWORDS.as_slice(), &["silence", "unknown"]].concat());
    for ((_, part), known) in data.parts().zip([100, 20, 10]) {
        let count = |class: u32| part.labels.iter().filter(|&&label| label == class).count();
        assert!((0..10).all(|class| count(class) == known / 10));
        assert_eq!([count(SILENCE), count(UNKNOWN)], [known / 10; 2]);
    }
    let test = data.test.as_ref().unwrap();
    let unknown = test.labels.iter().position(|&label| label == UNKNOWN).unwrap();
    assert!(OTHERS.iter().any(|word| test.sequence(unknown) == expected(word, 2)));
}

#[test]
fn silence_is_the_noise_of_its_part() {
    let made = Made::new(&all_words());
    let data = made.open("google-12").unwrap();
    // The loudest filter of each tenth of the noise.
    let loudest = |features: &[f32]| {
        (0..32)
            .max_by(|&a, &b| features[50 * 32 + a].total_cmp(&features[50 * 32 + b]))
            .unwrap()
    };
    let extractor = Extractor::new(recipe()).unwrap();
    let filter = |tenth: usize| {
        let samples = tone(100 + tenth, 0, RATE as usize)
            .iter()
            .map(|&s| f32::from(s) / 32768.0)
            .collect();
        loudest(&extractor.features(samples))
    };
    for ((_, part), tenths) in data.parts().zip([0..8, 8..9, 9..10]) {
        let allowed: Vec<usize> = tenths.map(filter).collect();
        let silent = (0..part.len()).filter(|&sequence| part.labels[sequence] == SILENCE);
        assert!(
            silent
                .map(|sequence| loudest(part.sequence(sequence)))
                .all(|filter| allowed.contains(&filter))
        );
    }
}

#[test]
fn what_is_drawn_comes_from_the_seed() {
    let mut made = Made::new(&all_words());
    let first = made.open("google-12").unwrap();
    made.options.cache = Some(made.folder.path().join("another"));
    assert!(made.open("google-12").unwrap() == first);
    made.options.seed = 2;
    assert!(made.open("google-12").unwrap() != first);
}

#[test]
fn the_second_release_gives_the_same_words() {
    let words = [all_words(), vec![ADDED]].concat();
    let data = Made::new(&words).open("google-30").unwrap();
    assert_eq!((data.train.len(), data.classes.len()), (300, 30));
}

#[test]
fn an_archive_gives_what_the_folder_gives() {
    let made = Made::new(&all_words());
    let from_folder = made.open("google-12").unwrap();
    let path = made.folder.path().join("speech_commands_v0.01.tar.gz");
    let packed = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    archive.append_dir_all(".", made.path()).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
    fs::remove_dir_all(made.path()).unwrap();
    assert_eq!(made.path(), path);
    assert!(made.open("google-12").unwrap() == from_folder);
}

#[test]
fn features_are_kept_until_a_recording_changes() {
    let made = Made::new(&all_words());
    let first = made.open("google-30").unwrap();
    let file = made.path().join("yes").join(format!("{}_nohash_0.wav", speaker(5)));
    let changed = sixteen_bits(RATE, &tone(50, 0, 9000));
    let length = fs::metadata(&file).unwrap().len() as usize;
    assert_eq!(changed.len(), length);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, &changed).unwrap();
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(time)
        .unwrap();
    assert!(
        made.open("google-30").unwrap() == first,
        "size and time say that nothing changed: the kept features are used"
    );
    let later = time + std::time::Duration::from_secs(1);
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert!(made.open("google-30").unwrap() != first);
}

#[test]
fn refusals_say_what_is_missing() {
    let made = Made::new(&all_words());
    let file = made.path().join("zero").join(format!("{}_nohash_0.wav", speaker(12)));
    fs::remove_file(&file).unwrap();
    assert_eq!(
        made.refusal("google-30"),
        "FOLDER: found 389 recordings, expected 390 as in release 0.01"
    );
    fs::write(made.path().join("zero/other_nohash_0.wav"), sixteen_bits(RATE, &[1])).unwrap();
    let list = made.path().join("testing_list.txt");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("{text}zero/{}_nohash_0.wav\n", speaker(12))).unwrap();
    assert_eq!(
        made.refusal("google-12"),
        "FOLDER/testing_list.txt, line 31: found \"zero/0000000c_nohash_0.wav\", which is not there, expected a recording of this folder"
    );
    fs::write(&list, text).unwrap();
    fs::write(made.path().join("zero/other_nohash_0.wav"), b"RIFF").unwrap();
    assert_eq!(
        made.refusal("google-30"),
        "FOLDER/zero/other_nohash_0.wav: found a file of 4 bytes, expected a RIFF/WAVE file"
    );
    fs::remove_dir_all(made.path().join(NOISE)).unwrap();
    fs::write(made.path().join("zero/other_nohash_0.wav"), sixteen_bits(RATE, &[1])).unwrap();
    assert_eq!(
        made.refusal("google-12"),
        "google-12: no noise for silence: 0 files in _background_noise_, expected some of at least 10 seconds"
    );
    fs::remove_dir_all(made.path().join("bird")).unwrap();
    assert_eq!(
        made.refusal("google-30"),
        "FOLDER: found no recording of \"bird\", expected the 30 words of Speech Commands"
    );
}
