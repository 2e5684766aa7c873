//! What a person at a terminal sees, and what is left of it elsewhere.

mod support;

use std::fs;
use std::process::{Command, Stdio};

use console::{measure_text_width, strip_ansi_codes};
use support::{Done, Place, easy_csv};

const SMALL: &str = "train train.csv --hidden 8 --rank 2";

fn place() -> Place {
    let place = Place::new();
    place.write("train.csv", easy_csv(60));
    place
}

/// The command at a terminal of 80 columns; none where there is no `script` that makes one. Both streams come back as one.
fn at_terminal(place: &Place, variables: &[(&str, &str)], arguments: &str) -> Option<String> {
    let found = Command::new("script").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        println!("skipped: no util-linux `script`, which makes a terminal");
        return None;
    }
    let line = format!("stty cols 80 rows 24; '{}' {arguments}", env!("CARGO_BIN_EXE_ernn"));
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.path("."))
        .stdin(Stdio::null());
    for name in [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "LC_ALL",
        "LC_CTYPE",
        "ERNN_DATA_DIR",
    ] {
        command.env_remove(name);
    }
    command
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .envs(variables.iter().copied());
    let done = support::finish(command.output().unwrap());
    assert_eq!(done.code, Some(0), "{arguments}\n{}{}", done.stdout, done.stderr);
    Some(done.stdout)
}

/// What stands on the lines, without what moves the cursor.
fn seen(text: &str) -> Vec<String> {
    let plain = strip_ansi_codes(text).into_owned();
    plain
        .split(['\r', '\n'])
        .filter(|line| !line.is_empty())
        .map(String::from)
        .collect()
}

fn must_fit(text: &str) {
    for line in seen(text) {
        assert!(
            measure_text_width(&line) <= 80,
            "{} columns: {line}",
            measure_text_width(&line)
        );
    }
}

#[test]
fn a_terminal_has_a_bar_colors_and_a_sparkline_in_80_columns() {
    let place = place();
    let run = format!("{SMALL} --epochs 300");
    let Some(shown) = at_terminal(&place, &[], &format!("{run} --out run")) else {
        return;
    };
    must_fit(&shown);
    let lines = seen(&shown);
    let bar = lines
        .iter()
        .find(|line| line.starts_with("epoch ") && line.contains('░'));
    assert!(bar.is_some_and(|line| line.contains("loss ")), "{lines:#?}");
    let curve = lines.iter().find(|line| line.starts_with("training loss "));
    assert!(
        curve.is_some_and(|line| line.contains('█') && line.contains('▁')),
        "{lines:#?}"
    );
    assert!(shown.contains("\u{1b}[1maccuracy"), "{shown}");
    assert!(lines.iter().any(|line| line.contains("confusion matrix")), "{lines:#?}");

    for variables in [[("NO_COLOR", "1")], [("CLICOLOR", "0")], [("TERM", "dumb")]] {
        let shown = at_terminal(&place, &variables, &format!("{run} --out {}", variables[0].0)).unwrap();
        assert!(
            !shown.contains("\u{1b}[1m") && !shown.contains("\u{1b}[36m"),
            "{variables:?}: {shown}"
        );
        must_fit(&shown);
    }
    // A terminal that has no blocks gets none.
    let shown = at_terminal(&place, &[("LANG", "C")], &format!("{run} --out plain")).unwrap();
    assert!(seen(&shown).iter().all(|line| line.is_ascii()), "{shown}");
}

#[test]
fn a_message_at_a_terminal_is_wrapped_between_words_and_colored() {
    let place = place();
    place.ok(&format!("{SMALL} --epochs 1 --steps per-step --out run"));
    let mut text = String::from("series,step,x,y\n");
    (0..30).for_each(|step| text += &format!("a,{step},{step},0.5\n"));
    place.write("long.csv", text);
    if let Some(shown) = at_terminal(&place, &[], "predict run long.csv") {
        assert!(shown.contains("\u{1b}[33mwarning:\u{1b}[0m"), "{shown}");
        must_fit(&shown);
        let words = seen(&shown).join(" ");
        assert!(words.contains("and goes on with the last one"), "{words}");
    }
}

#[test]
fn colors_can_be_forced_into_a_file() {
    let place = place();
    let mut command = place.command(&format!("{SMALL} --epochs 1 --out run"));
    let done = support::finish(
        command
            .env("CLICOLOR_FORCE", "1")
            .env_remove("NO_COLOR")
            .output()
            .unwrap(),
    );
    assert!(done.stdout.contains("\u{1b}[1maccuracy"), "{}", done.stdout);
    let plain = place.ok("evaluate run train.csv").stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
}

fn epochs(done: &Done) -> Vec<&str> {
    done.stderr.lines().filter(|line| line.starts_with("epoch ")).collect()
}

#[test]
fn elsewhere_a_short_run_says_a_line_a_tenth() {
    let place = place();
    let done = place.ok(&format!("{SMALL} --epochs 200 --out run"));
    let lines = epochs(&done);
    // The first, ten tenths, and one for each second that a slow machine takes.
    let most = 12 + train_seconds(&place).ceil() as usize;
    assert!((11..=most).contains(&lines.len()), "{lines:#?}");
    assert!(lines[0].starts_with("epoch 1/200: ") && lines[lines.len() - 1].starts_with("epoch 200/200: "));
    // All epochs are in the folder.
    assert_eq!(place.text("run/metrics.jsonl").lines().count(), 200);
}

fn train_seconds(place: &Place) -> f64 {
    let report: serde_json::Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    report["train_seconds"].as_f64().unwrap()
}

#[test]
fn quiet_says_nothing_but_errors_and_the_result() {
    let place = place();
    for arguments in [
        format!("{SMALL} --epochs 2 --out run -q"),
        "--quiet evaluate run train.csv --part train".to_string(),
        "predict run train.csv --quiet".to_string(),
        "compare train.csv --cells rnn --seeds 1 --epochs 1 --hidden 4 --rank full -q".to_string(),
        "export run --to c --out device -q".to_string(),
    ] {
        let done = place.ok(&arguments);
        assert_eq!(done.stderr, "", "{arguments}");
        assert_ne!(done.stdout, "", "{arguments}");
    }
    place.fails("evaluate -q run nothing.csv", 1, &["error: ", "nothing.csv"]);
    place.fails("evaluate -q -v run train.csv", 2, &["--quiet", "--verbose"]);
}

#[test]
fn verbose_says_settings_and_times() {
    let place = place();
    let done = place.ok(&format!("{SMALL} --epochs 2 --out run -v"));
    for part in [
        "ernn 0.",
        "instruction set ",
        "reading the data: 0.",
        "learning_rate = ",
        "training: ",
        "\nall: ",
    ] {
        assert!(done.stderr.contains(part), "no `{part}` in: {}", done.stderr);
    }
    assert_eq!(epochs(&done).len(), 2);
    let done = place.ok("-v evaluate run train.csv");
    for part in ["reading the data: ", "evaluation: ", "all: "] {
        assert!(done.stderr.contains(part), "no `{part}` in: {}", done.stderr);
    }
    assert!(!place.ok("evaluate run train.csv").stderr.contains("all: "));
}

#[test]
fn the_report_has_f1_and_the_confusion_matrix() {
    let place = place();
    let report = place.json(&format!("{SMALL} --epochs 3 --out run"));
    let stored: serde_json::Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    for report in [&report, &stored, &place.json("evaluate run train.csv --part train")] {
        assert!(
            report["macro_f1"].is_f64() && report["per_class"][0]["f1"].is_f64(),
            "{report}"
        );
    }
    let text = place.ok("evaluate run train.csv --part train").stdout;
    for part in ["macro F1 ", "       F1\n", "confusion matrix", "  down  up\n"] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    must_fit(&text);
    // Nine speakers fit; no name is cut.
    place.ok("train japanese-vowels --epochs 1 --hidden 8 --rank 2 --out vowels");
    let text = place.ok("evaluate vowels japanese-vowels").stdout;
    assert!(text.contains("confusion matrix"), "{text}");
    must_fit(&text);
}

/// A result from before F1 still makes a table.
#[test]
fn results_without_f1_are_read() {
    let place = place();
    let run = "compare train.csv --cells rnn --seeds 1 --epochs 1 --hidden 4 --rank full --out cmp";
    let table = place.ok(run).stdout;
    let path = "cmp/rnn/seed-1/result.json";
    let mut report: serde_json::Value = serde_json::from_str(&place.text(path)).unwrap();
    report.as_object_mut().unwrap().remove("macro_f1");
    for class in report["per_class"].as_array_mut().unwrap() {
        class.as_object_mut().unwrap().remove("f1");
    }
    place.write(path, report.to_string());
    assert_eq!(place.ok(run).stdout, table);
}

#[test]
fn probabilities_have_four_digits_or_as_many_as_asked_for() {
    let place = place();
    place.ok(&format!("{SMALL} --epochs 2 --out run"));
    let digits = |arguments: &str| {
        let text = place.ok(arguments).stdout;
        let numbers = text.lines().skip(1).flat_map(|line| line.split(',').skip(2));
        let digits = |number: &str| {
            let mantissa = number.split('e').next().unwrap().replace('.', "");
            mantissa.trim_start_matches('0').len()
        };
        numbers.map(digits).max().unwrap()
    };
    assert_eq!(digits("predict run train.csv"), 4);
    assert_eq!(digits("predict run train.csv --digits 2"), 2);
    assert!(digits("predict run train.csv --digits 17") > 10);
    place.fails("predict run train.csv --digits 0", 2, &["--digits"]);
}

#[test]
fn a_comparison_says_how_long_it_still_takes_in_80_columns() {
    let place = place();
    let run = "compare train.csv --cells rnn,gru --seeds 3 --epochs 3 --hidden 4 --rank full";
    let done = place.ok(run);
    let lines: Vec<&str> = done.stderr.lines().filter(|line| line.contains("/6 ")).collect();
    assert_eq!(lines.len(), 6, "{}", done.stderr);
    assert!(
        lines[0].starts_with("1/6 rnn/seed-1: validation accuracy "),
        "{lines:#?}"
    );
    assert!(
        lines[..5]
            .iter()
            .all(|line| line.contains(", about ") && line.contains(" left")),
        "{lines:#?}"
    );
    assert!(!lines[5].contains(" left"), "{lines:#?}");
    lines.iter().for_each(|line| must_fit(line));
    if let Some(shown) = at_terminal(&place, &[], &format!("{run} --out cmp")) {
        let lines = seen(&shown);
        let bar = lines.iter().find(|line| line.contains("/6 runs "));
        assert!(bar.is_some_and(|line| measure_text_width(line) <= 80), "{lines:#?}");
    }
}

#[test]
fn help_shows_the_defaults_and_fits_80_columns() {
    let place = place();
    let help = place.ok("train --help").stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for default in [
        "Passes over the training part (without --min-steps: so many, neither more nor fewer) [default: 60; depends on the data]",
        "Hidden size D [default: 64; depends on the data]",
        "Seed of weights, split, batches, noise and dropout [default: 1]",
        "but for those of one epoch (0: no ceiling) [default: 0]",
        "[default: adam]",
        "ERNN: inner iterations K of a step [default: 1",
    ] {
        assert!(words.contains(default), "no `{default}` in: {help}");
    }
    let commands = [
        "",
        "train",
        "compare",
        "reproduce",
        "report",
        "evaluate",
        "analyze",
        "predict",
        "inspect",
        "import",
        "export",
        "data",
    ];
    for command in commands {
        let help = place.ok(&format!("{command} --help")).stdout;
        must_fit(&help);
        assert!(help.contains("--quiet"), "{help}");
    }
}

#[test]
fn show_prints_all_settings_and_why_and_trains_nothing() {
    let place = place();
    let shown = place
        .ok("train japanese-vowels --show --learning-rate 0.01 --cell gru --seed 7")
        .stdout;
    let reason = |setting: &str| {
        let line = shown.lines().find(|line| line.starts_with(&format!("{setting} = ")));
        line.unwrap_or_else(|| panic!("no {setting} in: {shown}"))
            .split("# ")
            .nth(1)
            .unwrap()
            .to_string()
    };
    assert_eq!(reason("source"), "as given");
    // The default has the same value.
    assert_eq!(reason("learning_rate"), "--learning-rate");
    assert_eq!(reason("seed"), "--seed");
    assert_eq!(reason("batch_size"), "default for japanese-vowels");
    assert_eq!(reason("clip_norm"), "default");
    assert!(
        shown.contains("kind = \"gru\"") && shown.contains("# --cell"),
        "{shown}"
    );
    assert_eq!(reason("reset"), "default of gru");
    assert!(!place.path("runs").exists());
    must_fit(&shown);

    // It is a settings file, and says so of itself.
    place.write("mine.toml", &shown);
    let again = place.ok("train --config mine.toml --show").stdout;
    let settings = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(settings(&again), settings(&shown));
    assert!(
        again
            .lines()
            .any(|line| line.starts_with("batch_size") && line.ends_with("# from mine.toml")),
        "{again}"
    );
    let steps = place.ok("train japanese-vowels --show").stdout;
    assert!(
        steps
            .lines()
            .any(|line| line.starts_with("max_steps = 26") && line.ends_with("# follows from the data")),
        "{steps}"
    );
    // What is run is what was shown.
    place.ok("train --config mine.toml --epochs 1 --out run");
    let mut run = settings(&place.text("run/config.toml"));
    run["training"]["epochs"] = settings(&shown)["training"]["epochs"].clone();
    assert_eq!(run, settings(&shown));
    place.fails("train nothing.csv --show", 1, &["nothing.csv"]);
    place.fails("train train.csv --show --batch-size 0", 2, &["batch_size"]);
}

#[test]
fn the_version_names_revision_and_instruction_set() {
    let place = place();
    let short = place.ok("-V").stdout;
    assert_eq!(short, format!("ernn {}\n", env!("CARGO_PKG_VERSION")));
    let long = place.ok("--version").stdout;
    assert!(
        long.starts_with(&format!("ernn {}, revision ", env!("CARGO_PKG_VERSION"))),
        "{long}"
    );
    assert!(long.contains(", instruction set "), "{long}");
}

#[test]
fn completions_and_pages_know_the_commands() {
    let place = place();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(&format!("completions {shell}")).stdout;
        for word in ["reproduce", "learning-rate"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    place.fails("completions tcsh", 2, &["tcsh", "bash"]);
    let page = place.ok("man").stdout;
    assert!(page.contains(".TH ernn 1") && page.contains("ernn\\-train"), "{page}");
    let said = place.ok("man pages").stdout;
    for name in ["ernn.1", "ernn-train.1", "ernn-data-info.1"] {
        assert!(
            said.contains(name) && place.path("pages").join(name).is_file(),
            "{name}: {said}"
        );
    }
    let page = fs::read_to_string(place.path("pages/ernn-train.1")).unwrap();
    assert!(
        page.contains("depends on the data") && page.contains(".TH ernn-train"),
        "{page}"
    );
    // Once more is no trouble; another's file is.
    place.ok("man pages");
    place.write("pages/ernn-train.1", "mine");
    place.fails("man pages", 2, &["ernn-train.1", "which is no page of this command"]);
    assert_eq!(place.text("pages/ernn-train.1"), "mine");
}

/// Wide characters and long names do not break a table.
#[test]
fn names_of_any_width_stay_in_their_columns() {
    let place = Place::new();
    let csv = easy_csv(60)
        .replace(",up", ",日本語の名前")
        .replace(",down", &format!(",{}", "lang ".repeat(30).trim()));
    place.write("train.csv", csv);
    let text = place.ok(&format!("{SMALL} --epochs 1")).stdout;
    must_fit(&text);
    assert!(text.contains("日本語の名前") && text.contains('…'), "{text}");
}

#[test]
fn a_text_that_goes_on_commands_no_terminal() {
    let place = Place::new();
    place.write("train.txt", "a\u{1b}[31mb\u{7}\n".repeat(40));
    place.ok("train train.txt --tokens characters --epochs 15 --hidden 8 --cell gru --learning-rate 0.05 --out run");
    let arguments = "predict run --generate 60 --temperature 0 --prompt a";
    let plain = place.ok(arguments).stdout;
    assert!(plain.contains('\u{1b}') && plain.contains('\n'), "{plain:?}");
    if let Some(shown) = at_terminal(&place, &[], arguments) {
        assert!(shown.contains("\\u{1b}") && shown.contains('\n'), "{shown:?}");
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }
}
