//! MNIST and Fashion-MNIST: 60,000 + 10,000 gray pictures of 28 x 28, in four IDX files of the same names.
//!
//! LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition", Proceedings of the IEEE 86 (11),
//! 1998; Xiao, Rasul, Vollgraf, "Fashion-MNIST", arXiv 1708.07747.

use std::path::{Path, PathBuf};

use super::{Pictures, idx};
use crate::data::archive::{Archive, Member};
use crate::data::{checksum, lookup};
use crate::{Error, Result};

/// One of the four files: its name's beginning, sizes, and CRC-32 in MNIST and in Fashion-MNIST.
struct File {
    name: &'static str,
    sizes: &'static [usize],
    sums: [u32; 2],
}

const FILES: [File; 4] = [
    File {
        name: "train-images",
        sizes: &[60_000, 28, 28],
        sums: [0xe9f4_d8b3, 0xb4f2_9f28],
    },
    File {
        name: "train-labels",
        sizes: &[60_000],
        sums: [0xe0cb_4ad2, 0x741a_4657],
    },
    File {
        name: "t10k-images",
        sizes: &[10_000, 28, 28],
        sums: [0x9137_3bdf, 0x678f_e0b1],
    },
    File {
        name: "t10k-labels",
        sizes: &[10_000],
        sums: [0x4ab9_eff9, 0x8014_2c1f],
    },
];

/// The file that a name speaks of: `train-images-idx3-ubyte` or, as some unpackers write it, `train-images.idx3-ubyte`.
fn file_of(path: &str) -> Option<&'static File> {
    let name = path.rsplit('/').next()?;
    let end = |file: &File| format!("idx{}-ubyte", file.sizes.len());
    FILES.iter().find(|file| {
        let rest = name
            .strip_prefix(file.name)
            .and_then(|rest| rest.strip_prefix(['-', '.']));
        rest == Some(end(file).as_str())
    })
}

/// The folder of MNIST's files: not one whose name says that it holds another set in the same format.
pub(super) fn find(place: &Path) -> Option<PathBuf> {
    let other = |name: &str| is_fashion(name) || (name.contains("mnist") && name != "mnist");
    folder(place, &["mnist", "raw"], |name| !other(name))
}

/// The folder of Fashion-MNIST's files, which its name has to tell.
pub(super) fn find_fashion(place: &Path) -> Option<PathBuf> {
    folder(place, &["fashion", "fashionmnist", "raw"], is_fashion)
}

fn is_fashion(name: &str) -> bool {
    name.contains("fashion")
}

/// `place` or a folder in it that holds the files, if its plain name fits; torchvision puts them into `MNIST/raw`.
fn folder(place: &Path, names: &[&str], fits: impl Fn(&str) -> bool) -> Option<PathBuf> {
    const FIRST: [&str; 3] = [
        "train-images-idx3-ubyte",
        "train-images-idx3-ubyte.gz",
        "train-images.idx3-ubyte",
    ];
    let holds = |folder: &Path| FIRST.iter().any(|name| folder.join(name).is_file());
    let telling = |folder: &Path| match (lookup::plain_name(folder), folder.parent()) {
        (name, Some(parent)) if name == "raw" => lookup::plain_name(parent),
        (name, _) => name,
    };
    let below = lookup::children_named(place, names);
    let below = below.into_iter().flat_map(|folder| [folder.join("raw"), folder]);
    let mut candidates = std::iter::once(place.to_owned()).chain(below);
    candidates.find(|folder| holds(folder) && fits(&telling(folder)))
}

/// Reads the four files, each held against the sum of the published one.
pub(super) fn read(found: &Path, fashion: bool) -> Result<[Pictures; 2]> {
    let unpack = |member: Member| {
        let file = file_of(&member.name).expect("only these are wanted");
        checksum::verify(&member.bytes, file.sums[usize::from(fashion)], &member.path)?;
        idx::values(member, file.sizes).map(|bytes| (file.name, bytes))
    };
    let members = Archive::at(found).read(&|path| !path.contains('/') && file_of(path).is_some(), unpack)?;
    pictures(found, members.into_list().into_iter().map(|(_, file)| file).collect())
}

fn pictures(found: &Path, mut files: Vec<(&'static str, Vec<u8>)>) -> Result<[Pictures; 2]> {
    let mut take = |wanted: &str| {
        let position = files.iter().position(|(name, _)| *name == wanted);
        let absent = || Error::format(found, "", format!("no {wanted}"), "four IDX files, plain or .gz");
        position
            .map(|position| files.swap_remove(position).1)
            .ok_or_else(absent)
    };
    let train = Pictures {
        bytes: take("train-images")?,
        labels: take("train-labels")?,
    };
    let test = Pictures {
        bytes: take("t10k-images")?,
        labels: take("t10k-labels")?,
    };
    Ok([train, test])
}
