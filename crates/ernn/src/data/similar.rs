//! Names that someone may have meant: for data sets, files and settings.

/// The names that a wrong one probably stands for, nearest first; none if nothing is near.
///
/// Those that have all its words (`mnist`, `har`), or else some of them, or else differ in few letters.
pub fn similar<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let words = words(wrong);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| Some((distance(wrong, &words, name)?, name)))
        .collect();
    // Within a kind of likeness the letters decide, else the order stays.
    found.sort_by_key(|&(distance, _)| distance);
    let kind = |distance: usize| distance / KIND;
    let nearest = found.first().map(|&(distance, _)| kind(distance));
    let same_kind = |&(distance, _): &(usize, &'a str)| Some(kind(distance)) == nearest;
    found.into_iter().take_while(same_kind).map(|(_, name)| name).collect()
}

/// All names, the nearest to the wrong one first.
pub fn nearest_first<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let near = similar(wrong, names.iter().copied());
    names.sort_by_key(|name| near.iter().position(|other| other == name).unwrap_or(near.len()));
    names
}

/// Distances of one kind of likeness lie below the next multiple of it.
const KIND: usize = 1000;
/// Words of fewer letters are in too many names.
const SHORTEST_WORD: usize = 3;

fn distance(wrong: &str, wrong_words: &[String], name: &str) -> Option<usize> {
    let own = words(name);
    let begins = |word: &String| own.iter().any(|other| is_beginning(word, other));
    let told: Vec<&String> = wrong_words.iter().filter(|word| word.len() >= SHORTEST_WORD).collect();
    if wrong_words.iter().all(begins) && !told.is_empty() {
        return Some(usize::from(wrong_words != own));
    }
    let [a, b] = [wrong_words.concat(), own.concat()];
    let letters = edits(&a, &b);
    if letters <= wrong.chars().count().div_ceil(4) {
        return Some(KIND + letters);
    }
    told.into_iter().any(begins).then_some(2 * KIND)
}

/// Whether a name differs in few letters from the wrong one. Of files only that is asked: words are shared by many.
pub(super) fn is_misspelled(wrong: &str, name: &str) -> bool {
    let most = match wrong.chars().count() {
        0..7 => 0,
        letters => letters / 4,
    };
    edits(&wrong.to_lowercase(), &name.to_lowercase()) <= most
}

/// `mnist` of `mnist10`, `har` of `har`, `speech` of `speech`: one is how the other begins.
fn is_beginning(word: &str, other: &str) -> bool {
    other.starts_with(word) || (other.len() >= SHORTEST_WORD && word.starts_with(other))
}

fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Letters to insert, leave out or exchange until one text is the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (place, other) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = exchanged.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::known;

    fn sets(wrong: &str) -> Vec<&'static str> {
        similar(wrong, known().iter().map(|known| known.name))
    }

    #[test]
    fn known_sets_are_guessed_from_what_people_write() {
        assert_eq!(sets("japanese-vowel"), ["japanese-vowels"]);
        assert_eq!(sets("JapaneseVowels"), ["japanese-vowels"]);
        assert_eq!(sets("har"), ["har-2", "har-6"]);
        assert_eq!(sets("UCI HAR"), ["har-2", "har-6"]);
        assert_eq!(sets("speech"), ["speech-10"]);
        assert_eq!(sets("google"), ["google-12", "google-30"]);
        assert_eq!(sets("digit"), ["digits"]);
        assert_eq!(sets("cifar10").len(), 2);
        assert_eq!(sets("mnist").len(), 8);
        assert_eq!(sets("fashion-mnist").len(), 4);
        assert!(sets("pixelmnist").contains(&"pixel-mnist"));
        assert_eq!(sets("fsd"), ["fsdd"]);
        assert_eq!(sets("my-recordings"), [""; 0]);
        assert_eq!(sets(""), [""; 0]);
    }

    #[test]
    fn letters_are_counted() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("same", "same", 0),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
            assert_eq!(edits(b, a), expected, "{b} {a}");
        }
        let names = ["hidden", "rank", "eta"];
        assert_eq!(nearest_first("rnk", names), ["rank", "hidden", "eta"]);
        assert_eq!(nearest_first("zzz", names), names);
    }
}
