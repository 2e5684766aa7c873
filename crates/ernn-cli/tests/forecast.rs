//! Forecasts with the real binary: the next values of a channel, beside the last value and the last season.

mod support;

use serde_json::Value;
use support::Place;

const QUICK: &str = "--cell gru --hidden 8 --epochs 30 --batch-size 16 --learning-rate 0.02 --seed 1";
const HOURS: &str = "--time t_h --time-unit s --window 12 --horizon 4 --season 6";

/// Rows of one a second: a load that goes up and down every 6 rows, and so does a temperature.
fn series(rows: std::ops::Range<usize>) -> String {
    let row = |row: usize| {
        let angle = std::f64::consts::TAU * row as f64 / 6.0;
        let noise = (row * 7919 % 101) as f64 / 101.0;
        format!(
            "{row},{:.3},{:.3}\n",
            50.0 + 20.0 * angle.sin() + noise,
            10.0 + angle.cos()
        )
    };
    format!("t_h,load,temp\n{}", rows.map(row).collect::<String>())
}

fn place() -> Place {
    let place = Place::new();
    place.write("both/train.csv", series(0..600));
    place.write("both/test.csv", series(600..800));
    place.write("past.csv", series(0..600));
    place.write("later.csv", series(600..800));
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn the_next_values_are_learned_judged_and_written_with_their_times() {
    let place = place();
    let done = place.ok(&format!("train both --target load {HOURS} --hop 1 {QUICK} --out run"));
    for part in [
        "always the means of the training part: RMSE ",
        "\nthe last value: RMSE ",
        "\nthe value one season (6 steps) earlier: RMSE ",
        "\n  load+1 ",
        "\n  load+4 ",
    ] {
        assert!(done.stdout.contains(part), "{}", done.stdout);
    }
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    let numbers = &report["numbers"];
    let [last, season] = [0, 1].map(|place| number(&numbers["baselines"][place]["mean_absolute_error"]));
    let own = number(&numbers["mean_absolute_error"]);
    assert!(own < 0.5 * last && season < 1.0, "{own} {last} {season}");
    assert_eq!(numbers["targets"].as_array().unwrap().len(), 4);
    assert_eq!(*numbers, place.json("evaluate run later.csv")["numbers"]);
    let config = place.text("run/config.toml");
    assert!(
        config.contains("horizon = 4") && config.contains("season = 6"),
        "{config}"
    );
    // New data ends with the last row that is known.
    place.write("new.csv", series(800..830));
    let said = place.ok("predict run new.csv").stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "sequence,start,end,time,load");
    assert_eq!(lines.len() % 4, 1, "four values a window");
    let last: Vec<&str> = lines[lines.len() - 4].split(',').collect();
    assert_eq!(last[1..4], ["818", "830", "830"]);
    assert!(lines.last().unwrap().contains(",833,"), "{said}");
    for line in &lines[lines.len() - 4..] {
        let fields: Vec<f64> = line.split(',').skip(3).map(|field| field.parse().unwrap()).collect();
        let truth = 50.5 + 20.0 * (std::f64::consts::TAU * fields[0] / 6.0).sin();
        assert!((fields[1] - truth).abs() < 10.0, "{line} {truth}");
    }
    let json = place.ok("predict run new.csv --format json").stdout;
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["end"], &last["forecast"][3]["time"]),
        (&"830".into(), &"833".into())
    );
    assert!(last["forecast"][3]["load"].is_number());
    let info = place.ok(&format!("data info past.csv --target load {HOURS}"));
    assert!(
        info.stdout.contains("to learn: the next 4 values of load"),
        "{}",
        info.stdout
    );
    let notes = &info.stderr;
    assert!(notes.contains("windows of 12 steps and 4 steps to predict"), "{notes}");
    place.ok("export run --to c --out c");
    assert!(place.text("c/c_info.c").contains("\"load+1\""));
}

#[test]
fn quantiles_of_several_channels_are_forecast() {
    let place = place();
    let train = format!(
        "train past.csv --target temp,load {HOURS} --quantiles 0.1,0.5,0.9 --hop 4 --folds 3 --no-final {QUICK}"
    );
    let report = place.json(&format!("{train} --out folds"));
    let pooled = &report["folds"]["pooled"]["numbers"];
    assert_eq!(pooled["targets"][7]["name"], "load+4");
    assert_eq!(pooled["baselines"].as_array().unwrap().len(), 2);
    assert!(number(&pooled["quantiles"]["coverage"]) > 0.2, "{pooled}");
    place.ok(&format!(
        "train past.csv --target temp,load {HOURS} --quantiles 0.1,0.5,0.9 --hop 4 --validation 0.2 {QUICK} --out run"
    ));
    let said = place.ok("predict run later.csv").stdout;
    let head = "sequence,start,end,time,temp_q0.1,temp_q0.5,temp_q0.9,load_q0.1,load_q0.5,load_q0.9\n";
    assert!(said.starts_with(head), "{said}");
    for line in said.lines().skip(1) {
        let values: Vec<f64> = line.split(',').skip(4).map(|field| field.parse().unwrap()).collect();
        assert!(values[..3].is_sorted() && values[3..].is_sorted(), "{line}");
        assert!(values[1] < 20.0 && values[4] > 20.0, "{line}");
    }
    // A channel's place may be another one in new data.
    let turned: String = series(600..800)
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n")
        .collect();
    place.write("turned.csv", turned);
    assert_eq!(place.ok("predict run turned.csv").stdout, said);
    assert_eq!(
        place.json("evaluate run turned.csv")["numbers"],
        place.json("evaluate run later.csv")["numbers"]
    );
}

#[test]
fn forecasts_that_cannot_be_are_refused() {
    let place = place();
    let train = "train past.csv --target load --time t_h --time-unit s";
    place.fails(
        &format!("{train} --window 12 --horizon 4 --season 24"),
        2,
        &["season: found 24 steps", "--window"],
    );
    place.fails(&format!("{train} --horizon 4"), 2, &["horizon: found no window"]);
    place.fails(
        &format!("{train} --window 12 --season 6"),
        2,
        &["season: found no forecast"],
    );
    place.fails(
        &format!("{train} --window 12 --horizon 2h"),
        2,
        &["horizon: found 7200s", "--rate"],
    );
    place.fails(&format!("{train} --window 12 --horizon none"), 2, &["none"]);
}
