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
