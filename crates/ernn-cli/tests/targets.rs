//! Numbers to predict, with the real binary: from a person's table to a model that says the number in its unit.

mod support;

use serde_json::Value;
use support::Place;

const QUICK: &str = "--hidden 6 --rank 2 --epochs 6 --batch-size 16";

/// Waves; the number is how fast they are. Persons are groups.
fn waves(series: usize, with_number: bool) -> String {
    let mut text = String::from(if with_number {
        "series,step,x,y,person,hertz\n"
    } else {
        "series,step,x,y,person\n"
    });
    for one in 0..series {
        let hertz = 5.0 + (one * 37 % 101) as f64 / 10.0;
        for step in 0..20 {
            let angle = 0.0628 * hertz * step as f64 + one as f64;
            let row = format!("s{one},{step},{:.4},{:.4},p{}", angle.sin(), angle.cos(), one % 8);
            text += &if with_number {
                format!("{row},{hertz}\n")
            } else {
                row + "\n"
            };
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("waves.csv", waves(80, true));
    place.write("new.csv", waves(5, false));
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_table_with_a_number_a_series_is_learned_and_predicted() {
    let place = place();
    let train = format!("train waves.csv --target hertz --group-column person --validation 0.25 {QUICK}");
    let done = place.ok(&format!("{train} --out run"));
    for part in [
        "validation (20 sequences): RMSE ",
        ", MAE ",
        ", R2 ",
        "always the mean of the training part (",
    ] {
        assert!(done.stdout.contains(part), "{}", done.stdout);
    }
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(report["numbers"], place.json("evaluate run")["numbers"]);
    assert!(number(&report["numbers"]["always_mean"]["mean_absolute_error"]) > 0.0);
    let config = place.text("run/config.toml");
    assert!(config.contains("target = \"hertz\""), "{config}");
    assert!(
        place
            .text("run/metrics.jsonl")
            .contains("validation_root_mean_squared_error")
    );
    // New data need not have the number; where it has it, nothing changes.
    let new = place.ok("predict run new.csv").stdout;
    assert!(new.starts_with("sequence,value\ns0,"), "{new}");
    let all = place.ok("predict run waves.csv").stdout;
    assert!(all.starts_with(new.trim_end()), "{new}{all}");
    place.write("holes.csv", waves(5, true).replace(",5\n", ",\n"));
    assert_eq!(place.ok("predict run holes.csv").stdout, new);
    place.fails(
        "evaluate run holes.csv",
        1,
        &["holes.csv, line 2, column \"hertz\"", "a missing value"],
    );
    place.fails("evaluate run new.csv", 1, &["0 numbers for 5 sequences"]);
    let info = place
        .ok("data info waves.csv --target hertz --group-column person")
        .stdout;
    assert!(info.contains("numbers to predict: mean "), "{info}");
    let inspected = place.ok("inspect run").stdout;
    assert!(
        inspected.contains("one number, ") && inspected.contains("numbers that were trained on: mean "),
        "{inspected}"
    );
    // The settings of a run make it again.
    place.ok("train --config run/config.toml --out again");
    assert!(place.read("run/model.safetensors") == place.read("again/model.safetensors"));
}

#[test]
fn folds_ensembles_losses_and_comparisons_have_numbers() {
    let place = place();
    let data = "waves.csv --target hertz --group-column person";
    let report = place.json(&format!("train {data} --folds 4 {QUICK} --out folds"));
    let pooled = &report["folds"]["pooled"];
    assert_eq!(pooled["examples"], 80);
    assert!(number(&pooled["numbers"]["r2"]) <= 1.0);
    assert!(
        place
            .text("folds/folds/predictions.csv")
            .starts_with("sequence,fold,group,number,prediction\n")
    );
    let text = place
        .ok(&format!("train {data} {QUICK} --folds groups --no-final --out groups"))
        .stdout;
    assert!(
        text.contains("8 folds: RMSE ") && text.contains("held out (80 sequences): RMSE "),
        "{text}"
    );
    place.ok(&format!(
        "train {data} --ensemble 2 --loss mae --validation 0.2 {QUICK} --out several"
    ));
    let together = place.json("evaluate several");
    assert!(number(&together["numbers"]["always_mean"]["answer"]) > 5.0);
    place.ok(&format!(
        "train {data} --loss huber --validation 0.2 {QUICK} --out huber"
    ));
    assert!(place.text("huber/config.toml").contains("loss = \"huber\""));
    let table = place.ok(&format!(
        "compare {data} --cells ernn,gru --hidden 6 --epochs 2 --validation 0.2 --out both"
    ));
    assert!(table.stdout.contains("RMSE"), "{}", table.stdout);
    assert!(text.contains("worst groups: ") && text.contains("(MAE "), "{text}");
    place.ok("report folds huber both");
    assert!(place.text("report.html").contains("Predicted against true"));
    place.fails(
        "train japanese-vowels --loss mae",
        2,
        &["--loss does not go with", "a number to predict"],
    );
    place.fails(
        &format!("train {data} --loss squared"),
        2,
        &["loss: found squared", "huber"],
    );
}

#[test]
fn a_search_and_exports_have_numbers() {
    let place = place();
    let data = "waves.csv --target hertz --group-column person";
    let report = place.json(&format!(
        "train {data} --auto --trials 2 --hidden 6 --epochs 2 --out searched"
    ));
    assert!(number(&report["folds"]["pooled"]["numbers"]["mean_absolute_error"]) > 0.0);
    place.ok(&format!("train {data} --validation 0.25 {QUICK} --out run"));
    let onnx = place.ok("export run --to onnx --out model.onnx");
    assert!(onnx.stderr.contains("give the model's numbers"), "{}", onnx.stderr);
    let c = place.ok("export run --to c --out c");
    assert!(c.stderr.contains("deviations of those trained on"), "{}", c.stderr);
    assert!(place.text("c/c.h").contains("float c_value("));
    let whole = place.ok("export run --to c --format int8 --calibrate waves.csv --out c8");
    assert!(
        whole.stderr.contains("in f32, ") && whole.stderr.contains("RMSE "),
        "{}",
        whole.stderr
    );
    assert!(place.text("c8/c8.h").contains("\"hertz\" of the training data"));
}

#[test]
fn numbers_as_labels_lead_to_target_and_classes_alone_are_refused() {
    let place = place();
    place.fails(
        "train waves.csv --label-column hertz --group-column person",
        1,
        &[
            "different numbers as labels of 80 sequences",
            "Then say --target COLUMN",
            "--labels classes",
        ],
    );
    place.write("classes.ts", "@classLabel true 1 2\n@data\n1,2:1\n3,4:2\n5,6:1\n");
    place.fails(
        "train classes.ts --target y",
        1,
        &["found classes alone (1, 2)", "@targetLabel true"],
    );
    place.fails(
        "train japanese-vowels --target x",
        2,
        &["--target does not go with", "tables and arrays"],
    );
    place.fails(
        "train waves.csv --target hertz --label-column person",
        1,
        &["waves.csv, line 1: found --target hertz and --label-column person"],
    );
    place.fails("train waves.csv --target speed", 1, &["no column \"speed\" (--target)"]);
    place.fails(
        "train waves.csv --target y --group-column person",
        1,
        &["waves.csv, line 3, column \"y\"", "as on line 2"],
    );
}

#[test]
fn series_with_target_labels_are_numbers() {
    let place = Place::new();
    let part = |from: usize, count: usize| {
        let line = |one: usize| {
            let value = |step: usize| ((one * 7 + step * step * 3) % 13) as f64;
            let steps: Vec<String> = (0..8).map(|step| value(step).to_string()).collect();
            format!("{}:{}\n", steps.join(","), value(0) - value(7))
        };
        "@problemName Sums\n@univariate true\n@targetLabel true\n@data\n".to_string()
            + &(from..from + count).map(line).collect::<String>()
    };
    place.write("sums/Sums_TRAIN.ts", part(0, 30));
    place.write("sums/Sums_TEST.ts", part(30, 10));
    let report = place.json(&format!("train sums {QUICK} --out run"));
    assert_eq!((&report["part"], &report["examples"]), (&"test".into(), &10.into()));
    assert_eq!(place.ok("predict run sums/Sums_TEST.ts").stdout.lines().count(), 11);
    assert!(place.ok("data info sums").stdout.contains("one number a sequence"));
}
