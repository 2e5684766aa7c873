use proptest::prelude::*;

use super::*;
use crate::data::{MissingPolicy, Sequences};

mod questions;
mod targets;

fn read_text(text: &str) -> Result<Raw> {
    read_as(text.as_bytes(), &OpenOptions::default())
}

fn read_as(bytes: &[u8], options: &OpenOptions) -> Result<Raw> {
    read_stream(bytes, "a.csv".as_ref(), options)
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
    assert!(found.contains("no column says which rows are one sequence"), "{found}");
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
            "a.csv, line 5, column \"y\": found \"walk\", expected a number (a column with class names is read with --label-column y, and \
             --ignore y leaves one out)",
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
            "a.csv, line 2, column \"step\": found \"monday\", expected a number (with --ignore step the rows stay in their \
             order)",
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
            "a.csv, line 2: found a quote that never closes, expected a second one at the end of its field",
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
            "a.csv, line 1: found numbers only, expected a header line with column names (--layout ucr reads rows of a label and its \
             values)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
    let utf16 = read_as(b"\xff\xfes\0e\0", &OpenOptions::default())
        .unwrap_err()
        .to_string();
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

/// Options with these settings of a table.
fn table(settings: &str) -> OpenOptions {
    OpenOptions {
        table: toml::from_str(settings).unwrap(),
        ..OpenOptions::default()
    }
}

fn ucr() -> OpenOptions {
    table("layout = \"ucr\"")
}

fn error_as(text: &str, options: &OpenOptions) -> String {
    let read = read_as(text.as_bytes(), options).and_then(|raw| raw.finish(MissingPolicy::Refuse));
    read.unwrap_err().to_string()
}

fn sequences_as(text: &str, options: &OpenOptions) -> Sequences {
    let read = read_as(text.as_bytes(), options).and_then(|raw| raw.finish(MissingPolicy::Refuse));
    read.and_then(Raw::into_sequences).unwrap()
}

fn labelled(column: &str, mut options: OpenOptions) -> OpenOptions {
    options.text.label_column = Some(column.to_owned());
    options
}

#[test]
fn flags_name_columns_of_every_table() {
    let wide = "t0,t1,activity,who\n1,2,a,g\n3,4,b,h\n";
    let read = sequences_as(wide, &labelled("activity", table("group_column = \"Who\"")));
    assert_eq!(
        (read.classes.join(","), read.part.groups),
        ("a,b".to_owned(), vec![0, 1])
    );
    let long = "series,x,y,label,kind\n0,1,2,a,p\n0,1,3,a,p\n1,1,4,b,p\n";
    let read = sequences_as(long, &labelled("kind", table("ignore = [\"label\", \"y\"]")));
    assert_eq!(
        (read.classes.join(","), read.feature_names.join(",")),
        ("p".to_owned(), "x".to_owned())
    );
    for (settings, expected) in [
        (
            "ignore = [\"z\"]",
            "no column \"z\" (--ignore), expected one of series, x, y, label, kind",
        ),
        (
            "channels = [\"z\"]",
            "no column \"z\" (--channels), expected one of series,",
        ),
        (
            "series_column = \"id\"",
            "no column \"id\" (--series-column), expected one of series,",
        ),
        ("step_column = \"t\"", "no column \"t\" (--step-column)"),
        ("group_column = \"g\"", "no column \"g\" (--group-column)"),
        (
            "group_column = \"x\"\nstep_column = \"x\"",
            "the column \"x\" in --step-column and in --group-column, expected one of them",
        ),
        (
            "channels = [\"x\"]\nignore = [\"x\"]",
            "the column \"x\" in --ignore and in --channels",
        ),
    ] {
        let found = error_as(long, &table(settings));
        assert!(found.contains(expected), "{found}");
    }
    let found = error_as(long, &labelled("mood", OpenOptions::default()));
    assert!(
        found.contains("no column \"mood\" (--label-column), expected one of series, x,"),
        "{found}"
    );
    let mut options = labelled("mood", table("ignore = [\"z\", \"kind\"]"));
    options.table.may_lack = vec!["mood".to_owned(), "z".to_owned()];
    let found = error_as(long, &options);
    assert!(
        found.contains("--ignore label"),
        "new data may lack a run's columns: {found}"
    );
}

#[test]
fn a_log_is_cut_into_windows() {
    let text = "time,x,activity\n0,1,walk\n1,2,walk\n2,3,walk\n3,4,run\n5,5,run\n7,6,walk\n";
    let options = |window: usize| labelled("activity", table(&format!("step_column = \"time\"\nwindow = {window}")));
    let read = sequences_as(text, &options(2));
    assert_eq!(read.part.offsets, [0, 2], "the others are half of one label");
    assert_eq!(
        (read.names.join(","), read.classes.join(",")),
        ("1".to_owned(), "run,walk".to_owned())
    );
    let found = error_as(&text.replace("5,5,run", "3,5,run"), &options(2));
    assert!(
        found.contains("line 6, column \"time\": found \"3\", expected a later time"),
        "{found}"
    );
    let of_series = "id,x\na,1\na,2\nb,4\na,3\nb,5\n";
    let read = sequences_as(of_series, &table("series_column = \"id\"\nwindow = 2"));
    assert_eq!(
        (
            &read.part.offsets[..],
            &read.part.groups[..],
            read.part.values.numbers()
        ),
        (&[0, 2, 4][..], &[0, 1][..], &[1.0, 2.0, 4.0, 5.0][..])
    );
}

#[test]
fn other_encodings_are_refused_or_read_and_labels_never_merge() {
    let bytes = b"series,x,label\n1,1,caf\xe9\n2,2,caf\xe8\n";
    let mut options = OpenOptions::default();
    options.text.invalid = InvalidText::Replace;
    for options in [OpenOptions::default(), options] {
        let found = read_as(bytes, &options).unwrap_err().to_string();
        assert_eq!(
            found,
            "a.csv, line 2, byte 22: found the byte 0xe9, expected UTF-8 text (--encoding latin-1 would read it as \"é\")"
        );
    }
    for encoding in [crate::data::Encoding::Latin1, crate::data::Encoding::Windows1252] {
        let mut options = OpenOptions::default();
        options.text.encoding = encoding;
        let read = read_as(bytes, &options).and_then(Raw::into_sequences).unwrap();
        assert_eq!(
            read.classes,
            ["café", "cafè"]
                .map(str::to_owned)
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
        );
    }
    let found = read_as(b"series,x\n\x80,1\n", &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        found.contains("--encoding windows-1252 would read it as \"€\""),
        "{found}"
    );
}

#[test]
fn a_quote_that_does_not_close_on_its_line_is_refused() {
    let head = "series,x,label\n0,1,a\n";
    let found = error(&format!("{head}1,2,\"b\n2,3,a\n3,4,b\n"));
    assert_eq!(
        found,
        "a.csv, line 3: found a quote that never closes, expected a second one at the end of its field"
    );
    let found = error(&format!("{head}1,2,\"b\n2,3,a\"\n3,4,b\n"));
    assert_eq!(
        found,
        "a.csv, line 3: found a quote that closes only on line 4, expected both quotes on one line"
    );
    let text = "series,x,label,note\n0,1,a,\"long\nnote\"\n1,2,b,\n";
    assert_eq!(sequences_as(text, &table("ignore = [\"note\"]")).part.len(), 2);
}

#[test]
fn rows_of_the_archive_have_no_header() {
    let read = sequences_as("1\t0.1\t0.2\n2\t0.5\tNaN\n", &ucr());
    assert_eq!(
        (read.classes.join(","), &read.part.offsets[..]),
        ("1,2".to_owned(), &[0, 2, 3][..])
    );
    assert_eq!(read.part.values.numbers(), [0.1, 0.2, 0.5]);
    let read = sequences_as("  1.0000000e+00 -6.4e-01 -6.4e-01\n  2.0000000e+00 -0.1 -0.2\n", &ucr());
    assert_eq!(read.classes, ["1", "2"]);
    assert_eq!(sequences_as("1,0.5,0.25\n", &ucr()).part.values.numbers(), [0.5, 0.25]);
    let found = error_as("1\t0.1\t0.2\n2\t0.5\n", &ucr());
    assert_eq!(found, "a.csv, line 2: found 2 columns, expected 3 as in the first row");
    for text in [
        "1\t0.1\t0.2\n2\t0.5\t0.6\n",
        "1,0.1,?,0.3\n2,0.5,0.6,0.7\n",
        "1,,0.3\n2,0.6,0.7\n",
    ] {
        let found = error(text);
        assert!(
            found.contains("line 1: found numbers") && found.contains("--layout ucr"),
            "{found}"
        );
    }
}

#[test]
fn decimal_commas_are_told_from_separators() {
    let read = sequences("series;step;x;label\n0;0;1,5;a\n0;1;-2,25;a\n1;0;3;b\n");
    assert_eq!(read.part.values.numbers(), [1.5, -2.25, 3.0]);
    let read = sequences_as("1;1,5;2,7\n2;2,5;3,5\n", &ucr());
    assert_eq!(read.part.values.numbers(), [1.5, 2.7, 2.5, 3.5]);
    assert!(error("1,5;2,7\n2,5;3,5\n").contains("line 1: found numbers only"));
    let found = error("series;x\n0;1,5\n0;1.5\n");
    assert_eq!(
        found,
        "a.csv, line 3, column \"x\": found \"1.5\" with a decimal point, expected a decimal comma as on line 2"
    );
    let found = error("series;x\n0;1.234,5\n");
    assert!(
        found.contains("line 2, column \"x\": found \"1.234,5\", expected a number"),
        "{found}"
    );
}

#[test]
fn an_offset_too_large_for_32_bits_is_said() {
    let text = "series,x,y,label\n0,1700000000000,1,a\n0,1700000000020,2,a\n1,1700000000000,3,b\n";
    let found = error(text);
    assert!(
        found.starts_with("a.csv, column \"x\": found values from 1700000000000 to 1700000000020, an offset too large"),
        "{found}"
    );
    assert!(
        found.ends_with("expected values with 1700000000000 subtracted from each, or --ignore x"),
        "{found}"
    );
    assert!(
        sequences("series,x,label\n0,7.1,a\n0,7.1,a\n1,7.1,b\n").part.len() == 2,
        "constant is another matter"
    );
    assert!(error("t0,t1\n1700000000000,1700000000020\n").starts_with("a.csv: found values from"));
}

/// In order, out of order and through a pipe a file gives the same; rows in order need no steps beside them.
#[test]
fn files_out_of_order_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let ordered = "series,step,x,label\na,0,1,u\na,1,2,u\nb,0,3,v\n";
    let read_file = |text: &str| {
        std::fs::write(&path, text).unwrap();
        read(&path, &OpenOptions::default()).and_then(Raw::into_sequences)
    };
    let expected = sequences(ordered).part;
    for text in [
        ordered,
        "series,step,x,label\na,1,2,u\nb,0,3,v\na,0,1,u\n",
        "series,step,x,label\na,1,2,u\na,0,1,u\nb,0,3,v\n",
    ] {
        assert_eq!(read_file(text).unwrap().part, expected, "{text}");
        assert_eq!(sequences(text).part, expected, "{text}");
    }
    let twice = read_file("series,step,x\na,0,1\nb,0,1\na,0,2\n")
        .unwrap_err()
        .to_string();
    assert!(
        twice.contains("line 4, column \"step\": found step 0 of series \"a\" a second time"),
        "{twice}"
    );
    let next = read_file("series,step,x\na,0,1\na,0,2\n").unwrap_err().to_string();
    assert!(
        next.contains(
            "line 3, column \"step\": found step 0 of series \"a\" a second time, expected it only once, as on line 2"
        ),
        "{next}"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_as(&bytes, &OpenOptions::default());
        let _ = read_as(&bytes, &ucr());
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
