use std::fs;

use super::*;
use crate::data::known::tests::published;
use crate::data::{NoiseKind, Normalization, Preparation, View};

fn options(data_seed: u64) -> OpenOptions {
    let preparation = Preparation {
        data_seed,
        ..Preparation::default()
    };
    OpenOptions {
        preparation,
        ..OpenOptions::default()
    }
}

/// A data set of two training pictures and a test picture, bytes counting up.
fn small(name: &str, options: &OpenOptions) -> Dataset {
    let (source, reading) = meaning(name);
    let (edge, colors) = source.shape();
    let pictures = |labels: &[u8]| Pictures {
        bytes: (0..labels.len() * edge * edge * colors)
            .map(|byte| (byte % 251) as u8)
            .collect(),
        labels: labels.to_vec(),
    };
    dataset(name, source, reading, [pictures(&[3, 1]), pictures(&[4])], options)
}

fn read(part: &Part, sequence: usize) -> Vec<f32> {
    let mut values = vec![0.0; part.length(sequence) * part.features];
    View::of(part).read(sequence, &mut values);
    values
}

#[test]
fn shapes_of_all_sets() {
    let table = [
        ("pixel-mnist", 784, 1),
        ("permuted-mnist", 784, 1),
        ("row-mnist", 28, 28),
        ("noisy-mnist", 1000, 28),
        ("fashion-pixel-mnist", 784, 1),
        ("fashion-permuted-mnist", 784, 1),
        ("fashion-row-mnist", 28, 28),
        ("fashion-noisy-mnist", 1000, 28),
        ("pixel-cifar", 1024, 3),
        ("noisy-cifar", 1000, 96),
    ];
    assert!(
        SETS.iter()
            .map(|entry| entry.known.name)
            .eq(table.map(|(name, ..)| name))
    );
    for (name, steps, features) in table {
        let data = small(name, &options(1));
        assert_eq!((data.train.length(1), data.train.features), (steps, features), "{name}");
        assert_eq!(data.feature_names.len(), features, "{name}");
        assert_eq!((data.train.labels, data.classes.len()), (vec![3, 1], 10), "{name}");
        assert_eq!(name.starts_with("fashion"), data.classes[1] == "Trouser", "{name}");
    }
}

#[test]
fn one_permutation_serves_all_pictures_and_comes_from_the_seed() {
    let plain = small("pixel-mnist", &options(1));
    let permuted = small("permuted-mnist", &options(1));
    let order = permutation::draw(784, 1);
    for (plain, permuted) in [
        (&plain.train, &permuted.train),
        (&plain.test.unwrap(), &permuted.test.unwrap()),
    ] {
        let (plain, permuted) = (read(plain, 0), read(permuted, 0));
        assert!(
            order
                .iter()
                .zip(&permuted)
                .all(|(&pixel, &value)| value == plain[pixel as usize])
        );
    }
    let other = small("permuted-mnist", &options(2));
    assert_ne!(read(&permuted.train, 0), read(&other.train, 0));
}

#[test]
fn rows_of_color_pictures_keep_the_colors_of_a_pixel_together() {
    let data = small("noisy-cifar", &options(1));
    assert_eq!(
        data.feature_names[..4],
        ["column 1 red", "column 1 green", "column 1 blue", "column 2 red"]
    );
    let values = read(&data.train, 0);
    assert!((0..96).all(|index| values[96 + index] == ((96 + index) % 251) as f32 / 255.0));
}

#[test]
fn noise_is_reproducible_and_of_the_kind_asked_for() {
    let noisy = |kind, seed, sequence| {
        let preparation = Preparation {
            noise: kind,
            data_seed: seed,
            ..Preparation::default()
        };
        let data = small(
            "noisy-mnist",
            &OpenOptions {
                preparation,
                ..OpenOptions::default()
            },
        );
        read(&data.train, sequence)[784..].to_vec()
    };
    use NoiseKind::{Fixed, Independent};
    assert_eq!(noisy(Independent, 1, 0), noisy(Independent, 1, 0));
    assert_ne!(noisy(Independent, 1, 0), noisy(Independent, 1, 1));
    assert_ne!(noisy(Independent, 1, 0), noisy(Independent, 2, 0));
    assert_eq!(noisy(Fixed, 1, 0), noisy(Fixed, 1, 1));
    assert_eq!(noisy(Fixed, 1, 0).len(), 972 * 28);
}

#[test]
fn a_file_that_is_not_the_published_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut labels = vec![0, 0, 8, 1, 0, 0, 0x27, 0x10];
    labels.extend([0; 10_000]);
    fs::write(folder.path().join("t10k-labels-idx1-ubyte"), labels).unwrap();
    let error = mnist::read(folder.path(), false).unwrap_err().to_string();
    assert!(
        error.contains("t10k-labels-idx1-ubyte: found other bytes (CRC-32 "),
        "{error}"
    );
    assert!(
        error.ends_with("expected the published file (CRC-32 4ab9eff9)"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = mnist::read(folder.path(), false).unwrap_err().to_string();
    assert!(
        error.ends_with(": found no train-images, expected four IDX files, plain or .gz"),
        "{error}"
    );
    let error = cifar::read(folder.path()).unwrap_err().to_string();
    assert!(
        error.ends_with(": found no data_batch_1.bin, expected the whole data set"),
        "{error}"
    );
}

#[test]
fn folders_are_told_apart_by_their_names() {
    let base = tempfile::tempdir().unwrap();
    for folder in ["fashion_mnist", "kmnist", "MNIST/raw"] {
        let folder = base.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("train-images-idx3-ubyte.gz"), "").unwrap();
    }
    let of = |folder: &str| base.path().join(folder);
    assert_eq!(mnist::find(base.path()), Some(of("MNIST/raw")));
    assert_eq!(mnist::find_fashion(base.path()), Some(of("fashion_mnist")));
    assert_eq!(
        (mnist::find(&of("kmnist")), mnist::find_fashion(&of("kmnist"))),
        (None, None)
    );
    assert_eq!(
        (mnist::find(&of("fashion_mnist")), mnist::find_fashion(&of("MNIST"))),
        (None, None)
    );
}

/// Mean and deviation of each color of the training part, as normalization finds them.
fn moments(data: &Dataset) -> (Vec<f32>, Vec<f32>) {
    let normalization = Normalization::fit(&View::of(&data.train)).unwrap();
    let deviation = normalization.scale.iter().map(|scale| 1.0 / scale);
    (normalization.mean, deviation.collect())
}

#[test]
fn published_mnist() {
    let Some(data) = published("pixel-mnist", &options(1)) else {
        return;
    };
    let (mean, deviation) = moments(&data);
    assert!(
        (mean[0] - 0.130_660_5).abs() < 1e-6 && (deviation[0] - 0.308_107_8).abs() < 1e-6,
        "{mean:?} {deviation:?}"
    );
    assert_eq!(
        (data.train.labels[..5].to_vec(), data.test.unwrap().labels[..5].to_vec()),
        (vec![5, 0, 4, 1, 9], vec![7, 2, 1, 0, 4])
    );
}

#[test]
fn published_fashion_mnist() {
    let Some(data) = published("fashion-row-mnist", &options(1)) else {
        return;
    };
    let (mean, deviation) = moments(&data);
    assert!(
        (mean[0] - 0.286_040_6).abs() < 1e-6 && (deviation[0] - 0.353_024_2).abs() < 1e-6,
        "{mean:?} {deviation:?}"
    );
}

#[test]
fn published_cifar() {
    let Some(data) = published("pixel-cifar", &options(1)) else {
        return;
    };
    let (mean, deviation) = moments(&data);
    let expected = [
        [0.491_399_68, 0.482_158_41, 0.446_530_9],
        [0.247_032_23, 0.243_485_13, 0.261_587_84],
    ];
    for (found, expected) in [mean, deviation].iter().zip(expected) {
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-6),
            "{found:?}"
        );
    }
    assert_eq!(data.train.labels[..10], [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]);
    assert_eq!(data.test.unwrap().labels[..10], [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]);
}
