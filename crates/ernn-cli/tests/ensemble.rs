//! Ensembles and runs with a teacher, with the real binary.

mod support;

use serde_json::Value;
use support::{Place, easy_csv};

const TINY: &str = "train japanese-vowels --hidden 6 --rank 2 --epochs 2 --batch-size 64";
/// The same, long enough to be stopped.
const LONGER: &str = "train japanese-vowels --hidden 6 --rank 2 --epochs 150 --batch-size 64";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The lines behind the header, in fields.
fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn an_ensemble_is_its_members_and_answers_with_their_mean() {
    let place = Place::new();
    let report = place.json(&format!("{TINY} --ensemble 3 --seed 4 --out run"));
    assert_eq!((&report["part"], &report["examples"]), (&"test".into(), &370.into()));
    let members = report["members"].as_array().unwrap();
    let seeds: Vec<&Value> = members.iter().map(|member| &member["seed"]).collect();
    assert_eq!(seeds, [4, 5, 6]);
    let sizes: f64 = members.iter().map(|member| number(&member["size_kb"])).sum();
    assert!((number(&report["size_kb"]) - sizes).abs() < 1e-9);
    place.ok(&format!("{TINY} --seed 5 --out alone"));
    assert!(place.read("run/member-2/model.safetensors") == place.read("alone/model.safetensors"));

    let measured = place.json("evaluate run");
    for name in ["part", "accuracy", "loss", "size_kb", "confusion"] {
        assert_eq!(measured[name], report[name], "{name}");
    }
    // The members by name are the folder.
    let with = place.json("evaluate run/member-1 --with run/member-2,run/member-3/model.safetensors");
    assert_eq!(
        (&with["loss"], &with["parameters"]),
        (&measured["loss"], &measured["parameters"])
    );
    assert_eq!(with["members"].as_array().unwrap().len(), 3);
    let shown = place.ok("evaluate run").stdout;
    assert!(shown.starts_with("3 models together: "), "{shown}");
    assert!(!place.ok("evaluate run/member-1").stdout.contains("together"));
    let first = place.json("evaluate run/member-1");
    assert!(first.get("members").is_none() && first["loss"] != measured["loss"]);
}

#[test]
fn predictions_are_the_mean_of_the_members() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --epochs 2 --hidden 4 --rank 2 --ensemble 2 --out run");
    let said = |arguments: &str| place.ok(&format!("predict {arguments} train.csv --digits 17")).stdout;
    let (all, one, two) = (said("run"), said("run/member-1"), said("run/member-2"));
    assert_eq!(said("run/member-1 --with run/member-2"), all);
    let (all, one, two) = (rows(&all), rows(&one), rows(&two));
    assert_eq!(all.len(), 40);
    let value = |rows: &[Vec<&str>], sequence: usize, field: usize| rows[sequence][field].parse::<f64>().unwrap();
    for sequence in 0..40 {
        for field in [2, 3] {
            let mean = (value(&one, sequence, field) + value(&two, sequence, field)) / 2.0;
            assert!((value(&all, sequence, field) - mean).abs() < 1e-12, "{sequence}");
        }
        let down = value(&all, sequence, 2) >= value(&all, sequence, 3);
        assert_eq!(all[sequence][1], if down { "down" } else { "up" });
    }
    assert!(one != two, "two seeds");
}

#[test]
fn numbers_are_averaged() {
    let place = Place::new();
    let train = "train adding-30 --sequences 60 --epochs 2 --hidden 4 --rank 2";
    let report = place.json(&format!("{train} --ensemble 2 --out run"));
    assert_eq!(report["part"], "test");
    assert_eq!(
        place.json("evaluate run")["mean_squared_error"],
        report["mean_squared_error"]
    );
    place.write(
        "new.csv",
        "series,step,value,mark\na,0,0.5,1\na,1,0.2,1\nb,0,0.1,1\nb,1,0.9,0\nb,2,0.4,1\n",
    );
    let said = |model: &str| place.ok(&format!("predict {model} new.csv")).stdout;
    let (all, one, two) = (said("run"), said("run/member-1"), said("run/member-2"));
    let (all, one, two) = (rows(&all), rows(&one), rows(&two));
    let value = |row: &[&str]| row[1].parse::<f64>().unwrap();
    assert_eq!(all.len(), 2);
    for ((all, one), two) in all.iter().zip(&one).zip(&two) {
        assert!((value(all) - (value(one) + value(two)) / 2.0).abs() < 1e-6, "{all:?}");
        assert!(value(one) != value(two), "two seeds");
    }
    place.fails(
        &format!("{train} --teacher run --out taught"),
        2,
        &["--teacher does not go with", "data with a class for each sequence"],
    );
}

#[test]
fn a_stopped_ensemble_goes_on_to_the_same_bits() {
    let place = Place::new();
    let stopped = place.start_until(
        &format!("{LONGER} --ensemble 3 --threads 1 --out stopped"),
        "member 2 of 3",
    );
    let done = stopped.interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(done.stderr.contains("ernn train --resume stopped"), "{}", done.stderr);
    place.fails(
        "evaluate stopped",
        1,
        &["3 members whose training has not ended", "--resume stopped"],
    );
    place.fails(
        "train --resume stopped --epochs 170",
        2,
        &["an ensemble goes on as it was begun"],
    );
    let before = place.read("stopped/member-1/result.json");
    place.ok("train --resume stopped");
    assert!(place.read("stopped/member-1/result.json") == before, "it had ended");
    place.ok(&format!("{LONGER} --ensemble 3 --threads 2 --out whole"));
    for number in 1..=3 {
        let model = |run: &str| place.read(&format!("{run}/member-{number}/model.safetensors"));
        assert!(model("stopped") == model("whole"), "member {number}");
    }
    assert_eq!(
        place.json("evaluate stopped")["loss"],
        place.json("evaluate whole")["loss"]
    );
}

#[test]
fn without_a_test_part_no_number_is_called_validation() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    let train = "train train.csv --epochs 2 --hidden 4 --rank 2 --validation 0.25";
    let done = place.ok(&format!("{train} --ensemble 2 --out run --json"));
    assert!(
        done.stderr.contains("sequences that members were trained on"),
        "{}",
        done.stderr
    );
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&report["part"], &report["examples"]), (&"train".into(), &40.into()));
    assert_eq!(report["members"][0]["part"], "validation");
    let measured = place.json("evaluate run");
    assert_eq!(
        (&measured["part"], &measured["examples"]),
        (&"train".into(), &40.into())
    );
    place.fails("evaluate run --part validation", 1, &["found no validation part"]);
    // Two cells of one seed have split alike, and have a validation part.
    place.ok(&format!("{train} --out a"));
    place.ok("train train.csv --epochs 2 --hidden 4 --cell gru --validation 0.25 --out b");
    let alike = place.json("evaluate a --with b");
    assert_eq!((&alike["part"], &alike["examples"]), (&"validation".into(), &10.into()));
    // One that was trained on other sequences cannot tell which of these it has not seen.
    place.write("more.csv", easy_csv(44));
    place.ok("train more.csv --epochs 2 --hidden 4 --cell gru --validation 0.25 --out c");
    let done = place.ok("evaluate a --with c --json");
    assert!(done.stderr.contains("not all of these models"), "{}", done.stderr);
    let other: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&other["part"], &other["examples"]), (&"train".into(), &40.into()));
}

#[test]
fn what_is_no_ensemble_is_refused() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.write("other.csv", easy_csv(40).replace("up", "left"));
    let quick = "--epochs 1 --hidden 4 --rank 2";
    place.ok(&format!("train train.csv {quick} --ensemble 2 --out run"));
    place.ok(&format!("train other.csv {quick} --out other"));
    for command in ["evaluate", "predict"] {
        place.fails(
            &format!("{command} run --with other train.csv"),
            1,
            &["other: found the classes down, left, expected those of run/member-1: down, up"],
        );
        place.fails(
            &format!("{command} run --with none train.csv"),
            1,
            &["none: no run folder or model file of this name"],
        );
    }
    place.fails("predict run --stream", 2, &["--stream runs one model"]);
    for command in [
        "inspect run",
        "export run --to onnx --out m.onnx",
        "analyze run train.csv",
    ] {
        place.fails(command, 1, &["run: found the folder of an ensemble", "run/member-1"]);
    }
    place.fails(
        &format!("train train.csv {quick} --ensemble 1"),
        2,
        &["--ensemble: found 1, expected 2 to"],
    );
    for flag in ["--folds 3", "--from run/member-1", "--auto"] {
        place.fails(
            &format!("train train.csv --ensemble 2 {flag}"),
            2,
            &["cannot be used with"],
        );
    }
    place.fails(
        &format!("train train.csv {quick} --ensemble 2 --out run"),
        2,
        &["--out: found run, which is not empty"],
    );
}

#[test]
fn a_student_learns_from_an_ensemble_and_goes_on_to_the_same_bits() {
    let place = Place::new();
    place.ok(&format!("{TINY} --ensemble 2 --out teacher"));
    let taught = "--teacher teacher --teacher-weight 0.7 --teacher-temperature 3";
    place.ok(&format!("{LONGER} {taught} --threads 2 --out whole"));
    let settings: toml::Table = place.text("whole/config.toml").parse().unwrap();
    let teacher = &settings["training"]["teacher"];
    assert_eq!(teacher["runs"][0].as_str(), Some("teacher"));
    assert_eq!(teacher["weight"].as_float(), Some(0.7));
    assert_eq!(teacher["temperature"].as_float(), Some(3.0));
    // The same by its settings file, by its two members, and after a stop; another without a teacher.
    place.ok("train --config whole/config.toml --out again");
    let model = |run: &str| place.read(&format!("{run}/model.safetensors"));
    assert!(model("again") == model("whole"));
    let stopped = place.start_until(&format!("{LONGER} {taught} --threads 1 --out stopped"), "150 epochs");
    let done = stopped.interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    std::fs::rename(place.path("teacher"), place.path("gone")).unwrap();
    place.fails(
        "train --resume stopped",
        1,
        &["teacher teacher: found no model, expected a run folder"],
    );
    std::fs::rename(place.path("gone"), place.path("teacher")).unwrap();
    place.ok("train --resume stopped");
    assert!(model("stopped") == model("whole"));
    place.ok(&format!("{LONGER} --out plain"));
    let loss = |run: &str| place.json(&format!("evaluate {run}"))["loss"].clone();
    assert!(loss("plain") != loss("whole"));
    let shown = place.ok(&format!("{TINY} {taught} --show")).stdout;
    for line in ["runs = [\"teacher\"]", "# --teacher-weight", "# --teacher-temperature"] {
        assert!(shown.contains(line), "no `{line}` in {shown}");
    }
}

#[test]
fn teachers_that_cannot_teach_are_refused() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.write("other.csv", easy_csv(40).replace("up", "left"));
    let quick = "--epochs 1 --hidden 4 --rank 2";
    place.ok(&format!("train other.csv {quick} --out other"));
    for (flags, code, parts) in [
        (
            "--teacher none",
            1,
            ["teacher none: found no model", "expected a run folder"],
        ),
        (
            "--teacher other",
            2,
            ["teacher: found other with the classes down, left", "expected those of"],
        ),
        (
            "--teacher-weight 0.3",
            2,
            ["teacher_weight: found 0.3", "it goes with a teacher alone"],
        ),
        (
            "--teacher other --teacher-weight 2",
            2,
            ["teacher_weight: found 2", "0 to 1"],
        ),
        (
            "--teacher other --teacher-temperature 0",
            2,
            ["teacher_temperature: found 0", "above 0"],
        ),
        (
            "--teacher other --folds 3",
            2,
            ["teacher: found other", "none where folds judge"],
        ),
        (
            "--teacher other --auto --trials 2",
            2,
            ["teacher: found other", "none where folds judge"],
        ),
    ] {
        place.fails(&format!("train train.csv {quick} {flags} --out taught"), code, &parts);
        assert!(!place.path("taught").exists(), "{flags}");
    }
    place.fails(
        "compare train.csv --cells rnn --folds 3 --teacher other --epochs 1 --hidden 4 --out cmp",
        2,
        &["none where folds judge"],
    );
}
