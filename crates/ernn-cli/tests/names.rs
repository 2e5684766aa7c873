//! Tokens, channels and classes are what their names say, wherever they stand in a file.

mod support;

use serde_json::Value;
use support::Place;

/// Lines of a made-up language: which words come next depends on the words, and rare ones are many.
fn story(lines: std::ops::Range<usize>) -> String {
    let words = ["the", "cat", "sat", "on", "a", "mat", "and", "dog"];
    let line = |line: usize| {
        let picked = (0..8).map(|place| words[(line * line + place * (1 + line % 3)) % words.len()]);
        picked.collect::<Vec<_>>().join(" ") + &format!(" end{}\n", line % 11)
    };
    lines.map(line).collect()
}

/// Loss and steps of a report.
fn measured(report: &Value) -> (&Value, &Value) {
    (&report["loss"], &report["examples"])
}

#[test]
fn a_text_is_read_with_the_vocabulary_of_the_model() {
    let place = Place::new();
    place.write("text/train.txt", story(0..60));
    place.write("text/valid.txt", story(60..70));
    place.write("text/test.txt", story(71..83));
    place.ok("train text --cell gru --hidden 16 --epochs 3 --out run");
    let in_folder = place.json("evaluate run text");
    let alone = place.json("evaluate run text/test.txt");
    assert!(in_folder["loss"].is_number(), "{in_folder}");
    assert_eq!(measured(&in_folder), measured(&alone));
    // More different words than the model knows: they are its <unk>, as in a part of its own data.
    let many: String = (0..200).map(|word| format!("new{word} the cat\n")).collect();
    place.write("many.txt", many);
    place.ok("evaluate run many.txt");
    place.ok("analyze run many.txt --out analysis");
}

/// The table of easy sequences with its columns in the order of these names, some of them under another name.
fn table(columns: [&str; 2], names: [&str; 2]) -> String {
    let text = support::easy_csv(60);
    let place = |name: &str| if name == "x" { 2 } else { 3 };
    let rows = text.lines().skip(1).map(|line| {
        let values: Vec<&str> = line.split(',').collect();
        let [first, second] = columns.map(|column| values[place(column)]);
        format!("{},{},{first},{second},{}\n", values[0], values[1], values[4])
    });
    let header = format!("series,step,{},{},label\n", names[0], names[1]);
    std::iter::once(header).chain(rows).collect()
}

#[test]
fn the_parts_of_a_folder_have_their_channels_by_name() {
    let place = Place::new();
    place.write("alike/train.csv", table(["x", "y"], ["x", "y"]));
    place.write("alike/test.csv", table(["x", "y"], ["x", "y"]));
    place.write("other/train.csv", table(["x", "y"], ["x", "y"]));
    place.write("other/test.csv", table(["y", "x"], ["y", "x"]));
    place.write("wrong/train.csv", table(["x", "y"], ["x", "y"]));
    place.write("wrong/test.csv", table(["x", "y"], ["x", "z"]));
    place.ok("train alike --cell gru --hidden 8 --epochs 6 --out run");
    let alike = place.json("evaluate run alike");
    assert_eq!(measured(&place.json("evaluate run other")), measured(&alike));
    let parts = ["test.csv: found the channels x, z, expected x, y as in wrong/train.csv"];
    place.fails("train wrong --out wrong-run", 1, &parts);
}

#[test]
fn channels_of_a_model_are_found_by_name_or_not_guessed() {
    let place = Place::new();
    place.write("own.csv", table(["x", "y"], ["x", "y"]));
    place.write("turned.csv", table(["y", "x"], ["y", "x"]));
    place.write("part.csv", table(["x", "y"], ["y", "z"]));
    place.write("foreign.csv", table(["x", "y"], ["a", "b"]));
    place.ok("train own.csv --cell gru --hidden 8 --epochs 2 --out run");
    let own = place.ok("predict run own.csv");
    assert_eq!(place.ok("predict run turned.csv").stdout, own.stdout);
    let refusal = ["part.csv: found the channels y, z, expected those of the model: x, y"];
    place.fails("predict run part.csv", 1, &refusal);
    place.fails("evaluate run part.csv", 1, &refusal);
    let foreign = place.ok("predict run foreign.csv");
    assert_eq!(foreign.stdout, own.stdout);
    let warning = "warning: foreign.csv: the channels a, b are read in this order as the model's x, y";
    assert_eq!(foreign.stderr.matches(warning).count(), 1, "{}", foreign.stderr);
    assert!(!own.stderr.contains("warning: own.csv"), "{}", own.stderr);
}

#[test]
fn a_run_begins_with_weights_by_name_and_goes_on_with_them() {
    let place = Place::new();
    place.write("own.csv", table(["x", "y"], ["x", "y"]));
    place.write("turned.csv", table(["y", "x"], ["y", "x"]));
    place.ok("train own.csv --cell gru --hidden 8 --epochs 8 --out run");
    let flags = "--epochs 1 --learning-rate 1e-9 --retrain false";
    let own = place.json(&format!("train own.csv --from run {flags} --out own"));
    let turned = place.json(&format!("train turned.csv --from run {flags} --out turned"));
    assert_eq!(turned["loss"], own["loss"]);
    // Its own data is known by the order that it was put into, and resumed with it.
    assert_eq!(place.json("evaluate turned turned.csv")["part"], "validation");
    place.ok("train --resume turned --epochs 2");
    place.write("other.csv", support::easy_csv(60).replace("down", "left"));
    let parts = ["other.csv: found the classes left, up, expected those of run/model.safetensors: down, up"];
    place.fails(&format!("train other.csv --from run {flags} --out other"), 1, &parts);
}

#[test]
fn step_sizes_of_other_steps_are_refused_with_both_numbers() {
    let place = Place::new();
    place.write("own.csv", support::easy_csv(60));
    let long: String = (0..12).map(|step| format!("long,{step},{step},0,up\n")).collect();
    place.write("long.csv", support::easy_csv(60) + &long);
    place.ok("train own.csv --hidden 8 --rank 2 --epochs 1 --steps per-step --out run");
    let parts = [
        "from: found run/model.safetensors with a step size for each of 7 steps",
        "expected 12, the steps of the longest sequence",
        "--steps per-iteration",
    ];
    place.fails("train long.csv --from run --out other", 2, &parts);
}
