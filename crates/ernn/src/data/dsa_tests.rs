use std::fmt::Write;
use std::fs;

use super::*;
use crate::data::Preparation;
use crate::data::known::tests::published;

const SMALL: Size = Size {
    activities: 2,
    segments: 2,
};

/// Values tell where they stand.
fn value(place: Place, step: usize, feature: usize) -> f32 {
    let Place {
        activity,
        person,
        segment,
    } = place;
    (activity * 100_000 + person * 10_000 + segment * 1000 + step) as f32 + feature as f32 / 64.0
}

fn text(place: Place) -> String {
    let mut text = String::new();
    for step in 0..STEPS {
        let row: Vec<String> = (0..45).map(|feature| value(place, step, feature).to_string()).collect();
        writeln!(text, "{}", row.join(",")).unwrap();
    }
    text
}

fn file(place: Place) -> String {
    format!(
        "a{:02}/p{}/s{:02}.txt",
        place.activity + 1,
        place.person + 1,
        place.segment + 1
    )
}

fn write_folder(base: &Path) {
    for place in Place::all(SMALL) {
        let path = base.join(file(place));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(place)).unwrap();
    }
}

fn check(part: &Part, expected: &[Place]) {
    assert_eq!(part.len(), expected.len());
    for (sequence, &place) in expected.iter().enumerate() {
        let rows = part.sequence(sequence).chunks(45).enumerate();
        rows.for_each(|(step, row)| assert!((0..45).all(|feature| row[feature] == value(place, step, feature))));
        assert_eq!(part.labels[sequence], place.activity as u32);
    }
}

#[test]
fn halves_by_persons_and_by_segments() {
    let base = tempfile::tempdir().unwrap();
    write_folder(&base.path().join("data"));
    let found = find(base.path()).unwrap();
    for split in [SplitBy::Persons, SplitBy::Segments] {
        let data = read_sized("dsa-19", &found, split, SMALL).unwrap();
        let is_test = |place: &Place| match split {
            SplitBy::Persons => place.person >= 4,
            SplitBy::Segments => place.segment == 1,
        };
        let (test, train): (Vec<Place>, Vec<Place>) = Place::all(SMALL).partition(is_test);
        check(&data.train, &train);
        check(data.test.as_ref().unwrap(), &test);
        let persons: Vec<u32> = train.iter().map(|place| place.person as u32 + 1).collect();
        assert_eq!(
            data.train.groups,
            if split == SplitBy::Persons { persons } else { vec![] }
        );
    }
}

#[test]
fn several_archives_are_one_data_set() {
    let base = tempfile::tempdir().unwrap();
    for (number, activity) in [(1, 0), (2, 1)] {
        let mut builder =
            tar::Builder::new(fs::File::create(base.path().join(format!("dsa_part{number}.tar"))).unwrap());
        for place in Place::all(SMALL).filter(|place| place.activity == activity) {
            let text = text(place);
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            builder
                .append_data(&mut header, format!("data/{}", file(place)), text.as_bytes())
                .unwrap();
        }
        builder.finish().unwrap();
    }
    let found = find(base.path()).unwrap();
    let data = read_sized("dsa-19", &found, SplitBy::Persons, SMALL).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (16, 16));
}

#[test]
fn damage_is_refused_with_its_place() {
    let base = tempfile::tempdir().unwrap();
    write_folder(base.path());
    let place = Place {
        activity: 1,
        person: 2,
        segment: 0,
    };
    let path = base.path().join(file(place));
    let error = || {
        read_sized("dsa-19", base.path(), SplitBy::Persons, SMALL)
            .unwrap_err()
            .to_string()
    };
    let whole = text(place);
    let cases = [
        (
            whole.replacen("120001,", "1.2.3,", 1),
            ", line 2, value 1: found \"1.2.3\", expected a finite number",
        ),
        (
            whole.replacen("120001,", "NaN,", 1),
            ", line 2, value 1: found \"NaN\", expected a finite number",
        ),
        (
            whole.replacen("120001,", "", 1),
            ", line 2: found 44 values, expected 45",
        ),
        (
            whole.replacen("120001,", "1,2,", 1),
            ", line 2: found 46 values, expected 45",
        ),
        (
            format!("{whole}1\n"),
            ", line 126: found one more line, expected 125 lines",
        ),
        (
            whole[..whole.rfind("120124,").unwrap()].to_owned(),
            ": found 124 lines, expected 125",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        assert!(error().ends_with(&format!("s01.txt{expected}")), "{}", error());
    }
    fs::remove_file(&path).unwrap();
    assert!(
        error().ends_with(": found no a02/p3/s01.txt, expected all 32 segments"),
        "{}",
        error()
    );
}

#[test]
fn the_published_data_set() {
    let mut sums = Vec::new();
    for split in [SplitBy::Persons, SplitBy::Segments] {
        let preparation = Preparation {
            split,
            ..Preparation::default()
        };
        let Some(data) = published(
            "dsa-19",
            &OpenOptions {
                preparation,
                ..OpenOptions::default()
            },
        ) else {
            return;
        };
        let test = data.test.unwrap();
        assert_eq!(
            (data.train.longest(), data.train.features, test.steps()),
            (125, 45, 570_000)
        );
        let sum = |part: &Part| part.values.numbers().iter().map(|&value| f64::from(value)).sum::<f64>();
        assert_eq!(data.train.sequence(0)[..3], [8.1305, 1.0349, 5.4217]);
        sums.push(sum(&data.train) + sum(&test));
    }
    assert!((sums[0] - sums[1]).abs() < 1e-3, "{sums:?}");
    assert!((sums[0] - TOTAL).abs() < 1.0, "{sums:?}");
}

/// Sum of all numbers of the 9,120 files, added up in Python.
const TOTAL: f64 = 9_276_033.304;
