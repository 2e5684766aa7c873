//! Several labels at once, with the real binary: from a person's table to a model that says which labels hold.

mod support;

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;
use support::Place;

const QUICK: &str = "--hidden 6 --rank 2 --epochs 60 --learning-rate 0.02 --batch-size 16";
const COLUMNS: &str = "--labels-from rain,wind";

/// Two channels; a label holds where its channel lies high, each on its own.
fn weather(series: usize, form: fn(bool, bool) -> String, header: &str) -> String {
    let mut text = format!("series,step,x,y,group{header}\n");
    for one in 0..series {
        let (rain, wind) = (one % 2 == 1, one / 2 % 2 == 1);
        for step in 0..8 {
            let wave = (one as f64 + 0.7 * step as f64).sin() / 3.0;
            let value = |holds: bool| wave + if holds { 1.0 } else { 0.0 };
            text += &format!(
                "s{one},{step},{:.3},{:.3},p{}{}\n",
                value(rain),
                value(wind),
                one % 10,
                form(rain, wind)
            );
        }
    }
    text
}

fn flags(rain: bool, wind: bool) -> String {
    format!(",{},{}", u8::from(rain), u8::from(wind))
}

fn set(rain: bool, wind: bool) -> String {
    let names = match (rain, wind) {
        (true, true) => "wind|rain",
        (true, false) => "rain",
        (false, true) => "wind",
        (false, false) => "",
    };
    format!(",{names}")
}

fn nothing(_: bool, _: bool) -> String {
    String::new()
}

/// What a command says to these lines.
fn fed(place: &Place, arguments: &str, lines: &str) -> String {
    let mut command = place.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn place() -> Place {
    let place = Place::new();
    place.write("flags.csv", weather(80, flags, ",rain,wind"));
    place.write("sets.csv", weather(80, set, ",label"));
    place.write("new.csv", weather(4, nothing, ""));
    place
}

#[test]
fn columns_of_0_and_1_and_a_column_of_sets_are_learned_alike() {
    let place = place();
    let train = format!("train flags.csv {COLUMNS} --validation 0.3 {QUICK}");
    let done = place.ok(&format!("{train} --out run"));
    for part in [
        "mean average precision ",
        "micro F1 ",
        ", macro F1 ",
        ", all labels right ",
        "always the same probabilities: mean average precision ",
        "average precision\n",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(report["labels"], place.json("evaluate run")["labels"]);
    assert!(
        report["labels"]["mean_average_precision"].as_f64().unwrap() > 0.8,
        "{}",
        report["labels"]
    );
    assert!(place.text("run/metrics.jsonl").contains("validation_average_precision"));
    assert!(
        place
            .text("run/config.toml")
            .contains("labels_from = [\"rain\", \"wind\"]")
    );

    let train = format!("train sets.csv --task labels --validation 0.3 {QUICK}");
    place.ok(&format!("{train} --out other"));
    // The same labels in the same order, so the same parameters.
    let predict = |run: &str| place.ok(&format!("predict {run} new.csv")).stdout;
    let new = predict("run");
    assert_eq!(new, predict("other"));
    let lines: Vec<&str> = new.lines().collect();
    assert_eq!(lines[0], "sequence,labels,p_rain,p_wind");
    let named: Vec<&str> = lines[1..].iter().map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(named, ["", "rain", "wind", "rain|wind"]);

    let json = place.ok("predict run new.csv --format json").stdout;
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["labels"], serde_json::json!(["rain", "wind"]));
    assert!(last["probabilities"]["rain"].as_f64().unwrap() >= 0.5);
    // A table with the columns of the run reads as well as one without.
    assert!(place.ok("predict run flags.csv").stdout.starts_with(new.trim_end()));
    place.write("later.csv", weather(12, flags, ",rain,wind"));
    let later = place.json("evaluate run later.csv");
    assert_eq!(
        (&later["examples"], &later["labels"]["per_label"][0]["support"]),
        (&12.into(), &6.into())
    );
    let inspected = place.ok("inspect run").stdout;
    assert!(inspected.contains("2 labels of which several can hold"), "{inspected}");
    let card = place.text("run/model-card.md");
    for part in [
        "Task: which of several labels a sequence has",
        "Answers: none, one or several of 2 labels (rain, wind)",
        "| sequences with a label | trained on |",
        "| label | measured with | average precision | precision | recall | F1 |",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
}

#[test]
fn what_data_holds_is_told() {
    let place = place();
    let told = place.ok(&format!("data info flags.csv {COLUMNS}")).stdout;
    for part in ["which labels each sequence has", "  rain: 40\n", "  wind: 40"] {
        assert!(told.contains(part), "{told}");
    }
    let noted = place.ok("data info sets.csv --task labels");
    assert!(!noted.stderr.contains("--task labels"), "{}", noted.stderr);
    let many = weather(80, |_, wind| if wind { ",a|b".into() } else { ",b|c".into() }, ",label");
    place.write("many.csv", many);
    let noted = place.ok("data info many.csv").stderr;
    assert!(noted.contains("--task labels reads them as several labels"), "{noted}");
    place.ok(&format!("data show flags.csv {COLUMNS} --out page.html"));
    assert!(place.text("page.html").contains("<h2>Labels</h2>"));
}

#[test]
fn what_contradicts_is_refused() {
    let place = place();
    let third = |one: &str, other: &str| {
        let text = format!("series,step,x,rain,wind\na,0,0.5,1,0\na,1,0.25,1,0\nb,0,0.5,{one},0\nb,1,0.75,{other},1\n");
        place.write("bad.csv", text);
    };
    third("2", "0");
    let refused = format!("data info bad.csv {COLUMNS}");
    place.fails(&refused, 1, &["bad.csv", "line 4", "\"rain\"", "2", "expected 0 or 1"]);
    third("1", "0");
    place.fails(
        &refused,
        1,
        &[
            "bad.csv",
            "line 5",
            "the labels \"wind\" for series \"b\"",
            "expected the labels \"rain\" as on line 4",
        ],
    );
    third("", "1");
    place.fails(&refused, 1, &["line 4", "an empty cell", "expected 0 or 1"]);
    place.write("bad.csv", "series,x,label\na,1,r||w\nb,2,\nc,3,w\n");
    place.fails(
        "data info bad.csv --task labels",
        1,
        &["line 2", "\"r||w\"", "expected labels separated by |"],
    );
    for (flags, parts) in [
        ("--labels-from rain,fog", ["no column \"fog\"", "--labels-from"]),
        (
            "--labels-from rain,wind --label-column group",
            ["--label-column group", "one of them"],
        ),
        ("--labels-from rain,wind --target x", ["--target x", "one of them"]),
        ("--labels-from rain,rain", ["rain twice", "each column once"]),
        (
            "--labels-from rain,wind --task steps --window 4",
            ["--task steps", "a step has one class"],
        ),
    ] {
        place.fails(
            &format!("data info flags.csv {flags}"),
            if parts[1] == "--labels-from" { 1 } else { 2 },
            &parts,
        );
    }
}

/// What is for data where one class holds.
#[test]
fn what_labels_cannot_have_is_refused() {
    let place = place();
    place.fails(
        &format!("data export flags.csv {COLUMNS} --to npz --out out.npz"),
        1,
        &[
            "labels of which several can hold",
            "expected sequences of numbers with at most one",
        ],
    );
    assert!(!place.path("out.npz").exists());
    for (flags, parts) in [
        ("--calibrate", ["--calibrate", "data with classes"]),
        ("--unknown 0.05", ["--unknown", "data with a class for each sequence"]),
        ("--smooth", ["--smooth", "data with a class for each step"]),
    ] {
        place.fails(
            &format!("train flags.csv {COLUMNS} {QUICK} {flags} --out run"),
            2,
            &parts,
        );
    }
    std::fs::create_dir_all(place.path("sounds")).unwrap();
    place.write("sounds/night.wav", "");
    place.fails(
        "data info sounds --window 1s --task labels",
        2,
        &["--task does not go with sounds, recordings", "tables and arrays"],
    );
}

#[test]
fn windows_have_the_labels_that_cover_them() {
    let place = Place::new();
    let mut text = String::from("x,y,wet,loud\n");
    for row in 0..400 {
        let (wet, loud) = (row / 20 % 2, row / 40 % 2);
        let wave = (f64::from(row) * 0.9).sin() / 3.0;
        text += &format!(
            "{:.3},{:.3},{wet},{loud}\n",
            wave + f64::from(wet),
            wave + f64::from(loud)
        );
    }
    place.write("log.csv", text);
    let log = "log.csv --window 10 --labels-from wet,loud";
    let told = place.ok(&format!("data info {log}")).stdout;
    assert!(told.contains("  wet: 20\n") && told.contains("  loud: 20"), "{told}");
    // Windows of 30 rows: two thirds cover less than all of it.
    let whole = place
        .ok("data info log.csv --window 30 --labels-from wet,loud --purity 1.0")
        .stdout;
    assert!(whole.contains("  wet: 0\n"), "{whole}");
    place.ok(&format!("train {log} --validation 0.3 {QUICK} --out run"));
    let said = place.ok("predict run log.csv").stdout;
    assert!(
        said.starts_with("sequence,start,end,labels,p_wet,p_loud\n1,1,"),
        "{said}"
    );
}

#[test]
fn folds_ensembles_and_streams_give_labels() {
    let place = place();
    let train = format!("train flags.csv {COLUMNS} {QUICK}");
    let done = place.ok(&format!("{train} --folds 4 --out folds"));
    assert!(
        done.stdout.contains("held out (80 sequences): mean average precision "),
        "{}",
        done.stdout
    );
    let held_out = place.text("folds/folds/predictions.csv");
    assert!(
        held_out.starts_with("sequence,fold,group,labels,prediction,probability rain,"),
        "{held_out}"
    );
    assert!(held_out.lines().nth(4).unwrap().contains(",rain|wind,"), "{held_out}");

    place.ok(&format!("{train} --validation 0.3 --ensemble 2 --out two"));
    let [one, both] = ["two/member-1", "two"].map(|run| place.ok(&format!("predict {run} new.csv")).stdout);
    assert!(one != both && one.lines().next() == both.lines().next(), "{both}");
    let alone = place.ok("predict two/member-1 new.csv --with two/member-1").stdout;
    assert_eq!(alone, one);

    let mut steps = String::new();
    for line in weather(4, nothing, "").lines().skip(1).take(8) {
        let cells: Vec<&str> = line.split(',').collect();
        steps += &format!("{},{}\n", cells[2], cells[3]);
    }
    let streamed = fed(&place, "predict two/member-1 --stream --every 8", &steps);
    let last = streamed.lines().last().unwrap();
    let whole = one.lines().nth(1).unwrap();
    assert_eq!(last.split_once(',').unwrap().1, whole.split_once(',').unwrap().1);
    assert!(streamed.starts_with("step,labels,p_rain,p_wind\n"), "{streamed}");
}
