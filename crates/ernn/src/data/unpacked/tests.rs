use std::io::Write;

use proptest::prelude::*;

use super::super::{Dataset, OpenOptions, open as open_data};
use super::*;

const TABLE: &str = "series,step,x,label\na,0,1.5,up\na,1,2,up\nb,0,-3,down\nb,1,1e-7,down\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::default()).unwrap();
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

type Pack = fn(&[u8]) -> Vec<u8>;
const PACKINGS: [(&str, Pack); 4] = [(".gz", gzip), (".bz2", bzip2), (".xz", xz), (".zst", zstd)];

/// What a folder with these files holds, opened by the name of one or as a whole (an empty name).
fn opened(files: &[(String, Vec<u8>)], name: &str) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let mut dataset = open_data(folder.path().join(name).to_str().unwrap(), &OpenOptions::default())?;
    dataset.name.clear();
    Ok(dataset)
}

#[test]
fn a_packed_table_is_the_table_alone_and_in_folders() {
    let plain = opened(&[("a.csv".to_string(), TABLE.into())], "a.csv").unwrap();
    assert_eq!(plain.train.len(), 2);
    for (ending, pack) in PACKINGS {
        let name = format!("A.csv{ending}");
        assert_eq!(
            opened(&[(name.clone(), pack(TABLE.as_bytes()))], &name).unwrap(),
            plain,
            "{ending}"
        );
        // The content counts, not the name.
        for (name, bytes) in [("a.csv".to_string(), pack(TABLE.as_bytes())), (name, TABLE.into())] {
            assert_eq!(opened(&[(name.clone(), bytes)], &name).unwrap(), plain, "{name}");
        }
        let test = (format!("test.csv{ending}"), pack(TABLE.as_bytes()));
        let folder = opened(&[("train.csv".to_string(), TABLE.into()), test], "").unwrap();
        assert_eq!(
            (folder.train, folder.test),
            (plain.train.clone(), Some(plain.train.clone()))
        );
    }
    let series = "@problemName s\n@univariate true\n@classLabel true a b\n@data\n1,2,3:a\n4,5,6:b\n";
    let packed = opened(&[("s.ts.zst".to_string(), zstd(series.as_bytes()))], "s.ts.zst").unwrap();
    assert_eq!(packed.train.values.numbers(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn what_is_cut_short_or_changed_is_named() {
    let rows = (0..3000).map(|step| format!("d,{step},{},up\n", step * 7919 % 1009));
    let long = format!("{TABLE}{}", rows.collect::<String>());
    for (ending, pack) in PACKINGS {
        let packed = pack(long.as_bytes());
        let name = format!("a.csv{ending}");
        for length in [packed.len() / 2, packed.len() - 3] {
            let error = opened(&[(name.clone(), packed[..length].to_vec())], &name)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("{name}: found packed data that is cut short or damaged (")),
                "{error}"
            );
            assert!(error.contains("expected a whole "), "{error}");
        }
    }
}

#[test]
fn frames_of_zstandard_follow_each_other() {
    let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &4_u32.to_le_bytes(), b"skip"].concat();
    let read = |bytes: &[u8]| {
        let mut text = String::new();
        of(bytes).unwrap().read_to_string(&mut text).map(|_| text)
    };
    let all = [zstd(b"one "), skippable.clone(), zstd(b""), zstd(b"two")].concat();
    assert_eq!(read(&all).unwrap(), "one two");
    assert!(read(&[zstd(b"one"), skippable[..10].to_vec()].concat()).is_err());
    assert!(read(&[zstd(b"one"), b"rest".to_vec()].concat()).is_err());
    // The frame ends with the checksum of what it holds.
    let mut wrong = zstd(b"one");
    *wrong.last_mut().unwrap() ^= 1;
    assert!(read(&wrong).unwrap_err().to_string().contains("a wrong checksum"));
}

#[test]
fn names_are_those_of_what_is_inside() {
    for (path, bare, end, stem_of_it) in [
        ("d/a.CSV.GZ", "a.CSV", "csv", "a"),
        ("a.b.jsonl.zst", "a.b.jsonl", "jsonl", "a.b"),
        ("a.csv", "a.csv", "csv", "a"),
        ("a.tgz", "a.tgz", "tgz", "a"),
        ("a", "a", "", "a"),
    ] {
        let path = Path::new(path);
        assert_eq!(
            (bare_name(path), ending(path), stem(path)),
            (bare.into(), end.into(), stem_of_it.into())
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_the_bytes_nothing_panics(place in 0..4_usize, at in 0..60_usize, byte: u8, more: Vec<u8>) {
        let mut packed = PACKINGS[place].1(TABLE.as_bytes());
        let at = at % packed.len();
        packed[at] = byte;
        packed.extend(more);
        let mut bytes = Vec::new();
        let _ = of(&packed[..]).and_then(|mut reader| reader.read_to_end(&mut bytes));
    }
}
