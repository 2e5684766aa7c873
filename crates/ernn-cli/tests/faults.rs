//! Faults that come from outside, with the real binary: names that command, models beside models.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Done, Place, case, easy_csv, finish};

/// Names of classes that would end a comment, a string or a line, or command a terminal.
const NAMES: [&str; 6] = [
    "what??/",
    "a*/ int x; /*",
    "back\\",
    "red\u{1b}[31m\u{7}",
    "\u{202e}txet\u{2066}",
    "größe \"b\"",
];

/// A wide table with these classes, told apart by their level.
fn table(classes: &[&str]) -> String {
    let mut text = String::from("label,t0,t1,t2\n");
    for number in 0..8 * classes.len() {
        let place = number % classes.len();
        let level = place as f64 + (number / classes.len()) as f64 / 20.0;
        let name = classes[place].replace('"', "\"\"");
        text += &format!("\"{name}\",{level},{level},{level}\n");
    }
    text
}

/// Whether a character commands a terminal or reorders a line; lines and tabs are text's own.
fn commands(letter: char) -> bool {
    (letter.is_control() && !"\n\t".contains(letter))
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || ('\u{2066}'..='\u{2069}').contains(&letter)
}

fn harmless(what: &str, text: &str) {
    if let Some(letter) = text.chars().find(|&letter| commands(letter)) {
        panic!("{what} has {letter:?} raw: {text:?}");
    }
}

fn harmless_done(what: &str, done: &Done) {
    harmless(what, &done.stdout);
    harmless(what, &done.stderr);
}

fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: no {program}");
    }
    found
}

fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else if let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) {
            found.push((path.display().to_string(), text));
        }
    }
    found
}

#[test]
fn names_that_command_reach_no_terminal_page_or_source() {
    let place = Place::new();
    place.write("odd.csv", table(&NAMES));
    let done = place.ok("train odd.csv --epochs 2 --hidden 4 --out run");
    harmless_done("train", &done);
    assert!(done.stdout.contains("red\\u{1b}[31m\\u{7}"), "{}", done.stdout);
    for command in [
        "evaluate run odd.csv",
        "evaluate run odd.csv --json",
        "inspect run",
        "inspect run --json",
        "data info odd.csv",
        "data info odd.csv --json",
        "predict run odd.csv --format json",
        "report run --out page.html",
    ] {
        harmless_done(command, &place.ok(command));
    }
    for page in ["page.html", "page.md", "run/curves.svg"] {
        harmless(page, &place.text(page));
    }
    let json = place.json("evaluate run odd.csv");
    let names: Vec<&str> = (0..NAMES.len())
        .map(|index| json["per_class"][index]["name"].as_str().unwrap())
        .collect();
    assert!(NAMES.iter().all(|name| names.contains(name)), "{names:?}");
    // A table for programs keeps names as they are.
    let predicted = place.ok("predict run odd.csv").stdout;
    assert!(predicted.contains("red\u{1b}[31m\u{7}"));

    place.write("other.csv", table(&["red\u{1b}[2J", "b"]));
    harmless_done(
        "evaluate",
        &place.fails("evaluate run other.csv", 1, &["red\\u{1b}[2J"]),
    );
    harmless_done(
        "train",
        &place.fails("train no\u{1b}[2J\u{202e}.csv", 1, &["no\\u{1b}[2J\\u{202e}.csv"]),
    );

    place.ok("export run --to c --out c");
    place.ok("export run --to rust --out rust");
    for (file, text) in texts(&place.path("c")).into_iter().chain(texts(&place.path("rust"))) {
        harmless(&file, &text);
    }
    if ["clang", "wasm-ld"].into_iter().all(has) {
        place.ok("export run --to web --out web");
        harmless("page", &place.text("web/web.html"));
    }
}

#[test]
fn the_case_with_a_trigraph_trains_and_compiles() {
    let Some(file) = case("trigraph_label.csv") else { return };
    let place = Place::new();
    place.ok(&format!(
        "train {} --epochs 1 --hidden 4 --validation 0.5 --out run",
        file.display()
    ));
    let done = place.ok("export run --to c --out c");
    if has("cc") {
        assert!(done.stderr.contains("the self-test passes"), "{}", done.stderr);
    }
    assert!(place.text("c/c_info.c").contains("\"what\\?\\?/\""));
}

/// Compiles and runs a program in `place` with the sources named.
fn program(place: &Place, main: &str, sources: &[&str]) -> Done {
    place.write("main.c", main);
    let output = Command::new("cc")
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-o",
            "program",
            "main.c",
        ])
        .args(sources)
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    finish(Command::new(place.path("program")).output().unwrap())
}

const MAIN: &str = r#"
#include <stdio.h>
#include "wrist/wrist.h"
#include "my-ankle/my_ankle.h"
#ifndef WRIST_H
#error "no guard of its own"
#endif

static wrist_state first;
static wrist_scratch first_scratch;
static my_ankle_state second;
static my_ankle_scratch second_scratch;

int main(void)
{
    const float steps[2][2] = { { 0.0f, 0.5f }, { 1.0f, 0.25f } };
    wrist_logit logits[WRIST_OUTPUTS], nothing[WRIST_OUTPUTS];
    my_ankle_logit others[MY_ANKLE_OUTPUTS];
    float shares[WRIST_OUTPUTS], more[MY_ANKLE_OUTPUTS];
    int i;
    if (wrist_selftest() || my_ankle_selftest())
        return 1;
    wrist_reset(&first);
    my_ankle_reset(&second);
    for (i = 0; i < 2; i++)
        if (wrist_push(&first, &first_scratch, steps[i]) || my_ankle_push(&second, &second_scratch, steps[i]))
            return 2;
    wrist_logits(&first, &first_scratch, logits);
    my_ankle_logits(&second, &second_scratch, others);
    i = wrist_probabilities(logits, shares);
    my_ankle_probabilities(others, more);
    printf("%s %.6f %.6f\n", wrist_class_names[i], (double)shares[0], (double)shares[1]);
    printf("%s %.6f %.6f\n", my_ankle_class_names[my_ankle_class(others)], (double)more[0], (double)more[1]);
    printf("%s %s %d %s\n", wrist_input_names[0], wrist_input_names[1], WRIST_WINDOW, WRIST_MODEL_ID);
    nothing[0] = 0.0f;
    nothing[1] = (wrist_logit)1e38f * 1e38f;
    printf("%d %d\n", wrist_class(nothing), wrist_probabilities(nothing, shares));
    return 0;
}
"#;

/// Two models in one program, each with the probabilities that `predict` gives.
#[test]
fn two_models_stand_in_one_program() {
    if !has("cc") {
        return;
    }
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --cell gru --epochs 6 --hidden 6 --out first");
    place.ok("train train.csv --cell rnn --epochs 6 --hidden 5 --out second");
    place.ok("export first --to c --out wrist");
    place.ok("export second --to c --out my-ankle");
    let sources = [
        "wrist/wrist.c",
        "wrist/wrist_info.c",
        "wrist/wrist_selftest.c",
        "my-ankle/my_ankle.c",
        "my-ankle/my_ankle_info.c",
        "my-ankle/my_ankle_selftest.c",
    ];
    let done = program(&place, MAIN, &sources);
    assert_eq!(done.code, Some(0));
    let said: Vec<&str> = done.stdout.lines().collect();
    place.write("new.csv", "series,step,x,y\na,0,0,0.5\na,1,1,0.25\n");
    for (model, line) in [("first", said[0]), ("second", said[1])] {
        let text = place
            .ok(&format!("predict {model} new.csv --format json --digits 9"))
            .stdout;
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(json["class"], words[0]);
        for (class, word) in ["down", "up"].iter().zip(&words[1..]) {
            let difference = json["probabilities"][class].as_f64().unwrap() - word.parse::<f64>().unwrap();
            assert!(difference.abs() < 1e-5, "{text}{line}");
        }
    }
    assert!(said[2].starts_with("x y 7 "), "{}", said[2]);
    assert_eq!(said[3], "-1 -1");
    // Equal models have equal names, and others others.
    place.ok("export first --to c --out again");
    let id = |folder: &str, file: &str| {
        let text = place.text(&format!("{folder}/{file}.h"));
        text.split("_MODEL_ID ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_string()
    };
    assert_eq!(id("wrist", "wrist"), id("again", "again"));
    assert_ne!(id("wrist", "wrist"), id("my-ankle", "my_ankle"));
}

const WHOLE: &str = r#"
#include <stdio.h>
#include "whole/whole.h"

int main(void)
{
    static whole_state floats, counts;
    static whole_scratch scratch;
    const float unit[2] = { 0.001f, 0.25f };
    const float huge[2] = { 1e38f, 1.0f };
    whole_logit a[WHOLE_OUTPUTS], b[WHOLE_OUTPUTS];
    int step, i;
    whole_reset(&floats);
    whole_reset(&counts);
    for (step = 0; step < 5; step++) {
        int16_t input[2] = { (int16_t)(700 * step - 1000), (int16_t)step };
        float values[2];
        for (i = 0; i < 2; i++)
            values[i] = (float)input[i] * unit[i];
        if (whole_push(&floats, &scratch, values) || whole_push_int16(&counts, &scratch, input, unit))
            return 1;
        if (step && whole_push_int16(&counts, &scratch, input, huge) != -1)
            return 2;
    }
    whole_logits(&floats, &scratch, a);
    whole_logits(&counts, &scratch, b);
    for (i = 0; i < WHOLE_OUTPUTS; i++)
        if (a[i] != b[i])
            return 3;
    printf("%g\n", (double)WHOLE_LOGIT_SCALE);
    return 0;
}
"#;

/// Counts of a sensor give the bits of the numbers that they stand for.
#[test]
fn whole_numbers_of_a_sensor_go_in_as_they_are() {
    if !has("cc") {
        return;
    }
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --cell gru --epochs 4 --hidden 6 --out run");
    place.ok("export run --to c --out whole --format int8 --calibrate train.csv");
    let done = program(&place, WHOLE, &["whole/whole.c", "whole/whole_info.c"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "65536\n"));
    let header = place.text("whole/whole.h");
    for part in [
        "class 0: \"down\"",
        "input 1: \"y\"",
        "units of the training data",
        "for (int i = 0; i < WHOLE_WINDOW; i++)",
        "#define WHOLE_WINDOW 7 ",
        "In the run: accuracy",
    ] {
        assert!(header.contains(part), "no {part} in {header}");
    }
}

/// What code for a device does not do, it says.
#[test]
fn what_an_export_does_not_compute_is_said() {
    let place = Place::new();
    let mut reviews = String::from("text,label\n");
    for number in 0..20 {
        reviews += if number % 2 == 0 {
            "good food,glad\n"
        } else {
            "bad food,sad\n"
        };
    }
    place.write("reviews.csv", reviews);
    place.ok("train reviews.csv --text-column text --epochs 1 --hidden 4 --out run");
    place.ok("export run --to c --out words");
    place.ok("export run --to rust --out crate");
    for file in ["words/words.h", "crate/src/lib.rs"] {
        assert!(place.text(file).contains("There is no tokenizer here"), "{file}");
    }
    assert!(place.text("crate/Cargo.toml").contains("name = \"model_crate\""));
    place.fails(
        "export run --to c --out d --name stdint",
        2,
        &["name: found stdint", "model_stdint is free"],
    );
}

/// A command line in a shell, whose `ernn` is the real binary.
fn shell(place: &Place, line: &str) -> Done {
    let binary = env!("CARGO_BIN_EXE_ernn");
    let line = format!("ernn() {{ '{binary}' \"$@\"; }}\n{line}");
    finish(
        Command::new("sh")
            .args(["-c", &line])
            .current_dir(place.path("."))
            .output()
            .unwrap(),
    )
}

#[test]
fn a_run_that_cannot_fit_is_refused_with_what_it_needs() {
    let place = Place::new();
    let parts = [
        "memory: found a need of ",
        "GB, expected at most ",
        "available; what helps: a smaller --hidden",
    ];
    place.fails(
        "train digits --hidden 65536 --rank full --layers 16 --out run",
        1,
        &parts,
    );
    assert!(!place.path("run").exists());
    for hidden in ["100000000", "18446744073709551615"] {
        place.fails(&format!("train digits --hidden {hidden} --out run"), 2, &["hidden"]);
    }
    if cfg!(target_os = "linux") {
        let train = "ernn train digits --hidden 4096 --rank full --threads 2 --epochs 1 --out run";
        let done = shell(&place, &format!("ulimit -v 1000000 && {train}"));
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        for part in [
            "memory: found a need of ",
            ", expected at most ",
            "what helps: a smaller --hidden",
        ] {
            assert!(done.stderr.contains(part), "no `{part}` in {}", done.stderr);
        }
    }
}

/// A model of two channels, and three sequences of which the second cannot be normalized.
fn with_an_odd_one() -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --cell rnn --epochs 2 --hidden 6 --out run");
    place.write("good.csv", "series,step,x,y\na,0,0,0.5\nc,0,1,0.25\nc,1,2,0.5\n");
    place.write(
        "odd.csv",
        "series,step,x,y\na,0,0,0.5\nb,0,0,3e38\nc,0,1,0.25\nc,1,2,0.5\n",
    );
    place
}

#[test]
fn a_sequence_that_is_not_finite_keeps_no_other_from_its_answer() {
    let place = with_an_odd_one();
    let good = place.ok("predict run good.csv").stdout;
    let done = place.fails(
        "predict run odd.csv",
        1,
        &["1 of 3 sequences have no answer; the first: sequence 2, step 1, channel 2: found 3"],
    );
    let (good, odd): (Vec<&str>, Vec<&str>) = (good.lines().collect(), done.stdout.lines().collect());
    assert_eq!(odd, [good[0], good[1], "b,,,", good[2]]);
    let done = place.fails("predict run odd.csv --format json", 1, &["1 of 3 sequences"]);
    let lines: Vec<serde_json::Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines[0]["class"].is_string() && lines[2]["class"].is_string());
    assert!(lines[1]["class"].is_null() && lines[1]["problem"].as_str().unwrap().contains("step 1"));
}

#[cfg(unix)]
#[test]
fn pipes_are_read_as_stdin_is() {
    let place = with_an_odd_one();
    let whole = place.ok("predict run good.csv").stdout;
    place.write("steps.txt", "0,0.5\n1,0.25\n");
    let steps = shell(&place, "ernn predict run --stream < steps.txt").stdout;
    assert_eq!(steps.lines().count(), 3);
    for (line, expected) in [
        ("cat good.csv | ernn predict run /dev/stdin", &whole),
        ("mkfifo a; cat good.csv > a & ernn predict run a", &whole),
        ("cat steps.txt | ernn predict run --stream -", &steps),
        ("cat steps.txt | ernn predict run --stream /dev/stdin", &steps),
        ("mkfifo b; cat steps.txt > b & ernn predict run --stream b", &steps),
        ("cat run/model.safetensors | ernn predict /dev/stdin good.csv", &whole),
    ] {
        let done = shell(&place, line);
        assert_eq!(
            (done.code, &done.stdout),
            (Some(0), expected),
            "{line}: {}",
            done.stderr
        );
    }
}

/// What killed runs have left goes with the next run; what is not theirs stays.
#[test]
fn temporary_files_of_killed_runs_are_removed() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok("train train.csv --epochs 1 --hidden 4 --out run");
    let half = "run/.checkpoint.safetensors.4999999.tmp";
    for file in [
        half,
        "run/.notes.tmp",
        "begun/.config.toml.4999999.tmp",
        "begun/metrics.jsonl",
    ] {
        place.write(file, "");
    }
    place.ok("train --resume run --epochs 2");
    assert!(!place.path(half).exists() && place.path("run/.notes.tmp").exists());
    place.ok("train train.csv --epochs 1 --hidden 4 --out begun");
    assert!(!place.path("begun/.config.toml.4999999.tmp").exists());
}

/// A loss far above guessing is said, with what helps.
#[test]
fn training_that_goes_wrong_quietly_is_remarked_upon() {
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    let run = "train train.csv --cell ernn --rank full --hidden 16 --epochs 1";
    let done = place.ok(&format!("{run} --out quiet"));
    assert!(!done.stderr.contains("guessing"), "{}", done.stderr);
    let done = place.ok(&format!("{run} --eta 3 --out loud"));
    let said: Vec<&str> = done.stderr.lines().filter(|line| line.contains("guessing")).collect();
    assert_eq!(said.len(), 1, "{}", done.stderr);
    assert!(
        said[0].starts_with("warning: the first loss is ") && said[0].contains("a smaller --eta"),
        "{}",
        said[0]
    );
}
