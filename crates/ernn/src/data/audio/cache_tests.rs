use super::*;

fn sample() -> Dataset {
    let part = |scale: f32, sequences: usize| {
        let mut part = Part::new(2);
        for sequence in 0..sequences {
            let values: Vec<f32> = (0..2 * (sequence % 5)).map(|value| value as f32 * scale).collect();
            part.push(&values, Some(sequence as u32 % 3), Some(sequence as u32));
            part.names.push(format!("sequence {sequence}"));
        }
        part
    };
    let mut validation = part(0.5, 4);
    validation.groups.clear();
    Dataset {
        name: "sample".to_owned(),
        feature_names: vec!["x".to_owned(), "\u{e4} \"y\"".to_owned()],
        classes: ["a", "b", "c"].map(str::to_owned).to_vec(),
        group_names: vec!["anna".to_owned()],
        train: part(f32::MIN_POSITIVE, 9000),
        validation: Some(validation),
        test: None,
        ..Dataset::default()
    }
}

fn never() -> Result<Dataset> {
    panic!("the file was not used")
}

/// The only file in a folder.
fn file_in(folder: &Path) -> PathBuf {
    let files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn what_was_kept_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(Some(&folder.path().join("new/folder")));
    assert_eq!(cache.dataset("s", "key", || Ok(sample())).unwrap(), sample());
    assert_eq!(cache.dataset("s", "key", never).unwrap(), sample());
}

#[test]
fn another_key_is_another_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(Some(folder.path()));
    cache.dataset("s", "key", || Ok(sample())).unwrap();
    assert_eq!(
        cache.dataset("s", "other key", || Ok(Dataset::default())).unwrap(),
        Dataset::default()
    );
    // Even if someone gave it the other one's name.
    let name = |key: &str| {
        folder
            .path()
            .join(format!("s-{}.cache", sha1::hexadecimal(key.as_bytes())))
    };
    fs::rename(name("key"), name("third key")).unwrap();
    assert_eq!(
        cache.dataset("s", "third key", || Ok(Dataset::default())).unwrap(),
        Dataset::default()
    );
}

#[test]
fn a_damaged_file_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(Some(folder.path()));
    cache.dataset("s", "key", || Ok(sample())).unwrap();
    let path = file_in(folder.path());
    let right = fs::read(&path).unwrap();
    let damaged = |at: usize| {
        let mut bytes = right.clone();
        bytes[at] ^= 1;
        bytes
    };
    let header = MAGIC.len() + 4;
    let places = [
        0,
        MAGIC.len(),
        MAGIC.len() + 3,
        header,
        header + 8,
        header + 400,
        right.len() / 2,
        right.len() - 1,
    ];
    let cut = [0, 5, header + 3, header + 500, right.len() - 1].map(|length| right[..length].to_vec());
    let longer = [&right[..], &[0]].concat();
    for bytes in places.map(damaged).into_iter().chain(cut).chain([longer]) {
        fs::write(&path, &bytes).unwrap();
        let mut made = false;
        let make = || {
            made = true;
            Ok(sample())
        };
        assert_eq!(cache.dataset("s", "key", make).unwrap(), sample());
        assert!(made, "a damaged file of {} bytes was used", bytes.len());
        assert!(fs::read(&path).unwrap() == right, "not replaced");
    }
    file_in(folder.path());
}

#[test]
fn a_folder_that_cannot_be_written_matters_only_if_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let mut cache = Cache::new(Some(&file));
    let error = cache.dataset("s", "key", || Ok(sample())).unwrap_err().to_string();
    assert!(error.contains("cannot write") && error.contains("file"), "{error}");
    cache.asked_for = false;
    assert_eq!(cache.dataset("s", "key", || Ok(sample())).unwrap(), sample());
}

#[test]
fn what_cannot_be_made_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let failure = || Err(Error::data("s", "nothing there"));
    assert!(Cache::new(Some(folder.path())).dataset("s", "key", failure).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
