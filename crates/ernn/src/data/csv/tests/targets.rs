//! Numbers to predict: read from long tables, wide tables and logs, or refused with their place.

use super::super::super::raw::assemble;
use super::*;
use crate::data::{Dataset, TableOptions, Task};

fn options(target: &str) -> OpenOptions {
    OpenOptions {
        table: TableOptions {
            target: target.split(',').map(str::to_owned).collect(),
            ..TableOptions::default()
        },
        ..OpenOptions::default()
    }
}

fn opened(text: &str, options: &OpenOptions) -> Result<Dataset> {
    let raw = read_as(text.as_bytes(), options)?.finish(MissingPolicy::Refuse)?;
    assemble("a.csv", raw, [None, None])
}

fn refusal(text: &str, options: &OpenOptions) -> String {
    opened(text, options).unwrap_err().to_string()
}

const LONG: &str = "series,step,x,speed\na,0,1,2.5\na,1,2,2.5\nb,0,3,-1e2\nb,1,4,-100\n";

#[test]
fn a_long_table_has_one_number_a_series() {
    let data = opened(LONG, &options("Speed")).unwrap();
    assert_eq!(
        (data.task, &data.train.numbers[..]),
        (Task::Regression, &[2.5, -100.0][..])
    );
    assert_eq!((data.feature_names, data.train.labels.len()), (vec!["x".to_owned()], 0));
    // The same, its rows out of order.
    let mixed = "series,step,x,speed\nb,1,4,-100\na,1,2,2.5\nb,0,3,-100\na,0,1,2.5\n";
    let mixed = opened(mixed, &options("speed")).unwrap();
    assert_eq!(mixed.train.numbers, [-100.0, 2.5]);
    assert_eq!(mixed.train.values.numbers(), [3.0, 4.0, 1.0, 2.0]);
}

#[test]
fn a_wide_table_has_one_number_a_row_and_a_log_one_a_window() {
    let wide = opened("t0,t1,age\n1,2,30\n3,4,40.5\n", &options("age")).unwrap();
    assert_eq!((wide.task, wide.train.numbers), (Task::Regression, vec![30.0, 40.5]));
    let semicolons = opened("t0;t1;age\n1;2;30\n3;4;40,5\n", &options("age")).unwrap();
    assert_eq!(semicolons.train.numbers, [30.0, 40.5]);
    let mut ucr = options("label");
    ucr.table.layout = Layout::Ucr;
    assert_eq!(opened("1.5 1 2\n2.5 3 4\n", &ucr).unwrap().train.numbers, [1.5, 2.5]);
    let mut log = options("load");
    log.table.window = Some(crate::data::Span::Steps(2));
    let log = opened("x,load\n1,7\n2,7\n3,8\n4,8\n5,9\n", &log).unwrap();
    assert_eq!(log.train.numbers, [7.0, 8.0]);
}

#[test]
fn a_sequence_may_have_several_numbers() {
    let long = "series,step,x,speed,kg\na,0,1,2.5,70\na,1,2,2.5,70\nb,0,3,-1e2,80\nb,1,4,-100,80\n";
    let data = opened(long, &options("KG,speed")).unwrap();
    assert_eq!(data.train.numbers, [70.0, 2.5, 80.0, -100.0]);
    assert_eq!(
        (&data.target_names[..], data.feature_names.len()),
        (&["kg".to_owned(), "speed".to_owned()][..], 1)
    );
    let wide = opened("t0,t1,age,kg\n1,2,30,70\n3,4,40.5,80\n", &options("age,kg")).unwrap();
    assert_eq!(wide.train.numbers, [30.0, 70.0, 40.5, 80.0]);
    let mut log = options("load,x");
    log.table.window = Some(crate::data::Span::Steps(2));
    let log = opened("y,x,load\n1,1,7\n2,3,7\n3,5,8\n4,7,8\n5,9,9\n", &log).unwrap();
    assert_eq!(log.train.numbers, [7.0, 2.0, 8.0, 6.0]);
    for (text, target, expected) in [
        (
            long,
            "kg,kg",
            "found the column \"kg\" in --target and in --target, expected one of them",
        ),
        (
            "series,step,x,speed,kg\na,0,1,2,\nb,0,2,,1\n",
            "speed,kg",
            "a.csv, line 2, column \"kg\": found a missing value",
        ),
        (
            "series,step,x,speed\na,0,1,2\n",
            "speed,kg",
            "found no column \"kg\" (--target)",
        ),
    ] {
        let found = refusal(text, &options(target));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn settings_with_one_column_are_what_they_were() {
    let text = |target: &str| toml::to_string(&options(target).table).unwrap();
    assert_eq!(text("kg"), "target = \"kg\"\n");
    assert_eq!(text("kg,age"), "target = [\"kg\", \"age\"]\n");
    for target in ["kg", "kg,age"] {
        let again: TableOptions = toml::from_str(&text(target)).unwrap();
        assert_eq!(again, options(target).table);
    }
}

#[test]
fn new_data_may_lack_its_numbers() {
    let mut options = options("speed");
    options.table.may_lack = vec!["speed".to_owned()];
    options.table.of_model = vec!["x".to_owned()];
    for text in [
        "series,step,x\na,0,1\na,1,2\n",
        "series,step,x,speed\na,0,1,\na,1,2,\n",
        "series,step,x,speed\na,0,1,2\na,1,2,2\n",
    ] {
        let raw = read_as(text.as_bytes(), &options)
            .unwrap()
            .finish(MissingPolicy::Refuse);
        let read = raw.and_then(Raw::into_sequences).unwrap();
        assert_eq!(
            (read.part.len(), read.part.values.numbers()),
            (1, &[1.0, 2.0][..]),
            "{text}"
        );
    }
}

#[test]
fn refusals_of_numbers_name_line_and_column() {
    for (text, target, expected) in [
        (
            "series,step,x,speed\na,0,1,fast\n",
            "speed",
            "a.csv, line 2, column \"speed\": found \"fast\", expected a number, as --target says",
        ),
        (
            "series,step,x,speed\na,0,1,2\na,1,2,3\n",
            "speed",
            "a.csv, line 3, column \"speed\": found \"3\" for series \"a\", expected 2 as on line 2, one number for all rows of a sequence",
        ),
        (
            "series,step,x,speed\na,0,1,2\nb,0,2,\n",
            "speed",
            "a.csv, line 3, column \"speed\": found a missing value, expected a number to predict for each sequence",
        ),
        (
            "series,step,x,speed\na,0,1,nan\na,1,1,NaN\n",
            "speed",
            "a.csv, line 2, column \"speed\": found a missing value, expected a number to predict for each sequence",
        ),
        (
            "series,step,x,speed\na,0,1,2\na,1,1,\n",
            "speed",
            "a.csv, line 3, column \"speed\": found \"\" for series \"a\", expected 2 as on line 2, one number for all rows of a sequence",
        ),
        (
            "series,step,x,speed\na,0,1,1e60\n",
            "speed",
            "a.csv, line 2, column \"speed\": found \"1e60\", expected a finite number of at most 3.4e38 in size",
        ),
        (
            LONG,
            "velocity",
            "a.csv, line 1: found no column \"velocity\" (--target), expected one of series, step, x, speed",
        ),
        (
            LONG,
            "series",
            "a.csv, line 1: found the column \"series\" in --series-column and in --target, expected one of them",
        ),
        (
            "t0,t1,when\n1,2,1700000000000\n3,4,1700000000020\n",
            "when",
            "a.csv, column \"when\": found numbers from 1700000000000 to 1700000000020, an offset too large",
        ),
    ] {
        let found = refusal(text, &options(target));
        assert!(found.starts_with(expected), "{text}{found}");
    }
}

#[test]
fn a_column_is_a_number_to_predict_or_something_else() {
    let mut both = options("speed");
    both.text.label_column = Some("x".to_owned());
    let found = refusal(LONG, &both);
    assert!(
        found.ends_with(
            "found --target speed and --label-column x, expected one of them: a model learns numbers or classes"
        ),
        "{found}"
    );
    both.text.label_column = Some("speed".to_owned());
    let found = refusal(LONG, &both);
    assert!(found.contains("in --target and in --label-column"), "{found}");
    let mut channel = options("speed");
    channel.table.channels = vec!["x".to_owned(), "speed".to_owned()];
    let found = refusal(LONG, &channel);
    assert!(found.contains("\"speed\" in --target and in --channels"), "{found}");
    // A column called label is no channel, and nothing is learned of it.
    let labelled = "series,step,x,speed,label\na,0,1,2,up\nb,0,2,3,down\n";
    let data = opened(labelled, &options("speed")).unwrap();
    assert_eq!((data.feature_names.len(), data.classes.len()), (1, 0));
    assert_eq!(data.train.numbers, [2.0, 3.0]);
}
