use super::super::{OpenOptions, open};
use super::*;

fn dataset(name: &str) -> Dataset {
    open(name, &OpenOptions::default()).unwrap()
}

/// Sequences of lengths 1 to 3 with extreme values, classes, groups and names that need quotes.
fn awkward() -> Dataset {
    let mut train = Part::new(2);
    let values = [
        [f32::MIN_POSITIVE / 3.0, -0.0, f32::MAX, f32::MIN, 0.1, 1.0 / 3.0].as_slice(),
        &[16_777_217.0, 1e-5],
        &[1e9, 123_456.79, -1e-38, 7.0],
    ];
    for (index, values) in values.into_iter().enumerate() {
        train.push(values, Some([1, 0, 1][index]), Some([4, 2, 4][index]));
    }
    train.names = ["a, \"b\"", "c d", "e;f"].map(String::from).to_vec();
    let mut test = train.clone();
    test.names = vec!["same".to_string(); 3];
    Dataset {
        name: "awkward".to_string(),
        feature_names: ["x", "y, z"].map(String::from).to_vec(),
        classes: ["no, \"never\"", "yes"].map(String::from).to_vec(),
        group_names: ["0", "1", "two", "3", "fo,ur"].map(String::from).to_vec(),
        train,
        test: Some(test),
        ..Dataset::default()
    }
}

/// What opening the files with the flags gives.
fn again(saved: &Saved, options: &OpenOptions) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &saved.files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = match &saved.files[..] {
        [(name, _)] => folder.path().join(name),
        _ => folder.path().to_path_buf(),
    };
    open(path.to_str().unwrap(), options).unwrap()
}

#[test]
fn what_is_written_comes_back_to_the_bit() {
    for dataset in [dataset("japanese-vowels"), dataset("digits"), awkward()] {
        for kind in [FileKind::Csv, FileKind::Npz] {
            let saved = save(&dataset, kind).unwrap();
            assert!(saved.flags.is_empty(), "{} {kind:?} {:?}", dataset.name, saved.flags);
            let again = again(&saved, &OpenOptions::default());
            assert_eq!(compare::difference(&dataset, &again), None, "{} {kind:?}", dataset.name);
            assert_eq!(save(&dataset, kind).unwrap(), saved, "the same bytes");
        }
    }
    let names = |part: &Part| (0..3).map(|index| part.name(index)).collect::<Vec<_>>();
    let again = again(&save(&awkward(), FileKind::Npz).unwrap(), &OpenOptions::default());
    assert_eq!(names(&again.train), ["a, \"b\"", "c d", "e;f"]);
    assert_eq!(names(again.test.as_ref().unwrap()), ["1", "2", "3"]);
}

#[test]
fn every_difference_is_seen() {
    let one = awkward();
    let changes: [fn(&mut Dataset); 7] = [
        |other| other.train.numbers_mut()[1] = 0.0,
        |other| other.train.labels[0] = 0,
        |other| other.train.groups[2] = 1,
        |other| other.classes.swap(0, 1),
        |other| other.test = None,
        |other| other.feature_names[0] = "q".to_string(),
        |other| other.train = other.train.select(&[0, 1]),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut other = one.clone();
        change(&mut other);
        assert!(compare::difference(&one, &other).is_some(), "{number}");
    }
    assert_eq!(compare::difference(&one, &one), None);
}

#[test]
fn numbers_and_names_that_mean_something_else_come_with_their_flags() {
    let mut numbers = awkward();
    for part in numbers.parts_mut() {
        part.labels.clear();
        part.numbers = vec![0.1, -2.5e-7, 1e20];
    }
    (numbers.classes, numbers.task) = (Vec::new(), Task::Regression);
    let flags = |dataset: &Dataset, kind| save(dataset, kind).unwrap().flags;
    assert_eq!(flags(&numbers, FileKind::Csv), ["--target target"]);
    assert_eq!(flags(&numbers, FileKind::Npz), ["--target y"]);
    let mut named = awkward();
    named.feature_names = ["step", "time"].map(String::from).to_vec();
    assert_eq!(
        flags(&named, FileKind::Csv),
        ["--channels step,time", "--step-column step_"]
    );
    assert!(flags(&named, FileKind::Npz).is_empty());
    let mut many = Part::new(1);
    (0..30).for_each(|index| many.push(&[index as f32, 0.5, -1.0], Some(index), None));
    let many = Dataset {
        classes: (0..30).map(|class| class.to_string()).collect(),
        feature_names: vec!["x".to_string()],
        train: many,
        ..Dataset::default()
    };
    assert_eq!(flags(&many, FileKind::Csv), ["--labels classes"]);
    assert_eq!(flags(&many, FileKind::Npz), ["--labels classes"]);
}

#[test]
fn what_would_not_come_back_is_refused() {
    let refused = |dataset: &Dataset, kind| save(dataset, kind).unwrap_err().to_string();
    let mut padded = awkward();
    padded.classes[1] = " yes".to_string();
    for kind in [FileKind::Csv, FileKind::Npz] {
        let error = refused(&padded, kind);
        assert!(error.contains("its class became something else"), "{error}");
    }
    let text = Dataset {
        task: Task::NextToken,
        train: Part::of_tokens(vec![0, 1], vec![0, 2], Vec::new()),
        ..Dataset::default()
    };
    assert!(refused(&text, FileKind::Npz).contains("found a text"));
    let mut steps = awkward();
    steps.task = Task::StepClassification;
    assert!(refused(&steps, FileKind::Csv).contains("found a class for each step"));
}

#[test]
fn what_was_filled_is_said() {
    let mut filled = awkward();
    filled.train.filled = vec![0, 1];
    let notes = save(&filled, FileKind::Npz).unwrap().notes;
    assert_eq!(
        notes,
        ["2 missing values filled as --missing says, and written as any other value"]
    );
}
