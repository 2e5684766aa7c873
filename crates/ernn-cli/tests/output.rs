//! What the command prints and leaves behind.

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::{Place, easy_csv};

fn trained() -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    place.ok("train train.csv --epochs 3 --hidden 8 --rank 2 --out run");
    place
}

#[test]
fn a_run_folder_holds_all_it_should() {
    let place = trained();
    let mut names: Vec<String> = std::fs::read_dir(place.path("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "checkpoint.safetensors",
        "config.toml",
        "curves.svg",
        "metrics.jsonl",
        "model-card.md",
        "model.safetensors",
        "result.json",
    ];
    assert_eq!(names, expected);
    let metrics = place.text("run/metrics.jsonl");
    assert_eq!(metrics.lines().count(), 3);
    let first: Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    for name in [
        "epoch",
        "train_loss",
        "train_accuracy",
        "validation_loss",
        "validation_accuracy",
        "learning_rate",
        "gradient_norm",
        "seconds",
    ] {
        assert!(first[name].is_number(), "{name} in {first}");
    }
    assert!(place.text("run/curves.svg").starts_with("<svg"));
}

#[test]
fn the_report_says_what_was_done() {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    let report = place.json("train train.csv --epochs 3 --hidden 8 --rank 2 --seed 9 --threads 1");
    assert_eq!(report["part"], "validation");
    assert_eq!(report["seed"], 9);
    assert_eq!(report["cell"], "ernn");
    assert_eq!(report["epochs"], 3);
    assert_eq!(report["out"], "runs/train-ernn-1");
    assert_eq!(report["machine"]["threads"], 1);
    assert_eq!(report["settings"]["training"]["batch_size"], 32);
    assert_eq!(report["validation_accuracy"], report["accuracy"]);
    let bytes = std::fs::metadata(place.path("runs/train-ernn-1/model.safetensors"))
        .unwrap()
        .len();
    assert_eq!(report["model_bytes"], bytes);
    assert_eq!(report["nonzero_parameters"], report["parameters"]);
    assert_eq!(report["size_kb"], 4.0 * report["parameters"].as_f64().unwrap() / 1024.0);
    assert_eq!(report["per_class"][1]["name"], "up");
    assert!(report["train_seconds"].as_f64().unwrap() > 0.0);
    let again = place.json("train train.csv --epochs 1 --hidden 8 --rank 2");
    assert_eq!(again["out"], "runs/train-ernn-2");
}

#[test]
fn people_get_a_table_and_plain_lines() {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    let done = place.ok("train train.csv --epochs 2 --hidden 8 --rank 2 --out run");
    for part in [
        "accuracy",
        "balanced accuracy",
        "recall",
        "precision",
        "  up ",
        "best epoch",
        "run folder: run",
    ] {
        assert!(done.stdout.contains(part), "no `{part}` in: {}", done.stdout);
    }
    assert!(done.stderr.contains("\nepoch 2/2: loss "), "{}", done.stderr);
    assert!(!done.stderr.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn inspect_shows_all() {
    let place = trained();
    let found = place.json("inspect run");
    assert_eq!(found["classes"], serde_json::json!(["down", "up"]));
    assert_eq!(found["feature_names"], serde_json::json!(["x", "y"]));
    assert_eq!(found["config"]["layers"][0]["hidden"], 8);
    assert_eq!(found["config"]["layers"][0]["max_steps"], 7);
    assert_eq!(found["provenance"]["dataset"], "train.csv");
    // Two channels and their differences.
    assert_eq!(found["normalization"]["mean"].as_array().unwrap().len(), 4);
    let text = place.ok("inspect run/model.safetensors").stdout;
    for part in [
        "layer 0: ernn",
        "107 parameters, 428 bytes (4 bytes a nonzero parameter), in a file of",
        "hidden 8",
        "classes: down, up",
        "readout.weight",
        "trained on: train.csv",
        "[training]",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn data_list_and_info() {
    let place = Place::new();
    let text = place.ok("data list").stdout;
    for name in ["japanese-vowels", "digits", "har-2", "har-6", "built in", "--data-dir"] {
        assert!(text.contains(name), "no `{name}` in: {text}");
    }
    let list = place.json("data list");
    assert_eq!(list[0]["name"], "japanese-vowels");
    assert_eq!(list[2]["found"], Value::Null);
    place.write("gap.csv", "series,step,x,label\na,0,1,u\na,1,,u\nb,0,2,v\nb,1,3,v\n");
    let gap = place.ok("data info gap.csv").stdout;
    assert!(gap.contains(", 1 missing value (to train, choose --missing"), "{gap}");
    let gap = place.ok("data info gap.csv --missing previous").stdout;
    assert!(gap.contains(", 1 missing value filled"), "{gap}");
    let info = place.json("data info japanese-vowels");
    assert_eq!(info["features"], 12);
    assert_eq!(info["parts"][1]["sequences"], 370);
    let text = place.ok("data info japanese-vowels").stdout;
    for part in [
        "train: 270 sequences of 7 to 26 steps",
        "test: 370 sequences of 7 to 29 steps",
        "12 values a step",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn the_published_counts_are_said_to_be_there() {
    let place = Place::new();
    let text = place.ok("data info japanese-vowels").stdout;
    assert!(text.contains("sequences of each class as published"), "{text}");
    assert_eq!(place.json("data info japanese-vowels")["as_published"], true);
    assert_eq!(
        place.json("data info adding-9 --sequences 20")["as_published"],
        Value::Null
    );
}

#[test]
fn how_data_was_prepared_is_recorded_and_done_again_by_evaluate() {
    let place = Place::new();
    place.ok("train adding-12 --sequences 60 --data-seed 5 --epochs 1 --hidden 4 --rank 2 --out run");
    let config = place.text("run/config.toml");
    for line in [
        "[data.preparation]",
        "data_seed = 5",
        "noise = \"independent\"",
        "split = \"persons\"",
        "sequences = 60",
    ] {
        assert!(config.contains(line), "no `{line}` in: {config}");
    }
    let loss = |arguments: &str| place.json(arguments)["loss"].clone();
    let reported: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(loss("evaluate run adding-12"), reported["loss"]);
    assert_ne!(loss("evaluate run adding-12 --data-seed 6"), reported["loss"]);
}

#[test]
fn a_closed_stdout_is_no_panic() {
    let place = trained();
    for arguments in [
        "predict run train.csv",
        "inspect run",
        "data list",
        "data info japanese-vowels --json",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(arguments);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        // The command holds the writing end too until it goes.
        drop(command);
        let done = support::finish(child.wait_with_output().unwrap());
        assert_eq!(done.code, Some(0), "{arguments}: {}", done.stderr);
        assert_eq!(done.stderr, "", "{arguments}");
    }
}

#[test]
fn sequences_longer_than_the_training_ones_are_announced() {
    let place = trained();
    place.ok("train train.csv --epochs 1 --hidden 8 --rank 2 --steps per-step --out sized");
    let mut text = String::from("series,step,x,y\n");
    (0..30).for_each(|step| text += &format!("a,{step},{step},0.5\n"));
    place.write("long.csv", text);
    let done = place.ok("predict sized long.csv");
    assert!(
        done.stderr
            .contains("found sequences of up to 30 steps; the model learned step sizes for 7"),
        "{}",
        done.stderr
    );
}

#[test]
fn channels_in_another_order_are_the_same_channels() {
    let place = trained();
    let swapped: String = easy_csv(60)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},{}\n", cells[0], cells[1], cells[3], cells[2], cells[4])
        })
        .collect();
    place.write("swapped.csv", swapped);
    let straight = place.ok("predict run train.csv").stdout;
    assert_eq!(place.ok("predict run swapped.csv").stdout, straight);
    let accuracy = |file: &str| place.json(&format!("evaluate run {file} --part train"))["accuracy"].clone();
    place.write("copy.csv", easy_csv(60) + "new,0,0.5,0.5,up\n");
    place.write("swapped.csv", place.text("swapped.csv") + "new,0,0.5,0.5,up\n");
    assert_eq!(accuracy("copy.csv"), accuracy("swapped.csv"));
}

#[test]
fn the_flags_are_described() {
    let place = Place::new();
    let help = place.ok("train --help").stdout;
    for flag in [
        "--cell",
        "--hidden",
        "--rank",
        "--iterations",
        "--activation",
        "--epochs",
        "--batch-size",
        "--learning-rate",
        "--halve-every",
        "--clip-norm",
        "--validation",
        "--class-weights",
        "--seed",
        "--threads",
        "--missing",
        "--config",
        "--out",
        "--resume",
        "--json",
        "--input-noise",
        "--weight-decay",
        "--dropout",
        "--start",
        "--sign",
        "--steps",
        "--gamma",
        "--eta",
        "--projection",
        "--layers",
        "--pooling",
        "--optimizer",
        "--schedule",
        "--sparsity",
        "--patience",
        "--data-dir",
        "--features",
    ] {
        assert!(help.contains(flag), "no {flag}");
    }
    assert!(place.ok("--help").stdout.contains("Exit codes"));
    assert!(place.ok("--version").stdout.starts_with("ernn 0."));
}

/// `cargo run`, as the README has it, asks which binary is meant where the default members have more than one.
#[test]
fn cargo_run_finds_one_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = manifest
        .lines()
        .find_map(|line| line.strip_prefix("default-members = ["));
    let members: Vec<&str> = members
        .unwrap()
        .split('"')
        .filter(|word| word.starts_with("crates/"))
        .collect();
    let binary = |member: &&&str| {
        let folder = root.join(member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        folder.join("src/main.rs").exists() || folder.join("src/bin").exists() || manifest.contains("[[bin]]")
    };
    let binaries: Vec<&&str> = members.iter().filter(binary).collect();
    assert_eq!(binaries, [&"crates/ernn-cli"]);
}

/// 1,764,364,800.00, .01, .02: all the same number in 32 bits.
#[test]
fn a_channel_that_says_nothing_is_named() {
    let place = Place::new();
    let mut table = "series,step,still,x,label\n".to_string();
    for series in 0..10 {
        for step in 0..5 {
            let class = series % 2;
            table += &format!("{series},{step},7,{},{class}\n", class + step);
        }
    }
    place.write("table.csv", table);
    let done = place.ok("train table.csv --epochs 1 --hidden 4 --rank 2 --out run");
    assert!(
        done.stderr.contains("never change in what is trained on"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("say nothing: still\n"), "{}", done.stderr);
    let done = place.ok("train japanese-vowels --epochs 1 --out vowels");
    assert!(!done.stderr.contains("never change"), "{}", done.stderr);
}

#[test]
fn the_environment_chooses_the_instruction_set() {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    for isa in ernn::Isa::available() {
        let arguments = format!(
            "train train.csv --epochs 1 --hidden 8 --rank 2 --out {} --json",
            isa.name()
        );
        let output = place.command(&arguments).env("ERNN_ISA", isa.name()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["machine"]["instruction_set"], isa.name());
    }
    let refused = place.command("data list").env("ERNN_ISA", "avx1024").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.starts_with("error: ERNN_ISA: found avx1024, expected an instruction set of this machine: ")
            && said.trim_end().ends_with("portable"),
        "{said}"
    );
}
