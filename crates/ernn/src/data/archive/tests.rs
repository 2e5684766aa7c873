use std::fs;
use std::io::Write;

use lzma_rust2::{XzOptions, XzWriter};
use proptest::prelude::*;

use super::*;

const FILES: [(&str, &[u8]); 3] = [
    ("top/a.txt", b"first"),
    ("top/deep/b.txt", b"second"),
    ("top/c.csv", b"third"),
];

/// A tar archive of these files.
fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for &(name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for &(name, bytes) in files {
        writer
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Every kind of archive with these files in it, under names that tell it.
fn archives(files: &[(&str, &[u8])]) -> Vec<(&'static str, Vec<u8>)> {
    let tar = tar_of(files);
    vec![
        ("all.zip", zip_of(files)),
        ("all.tar", tar.clone()),
        ("all.tar.gz", gzip(&tar)),
        ("all.tgz", gzip(&tar)),
        ("all.tar.bz2", bzip2(&tar)),
        ("all.tar.xz", xz(&tar)),
    ]
}

fn texts(path: &Path) -> Result<Vec<(String, String)>> {
    let read = |member: Member| Ok(String::from_utf8_lossy(&member.bytes).into_owned());
    Ok(Archive::at(path)
        .read(&|name| name.ends_with(".txt"), read)?
        .into_list())
}

fn expected() -> Vec<(String, String)> {
    vec![
        ("top/a.txt".to_owned(), "first".to_owned()),
        ("top/deep/b.txt".to_owned(), "second".to_owned()),
    ]
}

#[test]
fn every_kind_of_archive_gives_the_wanted_members() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in archives(&FILES) {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(texts(&path).unwrap(), expected(), "{name}");
    }
}

#[test]
fn a_folder_gives_its_files_in_order_and_unpacks_those_that_are_packed() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    fs::create_dir_all(base.join("top/deep")).unwrap();
    fs::write(base.join("top/deep/b.txt.xz"), xz(b"second")).unwrap();
    fs::write(base.join("top/a.txt.gz"), gzip(b"packed")).unwrap();
    fs::write(base.join("top/a.txt"), b"first").unwrap();
    fs::write(base.join("top/c.csv"), b"third").unwrap();
    assert_eq!(texts(base).unwrap(), expected());
}

#[test]
fn a_file_stands_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.txt", b"first".to_vec()),
        ("b.txt.bz2", bzip2(b"first")),
        ("c.txt.gz", gzip(b"first")),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(
            texts(&path).unwrap(),
            [(format!("{}.txt", &name[..1]), "first".to_owned())]
        );
    }
}

#[test]
fn a_zip_in_a_zip_is_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outer.zip");
    let inner = zip_of(&FILES);
    fs::write(&path, zip_of(&[("UCI Data.zip", &inner), ("more.names", b"x")])).unwrap();
    assert_eq!(texts(&path).unwrap(), expected());
}

#[test]
fn streams_behind_one_another_are_one_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, pack) in [
        ("a.txt.gz", gzip as fn(&[u8]) -> Vec<u8>),
        ("a.txt.bz2", bzip2),
        ("a.txt.xz", xz),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, [pack(b"fir"), pack(b"st")].concat()).unwrap();
        assert_eq!(texts(&path).unwrap()[0].1, "first", "{name}");
    }
}

/// Bytes that do not pack.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn an_archive_that_was_cut_short_is_refused_wherever_the_cut_is() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = (noise(4000), noise(3000));
    for (name, bytes) in archives(&[("a.txt", &first), ("b.txt", &last)]) {
        let path = folder.path().join(name);
        for end in [
            1,
            300,
            bytes.len() / 3,
            bytes.len() / 2,
            bytes.len() * 3 / 5,
            bytes.len() - 1,
        ] {
            // A plain tar ends with two blocks of zeros, and one of them is enough.
            if name == "all.tar" && end == bytes.len() - 1 {
                continue;
            }
            fs::write(&path, &bytes[..end]).unwrap();
            let error = texts(&path).map(|list| list.len()).unwrap_err().to_string();
            assert!(
                error.starts_with(&path.display().to_string()) && error.contains(": found "),
                "{end}: {error}"
            );
        }
    }
}

#[test]
fn a_member_that_was_cut_short_says_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.tar");
    let bytes = noise(4000);
    fs::write(&path, &tar_of(&[("a.txt", &bytes)])[..2000]).unwrap();
    let error = texts(&path).unwrap_err().to_string();
    let expected = "all.tar/a.txt: found 1488 bytes and then the archive's end, expected 4000 bytes";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_changed_byte_fails_the_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let content = noise(4000);
    for (name, mut bytes) in archives(&[("a.txt", &content)]) {
        if name == "all.tar" {
            continue; // has a checksum of headers alone
        }
        let path = folder.path().join(name);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(texts(&path).is_err(), "{name}");
    }
}

#[test]
fn a_size_that_a_header_only_claims_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.tar");
    let mut header = tar::Header::new_gnu();
    header.set_path("a.txt").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    fs::write(&path, [header.as_bytes().as_slice(), b"short"].concat()).unwrap();
    let error = texts(&path).unwrap_err().to_string();
    assert!(
        error.contains("a.txt: found 5 bytes and then the archive's end, expected 1099511627776 bytes"),
        "{error}"
    );
}

#[test]
fn the_first_error_of_the_work_is_the_archives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.zip");
    fs::write(&path, zip_of(&FILES)).unwrap();
    let refuse = |member: Member| -> Result<()> { Err(Error::format(&member.path, ", line 1", "x", "y")) };
    let error = Archive::at(&path)
        .read(&|name| name.contains("deep"), refuse)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("all.zip/top/deep/b.txt, line 1: found x, expected y"),
        "{error}"
    );
}

#[test]
fn an_absent_member_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.zip");
    fs::write(&path, zip_of(&FILES)).unwrap();
    let mut members = Archive::at(&path).read(&|_| true, |member| Ok(member.bytes)).unwrap();
    assert_eq!(members.take("a.txt").unwrap(), b"first");
    assert_eq!(members.take("deep/b.txt").unwrap(), b"second");
    let error = members.take(".csv").unwrap_err().to_string();
    assert!(
        error.ends_with("all.zip: found no .csv, expected the whole data set"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(kind in 0usize..6, bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0usize..200) {
        let (name, whole) = archives(&FILES).swap_remove(kind);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        // The front of a real archive, so that the reader comes beyond the magic number.
        fs::write(&path, [&whole[..keep.min(whole.len())], &bytes].concat()).unwrap();
        let _ = texts(&path);
    }
}
