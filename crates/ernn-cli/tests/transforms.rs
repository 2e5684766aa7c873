//! Input transforms with the real binary: they are part of the model, wherever it goes.

mod support;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use support::{Place, finish};

/// Three directions around 9.8; only how much they move at rest tells the classes apart. Of `count` sequences of a table.
fn motion(count: usize) -> String {
    let mut text = String::from("series,step,ax,ay,az,label\n");
    let mut state = 7_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    for series in 0..count {
        let (label, size) = if series % 2 == 0 {
            ("still", 0.002)
        } else {
            ("held", 0.02)
        };
        let offsets = [0.0, 9.8, 0.0].map(|offset| offset + 4.0 * noise());
        for step in 0..20 + series % 4 {
            let _ = write!(text, "s{series},{step}");
            for offset in offsets {
                let _ = write!(text, ",{}", offset + size * noise());
            }
            let _ = writeln!(text, ",{label}");
        }
    }
    text
}

/// A place with the table and a run that has all transforms.
fn trained() -> Place {
    let place = Place::new();
    place.write("motion.csv", motion(60));
    place.ok(
        "train motion.csv --out run --epochs 15 --hidden 8 --rank 2 --compress --differences --magnitudes --input-noise 0 --threads 1",
    );
    place
}

#[test]
fn small_motions_are_told_apart_by_compressed_channels_alone() {
    let place = Place::new();
    place.write("motion.csv", motion(240));
    let accuracy = |flags: &str| {
        let report = place.json(&format!(
            "train motion.csv --epochs 40 --batch-size 8 --hidden 16 --rank 4 --pooling mean --input-noise 0 --differences false {flags}"
        ));
        report["accuracy"].as_f64().unwrap_or_else(|| panic!("{report}"))
    };
    let (plain, compressed) = (accuracy(""), accuracy("--compress"));
    assert!(compressed > 0.95, "{plain} {compressed}");
    assert!(plain < compressed - 0.1, "{plain} {compressed}");
}

#[test]
fn settings_and_model_say_what_is_derived() {
    let place = trained();
    let config = place.text("run/config.toml");
    assert!(
        config.contains("[model.transforms]\ndifferences = true\ncompress = true\nmagnitudes = true\n"),
        "{config}"
    );
    let said = place.ok("inspect run").stdout;
    for part in [
        "size: 3 values a step and 7 derived ones",
        "difference of ax",
        "compressed of az",
        "magnitude of ax, ay, az",
        "compressed channel",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let content = place.json("inspect run");
    assert_eq!(content["config"]["input_size"], 10);
    assert_eq!(content["derivation"]["scales"].as_array().unwrap().len(), 3);
    assert_eq!(content["derivation"]["triads"], serde_json::json!([[0, 1, 2]]));
    // Without transforms nothing of them is written.
    place.ok("train motion.csv --out plain --epochs 1 --hidden 4 --rank 2 --differences false");
    assert!(!place.text("plain/config.toml").contains("transforms"));
    let plain = place.ok("inspect plain --json").stdout;
    assert!(!plain.contains("derivation"), "{plain}");
    let model = String::from_utf8_lossy(&place.read("plain/model.safetensors")).into_owned();
    assert!(!model.contains("derivation") && !model.contains("transforms"));
}

#[test]
fn runs_repeat_and_go_on_with_their_transforms() {
    let place = trained();
    place.ok("train --config run/config.toml --out again --threads 2");
    assert!(place.read("run/model.safetensors") == place.read("again/model.safetensors"));
    place.ok("train --resume run --epochs 16");
    let flags = "--epochs 1 --hidden 8 --rank 2";
    // Flags change what a file says.
    place.ok(&format!(
        "train --config run/config.toml --magnitudes false {flags} --out less"
    ));
    assert!(place.text("less/config.toml").contains("magnitudes = false"));
    place.fails(
        &format!("train motion.csv --from again/model.safetensors {flags} --out other"),
        2,
        &["from: found"],
    );
}

/// The probabilities of each line.
fn probabilities(said: &str) -> Vec<Vec<String>> {
    let rows = said.lines().skip(1);
    rows.map(|row| row.rsplit(',').take(2).map(String::from).collect())
        .collect()
}

fn fed(place: &Place, arguments: &str, lines: String) -> String {
    let mut command = place.command(arguments);
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let done = finish(child.wait_with_output().unwrap());
    let _ = writer.join();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    done.stdout
}

#[test]
fn a_stream_has_the_bits_of_the_whole_sequence() {
    let place = trained();
    let table = place.text("motion.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let mut lines = String::new();
    for (place, row) in rows.iter().enumerate() {
        if place > 0 && row[0] != rows[place - 1][0] {
            lines.push('\n');
        }
        lines += &format!("{}\n", row[2..5].join(","));
    }
    let whole = probabilities(&place.ok("predict run motion.csv").stdout);
    let steps = probabilities(&fed(&place, "predict run --stream", lines));
    let ends = rows
        .iter()
        .enumerate()
        .filter(|(place, row)| rows.get(place + 1).is_none_or(|next| next[0] != row[0]));
    let ends: Vec<Vec<String>> = ends.map(|(place, _)| steps[place].clone()).collect();
    assert_eq!(ends.len(), 60);
    assert_eq!(ends, whole);
    let evaluation: Value = place.json("evaluate run motion.csv");
    assert_eq!(evaluation["examples"], 12, "{evaluation}");
}

#[test]
fn every_export_derives_the_channels_itself() {
    let place = trained();
    for (to, flags, part) in [
        ("c", "", "compared with the library"),
        ("c", "--format int8 --calibrate motion.csv", "bytes of tables"),
        ("onnx", "", "parity: the file's bytes"),
    ] {
        let out = format!("{to}{}", flags.len());
        let done = place.ok(&format!("export run --to {to} --out {out} {flags}"));
        let said = done.stdout + &done.stderr;
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    // What others' files cannot hold is said.
    place.ok("train motion.csv --out gru --cell gru --epochs 1 --hidden 4 --differences");
    let done = place.ok("export gru --to torch --out torch.safetensors");
    let said = done.stdout + &done.stderr;
    let note =
        "the model reads derived channels behind those of the data, which the file does not compute: difference of ax;";
    assert!(said.contains(note), "{said}");
}

#[test]
fn comparisons_vary_transforms_by_their_names() {
    let place = Place::new();
    place.write("motion.csv", motion(24));
    let flags = "--epochs 2 --hidden 4 --rank 2 --differences false --pooling last --steps per-step";
    place.ok(&format!(
        "compare motion.csv --cells ernn --vary compress=false,true {flags} --out both"
    ));
    let table = place.text("both/compare.csv");
    // Twice the channels are more parameters.
    for (name, parameters) in [("ernn-k1-compress-false", ",65,"), ("ernn-k1-compress-true", ",77,")] {
        let row = table.lines().find(|line| line.starts_with(name)).unwrap_or(&table);
        assert!(row.contains(parameters), "{row}");
    }
}

#[test]
fn what_cannot_be_derived_is_refused() {
    let place = Place::new();
    place.write(
        "ab.csv",
        "series,step,a,b,label\ns0,0,1,2,u\ns1,0,2,3,v\ns2,0,2,3,v\ns3,0,2,3,u\n",
    );
    place.fails(
        "train ab.csv --magnitudes --epochs 1",
        2,
        &["magnitudes: found the channels a, b, expected names that end in x, y, z"],
    );
    place.fails(
        "train ab.csv --magnitudes --triads a,b,c --epochs 1",
        2,
        &["triads: found c, expected one of the channels a, b"],
    );
    place.write("train.txt", "to be or not to be that is the question ".repeat(20));
    place.fails(
        "train train.txt --differences --epochs 1",
        2,
        &["differences: found true for sequences of tokens, expected false (--differences false)"],
    );
}
