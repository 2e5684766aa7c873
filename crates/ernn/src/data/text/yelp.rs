//! Yelp-5: reviews with 1 to 5 stars.
//!
//! ```text
//! yelp*.csv                          columns stars, text (and review_id)
//! yelp_academic_dataset_review*.json a JSON object a line with these fields; plain, .gz or .xz
//! ```
//!
//! All such files of the folder together, in order of their names, are one set. Read are the first 1,000,000 reviews and of each its
//! first 300 words; the vocabulary are the 20,000 most frequent words of the training part. As in the FastGRNN paper (Kusupati et
//! al. 2018, appendix B) the first 500,000 are for training and the next 500,000 for the test. **Where there are fewer, the first
//! 80 % of each file are for training and the rest of it for the test**, so that both parts have reviews of each file.
//!
//! A review with the `review_id` of an earlier one is left out, so that no review is in both parts; without ids, one with the text
//! and stars of an earlier one. Equal words of different reviews stay: people do write "Great service".
//!
//! The text is never in memory: words become numbers as they are read, 4 bytes each.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::TextOptions;
use super::files::{TABLES, files};
use super::records::{Columns, Record, read};
use super::texts::{Texts, VOCABULARY};
use super::vocabulary::Seen;
use crate::data::{Dataset, Task};
use crate::{Error, Result};

/// Reviews of each part in the paper.
const HALF: usize = 500_000;
/// Of how many reviews of a smaller set one is for the test.
const TEST_EVERY: usize = 5;
const COLUMNS: Columns = Columns {
    text: "text",
    label: Some("stars"),
    id: "review_id",
};

/// The folder with the reviews, at or below `base`, if there is one.
pub(in crate::data) fn find(base: &Path) -> Option<PathBuf> {
    let folders = ["", "yelp", "Yelp JSON", "yelp_dataset"].map(|folder| base.join(folder));
    folders.into_iter().find(|folder| !review_files(folder).is_empty())
}

/// The files of reviews in a folder, in order of their names; the published set has other files beside them.
fn review_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder, &TABLES).unwrap_or_default();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.starts_with("yelp") && (name.contains("review") || name.contains(".csv"))
    });
    files
}

/// Reads the reviews in the folder.
pub(in crate::data) fn open(name: &str, folder: &Path, options: &TextOptions) -> Result<Dataset> {
    open_sized(name, folder, options, HALF)
}

fn open_sized(name: &str, folder: &Path, options: &TextOptions, half: usize) -> Result<Dataset> {
    let (words, vocabulary) = (options.words()?, options.vocabulary_or(VOCABULARY)?);
    let mut reviews = Reviews::default();
    for file in review_files(folder) {
        let before = reviews.len();
        if before == 2 * half {
            break;
        }
        read(&file, COLUMNS, options, |record| {
            reviews.push(&record, &file, words, half)?;
            Ok(reviews.len() < 2 * half)
        })?;
        reviews.files.push(before..reviews.len());
    }
    if reviews.len() < 2 {
        let problem = format!("{} reviews in {}, expected at least 2", reviews.len(), folder.display());
        return Err(Error::data(name, problem));
    }
    let (train, test, seen) = reviews.divide(half);
    let own = (&train.tokens[..], vocabulary, true);
    let (vocabulary, index) = seen.vocabulary(name, options.of_model.as_ref(), own)?;
    Ok(Dataset {
        name: name.to_owned(),
        feature_names: vec!["token".to_owned()],
        classes: (1..=5).map(|stars| stars.to_string()).collect(),
        vocabulary,
        task: Task::Classification,
        train: train.into_part(&index),
        test: Some(test.into_part(&index)),
        ..Dataset::default()
    })
}

/// The reviews so far: the first half and what comes after it.
#[derive(Default)]
struct Reviews {
    first: Texts,
    second: Texts,
    seen: Seen,
    ids: HashSet<u64>,
    files: Vec<Range<usize>>,
}

impl Reviews {
    fn len(&self) -> usize {
        self.first.len() + self.second.len()
    }

    fn push(&mut self, record: &Record, file: &Path, words: usize, half: usize) -> Result<()> {
        let class = class(record.label).ok_or_else(|| {
            let place = format!(", line {}", record.line);
            Error::format(file, place, format!("{:?} stars", record.label), "1 to 5")
        })?;
        if !self.ids.insert(identity(record)) {
            return Ok(());
        }
        let half = if self.first.len() < half {
            &mut self.first
        } else {
            &mut self.second
        };
        half.push(record.text, words, &mut self.seen, class);
        Ok(())
    }

    /// Training and test part.
    fn divide(self, half: usize) -> (Texts, Texts, Seen) {
        let (full, mut first) = (self.len() == 2 * half, self.first);
        if full {
            return (first, self.second, self.seen);
        }
        first.append(self.second);
        let is_test = |review: usize| {
            let file = self.files.iter().find(|file| file.contains(&review));
            // The larger part is rounded up, and the last of two reviews is still one for the test.
            file.is_some_and(|file| review - file.start >= file.len() - file.len().div_ceil(TEST_EVERY))
        };
        let test = first.take_out(is_test);
        (first, test, self.seen)
    }
}

/// The class of `5` or `5.0` stars.
fn class(stars: &str) -> Option<u32> {
    let stars: f64 = stars.parse().ok()?;
    (1..=5).find(|&whole| f64::from(whole) == stars).map(|whole| whole - 1)
}

/// Of a million reviews, two have the same 64 bits with a probability of 3e-8.
fn identity(record: &Record) -> u64 {
    let mut hasher = DefaultHasher::new();
    match record.id {
        Some(id) => id.hash(&mut hasher),
        None => (record.text, record.label).hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
#[path = "yelp_tests.rs"]
mod tests;
