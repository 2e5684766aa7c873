//! Packings: how one stream of bytes was made smaller.

use std::io::{BufReader, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

/// KiB that an `.xz` file may ask for; the strongest preset needs 66,000.
const XZ_MEMORY: u32 = 512 << 10;

/// How a file was packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Xz,
}

impl Packing {
    /// The packing that a name's ending tells, and the name of what is inside.
    pub fn of(name: &str) -> (Packing, &str) {
        const ENDINGS: [(&str, Packing); 3] = [(".gz", Packing::Gzip), (".bz2", Packing::Bzip2), (".xz", Packing::Xz)];
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
        }
    }
}
