//! `ernn compare` through the real binary: its table, going on, sharing, and every way to be refused.

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use serde_json::Value;
use support::{Place, finish};

/// Little training; every run is a matter of milliseconds.
const TINY: &str = "compare japanese-vowels --epochs 2 --hidden 6 --rank 2 --threads 1";

/// Three rows of two seeds.
fn small() -> String {
    format!("{TINY} --cells ernn,rnn --iterations 1,3 --seeds 2 --out cmp")
}

const RUNS: [&str; 6] = [
    "ernn-k1/seed-1",
    "ernn-k1/seed-2",
    "ernn-k3/seed-1",
    "ernn-k3/seed-2",
    "rnn/seed-1",
    "rnn/seed-2",
];

fn read_json(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.text(name)).unwrap()
}

/// A table without what the clock says.
fn without_times(table: &Value) -> Value {
    let mut table = table.clone();
    for row in table["rows"].as_array_mut().unwrap() {
        for name in ["train_seconds", "seconds_to_best", "latency_milliseconds"] {
            row[name] = Value::Null;
        }
    }
    table
}

/// Content and time of every file in the row folders.
fn run_files(place: &Place) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut folders: Vec<PathBuf> = RUNS.iter().map(|run| place.path("cmp").join(run)).collect();
    folders.extend(["ernn-k1", "ernn-k3", "rnn"].map(|row| place.path("cmp").join(row)));
    let paths = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = paths.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let content = |path: &Path| (fs::read(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
    files.map(|path| (path.clone(), content(&path))).collect()
}

#[test]
fn the_table_says_what_the_runs_say() {
    let place = Place::new();
    let table = place.json(&small());
    assert_eq!((&table["part"], &table["complete"]), (&"test".into(), &true.into()));
    let rows = table["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ernn-k1", "ernn-k3", "rnn"]);
    for (row, name) in rows.iter().zip(names) {
        let runs = [1, 2].map(|seed| read_json(&place, &format!("cmp/{name}/seed-{seed}/result.json")));
        let number = |name: &str| [0, 1].map(|run: usize| runs[run][name].as_f64().unwrap());
        let [first, second] = number("accuracy");
        let close = |found: &Value, expected: f64| (found.as_f64().unwrap() - expected).abs() < 1e-12;
        let score = &row["score"];
        assert!(close(&score["mean"], (first + second) / 2.0), "{row}");
        assert!(
            close(&score["deviation"], (first - second).abs() / 2f64.sqrt()),
            "{row}"
        );
        assert!(close(&score["lowest"], first.min(second)) && close(&score["highest"], first.max(second)));
        assert_eq!(row["parameters"], runs[0]["parameters"]);
        assert!(close(&row["kilobytes"], number("parameters")[0] / 256.0));
        assert!(close(
            &row["train_seconds"],
            number("train_seconds").iter().sum::<f64>() / 2.0
        ));
        let to_best = [1, 2].map(|seed| seconds_to_best(&place, name, seed));
        assert!(close(&row["seconds_to_best"], to_best.iter().sum::<f64>() / 2.0));
        let latency = read_json(&place, &format!("cmp/{name}/latency.json"));
        assert_eq!(row["latency_milliseconds"], latency["milliseconds"]);
        assert!(latency["milliseconds"].as_f64().unwrap() > 0.0);
        assert_eq!(
            (&row["seeds_done"], &row["seeds"], &row["diverged"]),
            (&2.into(), &2.into(), &0.into())
        );
        assert_eq!(row["hidden"], 6);
    }
    assert_eq!(
        (&rows[1]["iterations"], &rows[2]["iterations"]),
        (&3.into(), &Value::Null)
    );
}

fn seconds_to_best(place: &Place, row: &str, seed: u64) -> f64 {
    let best = read_json(place, &format!("cmp/{row}/seed-{seed}/result.json"))["best_epoch"].as_u64();
    let lines = place.text(&format!("cmp/{row}/seed-{seed}/metrics.jsonl"));
    let epochs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let until_best = epochs.filter(|epoch| epoch["epoch"].as_u64() <= best);
    until_best.map(|epoch| epoch["seconds"].as_f64().unwrap()).sum()
}

#[test]
fn a_run_is_the_same_as_one_of_ernn_train() {
    let place = Place::new();
    let done = place.ok(&small());
    assert!(
        done.stderr.contains("comparing 3 rows: 6 runs, in cmp"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("\n6/6 rnn/seed-2: test accuracy "),
        "{}",
        done.stderr
    );
    assert_eq!(
        done.stderr.matches("warning: ").count(),
        1,
        "not once a run: {}",
        done.stderr
    );
    place.ok("train japanese-vowels --epochs 2 --hidden 6 --rank 2 --cell rnn --seed 2 --out single");
    assert!(place.read("single/model.safetensors") == place.read("cmp/rnn/seed-2/model.safetensors"));
    assert_eq!(
        place.text("single/config.toml"),
        place.text("cmp/rnn/seed-2/config.toml")
    );

    // Printed and written alike, for people and for programs.
    let markdown = place.text("cmp/compare.md");
    assert!(markdown.starts_with(&done.stdout[..done.stdout.find("\n\ncomparison: ").unwrap()]));
    assert_eq!(place.text("cmp/compare.csv").lines().count(), 4);
    let picture = place.text("cmp/curves.svg");
    for row in ["ernn-k1", "ernn-k3", "rnn"] {
        assert!(markdown.contains(&format!("| {} ", row.split('-').next().unwrap())));
        assert!(place.text("cmp/compare.csv").contains(&format!("\n{row},")));
        assert!(picture.contains(&format!(">{row}</text>")), "{row}");
    }
    assert_eq!(picture.matches("<polyline").count(), 6);
}

#[test]
fn sizes_are_those_that_train_prints() {
    let place = Place::new();
    place.ok("compare japanese-vowels --cells rnn --epochs 3 --seeds 1 --sparsity 0.9 --json --out c");
    let table = place.text("c/compare.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let column = names.iter().position(|&name| name == "kilobytes").unwrap();
    let run: Value = serde_json::from_str(&place.text("c/rnn/seed-1/result.json")).unwrap();
    let [size, all] = ["size_kb", "parameters"].map(|name| run[name].as_f64().unwrap());
    assert!(size < all / 256.0, "{run}");
    assert!((values[column].parse::<f64>().unwrap() - size).abs() < 1e-9, "{table}");
}

/// Not even a first loss: there is no number to be read back.
#[test]
fn a_run_without_any_loss_is_counted_too() {
    let place = Place::new();
    let command =
        "compare japanese-vowels --cells ernn --vary eta=0.01,1000.0 --iterations 100 --seeds 1 --epochs 1 --out cmp";
    let table = place.json(command);
    assert_eq!(table["complete"], true, "{table}");
    let row = &table["rows"][1];
    assert_eq!((&row["diverged"], &row["score"]), (&1.into(), &Value::Null), "{table}");
    place.ok("report cmp --out page.html");
    place.ok("report cmp/ernn-k100-eta-1000.0/seed-1 --out run.html");
}

#[test]
fn the_same_command_runs_nothing_again() {
    let place = Place::new();
    let table = place.json(&small());
    let (before, csv) = (run_files(&place), place.text("cmp/compare.csv"));
    fs::remove_file(place.path("cmp/compare.csv")).unwrap();
    let done = place.ok(&format!("{} --json", small()));
    assert!(done.stderr.contains("6 runs, 6 of them done before"), "{}", done.stderr);
    assert!(run_files(&place) == before, "no file of a run was touched");
    assert_eq!(serde_json::from_str::<Value>(&done.stdout).unwrap(), table);
    assert_eq!(place.text("cmp/compare.csv"), csv);
}

#[test]
fn what_a_killed_process_left_is_finished() {
    let place = Place::new();
    let table = without_times(&place.json(&small()));
    let model = |run: &str| place.read(&format!("cmp/{run}/model.safetensors"));
    let models = RUNS.map(model);
    let metrics = place.text("cmp/ernn-k1/seed-1/metrics.jsonl");
    let remove = |name: &str| fs::remove_file(place.path("cmp").join(name)).unwrap();
    // Killed at the end, with its checkpoint; killed before the first checkpoint; killed before it had settings.
    for name in ["model.safetensors", "result.json"] {
        remove(&format!("ernn-k1/seed-1/{name}"));
    }
    for name in ["model.safetensors", "result.json", "checkpoint.safetensors"] {
        remove(&format!("ernn-k3/seed-2/{name}"));
        remove(&format!("rnn/seed-1/{name}"));
    }
    remove("rnn/seed-1/config.toml");
    fs::write(place.path("cmp/rnn/seed-1/metrics.jsonl"), "").unwrap();
    let done = place.ok(&format!("{} --json", small()));
    assert!(done.stderr.contains("6 runs, 3 of them done before"), "{}", done.stderr);
    assert!(RUNS.map(model) == models);
    let kept = place.text("cmp/ernn-k1/seed-1/metrics.jsonl");
    assert_eq!(kept, metrics, "with its times: these epochs were not run again");
    assert_eq!(without_times(&serde_json::from_str(&done.stdout).unwrap()), table);
}

#[test]
fn processes_share_the_runs() {
    let place = Place::new();
    let alone = without_times(&place.json(&small().replace("cmp", "alone")));
    let half = place.json(&format!("{} --shard 1/2", small()));
    assert_eq!(
        (&half["complete"], &half["rows"][0]["seeds_done"]),
        (&false.into(), &1.into())
    );
    assert!(place.text("cmp/compare.md").contains("| rnn \\* "));
    assert!(place.path("cmp/rnn/seed-1").exists() && !place.path("cmp/rnn/seed-2").exists());
    place.ok(&format!("{} --shard 2/2", small()));

    let both = small().replace("cmp", "both");
    let start = |shard: &str| {
        let mut command = place.command(&format!("{both} --shard {shard} --json"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let processes = ["1/2", "2/2"].map(start);
    let done = processes.map(|process| finish(process.wait_with_output().unwrap()));
    for done in &done {
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    for run in RUNS {
        let line = format!(" {run}: test accuracy ");
        assert_eq!(
            done.iter().filter(|done| done.stderr.contains(&line)).count(),
            1,
            "{run}: {done:?}"
        );
    }
    for folder in ["cmp", "both"] {
        let table = without_times(&place.json(&small().replace("cmp", folder)));
        assert_eq!(table, alone, "{folder}");
        let csv = place.text(&format!("{folder}/compare.csv"));
        let fields = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
        let mut lines = csv.lines().map(fields);
        let complete = lines
            .next()
            .unwrap()
            .iter()
            .position(|name| name == "complete")
            .unwrap();
        assert!(lines.all(|row| row[complete] == "true"), "{csv}");
    }
}

#[test]
fn a_run_of_another_process_is_left_to_it() {
    let place = Place::new();
    place.ok(&small());
    for name in ["result.json", "model.safetensors"] {
        fs::remove_file(place.path("cmp/rnn/seed-2").join(name)).unwrap();
    }
    let taken = File::options()
        .write(true)
        .open(place.path("cmp/rnn/seed-2/metrics.jsonl"))
        .unwrap();
    taken.lock().unwrap();
    let done = place.ok(&format!("{} --json", small()));
    assert!(
        done.stderr
            .contains("rnn/seed-2: left to the process that is training it"),
        "{}",
        done.stderr
    );
    let table: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&table["complete"], &table["rows"][2]["seeds_done"]),
        (&false.into(), &1.into())
    );
    drop(taken);
    assert_eq!(place.json(&small())["complete"], true);
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_what_is_there_and_the_same_command_goes_on() {
    let place = Place::new();
    let flags = "compare japanese-vowels --epochs 60 --hidden 16 --rank 4 --cells ernn,rnn --seeds 1 --threads 1";
    let whole = without_times(&place.json(&format!("{flags} --out whole")));
    let run = format!("{flags} --out cmp --json");
    let done = place.start_until(&run, "comparing 2 rows").interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(done.stderr.contains("go on with the same command"), "{}", done.stderr);
    let table: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(table["complete"], false);
    assert!(place.text("cmp/compare.md").contains("\\*: not all seeds"));
    assert_eq!(without_times(&place.json(&format!("{flags} --out cmp"))), whole);
    for row in ["ernn-k1", "rnn"] {
        let model = |folder: &str| place.read(&format!("{folder}/{row}/seed-1/model.safetensors"));
        assert!(model("cmp") == model("whole"), "{row}");
    }
}

#[test]
fn a_run_that_diverges_is_counted_and_the_others_go_on() {
    let place = Place::new();
    let flags = "compare japanese-vowels --epochs 2 --hidden 4 --rank 2 --cells rnn,ernn --seeds 2 --iterations 1 \
                 --optimizer sgd --learning-rate 1e6 --clip-norm 0 --out cmp";
    let done = place.ok(&format!("{flags} --json"));
    let table: Value = serde_json::from_str(&done.stdout).unwrap();
    let ernn = &table["rows"][1];
    assert_eq!(
        (&ernn["diverged"], &ernn["score"]),
        (&2.into(), &Value::Null),
        "{table}"
    );
    assert_eq!(table["complete"], true);
    assert!(done.stderr.contains("ernn-k1/seed-2: diverged"), "{}", done.stderr);
    let again = place.ok(&format!("{flags} --json"));
    assert!(
        again.stderr.contains("4 runs, 4 of them done before"),
        "{}",
        again.stderr
    );
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap(), table);
}

#[test]
fn matched_cells_have_about_as_many_parameters() {
    let place = Place::new();
    let flags = format!("{TINY} --cells rnn,ernn,fastrnn --seeds 1 --match parameters --out cmp");
    let table = place.json(&flags);
    let rows = table["rows"].as_array().unwrap();
    let number = |row: &Value, name: &str| row[name].as_i64().unwrap();
    assert_eq!(number(&rows[0], "hidden"), 6);
    for row in rows {
        let apart = number(row, "parameters") - number(&rows[0], "parameters");
        // One unit more or less is about thirty numbers here.
        assert!(apart.abs() <= 20, "{row}");
    }
}

#[test]
fn without_out_the_folder_has_a_name_of_its_own() {
    let place = Place::new();
    place.write("train.csv", support::easy_csv(40));
    let flags = "compare train.csv --epochs 1 --hidden 4 --rank 2 --seeds 1";
    let table = place.json(flags);
    let cells: Vec<&str> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["cell"].as_str().unwrap())
        .collect();
    assert!(cells.starts_with(&["ernn", "rnn", "fastrnn", "fastgrnn"]), "{cells:?}");
    assert_eq!(table["part"], "validation");
    assert!(place.path("runs/train-compare/compare.toml").exists());
    assert!(place.ok(flags).stdout.contains("validation accuracy, %"));
}

#[test]
fn other_settings_are_refused() {
    let place = Place::new();
    let base = format!("{TINY} --cells rnn --seeds 1 --out cmp");
    place.ok(&base);
    for (flags, difference) in [
        (
            "--learning-rate 0.5",
            "rows[0].settings.training.learning_rate = 0.01 (asked for: 0.5)",
        ),
        (
            "--activation relu",
            "rows[0].settings.model.layers[0].activation = \"tanh\" (asked for: \"relu\")",
        ),
        ("--seed 4", "rows[0].settings.training.seed = 1 (asked for: 4)"),
    ] {
        let expected = "expected a new or empty folder, or a comparison with the settings asked for";
        place.fails(
            &format!("{base} {flags}"),
            2,
            &["--out: found cmp", difference, expected],
        );
    }
    let more = base.replace("--seeds 1", "--seeds 2");
    place.fails(&more, 2, &["--out: found cmp", "seeds = [1] (asked for: [1, 2])"]);
    let more = base.replace("--cells rnn", "--cells rnn,fastrnn");
    place.fails(&more, 2, &["--out: found cmp", "rows = rnn (asked for: rnn, fastrnn)"]);

    place.write("full/note.txt", "mine");
    let elsewhere = base.replace("--out cmp", "--out full");
    place.fails(&elsewhere, 2, &["--out: found full, which is not empty"]);
    place.write("cmp/compare.toml", "rows = = 1");
    place.fails(
        &base,
        1,
        &["cmp/compare.toml: found", "expected the plan of a comparison"],
    );
}

#[test]
fn a_foreign_run_in_the_folder_is_refused() {
    let place = Place::new();
    let base = format!("{TINY} --cells rnn --seeds 1 --out cmp");
    place.ok(&base);
    fs::remove_dir_all(place.path("cmp/rnn/seed-1")).unwrap();
    place.ok("train japanese-vowels --epochs 1 --hidden 6 --rank 2 --cell rnn --out cmp/rnn/seed-1");
    let parts = ["--out: found cmp/rnn/seed-1, whose run has other settings"];
    place.fails(&base, 2, &parts);
    fs::remove_file(place.path("cmp/rnn/seed-1/result.json")).unwrap();
    place.fails(&base, 2, &parts);
}

/// Rows are combinations, sorted by the validation part; the best settings of each cell are a file that trains the same run.
#[test]
fn varied_settings_are_judged_by_validation() {
    let place = Place::new();
    let search = format!(
        "{TINY} --cells ernn,rnn --vary learning-rate=0.0001,0.02 --vary gamma=0.5,1 --seeds 2 --retrain --out search"
    );
    let table = place.json(&search);
    assert_eq!(
        (&table["part"], &table["complete"]),
        (&"validation".into(), &true.into())
    );
    let rows = table["rows"].as_array().unwrap();
    // Only ERNN has a gamma.
    assert_eq!(rows.len(), 6);
    let means: Vec<f64> = rows.iter().map(|row| row["score"]["mean"].as_f64().unwrap()).collect();
    assert!(means.is_sorted_by(|one, other| one >= other), "{means:?}");
    for row in rows {
        let name = row["name"].as_str().unwrap();
        let run = read_json(&place, &format!("search/{name}/seed-1/result.json"));
        assert_eq!(run["part"], "validation", "{name}");
        assert_eq!(run["settings"]["training"]["retrain"], false, "{name}");
    }

    let best = table["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    for best in best {
        let (kind, row) = (best["kind"].as_str().unwrap(), best["row"].as_str().unwrap());
        let first = rows.iter().find(|row| row["name"].as_str().unwrap().starts_with(kind));
        assert_eq!(first.unwrap()["name"], row);
        let file = format!("search/{}", best["file"].as_str().unwrap());
        let run = place.json(&format!("train --config {file} --out again-{kind}"));
        assert_eq!(run["part"], "test");
        let trained = read_json(&place, &format!("search/{row}/seed-1/result.json"));
        assert_eq!(run["validation_accuracy"], trained["validation_accuracy"]);
    }

    let text = place.ok(&search).stdout;
    for part in [
        "| learning rate |",
        "| gamma |",
        "validation accuracy",
        "best/rnn.toml",
        "the test part was not read",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let csv = place.text("search/compare.csv");
    assert!(
        csv.starts_with("row,cell,iterations,hidden,learning_rate,gamma,part,"),
        "{csv}"
    );

    let drawn = place.json(&format!("{} --draw 1 --out drawn", search.replace(" --out search", "")));
    assert_eq!(drawn["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn bad_flags() {
    let place = Place::new();
    for (flags, parts) in [
        (
            "--cells lstm-2",
            ["--cells: found lstm-2", "expected ernn, rnn, fastrnn"],
        ),
        ("--cells rnn,,ernn", ["--cells: found , expected", "ernn, rnn, fastrnn"]),
        (
            "--cells rnn,rnn",
            ["--cells: found rnn twice", "expected each one once"],
        ),
        (
            "--iterations 1,x",
            ["--iterations: found x, expected a whole number", "--iterations"],
        ),
        ("--iterations 0", ["iterations: found 0", "expected"]),
        (
            "--iterations 3,3",
            ["--iterations: found 3 twice", "expected each one once"],
        ),
        (
            "--cells rnn --iterations 3",
            ["iterations: found 3", "no such setting for any of rnn"],
        ),
        (
            "--cells rnn --gamma 0.5",
            ["gamma: found 0.5", "no such setting for any of rnn"],
        ),
        ("--vary rate", ["found rate, expected NAME=VALUE,VALUE,...", "--vary"]),
        (
            "--vary rate=1",
            ["--vary: found rate, expected a setting", "config.toml"],
        ),
        ("--vary rate=1", ["min_steps", "input_rotation"]),
        ("--vary rate=1", ["quantize", "max_steps"]),
        (
            "--cells rnn --vary gamma=0.5",
            ["--vary: found gamma, expected a setting", "config.toml"],
        ),
        (
            "--vary dropout=0 --vary dropout=1",
            ["--vary: found dropout twice", "with all its values"],
        ),
        (
            "--vary batch-size=many",
            ["batch_size: found many", "expected a whole number"],
        ),
        ("--vary hidden=8,abc", ["hidden: found abc", "expected a whole number"]),
        (
            "--cells deep-transition --vary widths=8,16",
            ["widths: found 8", "expected a list, which only the settings file"],
        ),
        ("--vary dropout=0,2", ["dropout: found 2", "from 0 up to"]),
        (
            "--vary dropout=0,0.1 --validation 0",
            ["--validation: found 0", "--vary dropout is judged"],
        ),
        ("--draw 3", ["--draw: found 3", "--vary"]),
        ("--vary dropout=0 --draw 0", ["--draw: found 0", "at least 1"]),
        ("--seeds 0", ["--seeds: found 0", "expected 1 to 100"]),
        ("--seeds many", ["--seeds: found many", "expected a whole number"]),
        ("--match size", ["invalid value 'size'", "hidden, parameters"]),
        ("--shard 3/2", ["found 3/2, expected I/N with I from 1 to N", "--shard"]),
        ("--shard 1", ["found 1, expected I/N", "--shard"]),
        ("--threads 0", ["--threads: found 0", "expected 1 to 1024"]),
        ("--cell rnn", ["unexpected argument '--cell'", "--cells"]),
        ("--hidden 0", ["hidden: found 0", "expected a number from 1"]),
        (
            "--seed 9223372036854775806",
            ["--seed: found 9223372036854775806", "room for 3 seeds"],
        ),
        (
            "--learning-rate 0",
            ["learning_rate: found 0", "expected a number above 0"],
        ),
    ] {
        place.fails(&format!("compare japanese-vowels {flags} --out cmp"), 2, &parts);
        assert!(
            !place.path("cmp").exists(),
            "{flags}: no folder for a comparison that did not start"
        );
    }
    place.fails("compare", 2, &["no DATA"]);
    place.fails("compare nowhere.csv", 1, &["nowhere.csv"]);
}
