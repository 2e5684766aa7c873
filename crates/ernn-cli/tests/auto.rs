//! The search for settings with the real binary.

mod support;

use ernn::checkpoint::SavedModel;
use serde_json::Value;
use support::Place;

/// Few and short sequences whose class is the sign of the first channel's mean: two channels of noise beside it.
fn signs(sequences: usize) -> String {
    let mut text = String::from("series,label,a,b\n");
    let mut state = 12345_u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    for sequence in 0..sequences {
        let sign = if sequence % 2 == 0 { 0.3 } else { -0.3 };
        for _ in 0..10 {
            text += &format!("s{sequence},c{},{},{}\n", sequence % 2, sign + noise(), noise());
        }
    }
    text
}

const QUICK: &str = "train signs.csv --epochs 60 --auto --trials 4";

#[test]
fn the_same_trials_give_the_same_result_whatever_the_threads() {
    let place = Place::new();
    place.write("signs.csv", signs(60));
    let one = place.json(&format!("{QUICK} --threads 1 --out one"));
    place.ok(&format!("{QUICK} --threads 3 --out three"));
    let model = |folder: &str| place.read(&format!("{folder}/model.safetensors"));
    assert!(model("one") == model("three"));
    assert_eq!(place.text("one/config.toml"), place.text("three/config.toml"));
    let without_times = |folder: &str| -> Vec<Vec<String>> {
        let text = place.text(&format!("{folder}/auto.csv"));
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let seconds = header.iter().position(|name| *name == "train_seconds").unwrap();
        let fields = |line: &str| {
            line.split(',')
                .enumerate()
                .filter(|(index, _)| *index != seconds)
                .map(|(_, field)| field.to_string())
                .collect()
        };
        text.lines().map(fields).collect()
    };
    assert_eq!(without_times("one"), without_times("three"));
    assert_eq!(place.text("one/auto.csv").lines().count(), 5);
    assert!(place.text("one/auto.md").contains("Chosen: trial "));

    // The settings repeat the last training without the search, but for the scale of its outputs, which the folds of the search found.
    place.ok("train --config one/config.toml --out again");
    let answers = |folder: &str| place.json(&format!("evaluate {folder} signs.csv --part train"));
    assert_eq!(answers("one")["confusion"], answers("again")["confusion"]);
    let tensors = |folder: &str| SavedModel::load(&place.path(folder)).unwrap().model;
    let (one_model, again) = (tensors("one"), tensors("again"));
    let cells = one_model
        .spans()
        .iter()
        .filter(|span| !span.name.starts_with("readout"));
    for span in cells {
        assert_eq!(
            one_model.parameters()[span.range()],
            again.parameters()[span.range()],
            "{}",
            span.name
        );
    }
    let folds = &one["folds"];
    assert_eq!(
        (&folds["trials"], &folds["pooled"]["examples"]),
        (&4.into(), &60.into())
    );
    assert!(folds["pooled"]["accuracy"].as_f64().unwrap() > 0.9, "{folds}");
    let saved: Value = serde_json::from_str(&place.text("one/result.json")).unwrap();
    assert_eq!(&saved["folds"], folds);
}

#[test]
fn a_budget_bounds_the_size() {
    let place = Place::new();
    place.write("signs.csv", signs(40));
    let report = place.json(&format!("{QUICK} --budget-kb 4 --out run"));
    assert!(report["size_kb"].as_f64().unwrap() <= 4.0, "{report}");
    place.fails(
        &format!("{QUICK} --budget-kb 0.001"),
        2,
        &["--budget-kb: found 0.001, expected room"],
    );
}

#[test]
fn noise_is_at_chance_and_said_to_be() {
    let place = Place::new();
    let text = signs(60);
    // Labels that go with nothing.
    let shuffled: String = text
        .lines()
        .map(|line| {
            let mut fields: Vec<String> = line.split(',').map(String::from).collect();
            if let Ok(number) = fields[0].trim_start_matches('s').parse::<usize>() {
                fields[1] = format!("c{}", (number / 2) % 2);
            }
            fields.join(",") + "\n"
        })
        .collect();
    place.write("signs.csv", shuffled);
    let done = place.ok(&format!("{QUICK} --out run"));
    assert!(
        done.stdout
            .contains("no better than always naming the most frequent class"),
        "{}",
        done.stdout
    );
}

/// A trial that takes longer than the time is stopped, and what it would have taken is said before.
#[test]
fn a_trial_longer_than_the_time_is_cut_short() {
    let place = Place::new();
    place.write("signs.csv", signs(200));
    let done = place.fails(
        "train signs.csv --hidden 512 --rank full --min-steps 3000 --auto 1s --threads 1 --out run",
        1,
        &[
            "warning: --auto 1 s cannot hold the first trial, which takes about ",
            "what does not end in time is cut short and not counted",
            "came to its end within --auto 1 s",
        ],
    );
    assert!(done.stderr.contains("without --auto"), "{}", done.stderr);
    assert!(!place.path("run/model.safetensors").exists());
}

#[test]
fn a_time_ends_the_search() {
    let place = Place::new();
    place.write("signs.csv", signs(40));
    place.ok("train signs.csv --epochs 5 --auto 2s --out run");
    assert!(place.path("run/model.safetensors").is_file() && place.path("run/auto.md").is_file());
    for (flags, parts) in [
        ("--auto soon", ["--auto", "as 60s, 5m or 1h"]),
        ("--trials 3", ["--auto", "required"]),
        ("--auto --trials 0", ["--trials: found 0", "1 to 500"]),
        ("--auto --budget-kb -1", ["--budget-kb: found -1", "above 0"]),
        ("--auto --no-final --folds 3", ["--no-final", "cannot be used"]),
    ] {
        place.fails(&format!("train signs.csv {flags}"), 2, &parts);
    }
}
