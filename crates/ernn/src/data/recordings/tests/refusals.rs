//! What is refused, and that nothing brings the reader down.

use proptest::prelude::*;

use super::*;

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    let text = log(100, 60);
    for (text, toml, parts) in [
        (
            text.replace("\n400,", "\n399,").replace("\n380,", "\n400,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"399\", expected a later time than that of line 21",
        ),
        (
            text.replace("\n400,", "\n380,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"380\", expected a later time than that of line 21, which is the same",
        ),
        (
            text.replace("\n400,", "\nnoon,"),
            HALF_SECOND.to_owned(),
            "line 22, column \"t_ms\": found \"noon\", expected a time",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("50.0", "2000.0"),
            "rate: found 2000 Hz for rows that come at 50.0000 Hz",
        ),
        (
            text.clone(),
            HALF_SECOND.replace(", rate = 50.0", ""),
            "(rows come at 50.0000 Hz)",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("0.5s", "1h"),
            "found 100 steps (2 s) in the longest piece without a gap, expected at least the 180000 steps (3600 s)",
        ),
        (
            log(100, 2),
            HALF_SECOND.to_owned(),
            "no window with a label: 4 without one that covers 67 % of it (at most 52 %)",
        ),
        (text.clone(), with("purity = 1.5"), "purity: found 1.5"),
        (
            text.clone(),
            "recordings = { hop = 5, time_column = \"t_ms\" }".to_owned(),
            "hop: found no window",
        ),
        (
            text.clone(),
            "window = 5\nrecordings = { max_gap = 5 }".to_owned(),
            "max-gap: found no times",
        ),
        (
            text.clone(),
            HALF_SECOND.replace("t_ms", "clock"),
            "no column \"clock\" (--time)",
        ),
        (
            text.replace("t_ms", "t"),
            HALF_SECOND.replace("t_ms", "t").replace("50.0", "0.001"),
            "--time-unit s, ms, us or ns",
        ),
        ("t_ms,x,label\n".to_owned(), HALF_SECOND.to_owned(), "found no row"),
    ] {
        let found = error(&text, &toml);
        assert!(found.contains(parts), "{parts} in {found}");
    }
}

#[test]
fn what_is_of_recordings_alone_is_refused_for_other_tables() {
    for (toml, flag) in [
        ("recordings = { rate = 50 }", "rate"),
        ("recordings = { purity = 0.5 }", "purity"),
        ("recordings = { label_at = \"end\" }", "label-at"),
        ("recordings = { aim = \"steps\" }", "task"),
    ] {
        let found = error("series,x,label\na,1,b\n", toml);
        assert!(found.contains(&format!("{flag}: found no recordings")), "{found}");
    }
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let far = log(40, 60) + "99999999999,1,2,walk\n";
    let found = error(&far, &with("max_gap = \"90000h\""));
    assert!(
        found.contains("max-gap: found 5000000000 steps of 50 Hz to make of 41 rows"),
        "{found}"
    );
    let found = error(
        &log(100_000, 60),
        "window = 90000\nrecordings = { time_column = \"t_ms\", hop = 1 }",
    );
    assert!(
        found.contains("hop: found 1 steps, which makes 72 GB of windows"),
        "{found}"
    );
}

proptest! {
    /// Whatever the bytes, the reader answers.
    #[test]
    fn no_table_brings_the_reader_down(
        rows in proptest::collection::vec("[0-9]{1,4}(,|;|\t)?[-0-9.e]{0,6},[a-z\"]{0,3},?[0-9T:Z-]{0,12}", 0..30),
        header in "(t|time|t_ms),x,?(label|person)?,?[a-z]{0,3}",
        window in 1usize..9,
    ) {
        let text = format!("{header}\n{}\n", rows.join("\n"));
        let place = Place::new();
        let path = place.write("log.csv", &text);
        for toml in [format!("window = {window}"), format!("window = \"{window}ms\"\nrecordings = {{ time_column = \"t\", rate = 50 }}")] {
            let _ = open_sequences(&path, &options(&toml));
            let _ = open(path.to_str().unwrap(), &options(&toml));
        }
    }
}

/// On a grid a short gap is filled: the first empty cell is not what is missing.
#[test]
fn what_is_still_missing_is_named() {
    let text: String = log(150, 150)
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let x = if row == 10 || (70..95).contains(&row) {
                ""
            } else {
                cells[1]
            };
            format!("{},{x},{},{}\n", cells[0], cells[2], cells[3])
        })
        .collect();
    let found = error(&text, HALF_SECOND);
    assert!(
        found.contains("window 3 (1000 to 1500)") && found.contains("column \"x\": the first of"),
        "{found}"
    );
}
