use proptest::prelude::*;

use super::*;
use crate::data::{MissingPolicy, Sequences};

fn read_text(text: &str) -> Result<Raw> {
    read(text.as_bytes(), "a.csv".as_ref())
}

fn sequences(text: &str) -> Sequences {
    let raw = read_text(text).and_then(|raw| raw.finish(MissingPolicy::Refuse));
    raw.and_then(Raw::into_sequences).unwrap()
}

fn error(text: &str) -> String {
    read_text(text)
        .and_then(|raw| raw.finish(MissingPolicy::Refuse))
        .unwrap_err()
        .to_string()
}

#[test]
fn interleaved_series_are_put_together_and_ordered() {
    let read = sequences("series,step,x,y,label\nb,1,3,4,up\na,0,5,6,down\nb,0,1,2,up\na,10,9,0,down\na,9,7,8,down\n");
    assert_eq!(read.names, ["b", "a"]);
    assert_eq!(read.feature_names, ["x", "y"]);
    assert_eq!(read.part.sequence(0), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(read.part.sequence(1), [5.0, 6.0, 7.0, 8.0, 9.0, 0.0]);
    assert_eq!(
        (read.classes, read.part.labels),
        (vec!["down".to_owned(), "up".to_owned()], vec![1, 0])
    );
}

/// Each row would be a sequence of one channel, whose first value is the time.
#[test]
fn steps_need_a_series() {
    let found = error("Step,x,y,label\n0,1,2,up\n1,3,4,up\n");
    assert_eq!(
        found,
        "a.csv, line 1: found a column step and no column series, expected a column series that says which rows are one sequence"
    );
}

#[test]
fn byte_order_mark_line_ends_separators_quotes_and_case() {
    let plain = sequences("series,step,x,y,label\n0,0,1.5,2,ja\n0,1,3,4,ja\n1,0,5,6,nein\n");
    for text in [
        "\u{feff}series;step;x;y;label\r\n0;0;1.5;2;ja\r\n0;1;3;4;ja\r\n1;0;5;6;nein\r\n",
        "series\tstep\tx\ty\tlabel\n0\t0\t1.5\t2\tja\n0\t1\t3\t4\tja\n1\t0\t5\t6\tnein",
        "series,step,x,y,label\r0,0,1.5,2,ja\r0,1,3,4,ja\r1,0,5,6,nein\r",
        "\"series\",\"step\",\"x\",\"y\",\"label\"\n\"0\",0,\"1.5\",2,\"ja\"\n\n0, 1 ,3,4,ja\n1,0,5,6, nein\n",
    ] {
        assert_eq!(sequences(text), plain, "{text}");
    }
    let upper = sequences("Series,STEP,x,y,Label\n0,0,1.5,2,ja\n0,1,3,4,ja\n1,0,5,6,nein\n");
    assert_eq!(upper, plain);
    assert_eq!(separator(b"\"a,b,c\";d\n1;2"), b';');
    assert_eq!(separator(b"x\n1"), b',');
}

#[test]
fn a_group_column_names_groups() {
    let read = sequences("series,x,group\n0,1,anna\n1,2,ben\n2,3,anna\n");
    assert_eq!(read.part.groups, [0, 1, 0]);
    assert_eq!(read.feature_names, ["x"]);
    let read = sequences("0,1,2,group,label\n1,2,3,g,a\n1,2,,h,b\n");
    assert_eq!((read.part.groups, read.part.labels), (vec![0, 1], vec![0, 1]));
}

#[test]
fn labels_are_optional() {
    assert!(sequences("series,x\n0,1\n0,2\n1,3\n").part.labels.is_empty());
    assert!(sequences("series,x,label\n0,1,\n0,2,\n1,3,\n").part.labels.is_empty());
    assert_eq!(
        error("series,x,label\n0,1,a\n1,2,\n"),
        "a.csv, line 3, column \"label\": found an empty cell, expected a value in every row, or in none"
    );
}

#[test]
fn wide_rows_may_be_shorter_at_the_end_only() {
    let read = sequences("label,0,1,2,3\na,1,2,,\nb,1,2,3,4\na,1,NaN,?,\n");
    assert_eq!(read.part.offsets, [0, 2, 6, 7]);
    assert_eq!((read.part.features, read.feature_names), (1, vec!["value".to_owned()]));
    assert_eq!(read.part.labels, [0, 1, 0]);
    let gap = "label,0,1,2,3\na,1,,3,\n";
    assert!(
        error(gap).starts_with("a.csv, line 2, column \"1\": the first of 1 missing values"),
        "{}",
        error(gap)
    );
    let filled = read_text(gap).unwrap().finish(MissingPolicy::Interpolate).unwrap();
    assert_eq!(filled.part.values.numbers(), [1.0, 2.0, 3.0]);
    assert_eq!(
        error("0,1,label\n1,2,a\n,,b\n"),
        "a.csv, line 3: found a sequence of no steps, expected at least one value"
    );
    assert_eq!(sequences("0,1,2\n1,2,3\n").part.len(), 1);
}

#[test]
fn refusals_name_line_and_column() {
    let cases = [
        (
            "",
            "a.csv: found an empty file, expected a header line with column names and rows of values",
        ),
        (
            " \r\n\n",
            "a.csv: found an empty file, expected a header line with column names and rows of values",
        ),
        (
            "\u{feff}",
            "a.csv: found an empty file, expected a header line with column names and rows of values",
        ),
        (
            "series,step,x,y,label\n",
            "a.csv: found no sequence, expected at least one",
        ),
        ("0,1,label\n", "a.csv: found no sequence, expected at least one"),
        (
            "series,step,x,y,label\r\n0,0,1,2,a\r\n0,1,1,abc,a\r\n",
            "a.csv, line 3, column \"y\": found \"abc\", expected a number",
        ),
        (
            "series,x,y\n0,1,2\n\n\n0,1,walk\n",
            "a.csv, line 5, column \"y\": found \"walk\", expected a number (a column with class names has to be called label)",
        ),
        (
            "series,step,x,y,label\n0,0,3e38,1,a\n0,1,1,-1e300,a\n",
            "a.csv, line 3, column \"y\": found \"-1e300\", expected a finite number of at most 3.4e38 in size",
        ),
        (
            "series,step,x,label\n0,0,1,a\n1,0,1,a\n0,1,1,b\n",
            "a.csv, line 4, column \"label\": found \"b\" for series \"0\", expected \"a\" as on line 2",
        ),
        (
            "series,step,x\n0,0,1\n0,1,2\n0,0,3\n",
            "a.csv, line 4, column \"step\": found step 0 of series \"0\" a second time, expected it only once, as on line 2",
        ),
        (
            "series,step,x\n0,monday,1\n",
            "a.csv, line 2, column \"step\": found \"monday\", expected a number (without a step column the rows stay in \
             their order)",
        ),
        (
            "series,x\n,1\n",
            "a.csv, line 2, column \"series\": found an empty cell, expected the name of the series",
        ),
        (
            "series,x\n0,1\n0,1,2\n",
            "a.csv, line 3: found 3 columns, expected 2 as in the header",
        ),
        (
            "series,x\n\"0,1\n0,1\n",
            "a.csv, line 2: found 1 column, expected 2 as in the header",
        ),
        (
            "series,step,label\n",
            "a.csv, line 1: found the columns series, step, label, expected at least one column with values",
        ),
        (
            "x,X,label\n",
            "a.csv, line 1: found two columns named \"x\", expected a name of its own for each column",
        ),
        (
            "1.5,2.5\n3,4\n",
            "a.csv, line 1: found numbers only, expected a header line with column names",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
    let utf16 = read(b"\xff\xfes\0e\0", "a.csv".as_ref()).unwrap_err().to_string();
    assert_eq!(utf16, "a.csv: found UTF-16 text, expected UTF-8");
}

#[test]
fn missing_values_in_long_tables_are_counted_and_located() {
    let text = "series,step,x,y,label\n0,1,1,NaN,a\n0,0,,2,a\n0,2,3,4,a\n";
    assert!(
        error(text).starts_with("a.csv, line 2, column \"y\": the first of 2 missing values"),
        "{}",
        error(text)
    );
    let raw = read_text(text).unwrap().finish(MissingPolicy::Interpolate).unwrap();
    assert_eq!(raw.part.values.numbers(), [1.0, 2.0, 1.0, 3.0, 3.0, 4.0]);
    assert_eq!(raw.part.filled, [0, 3]);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, "a.csv".as_ref());
    }

    #[test]
    fn arbitrary_tables_never_panic(text in "(series|x|0)[,;\t](step|y|1)[,;\t](label|group|z)\r?\n([0-9a?.\"-]{0,3}[,;\t\r\n]){0,60}") {
        let _ = read_text(&text).and_then(|raw| raw.finish(MissingPolicy::Previous)).and_then(Raw::into_sequences);
    }

    #[test]
    fn long_tables_come_back_whatever_the_order_of_rows(
        lengths in prop::collection::vec(1usize..6, 1..8),
        seed: u64,
    ) {
        use rand::seq::SliceRandom;
        let series = lengths.iter().enumerate();
        let mut rows: Vec<(usize, usize)> = series.flat_map(|(name, &length)| (0..length).map(move |step| (name, step))).collect();
        rows.shuffle(&mut crate::data::random::stream(b"rows\0\0\0\0", seed, 0));
        let lines: Vec<String> = rows.iter().map(|(name, step)| format!("{name},{step},{},{}", name * 100 + step, step)).collect();
        let read = sequences(&format!("series,step,x,y\n{}", lines.join("\n")));
        prop_assert_eq!(read.names.len(), lengths.len());
        for (index, name) in read.names.iter().enumerate() {
            let name: usize = name.parse().unwrap();
            let expected: Vec<f32> = (0..lengths[name]).flat_map(|step| [(name * 100 + step) as f32, step as f32]).collect();
            prop_assert_eq!(read.part.sequence(index), expected);
        }
    }
}
