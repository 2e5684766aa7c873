use std::collections::HashSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::time::Instant;

use super::*;
use crate::data::Part;
use crate::data::open::tests::data_folder;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// The texts of a part, as far as the vocabulary has their words.
fn texts(data: &Dataset, part: &Part) -> Vec<String> {
    let tokens = part.values.tokens();
    let word = |&token: &u32| data.vocabulary[token as usize].as_str();
    let ranges = part.offsets.windows(2).map(|pair| &tokens[pair[0]..pair[1]]);
    ranges
        .map(|tokens| tokens.iter().map(word).collect::<Vec<_>>().join(" "))
        .collect()
}

const TABLE: (&str, &str) = (
    "yelp.csv",
    "stars,text,review_id\n1,a a,r1\n2,b,r2\n3,\"c\nb\",r3\n4,d,r4\n5,e a,r5\n5,again,r1\n",
);
const LINES: (&str, &str) = (
    "yelp_academic_dataset_review.json",
    "{\"stars\":5.0,\"text\":\"f\",\"review_id\":\"q\"}\n{\"stars\":1,\"text\":\"a f\",\"review_id\":\"s\"}\n",
);

#[test]
fn a_small_set_gives_the_end_of_each_file_to_the_test() {
    let folder = folder(&[TABLE, LINES, ("yelp_academic_dataset_user.json", "{}")]);
    let data = open("yelp-5", &find(folder.path()).unwrap(), &TextOptions::default()).unwrap();
    assert_eq!(data.vocabulary, ["<unk>", "a", "b", "c", "d", "f"]);
    assert_eq!(texts(&data, &data.train), ["a a", "b", "c b", "d", "f"]);
    assert_eq!(data.train.labels, [0, 1, 2, 3, 4]);
    let test = data.test.as_ref().unwrap();
    assert_eq!(texts(&data, test), ["<unk> a", "a f"]);
    assert_eq!(test.labels, [4, 0]);
    assert_eq!(data.classes, ["1", "2", "3", "4", "5"]);
}

#[test]
fn a_full_set_is_divided_in_the_middle_and_no_more_is_read() {
    let folder = folder(&[TABLE, (LINES.0, "no JSON")]);
    let data = open_sized("yelp-5", folder.path(), &TextOptions::default(), 2).unwrap();
    assert_eq!(texts(&data, &data.train), ["a a", "b"]);
    assert_eq!(texts(&data, data.test.as_ref().unwrap()), ["<unk> b", "<unk>"]);
}

#[test]
fn more_than_half_of_a_full_set_is_divided_like_a_small_one() {
    let folder = folder(&[TABLE]);
    let data = open_sized("yelp-5", folder.path(), &TextOptions::default(), 3).unwrap();
    assert_eq!(data.train.labels, [0, 1, 2, 3]);
    assert_eq!(data.test.unwrap().labels, [4]);
}

#[test]
fn a_review_without_an_id_is_told_by_its_text() {
    let folder = folder(&[("yelp.csv", "stars,text\n1,a\n1,a\n2,a\n3,b\n")]);
    let data = open("yelp-5", folder.path(), &TextOptions::default()).unwrap();
    assert_eq!([data.train.labels, data.test.unwrap().labels], [vec![0, 1], vec![2]]);
}

#[test]
fn words_beyond_the_first_are_not_read() {
    let folder = folder(&[("yelp.csv", "stars,text\n1,a b c d\n1,e\n")]);
    let options = TextOptions {
        words: Some(2),
        ..TextOptions::default()
    };
    let data = open("yelp-5", folder.path(), &options).unwrap();
    assert_eq!(data.vocabulary, ["<unk>", "a", "b"]);
}

#[test]
fn refusals_name_the_line() {
    let folder = folder(&[("yelp.csv", "stars,text\n1,\"a\nb\"\n4.5,b\n")]);
    let error = open("yelp-5", folder.path(), &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("yelp.csv, line 4: found \"4.5\" stars, expected 1 to 5"),
        "{error}"
    );
    fs::write(folder.path().join("yelp.csv"), "stars,text\n").unwrap();
    let error = open("yelp-5", folder.path(), &TextOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("yelp-5: 0 reviews in "), "{error}");
    assert_eq!(find(tempfile::tempdir().unwrap().path()), None);
}

#[test]
fn the_reviews_at_hand_are_all_read_and_no_part_knows_the_other() {
    let Some(folder) = data_folder("yelp") else { return };
    let start = Instant::now();
    let data = open(
        "yelp-5",
        &find(folder.parent().unwrap()).unwrap(),
        &TextOptions::default(),
    )
    .unwrap();
    println!("13,610 reviews in {:?}", start.elapsed());
    let test = data.test.as_ref().unwrap();
    assert_eq!((data.train.len(), test.len()), (10_888, 2_722));
    let count = |stars| {
        [&data.train, test]
            .iter()
            .flat_map(|part| &part.labels)
            .filter(|&&label| label == stars)
            .count()
    };
    assert_eq!([0, 1, 2, 3, 4].map(count), [1191, 1247, 1893, 4450, 4829]);
    assert_eq!((data.vocabulary.len(), data.train.longest()), (20_000, 300));
    assert_eq!(data.vocabulary[1..4], ["the", "and", "i"]);
    // Different reviews with equal words are rare enough to be told.
    let known: HashSet<String> = texts(&data, &data.train).into_iter().collect();
    let copies = texts(&data, test).iter().filter(|text| known.contains(*text)).count();
    assert!(copies <= 1, "{copies} test reviews are in the training part");
}

/// Prints what the memory of the full size is: `cargo test --release -p ernn --lib full_size -- --ignored --nocapture`.
#[test]
#[ignore = "writes 700 MB to the folder of temporary files"]
fn the_full_size_is_read_in_little_more_than_its_tokens() {
    let folder = tempfile::tempdir().unwrap();
    write_reviews(&folder.path().join("yelp_academic_dataset_review.json"), 2 * HALF);
    let (before, start) = (peak_kilobytes(), Instant::now());
    let data = open("yelp-5", folder.path(), &TextOptions::default()).unwrap();
    let tokens = data.train.steps() + data.test.as_ref().unwrap().steps();
    println!(
        "{} + {} reviews, {tokens} tokens ({} MB) in {:?}; peak {} MB, before {} MB",
        data.train.len(),
        data.test.as_ref().unwrap().len(),
        tokens * 4 / 1_000_000,
        start.elapsed(),
        peak_kilobytes() / 1000,
        before / 1000
    );
    assert_eq!(data.train.len(), HALF);
}

/// Reviews of 10 to 250 words; one word in fifty is a new one, as names and slips of the pen are.
fn write_reviews(path: &Path, reviews: usize) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let mut state = 1u64;
    let mut draw = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for review in 0..reviews {
        write!(
            file,
            "{{\"review_id\":\"r{review}\",\"stars\":{}.0,\"text\":\"",
            draw(5) + 1
        )
        .unwrap();
        for _ in 0..10 + draw(241) {
            // The product of two draws is small more often, so that some words are frequent.
            let word = if draw(50) == 0 {
                draw(2_000_000)
            } else {
                draw(200) * draw(200)
            };
            write!(file, "w{word} ").unwrap();
        }
        writeln!(file, "\"}}").unwrap();
    }
    file.flush().unwrap();
}

/// The most memory that this process had; 0 where the system does not say.
fn peak_kilobytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
