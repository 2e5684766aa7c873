//! The data sets that are known by name.

use std::path::PathBuf;

use super::har::{self, Classes};
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

static KNOWN: [Known; 4] = [
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
];

/// The data sets that are known by name.
pub fn known() -> &'static [Known] {
    &KNOWN
}

/// Where a known data set that is not built in lies in the data folder; `None` if it is not there.
pub fn found(name: &str, options: &OpenOptions) -> Option<PathBuf> {
    match name {
        "har-2" | "har-6" => har::find(&options.data_folder()?),
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
