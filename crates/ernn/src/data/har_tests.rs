use std::fmt::Write;
use std::fs;

use super::*;
use crate::data::known::tests::published;
use crate::data::{open, split};

/// Two small parts of windows whose values tell feature, window and step.
const SMALL: [(&str, usize); 2] = [("train", 6), ("test", 2)];

fn value(part: usize, feature: usize, window: usize, step: usize) -> f32 {
    (part * 100_000 + feature * 10_000 + window * 1000 + step) as f32
}

fn write_folder(base: &Path) {
    for (number, (part, windows)) in SMALL.into_iter().enumerate() {
        let folder = base.join(part);
        fs::create_dir_all(folder.join("Inertial Signals")).unwrap();
        for (feature, name) in feature_names().iter().enumerate() {
            let mut text = String::new();
            for window in 0..windows {
                (0..STEPS).for_each(|step| write!(text, "  {:.7e}", value(number, feature, window, step)).unwrap());
                text.push('\n');
            }
            fs::write(folder.join(format!("Inertial Signals/{name}_{part}.txt")), text).unwrap();
        }
        let list = |numbers: &[usize]| numbers.iter().map(|number| format!("{number}\n")).collect::<String>();
        let activities: Vec<usize> = (0..windows).map(|window| window % 6 + 1).collect();
        let people: Vec<usize> = (0..windows).map(|window| window / 2 + 1).collect();
        fs::write(folder.join(format!("y_{part}.txt")), list(&activities)).unwrap();
        fs::write(folder.join(format!("subject_{part}.txt")), list(&people)).unwrap();
    }
}

#[test]
fn signals_labels_and_people_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(&folder.path().join("UCI HAR Dataset"));
    let found = find(folder.path()).unwrap();
    assert_eq!(find(&found), Some(found.clone()));
    let six = read_sized(&found, "har-6", Classes::Six, SMALL).unwrap();
    let test = six.test.as_ref().unwrap();
    assert_eq!(
        (six.train.len(), test.len(), six.train.features, six.train.length(5)),
        (6, 2, 9, 128)
    );
    for (number, part) in [&six.train, test].into_iter().enumerate() {
        for window in 0..part.len() {
            for (step, row) in part.sequence(window).chunks(9).enumerate() {
                assert!((0..9).all(|feature| row[feature] == value(number, feature, window, step)));
            }
        }
    }
    assert_eq!(
        (&six.train.labels[..], &six.train.groups[..]),
        (&[0, 1, 2, 3, 4, 5][..], &[1, 1, 2, 2, 3, 3][..])
    );
    assert_eq!(six.classes, ACTIVITIES);
    assert_eq!(six.feature_names[3], "body_gyro_x");
    let two = read_sized(&found, "har-2", Classes::Two, SMALL).unwrap();
    assert_eq!(two.train.labels, [1, 0, 1, 0, 1, 0]);
    assert_eq!(two.train.values, six.train.values);
}

#[test]
fn the_archive_in_an_archive_gives_the_same() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("UCI HAR Dataset");
    write_folder(&base);
    let zip = |files: &[(String, Vec<u8>)]| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer
                .start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let files = Archive::at(folder.path())
        .read(&|_| true, |member| Ok(member.bytes))
        .unwrap()
        .into_list();
    let names = vec![
        ("UCI HAR Dataset.zip".to_owned(), zip(&files)),
        ("UCI HAR Dataset.names".to_owned(), vec![]),
    ];
    let path = folder.path().join("human+activity+recognition+using+smartphones.zip");
    fs::write(&path, zip(&names)).unwrap();
    let read = |found: &Path| read_sized(found, "har-6", Classes::Six, SMALL).unwrap();
    let of_folder = read(&base);
    fs::remove_dir_all(&base).unwrap();
    assert_eq!(find(folder.path()), Some(path.clone()));
    assert_eq!(read(&path), of_folder);
}

#[test]
fn damage_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    write_folder(base);
    let signal = base.join("train/Inertial Signals/body_acc_y_train.txt");
    let whole = fs::read_to_string(&signal).unwrap();
    let error = || read_sized(base, "har-6", Classes::Six, SMALL).unwrap_err().to_string();
    let cases = [
        (
            whole.replacen("1.1002000e4", "oops", 1),
            ", line 2, value 3: found \"oops\", expected a finite number",
        ),
        (
            whole.replacen("1.1002000e4", "NaN", 1),
            ", line 2, value 3: found \"NaN\", expected a finite number",
        ),
        (
            whole.replacen("  1.1002000e4", "", 1),
            ", line 2: found 127 values, expected 128",
        ),
        (
            whole[..whole.len() / 2]
                .trim_end()
                .rsplit_once('\n')
                .unwrap()
                .0
                .to_owned(),
            ": found 2 windows, expected 6 as in the published data set",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&signal, text).unwrap();
        assert!(
            error().ends_with(&format!("body_acc_y_train.txt{expected}")),
            "{}",
            error()
        );
    }
    fs::write(&signal, whole).unwrap();
    fs::write(base.join("test/y_test.txt"), "1\n7\n").unwrap();
    assert!(
        error().ends_with("y_test.txt, line 2: found \"7\", expected a whole number from 1 to 6"),
        "{}",
        error()
    );
    fs::write(base.join("test/y_test.txt"), "1\n6\n").unwrap();
    fs::remove_file(base.join("train/subject_train.txt")).unwrap();
    assert!(
        error().ends_with(": found no train/subject_train.txt, expected the whole data set"),
        "{}",
        error()
    );
}

#[test]
fn the_published_data_set() {
    let Some(data) = published("har-6", &OpenOptions::default()) else {
        return;
    };
    let test = data.test.as_ref().unwrap();
    let counts = |part: &Part, classes: u32| {
        (0..classes)
            .map(|class| part.labels.iter().filter(|&&label| label == class).count())
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&data.train, 6), [1226, 1073, 986, 1286, 1374, 1407]);
    assert_eq!(counts(test, 6), [496, 471, 420, 491, 532, 537]);
    let mean = data
        .train
        .values
        .numbers()
        .iter()
        .map(|&value| f64::from(value))
        .sum::<f64>()
        / data.train.values.numbers().len() as f64;
    assert!((mean - 0.102_066_057_229_750_93).abs() < 1e-8, "{mean}");
    let two = open("har-2", &OpenOptions::default()).unwrap();
    assert_eq!(
        (counts(&two.train, 2), counts(two.test.as_ref().unwrap(), 2)),
        (vec![3766, 3586], vec![1499, 1448])
    );
    let (train, validation) = split(&two.train, 0.2, 1).unwrap();
    let share = validation.len() as f64 / two.train.len() as f64;
    assert!((share - 0.2).abs() < 0.01, "{share}");
    assert!(
        validation
            .iter()
            .all(|&a| train.iter().all(|&b| two.train.groups[a] != two.train.groups[b]))
    );
}
