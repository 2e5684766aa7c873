use proptest::prelude::*;

use super::*;
use crate::data::{Dataset, MissingPolicy, open, open_sequences, read_sequences};

fn options(toml: &str) -> OpenOptions {
    OpenOptions {
        table: toml::from_str(toml).unwrap(),
        ..OpenOptions::default()
    }
}

fn open_as(name: &str, text: &str, options: &OpenOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    open(path.to_str().unwrap(), options)
}

fn data(text: &str, toml: &str) -> Dataset {
    open_as("a.jsonl", text, &options(toml)).unwrap()
}

/// What is said behind the name of the file.
fn refused(text: &str, toml: &str) -> String {
    let error = open_as("a.jsonl", text, &options(toml)).unwrap_err().to_string();
    error.split_once("a.jsonl").unwrap().1.to_owned()
}

const SEQUENCES: &str = r#"{"ax": [0.5, 1, 2], "ay": [3, 4, -5e-1], "label": "walk", "group": "anna"}
{"ay": [6], "ax": [7.25], "label": "run", "group": "ben"}
"#;

#[test]
fn a_line_is_a_sequence_of_named_channels() {
    let data = data(SEQUENCES, "");
    assert_eq!(data.feature_names, ["ax", "ay"]);
    assert_eq!(data.train.sequence(0), [0.5, 3.0, 1.0, 4.0, 2.0, -0.5]);
    assert_eq!(data.train.sequence(1), [7.25, 6.0]);
    assert_eq!(
        (data.classes, data.train.labels),
        (vec!["run".to_owned(), "walk".to_owned()], vec![1, 0])
    );
    assert_eq!(
        (data.group_names, data.train.names),
        (
            vec!["anna".to_owned(), "ben".to_owned()],
            vec!["1".to_owned(), "2".to_owned()]
        )
    );
    assert!(
        data.notes[0].contains("a line is a sequence, with a list of its steps in the key \"ax\""),
        "{:?}",
        data.notes
    );
}

#[test]
fn a_list_a_step_has_channels_without_names() {
    let text = "{\"x\": [[1, 2], [3, null]], \"label\": 0}\n\n{\"x\": [[5, 6]], \"label\": 1}";
    let mut own = options("");
    own.missing = MissingPolicy::Zero;
    let data = open_as("a.ndjson", text, &own).unwrap();
    assert_eq!(
        (data.feature_names.len(), data.train.sequence(0)),
        (2, &[1.0, 2.0, 3.0, 0.0][..])
    );
    assert_eq!(data.classes, ["0", "1"]);
    let several = "{\"acc\": [[1, 2], [3, 4]], \"gyro\": [[5], [6]], \"t\": [1, 2], \"label\": 0}";
    let data = open_as("a.jsonl", several, &options("ignore = [\"t\"]")).unwrap();
    assert_eq!(data.feature_names, ["acc_1", "acc_2", "gyro_1"]);
    assert_eq!(data.train.sequence(0), [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
}

#[test]
fn numbers_to_predict_and_labels_of_several_keys() {
    let text = "{\"x\": [1, 2], \"speed\": 2.5, \"id\": \"a\"}\n{\"x\": [3], \"speed\": 1, \"id\": \"b\"}\n";
    let data = data(text, "target = \"speed\"\nseries_column = \"id\"");
    assert_eq!(
        (data.train.numbers, data.train.names),
        (vec![2.5, 1.0], vec!["a".to_owned(), "b".to_owned()])
    );
    let text = "{\"x\": [1, 2], \"rain\": true, \"wind\": 0}\n{\"x\": [3, 4], \"rain\": false, \"wind\": 1}\n";
    let data = super::tests::data(text, "labels_from = [\"rain\", \"wind\"]");
    assert_eq!((data.classes.len(), data.train.indicators.len()), (2, 4));
}

/// The same table as CSV and as JSON lines.
fn table(rows: usize) -> [String; 2] {
    let (mut csv, mut lines) = (String::from("t_ms,x,y,label\n"), String::new());
    for row in 0..rows {
        let (x, y) = (row * 7 % 11, (row * 37 % 101) as f64 / 7.0);
        let label = ["walk", "run"][row / 60 % 2];
        csv += &format!("{},{x},{y},{label}\n", 20 * row);
        lines += &format!(
            "{{\"t_ms\": {}, \"x\": {x}, \"y\": {y}, \"label\": \"{label}\"}}\n",
            20 * row
        );
    }
    [csv, lines]
}

const WINDOWS: &str = "window = \"0.5s\"\nrecordings = { time_column = \"t_ms\", rate = 50.0 }";

#[test]
fn a_line_is_a_row_as_of_a_table() {
    let [csv, lines] = table(300);
    let table = open_as("a.csv", &csv, &options(WINDOWS)).unwrap();
    let own = data(&lines, WINDOWS);
    assert_eq!(
        (own.train.values, own.train.labels),
        (table.train.values, table.train.labels)
    );
    assert_eq!(own.feature_names, ["x", "y"]);
    assert!(
        own.notes[0].contains("a line is a row, as of a table"),
        "{:?}",
        own.notes
    );
    let long = "{\"series\": \"b\", \"step\": 1, \"x\": 1, \"label\": 0}\n{\"series\": \"a\", \"step\": 0, \"x\": 2, \"label\": 1}\n\
        {\"x\": 3, \"series\": \"b\", \"label\": 0, \"step\": 0}\n";
    let own = data(long, "");
    assert_eq!(
        (own.train.names.clone(), own.train.sequence(0)),
        (vec!["b".to_owned(), "a".to_owned()], &[3.0, 1.0][..])
    );
}

#[test]
fn a_sequence_with_times_is_a_recording() {
    let text = "{\"t\": [0, 0.5, 1, 1.5], \"x\": [1, 2, 3, 4], \"state\": [\"a\", \"a\", \"b\", \"b\"], \"series\": \"night\"}\n";
    let mut own = options("window = 2\nrecordings = { time_column = \"t\" }");
    own.text.label_column = Some("state".to_owned());
    let data = open_as("a.jsonl", text, &own).unwrap();
    assert_eq!((data.train.len(), data.classes.join(",")), (2, "a,b".to_owned()));
    assert_eq!(data.train.names, ["night/1", "night/2"]);
}

#[test]
fn folders_pipes_and_packed_files() {
    let folder = tempfile::tempdir().unwrap();
    let [csv, lines] = table(300);
    for (name, text) in [("a.jsonl", &lines), ("b.csv", &csv)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let data = open(folder.path().to_str().unwrap(), &options(WINDOWS)).unwrap();
    assert_eq!(data.recordings[0].recordings, 2);
    let half = data.train.len() / 2;
    assert_eq!(data.train.sequence(0), data.train.sequence(half));
    let parts = tempfile::tempdir().unwrap();
    for name in ["train.jsonl", "test.ndjson"] {
        std::fs::write(parts.path().join(name), SEQUENCES).unwrap();
    }
    let data = open(parts.path().to_str().unwrap(), &options("")).unwrap();
    assert_eq!(data.test.unwrap().len(), 2);
    let piped = read_sequences(SEQUENCES.as_bytes(), &options("")).unwrap();
    assert_eq!(piped.part.sequence(1), [7.25, 6.0]);
    let piped = read_sequences(format!("\u{feff}{lines}").as_bytes(), &options(WINDOWS)).unwrap();
    assert_eq!(piped.part.len(), 12);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, SEQUENCES.as_bytes()).unwrap();
    let path = folder.path().join("c.jsonl.gz");
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    assert_eq!(open_sequences(&path, &options("")).unwrap().part.len(), 2);
}

#[test]
fn refusals_of_sequences() {
    for (line, expected) in [
        (
            r#"{"ax": [1, 2], "ay": [3], "label": "a"}"#,
            ", line 3, key \"ay\": found 1 steps, expected 2, as of the key \"ax\"",
        ),
        (
            r#"{"ax": [], "ay": [], "label": "a"}"#,
            ", line 3, key \"ax\": found an empty list, expected at least one step",
        ),
        (
            r#"{"ax": [1], "label": "a"}"#,
            ", line 3, key \"ay\": found no such key, expected a list",
        ),
        (
            r#"{"ax": [1], "ay": 2, "label": "a"}"#,
            ", line 3, key \"ay\": found a number, expected a list",
        ),
        (
            r#"{"ax": [1], "ay": [2], "az": [2], "label": "a"}"#,
            ", line 3, key \"az\": found a list that is new",
        ),
        (
            r#"{"ax": [1, 2], "ay": [1, "fast"], "label": "a"}"#,
            ", line 3, step 2, key \"ay\": found \"fast\", expected a number",
        ),
        (
            r#"{"ax": [1, 2], "ay": [1, [2]], "label": "a"}"#,
            ", line 3, step 2, key \"ay\": found a list, expected a number",
        ),
        (
            r#"{"ax": [1, 1e60], "ay": [1, 2], "label": "a"}"#,
            ", line 3, step 2, key \"ax\": found \"1e+60\", expected a finite",
        ),
        (
            r#"{"ax": [1], "ay": [2], "label": "a", "label": "b"}"#,
            ", line 3, column 50: found the key \"label\" twice",
        ),
        (
            r#"{"ax": [NaN], "ay": [2], "label": "a"}"#,
            ", line 3, column 9: found expected value, expected one JSON object a line (JSON has no NaN",
        ),
        (
            r#"{"ax": [1], "ay": [2], "label": ["a"]}"#,
            ", line 3, key \"label\": found a list",
        ),
        (
            r#"[1, 2]"#,
            ", line 3, column 0: found invalid type: sequence, expected an object, expected one JSON object",
        ),
    ] {
        let found = refused(&format!("{SEQUENCES}{line}\n"), "");
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    let missing = refused(r#"{"ax": [1, null], "label": "a"}"#, "");
    assert!(
        missing.starts_with(", line 1, step 2, key \"ax\": ") && missing.contains("missing value"),
        "{missing}"
    );
    let twice = refused(
        "{\"x\": [1], \"id\": \"a\"}\n{\"x\": [1], \"id\": \"a\"}\n",
        "series_column = \"id\"",
    );
    assert!(
        twice.starts_with(", line 2, key \"id\": found \"a\" again, expected one line a sequence"),
        "{twice}"
    );
    let uneven = refused("{\"x\": [[1, 2], [1]], \"label\": 0}", "");
    assert!(
        uneven.starts_with(", line 1, step 2, key \"x\": found 1 values, expected 2"),
        "{uneven}"
    );
    let unsure = refused("{\"time\": [1, 2], \"x\": [1, 2]}", "");
    assert!(
        unsure.contains("columns whose names say that they are no values"),
        "{unsure}"
    );
    let ignored = "{\"x\": [1], \"label\": 0}\n{\"x\": [2], \"tags\": [], \"label\": 0}";
    assert_eq!(data(ignored, "ignore = [\"tags\"]").train.len(), 2);
    let unused = data("{\"x\": [1, 2], \"device\": 7, \"label\": 0}", "").notes;
    assert!(
        unused[1].contains("the key device is not used; --label-column"),
        "{unused:?}"
    );
}

#[test]
fn refusals_of_rows() {
    let [_, lines] = table(120);
    for (line, expected) in [
        (
            r#"{"t_ms": 9000, "x": 1, "z": 2}"#,
            ", line 121, key \"z\": found a key that is new, expected one of t_ms, x, y, label",
        ),
        (
            r#"{"t_ms": 9000, "x": [1], "y": 2}"#,
            ", line 121, key \"x\": found a list, expected a number, a text or null",
        ),
        (
            r#"{"t_ms": 9000, "x": "fast", "y": 2}"#,
            ", line 121, key \"x\": found \"fast\", expected a number",
        ),
        (
            r#"{"t_ms": 40, "x": 1, "y": 2}"#,
            ", line 121, key \"t_ms\": found \"40\", expected a later time than that of line 120",
        ),
        (
            r#"{"t_ms": 9000"#,
            ", line 121, column 13: found EOF while parsing an object",
        ),
    ] {
        let found = refused(&format!("{lines}{line}\n"), WINDOWS);
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    assert_eq!(
        refused("\n", ""),
        ": found an empty file, expected a JSON object a line"
    );
    let unclear = refused(&lines, "");
    assert!(unclear.contains("120 rows with the columns"), "{unclear}");
}

proptest! {
    #[test]
    fn damaged_lines_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), rows: bool, window: bool) {
        let mut bytes = if rows { table(20)[1].clone() } else { SEQUENCES.to_owned() }.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let options = options(if window { "window = 2" } else { "" });
        let _ = read_stream(&bytes[..], "a.jsonl".as_ref(), &options);
    }

    #[test]
    fn arbitrary_objects_never_panic(lines in prop::collection::vec("\\{(\"(x|y|label|t|series)\":(\\[([0-9],?|null|\"a\"|\\[[0-9,]{0,4}\\],?){0,4}\\]|[0-9]|\"a\"|null|true|\\{\\}),?){0,4}\\}", 1..5), toml in "(|window = 2|ignore = \\[\"x\"\\]|series_column = \"y\"|target = \"y\")") {
        let _ = read_stream(lines.join("\n").as_bytes(), "a.jsonl".as_ref(), &options(&toml));
    }
}
