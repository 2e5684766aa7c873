use proptest::prelude::*;

use super::*;
use crate::data::MissingPolicy;

fn read_text(text: &str) -> Result<Raw> {
    read(text.as_bytes(), "a.ts".as_ref())
}

fn error(text: &str) -> String {
    read_text(text)
        .and_then(|raw| raw.finish(MissingPolicy::Refuse))
        .unwrap_err()
        .to_string()
}

#[test]
fn numbers_to_predict_stand_behind_the_last_colon() {
    let text = "@targetLabel true\n@classLabel false\n@data\n1,2:3,4:0.5\n5,6:7,8:-2e1\n9,9:9,9:?\n";
    let raw = read(text.as_bytes(), "a.ts".as_ref()).unwrap();
    assert!(raw.targets.wanted && raw.part.labels.is_empty());
    assert_eq!(raw.targets.numbers[..2], [0.5, -20.0]);
    assert_eq!(
        raw.targets.first_missing.as_deref(),
        Some(", line 6, after the last colon")
    );
    assert_eq!(raw.part.values.numbers()[..4], [1.0, 3.0, 2.0, 4.0]);
    let none = read(b"@targetLabel false\n@data\n1,2\n", "a.ts".as_ref()).unwrap();
    assert!(!none.targets.wanted);
}

#[test]
fn ragged_labelled_sequences_with_comments() {
    let raw = read_text(
        "#comment\r\n@problemName X\r\n@timeStamps false\r\n@missing false\r\n@univariate false\r\n@dimensions 2\r\n\
         @equalLength false\r\n@classLabel true 10 9\r\n@data\r\n# another\r\n1,2,3:4,5,6:9\r\n\r\n7:8: 10 \r\n",
    );
    let raw = raw.unwrap();
    assert_eq!(raw.part.features, 2);
    assert_eq!(raw.part.offsets, [0, 3, 4]);
    assert_eq!(raw.part.values.numbers(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0, 8.0]);
    assert_eq!(raw.labels.names, ["9", "10"]);
    let sequences = raw.into_sequences().unwrap();
    assert_eq!(sequences.classes, ["9", "10"]);
    assert_eq!(sequences.part.labels, [0, 1]);
    assert_eq!(sequences.names, ["1", "2"]);
}

#[test]
fn unlabelled_files_read_all_channels() {
    let raw = read_text(
        "@problemName Unlabelled\n@timeStamps false\n@univariate false\n@equalLength true\n@classLabel false\n@data\n\
         1.0,2.0,3.0:4.0,5.0,6.0\n2.0,3.0,4.0:1.0,0.0,-1.0\n",
    )
    .unwrap();
    assert_eq!((raw.part.features, raw.part.len(), raw.part.length(0)), (2, 2, 3));
    assert!(raw.part.labels.is_empty());
    assert_eq!(raw.part.sequence(1), [2.0, 1.0, 3.0, 0.0, 4.0, -1.0]);
}

#[test]
fn declared_classes_count_even_if_none_occurs_and_undeclared_lists_are_open() {
    let raw = read_text("@classLabel true b a c\n@data\n1:b\n").unwrap();
    assert_eq!(raw.into_sequences().unwrap().classes, ["a", "b", "c"]);
    let raw = read_text("@classLabel true\n@data\n1:z\n2:y\n").unwrap();
    assert_eq!(raw.into_sequences().unwrap().classes, ["y", "z"]);
}

#[test]
fn missing_values_are_counted_and_located() {
    let text = "@missing true\n@classLabel true up down\n@data\n1.0,?,3.0,4.0:up\n4.0,3.0,NaN,1.0:down\n";
    assert_eq!(
        error(text),
        "a.ts, line 4, channel 1, step 2: the first of 2 missing values; choose --missing interpolate, previous or zero \
         to fill them"
    );
    let raw = read_text(text).unwrap().finish(MissingPolicy::Interpolate).unwrap();
    assert_eq!(raw.part.values.numbers(), [1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0]);
}

#[test]
fn refusals_name_the_place() {
    let cases = [
        (
            "",
            "a.ts: found the end of the file, expected a line @data and sequences after it",
        ),
        (
            "@classLabel true a\n",
            "a.ts: found the end of the file, expected a line @data and sequences after it",
        ),
        (
            "@classLabel true a\n@data\n",
            "a.ts: found no sequence, expected at least one",
        ),
        (
            "@data\n1,2:a",
            "a.ts, line 1: found no @classLabel line before @data, expected @classLabel true NAMES or @classLabel false",
        ),
        (
            "@targetLabel true\n@data\n1,2:up",
            "a.ts, line 3, after the last colon: found \"up\", expected a number",
        ),
        (
            "@targetLabel true\n@classLabel true a b\n@data\n",
            "a.ts, line 2: found @classLabel true after @targetLabel true, expected one of them",
        ),
        (
            "@classLabel true a b\n@targetLabel true\n@data\n",
            "a.ts, line 2: found @targetLabel true after @classLabel true, expected one of them",
        ),
        (
            "@timeStamps true\n@data\n",
            "a.ts, line 1: found @timeStamps true, expected values without time stamps, @timeStamps false",
        ),
        (
            "@classLabel true a\n@data\n(0,1.5),(1,2.5):a",
            "a.ts, line 3: found values with time stamps, (time,value), expected plain values",
        ),
        (
            "@univariate yes\n",
            "a.ts, line 1: found \"@univariate yes\", expected true or false after the keyword",
        ),
        (
            "@dimensions 0\n",
            "a.ts, line 1: found \"@dimensions 0\", expected a number of at least 1 after the keyword",
        ),
        (
            "x,y\n1,2\n",
            "a.ts, line 1: found \"x,y\", expected a header line that begins with @, or @data",
        ),
        (
            "@univariate true\n@classLabel true up down\n@data\n1.0,2.0,3.0:up\n3.0,2.0,1.0:left\n",
            "a.ts, line 5: found label \"left\", expected one of those declared: up, down",
        ),
        (
            "@univariate true\n@classLabel true a\n@data\n1:2:a\n",
            "a.ts, line 4: found 2 channels, expected 1",
        ),
        (
            "@classLabel true a\n@data\n1:2:a\n1:a\n",
            "a.ts, line 4: found 1 channels, expected 2",
        ),
        (
            "@classLabel true a\n@data\n1,2\n",
            "a.ts, line 3: found only one field, \"1,2\", expected values, a colon, and the label",
        ),
        (
            "@classLabel true a\n@data\n1,2:1:a\n",
            "a.ts, line 3, channel 2: found 1 steps, expected 2 as in channel 1",
        ),
        (
            "@classLabel true a\n@data\n1,2:1,x:a\n",
            "a.ts, line 3, channel 2, step 2: found \"x\", expected a number",
        ),
        (
            "@classLabel true a\n@data\n1,1e39:a\n",
            "a.ts, line 3, channel 1, step 2: found \"1e39\", expected a finite number of at most 3.4e38 in size",
        ),
        (
            "@classLabel true a\n@data\n1:a\n:a\n",
            "a.ts, line 4, channel 1, step 1: found a sequence of no steps, expected at least one value",
        ),
        (
            "@classLabel true\n@data\n1,2:\n",
            "a.ts, line 3: found no label after the last colon, expected a label",
        ),
        (
            "@equalLength true\n@classLabel true a\n@data\n1,2:a\n1:a\n",
            "a.ts, line 5: found 1 steps, expected 2, as the header says @equalLength true",
        ),
        (
            "@equalLength true\n@seriesLength 3\n@classLabel true a\n@data\n1,2:a\n",
            "a.ts, line 5: found 2 steps, expected 3, as the header says @equalLength true",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, "a.ts".as_ref());
    }

    #[test]
    fn arbitrary_cases_never_panic(text in "(@[a-zA-Z]{4,10} (true|false|3)?\n){0,3}@classLabel (true|false|true a)\n@data\n[0-9a:,.?(\n -]{0,200}") {
        let _ = read_text(&text).and_then(|raw| raw.finish(MissingPolicy::Interpolate)).and_then(Raw::into_sequences);
    }

    #[test]
    fn values_come_back_exactly(values in prop::collection::vec(-1e30f32..1e30, 1..40)) {
        let list: Vec<String> = values.iter().map(f32::to_string).collect();
        let raw = read_text(&format!("@classLabel true a\n@data\n{}:a\n", list.join(","))).unwrap();
        prop_assert_eq!(raw.part.values.numbers(), values);
    }
}
