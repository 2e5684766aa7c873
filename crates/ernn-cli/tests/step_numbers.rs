//! A number for each step, with the real binary: from a log with a column of numbers to a model that says it at every moment.

mod support;

use serde_json::Value;
use support::{Place, finish};

const QUICK: &str = "--hidden 8 --rank 3 --epochs 30 --batch-size 8";

/// Rows `(x, y, power)`: two channels that jump, and a slow mean of the first, in a unit of its own.
fn rows(count: usize, seed: usize) -> Vec<[f64; 3]> {
    let (mut state, mut slow) = (seed as u64 * 7919 + 1, 0.0);
    let mut draw = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let (mut x, mut y) = (0.0, 0.0);
    (0..count)
        .map(|row| {
            if row % 5 == 0 {
                (x, y) = (draw(), draw());
            }
            slow = 0.7 * slow + 0.3 * x;
            [x, y, 300.0 + 40.0 * slow]
        })
        .collect()
}

/// A log at 50 Hz; each seventh row has no power where holes are wanted.
fn log(count: usize, seed: usize, holes: bool) -> String {
    let mut text = String::from("t,x,y,power\n");
    for (row, [x, y, power]) in rows(count, seed).into_iter().enumerate() {
        let power = if holes && row % 7 == 3 {
            String::new()
        } else {
            format!("{power:.3}")
        };
        text += &format!("{:.2},{x:.4},{y:.4},{power}\n", row as f64 / 50.0);
    }
    text
}

/// A long table: sequences of 40 steps.
fn table(series: usize) -> String {
    let mut text = String::from("series,step,x,y,power,load\n");
    for one in 0..series {
        for (step, [x, y, power]) in rows(40, one + 1).into_iter().enumerate() {
            text += &format!("s{one},{step},{x:.4},{y:.4},{power:.3},{:.4}\n", (power - 300.0) * x);
        }
    }
    text
}

/// The columns of a table behind the first one.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn without_last_column(text: &str) -> String {
    let cut = |row: &str| row.rsplit_once(',').unwrap().0.to_string() + "\n";
    text.lines().map(cut).collect()
}

#[test]
fn a_log_with_a_number_a_row_is_learned_and_predicted() {
    let place = Place::new();
    place.write("log.csv", log(4000, 1, true));
    let data = "log.csv --time t --rate 50 --window 1s --task steps --target power";
    let info = place.ok(&format!("data info {data}")).stdout;
    assert!(info.contains("to learn: a number for each step"), "{info}");
    assert!(
        info.contains("features: x, y\n") && info.contains("numbers to predict: mean "),
        "{info}"
    );
    let done = place.ok(&format!("train {data} {QUICK} --validation 0.25 --out run"));
    for part in [
        " steps): RMSE ",
        ", MAE ",
        ", R2 0.9",
        "always the mean of the training part (",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    let found = &report["numbers"];
    assert_eq!(found, &place.json("evaluate run")["numbers"]);
    assert!(number(&found["r2"]) > 0.9, "{found}");
    assert!(
        number(&found["target_mean"]) > 290.0 && number(&found["target_mean"]) < 310.0,
        "{found}"
    );
    assert!(place.text("run/model-card.md").contains("Task: a number for each step"));
    // New data has no such column; each step has a line with its time, in the unit of the data.
    let fresh = log(120, 9, false);
    place.write("new.csv", without_last_column(&fresh));
    let said = place.ok("predict run new.csv").stdout;
    assert!(said.starts_with("sequence,time,value\n1,0,"), "{said}");
    let said = cells(&said);
    assert_eq!((said.len(), said[51][1], said[119][1]), (120, "1.02", "2.38"));
    let truth = rows(120, 9);
    let errors = said.iter().zip(&truth).skip(10).take(40);
    let errors: Vec<f64> = errors
        .map(|(line, row)| (line[2].parse::<f64>().unwrap() - row[2]).abs())
        .collect();
    assert!(errors.iter().sum::<f64>() / (errors.len() as f64) < 3.0, "{errors:?}");
    let json = place.ok("predict run new.csv --format json").stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["sequence"], &first["time"]), (&"1".into(), &"0".into()));
    assert_eq!(number(&first["value"]).to_string()[..6], said[0][2][..6]);
    // Numbers that are there change nothing.
    place.write("known.csv", &fresh);
    assert_eq!(cells(&place.ok("predict run known.csv").stdout), said);
    assert_eq!(
        place.json("evaluate run known.csv")["examples"],
        100,
        "two whole windows of 50"
    );
    // What is no number is refused with its place.
    place.write(
        "words.csv",
        fresh.replace("\n0.04,", "\n0.041,").replacen(",300", ",high", 1),
    );
    place.fails(
        "evaluate run words.csv",
        1,
        &["words.csv, line ", "column \"power\"", "high", "a number"],
    );
    place.fails(
        "train words.csv --time t --window 1s --task steps --target power",
        1,
        &["words.csv, line ", "column \"power\"", "as --target says"],
    );
    place.fails(
        "predict run new.csv --task windows",
        2,
        &["this model gives a number for each step"],
    );
    let inspected = place.ok("inspect run").stdout;
    assert!(inspected.contains("one number at each step, "), "{inspected}");
    // A stream says the same at each step of the first window.
    let steps: String = truth
        .iter()
        .take(50)
        .map(|row| format!("{:.4},{:.4}\n", row[0], row[1]))
        .collect();
    place.write("steps.txt", steps);
    let file = std::fs::File::open(place.path("steps.txt")).unwrap();
    let streamed = finish(place.command("predict run --stream").stdin(file).output().unwrap());
    let streamed = cells(&streamed.stdout)
        .iter()
        .map(|line| line[1].parse::<f64>().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(streamed.len(), 50);
    for (line, value) in said.iter().zip(&streamed) {
        assert!(
            (line[2].parse::<f64>().unwrap() - value).abs() < 1e-2,
            "{line:?} {value}"
        );
    }
}

#[test]
fn a_table_of_sequences_has_numbers_of_steps() {
    let place = Place::new();
    place.write("table.csv", table(40));
    let data = "table.csv --task steps --target power,load";
    let quick = "--hidden 6 --rank 2 --epochs 4 --batch-size 8";
    let report = place.json(&format!("train {data} {quick} --validation 0.25 --out run"));
    assert_eq!(report["examples"], 400, "{report}");
    assert_eq!(report["numbers"]["targets"][1]["name"], "load");
    let said = place.ok("predict run table.csv").stdout;
    assert!(said.starts_with("sequence,step,power,load\ns0,1,"), "{said}");
    assert_eq!(said.lines().count(), 1 + 40 * 40);
    // Rows in any order are put into theirs, each with its numbers.
    let mut lines: Vec<String> = table(41).lines().map(String::from).collect();
    lines[1..].reverse();
    place.write("turned.csv", lines.join("\n") + "\n");
    place.write("same.csv", table(41));
    let [one, other] = ["same.csv", "turned.csv"].map(|file| place.json(&format!("evaluate run {file}")));
    let close = |key: &str| (number(&one["numbers"][key]) - number(&other["numbers"][key])).abs() < 1e-4;
    assert!(
        close("root_mean_squared_error") && close("target_mean"),
        "{one} {other}"
    );
    // A step with one of two numbers has none, which is said.
    let torn = table(40);
    let row = torn.lines().nth(9).unwrap();
    let without = row.rsplit_once(',').unwrap().0.to_string() + ",";
    place.write("torn.csv", torn.replace(row, &without));
    let done = place.run("evaluate run torn.csv");
    assert!(
        done.stderr
            .contains("1 step with some of the numbers to predict, but not all"),
        "{}",
        done.stderr
    );
    assert!(done.stdout.contains("(1,599 steps)"), "{}", done.stdout);
    // Quantiles, several directions and losses.
    let one = "table.csv --task steps --target power --ignore load";
    place.ok(&format!(
        "train {one} {quick} --quantiles 0.1,0.5,0.9 --bidirectional --validation 0.2 --out quantiles"
    ));
    let said = place.ok("predict quantiles table.csv").stdout;
    assert!(said.starts_with("sequence,step,q0.1,q0.5,q0.9\n"), "{said}");
    for line in cells(&said) {
        let numbers: Vec<f64> = line[2..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{line:?}");
    }
    place.ok(&format!("train {one} {quick} --loss huber --folds 4 --out folds"));
    let folds: Value = serde_json::from_str(&place.text("folds/result.json")).unwrap();
    assert_eq!(folds["folds"]["pooled"]["examples"], 1600);
    let table = place.ok(&format!(
        "compare {one} --cells ernn,gru --hidden 6 --epochs 2 --validation 0.2 --out both"
    ));
    assert!(table.stdout.contains("RMSE"), "{}", table.stdout);
    place.ok("report folds both");
}

#[test]
fn what_cannot_be_a_number_of_each_step_is_refused() {
    let place = Place::new();
    place.write("table.csv", table(6));
    place.fails(
        "train table.csv --task steps",
        2,
        &["task", "--target with the numbers of steps"],
    );
    place.fails(
        "train table.csv --task steps --target power --smooth",
        2,
        &["--smooth", "data with a class for each step"],
    );
    place.write("wide.csv", "0,1,2,power\n1,2,3,4\n2,3,4,5\n");
    place.fails(
        "train wide.csv --task steps --target power",
        1,
        &["one number a sequence", "one a step, as --task steps says"],
    );
    place.write("log.csv", log(200, 1, false));
    let data = "log.csv --time t --window 20 --task steps --target power";
    place.fails(
        &format!("train {data} --horizon 2"),
        2,
        &["horizon", "without --task steps"],
    );
    let empty: String = log(200, 1, false)
        .lines()
        .map(|line| format!("{}\n", &line[..line.rfind(',').unwrap() + 1]))
        .collect();
    place.write("log.csv", empty.replacen(",y,\n", ",y,power\n", 1));
    place.fails(
        &format!("train {data}"),
        1,
        &["no window with a number to predict", "--target"],
    );
}
