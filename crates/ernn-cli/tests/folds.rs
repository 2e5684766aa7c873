//! Training by folds with the real binary.

mod support;

use serde_json::Value;
use support::Place;

const TINY: &str = "train japanese-vowels --hidden 6 --rank 2 --epochs 3 --batch-size 64";
/// The same, long enough to be stopped.
const LONGER: &str = "train japanese-vowels --hidden 6 --rank 2 --epochs 60 --batch-size 64";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn folds_judge_every_sequence_once_and_a_final_model_follows() {
    let place = Place::new();
    let report = place.json(&format!("{TINY} --folds 5 --validation 0 --out run"));
    let folds = &report["folds"];
    assert_eq!(folds["scheme"], "5");
    assert_eq!(folds["pooled"]["examples"], 270);
    assert_eq!(folds["folds"].as_array().unwrap().len(), 5);
    let sequences: u64 = folds["folds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| fold["sequences"].as_u64().unwrap())
        .sum();
    assert_eq!(sequences, 270);
    // The final model is that of the same command without folds, and reads the test part as it does.
    assert_eq!((&report["part"], &report["examples"]), (&"test".into(), &370.into()));
    place.ok(&format!("{TINY} --validation 0 --out plain"));
    assert!(place.read("run/model.safetensors") == place.read("plain/model.safetensors"));
    // Each line of the predictions counts in the pooled accuracy.
    let text = place.text("run/folds/predictions.csv");
    let right = text.lines().skip(1).filter(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        fields[3] == fields[4]
    });
    let share = right.count() as f64 / 270.0;
    assert!((share - number(&folds["pooled"]["accuracy"])).abs() < 1e-12);
    let [low, high] = [0, 1].map(|end| number(&folds["interval"][end]));
    assert!(low < share && share < high);
    let saved: Value = serde_json::from_str(&place.text("run/folds/folds.json")).unwrap();
    assert_eq!(&saved, folds);
    // Most of the data of a fold was trained on.
    place.fails("evaluate run/folds/1", 2, &["of a fold", "folds.json"]);
    place.ok("evaluate run/folds/1 japanese-vowels");
    // What a fold held out is the test part of its run.
    let first = place.json("inspect run/folds/1/model.safetensors");
    assert!(first.is_object());
}

#[test]
fn folds_give_the_same_bits_for_any_number_of_threads_and_after_a_stop() {
    let place = Place::new();
    place.ok(&format!("{TINY} --folds 4 --no-final --threads 1 --out one"));
    place.ok(&format!("{TINY} --folds 4 --no-final --threads 3 --out three"));
    let predictions = |folder: &str| place.text(&format!("{folder}/folds/predictions.csv"));
    assert_eq!(predictions("one"), predictions("three"));
    let report: Value = serde_json::from_str(&place.text("one/result.json")).unwrap();
    assert_eq!(report["part"], "folds");
    assert!(!place.path("one/model.safetensors").exists());

    let stopped = place.start_until(&format!("{LONGER} --folds 4 --threads 1 --out stopped"), "1/4 fold");
    let done = stopped.interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(done.stderr.contains("ernn train --resume stopped"), "{}", done.stderr);
    place.fails("train --resume stopped --epochs 70", 2, &["goes on as it was begun"]);
    let done = place.ok("train --resume stopped");
    assert!(done.stderr.contains("of them done before"), "{}", done.stderr);
    place.ok(&format!("{LONGER} --folds 4 --threads 2 --out whole"));
    assert_eq!(predictions("stopped"), predictions("whole"));
    assert!(place.read("stopped/model.safetensors") == place.read("whole/model.safetensors"));
}

#[test]
fn few_sequences_without_a_test_part_are_judged_by_folds_unless_something_is_said() {
    let place = Place::new();
    place.write("mine.csv", support::easy_csv(24));
    let small = "train mine.csv --hidden 4 --rank 2 --min-steps 20 --threads 1";
    let done = place.ok(&format!("{small} --out folds"));
    assert!(
        done.stderr.contains("no test part, 24 sequences: folds judge"),
        "{}",
        done.stderr
    );
    let report: Value = serde_json::from_str(&place.text("folds/result.json")).unwrap();
    assert_eq!(
        (&report["folds"]["scheme"], &report["folds"]["pooled"]["examples"]),
        (&"5".into(), &24.into())
    );
    // The final model knows all sequences, and is the one that --validation 0 gives.
    place.ok(&format!("{small} --validation 0 --out all"));
    assert!(place.read("folds/model.safetensors") == place.read("all/model.safetensors"));
    for said in [
        "--epochs 2",
        "--validation 0.2",
        "--patience 3",
        "--config all/config.toml",
    ] {
        let report = place.json(&format!("{small} {said}"));
        assert!(report.get("folds").is_none_or(Value::is_null), "{said}: {report}");
    }
    // A test part judges by itself.
    place.write("data/train.csv", support::easy_csv(24));
    place.write("data/test.csv", support::easy_csv(10));
    let report = place.json("train data --hidden 4 --rank 2 --min-steps 20");
    assert_eq!((&report["part"], &report["examples"]), (&"test".into(), &10.into()));
    assert!(report.get("folds").is_none_or(Value::is_null), "{report}");
    assert_eq!(report["settings"]["training"]["validation"], 0.0);
    // What is shown repeats it.
    let shown = place.ok(&format!("{small} --show")).stdout;
    assert!(shown.contains("ernn train --config FILE --folds 5"), "{shown}");
}

/// A long table of four persons whose labels cannot be told from the values of others: each person has a level of their own, and labels
/// that go with the parity of a hidden number.
fn persons() -> String {
    let mut text = String::from("series,label,person,a,b\n");
    for sequence in 0..48 {
        let person = sequence % 4;
        for step in 0..12 {
            let value = ((sequence * 13 + step * 7) % 11) as f64 / 11.0 + 10.0 * person as f64;
            let name = ["anna", "ben", "carla", "dora"][person];
            text += &format!("s{sequence},{},{name},{value},{step}\n", (sequence / 4) % 2);
        }
    }
    text
}

#[test]
fn groups_are_held_out_whole_and_the_worst_are_named() {
    let place = Place::new();
    place.write("persons.csv", persons().replace("person,a", "group,a"));
    let names = ["anna", "ben", "carla", "dora"];
    let flags = "train persons.csv --hidden 4 --rank 2 --epochs 2 --validation 0 --no-final";
    let done = place.ok(&format!("{flags} --folds groups --out run"));
    let worst = done.stdout.lines().find(|line| line.starts_with("worst groups: "));
    for name in names {
        assert!(worst.unwrap().contains(name), "{}", done.stdout);
        assert!(done.stderr.contains(&format!("(group {name})")), "{}", done.stderr);
    }
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    let folds = report["folds"]["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 4);
    assert!(folds.iter().all(|fold| fold["sequences"] == 12));
    assert_eq!(report["folds"]["groups"].as_array().unwrap().len(), 4);
    assert!(
        folds
            .iter()
            .all(|fold| names.contains(&fold["group"].as_str().unwrap()))
    );
    let text = place.text("run/folds/predictions.csv");
    let mut pairs: Vec<(String, String)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[1].to_string(), fields[2].to_string())
        })
        .collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 4, "a fold, a group: {pairs:?}");
    assert!(pairs.iter().all(|(_, group)| names.contains(&&group[..])), "{pairs:?}");
    // A sequence has the name that the data gives it.
    let first: Vec<&str> = text
        .lines()
        .take(3)
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(first, ["sequence", "s0", "s1"]);
    place.fails(
        &format!("{flags} --folds 5"),
        2,
        &["--folds: found 5, expected at most 4, as there are groups"],
    );
}

/// Two persons: whatever judges, it says what it estimates.
#[test]
fn two_groups_are_said_to_be_two() {
    let place = Place::new();
    let two = persons().replace("carla", "anna").replace("dora", "ben");
    place.write("two.csv", two.replace("person,a", "group,a"));
    let small = "train two.csv --hidden 4 --rank 2 --min-steps 20";
    let done = place.ok(&format!("{small} --out run"));
    for part in [
        "note: 2 groups, which stay whole, are too few for the 5 folds",
        "--folds groups",
        "one group alone validates, ",
        " (24 sequences): the best epoch is chosen by it",
    ] {
        assert!(done.stderr.contains(part), "no `{part}` in {}", done.stderr);
    }
    let done = place.ok(&format!("{small} --folds groups --no-final --out folds"));
    assert!(
        done.stdout
            .contains("only 2 groups: each was judged by models that had not seen it"),
        "{}",
        done.stdout
    );
    assert!(!done.stderr.contains("validates"), "{}", done.stderr);
}

#[test]
fn folds_that_cannot_be_are_refused() {
    let place = Place::new();
    for (flags, parts) in [
        ("--folds groups", ["--folds: found groups", "names the group"]),
        ("--folds 1", ["--folds", "2 to 1000"]),
        ("--folds 400", ["--folds: found 400", "at most 2"]),
        ("--no-final", ["--folds", "required"]),
    ] {
        place.fails(&format!("{TINY} {flags}"), 2, &parts);
    }
}

#[test]
fn folds_calibrate_the_final_model_and_say_where_nothing_is_known() {
    let place = Place::new();
    let flags = "--folds 5 --validation 0 --calibrate true --unknown 0.1";
    let report = place.json(&format!("{TINY} {flags} --out run"));
    let calibration = &report["folds"]["calibration"];
    assert_eq!(calibration["examples"], 270);
    let decision = place.json("inspect run")["decision"].clone();
    assert_eq!(&decision["calibration"], calibration);
    assert_eq!(&decision["unknown_below"], &report["folds"]["unknown_below"]);
    // Nothing but the scale of the readout differs from the model without.
    place.ok(&format!("{TINY} --validation 0 --out plain"));
    let answers = |run: &str| place.json(&format!("evaluate {run} japanese-vowels"));
    let (own, plain) = (answers("run"), answers("plain"));
    assert_eq!(own["confusion"], plain["confusion"]);
    assert_ne!(own["loss"], plain["loss"]);
    let below = number(&decision["unknown_below"]);
    assert_eq!(number(&own["unknown"]["below"]), below);
    assert!(number(&own["unknown"]["examples"]) > 0.0 && plain["unknown"].is_null());
    // A stop between changes nothing.
    place.ok("train --resume run");
}
