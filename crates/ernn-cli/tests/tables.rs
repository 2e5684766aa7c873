//! Tables as people have them: each trains, or is refused with the flags that lead to a model in one more command.

mod support;

use std::io::Write;
use std::process::{Output, Stdio};

use support::{Place, easy_csv, finish};

/// Little training for little data.
const QUICK: &str = "--epochs 1 --hidden 4 --rank 2 --batch-size 16";

/// A log of one recording: three kinds of movement, one after the other.
fn log(rows: usize) -> String {
    let mut text = String::from("timestamp_ms,ax,ay,az,activity\n");
    for row in 0..rows {
        let kind = row * 4 / rows % 2;
        let value = |axis: usize| ((row * (3 + axis) * 7) % 23) as f64 / 23.0 + kind as f64;
        let activity = ["walk", "run"][kind];
        text += &format!(
            "{},{},{},{},{activity}\n",
            1000 + 20 * row,
            value(0),
            value(1),
            value(2)
        );
    }
    text
}

/// The flags of the first way out that an error names.
fn way_out(stderr: &str) -> String {
    let line = stderr.lines().find(|line| line.starts_with("  --"));
    let line = line.unwrap_or_else(|| panic!("no way out in: {stderr}")).trim();
    line.rsplit_once(": ").map_or(line, |(flags, _)| flags).to_string()
}

/// Trains after a refusal, with what the refusal says; gives the flags.
fn trains_after(place: &Place, file: &str, parts: &[&str]) -> String {
    let refused = place.fails(&format!("train {file} {QUICK}"), 1, parts);
    let flags = way_out(&refused.stderr);
    place.ok(&format!("train {file} {QUICK} --out run {flags}"));
    flags
}

#[test]
fn a_log_with_timestamps_is_cut_after_one_more_command() {
    let place = Place::new();
    place.write("log.csv", log(400));
    let parts = [
        "400 rows",
        "timestamp_ms (numbers that rise)",
        "ax (numbers)",
        "activity (2 texts)",
    ];
    let flags = trains_after(&place, "log.csv", &parts);
    assert_eq!(flags, "--window 20 --time timestamp_ms --label-column activity");
    // The run says again how it was read, and new data needs no labels.
    place.ok("evaluate run log.csv");
    let without = log(100)
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_string() + "\n")
        .collect::<String>();
    place.write("new.csv", without);
    assert_eq!(place.ok("predict run new.csv").stdout.lines().count(), 1 + 5);
    let config = place.text("run/config.toml");
    assert!(
        config.contains("[data.table]") && config.contains("window = 20"),
        "{config}"
    );
    place.ok(&format!("train --config run/config.toml {QUICK} --out again"));
}

#[test]
fn a_table_by_id_and_time_is_read_after_one_more_command() {
    let place = Place::new();
    place.write(
        "by_id.csv",
        easy_csv(40).replace("series,step,x,y,label", "id,time,x,y,label"),
    );
    let flags = trains_after(&place, "by_id.csv", &["no column says which rows are one sequence"]);
    assert_eq!(flags, "--series-column id --step-column time");
    let names = place.json("inspect run")["feature_names"].clone();
    assert_eq!(names, serde_json::json!(["x", "y"]));
    assert_eq!(place.ok("predict run by_id.csv").stdout.lines().count(), 41);
}

#[test]
fn a_person_becomes_the_group_after_one_more_command() {
    let place = Place::new();
    let mut text = String::from("series,time,person,x,label\n");
    for series in 0..24 {
        for step in 0..4 {
            let (person, label) = (["anna", "ben", "cleo", "dan"][series % 4], ["a", "b"][series / 4 % 2]);
            text += &format!("{series},{step},{person},{},{label}\n", (series * 5 + step * 3) % 7);
        }
    }
    place.write("persons.csv", text);
    let flags = trains_after(&place, "persons.csv", &["time (numbers)", "person (4 texts)"]);
    assert_eq!(flags, "--step-column time --group-column person");
    let info = place.json(&format!("data info persons.csv {flags}"));
    assert_eq!((&info["parts"][0]["groups"], &info["features"]), (&4.into(), &1.into()));
}

#[test]
fn a_table_of_texts_is_read_after_one_more_command() {
    let place = Place::new();
    let line = |row: usize| {
        format!(
            "\"{} film, I say, number {row}\",{}\n",
            ["a good", "no good"][row % 2],
            ["glad", "sad"][row % 2]
        )
    };
    place.write(
        "reviews.csv",
        "review,mood\n".to_string() + &(0..30).map(line).collect::<String>(),
    );
    let flags = trains_after(&place, "reviews.csv", &["review (sentences)", "mood (2 texts)"]);
    assert_eq!(flags, "--text-column review --label-column mood");
}

#[test]
fn an_export_of_pandas_and_its_index() {
    let place = Place::new();
    let rows = easy_csv(10);
    let indexed = rows.lines().enumerate().map(|(row, line)| match row {
        0 => format!(",{line}\n"),
        row => format!("{},{line}\n", row - 1),
    });
    let indexed: String = indexed.collect();
    place.write("indexed.csv", &indexed);
    place.write("named.csv", indexed.replacen(",series", "Unnamed: 0,series", 1));
    for file in ["indexed.csv", "named.csv"] {
        let said = ["column 1", "to_csv(index=False)", "--ignore 'Unnamed: 0'"];
        place.fails(&format!("train {file} {QUICK}"), 1, &said);
    }
}

#[test]
fn numbers_as_labels_are_a_question() {
    let place = Place::new();
    let row = |row: usize| format!("{},{},{},{}.5\n", row % 7, row % 5, row % 3, row);
    let text = "t0,t1,t2,label\n".to_string() + &(0..100).map(row).collect::<String>();
    place.write("numbers.csv", text);
    let said = [
        "found 100 different numbers as labels of 100 sequences",
        "--labels classes",
    ];
    place.fails(&format!("train numbers.csv {QUICK}"), 1, &said);
    place.ok(&format!(
        "train numbers.csv {QUICK} --labels classes --validation 0 --out run"
    ));
    place.ok("evaluate run numbers.csv");
}

#[test]
fn a_german_table_trains() {
    let place = Place::new();
    let rows = easy_csv(20).replace('.', "#").replace(',', ";").replace('#', ",");
    place.write("deutsch.csv", rows);
    place.write("english.csv", easy_csv(20));
    let facts = |file: &str| {
        let mut info = place.json(&format!("data info {file}"));
        info["name"].take();
        info
    };
    assert_eq!(facts("deutsch.csv"), facts("english.csv"));
    place.ok(&format!("train deutsch.csv {QUICK}"));
}

#[test]
fn the_archive_s_files_in_a_folder_train() {
    let place = Place::new();
    let row = |row: usize| format!("{}\t{}\t{}\t{}\n", 1 + row % 2, row % 2, row % 5, row % 3);
    place.write("Coffee/Coffee_TRAIN.tsv", (0..20).map(row).collect::<String>());
    place.write("Coffee/Coffee_TEST.tsv", (0..10).map(row).collect::<String>());
    place.fails(&format!("train Coffee {QUICK}"), 1, &["--layout ucr"]);
    let report = place.json(&format!("train Coffee {QUICK} --layout ucr --out run"));
    assert_eq!(report["part"], "test");
    place.ok("evaluate run Coffee");
    place.ok("predict run Coffee/Coffee_TEST.tsv");
}

#[test]
fn flags_that_name_no_column_list_those_that_are_there() {
    let place = Place::new();
    place.write("train.csv", easy_csv(20));
    for flag in [
        "--ignore z",
        "--channels z",
        "--label-column z",
        "--series-column z",
        "--group-column z",
        "--step-column z",
    ] {
        let said = ["no column \"z\"", "expected one of series, step, x, y, label"];
        for command in ["train", "data info", "compare"] {
            place.fails(&format!("{command} train.csv {flag}"), 1, &said);
        }
        place.ok("data info train.csv");
    }
    place.ok(&format!("train train.csv {QUICK} --out run"));
    for command in ["evaluate", "predict"] {
        place.fails(&format!("{command} run train.csv --ignore z"), 1, &["no column \"z\""]);
        place.fails(
            &format!("{command} run train.csv --label-column z"),
            1,
            &["no column \"z\""],
        );
    }
}

#[test]
fn the_label_column_of_a_table_of_numbers() {
    let place = Place::new();
    place.write("train.csv", easy_csv(20).replace(",label", ",mood"));
    let refused = place.fails(
        &format!("train train.csv {QUICK}"),
        1,
        &["column \"mood\"", "--label-column mood"],
    );
    assert!(refused.stderr.contains("found \"up\""), "{}", refused.stderr);
    place.ok(&format!("train train.csv {QUICK} --label-column mood --out run"));
    place.ok("evaluate run train.csv");
    assert_eq!(place.ok("predict run train.csv").stdout.lines().count(), 21);
    place.ok(&format!(
        "compare train.csv {QUICK} --label-column mood --cells rnn --seeds 1"
    ));
}

#[test]
fn a_mistake_in_quotes_or_letters_is_told_with_its_line() {
    let place = Place::new();
    let rows = easy_csv(10);
    place.write("quote.csv", rows.replacen("up\n", "\"up\n", 1));
    let said = ["quote.csv, line 2", "a quote that never closes"];
    place.fails(&format!("train quote.csv {QUICK}"), 1, &said);
    let bytes = rows.replace("up", "?p").into_bytes();
    let bytes: Vec<u8> = bytes
        .into_iter()
        .map(|byte| if byte == b'?' { 0xfc } else { byte })
        .collect();
    place.write("latin.csv", &bytes);
    let said = [
        "latin.csv, line 2, byte ",
        "0xfc",
        "--encoding latin-1 would read it as \"ü\"",
    ];
    place.fails(&format!("train latin.csv {QUICK}"), 1, &said);
    place.ok("data info latin.csv --encoding latin-1");
    let texts = b"text,label\nf\xfcr alle,a\nf\xfcr keinen,b\n";
    place.write("texts.csv", texts);
    place.ok("data info texts.csv --text-column text --encoding windows-1252");
}

#[test]
fn an_offset_too_large_for_32_bits_is_no_constant_channel() {
    let place = Place::new();
    let row = |row: usize| {
        format!(
            "{},{},{},{}\n",
            row / 4,
            row % 5,
            1_700_000_000_000_u64 + 20 * (row as u64 % 3),
            ["a", "b"][row / 4 % 2]
        )
    };
    place.write(
        "offset.csv",
        "series,x,y,label\n".to_string() + &(0..80).map(row).collect::<String>(),
    );
    let said = [
        "column \"y\"",
        "offset too large for numbers of 32 bits",
        "values with 1700000000000 subtracted",
    ];
    place.fails(&format!("train offset.csv {QUICK}"), 1, &said);
}

#[cfg(unix)]
#[test]
fn tables_come_through_pipes() {
    let place = Place::new();
    let piped = |arguments: &str, text: &str| -> Output {
        let mut command = place.command(arguments);
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    };
    let text = easy_csv(40);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let reversed = lines.join("\n");
    for (number, source) in ["/dev/stdin", "-"].into_iter().enumerate() {
        for (text, run) in [
            (&text, format!("run{number}")),
            (&reversed, format!("reversed{number}")),
        ] {
            let done = finish(piped(&format!("train {source} {QUICK} --out {run}"), text));
            assert_eq!(done.code, Some(0), "{}", done.stderr);
        }
        let done = finish(piped(&format!("predict run{number} {source}"), &text));
        assert_eq!(
            (done.code, done.stdout.lines().count()),
            (Some(0), 41),
            "{}",
            done.stderr
        );
    }
    let done = finish(piped("evaluate run0 /dev/stdin", &text));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// A table in a gzip file of stored blocks (RFC 1952, RFC 1951), which needs no packer.
fn stored_gzip(bytes: &[u8]) -> Vec<u8> {
    let crc = !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    });
    let length = u16::try_from(bytes.len()).unwrap();
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x01".to_vec();
    packed.extend(length.to_le_bytes().into_iter().chain((!length).to_le_bytes()));
    packed.extend(bytes);
    packed.extend(crc.to_le_bytes().into_iter().chain(u32::from(length).to_le_bytes()));
    packed
}

#[test]
fn a_packed_table_is_read_as_the_table() {
    let place = Place::new();
    let table = easy_csv(40);
    let packed = stored_gzip(table.as_bytes());
    place.write("a.csv", &table);
    place.write("b.csv.gz", &packed);
    place.write("d/train.csv.gz", &packed);
    place.write("d/test.csv", &table);
    place.ok("train a.csv --epochs 2 --hidden 4 --out plain");
    place.ok("train b.csv.gz --epochs 2 --hidden 4 --out packed");
    let parameters = |run: &str| {
        ernn::checkpoint::SavedModel::load(&place.path(run))
            .unwrap()
            .model
            .parameters()
            .to_vec()
    };
    assert!(parameters("plain") == parameters("packed"));
    assert_eq!(
        place.ok("predict plain b.csv.gz").stdout,
        place.ok("predict plain a.csv").stdout
    );
    let facts = place.json("data info d");
    let [train, test] = [0, 1].map(|part| (&facts["parts"][part]["steps"], &facts["parts"][part]["class_counts"]));
    assert_eq!(train, test);
    let mut command = place.command("predict plain -");
    command.stdin(std::fs::File::open(place.path("b.csv.gz")).unwrap());
    assert_eq!(
        finish(command.output().unwrap()).stdout,
        place.ok("predict plain a.csv").stdout
    );
    place.write("c.csv.gz", &packed[..packed.len() - 20]);
    place.fails(
        "train c.csv.gz",
        1,
        &[
            "c.csv.gz: found packed data that is cut short or damaged",
            "expected a whole gzip file",
        ],
    );
}
