use std::path::PathBuf;

use proptest::prelude::*;

use super::super::{Dataset, MissingPolicy, open as open_data, open_sequences, read_sequences};
use super::*;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/parquet")
        .join(name)
}

fn options(toml: &str) -> OpenOptions {
    let mut options = OpenOptions {
        table: toml::from_str(toml).unwrap(),
        missing: MissingPolicy::Zero,
        ..OpenOptions::default()
    };
    options.text.label_column = Some("state".to_owned());
    options
}

const WINDOWS: &str = "window = \"0.5s\"\nrecordings = { time_column = \"time\", rate = 50.0 }";

fn data(name: &str, toml: &str) -> Dataset {
    open_data(golden(name).to_str().unwrap(), &options(toml)).unwrap()
}

fn error(name: &str, toml: &str) -> String {
    let error = open_data(golden(name).to_str().unwrap(), &options(toml)).unwrap_err();
    error.to_string().split_once(name).unwrap().1.to_owned()
}

/// Files by pyarrow in every packing, encoding and unit of time, and the same rows as a CSV file.
#[test]
fn files_of_pyarrow_are_the_table_that_they_hold() {
    let table = data("rows.csv", WINDOWS);
    for name in ["snappy", "zstd", "gzip", "lz4", "plain"] {
        let own = data(&format!("{name}.parquet"), WINDOWS);
        assert_eq!(own.feature_names, ["x", "y", "count", "price", "light"], "{name}");
        assert_eq!(own.train.values, table.train.values, "{name}");
        assert_eq!(
            (own.classes, own.train.labels),
            (table.classes.clone(), table.train.labels.clone())
        );
        assert!(
            own.notes[0].ends_with("columns of lists or objects are not read: tags"),
            "{:?}",
            own.notes
        );
    }
    // Without a zone, as pandas long wrote times for others.
    let own = data("int96.parquet", WINDOWS);
    assert_eq!(own.train.values, table.train.values);
    let times = |name: &str| open_sequences(&golden(name), &options(WINDOWS)).unwrap().times;
    assert_eq!(times("zstd.parquet"), times("rows.csv"));
    assert!(
        times("int96.parquet")[0][0].starts_with("2026-03-01T08:00:00") && !times("int96.parquet")[0][0].ends_with('Z')
    );
}

#[test]
fn pipes_folders_and_packed_files() {
    let bytes = std::fs::read(golden("snappy.parquet")).unwrap();
    let own = read_sequences(&bytes[..], &options(WINDOWS)).unwrap();
    assert_eq!(
        own.part.values,
        open_sequences(&golden("rows.csv"), &options(WINDOWS))
            .unwrap()
            .part
            .values
    );
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::write(folder.path().join(format!("{name}.parquet")), &bytes).unwrap();
    }
    let data = open_data(folder.path().to_str().unwrap(), &options(WINDOWS)).unwrap();
    assert_eq!(data.group_names, ["a", "b"]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes).unwrap();
    let path = folder.path().join("c.parquet.gz");
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    assert_eq!(
        open_sequences(&path, &options(WINDOWS)).unwrap().part.values,
        own.part.values
    );
}

#[test]
fn refusals() {
    let unclear = error("snappy.parquet", "");
    assert!(
        unclear.contains("200 rows with the columns time (times), x (numbers)"),
        "{unclear}"
    );
    assert!(unclear.contains("--time time"), "{unclear}");
    let text = error("snappy.parquet", "window = 5\nchannels = [\"time\"]");
    assert!(
        text.starts_with(", row 1, column \"time\": found \"2026-03-01T08:00:00"),
        "{text}"
    );
    let mut asks = options(WINDOWS);
    asks.missing = MissingPolicy::Refuse;
    asks.table.recordings.rate = None;
    asks.table.window = Some("5".parse().unwrap());
    let missing = open_data(golden("plain.parquet").to_str().unwrap(), &asks)
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("plain.parquet, row 6, column \"y\": the first of 12 missing values"),
        "{missing}"
    );
    let bytes = std::fs::read(golden("zstd.parquet")).unwrap();
    for broken in [&bytes[..bytes.len() / 2], &bytes[..3], b""] {
        let found = read_bytes(broken.to_vec(), "a.parquet".as_ref(), &options(WINDOWS))
            .unwrap_err()
            .to_string();
        assert!(
            found.starts_with("a.parquet: found ") && found.contains("expected a whole Parquet file"),
            "{found}"
        );
    }
}

proptest! {
    #[test]
    fn damaged_files_never_panic(
        name in "(snappy|zstd|gzip|lz4|plain|int96)",
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        at_the_end: bool,
    ) {
        let mut bytes = std::fs::read(golden(&format!("{name}.parquet"))).unwrap();
        for (at, byte) in changes {
            let length = bytes.len();
            let at = if at_the_end { length - 1 - at.index(length / 3) } else { at.index(length) };
            bytes[at] = byte;
        }
        let _ = read_bytes(bytes, "a.parquet".as_ref(), &options(WINDOWS));
    }
}
