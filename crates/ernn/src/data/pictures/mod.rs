//! Pictures read as sequences: MNIST, Fashion-MNIST and CIFAR-10, pixel by pixel, permuted, row by row, or with noise behind.
//!
//! ```text
//! pixel-mnist      784 x 1     in scan order (Le, Jaitly, Hinton, arXiv 1504.00941)
//! permuted-mnist   784 x 1     one fixed permutation, drawn from the data seed
//! row-mnist         28 x 28    a row a step
//! noisy-mnist     1000 x 28    28 rows, then 972 steps of standard normal noise (Chang et al., AntisymmetricRNN, ICLR 2019)
//! pixel-cifar     1024 x 3
//! noisy-cifar     1000 x 96    32 rows, the colors of a pixel side by side, then 968 steps of noise
//! ```
//!
//! and the first four with `fashion-` in front. Pictures stay bytes; permutation and noise happen where they are read
//! ([`Images`]).

mod cifar;
mod idx;
mod mnist;
mod permutation;

use std::path::Path;

use super::known::{Entry, Known};
use super::{Dataset, Images, NoiseSteps, OpenOptions, Part};
use crate::Result;

/// Steps of a picture with noise behind it.
const NOISY_STEPS: usize = 1000;

/// Pictures of one part as their files hold them, colors of a pixel side by side.
#[derive(Debug)]
struct Pictures {
    bytes: Vec<u8>,
    labels: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Mnist,
    Fashion,
    Cifar,
}

impl Source {
    /// Pixels of an edge, and bytes a pixel.
    fn shape(self) -> (usize, usize) {
        match self {
            Source::Mnist | Source::Fashion => (28, 1),
            Source::Cifar => (32, 3),
        }
    }

    fn classes(self) -> [&'static str; 10] {
        match self {
            Source::Mnist => ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
            Source::Fashion => [
                "T-shirt/top",
                "Trouser",
                "Pullover",
                "Dress",
                "Coat",
                "Sandal",
                "Shirt",
                "Sneaker",
                "Bag",
                "Ankle boot",
            ],
            Source::Cifar => [
                "airplane",
                "automobile",
                "bird",
                "cat",
                "deer",
                "dog",
                "frog",
                "horse",
                "ship",
                "truck",
            ],
        }
    }

    fn read(self, found: &Path) -> Result<[Pictures; 2]> {
        match self {
            Source::Mnist => mnist::read(found, false),
            Source::Fashion => mnist::read(found, true),
            Source::Cifar => cifar::read(found),
        }
    }
}

/// How a picture becomes a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reading {
    Pixels,
    Permuted,
    Rows,
    Noisy,
}

/// The data sets that these files make.
pub(super) static SETS: [Entry; 10] = [
    mnist_entry(
        "pixel-mnist",
        "handwritten digits pixel by pixel: 10 classes, 1 channel, 784 steps, 60000 + 10000 sequences",
    ),
    mnist_entry(
        "permuted-mnist",
        "handwritten digits in one permuted order: 10 classes, 1 channel, 784 steps, 60000 + 10000 sequences",
    ),
    mnist_entry(
        "row-mnist",
        "handwritten digits row by row: 10 classes, 28 channels, 28 steps, 60000 + 10000 sequences",
    ),
    mnist_entry(
        "noisy-mnist",
        "handwritten digits with noise behind: 10 classes, 28 channels, 1000 steps, 60000 + 10000 sequences",
    ),
    fashion_entry(
        "fashion-pixel-mnist",
        "clothes pixel by pixel: 10 classes, 1 channel, 784 steps, 60000 + 10000 sequences",
    ),
    fashion_entry(
        "fashion-permuted-mnist",
        "clothes in one permuted order: 10 classes, 1 channel, 784 steps, 60000 + 10000 sequences",
    ),
    fashion_entry(
        "fashion-row-mnist",
        "clothes row by row: 10 classes, 28 channels, 28 steps, 60000 + 10000 sequences",
    ),
    fashion_entry(
        "fashion-noisy-mnist",
        "clothes with noise behind: 10 classes, 28 channels, 1000 steps, 60000 + 10000 sequences",
    ),
    cifar_entry(
        "pixel-cifar",
        "color pictures pixel by pixel: 10 classes, 3 channels, 1024 steps, 50000 + 10000 sequences",
    ),
    cifar_entry(
        "noisy-cifar",
        "color pictures row by row with noise behind: 10 classes, 96 channels, 1000 steps, 50000 + 10000 sequences",
    ),
];

const fn mnist_entry(name: &'static str, description: &'static str) -> Entry {
    Entry {
        known: Known {
            name,
            description,
            source: "https://yann.lecun.com/exdb/mnist/",
            license: "given out freely; often listed as CC BY-SA 3.0",
            built_in: false,
        },
        files: "folder with MNIST's four IDX files, plain or .gz,",
        find: mnist::find,
        open,
        counts: &[
            &[5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
            &[980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
        ],
    }
}

const fn fashion_entry(name: &'static str, description: &'static str) -> Entry {
    Entry {
        known: Known {
            name,
            description,
            source: "https://github.com/zalandoresearch/fashion-mnist",
            license: "MIT",
            built_in: false,
        },
        files: "folder fashion-mnist with four IDX files, plain or .gz,",
        find: mnist::find_fashion,
        open,
        counts: &[&[6000; 10], &[1000; 10]],
    }
}

const fn cifar_entry(name: &'static str, description: &'static str) -> Entry {
    Entry {
        known: Known {
            name,
            description,
            source: "https://www.cs.toronto.edu/~kriz/cifar.html",
            license: "names none; cite Krizhevsky 2009",
            built_in: false,
        },
        files: "folder cifar-10-batches-bin or cifar-10-binary.tar.gz",
        find: cifar::find,
        open,
        counts: &[&[5000; 10], &[1000; 10]],
    }
}

fn open(name: &str, found: &Path, options: &OpenOptions) -> Result<Dataset> {
    let (source, reading) = meaning(name);
    Ok(dataset(name, source, reading, source.read(found)?, options))
}

/// The pictures of a data set and how they are read.
fn meaning(name: &str) -> (Source, Reading) {
    let source = match name {
        _ if name.starts_with("fashion-") => Source::Fashion,
        _ if name.ends_with("-cifar") => Source::Cifar,
        _ => Source::Mnist,
    };
    let reading = match name.trim_start_matches("fashion-").split('-').next() {
        Some("permuted") => Reading::Permuted,
        Some("row") => Reading::Rows,
        Some("noisy") => Reading::Noisy,
        _ => Reading::Pixels,
    };
    (source, reading)
}

fn dataset(name: &str, source: Source, reading: Reading, parts: [Pictures; 2], options: &OpenOptions) -> Dataset {
    let [train, test] = parts;
    let part = |number, pictures| part(source, reading, number, pictures, options);
    Dataset {
        name: name.to_owned(),
        feature_names: feature_names(source, reading),
        classes: source.classes().map(str::to_owned).to_vec(),
        train: part(0, train),
        test: Some(part(1, test)),
        ..Dataset::default()
    }
}

fn part(source: Source, reading: Reading, number: u64, pictures: Pictures, options: &OpenOptions) -> Part {
    let (edge, colors) = source.shape();
    let by_row = matches!(reading, Reading::Rows | Reading::Noisy);
    let seed = options.preparation.data_seed;
    let noise = NoiseSteps {
        steps: NOISY_STEPS - edge,
        seed,
        kind: options.preparation.noise,
        part: number,
    };
    let images = Images {
        bytes: pictures.bytes,
        pixels: edge * edge,
        colors,
        row: if by_row { edge } else { 1 },
        order: (reading == Reading::Permuted).then(|| permutation::draw((edge * edge) as u32, seed)),
        noise: (reading == Reading::Noisy).then_some(noise),
    };
    Part::of_images(images, pictures.labels.into_iter().map(u32::from).collect())
}

fn feature_names(source: Source, reading: Reading) -> Vec<String> {
    let (edge, colors) = source.shape();
    let of_color = |pixel: String| match colors {
        1 => vec![pixel],
        _ => ["red", "green", "blue"]
            .map(|color| format!("{pixel} {color}"))
            .to_vec(),
    };
    match reading {
        Reading::Pixels | Reading::Permuted => of_color("pixel".to_owned()),
        Reading::Rows | Reading::Noisy => (1..=edge)
            .flat_map(|column| of_color(format!("column {column}")))
            .collect(),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
