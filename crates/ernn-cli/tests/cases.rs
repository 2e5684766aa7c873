//! The small inputs that broke other tools, through the real binary, each with its right result.

mod support;

use support::{Place, case};

/// Little training for little data.
const QUICK: &str = "--epochs 2 --hidden 4 --rank 2 --batch-size 16";

/// Runs `check` with the path of each file that is there.
fn with(names: &[&str], check: impl Fn(&Place, &str)) {
    for name in names {
        if let Some(path) = case(name) {
            check(&Place::new(), path.to_str().unwrap());
        }
    }
}

fn refuses(names: &[&str], parts: &[&str]) {
    with(names, |place, path| {
        place.fails(&format!("train {path} {QUICK}"), 1, parts);
        place.fails(&format!("data info {path}"), 1, parts);
    });
}

#[test]
fn missing_values_are_refused_or_filled() {
    with(&["missing_values.csv", "missing_values.ts"], |place, path| {
        let choice = "--missing interpolate, previous or zero";
        place.fails(
            &format!("train {path} {QUICK}"),
            1,
            &["missing values", "line ", choice],
        );
        for policy in ["interpolate", "previous", "zero"] {
            let report = place.json(&format!("train {path} {QUICK} --missing {policy} --validation 0"));
            assert!(report["loss"].is_number(), "never NaN: {report}");
            // The model reads data as its run did.
            let run = report["out"].as_str().unwrap();
            place.ok(&format!("evaluate {run} {path}"));
            place.ok(&format!("predict {run} {path}"));
            place.fails(
                &format!("predict {run} {path} --missing refuse"),
                1,
                &["missing values"],
            );
        }
    });
}

#[test]
fn labels_come_back_as_they_were() {
    for (name, classes) in [
        ("labels_numeric_text.csv", ["2", "9", "10"].as_slice()),
        ("labels_minus_one.csv", &["-1", "1"]),
        ("labels_from_one.npy", &["1", "2", "3"]),
    ] {
        with(&[name], |place, path| {
            let features = if name.ends_with("npy") { "--features 3" } else { "" };
            let info = place.json(&format!("data info {path} {features}"));
            assert_eq!(info["classes"], serde_json::json!(classes), "{name}");
            place.ok(&format!("train {path} {QUICK} {features} --validation 0 --out run"));
            assert_eq!(
                place.json("inspect run")["classes"],
                serde_json::json!(classes),
                "{name}"
            );
        });
    }
}

#[test]
fn a_label_that_only_the_test_file_has_is_named() {
    let (Some(train), Some(test)) = (case("new_label_train.csv"), case("new_label_test.csv")) else {
        return;
    };
    let place = Place::new();
    place.ok(&format!("train {} {QUICK} --validation 0 --out run", train.display()));
    let done = place.fails(&format!("evaluate run {}", test.display()), 1, &["new_label_test.csv"]);
    let known = place.json("inspect run")["classes"].as_array().unwrap().clone();
    for class in known {
        assert!(done.stderr.contains(class.as_str().unwrap()), "{}", done.stderr);
    }
    let mut both = place.command(&format!("predict run {}", test.display()));
    assert_eq!(both.output().unwrap().status.code(), Some(0), "predict needs no labels");
}

#[test]
fn what_cannot_be_read_is_refused() {
    refuses(&["label_changes.csv"], &["label_changes.csv", "line "]);
    refuses(&["empty.csv"], &["empty.csv"]);
    refuses(&["header_only.csv"], &["header_only.csv"]);
    refuses(&["truncated.npy"], &["truncated.npy", "bytes"]);
    refuses(&["not_a_number.csv"], &["not_a_number.csv", "line ", "column"]);
    refuses(&["label_not_declared.ts"], &["label_not_declared.ts", "line "]);
}

#[test]
fn a_constant_channel_becomes_zero() {
    with(&["constant_channel.csv"], |place, path| {
        let report = place.json(&format!("train {path} {QUICK} --validation 0 --out run"));
        assert!(report["loss"].as_f64().unwrap().is_finite());
        let scales = place.json("inspect run")["normalization"]["scale"].clone();
        assert!(scales.as_array().unwrap().contains(&serde_json::json!(0.0)), "{scales}");
    });
}

#[test]
fn sizes_are_what_they_are() {
    let facts = |path: &str, flags: &str| {
        let info = Place::new().json(&format!("data info {path} {flags}"));
        let train = info["parts"][0].clone();
        [
            &info["features"],
            &train["sequences"],
            &train["shortest"],
            &train["longest"],
        ]
        .map(|value| value.as_u64().unwrap())
    };
    with(&["bom_crlf_semicolon.csv"], |_, path| {
        assert_eq!(facts(path, "")[..2], [2, 8])
    });
    with(&["batch_axis.npz"], |_, path| assert_eq!(facts(path, ""), [5, 2, 3, 3]));
    with(&["unequal_lengths.csv"], |_, path| {
        assert_eq!(facts(path, "")[2..], [1, 400])
    });
    with(&["edgeml_fortran_order.npy", "edgeml_big_endian.npy"], |_, path| {
        let found = facts(path, "--features 3");
        assert_eq!([found[0], found[2], found[3]], [3, 5, 5]);
    });
    with(&["interleaved.csv"], |place, path| {
        place.ok(&format!("data info {path}"));
    });
}

#[test]
fn unequal_lengths_do_not_leak() {
    with(&["unequal_lengths.csv"], |place, path| {
        place.ok(&format!("train {path} {QUICK} --validation 0 --out run"));
        let together = place.ok(&format!("predict run {path}")).stdout;
        let text = std::fs::read_to_string(path).unwrap();
        let header = text.lines().next().unwrap();
        let name = |line: &str| line.split(',').next().unwrap().to_string();
        let mut series: Vec<String> = text.lines().skip(1).map(name).collect();
        series.dedup();
        assert!(series.len() > 3);
        for (index, own) in series.iter().enumerate() {
            let rows: Vec<&str> = text.lines().skip(1).filter(|line| name(line) == *own).collect();
            place.write("alone.csv", format!("{header}\n{}\n", rows.join("\n")));
            let alone = place.ok("predict run alone.csv").stdout;
            assert_eq!(alone.lines().nth(1), together.lines().nth(index + 1), "series {own}");
        }
    });
}

#[test]
fn overflow_is_never_silent() {
    with(&["overflow.csv"], |place, path| {
        let done = place.run(&format!("train {path} {QUICK} --validation 0 --json"));
        match done.code {
            Some(0) => {
                let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
                assert!(report["loss"].is_number(), "{report}");
            }
            code => assert!(code == Some(1) && done.stderr.contains("error: "), "{done:?}"),
        }
    });
}

#[test]
fn imbalance_shows() {
    with(&["imbalanced.csv"], |place, path| {
        let report = place.json(&format!("train {path} {QUICK} --class-weights balanced --out run"));
        assert!(report["balanced_accuracy"].is_number());
        assert!(report["per_class"][0]["recall"].is_number());
        let text = place.ok(&format!("evaluate run {path}")).stdout;
        assert!(text.contains("recall") && text.contains("balanced accuracy"), "{text}");
    });
}

#[test]
fn unlabelled_sequences_can_be_classified_but_not_trained_on() {
    with(&["unlabelled.ts"], |place, path| {
        let info = place.json(&format!("data info {path}"));
        assert_eq!(
            (info["features"].as_u64(), info["parts"][0]["longest"].as_u64()),
            (Some(2), Some(3))
        );
        place.fails(&format!("train {path}"), 1, &["without labels"]);
        place.write("train.csv", support::easy_csv(20));
        place.ok(&format!("train train.csv {QUICK} --out run"));
        let sequences = info["parts"][0]["sequences"].as_u64().unwrap() as usize;
        assert_eq!(
            place.ok(&format!("predict run {path}")).stdout.lines().count(),
            1 + sequences
        );
    });
}

#[test]
fn the_index_of_a_dataframe_is_no_channel() {
    refuses(
        &["pandas_index.csv"],
        &[
            "pandas_index.csv, line 1",
            "column 1 without a name",
            "to_csv(index=False)",
        ],
    );
    with(&["pandas_index.csv"], |place, path| {
        let mut ignoring = place.command(&format!("data info {path} --json"));
        let done = support::finish(ignoring.args(["--ignore", "Unnamed: 0"]).output().unwrap());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let info: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(info["feature_names"], serde_json::json!(["x"]));
    });
}

#[test]
fn another_encoding_is_refused_or_said() {
    refuses(
        &["latin1_labels.csv"],
        &["latin1_labels.csv, line 2, byte 29", "0xe9", "--encoding latin-1"],
    );
    with(&["latin1_labels.csv"], |place, path| {
        let info = place.json(&format!("data info {path} --encoding latin-1"));
        assert_eq!(info["classes"], serde_json::json!(["cafè", "café"]));
        // The run's settings say it again.
        place.ok(&format!(
            "train {path} {QUICK} --validation 0 --encoding latin-1 --out run"
        ));
        place.ok(&format!("evaluate run {path}"));
        place.ok(&format!("predict run {path}"));
    });
}

#[test]
fn a_quote_that_never_closes_is_refused() {
    refuses(
        &["stray_quote.csv"],
        &["stray_quote.csv, line 32", "a quote that never closes"],
    );
}

#[test]
fn groups_of_a_table_are_read() {
    with(&["groups.csv"], |place, path| {
        let info = place.json(&format!("data info {path}"));
        assert!(info["parts"][0]["groups"].as_u64().unwrap() > 1, "{info}");
        assert!(
            !info["feature_names"]
                .as_array()
                .unwrap()
                .contains(&serde_json::json!("group"))
        );
    });
}

#[test]
fn rows_without_a_header_are_refused_or_read_as_the_archive_has_them() {
    refuses(
        &["wide_first_row_missing.csv"],
        &["line 1: found numbers and missing values", "--layout ucr"],
    );
    refuses(&["ucr.tsv"], &["line 1: found numbers only", "--layout ucr"]);
    with(&["ucr.tsv"], |place, path| {
        let info = place.json(&format!("data info {path} --layout ucr"));
        assert_eq!(info["classes"], serde_json::json!(["1", "2"]));
        assert_eq!(info["parts"][0]["longest"], 2);
        place.ok(&format!("train {path} {QUICK} --validation 0 --layout ucr --out run"));
        place.ok(&format!("evaluate run {path}"));
    });
}

#[test]
fn classes_with_odd_names_train() {
    with(&["trigraph_label.csv"], |place, path| {
        place.ok(&format!("train {path} {QUICK} --validation 0 --out run"));
        assert_eq!(
            place.json("inspect run")["classes"],
            serde_json::json!(["b", "what??/"])
        );
    });
}
