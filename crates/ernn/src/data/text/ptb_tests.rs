use std::fs;
use std::time::Instant;

use super::*;
use crate::data::open::tests::data_folder;
use crate::data::{Part, Task};

const TEXTS: [&str; 3] = [" a b <unk> \n a a \n", " b a \n", " a \n"];
const SMALL: Sizes = Sizes {
    tokens: [7, 3, 2],
    vocabulary: 4,
};

fn tokens(part: &Part) -> &[u32] {
    part.values.tokens()
}

fn write_folder(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in PARTS.iter().zip(TEXTS) {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn write_archive(path: &Path, texts: &[(&str, &str)]) {
    let packed = flate2::write::GzEncoder::new(File::create(path).unwrap(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    for (name, text) in texts {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

#[test]
fn words_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(&folder.path().join("ptb/simple-examples/data"));
    let found = find(folder.path()).unwrap();
    let data = open_sized("ptb-300", &found, &TextOptions::default(), &SMALL).unwrap();
    assert_eq!(data.vocabulary, ["<unk>", "a", "<eos>", "b"]);
    assert_eq!(tokens(&data.train), [1, 3, 0, 2, 1, 1, 2]);
    assert_eq!(tokens(data.validation.as_ref().unwrap()), [3, 1, 2]);
    assert_eq!(tokens(data.test.as_ref().unwrap()), [1, 2]);
    assert_eq!(data.task, Task::NextToken);
}

#[test]
fn characters_have_a_line_for_a_space() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path());
    let sizes = Sizes {
        tokens: [14, 4, 2],
        vocabulary: 9,
    };
    let data = open_sized("ptb-char", folder.path(), &TextOptions::default(), &sizes).unwrap();
    let texts = tokens(&data.train)
        .iter()
        .map(|&token| data.vocabulary[token as usize].as_str());
    assert_eq!(texts.collect::<String>(), "a_b_<unk><eos>a_a<eos>");
    assert!(data.vocabulary.iter().all(|text| text != "<unk>"));
}

#[test]
fn the_archive_gives_the_same_as_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("ptb").join(ARCHIVE);
    fs::create_dir(folder.path().join("ptb")).unwrap();
    write_archive(
        &archive,
        &[
            ("./simple-examples/data/ptb.char.train.txt", "x"),
            ("./simple-examples/data/ptb.test.txt", TEXTS[2]),
            ("./simple-examples/data/ptb.train.txt", TEXTS[0]),
            ("./simple-examples/data/ptb.valid.txt", TEXTS[1]),
        ],
    );
    assert_eq!(find(folder.path()), Some(archive.clone()));
    write_folder(&folder.path().join("files"));
    let read = |at: &Path| open_sized("ptb-300", at, &TextOptions::default(), &SMALL).unwrap();
    assert_eq!(read(&archive), read(&folder.path().join("files")));
}

#[test]
fn refusals_name_the_file_and_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path());
    let error = open("ptb-300", folder.path(), &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ptb.train.txt: found 7 tokens, expected 929589 as in the published text"),
        "{error}"
    );
    fs::remove_file(folder.path().join(PARTS[1])).unwrap();
    let error = open("ptb-300", folder.path(), &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("found no file ptb.valid.txt, expected all three parts"),
        "{error}"
    );

    let archive = folder.path().join(ARCHIVE);
    write_archive(&archive, &[("data/ptb.train.txt", TEXTS[0])]);
    let error = open("ptb-300", &archive, &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("simple-examples.tgz: found no file ptb.valid.txt inside"),
        "{error}"
    );
    let whole = fs::read(&archive).unwrap();
    fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    let error = open("ptb-300", &archive, &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("cut short or damaged"), "{error}");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(find(tempfile::tempdir().unwrap().path()), None);
}

#[test]
fn the_published_text_has_the_published_counts() {
    let Some(folder) = data_folder("ptb") else { return };
    let at = find(folder.parent().unwrap()).unwrap();
    let start = Instant::now();
    let words = open("ptb-300", &at, &TextOptions::default()).unwrap();
    println!("words in {:?}", start.elapsed());
    assert_eq!(words.vocabulary[..3], ["<unk>", "the", "<eos>"]);
    let start = Instant::now();
    let characters = open("ptb-char", &at, &TextOptions::default()).unwrap();
    println!("characters in {:?}", start.elapsed());
    assert_eq!(characters.vocabulary[..3], ["_", "e", "t"]);
    // The first sentence of the text, by words and by characters.
    let shown = |data: &crate::data::Dataset, from: usize, to: usize| -> Vec<String> {
        let tokens = &tokens(data.test.as_ref().unwrap())[from..to];
        tokens
            .iter()
            .map(|&token| data.vocabulary[token as usize].clone())
            .collect()
    };
    assert_eq!(shown(&words, 0, 6).join(" "), "no it was n't black monday");
    assert_eq!(shown(&characters, 0, 12).concat(), "no_it_was_n'");
}
