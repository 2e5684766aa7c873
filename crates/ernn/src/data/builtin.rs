//! The data sets inside the library; `reference/make_assets.py` made them and states their format.
//!
//! ```text
//! u32 features, divisor, classes, train sequences, test sequences      little-endian, all of it gzipped
//! u16 steps of each sequence | u8 class of each sequence | u8 planes[4][values]
//! ```
//!
//! The four planes are the bytes of `zigzag(q[step] - q[step - 1])`, channel by channel within a sequence; the value is
//! `q / divisor`.

use std::io::Read;

use flate2::read::GzDecoder;

use super::known::{Entry, Known};
use super::{Dataset, Part};

/// The data sets inside the library.
pub(super) static SETS: [Entry; 2] = [
    Entry {
        known: Known {
            name: "japanese-vowels",
            description: "who says the vowels: 9 speakers, 12 channels, 7 to 29 steps, 270 + 370 sequences",
            source: "https://archive.ics.uci.edu/dataset/128/japanese+vowels",
            license: "CC BY 4.0",
            built_in: true,
        },
        files: "",
        find: |_| None,
        open: |_, _, _| Ok(japanese_vowels()),
        counts: &[&[30; 9], &[31, 35, 88, 44, 29, 24, 40, 50, 29]],
    },
    Entry {
        known: Known {
            name: "digits",
            description: "handwritten digits pixel by pixel: 10 classes, 1 channel, 64 steps, 1437 + 360 sequences",
            source: "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
            license: "CC BY 4.0",
            built_in: true,
        },
        files: "",
        find: |_| None,
        open: |_, _, _| Ok(digits()),
        counts: &[],
    },
];

/// UCI Japanese Vowels: 9 speakers, 12 channels, 7 to 29 steps, official split.
pub(crate) fn japanese_vowels() -> Dataset {
    let packed = include_bytes!("../../assets/japanese-vowels.bin.gz");
    let names = (1..=12).map(|channel| format!("cepstrum {channel}")).collect();
    unpack("japanese-vowels", packed, names, 1)
}

/// UCI 8 x 8 digits, pixel by pixel; the last 360 in file order are the test part.
pub(crate) fn digits() -> Dataset {
    let packed = include_bytes!("../../assets/digits.bin.gz");
    unpack("digits", packed, vec!["pixel".to_owned()], 0)
}

/// Unpacks an asset; its classes are named by numbers from `first_class`.
///
/// # Panics
/// If the asset is damaged, which the tests rule out.
fn unpack(name: &str, packed: &[u8], feature_names: Vec<String>, first_class: usize) -> Dataset {
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .expect("a built-in data set unpacks");
    let (header, rest) = bytes.split_at(20);
    let number = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[4 * index + byte])) as usize;
    let [features, divisor, classes, train, test] = [0, 1, 2, 3, 4].map(number);
    assert_eq!(features, feature_names.len());
    let (lengths, rest) = rest.split_at(2 * (train + test));
    let (labels, planes) = rest.split_at(train + test);
    let lengths = lengths
        .chunks_exact(2)
        .map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])));
    let planes: Vec<&[u8]> = planes.chunks_exact(planes.len() / 4).collect();
    let mut deltas = (0..planes[0].len()).map(|index| zigzag([0, 1, 2, 3].map(|plane| planes[plane][index])));

    let mut parts = [Part::new(features), Part::new(features)];
    for (index, (steps, &label)) in lengths.zip(labels).enumerate() {
        let mut values = vec![0.0; steps * features];
        for feature in 0..features {
            let mut scaled = 0;
            for step in 0..steps {
                scaled += deltas.next().expect("as many values as steps");
                values[step * features + feature] = (f64::from(scaled) / divisor as f64) as f32;
            }
        }
        parts[usize::from(index >= train)].push(&values, Some(u32::from(label)), None);
    }
    let [train, test] = parts;
    Dataset {
        name: name.to_owned(),
        feature_names,
        classes: (first_class..first_class + classes)
            .map(|class| class.to_string())
            .collect(),
        train,
        test: Some(test),
        ..Dataset::default()
    }
}

fn zigzag(bytes: [u8; 4]) -> i32 {
    let word = u32::from_le_bytes(bytes);
    (word >> 1) as i32 ^ -((word & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(part: &Part, classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        part.labels.iter().for_each(|&label| counts[label as usize] += 1);
        counts
    }

    #[test]
    fn japanese_vowels_as_published() {
        let data = japanese_vowels();
        let test = data.test.as_ref().unwrap();
        assert_eq!((data.train.len(), test.len(), data.train.features), (270, 370, 12));
        assert_eq!(counts(&data.train, 9), [30; 9]);
        assert_eq!(counts(test, 9), [31, 35, 88, 44, 29, 24, 40, 50, 29]);
        assert_eq!(data.classes, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        let lengths = |part: &Part| {
            (0..part.len())
                .map(|sequence| part.length(sequence))
                .collect::<Vec<_>>()
        };
        let lengths = [lengths(&data.train), lengths(test)].concat();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&7), Some(&29)));
        assert_eq!(data.train.sequence(0)[..2], [1.860936, -0.207383]);
        assert_eq!(data.train.sequence(0)[12], 1.891651);
    }

    #[test]
    fn digits_split_by_file_order() {
        let data = digits();
        let test = data.test.as_ref().unwrap();
        assert_eq!((data.train.len(), test.len(), data.train.features), (1437, 360, 1));
        assert_eq!(counts(test, 10), [35, 36, 35, 37, 37, 37, 37, 36, 33, 37]);
        assert_eq!(
            data.train.sequence(0)[..10],
            [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(test.sequence(359)[58..], [8.0, 12.0, 14.0, 12.0, 1.0, 0.0]);
        assert_eq!((data.train.labels[0], test.labels[359]), (0, 8));
        assert!((0..360).all(|sequence| test.length(sequence) == 64));
        assert!(
            data.train
                .values
                .numbers()
                .iter()
                .all(|value| (0.0..=16.0).contains(value))
        );
    }

    #[test]
    fn japanese_vowels_equal_the_ts_files() {
        let Some(folder) = super::super::open::tests::data_folder("JapaneseVowels") else {
            return;
        };
        let files = super::super::open(&folder.display().to_string(), &Default::default()).unwrap();
        let built_in = japanese_vowels();
        assert_eq!(files.train, built_in.train);
        assert_eq!(files.test, built_in.test);
    }
}
