//! The order of the rooms: each one uses only rooms that stand before it in `lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order of `lib.rs`. `error` stands outside the walk: everyone may fail.
fn rooms(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    let names = text
        .lines()
        .map(|line| line.strip_prefix("pub(crate) mod ").or(line.strip_prefix("pub mod ")))
        .filter_map(|line| line?.strip_suffix(';'));
    names.filter(|name| *name != "error").map(String::from).collect()
}

/// All source files of a room.
fn files(source: &Path, room: &str) -> Vec<PathBuf> {
    let single = source.join(format!("{room}.rs"));
    if single.is_file() {
        return vec![single];
    }
    let mut folders = vec![source.join(room)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// The names that follow `crate::` in code, in braces or alone.
fn uses(text: &str) -> Vec<String> {
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            Some(list) => found.extend(top_level(list)),
            None => found.push(first_name(after)),
        }
    }
    found
}

fn first_name(text: &str) -> String {
    text.chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect()
}

/// The first names of the entries of `a::{b, c}, d}...`, up to the brace that closes the list.
fn top_level(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut entries = vec![String::new()];
    for letter in list.chars() {
        match letter {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => entries.push(String::new()),
            _ if depth == 0 => entries.last_mut().unwrap().push(letter),
            _ => {}
        }
    }
    entries.iter().map(|entry| first_name(entry.trim())).collect()
}

/// Holds a crate's rooms to the order of its `lib.rs`; says how many uses of a room it saw.
fn check(source: &Path) -> usize {
    let rooms = rooms(source);
    assert!(rooms.len() >= 5, "{rooms:?}");
    let mut checked = 0;
    for (place, room) in rooms.iter().enumerate() {
        for file in files(source, room) {
            for used in uses(&fs::read_to_string(&file).unwrap()) {
                let Some(other) = rooms.iter().position(|name| *name == used) else {
                    continue; // An item of the crate's root, as `Error`.
                };
                checked += 1;
                assert!(
                    other <= place,
                    "{}: room {room} uses {used}, which comes after it",
                    file.display()
                );
            }
        }
    }
    checked
}

#[test]
fn a_room_uses_only_rooms_before_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (name, least) in [("ernn", 20), ("ernn-lab", 5)] {
        let checked = check(&crates.join(name).join("src"));
        assert!(checked > least, "the test no longer sees the uses of {name}: {checked}");
    }
}

#[test]
fn sees_uses_in_every_form() {
    let text = "use crate::{Error, data::{self, Part}, head};\nlet x = crate::optim::clip(y); // crate::train\n";
    assert_eq!(uses(text), ["Error", "data", "head", "optim"]);
}
