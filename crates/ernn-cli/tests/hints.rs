//! Names that are nearly right: what is said leads on with one more command.

mod support;

use std::fs;

use support::{Place, easy_csv};

const QUICK: &str = "--epochs 1 --hidden 4 --rank 2";

fn place() -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place
}

#[test]
fn flags_of_other_programs_are_answered_with_ours() {
    let place = place();
    for (written, ours) in [
        ("--lr 0.01", "'--learning-rate'"),
        ("--lr=0.01", "'--learning-rate'"),
        ("-lr 0.01", "'--learning-rate'"),
        ("--hidden-size 8", "'--hidden'"),
        ("--hidden_size 8", "'--hidden'"),
        ("--batch 8", "'--batch-size'"),
        ("--bs 8", "'--batch-size'"),
        ("--num-layers 2", "'--layers'"),
        ("--wd 0.1", "'--weight-decay'"),
        ("--n-iter 3", "'--iterations'"),
        ("--random-state 3", "'--seed'"),
        ("--hiden 3", "'--hidden'"),
    ] {
        place.fails(
            &format!("train train.csv {written}"),
            2,
            &["a similar argument exists", ours],
        );
    }
    place.fails("compare train.csv --lr 0.01", 2, &["'--learning-rate'"]);
    place.fails("predict run train.csv --nan zero", 2, &["'--missing'"]);
}

#[test]
fn names_of_settings_may_have_capital_letters() {
    let place = place();
    let flags = "--activation Hard_Tanh --schedule Cosine --optimizer AdamW --class-weights Balanced --missing Zero";
    let report = place.json(&format!("train train.csv --cell LSTM {flags} --epochs 1 --hidden 4"));
    assert_eq!(report["cell"], "lstm");
    assert_eq!(report["settings"]["model"]["layers"][0]["activation"], "hard-tanh");
    let run = report["out"].as_str().unwrap();
    place.ok(&format!("predict {run} train.csv --format JSON"));
    place.ok(&format!("evaluate {run} train.csv --part TRAIN"));
    place.ok("compare train.csv --cells RNN,Lstm --seeds 1 --epochs 1 --hidden 4 --match Hidden");
    place.ok("train train.csv --rank Full --epochs 1 --hidden 4");
}

#[test]
fn names_of_data_sets_are_guessed() {
    let place = place();
    for (written, meant) in [
        ("japanese-vowel", "did you mean japanese-vowels?"),
        (
            "mnist",
            "did you mean pixel-mnist, permuted-mnist, row-mnist, noisy-mnist",
        ),
        ("har", "did you mean har-2, har-6?"),
        ("speech", "did you mean speech-10?"),
        ("google", "did you mean google-12, google-30?"),
        ("cifar", "pixel-cifar"),
        ("trian.csv", "did you mean train.csv?"),
    ] {
        place.fails(&format!("train {written}"), 1, &[written, meant]);
    }
    let done = place.fails("train nothing-like-it", 1, &["`ernn data list`"]);
    assert!(!done.stderr.contains("did you mean"), "{}", done.stderr);
    place.fails("train har-2", 1, &["`ernn data fetch har-2 --data-dir DIR`"]);
    place.fails(
        "train har-2 --data-dir here",
        1,
        &["`ernn data fetch har-2 --data-dir here`"],
    );
}

#[test]
fn names_of_settings_to_vary_are_listed_nearest_first() {
    let place = place();
    for (written, first) in [
        ("lr", "config.toml: learning_rate, "),
        ("hiden", "config.toml: hidden, "),
    ] {
        place.fails(
            &format!("compare train.csv --cells rnn --vary {written}=1,2"),
            2,
            &[&format!("--vary: found {written}"), first, "batch_size"],
        );
    }
}

#[test]
fn a_missing_model_is_not_called_a_data_set() {
    let place = place();
    let done = place.fails(
        "evaluate runs/foo train.csv",
        1,
        &["runs/foo: no run folder or model file of this name"],
    );
    assert!(!done.stderr.contains("data set is"), "{}", done.stderr);
    place.ok(&format!("train train.csv {QUICK}"));
    let there = "there are runs/train-ernn-1";
    for command in [
        "evaluate runs/foo har-2",
        "inspect foo",
        "predict runs/train-1 train.csv",
        "analyze runs/foo digits",
    ] {
        place.fails(command, 1, &["no run folder or model file of this name", there]);
    }
    place.fails(
        "train train.csv --from runs/foo",
        1,
        &["runs/foo: no run folder", there],
    );
    place.fails(
        "export runs/foo --to onnx --out m.onnx",
        1,
        &["runs/foo: no run folder", there],
    );
    place.fails("inspect runs", 1, &["runs: a folder without model.safetensors", there]);
    place.fails(
        "evaluate digits runs/train-ernn-1",
        1,
        &["the model comes before the data"],
    );
    let done = place.fails("train --config none.toml", 1, &["none.toml: cannot read"]);
    assert!(!done.stderr.contains("data set is"), "{}", done.stderr);
}

#[test]
fn a_run_is_measured_on_its_own_data() {
    let place = place();
    place.ok(&format!("train train.csv {QUICK} --out run"));
    let named = place.json("evaluate run train.csv");
    let done = place.ok("evaluate run --json");
    assert!(
        done.stderr
            .contains("note: DATA is train.csv, which the model was trained on"),
        "{}",
        done.stderr
    );
    let own: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(own, named);
    fs::copy(place.path("run/model.safetensors"), place.path("alone.safetensors")).unwrap();
    assert_eq!(place.json("evaluate alone.safetensors")["accuracy"], named["accuracy"]);
    fs::remove_file(place.path("train.csv")).unwrap();
    place.fails("evaluate run", 1, &["train.csv: no file or folder of this name"]);
}

#[test]
fn a_name_that_is_a_file_as_well_is_asked_about() {
    let place = place();
    fs::create_dir(place.path("digits")).unwrap();
    fs::copy(place.path("train.csv"), place.path("digits/train.csv")).unwrap();
    let parts = [
        "digits: found a folder here",
        "expected ./digits for the folder, or known:digits for the data set",
    ];
    for command in ["train digits", "data info digits", "compare digits"] {
        place.fails(command, 2, &parts);
    }
    assert_eq!(place.json("data info ./digits")["features"], 2);
    assert_eq!(place.json("data info known:digits")["features"], 1);
    let report = place.json(&format!("train known:digits {QUICK} --out run"));
    // It has the settings of the known set, and is it whatever lies here.
    assert_eq!(report["settings"]["training"]["batch_size"], 64);
    assert_eq!(report["dataset"], "digits");
    place.ok("evaluate run");
    place.ok("train --resume run --epochs 2");
    place.ok("train --config run/config.toml --out again --epochs 1");
    let own = place.json(&format!("train ./digits {QUICK} --out own"));
    assert_eq!(own["settings"]["training"]["batch_size"], 32);
    place.write("adding", "no data");
    place.fails(
        "train adding",
        2,
        &["adding: found a file here", "./adding", "known:adding"],
    );
}

#[test]
fn a_folder_that_is_where_a_known_set_lies_is_no_clash() {
    let place = place();
    fs::create_dir_all(place.path("har-2/UCI HAR Dataset/train/Inertial Signals")).unwrap();
    // Found, and then wanting: its files are not there.
    let done = place.fails("data info har-2 --data-dir .", 1, &[]);
    assert!(!done.stderr.contains("known:har-2"), "{}", done.stderr);
    place.fails("data info har-2", 2, &["./har-2", "known:har-2"]);
}

#[test]
fn negative_numbers_are_values() {
    let place = place();
    place.fails("train train.csv --eta -0.01", 2, &["eta: found -0.01"]);
    place.fails("train train.csv --clip-norm -1", 2, &["clip_norm: found -1"]);
    place.fails(
        "train train.csv --learning-rate -1e-3",
        2,
        &["learning_rate: found -0.001"],
    );
    place.fails("train train.csv --gamma -2", 2, &["gamma: found -2"]);
}

#[test]
fn small_scales_do_not_become_zero() {
    let place = Place::new();
    let mut lines: Vec<String> = easy_csv(40).lines().map(String::from).collect();
    for line in &mut lines[1..] {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        cells[2] = format!("{}e30", cells[2]);
        *line = cells.join(",");
    }
    place.write("large.csv", lines.join("\n"));
    place.ok(&format!("train large.csv {QUICK} --out run"));
    let text = place.ok("inspect run").stdout;
    let row = text.lines().find(|line| line.starts_with("x  ")).unwrap();
    assert!(row.ends_with("e-31") && !row.contains(" 0.0000"), "{row}");
}
