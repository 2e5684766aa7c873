//! `ernn reproduce` through the real binary: its results, going on, sharing, running out of time, and every way to be refused.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use serde_json::Value;
use support::Place;

/// Two rows of a built-in data set, in the tiny version.
const TINY: &str = "reproduce japanese-vowels --quick --threads 1";
const RESULT: &str = "results/japanese-vowels/honest-quick/ernn-k1/seed-1.json";

fn read_json(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.text(name)).unwrap()
}

/// Content and time of every file below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                found.insert(path.clone(), (fs::read(&path).unwrap(), time));
            }
        }
    }
    found
}

/// A result without what the clock says.
fn without_times(mut result: Value) -> Value {
    for name in ["train_seconds", "seconds_to_best", "latency_milliseconds"] {
        result[name] = Value::Null;
    }
    result["history"]["seconds"] = Value::Null;
    result
}

#[test]
fn a_result_says_all_that_it_takes_to_believe_it() {
    let place = Place::new();
    let done = place.ok(&format!("{TINY} --rows ernn-k1,lstm"));
    assert!(done.stderr.contains("2 runs; results in results"), "{}", done.stderr);
    assert!(
        done.stdout.contains("| ERNN(K=1) |") && done.stdout.contains("| LSTM "),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("protocol honest-quick. Tiny version"),
        "{}",
        done.stdout
    );
    let result = read_json(&place, RESULT);
    let expected = [
        ("experiment", "japanese-vowels"),
        ("row", "ernn-k1"),
        ("protocol", "honest"),
        ("metric", "accuracy"),
        ("ending", "finished"),
    ];
    for (name, value) in expected {
        assert_eq!(result[name], value, "{name}");
    }
    assert_eq!(
        (&result["quick"], &result["cut_short"], &result["seed"]),
        (&true.into(), &false.into(), &1.into())
    );
    assert!(result["test"].as_f64().unwrap() > 0.0 && result["validation"].as_f64().unwrap() > 0.0);
    assert_eq!(result["settings"]["training"]["retrain"], false);
    assert_eq!(result["settings"]["data"]["source"], "japanese-vowels");
    assert_eq!(result["history"]["train_loss"].as_array().unwrap().len(), 2);
    assert!(result["machine"]["instruction_set"].is_string() && result["version"].is_string());
    assert!(result.as_object().unwrap().contains_key("revision"));
    assert!(place.text(RESULT).len() < 10_000, "small enough to keep");
    assert_eq!(result["confusion"].as_array().unwrap().len(), 9);
}

#[test]
fn the_papers_protocol_trains_anew_and_lies_elsewhere() {
    let place = Place::new();
    place.ok(&format!("{TINY} --rows ernn-k1 --protocol paper --seeds 2"));
    for seed in [1, 2] {
        let result = read_json(
            &place,
            &format!("results/japanese-vowels/paper-quick/ernn-k1/seed-{seed}.json"),
        );
        assert_eq!(result["settings"]["training"]["retrain"], true);
        assert_eq!(result["settings"]["training"]["validation"], 0.2);
        assert_eq!((&result["protocol"], &result["seed"]), (&"paper".into(), &seed.into()));
    }
}

#[test]
fn the_same_command_runs_nothing_again() {
    let place = Place::new();
    let command = format!("{TINY} --rows ernn-k1,lstm");
    let first = place.ok(&command);
    let before = files(&place.path("results"));
    let second = place.ok(&command);
    assert!(
        second.stderr.contains("2 runs, 2 of them done before"),
        "{}",
        second.stderr
    );
    assert_eq!(first.stdout, second.stdout);
    assert!(before == files(&place.path("results")));

    // Not even without the work folder, and a row more is only that row.
    fs::remove_dir_all(place.path("runs")).unwrap();
    let third = place.ok(&format!("{TINY} --rows ernn-k1,lstm,rnn"));
    assert!(
        third.stderr.contains("3 runs, 2 of them done before"),
        "{}",
        third.stderr
    );
    assert!(third.stdout.contains("| RNN "), "{}", third.stdout);
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_result() {
    let (place, other) = (Place::new(), Place::new());
    let command = "reproduce japanese-vowels --threads 1 --rows lstm --seeds 1";
    let name = "results/japanese-vowels/honest/lstm/seed-1.json";
    let done = place.start_until(command, "1 run;").interrupt();
    // A machine may be so fast that the run is over before the signal comes.
    if done.code == Some(130) {
        assert!(done.stderr.contains("go on with the same command"), "{}", done.stderr);
        assert!(!place.path(name).exists(), "no result before the end");
    }
    place.ok(command);
    other.ok(command);
    assert_eq!(
        without_times(read_json(&place, name)),
        without_times(read_json(&other, name))
    );
}

#[test]
fn shards_share_the_runs() {
    let (place, other) = (Place::new(), Place::new());
    let command = format!("{TINY} --seeds 2 --rows ernn-k1,ernn-k3,rnn");
    let first = place.ok(&format!("{command} --shard 1/2"));
    assert!(
        first.stderr.contains("\n3/3 ") && files(&place.path("results")).len() == 3,
        "{}",
        first.stderr
    );
    let second = place.ok(&format!("{command} --shard 2/2"));
    assert!(second.stderr.contains("3 runs; results"), "{}", second.stderr);
    other.ok(&command);
    let names = |place: &Place| {
        let files = files(&place.path("results")).into_keys();
        files
            .map(|path| path.strip_prefix(place.path("results")).unwrap().to_path_buf())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&place), names(&other));
    for name in names(&place) {
        let name = format!("results/{}", name.display());
        assert_eq!(
            without_times(read_json(&place, &name)),
            without_times(read_json(&other, &name))
        );
    }
}

#[test]
fn a_run_out_of_time_is_marked_and_goes_on_with_more() {
    let place = Place::new();
    let command = format!("{TINY} --rows ernn-k1");
    // Less time than one batch takes.
    let limited = format!("{command} --time-limit 0.0000001");
    let done = place.ok(&limited);
    assert!(done.stderr.contains("cut short after 0 epochs"), "{}", done.stderr);
    assert!(
        done.stdout.contains("cut short |") && done.stdout.contains("0/1, 1 cut short"),
        "{}",
        done.stdout
    );
    let result = read_json(&place, RESULT);
    assert_eq!(
        (&result["cut_short"], &result["ending"]),
        (&true.into(), &"interrupted".into())
    );
    assert_eq!(
        (&result["test"], &result["confusion"]),
        (&Value::Null, &Value::Array(vec![])),
        "the test part is not read"
    );

    // All its time is spent: the same command leaves it alone, and one without a limit does not.
    assert!(place.ok(&limited).stderr.contains("1 run, 1 of them done before"));
    place.ok(&command);
    let other = Place::new();
    other.ok(&command);
    let result = read_json(&place, RESULT);
    assert_eq!(result["cut_short"], false);
    assert_eq!(without_times(result), without_times(read_json(&other, RESULT)));
}

/// An experiment of one row in a folder of its own.
fn with_experiment(shared: impl Fn(String) -> String, row: impl Fn(String) -> String) -> Place {
    let place = Place::new();
    let text = fs::read_to_string(experiments().join("japanese-vowels.toml")).unwrap();
    let mut parts = text.split("[[row]]").map(String::from);
    let before = parts.next().unwrap();
    let own = parts.find(|part| part.contains("name = \"ernn-k1\"")).unwrap();
    place.write(FILE, format!("{}[[row]]{}", shared(before), row(own)));
    place
}

const FILE: &str = "mine/vowels.toml";
const MINE: &str = "reproduce vowels --quick --threads 1 --experiments mine";

#[test]
fn reads_experiments_from_a_folder() {
    let place = with_experiment(|text| text, |text| text);
    let done = place.ok(MINE);
    assert!(
        done.stdout.contains("(vowels), protocol honest-quick"),
        "{}",
        done.stdout
    );
    let list = place.ok("reproduce --list --experiments mine");
    assert!(
        list.stdout.starts_with("vowels ") && list.stdout.contains("rows: ernn-k1"),
        "{}",
        list.stdout
    );
}

#[test]
fn settings_are_searched_for_on_the_validation_part() {
    let search = "\n[row.search]\nvary = { learning_rate = [0.00001, 0.01], pooling = [\"last\"] }\n";
    let place = with_experiment(|text| text, |text| text + search);
    let command = format!("{MINE} --search");
    let done = place.ok(&command);
    for part in [
        "vowels, row ernn-k1: ",
        "| validation accuracy",
        "- ernn-k1: ernn-k1-learning_rate-0.01-pooling-last (best/ernn-k1.toml)",
    ] {
        assert!(done.stdout.contains(part), "no {part} in {}", done.stdout);
    }
    // Both combinations, the better one first, with what was varied.
    let table = place.text("results/vowels/search-quick/ernn-k1.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].contains(",learning_rate,pooling,part,"), "{table}");
    assert!(lines[1].contains(",0.01,last,validation,"), "{table}");
    assert!(lines[2].contains(",0.00001,last,validation,"), "{table}");
    let best = "runs/reproduce/vowels/search-quick/ernn-k1/best/ernn-k1.toml";
    assert!(place.text(best).contains("learning_rate = 0.01"));
    // Nothing is run again, and other settings are another search.
    assert!(place.ok(&command).stderr.contains("2 of them done before"));
    place.write(FILE, place.text(FILE).replace("hidden = 64", "hidden = 32"));
    place.fails(
        &command,
        2,
        &["--work: found runs/reproduce/vowels/search-quick/ernn-k1, a comparison with rows[0]"],
    );
    // A row without a search, and one that would train on what judges.
    place.fails(
        "reproduce adding --quick --search",
        2,
        &["--search: found adding, whose rows vary no setting, expected an experiment with [search]"],
    );
    place.fails(&format!("{command} --protocol paper"), 2, &["--protocol"]);
}

#[test]
fn an_unknown_key_is_refused_with_its_file_and_line() {
    let place = with_experiment(|text| text, |text| text.replace("hidden = 64", "hiden = 64"));
    let text = place.text(FILE);
    let line = text.lines().position(|line| line.starts_with("hiden")).unwrap() + 1;
    let message = format!("{FILE}, line {line}: found unknown field `hiden`, expected one of `hidden`");
    place.fails(MINE, 1, &[&message]);

    let place = with_experiment(|text| text.replace("place = ", "plaice = "), |text| text);
    place.fails(
        MINE,
        1,
        &["mine/vowels.toml, line 2: found unknown field `plaice`, expected one of `title`"],
    );
}

#[test]
fn results_of_other_settings_are_not_mixed() {
    let place = with_experiment(|text| text, |text| text);
    place.ok(MINE);
    place.write(FILE, place.text(FILE).replace("hidden = 64", "hidden = 32"));
    place.fails(
        MINE,
        2,
        &["--out: found results/vowels/honest-quick/ernn-k1/seed-1.json, a result of other settings"],
    );
    // With the result out of the way, the old run still lies in the work folder.
    fs::remove_dir_all(place.path("results")).unwrap();
    place.fails(
        MINE,
        2,
        &["--work: found runs/reproduce/vowels/honest-quick/ernn-k1/seed-1, a run with other settings"],
    );
    place.ok(&format!("{MINE} --work elsewhere"));
}

#[test]
fn refuses_what_it_cannot_do() {
    let place = Place::new();
    let cases: [(&str, i32, &[&str]); 8] = [
        ("reproduce", 2, &["<EXPERIMENT>"]),
        (
            "reproduce har-3",
            2,
            &["experiment: found har-3, expected all, har-2, "],
        ),
        (
            "reproduce digits --rows elman",
            2,
            &["--rows: found elman, expected names of rows: ", "ernn-k1"],
        ),
        (
            "reproduce digits --seeds 0",
            2,
            &["--seeds: found 0, expected 1 to 100"],
        ),
        ("reproduce digits --shard 3/2", 2, &["found 3/2, expected I/N"]),
        (
            "reproduce digits --time-limit 0",
            2,
            &["--time-limit: found 0, expected minutes above 0"],
        ),
        (
            "reproduce digits --protocol best-test",
            2,
            &["unknown variant `best-test`, expected `honest` or `paper`"],
        ),
        ("reproduce digits --experiments nowhere", 1, &["nowhere: cannot read"]),
    ];
    for (arguments, code, parts) in cases {
        place.fails(arguments, code, parts);
    }
    place.fails(
        "reproduce har-2 --quick --data-dir .",
        1,
        &["har-2: no \"UCI HAR Dataset\""],
    );
    place.write("results/digits/honest-quick/rnn/seed-1.json", "{}");
    place.fails(
        "reproduce digits --quick --rows rnn",
        1,
        &["seed-1.json: found missing field", "expected a result file"],
    );
}

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Every experiment in its tiny version. What has no data here is skipped, and the command says so; the built-in ones always run.
#[test]
fn a_tiny_version_of_every_experiment_works() {
    let place = Place::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    // A slow machine reads gigabytes for a quarter of an hour.
    let reads = data.is_dir() && std::env::var_os("ERNN_QUICK_TESTS").is_none();
    let command = |flags: &str| {
        let mut command = place.command(&format!("reproduce all --quick --threads 1 {flags}"));
        if reads {
            command.arg("--data-dir").arg(data.canonicalize().unwrap());
        }
        command
    };
    if !reads {
        println!(
            "skipped: no shared/data beside the repository, or ERNN_QUICK_TESTS is set; only what needs no data runs"
        );
    }
    // Two processes share the runs; what they may have to say says the third one, which finds all done.
    let shards = ["--shard 1/2", "--shard 2/2"].map(|shard| {
        let mut command = command(shard);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    for mut shard in shards {
        shard.wait().unwrap();
    }
    let done = support::finish(command("--json").output().unwrap());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let tables: Value = serde_json::from_str(&done.stdout).unwrap();
    let tables = tables.as_array().unwrap();
    let mut ran = Vec::new();
    for table in tables {
        let name = table["experiment"].as_str().unwrap();
        for row in table["rows"].as_array().unwrap() {
            let over = [&row["finished"], &row["diverged"]].map(|count| count.as_u64().unwrap());
            assert!(
                over[0] == row["seeds"].as_u64().unwrap(),
                "{name}: {row}\n{}",
                done.stderr
            );
            assert!(row["test"]["mean"].as_f64().unwrap().is_finite(), "{name}: {row}");
        }
        ran.push(name);
    }
    for file in fs::read_dir(experiments()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|extension| extension == "toml") && !ran.contains(&name) {
            let line = done
                .stderr
                .lines()
                .find(|line| line.starts_with(&format!("skipped {name}: ")));
            println!(
                "{}",
                line.unwrap_or_else(|| panic!("{name} neither ran nor was skipped: {}", done.stderr))
            );
        }
    }
    assert!(ran.contains(&"japanese-vowels") && ran.contains(&"digits"), "{ran:?}");
}
