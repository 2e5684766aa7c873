//! From log files to answers through the real binary: windows by time, labels by rows, events and folders.

mod support;

use support::Place;

/// Little training for little data.
const QUICK: &str = "--epochs 8 --hidden 8 --rank 2 --batch-size 8";
const WINDOWS: &str = "--time timestamp --rate 50 --window 0.5s --hop 0.25s --label activity";

/// A person's log at about 50 Hz in ISO 8601, with jitter: two kinds of movement that take turns.
fn log(person: usize, rows: usize) -> String {
    let mut text = String::from("timestamp,ax,ay,activity\n");
    for row in 0..rows {
        let kind = row / 120 % 2;
        let jitter = (row * 7 + person) % 5;
        let milliseconds = 20 * row + jitter;
        let wave = (row as f64 * [0.2, 0.7][kind]).sin();
        text += &format!(
            "2026-03-0{}T12:00:{:02}.{:03}Z,{wave:.4},{:.4},{}\n",
            1 + person,
            milliseconds / 1000,
            milliseconds % 1000,
            0.1 * person as f64 + (row % 3) as f64,
            ["walk", "run"][kind]
        );
    }
    text
}

fn logs(place: &Place) {
    for person in 0..5 {
        place.write(&format!("logs/person_{person}.csv"), log(person, 960));
    }
}

fn without_labels(text: &str) -> String {
    let cut = |row: &str| row.rsplit_once(',').unwrap().0.to_string() + "\n";
    text.lines().map(cut).collect()
}

#[test]
fn a_folder_of_logs_becomes_a_model_that_answers_with_times() {
    let place = Place::new();
    logs(&place);
    let info = place.ok(&format!("data info logs {WINDOWS}"));
    let said = format!("{}{}", info.stdout, info.stderr);
    for part in [
        "5 recordings of 95.9 s in all, 4,800 rows at 50 Hz",
        "windows of 25 steps (0.5 s)",
        "left out:",
        "5 groups",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let facts = place.json(&format!("data info logs {WINDOWS}"));
    assert_eq!(facts["recordings"][0]["recordings"], 5, "{facts}");
    assert_eq!(facts["recordings"][0]["window"], 25);
    place.ok(&format!("train logs {WINDOWS} {QUICK} --out run"));
    let config = place.text("run/config.toml");
    for part in [
        "window = \"0.5s\"",
        "[data.table.recordings]",
        "hop = \"0.25s\"",
        "rate = 50.0",
        "time_column = \"timestamp\"",
    ] {
        assert!(config.contains(part), "{part} in {config}");
    }
    let own = place.json("evaluate run logs --part validation");
    assert!(own["accuracy"].as_f64().unwrap() > 0.9, "{own}");
    // New data needs no labels, and every window has an answer with its times.
    place.write("new.csv", without_labels(&log(7, 300)));
    let answers = place.ok("predict run new.csv").stdout;
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines[0], "sequence,start,end,class,p_run,p_walk");
    assert_eq!(lines.len(), 1 + (300 - 25) / 12 + 1 - 1, "{answers}");
    assert!(
        lines[1].starts_with("1,2026-03-08T12:00:00.002Z,2026-03-08T12:00:00.502Z,walk,"),
        "{}",
        lines[1]
    );
    let json = place.ok("predict run new.csv --format json").stdout;
    assert!(
        json.lines()
            .next()
            .unwrap()
            .contains("\"start\":\"2026-03-08T12:00:00.002Z\""),
        "{json}"
    );
    // A folder, a pipe, and the same windows from both.
    place.write("more/new.csv", without_labels(&log(7, 300)));
    assert_eq!(place.ok("predict run more").stdout.lines().count(), lines.len());
    let apart = place.ok("predict run new.csv --hop 0.5s").stdout;
    assert!(apart.lines().count() < lines.len());
    place.ok(&format!(
        "train --config run/config.toml {QUICK} --threads 2 --out again"
    ));
    assert_eq!(
        place.read("run/model.safetensors"),
        place.read("again/model.safetensors")
    );
}

#[test]
fn labels_come_from_a_file_of_events() {
    let place = Place::new();
    place.write("night.csv", without_labels(&log(0, 2400)));
    let mut events = String::from("start,end,label\n");
    for bout in 0..20 {
        events += &format!(
            "{},{},{}\n",
            f64::from(bout) * 2.4,
            f64::from(bout) * 2.4 + 2.4,
            ["walk", "run"][bout as usize % 2]
        );
    }
    place.write("events.csv", events);
    let flags = WINDOWS.replace(" --label activity", "") + " --labels events.csv";
    let done = place.ok(&format!("train night.csv {flags} {QUICK} --out run"));
    assert!(
        done.stderr.contains("blocks of time that follow each other"),
        "{}",
        done.stderr
    );
    place.ok("predict run night.csv");
    // The events were of that night, and the run knows them; another night has its own.
    place.ok("evaluate run");
    place.ok("evaluate run night.csv");
    place.write("second.csv", without_labels(&log(0, 2400)));
    place.fails("evaluate run second.csv", 1, &["labels"]);
    let second = place.json("evaluate run second.csv --labels events.csv");
    // Nothing is left out at borders of blocks, and windows that overlap judge nothing.
    assert!((70..=96).contains(&second["examples"].as_u64().unwrap()), "{second}");
    place.write("late.csv", "start,end,label\n1e6,1e6,walk\n");
    place.fails(
        &format!("train night.csv {} --out no", flags.replace("events", "late")),
        1,
        &["late.csv, line 2", "outside of every recording"],
    );
    place.fails(
        &format!("train night.csv {} --out no", flags.replace("events", "none")),
        2,
        &["--labels", "none.csv"],
    );
    assert!(!place.path("no").exists());
}

#[test]
fn a_class_for_each_step_becomes_segments() {
    let place = Place::new();
    logs(&place);
    // A class that takes no part: its rows have no label.
    place.write("logs/person_5.csv", log(5, 960).replace(",run\n", ",\n"));
    let steps = "--time timestamp --rate 50 --window 2s --task steps --label activity";
    place.fails(
        &format!("train logs {steps} --class-weights balanced --out no"),
        2,
        &["--class-weights"],
    );
    let done = place.ok(&format!(
        "train logs {steps} --epochs 40 --hidden 8 --rank 2 --batch-size 4 --out run"
    ));
    for part in ["steps): accuracy", "segments: F1"] {
        assert!(done.stdout.contains(part), "{part} in {}", done.stdout);
    }
    let metrics = place.json("evaluate run logs --part validation");
    assert!(metrics["segments"]["segments"].as_u64().unwrap() > 3, "{metrics}");
    assert!(metrics["accuracy"].as_f64().unwrap() > 0.8, "{metrics}");
    let hours = metrics["examples"].as_f64().unwrap() / 50.0 / 3600.0;
    assert_eq!(metrics["segments"]["hours"].as_f64(), Some(hours));
    // A change of class costs something, so that nothing flickers.
    let decision = &place.json("inspect run")["decision"];
    assert!(decision["switch_penalty"].as_f64().unwrap() > 0.0, "{decision}");
    assert!(
        decision["calibration"]["examples"].as_u64().unwrap() > 100,
        "{decision}"
    );
    place.write("new.csv", without_labels(&log(7, 480)));
    let answers = place.ok("predict run new.csv").stdout;
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines[0], "sequence,start,end,class,probability");
    assert!(
        lines[1].starts_with("1,2026-03-08T12:00:00.002Z,2026-03-08T12:00:0"),
        "{answers}"
    );
    // Segments follow each other, to the end.
    let cells = |line: &str, cell: usize| line.split(',').nth(cell).unwrap().to_string();
    for pair in lines[1..].windows(2) {
        assert_eq!(cells(pair[0], 2), cells(pair[1], 1), "{answers}");
        assert_ne!(cells(pair[0], 3), cells(pair[1], 3), "{answers}");
    }
    assert!(
        cells(lines[lines.len() - 1], 2).starts_with("2026-03-08T12:00:09."),
        "{answers}"
    );
    let json = place.ok("predict run new.csv --format json").stdout;
    assert_eq!(json.lines().count(), lines.len() - 1);
    place.fails(
        "predict run new.csv --task windows",
        2,
        &["--task", "a class for each step"],
    );
    // Steps are counted, those without a label are not.
    let info = place.ok(&format!("data info logs {steps}")).stdout;
    assert!(info.contains("  run: 2100 steps\n"), "{info}");
    place.ok(&format!("data show logs {steps} --out logs.html"));
    assert!(place.text("logs.html").contains("train, steps"));
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let place = Place::new();
    logs(&place);
    place.write("one.csv", log(0, 300).replace("12:00:03.0", "12:00:01.0"));
    for (command, code, parts) in [
        (
            format!("train one.csv {WINDOWS}"),
            1,
            ["one.csv, line 15", "do not run backwards"],
        ),
        (
            format!("train logs {} --rate 5000", WINDOWS.replace(" --rate 50", "")),
            2,
            ["rate: found 5000 Hz", "at most 4 times"],
        ),
        (
            format!("train logs {} --window 1h", WINDOWS.replace(" --window 0.5s", "")),
            1,
            ["in the longest piece", "180000 steps (3600 s)"],
        ),
        (
            format!("train logs {} --window 2.5", WINDOWS.replace(" --window 0.5s", "")),
            2,
            ["--window", "expected a whole number of steps"],
        ),
        (
            format!("train logs {WINDOWS} --purity 2"),
            2,
            ["purity: found 2", "at most 1"],
        ),
        (
            "train japanese-vowels --window 5".to_string(),
            2,
            ["--window", "recordings of your own"],
        ),
        (
            "train logs --hop 5 --time timestamp --label activity".to_string(),
            2,
            ["hop: found no window", "--window"],
        ),
    ] {
        place.fails(&format!("{command} --out no"), code, &parts);
        assert!(!place.path("no").exists(), "{command}");
    }
}
