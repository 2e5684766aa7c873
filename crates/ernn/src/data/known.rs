//! The data sets that are known by name.

use std::path::{Path, PathBuf};

use super::har::{self, Classes};
use super::text::{TextOptions, ptb, yelp};
use super::{Dataset, OpenOptions, builtin};
use crate::{Error, Result};

/// A data set known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// Its name for [`open`](super::open).
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Under what terms.
    pub license: &'static str,
    /// Is inside the library; otherwise it is looked for in the data folder.
    pub built_in: bool,
}

const HAR_SOURCE: &str = "https://archive.ics.uci.edu/dataset/240/human+activity+recognition+using+smartphones";
const HAR_LICENSE: &str = "see its README: cite Anguita et al., ESANN 2013; it bars commercial use";

const PTB_SOURCE: &str = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz";
const PTB_LICENSE: &str =
    "Wall Street Journal text of the LDC's Penn Treebank, without an open license: do not publish it";

static KNOWN: [Known; 7] = [
    Known {
        name: "japanese-vowels",
        description: "who says the vowels: 9 speakers, 12 channels, 7 to 29 steps, 270 + 370 sequences",
        source: "https://archive.ics.uci.edu/dataset/128/japanese+vowels",
        license: "CC BY 4.0",
        built_in: true,
    },
    Known {
        name: "digits",
        description: "handwritten digits pixel by pixel: 10 classes, 1 channel, 64 steps, 1437 + 360 sequences",
        source: "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
        license: "CC BY 4.0",
        built_in: true,
    },
    Known {
        name: "har-2",
        description: "a phone's motion, two groups of activities: 9 channels, 128 steps, 7352 + 2947 sequences",
        source: HAR_SOURCE,
        license: HAR_LICENSE,
        built_in: false,
    },
    Known {
        name: "har-6",
        description: "a phone's motion, six activities: 9 channels, 128 steps, 7352 + 2947 sequences",
        source: HAR_SOURCE,
        license: HAR_LICENSE,
        built_in: false,
    },
    Known {
        name: "ptb-300",
        description: "Penn Treebank, next word: 10,000 words, 929,589 + 73,760 + 82,430 tokens",
        source: PTB_SOURCE,
        license: PTB_LICENSE,
        built_in: false,
    },
    Known {
        name: "ptb-char",
        description: "Penn Treebank, next character: 50 characters, 5,017,482 + 393,042 + 442,423 tokens",
        source: PTB_SOURCE,
        license: PTB_LICENSE,
        built_in: false,
    },
    Known {
        name: "yelp-5",
        description: "reviews with 1 to 5 stars: the first 300 words, 20,000 words, 500,000 + 500,000 reviews",
        source: "https://www.yelp.com/dataset",
        license: "Yelp Dataset terms: academic use, no handing on",
        built_in: false,
    },
];

/// The data sets that are known by name.
pub fn known() -> &'static [Known] {
    &KNOWN
}

/// Where a known data set that is not built in lies in the data folder; `None` if it is not there.
pub fn found(name: &str, options: &OpenOptions) -> Option<PathBuf> {
    match name {
        "har-2" | "har-6" => har::find(&options.data_folder()?),
        "ptb-300" | "ptb-char" => ptb::find(&options.data_folder()?),
        "yelp-5" => yelp::find(&options.data_folder()?),
        _ => None,
    }
}

/// Opens a data set by its name; `None` if the name is not known.
pub(super) fn open(name: &str, options: &OpenOptions) -> Option<Result<Dataset>> {
    match name {
        "japanese-vowels" => Some(Ok(builtin::japanese_vowels())),
        "digits" => Some(Ok(builtin::digits())),
        "har-2" => Some(open_har(name, Classes::Two, options)),
        "har-6" => Some(open_har(name, Classes::Six, options)),
        "ptb-300" | "ptb-char" => Some(open_text(name, "ptb.train.txt", options, ptb::open)),
        "yelp-5" => Some(open_text(
            name,
            "yelp*.csv or yelp_academic_dataset_review*.json",
            options,
            yelp::open,
        )),
        _ => None,
    }
}

fn open_har(name: &str, classes: Classes, options: &OpenOptions) -> Result<Dataset> {
    let folder = found(name, options).ok_or_else(|| {
        let searched = match options.data_folder() {
            Some(folder) => format!("no folder \"UCI HAR Dataset\" with train and test in {}", folder.display()),
            None => "no data folder was named".to_owned(),
        };
        Error::Data {
            dataset: name.to_owned(),
            problem: format!(
                "{searched}; download it from {HAR_SOURCE}, unpack it, and name the folder with --data-dir or ERNN_DATA_DIR"
            ),
        }
    })?;
    har::read(&folder, name, classes)
}

fn open_text(
    name: &str,
    files: &str,
    options: &OpenOptions,
    open: fn(&str, &Path, &TextOptions) -> Result<Dataset>,
) -> Result<Dataset> {
    let folder = found(name, options).ok_or_else(|| Error::Data {
        dataset: name.to_owned(),
        problem: format!(
            "no {files} in the data folder; `ernn data fetch {name}` gets it or says how, --data-dir or ERNN_DATA_DIR names the folder"
        ),
    })?;
    open(name, &folder, &options.text)
}
