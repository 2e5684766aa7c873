//! Packings: how one stream of bytes was made smaller.

use std::io::{BufReader, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::zstd::Frames;

/// KiB that an `.xz` file may ask for; the strongest preset needs 66,000.
const XZ_MEMORY: u32 = 512 << 10;

/// How a file was packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::data) enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Packing {
    /// Bytes that tell a packing.
    pub const BEGINNING: u64 = 10;

    /// The packing that the first bytes of a file tell.
    pub fn of_content(bytes: &[u8]) -> Packing {
        match bytes {
            [0x1f, 0x8b, 8, ..] => Packing::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Packing::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// The packing that a name's ending tells, and the name of what is inside.
    pub fn of(name: &str) -> (Packing, &str) {
        const ENDINGS: [(&str, Packing); 4] = [
            (".gz", Packing::Gzip),
            (".bz2", Packing::Bzip2),
            (".xz", Packing::Xz),
            (".zst", Packing::Zstd),
        ];
        if let Some(end) = name.strip_suffix(".tgz") {
            // The dot of the ending stays the dot of `.tar`.
            return (Packing::Gzip, if end.is_empty() { name } else { "archive.tar" });
        }
        let inner = |&(ending, packing)| name.strip_suffix(ending).map(|inner| (packing, inner));
        ENDINGS.iter().find_map(inner).unwrap_or((Packing::Plain, name))
    }

    /// What an error says was expected.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "a readable file",
            Packing::Gzip => "a whole gzip file",
            Packing::Bzip2 => "a whole bzip2 file",
            Packing::Xz => "a whole xz file",
            Packing::Zstd => "a whole zstd file",
        }
    }

    /// The unpacked stream.
    pub fn unpack<'a>(self, packed: impl Read + 'a) -> Box<dyn Read + 'a> {
        let packed = BufReader::with_capacity(1 << 16, packed);
        match self {
            Packing::Plain => Box::new(packed),
            Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Packing::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Packing::Xz => Box::new(XzReader::new_mem_limit(packed, true, XZ_MEMORY)),
            Packing::Zstd => Box::new(Frames::new(packed)),
        }
    }
}
