//! Models for devices, and streams, with the real binary.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Place, easy_csv, finish};

fn trained(flags: &str) -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok(&format!("train train.csv --epochs 2 --hidden 6 {flags} --out run"));
    place
}

fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn a_model_becomes_c_and_rust() {
    let place = trained("--cell ernn --rank 2");
    let done = place.ok("export run --to c --out c --name easy");
    assert_eq!(done.stdout, "c\n");
    for part in [
        "compared with the library on 112 steps of 16 sequences",
        "flash: ",
        "RAM: ",
    ] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    let said = if has("cc") {
        "the self-test passes, all logits are the same bits"
    } else {
        "no C compiler"
    };
    assert!(done.stderr.contains(said), "{}", done.stderr);
    assert!(place.text("c/easy.h").contains("int easy_push(easy_state *state"));
    assert!(place.text("c/easy.c").contains("#include \"easy.h\""));
    let done = place.ok("export run --to rust --out crate --calibrate train.csv");
    assert!(done.stderr.contains("the self-test passes"), "{}", done.stderr);
    assert!(
        place
            .text("crate/src/lib.rs")
            .contains("pub const CLASSES: &[&str] = &[\"down\", \"up\"];")
    );
    let order = "they are normalized here. Their order:\n//!\n//! - 0: `x`\n//! - 1: `y`\n//!\n";
    assert!(
        place.text("crate/src/lib.rs").contains(order),
        "{}",
        place.text("crate/src/lib.rs")
    );
}

/// A device takes numbers: which token is which, a file beside the code says.
#[test]
fn the_tokens_of_a_model_of_text_lie_beside_its_code() {
    let place = Place::new();
    place.write("text.txt", "a rose is a rose\n".repeat(40));
    place.ok("train text.txt --tokens characters --cell gru --hidden 6 --epochs 1 --out run");
    for target in ["c", "rust"] {
        place.ok(&format!("export run --to {target} --out {target}"));
        let tokens: Vec<String> = serde_json::from_str(&place.text(&format!("{target}/vocabulary.json"))).unwrap();
        for token in ["a", " ", "r"] {
            assert!(tokens.iter().any(|known| known == token), "{tokens:?}");
        }
    }
    assert!(place.text("c/c.h").contains("in the order of vocabulary.json"));
    let place = trained("--cell gru");
    place.ok("export run --to c --out c --name ernn");
    assert!(!place.path("c/vocabulary.json").exists());
}

#[test]
fn whole_numbers_say_what_they_cost() {
    let place = trained("--cell fastgrnn --rank full");
    let done = place.ok("export run --to c --out c --format int8 --calibrate train.csv");
    for part in [
        "accuracy on the validation part",
        "% in f32",
        "% in int8",
        "saturations on the",
        "have no bound",
    ] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    let done = place.fails(
        "export run --to c --out d --format int8",
        2,
        &["--format int8 needs --calibrate"],
    );
    assert!(done.stdout.is_empty() && !place.path("d").exists());
}

/// What whole numbers lose is said in points where it is much, and what states of 16 bits would lose.
#[test]
fn a_plain_loss_of_accuracy_is_warned_of() {
    let place = Place::new();
    // Small steps over a long sequence, which whole numbers forget.
    let mut text = String::from("series,label,x\n");
    for (series, step) in (0..60).flat_map(|series| (0..200).map(move |step| (series, step))) {
        let noise = ((series * 7919 + step * 104_729) % 211) as f64 / 61.0 - 1.72;
        let sign = if series % 2 == 0 { 0.3 } else { -0.3 };
        text += &format!("s{series},{},{:.3}\n", ["a", "b"][series % 2], sign + noise);
    }
    place.write("train.csv", text);
    let flags = "--cell ernn --rank 2 --hidden 6 --eta 0.01 --steps per-iteration --pooling last --differences false --input-noise 0";
    place.ok(&format!(
        "train train.csv {flags} --epochs 100 --batch-size 16 --validation 0.2 --out run"
    ));
    let export = "export run --to c --format int8 --calibrate train.csv";
    let done = place.ok(&format!("{export} --state int8 --out narrow"));
    for part in [
        "warning: int8 loses ",
        " points of accuracy (",
        " % instead of ",
        "with --state int16, the default, it is ",
    ] {
        assert!(done.stderr.contains(part), "no `{part}` in {}", done.stderr);
    }
    let place = trained("--cell gru");
    let done = place.ok("export run --to c --out c --format int8 --calibrate train.csv");
    assert!(!done.stderr.contains("warning: int8 loses"), "{}", done.stderr);
}

#[test]
fn an_export_makes_the_folders_that_it_lies_in() {
    let place = trained("--cell gru");
    for to in ["c", "safetensors", "onnx", "torch"] {
        place.ok(&format!("export run --to {to} --out a/{to}/b"));
        assert!(place.path(&format!("a/{to}/b")).exists());
    }
}

/// Half the memory a stream, and the same sizes otherwise.
#[test]
fn states_of_8_bits_take_half_the_memory() {
    let place = trained("--cell gru --pooling mean --differences false");
    let ram = |state: &str| -> u32 {
        let done = place.ok(&format!(
            "export run --to c --out {state} --format int8 --state {state} --calibrate train.csv"
        ));
        let rest = done.stderr.split("RAM: ").nth(1).unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    // Steps and saturations; six states, and six sums of 32 bits.
    assert_eq!((ram("int16"), ram("int8")), (8 + 12 + 24, 8 + 8 + 24));
    assert!(place.text("int8/int8.h").contains("typedef int8_t int8_number;"));
    // Beside them six sums of squares of 64 bits, and six largest values of a state's bits.
    let place = trained("--cell gru --pooling mean-std-max --differences false");
    for (state, bytes) in [("int16", 8 + 12 + 24 + 48 + 12), ("int8", 8 + 6 + 24 + 48 + 6)] {
        let flags = format!("--format int8 --state {state} --calibrate train.csv");
        let done = place.ok(&format!("export run --to c --out {state} {flags}"));
        assert!(done.stderr.contains(&format!("RAM: {bytes} ")), "{}", done.stderr);
    }
    let place = trained("--cell gru --pooling mean --differences false");
    place.fails(
        "export run --to c --out f --state int8",
        2,
        &["--state is for --format int8 alone"],
    );
}

#[test]
fn an_exact_ernn_is_exported_in_f32_alone() {
    let place = trained("--cell ernn --rank 2 --solver newton --contract 0.9");
    let done = place.ok("export run --to c --out c --name ernn");
    assert!(
        done.stderr.contains("compared with the library on 112 steps"),
        "{}",
        done.stderr
    );
    assert!(place.text("c/ernn.c").contains("static void newton_step("));
    place.fails(
        "export run --to c --out d --format int8 --calibrate train.csv",
        2,
        &[
            "solver: found a cell at its equilibrium",
            "without a bound",
            "expected f32 on the device",
        ],
    );
}

#[test]
fn what_no_device_runs_is_refused() {
    let place = trained("--cell rnn --bidirectional");
    place.fails(
        "export run --to c --out a",
        2,
        &["bidirectional: found true", "a stream does not have"],
    );
    place.fails("predict run --stream", 2, &["bidirectional: found true"]);
    let place = trained("--cell rnn");
    place.fails(
        "export run --to c --out a --name Ab",
        2,
        &["name: found Ab, expected a name of a-z"],
    );
    place.fails(
        "export run --to torch --out a --name ab",
        2,
        &["--name is for --to c, rust and web alone"],
    );
    place.fails("export run --to rust --out a --calibrate none.csv", 1, &["none.csv"]);
    assert!(!place.path("a").exists());
}

/// What a stream says after a sequence's last step is what `predict` says about the whole sequence, digit by digit.
#[test]
fn a_stream_ends_where_the_whole_sequence_does() {
    for flags in [
        "--cell ernn --rank 2",
        "--cell lstm --layers 2",
        "--cell gru --pooling mean",
        "--cell gru --pooling mean-std-max",
        "--cell lstm --pooling mean-max-last",
    ] {
        let place = trained(flags);
        let whole = place.ok("predict run train.csv --format json --digits 17").stdout;
        let mut lines = String::new();
        let csv = place.text("train.csv");
        let mut last = "s0";
        for line in csv.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            if fields[0] != last {
                lines += "\n";
                last = fields[0];
            }
            lines += &format!("{}, {}\n", fields[2], fields[3]);
        }
        let said = fed(&place, "predict run --stream --format json --digits 17", &lines);
        let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ends = (0..said.len()).filter(|&at| said.get(at + 1).is_none_or(|next| next["step"] == 1));
        let ends: Vec<&Value> = ends.map(|at| &said[at]).collect();
        let whole: Vec<Value> = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(ends.len(), whole.len(), "{flags}");
        for (end, whole) in ends.into_iter().zip(&whole) {
            assert_eq!(
                (&end["class"], &end["probabilities"]),
                (&whole["class"], &whole["probabilities"]),
                "{flags}"
            );
        }
    }
}

fn fed(place: &Place, arguments: &str, lines: &str) -> String {
    let mut command = place.command(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines = lines.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let done = finish(child.wait_with_output().unwrap());
    let _ = writer.join();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    done.stdout
}

/// Each line is answered before the next one is written.
#[test]
fn a_stream_answers_at_once_and_every_n_steps() {
    let place = trained("--cell rnn");
    let mut command = place.command("predict run --stream");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (
        child.stdin.take().unwrap(),
        BufReader::new(child.stdout.take().unwrap()),
    );
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "step,class,p_down,p_up\n");
    for step in 1..4 {
        stdin.write_all(b"0.5 1\n").unwrap();
        line.clear();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("{step},")), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let said = fed(&place, "predict run --stream --every 3", &"1,2\n".repeat(7));
    let steps: Vec<&str> = said
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(steps, ["3", "6"]);
}

#[test]
fn lines_that_are_no_steps_are_named() {
    let place = trained("--cell rnn");
    for (lines, part) in [
        (
            "1,2\n1,x\n",
            "standard input, line 2: value 2: found `x`, expected a number",
        ),
        ("1\n", "standard input, line 1: found 1 values, expected 2 (x, y)"),
        (
            "1,nan\n",
            "line 1: value 2: found a missing value (`nan`), expected a number (--missing previous or zero fills it)",
        ),
        ("1,,2\n", "value 2: found a missing value (``)"),
    ] {
        let mut command = place.command("predict run --stream");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let done = finish(child.wait_with_output().unwrap());
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stderr.contains(part), "no `{part}` in {}", done.stderr);
    }
    place.fails("predict run --stream train.csv", 2, &["cannot be used with"]);
    place.fails("predict run", 2, &["FILE"]);
    place.fails("predict run train.csv --every 2", 2, &["--stream"]);
}
