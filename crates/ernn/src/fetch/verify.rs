//! Whether a file has the content that it should have.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use md5::Md5;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// What is known about a file's content. Sums are hexadecimal, in lower case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Check {
    /// Nothing but the length that the server states.
    Length,
    /// MD5 of the file.
    Md5(&'static str),
    /// SHA-256 of the file.
    Sha256(&'static str),
    /// MD5 of what a `.gz` unpacks to.
    Unpacked(&'static str),
    /// MD5 of files inside a `.tgz`, told by their last names.
    Members(&'static [(&'static str, &'static str)]),
}

/// `None` if the content of the file at `path`, opened at its beginning, is right, else what was found and what was expected.
///
/// # Errors
/// If the file can't be read.
pub(super) fn mismatch(check: Check, path: &Path, file: File) -> Result<Option<String>> {
    match compare(check, BufReader::with_capacity(1 << 16, file)) {
        Err(error) if error.raw_os_error().is_none() => Ok(Some(format!(
            "found packed data that is cut short or damaged ({error})"
        ))),
        outcome => outcome.map_err(Error::io(path, "read")),
    }
}

fn compare(check: Check, file: impl Read) -> io::Result<Option<String>> {
    match check {
        Check::Length => Ok(None),
        Check::Md5(expected) => Ok(differs("MD5", &sum::<Md5>(file)?, expected)),
        Check::Sha256(expected) => Ok(differs("SHA-256", &sum::<Sha256>(file)?, expected)),
        Check::Unpacked(expected) => Ok(differs(
            "MD5 of the content",
            &sum::<Md5>(MultiGzDecoder::new(file))?,
            expected,
        )),
        Check::Members(expected) => compare_members(MultiGzDecoder::new(file), expected),
    }
}

fn compare_members(tar: impl Read, expected: &[(&str, &str)]) -> io::Result<Option<String>> {
    let mut archive = tar::Archive::new(tar);
    let mut missing: Vec<&str> = expected.iter().map(|&(name, _)| name).collect();
    for entry in archive.entries()? {
        let entry = entry?;
        let path = entry.path()?.into_owned();
        let named = |name: &str| path.file_name().is_some_and(|file| file == name);
        let Some(&(name, md5)) = expected.iter().find(|(name, _)| named(name)) else {
            continue;
        };
        missing.retain(|other| *other != name);
        if let Some(text) = differs(&format!("MD5 of {name} inside"), &sum::<Md5>(entry)?, md5) {
            return Ok(Some(text));
        }
    }
    let text = || format!("found no {} inside", missing.join(", "));
    Ok((!missing.is_empty()).then(text))
}

fn differs(what: &str, found: &str, expected: &str) -> Option<String> {
    (found != expected).then(|| format!("found {what} {found}, expected {expected}"))
}

fn sum<D: Digest>(mut source: impl Read) -> io::Result<String> {
    let mut digest = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => digest.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The sums of `abc`, from the standards' own examples.
    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn right_content_passes_every_check() {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(3);
        tar.append_data(&mut header, "folder/a.txt", &b"abc"[..]).unwrap();
        let tar = packed(&tar.into_inner().unwrap());
        assert_eq!(compare(Check::Md5(MD5), &b"abc"[..]).unwrap(), None);
        assert_eq!(compare(Check::Sha256(SHA256), &b"abc"[..]).unwrap(), None);
        assert_eq!(compare(Check::Unpacked(MD5), &packed(b"abc")[..]).unwrap(), None);
        assert_eq!(compare(Check::Members(&[("a.txt", MD5)]), &tar[..]).unwrap(), None);
        let absent = compare(Check::Members(&[("a.txt", MD5), ("b.txt", MD5)]), &tar[..]).unwrap();
        assert_eq!(absent.unwrap(), "found no b.txt inside");
    }

    #[test]
    fn wrong_content_is_named() {
        let text = compare(Check::Unpacked(MD5), &packed(b"abd")[..]).unwrap().unwrap();
        assert_eq!(
            text,
            format!("found MD5 of the content 4911e516e5aa21d327512e0c8b197616, expected {MD5}")
        );
    }

    #[test]
    fn damaged_packing_is_wrong_content_and_no_failure_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        std::fs::write(&path, &packed(b"abc")[..12]).unwrap();
        let text = mismatch(Check::Unpacked(MD5), &path, File::open(&path).unwrap())
            .unwrap()
            .unwrap();
        assert!(
            text.starts_with("found packed data that is cut short or damaged"),
            "{text}"
        );
    }
}
