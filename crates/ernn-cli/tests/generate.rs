//! A text that goes on, with the real binary.

mod support;

use std::sync::LazyLock;

use serde_json::Value;
use support::{Place, easy_csv};

/// Two models of running text: `words`, whose vocabulary lacks the rare words, and `characters`; one of classes: `classes`.
static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    let lines = "the cat sat on the mat\nthe dog sat on the cat\na zebra ran\n";
    place.write("train.txt", lines.repeat(12));
    place.write("train.csv", easy_csv(40));
    let train = "train train.txt --epochs 12 --hidden 12 --learning-rate 0.03 --cell gru";
    place.ok(&format!("{train} --vocabulary 8 --out words"));
    place.ok(&format!("{train} --tokens characters --out characters"));
    place.ok("train train.csv --epochs 1 --hidden 4 --out classes");
    place
});

fn text(arguments: &str, prompt: &str) -> String {
    let mut command = PLACE.command(arguments);
    let done = support::finish(command.args(["--prompt", prompt]).output().unwrap());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    done.stdout
}

#[test]
fn words_go_on_between_blanks_and_lines_end() {
    let all = text("predict words --generate 60 --temperature 0.8", "the cat");
    assert!(all.starts_with("the cat ") && all.ends_with('\n'), "{all}");
    let tokens = all.split_inclusive(['\n', ' ']).count();
    let line_ends = all.trim_end().matches('\n').count();
    assert!(line_ends > 3 && tokens > 50, "{all}");
    assert!(
        !all.contains("  ") && !all.contains(" \n") && !all.contains("\n "),
        "{all:?}"
    );
    // Rare words are <unk> in training, and never written.
    assert!(!all.contains("<unk>") && !all.contains("<eos>"), "{all}");
    // What comes behind a blank has none of its own.
    let blank = text("predict words --generate 1", "the cat ");
    assert!(blank.starts_with("the cat ") && !blank.contains("  "), "{blank:?}");
    // Without a prompt a line begins.
    let new = PLACE.ok("predict words --generate 5").stdout;
    assert!(!new.starts_with([' ', '\n']), "{new:?}");
}

#[test]
fn characters_go_on_as_they_are() {
    let all = text("predict characters --generate 80 --temperature 0.5", "the c");
    assert!(all.starts_with("the c"), "{all}");
    let count = all.strip_suffix('\n').unwrap().chars().count();
    assert!(count == 85 || count == 84, "{count}: {all:?}");
    assert!(all.contains("the ") && !all.contains("<eos>"), "{all}");
}

#[test]
fn a_seed_is_a_text_and_temperature_0_is_one_text() {
    let with = |flags: &str| text(&format!("predict words --generate 40 {flags}"), "the");
    assert_eq!(with("--seed 4"), with("--seed 4"));
    assert_ne!(with("--seed 4"), with("--seed 5"));
    assert_eq!(with("--seed 1"), with(""));
    assert_eq!(with("--temperature 0 --seed 4"), with("--temperature 0 --seed 5"));
    assert_eq!(with("--top-k 1"), with("--temperature 0"));
    // A longer text begins like a shorter one.
    let short = text("predict words --generate 10", "the");
    assert!(with("").starts_with(short.trim_end()), "{short}");
}

#[test]
fn json_has_tokens_and_what_the_model_gave_them() {
    let lines = text(
        "predict words --generate 12 --temperature 0 --format json --digits 17",
        "the",
    );
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 12);
    // The same as the stream says of each step, where that is no <unk>.
    PLACE.write(
        "steps.txt",
        format!(
            "the\n{}",
            lines
                .iter()
                .map(|line| format!("{}\n", line["token"].as_str().unwrap()))
                .collect::<String>()
        ),
    );
    let mut command = PLACE.command("predict words --stream --format json --digits 17");
    let input = std::fs::File::open(PLACE.path("steps.txt")).unwrap();
    let said = support::finish(command.stdin(input).output().unwrap());
    let said: Vec<Value> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut compared = 0;
    for (own, stream) in lines.iter().zip(&said).filter(|(_, stream)| stream["token"] != "<unk>") {
        assert_eq!(
            (&own["token"], &own["probability"]),
            (&stream["token"], &stream["probability"])
        );
        compared += 1;
    }
    assert!(compared > 8, "{said:?}");
}

#[test]
fn unknown_words_of_the_prompt_are_named() {
    let mut command = PLACE.command("predict words --generate 3");
    let done = support::finish(command.args(["--prompt", "the unicorn sat"]).output().unwrap());
    let note = "note: not in the model's vocabulary, and read as <unk>: unicorn";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    assert!(done.stdout.starts_with("the unicorn sat "), "{}", done.stdout);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (arguments, parts) in [
        (
            "predict words train.txt --generate 5",
            &["reads no file of sequences"][..],
        ),
        (
            "predict words --generate 5 --missing zero",
            &["--missing does not go with --generate"],
        ),
        (
            "predict words --generate 5 --stream",
            &["--stream does not go with --generate"],
        ),
        (
            "predict words --generate 5 --digits 3",
            &["--digits goes with", "--format json"],
        ),
        (
            "predict words --generate 5 --format csv",
            &["--format csv does not go with --generate"],
        ),
        ("predict words --generate 5 --with characters", &["found", "expected"]),
        (
            "predict words --generate 5 --temperature -1",
            &["temperature: found -1, expected a number, 0 or more"],
        ),
        (
            "predict words --generate 5 --top-k 0",
            &["top-k: found 0, expected at least 1"],
        ),
        (
            "predict words --generate 0",
            &["--generate: found 0, expected a whole number, 1 or more"],
        ),
        ("predict words --prompt a", &["--generate"]),
        ("predict words --stream --top-k 3", &["--generate"]),
    ] {
        let done = PLACE.run(arguments);
        assert!(done.code == Some(2) || done.code == Some(1), "{arguments}: {done:?}");
        assert_eq!(done.stdout, "", "{arguments}");
        for part in parts {
            assert!(
                done.stderr.contains(part),
                "{arguments}: no `{part}` in {}",
                done.stderr
            );
        }
    }
    PLACE.fails(
        "predict classes --generate 5",
        1,
        &["expected one that was trained on running text"],
    );
}
