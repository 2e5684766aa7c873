//! Forecasts: the values behind a window are its targets, and neither spans a gap, a recording or a block.

use super::*;
use crate::data::{Forecast, Task};

/// Rows of 1 Hz with a channel that counts them, from a row on, and one that goes up and down.
fn rows(from: usize, to: usize) -> String {
    (from..to).map(|row| format!("{row},{row},{}\n", row % 4)).collect()
}

fn series(parts: &[(usize, usize)]) -> String {
    let rows: String = parts.iter().map(|&(from, to)| rows(from, to)).collect();
    format!("t_s,count,wave\n{rows}")
}

fn of(target: &str, more: &str) -> String {
    format!(
        "window = 4\nchannels = [\"count\", \"wave\"]\ntarget = {target}\nrecordings = {{ time_column = \"t_s\", horizon = 3{more} }}"
    )
}

#[test]
fn the_next_values_of_a_channel_are_the_targets_and_it_stays_a_channel() {
    let data = read(&series(&[(0, 40)]), &of("\"Count\"", ""));
    assert_eq!(
        (data.task, &data.feature_names[..]),
        (Task::Regression, &["count", "wave"].map(String::from)[..])
    );
    assert_eq!(data.target_names, ["count+1", "count+2", "count+3"]);
    let forecast = Forecast {
        channels: vec![0],
        horizon: 3,
        season: None,
    };
    assert_eq!(data.forecast, Some(forecast));
    // Blocks of one window and what follows it, seven rows each; others lie in two blocks.
    let facts = &data.recordings[0];
    assert_eq!(
        (facts.windows, facts.horizon, facts.blocks),
        (data.train.len(), 3, data.train.groups.len()),
        "{facts}"
    );
    for sequence in 0..data.train.len() {
        let first = data.train.sequence(sequence)[0];
        assert_eq!(data.train.sequence(sequence)[6], first + 3.0);
        assert_eq!(data.train.numbers_of(sequence), [first + 4.0, first + 5.0, first + 6.0]);
        let block = (first as usize) / 7;
        assert_eq!(
            (first + 6.0) as usize / 7,
            block,
            "no window and what follows it lie in two blocks"
        );
    }
    let several = read(&series(&[(0, 40)]), &of("[\"wave\", \"count\"]", ", season = 2"));
    assert_eq!(several.forecast.unwrap().channels, [1, 0]);
    assert_eq!(several.train.numbers_of(0), [0.0, 1.0, 2.0, 4.0, 5.0, 6.0]);
}

#[test]
fn a_window_and_what_follows_it_lie_in_one_piece() {
    // Two recordings, one with a gap: pieces of 10, 9 and 6 rows.
    let text = series(&[(0, 10), (50, 59)])
        .replace('\n', ",a\n")
        .replacen(",a\n", ",series\n", 1)
        + &rows(0, 6).replace('\n', ",b\n");
    let data = read(&text, &of("\"count\"", ", hop = 1, keep_overlap = true"));
    let firsts: Vec<f32> = (0..data.train.len())
        .map(|sequence| data.train.sequence(sequence)[0])
        .collect();
    assert_eq!(firsts, [0.0, 1.0, 2.0, 3.0, 50.0, 51.0, 52.0]);
    assert_eq!((data.recordings[0].short, data.recordings[0].gaps), (1, 1));
    for (sequence, first) in firsts.iter().enumerate() {
        assert_eq!(data.train.numbers_of(sequence)[2], first + 6.0);
    }
    let notes = data.notes.join("\n");
    assert!(
        notes.contains("7 windows of 4 steps and 3 steps to predict, one every 1"),
        "{notes}"
    );
    assert!(
        notes.contains("1 piece shorter than a window and what follows it"),
        "{notes}"
    );
}

#[test]
fn what_judges_predicts_no_step_twice() {
    let long = |more: &str| of("\"count\"", more).replace("horizon = 3", "horizon = 6");
    let text = series(&[(0, 20)])
        .replace('\n', ",a\n")
        .replacen(",a\n", ",series\n", 1)
        + &rows(0, 12).replace('\n', ",b\n");
    let data = read(&text, &long(", hop = 1"));
    let apart: Vec<f32> = data
        .train
        .apart()
        .iter()
        .map(|&sequence| data.train.sequence(sequence)[0])
        .collect();
    assert_eq!(
        apart,
        [0.0, 6.0, 0.0],
        "six steps from one to the next: as many as are predicted"
    );
}

#[test]
fn windows_with_a_missing_value_to_predict_are_left_out() {
    let text = series(&[(0, 12)]).replace("9,9,1\n", "9,,1\n");
    let mut own = options(&of("\"count\"", ", hop = 1, keep_overlap = true"));
    own.table.recordings.whole = true;
    own.missing = crate::data::MissingPolicy::Interpolate;
    let place = Place::new();
    let path = place.write("log.csv", &text);
    let data = open(path.to_str().unwrap(), &own).unwrap();
    assert_eq!(
        (data.train.len(), data.recordings[0].unlabelled),
        (3, 3),
        "{:?}",
        data.notes
    );
    assert!(
        data.notes
            .join("\n")
            .contains("3 windows with a missing value to predict"),
        "{:?}",
        data.notes
    );
}

#[test]
fn who_asks_gets_the_windows_up_to_the_last_row_and_the_times_behind_them() {
    let mut own = options(&of("\"count\"", ", hop = 4"));
    own.table.recordings.every_window = true;
    let place = Place::new();
    let asked = |text: &str, own: &OpenOptions| open_sequences(&place.write("log.csv", text), own).unwrap();
    let found = asked(&series(&[(0, 10)]), &own);
    assert_eq!(found.part.offsets, [0, 4, 8, 12]);
    assert_eq!(found.ahead, [["4", "5", "6"], ["8", "9", "10"], ["10", "11", "12"]]);
    assert_eq!(found.times[2], ["6", "10"]);
    own.table.recordings.rate = Some(2.0);
    let grid = asked(&series(&[(0, 4)]), &own);
    assert_eq!(grid.ahead.last().unwrap(), &["3.5", "4", "4.5"]);
    // Without times rows are counted, from 1.
    own.table.recordings.rate = None;
    own.table.recordings.time_column = None;
    own.table.ignore = vec!["t_s".to_owned()];
    let counted = asked(&series(&[(0, 5)]), &own);
    assert_eq!(counted.ahead, [["5", "6", "7"], ["6", "7", "8"]]);
}

#[test]
fn forecasts_that_cannot_be_are_refused() {
    let text = series(&[(0, 40)]);
    for (toml, expected) in [
        (
            of("\"count\"", ", season = 5"),
            "season: found 5 steps, expected at most the 4 steps of --window",
        ),
        (
            of("\"count\"", "").replace("[\"count\", \"wave\"]", "[\"wave\"]"),
            "found --horizon for the column \"count\", which is no channel",
        ),
        (
            of("[\"count\", \"Count\"]", ""),
            "found the column \"count\" twice in --target",
        ),
        (of("\"load\"", ""), "found no column \"load\" (--target)"),
        (
            of("\"count\"", "").replace("target = \"count\"\n", ""),
            "horizon: found no target, expected --target with the channels",
        ),
        (
            of("\"count\"", "").replace("window = 4\n", ""),
            "horizon: found no window",
        ),
        (
            of("\"count\"", "").replace("horizon = 3", "season = 3"),
            "season: found no forecast, expected --horizon",
        ),
        (of("\"count\"", ", purity = 0.5"), "purity: found a forecast"),
        (
            of("\"count\"", ", aim = \"steps\""),
            "horizon: found a number for each step",
        ),
        (
            of("\"count\"", "").replace("horizon = 3", "horizon = \"2h\""),
            "horizon: found 7200s, expected --rate with the steps a second",
        ),
        (
            of("\"count\"", "").replace("horizon = 3", "horizon = 50"),
            "found 40 steps in the longest piece without a gap, expected at least the 54 steps of --window and --horizon",
        ),
    ] {
        let found = error(&text, &toml);
        assert!(found.contains(expected), "{toml}\n{found}");
    }
}
