//! Files that sensors leave: arrays as recordings, JSON lines, Parquet, through the real binary.

mod support;

use std::io::Write;
use std::process::Stdio;

use support::{Place, finish};

const QUICK: &str = "--epochs 8 --hidden 8 --rank 2 --batch-size 8";
const WINDOWS: &str = "--time t --rate 50 --window 0.5s --hop 0.25s";

/// Values of a person's log: two kinds of movement that take turns.
fn row(person: usize, row: usize) -> [f32; 2] {
    let kind = row / 120 % 2;
    [
        (row as f32 * [0.2, 0.7][kind]).sin(),
        0.1 * person as f32 + (row % 3) as f32,
    ]
}

fn kind(row: usize) -> &'static str {
    ["walk", "run"][row / 120 % 2]
}

/// An array as NumPy saves it.
fn npy(descr: &str, shape: &[usize], values: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), values].concat()
}

/// The arrays of a log in an archive without compression.
fn npz(person: usize, rows: usize, labelled: bool) -> Vec<u8> {
    let values: Vec<u8> = (0..rows)
        .flat_map(|at| row(person, at))
        .flat_map(f32::to_le_bytes)
        .collect();
    let times: Vec<u8> = (0..rows).flat_map(|at| (0.02 * at as f64).to_le_bytes()).collect();
    let labels: Vec<u8> = (0..rows)
        .flat_map(|at| format!("{:4}", kind(at)).into_bytes())
        .collect();
    let mut arrays = vec![
        ("X.npy", npy("<f4", &[rows, 2], &values)),
        ("t.npy", npy("<f8", &[rows], &times)),
        ("channels.npy", npy("|S2", &[2], b"axay")),
    ];
    if labelled {
        arrays.push(("y.npy", npy("|S4", &[rows], &labels)));
    }
    stored(&arrays)
}

/// A zip archive whose files are stored as they are.
fn stored(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let offset = archive.len() as u32;
        let size = (bytes.len() as u32).to_le_bytes();
        // Version, flags, method, time, date, checksum, both sizes, lengths of the names.
        let about = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
            &crc32(bytes).to_le_bytes(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        archive.extend([b"PK\x03\x04", &about[..], name.as_bytes(), bytes].concat());
        let place = [&[0; 10][..], &offset.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\0", &about[..], &place, name.as_bytes()].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let (size, start) = (
        (directory.len() as u32).to_le_bytes(),
        (archive.len() as u32).to_le_bytes(),
    );
    [
        &archive[..],
        &directory,
        b"PK\x05\x06\0\0\0\0",
        &count,
        &count,
        &size,
        &start,
        &[0, 0],
    ]
    .concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

#[test]
fn a_folder_of_arrays_becomes_a_model_that_reads_arrays_and_tables() {
    let place = Place::new();
    for person in 0..5 {
        place.write(&format!("logs/person_{person}.npz"), npz(person, 960, true));
    }
    let facts = place.json(&format!("data info logs {WINDOWS}"));
    assert_eq!(facts["recordings"][0]["recordings"], 5, "{facts}");
    place.ok(&format!("train logs {WINDOWS} {QUICK} --out run"));
    let own = place.json("evaluate run logs --part validation");
    assert!(own["accuracy"].as_f64().unwrap() > 0.9, "{own}");
    place.write("new.npz", npz(7, 300, false));
    let mut table = String::from("t,ay,ax\n");
    for at in 0..300 {
        let [ax, ay] = row(7, at);
        table += &format!("{},{ay},{ax}\n", 0.02 * at as f64);
    }
    place.write("new.csv", table);
    let answers = place.ok("predict run new.npz").stdout;
    assert!(
        answers.starts_with("sequence,start,end,class,p_run,p_walk\n1,0,0.5,walk,"),
        "{answers}"
    );
    assert_eq!(answers, place.ok("predict run new.csv").stdout);
    // One array file, by its rows; and what a table is asked, arrays are asked, too.
    place.ok("data info new.npz --window 25 --ignore t");
    place.fails(
        "data info new.npz --window 25",
        1,
        &["new.npz: found columns", "no values to learn from: t", "--time t"],
    );
    place.fails("data info new.npz --rate 50", 2, &["rate", "--window or --time"]);
    place.fails("data info new.npz", 1, &["new.npz, array X", "[300, 2]", "--window"]);
}

#[test]
fn json_lines_of_sequences_train_a_model() {
    let place = Place::new();
    let lines = |count: usize, labelled: bool| -> String {
        let line = |sequence: usize| {
            let up = sequence.is_multiple_of(2);
            let value = |step: usize| (step as f64 + 0.1 * (sequence % 5) as f64) * if up { 0.3 } else { -0.3 };
            let steps: Vec<String> = (0..6 + sequence % 3)
                .map(|step| format!("{:.3}", value(step)))
                .collect();
            let label = if labelled {
                format!(", \"label\": \"{}\"", if up { "rise" } else { "fall" })
            } else {
                String::new()
            };
            format!("{{\"ax\": [{}]{label}}}\n", steps.join(", "))
        };
        (0..count).map(line).collect()
    };
    place.write("gestures.jsonl", lines(40, true));
    place.write("new.ndjson", lines(4, false));
    let info = place.ok("data info gestures.jsonl");
    let said = format!("{}{}", info.stdout, info.stderr);
    assert!(
        said.contains("features: ax") && said.contains("a line is a sequence"),
        "{said}"
    );
    place.ok("train gestures.jsonl --epochs 30 --out run");
    let answers = place.ok("predict run new.ndjson").stdout;
    let classes: Vec<&str> = answers
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(classes, ["rise", "fall", "rise", "fall"]);
    let mut piped = place
        .command("predict run -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    piped
        .stdin
        .take()
        .unwrap()
        .write_all(lines(4, false).as_bytes())
        .unwrap();
    assert_eq!(finish(piped.wait_with_output().unwrap()).stdout, answers);
    place.write(
        "bad.jsonl",
        lines(3, true) + "{\"ax\": [1, \"x\"], \"label\": \"rise\"}\n",
    );
    let parts = ["bad.jsonl, line 4, step 2, key \"ax\": found \"x\", expected a number"];
    place.fails("train bad.jsonl --out bad", 1, &parts);
    assert!(!place.path("bad").exists());
}

#[test]
fn json_lines_of_rows_take_the_flags_of_a_table() {
    let place = Place::new();
    let (mut lines, mut table) = (String::new(), String::from("t,ax,ay,activity\n"));
    for at in 0..960 {
        let ([ax, ay], kind, t) = (row(1, at), kind(at), 0.02 * at as f64);
        lines += &format!("{{\"t\": {t}, \"ax\": {ax}, \"ay\": {ay}, \"activity\": \"{kind}\"}}\n");
        table += &format!("{t},{ax},{ay},{kind}\n");
    }
    place.write("log.jsonl", lines);
    place.write("log.csv", table);
    let info = |file: &str| place.json(&format!("data info {file} {WINDOWS} --label-column activity"));
    let (mut own, mut other) = (info("log.jsonl"), info("log.csv"));
    for facts in [&mut own, &mut other] {
        facts
            .as_object_mut()
            .unwrap()
            .retain(|key, _| key != "name" && key != "notes");
    }
    assert_eq!(own, other);
    place.fails(
        "data info log.jsonl --window 9 --label-column activity",
        1,
        &["log.jsonl: found columns", "no values to learn from: t"],
    );
}

/// A file that pyarrow wrote, and the same rows as a table.
#[test]
fn parquet_is_a_table_or_an_error_that_says_how_to_read_it() {
    let place = Place::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../ernn/tests/golden/parquet/");
    for name in ["snappy.parquet", "rows.csv"] {
        place.write(name, std::fs::read(format!("{golden}{name}")).unwrap());
    }
    let flags = "--time time --rate 50 --window 0.5s --label-column state --missing zero";
    if cfg!(feature = "parquet") {
        place.ok(&format!("data export rows.csv {flags} --to csv --out a"));
        place.ok(&format!("data export snappy.parquet {flags} --to csv --out b"));
        assert_eq!(place.text("a.csv"), place.text("b.csv"));
    } else {
        let parts = [
            "snappy.parquet: found a Parquet file, which this build does not read",
            "--features parquet",
            "ernn.windows",
        ];
        place.fails(&format!("data info snappy.parquet {flags}"), 1, &parts);
    }
}
