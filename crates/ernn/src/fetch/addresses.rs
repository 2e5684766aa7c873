//! Where the known data sets lie publicly, and under what terms.
//!
//! Checksums are those that the publishers, or the loaders that everybody uses (torchvision, torchaudio), state; of MNIST and Penn
//! Treebank those of the unpacked content, because mirrors pack it anew. Files without one are checked by their length.

use super::{Check, Remote};
use crate::{Error, Result};

/// A data set's files and terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The known names that it serves.
    pub names: &'static [&'static str],
    /// The folder below the data folder.
    pub folder: &'static str,
    /// The terms, which a person should see before the download.
    pub license: &'static str,
    /// The files.
    pub files: &'static [Remote],
    /// What to do where there is no free address.
    pub instead: Option<&'static str>,
}

const fn file(name: &'static str, addresses: &'static [&'static str], check: Check) -> Remote {
    Remote { name, addresses, check }
}

const MNIST: [Remote; 4] = [
    file(
        "train-images-idx3-ubyte.gz",
        &[
            "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
            "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
        ],
        Check::Unpacked("6bbc9ace898e44ae57da46a324031adb"),
    ),
    file(
        "train-labels-idx1-ubyte.gz",
        &[
            "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz",
            "https://storage.googleapis.com/cvdf-datasets/mnist/train-labels-idx1-ubyte.gz",
        ],
        Check::Unpacked("a25bea736e30d166cdddb491f175f624"),
    ),
    file(
        "t10k-images-idx3-ubyte.gz",
        &[
            "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz",
            "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
        ],
        Check::Unpacked("2646ac647ad5339dbf082846283269ea"),
    ),
    file(
        "t10k-labels-idx1-ubyte.gz",
        &[
            "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz",
            "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-labels-idx1-ubyte.gz",
        ],
        Check::Unpacked("27ae3e4e09519cfbb04c329615203637"),
    ),
];

const FASHION_MNIST: [Remote; 4] = [
    file(
        "train-images-idx3-ubyte.gz",
        &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz"],
        Check::Md5("8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
    ),
    file(
        "train-labels-idx1-ubyte.gz",
        &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz"],
        Check::Md5("25c81989df183df01b3e8a0aad5dffbe"),
    ),
    file(
        "t10k-images-idx3-ubyte.gz",
        &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz"],
        Check::Md5("bef4ecab320f06d8554ea6380940ec79"),
    ),
    file(
        "t10k-labels-idx1-ubyte.gz",
        &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz"],
        Check::Md5("bb300cfdad3c16e7a12a480ee83cd310"),
    ),
];

const SOURCES: [Source; 9] = [
    Source {
        names: &["har-2", "har-6"],
        folder: "har",
        license: "cite Anguita et al., ESANN 2013; its README bars commercial use",
        files: &[file(
            "human+activity+recognition+using+smartphones.zip",
            &["https://archive.ics.uci.edu/static/public/240/human+activity+recognition+using+smartphones.zip"],
            Check::Length,
        )],
        instead: None,
    },
    Source {
        names: &["dsa-19"],
        folder: "dsa",
        license: "UCI data set 256; cite Altun, Barshan and Tuncel 2010",
        files: &[file(
            "daily+and+sports+activities.zip",
            &["https://archive.ics.uci.edu/static/public/256/daily+and+sports+activities.zip"],
            Check::Length,
        )],
        instead: None,
    },
    Source {
        names: &["pixel-mnist", "permuted-mnist", "noisy-mnist", "row-mnist"],
        folder: "mnist",
        license: "given out freely by LeCun, Cortes and Burges; no license is named",
        files: &MNIST,
        instead: None,
    },
    Source {
        names: &[
            "fashion-pixel-mnist",
            "fashion-permuted-mnist",
            "fashion-noisy-mnist",
            "fashion-row-mnist",
        ],
        folder: "fashion_mnist",
        license: "MIT, Zalando SE",
        files: &FASHION_MNIST,
        instead: None,
    },
    Source {
        names: &["noisy-cifar", "pixel-cifar"],
        folder: "cifar10",
        license: "no license is named; cite Krizhevsky 2009",
        files: &[file(
            "cifar-10-binary.tar.gz",
            &["https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"],
            Check::Md5("c32a1d4ab5d03f1284b67883e8d87530"),
        )],
        instead: None,
    },
    Source {
        names: &["google-12", "google-30", "speech-10"],
        folder: "speech_commands",
        license: "CC BY 4.0, Google",
        files: &[file(
            "speech_commands_v0.01.tar.gz",
            &[
                "https://storage.googleapis.com/download.tensorflow.org/data/speech_commands_v0.01.tar.gz",
                "http://download.tensorflow.org/data/speech_commands_v0.01.tar.gz",
            ],
            Check::Sha256("743935421bb51cccdb6bdd152e04c5c70274e935c82119ad7faeec31780d811d"),
        )],
        instead: None,
    },
    Source {
        names: &["fsdd"],
        folder: "fsdd",
        license: "CC BY-SA 4.0",
        files: &[file(
            "free-spoken-digit-dataset-master.tar.gz",
            &["https://github.com/Jakobovski/free-spoken-digit-dataset/archive/refs/heads/master.tar.gz"],
            Check::Length,
        )],
        instead: None,
    },
    Source {
        names: &["ptb-300", "ptb-char"],
        folder: "ptb",
        license: "Wall Street Journal text of the LDC's Penn Treebank; spread for research, with no open license: do not publish it",
        files: &[file(
            "simple-examples.tgz",
            &["http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz"],
            Check::Members(&[
                ("ptb.train.txt", "f26c4b92c5fdc7b3f8c7cdcb991d8420"),
                ("ptb.valid.txt", "aa0affc06ff7c36e977d7cd49e3839bf"),
                ("ptb.test.txt", "8b80168b89c18661a38ef683c0dc3721"),
            ]),
        )],
        instead: None,
    },
    Source {
        names: &["yelp-5"],
        folder: "yelp",
        license: "Yelp Dataset terms: academic use, no handing on",
        files: &[],
        instead: Some(
            "agree to Yelp's terms at https://www.yelp.com/dataset, unpack the archive that you are given, and put \
             yelp_academic_dataset_review.json (plain, .gz or .xz) into the folder yelp of the data folder",
        ),
    },
];

/// All data sets with an address, or with a word on why there is none.
pub fn sources() -> &'static [Source] {
    const ALL: &[Source] = &SOURCES;
    ALL
}

/// The source of a known data set.
///
/// # Errors
/// If there is none of this name; the text lists those that are.
pub fn source(name: &str) -> Result<&'static Source> {
    let known = sources().iter().find(|source| source.names.contains(&name));
    known.ok_or_else(|| {
        let names: Vec<&str> = sources().iter().flat_map(|source| source.names).copied().collect();
        let expected = format!("one that can be downloaded: {}", names.join(", "));
        Error::setting("data set", format!("{name:?}"), expected)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;

    #[test]
    fn what_is_said_to_be_downloadable_is() {
        for known in data::known().iter().filter(|known| !known.built_in) {
            let source = source(known.name).unwrap();
            assert_eq!(
                source.files.is_empty(),
                data::IN_PERSON.contains(&known.name),
                "{}",
                known.name
            );
        }
    }

    #[test]
    fn each_file_has_addresses_or_the_set_says_what_to_do_instead() {
        for source in sources() {
            assert_eq!(source.files.is_empty(), source.instead.is_some(), "{:?}", source.names);
            for file in source.files {
                assert!(!file.addresses.is_empty());
                assert!(file.addresses.iter().all(|address| address.starts_with("http")));
                // What is saved under a name has to be that.
                let last = |address: &str| address.rsplit('/').next().unwrap_or_default().to_owned();
                assert!(
                    file.addresses.iter().all(|address| file.name.ends_with(&last(address))),
                    "{}",
                    file.name
                );
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        assert_eq!(source("ptb-char").unwrap().folder, "ptb");
        let error = source("ptb").unwrap_err().to_string();
        assert!(
            error.starts_with("data set: found \"ptb\", expected one that can be downloaded: har-2, har-6"),
            "{error}"
        );
    }
}
