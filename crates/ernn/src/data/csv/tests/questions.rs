//! What may be read in two ways is asked about.

use super::*;

#[test]
fn a_column_without_a_name_is_refused() {
    for (text, part) in [
        (",series,step,x,label\n0,0,0,1,a\n", "column 1 without a name"),
        ("Unnamed: 0,series,x,label\n0,0,1,a\n", "column 1 without a name"),
        (",0,1,2,label\n0,1,2,3,a\n", "column 1 without a name"),
        ("series,x,\n0,1,\n", "column 3 without a name"),
    ] {
        let found = error(text);
        assert!(found.contains(part) && found.contains("to_csv(index=False)"), "{found}");
    }
    let found = error(",series,x\n0,0,1\n");
    assert!(found.ends_with("--ignore 'Unnamed: 0'"), "{found}");
    let read = sequences_as(",series,x\n0,0,1\n", &table("ignore = [\"Unnamed: 0\"]"));
    assert_eq!(read.feature_names, ["x"]);
}

/// A log would be one sequence of three steps a row.
#[test]
fn a_table_that_is_neither_long_nor_wide_is_a_question() {
    let rows = |columns: usize| -> String {
        let row = |row: usize| {
            let cells: Vec<String> = (1..columns)
                .map(|column| ((row * column * 7) % 11).to_string())
                .collect();
            format!(
                "{},{},{}\n",
                1000 + 20 * row,
                cells.join(","),
                if row < 30 { "walk" } else { "run" }
            )
        };
        (0..60).map(row).collect()
    };
    let found = error(&("timestamp_ms,ax,ay,az,activity\n".to_owned() + &rows(4)));
    for part in [
        "found 60 rows with the columns timestamp_ms (numbers that rise), ax (numbers), ay (numbers), az (numbers), activity (2 texts)",
        "\n  --window 3 --time timestamp_ms --label-column activity: a step a row of one long recording",
        "\n  --series-column COLUMN",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    let text = "id,time,x,y,label\n1,0,5,6,a\n1,1,5,7,a\n2,0,3,4,b\n2,1,3,5,b\n";
    let found = error(text);
    assert!(
        found.contains("\n  --series-column id --step-column time: a step a row, and a sequence a id"),
        "{found}"
    );
    let read = sequences_as(text, &table("series_column = \"id\"\nstep_column = \"time\""));
    assert_eq!(
        (read.feature_names.join(","), read.names.join(",")),
        ("x,y".to_owned(), "1,2".to_owned())
    );
    let found = error("id,t0,t1,t2,t3,activity\n1,1,2,3,4,a\n2,2,3,4,5,b\n");
    assert!(
        found.contains("\n  --label-column activity --ignore id: a sequence a row, with the steps t0 to t3"),
        "{found}"
    );
    assert!(
        error("value,label\n1,a\n2,b\n").contains("--window"),
        "one column is no step"
    );
}

#[test]
fn a_table_of_texts_is_offered_as_one() {
    let found = error("review,mood\nwhat a good film,glad\n\"no, never\nonce more please\",sad\nit was so so,sad\n");
    assert!(
        found.contains("\n  --text-column review --label-column mood: a text a row, to classify"),
        "{found}"
    );
    let found = error("series,text,label\n0,what a good film,glad\n");
    assert!(found.contains("--text-column text --label-column label"), "{found}");
}

#[test]
fn times_and_identifiers_are_no_channels_unasked() {
    let text = "series,time,person,x,label\n0,0,anna,1,a\n0,1,anna,2,a\n1,0,ben,3,b\n1,1,ben,5,b\n";
    let found = error(text);
    for part in [
        "time (numbers)",
        "person (2 texts)",
        "\n  --step-column time --group-column person: ",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    let read = sequences_as(text, &table("step_column = \"time\"\ngroup_column = \"person\""));
    assert_eq!(
        (read.feature_names.as_slice(), read.part.groups.as_slice()),
        (&["x".to_owned()][..], &[0, 1][..])
    );
    let read = sequences_as(text, &table("ignore = [\"person\"]\nchannels = [\"x\", \"time\"]"));
    assert_eq!(read.feature_names, ["x", "time"]);
    assert_eq!(read.part.sequence(0), [1.0, 0.0, 2.0, 1.0]);
    let other = labelled("mood", OpenOptions::default());
    let found = error_as("series,x,mood,label\n0,1,a,7\n0,2,a,8\n1,1,b,9\n", &other);
    assert!(
        found.contains("--ignore label"),
        "a column called label is no channel: {found}"
    );
}

#[test]
fn columns_that_behave_as_clocks_or_identifiers_are_no_channels_unasked() {
    let rows = |own: &dyn Fn(usize, usize) -> usize| -> String {
        let cells = (0..40).map(|row| format!("{},{},{}\n", row / 4, (row * 7) % 11, own(row, row / 4)));
        "series,x,n\n".to_owned() + &cells.collect::<String>()
    };
    let clock = rows(&|row, _| 500 + 3 * row);
    let found = error(&clock);
    assert!(
        found.starts_with("a.csv, column \"n\": found numbers that rise"),
        "{found}"
    );
    assert!(
        found.contains("--step-column n orders the rows by it, --ignore n leaves it out, --channels x,n takes"),
        "{found}"
    );
    let identifier = rows(&|_, series| 100 - series);
    let found = error(&identifier);
    assert!(
        found.starts_with("a.csv, column \"n\": found a number that never changes"),
        "{found}"
    );
    for text in [&clock, &identifier] {
        assert_eq!(sequences_as(text, &table("channels = [\"x\", \"n\"]")).part.features, 2);
        assert_eq!(sequences_as(text, &table("ignore = [\"n\"]")).part.features, 1);
        let mut options = OpenOptions::default();
        options.table.of_model = vec!["x".to_owned(), "n".to_owned()];
        assert_eq!(
            sequences_as(text, &options).part.features,
            2,
            "the model's own channels"
        );
    }
    assert_eq!(sequences(&rows(&|row, _| (row * 5) % 7)).part.features, 2);
    assert_eq!(sequences(&rows(&|_, series| series % 3)).part.features, 2);
}
