//! `ernn export --to onnx` with the real binary: every cell, the parity that it prints, and ONNX Runtime against `ernn predict`.

#[path = "../../ernn/tests/support/onnx_runtime.rs"]
mod onnx_runtime;
mod support;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use support::{Place, easy_csv};

/// Flags of `ernn train` for each cell and its variants, and by what its layers are computed.
const MODELS: [(&str, &str, &str); 19] = [
    ("rnn", "--cell rnn --rank full", "layers (rnn) by the operators of ONNX"),
    (
        "rnn-low-rank",
        "--cell rnn --rank 2 --activation relu",
        "by the operators of ONNX",
    ),
    (
        "lstm",
        "--cell lstm --rank full --layers 2",
        "layers (lstm, lstm) by the operators",
    ),
    (
        "lstm-hard-tanh",
        "--cell lstm --rank 2 --activation hard-tanh",
        "layers (lstm) by Scan",
    ),
    (
        "gru-after",
        "--cell gru --rank 2 --bidirectional",
        "by the operators of ONNX",
    ),
    (
        "gru-before",
        "--cell gru --rank full --reset before --gate-activation hard-sigmoid",
        "by the operators of ONNX",
    ),
    (
        "spectral",
        "--cell spectral --pooling mean",
        "layers (spectral) by the operators of ONNX",
    ),
    ("ernn", "--cell ernn --rank 2", "layers (ernn) by Scan"),
    (
        "ernn-three-iterations",
        "--cell ernn --rank 2 --iterations 3 --pooling mean-max-last",
        "by Scan",
    ),
    (
        "ernn-dense",
        "--cell ernn --rank full --steps per-iteration --start zero --sign minus",
        "by Scan",
    ),
    ("fastrnn", "--cell fastrnn --rank full", "layers (fastrnn) by Scan"),
    (
        "ernn-derived",
        "--cell ernn --rank 2 --differences --compress",
        "layers (ernn) by Scan",
    ),
    (
        "fastgrnn",
        "--cell fastgrnn --rank 2 --layers 2 --bidirectional",
        "layers (fastgrnn, fastgrnn) by Scan",
    ),
    (
        "fastgrnn-hard",
        "--cell fastgrnn --activation hard-tanh --gate-activation hard-sigmoid",
        "by Scan",
    ),
    (
        "ugrnn",
        "--cell ugrnn --rank full --bidirectional --pooling mean-std-max",
        "by Scan",
    ),
    ("antisymmetric", "--cell antisymmetric --rank full", "by Scan"),
    ("antisymmetric-low-rank", "--cell antisymmetric --rank 2", "by Scan"),
    ("gated-antisymmetric", "--cell gated-antisymmetric --rank 2", "by Scan"),
    ("deep-transition", "--cell deep-transition --iterations 2", "by Scan"),
];

/// The sequences of [`easy_csv`], in the order of the file.
fn sequences(text: &str) -> Vec<Vec<[f64; 2]>> {
    let mut sequences: BTreeMap<usize, Vec<[f64; 2]>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let series = cells[0][1..].parse().unwrap();
        let row = [2, 3].map(|place: usize| cells[place].parse().unwrap());
        sequences.entry(series).or_default().push(row);
    }
    sequences.into_values().collect()
}

/// What `ernn predict` says, as `reference/onnx_runtime.py` reads it.
fn expected(place: &Place, run: &str, data: &str) -> Value {
    let lines = place
        .ok(&format!("predict {run} data.csv --format json --digits 17"))
        .stdout;
    let row = |line: &str| -> Vec<f64> {
        let line: Value = serde_json::from_str(line).unwrap();
        // In the order of the classes, which is that of the model.
        ["down", "up"]
            .map(|class| line["probabilities"][class].as_f64().unwrap())
            .to_vec()
    };
    let rows: Vec<_> = lines.lines().map(row).collect();
    json!({"sequences": sequences(data), "output": "probabilities", "expected": rows})
}

#[test]
fn every_cell_is_exported_and_predicts_the_same_in_onnx_runtime() {
    let place = Place::new();
    let data = easy_csv(12);
    place.write("data.csv", &data);
    fs::create_dir(place.path("out")).unwrap();
    for (name, flags, means) in MODELS {
        place.ok(&format!("train data.csv --epochs 1 --hidden 6 {flags} --out {name}"));
        let done = place.ok(&format!("export {name} --to onnx --out out/{name}.onnx"));
        assert_eq!(done.stdout, format!("out/{name}.onnx\n"));
        for part in [
            "note: opset 17; inputs input [batch, steps, 2], float32, not normalized, and sequence_lens [batch], int32",
            "outputs logits and probabilities [batch, 2]",
            means,
            "note: parity: ",
            "the largest difference is ",
        ] {
            assert!(done.stderr.contains(part), "{name}: no `{part}` in: {}", done.stderr);
        }
        place.write(&format!("out/{name}.json"), expected(&place, name, &data).to_string());
    }
    if let Some(said) = onnx_runtime::run(&place.path("out"), 1e-5) {
        assert!(
            said.contains(&format!("{} files in ONNX Runtime", MODELS.len())),
            "{said}"
        );
    }
}

#[test]
fn the_file_says_what_the_classes_and_channels_are() {
    let place = Place::new();
    place.write("data.csv", easy_csv(12));
    place.ok("train data.csv --epochs 1 --hidden 6 --cell fastrnn --out run");
    place.ok("export run --to onnx --out a.onnx");
    place.ok("export run/model.safetensors --to onnx --out b.onnx");
    let bytes = place.read("a.onnx");
    assert_eq!(bytes, place.read("b.onnx"), "equal models give equal bytes");
    let text = String::from_utf8_lossy(&bytes);
    for part in [
        r#"["down","up"]"#,
        r#"["x","y"]"#,
        "classification",
        "sequence_lens",
        "probabilities",
    ] {
        assert!(text.contains(part), "no {part} in the file");
    }
}

#[test]
fn refusals_say_what_is_wrong_and_write_nothing() {
    let place = Place::new();
    place.write("data.csv", easy_csv(12));
    place.ok("train data.csv --epochs 1 --hidden 6 --cell fastrnn --out run");
    place.write("taken.onnx", "mine");
    place.fails(
        "export run --to onnx --out taken.onnx",
        2,
        &["--out: found taken.onnx, where something lies already"],
    );
    assert_eq!(place.text("taken.onnx"), "mine");
    place.fails(
        "export run --to onnx --out taken.onnx/a.onnx",
        1,
        &["taken.onnx", "cannot create"],
    );
    place.fails(
        "export nowhere --to onnx --out a.onnx",
        1,
        &["nowhere: no run folder or model file of this name"],
    );
    place.fails("export run --to onnx", 2, &["--out"]);
    place.write("broken.safetensors", &place.read("run/model.safetensors")[..500]);
    place.fails(
        "export broken.safetensors --to onnx --out a.onnx",
        1,
        &["broken.safetensors"],
    );
    assert!(!place.path("a.onnx").exists());
}
