//! CIFAR-10: 50,000 + 10,000 pictures of 32 x 32 in three colors, in binary batches.
//!
//! ```text
//! u8 class | u8 red[1024] | u8 green[1024] | u8 blue[1024]        10,000 times in each of data_batch_1..5.bin, test_batch.bin
//! ```
//!
//! Krizhevsky, "Learning multiple layers of features from tiny images", 2009.

use std::path::{Path, PathBuf};

use super::Pictures;
use crate::data::archive::{Archive, Member};
use crate::data::{checksum, lookup};
use crate::{Error, Result};

const PIXELS: usize = 1024;
const RECORD: usize = 1 + 3 * PIXELS;
/// The batches with their CRC-32; the last one is the test part.
const BATCHES: [(&str, u32); 6] = [
    ("data_batch_1.bin", 0xb322_0c1f),
    ("data_batch_2.bin", 0xc439_a348),
    ("data_batch_3.bin", 0x8c6f_54f0),
    ("data_batch_4.bin", 0x6a83_637e),
    ("data_batch_5.bin", 0x2f35_5afd),
    ("test_batch.bin", 0x1977_7d49),
];

/// The folder of the batches, or the archive.
pub(super) fn find(place: &Path) -> Option<PathBuf> {
    lookup::folder(place, &["cifar10batchesbin", "cifar10"], BATCHES[0].0)
        .or_else(|| lookup::archives(place, &["cifar10binary"]).into_iter().next())
}

/// Reads the six batches, each held against the sum of the published one.
pub(super) fn read(found: &Path) -> Result<[Pictures; 2]> {
    let batch_of = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        BATCHES.iter().find(|&&(batch, _)| batch == name)
    };
    let unpack = |member: Member| {
        let &(_, sum) = batch_of(&member.name).expect("only these are wanted");
        checksum::verify(&member.bytes, sum, &member.path)?;
        decode(&member)
    };
    let mut batches = Archive::at(found).read(&|path| batch_of(path).is_some(), unpack)?;
    let mut train = Pictures {
        bytes: Vec::with_capacity(50_000 * 3 * PIXELS),
        labels: Vec::new(),
    };
    for (name, _) in &BATCHES[..5] {
        let mut batch = batches.take(name)?;
        train.bytes.append(&mut batch.bytes);
        train.labels.append(&mut batch.labels);
    }
    Ok([train, batches.take(BATCHES[5].0)?])
}

/// Classes, and pictures with the colors of each pixel side by side.
fn decode(Member { path, bytes, .. }: &Member) -> Result<Pictures> {
    if !bytes.len().is_multiple_of(RECORD) {
        let found = format!("{} bytes", bytes.len());
        return Err(Error::format(path, "", found, format!("a multiple of {RECORD}")));
    }
    let mut pictures = Pictures {
        bytes: Vec::with_capacity(bytes.len()),
        labels: Vec::new(),
    };
    for (number, record) in (1..).zip(bytes.chunks_exact(RECORD)) {
        let (label, planes) = (record[0], &record[1..]);
        if label > 9 {
            let found = format!("class {label}");
            return Err(Error::format(path, format!(", picture {number}"), found, "0 to 9"));
        }
        pictures.labels.push(label);
        for pixel in 0..PIXELS {
            pictures
                .bytes
                .extend([0, 1, 2].map(|color| planes[color * PIXELS + pixel]));
        }
    }
    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(bytes: Vec<u8>) -> Member {
        Member {
            name: String::new(),
            path: "f.bin".into(),
            bytes,
        }
    }

    #[test]
    fn colors_of_a_pixel_stand_side_by_side() {
        let mut record = vec![7];
        for color in [10, 20, 30] {
            record.extend((0..PIXELS).map(|pixel| color + (pixel % 5) as u8));
        }
        let pictures = decode(&member(record.repeat(2))).unwrap();
        assert_eq!(pictures.labels, [7, 7]);
        assert_eq!(pictures.bytes[..6], [10, 20, 30, 11, 21, 31]);
        assert_eq!(pictures.bytes[3 * PIXELS + 6..][..3], [12, 22, 32]);
    }

    #[test]
    fn refusals() {
        let error = |bytes| decode(&member(bytes)).err().unwrap().to_string();
        assert_eq!(
            error(vec![0; RECORD - 1]),
            "f.bin: found 3072 bytes, expected a multiple of 3073"
        );
        assert_eq!(
            error(vec![10; RECORD]),
            "f.bin, picture 1: found class 10, expected 0 to 9"
        );
    }
}
