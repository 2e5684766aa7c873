//! Arrays as recordings: the same windows as of the table with the same rows.

use super::super::super::npy::tests::file;
use super::super::super::npz::tests::archive;
use super::*;

/// The rows of [`log`] as arrays.
fn arrays(rows: usize, bout: usize) -> Vec<(&'static str, Vec<u8>)> {
    let numbers = |of: &dyn Fn(usize) -> f64| -> Vec<u8> { (0..rows).flat_map(|row| of(row).to_le_bytes()).collect() };
    let kind = |row: usize| row / bout % 2;
    let values = (0..rows).flat_map(|row| [(row * 7 % 11) as f32, (kind(row) * 5 + row % 3) as f32]);
    let values: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let labels: Vec<u8> = (0..rows).flat_map(|row| [*b"walk", *b"run\0"][kind(row)]).collect();
    vec![
        ("X", file("<f4", false, &[rows, 2], &values)),
        ("t", file("<f8", false, &[rows], &numbers(&|row| 0.02 * row as f64))),
        ("y", file("|S4", false, &[rows], &labels)),
        ("channels", file("|S1", false, &[2], b"xy")),
    ]
}

fn write(place: &Place, name: &str, arrays: &[(&str, Vec<u8>)]) -> PathBuf {
    let arrays: Vec<(&str, &[u8])> = arrays.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    let path = place.write(name, "");
    fs::write(&path, archive(&arrays)).unwrap();
    path
}

fn with_array(
    arrays: Vec<(&'static str, Vec<u8>)>,
    name: &'static str,
    bytes: Vec<u8>,
) -> Vec<(&'static str, Vec<u8>)> {
    let others = arrays.into_iter().filter(|(own, _)| *own != name);
    others.chain([(name, bytes)]).collect()
}

const OF_T: &str = "window = \"0.5s\"\nrecordings = { time_column = \"t\", rate = 50.0 }";

#[test]
fn rows_of_arrays_are_cut_as_those_of_a_table() {
    let place = Place::new();
    place.write("log.csv", &log(300, 60));
    write(&place, "log.npz", &arrays(300, 60));
    let table = place.open("log.csv", HALF_SECOND).unwrap();
    let data = place.open("log.npz", OF_T).unwrap();
    assert_eq!(data.train.values, table.train.values);
    assert_eq!(data.feature_names, ["x", "y"]);
    assert_eq!((data.classes, data.train.labels), (table.classes, table.train.labels));
    assert_eq!(data.recordings[0].windows, 10);
    // Without times, by rows.
    let data = place.open("log.npz", "window = 25\nignore = [\"t\"]").unwrap();
    assert_eq!(data.train.values, table.train.values);
}

#[test]
fn a_folder_of_arrays_is_a_recording_a_file() {
    let place = Place::new();
    for name in ["anna", "ben"] {
        write(&place, &format!("logs/{name}.npz"), &arrays(300, 60));
        place.write(&format!("tables/{name}.csv"), &log(300, 60));
    }
    let data = place.open("logs", OF_T).unwrap();
    let tables = place.open("tables", HALF_SECOND).unwrap();
    assert_eq!(data.train.values, tables.train.values);
    assert_eq!(
        (data.group_names, data.train.names),
        (tables.group_names, tables.train.names)
    );
}

#[test]
fn a_recording_in_two_formats_is_refused() {
    let place = Place::new();
    write(&place, "logs/anna.npz", &arrays(300, 60));
    place.write("logs/anna.csv", &log(300, 60));
    let found = place.error("logs", OF_T);
    assert!(
        found.contains("logs: found anna.csv and anna.npz, expected one file a recording"),
        "{found}"
    );
}

#[test]
fn parts_groups_and_a_label_for_all_rows() {
    let place = Place::new();
    let of_part = |rows, ending: &str| -> Vec<(&str, Vec<u8>)> {
        let own = arrays(rows, 60).into_iter().filter(|(name, _)| *name != "channels");
        own.map(|(name, bytes)| (&*format!("{name}_{ending}").leak(), bytes))
            .collect()
    };
    let parts = [of_part(300, "train"), of_part(150, "test")].concat();
    write(&place, "parts.npz", &parts);
    let data = place.open("parts.npz", OF_T).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (10, 5));
    let groups: Vec<u8> = (0..300).map(|row| (row / 150) as u8).collect();
    write(
        &place,
        "groups.npz",
        &with_array(arrays(300, 60), "groups", file("|u1", false, &[300], &groups)),
    );
    assert_eq!(place.open("groups.npz", OF_T).unwrap().group_names, ["0", "1"]);
    let one = with_array(arrays(300, 60), "groups", file("|S4", false, &[], b"anna"));
    for (name, label) in [("a", 7), ("b", 8)] {
        let bytes = file("<i4", false, &[], &[label, 0, 0, 0]);
        let mut own = with_array(one.clone(), "y", bytes);
        if name == "b" {
            own = with_array(own, "groups", file("|S3", false, &[1], b"ben"));
        }
        write(&place, &format!("one/{name}.npz"), &own);
    }
    let data = place.open("one", OF_T).unwrap();
    assert_eq!(
        (data.group_names, data.classes),
        (
            vec!["anna".to_owned(), "ben".to_owned()],
            vec!["7".to_owned(), "8".to_owned()]
        )
    );
}

#[test]
fn rows_without_a_label_have_none() {
    let place = Place::new();
    let labels = (0..100).map(|row| if row < 50 { f64::NAN } else { -1.0 });
    let labels: Vec<u8> = labels.flat_map(f64::to_le_bytes).collect();
    write(
        &place,
        "a.npz",
        &with_array(arrays(100, 60), "y", file("<f8", false, &[100], &labels)),
    );
    let data = place.open("a.npz", OF_T).unwrap();
    assert_eq!(
        (data.classes, data.recordings[0].unlabelled),
        (vec!["-1".to_owned()], 2)
    );
}

#[test]
fn times_of_numpy_are_times() {
    let place = Place::new();
    let times = (0..100_i64).flat_map(|row| (1_700_000_000_000 + 20 * row).to_le_bytes());
    let times: Vec<u8> = times.collect();
    let path = write(
        &place,
        "a.npz",
        &with_array(arrays(100, 60), "t", file("<M8[ms]", false, &[100], &times)),
    );
    let asked = open_sequences(&path, &options(OF_T)).unwrap();
    assert_eq!(asked.times[1], ["2023-11-14T22:13:20.5", "2023-11-14T22:13:21"]);
}

#[test]
fn numbers_and_labels_of_rows() {
    let place = Place::new();
    let numbers: Vec<u8> = (0..100).flat_map(|row| (row as f32).to_le_bytes()).collect();
    let of_numbers = with_array(arrays(100, 60), "y", file("<f4", false, &[100], &numbers));
    write(&place, "a.npz", &of_numbers);
    // The channel y and the numbers y are two things of one name.
    let data = place.open("a.npz", &format!("target = \"y\"\n{OF_T}")).unwrap();
    assert_eq!(
        (data.train.features, data.train.numbers),
        (2, vec![12.0, 37.0, 62.0, 87.0])
    );
    let ahead = OF_T.replace(" }", ", horizon = 5 }");
    let data = place.open("a.npz", &format!("target = \"y\"\n{ahead}"));
    assert_eq!(data.unwrap().forecast.unwrap().channels, [1]);
    let unnamed: Vec<_> = of_numbers.into_iter().filter(|(name, _)| *name != "channels").collect();
    write(&place, "b.npz", &unnamed);
    let data = place.open("b.npz", &format!("target = \"y\"\n{OF_T}")).unwrap();
    assert_eq!(data.train.numbers, [12.0, 37.0, 62.0, 87.0]);
    let flags: Vec<u8> = (0..100).flat_map(|row| [u8::from(row < 50), 1]).collect();
    let flags = with_array(unnamed, "y", file("|b1", false, &[100, 2], &flags));
    write(&place, "c.npz", &flags);
    let data = place
        .open("c.npz", &format!("labels_from = [\"rain\", \"wind\"]\n{OF_T}"))
        .unwrap();
    assert_eq!(data.classes, ["rain", "wind"]);
    assert_eq!(data.train.indicators.len(), 8);
}

#[test]
fn a_single_array_is_a_recording() {
    let place = Place::new();
    let path = place.write("a.npy", "");
    let arrays = arrays(100, 60);
    fs::write(&path, &arrays[0].1).unwrap();
    let asked = open_sequences(&path, &options("window = 25")).unwrap();
    assert_eq!((asked.part.len(), asked.part.features), (4, 2));
    fs::write(&path, file("|u1", false, &[100], &[3, 1, 4, 1, 5].repeat(20))).unwrap();
    let asked = open_sequences(&path, &options("window = 25")).unwrap();
    assert_eq!(asked.part.features, 1);
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Place::new();
    let error = |arrays: Vec<(&str, Vec<u8>)>, toml: &str| {
        write(&place, "a.npz", &arrays);
        let error = place.error("a.npz", toml);
        error.split_once("a.npz").unwrap().1.to_owned()
    };
    assert_eq!(
        error(
            with_array(arrays(100, 60), "t", file("|u1", false, &[2], &[1, 2])),
            OF_T
        ),
        ", array t: found an array of shape [2], expected [100], a value for each row"
    );
    let unsure = error(arrays(100, 60), "window = 25");
    assert!(
        unsure.contains("columns whose names say that they are no values to learn from: t"),
        "{unsure}"
    );
    assert!(unsure.contains("--time t"), "{unsure}");
    let mut times: Vec<u8> = (0..100).collect();
    times[7] = 3;
    let back = error(
        with_array(arrays(100, 60), "t", file("|u1", false, &[100], &times)),
        OF_T,
    );
    assert!(
        back.starts_with(", row 8, column \"t\": found \"3\", expected a later time than that of row 7"),
        "{back}"
    );
    let found = error(arrays(100, 60), &OF_T.replace("\"t\"", "\"when\""));
    assert!(
        found.starts_with(": found no column \"when\" (--time), expected one of x, y"),
        "{found}"
    );
    assert!(error(arrays(100, 60).split_off(1), OF_T).contains("expected X [rows, channels] and y"));
    let infinite = [0.0, f32::INFINITY].repeat(100);
    let infinite: Vec<u8> = infinite.into_iter().flat_map(f32::to_le_bytes).collect();
    let found = error(
        with_array(arrays(100, 60), "X", file("<f4", false, &[100, 2], &infinite)),
        OF_T,
    );
    assert!(
        found.starts_with(", row 1, column \"y\": found \"inf\", expected a finite number"),
        "{found}"
    );
    let missing = [0.0, f32::NAN].repeat(100);
    let missing: Vec<u8> = missing.into_iter().flat_map(f32::to_le_bytes).collect();
    let found = error(
        with_array(arrays(100, 60), "X", file("<f4", false, &[100, 2], &missing)),
        "window = 25\nignore = [\"t\"]",
    );
    assert!(
        found.starts_with(", row 1, column \"y\": the first of 75 missing values"),
        "{found}"
    );
}

#[test]
fn sequences_stay_sequences() {
    let place = Place::new();
    let values = vec![1_u8; 24];
    write(&place, "a.npz", &[("X", file("|u1", false, &[4, 3, 2], &values))]);
    let steps = place.error("a.npz", "window = 2\nrecordings = { aim = \"steps\" }");
    assert!(
        steps.contains("a.npz: found sequences and --task steps, expected X [rows, channels]"),
        "{steps}"
    );
    let rate = place.error("a.npz", "recordings = { rate = 50.0 }");
    assert!(rate.contains("rate: found no recordings"), "{rate}");
    let data = place.open("a.npz", "window = 2").unwrap();
    assert_eq!((data.train.len(), data.train.longest()), (4, 3));
    assert!(
        data.notes
            .iter()
            .any(|note| note.contains("its sequences are read as they are")),
        "{:?}",
        data.notes
    );
}

proptest::proptest! {
    /// Whatever the arrays, the reader answers.
    #[test]
    fn no_array_brings_the_reader_down(
        changes in proptest::collection::vec((0usize..10_000, proptest::prelude::any::<u8>()), 1..6),
        kinds in proptest::collection::vec("(<f4|<f8|\\|u1|<U2|<M8\\[ns\\]|<i2)", 3),
        sizes in proptest::collection::vec(0usize..9, 4),
        window in 1usize..4,
    ) {
        let place = Place::new();
        let bytes = |kind: &str, shape: &[usize]| {
            let size = kind.chars().find_map(|letter| letter.to_digit(10)).unwrap_or(1) as usize * if kind.contains('U') { 4 } else { 1 };
            let count = shape.iter().product::<usize>() * size;
            file(kind, false, shape, &(0..count).map(|at| (at * 37 % 256) as u8).collect::<Vec<u8>>())
        };
        let mut all = vec![
            ("X", bytes(&kinds[0], &sizes[..2])),
            ("t", bytes(&kinds[1], &sizes[2..3])),
            ("y", bytes(&kinds[2], &sizes[3..])),
        ];
        for toml in [format!("window = {window}"), format!("window = {window}\nrecordings = {{ time_column = \"t\" }}")] {
            let path = write(&place, "a.npz", &all);
            let _ = open_sequences(&path, &options(&toml));
            let _ = open(path.to_str().unwrap(), &options(&toml));
            for &(at, byte) in &changes {
                let own = &mut all[at % 3].1;
                let place = at % own.len();
                own[place] = byte;
            }
        }
    }
}
