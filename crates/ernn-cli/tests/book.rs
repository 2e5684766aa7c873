//! The book does what it says: its commands run, its links lead somewhere, and README.md keeps its size.
//!
//! In the pages, a block with the info string `console` is run: each line that begins with `$ ernn`, in order, one folder
//! for each page. A block with a file name, as in `csv new.csv`, becomes that file. Blocks that cannot run here are `sh`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Fewer commands than this, and the reader of the pages below has lost some.
const LEAST_COMMANDS: usize = 25;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files of a folder of the repository, in order.
fn markdown(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    files
}

/// The crates' folders; the Python package, too.
fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// A fenced block: its info string and its lines.
struct Block {
    info: String,
    lines: Vec<String>,
}

/// The fenced blocks of a page, and its text without them.
fn blocks(text: &str) -> (Vec<Block>, String) {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                open = Some(Block {
                    info: info.trim().to_string(),
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(block)) => found.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line.to_string());
                open = Some(block);
            }
            (None, None) => {
                rest += line;
                rest.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a block does not end");
    (found, rest)
}

/// The words of a command line; quotes keep blanks, ` #` begins a comment.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in line.split("  #").next().unwrap_or(line).chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) => word.push(letter),
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter.is_whitespace() => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
            }
            None => word.push(letter),
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

/// Runs `ernn ...` as the page writes it; `< FILE` and `> FILE` are understood.
fn run(line: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ernn"));
    command
        .current_dir(folder)
        .env_remove("ERNN_DATA_DIR")
        .stdin(Stdio::null());
    let all = words(line);
    let mut words = all.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "<" => command.stdin(File::open(folder.join(words.next().unwrap())).unwrap()),
            ">" => command.stdout(File::create(folder.join(words.next().unwrap())).unwrap()),
            _ => command.arg(word),
        };
    }
    command.output().unwrap()
}

/// Words of a shown line up to the first digit or `...`, with single blanks: what does not change from machine to machine.
fn beginning(line: &str) -> String {
    let end = line.find(|letter: char| letter.is_ascii_digit()).unwrap_or(line.len());
    let end = end.min(line.find("...").unwrap_or(line.len()));
    single_blanks(&line[..end])
}

fn single_blanks(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs a console block; gives the number of its commands.
fn run_block(page: &Path, block: &Block, folder: &Path) -> usize {
    let mut commands = 0;
    let mut said = String::new();
    for line in &block.lines {
        if let Some(command) = line.strip_prefix("$ ") {
            assert!(
                command.starts_with("ernn "),
                "{}: `{command}`: a console block holds commands of ernn alone; others go into a block `sh`",
                page.display()
            );
            let done = run(command, folder);
            let errors = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{}: `{command}`\n{errors}", page.display());
            said = String::from_utf8(done.stdout).unwrap();
            commands += 1;
            continue;
        }
        let beginning = beginning(line);
        if beginning.len() < 3 || beginning.starts_with("|-") {
            continue;
        }
        let found = said.lines().any(|line| single_blanks(line).starts_with(&beginning));
        assert!(
            found,
            "{}: no line begins with `{beginning}` in:\n{said}",
            page.display()
        );
    }
    commands
}

#[test]
fn the_commands_of_the_book_run() {
    let mut pages = markdown("docs");
    pages.push(root().join("README.md"));
    let mut commands = 0;
    for page in pages {
        let folder = tempfile::tempdir().unwrap();
        for block in blocks(&read(&page)).0 {
            let mut info = block.info.split_whitespace();
            match (info.next(), info.next()) {
                (Some("console"), _) => commands += run_block(&page, &block, folder.path()),
                (Some(_), Some(name)) => {
                    let text: String = block.lines.iter().map(|line| format!("{line}\n")).collect();
                    fs::write(folder.path().join(name), text).unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(commands >= LEAST_COMMANDS, "only {commands} commands ran");
}

#[test]
fn the_readme_keeps_its_size() {
    let text = read(&root().join("README.md"));
    assert!(
        text.lines().count() <= 150,
        "{} lines, at most 150",
        text.lines().count()
    );
    for line in text.lines() {
        assert!(line.chars().count() <= 110, "over 110 columns: {line}");
    }
    let map = read(&root().join("contributing/map.md"));
    assert!(
        map.lines().count() <= 150,
        "{} lines of the map, at most 150",
        map.lines().count()
    );
}

/// The README shows the one command and the one test command.
#[test]
fn the_readme_shows_the_first_commands() {
    let text = read(&root().join("README.md"));
    let top: String = text.lines().take(65).map(|line| format!("{line}\n")).collect();
    assert!(top.contains("\ncargo run --release -- train japanese-vowels\n"));
    assert!(top.contains("`cargo test`"));
}

/// The name of a heading in an address, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let plain = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = plain
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(path: &Path) -> BTreeSet<String> {
    let (_, text) = blocks(&read(path));
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// What follows `mark` up to `end`, everywhere in a text.
fn between<'a>(text: &'a str, mark: &str, end: char) -> Vec<&'a str> {
    text.split(mark)
        .skip(1)
        .filter_map(|rest| rest.split(end).next())
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = [markdown("."), markdown("docs"), markdown("contributing")].concat();
    pages.extend(crates().iter().map(|folder| folder.join("README.md")));
    pages.extend(["bench", "experiments", "reference"].map(|folder| root().join(folder).join("README.md")));
    let mut links = 0;
    for page in pages {
        let (_, text) = blocks(&read(&page));
        let mut targets = between(&text, "](", ')');
        targets.extend(between(&text, "srcset=\"", '"'));
        targets.extend(between(&text, "src=\"", '"'));
        for target in targets {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, name) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            assert!(path.exists(), "{}: no file {target}", page.display());
            if !name.is_empty() {
                assert!(anchors(&path).contains(name), "{}: no heading {target}", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 100, "only {links} links found");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = read(&root().join("docs/SUMMARY.md"));
    for page in markdown("docs") {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name}"
        );
    }
    for folder in crates() {
        assert!(
            folder.join("README.md").is_file(),
            "no README.md in {}",
            folder.display()
        );
    }
}

/// `python3 docs/settings.py` was run after the last new flag.
#[test]
fn the_table_of_settings_has_every_flag() {
    let done = run("ernn train --help", &root());
    let help = String::from_utf8(done.stdout).unwrap();
    let table = read(&root().join("docs/settings-table.md"));
    let flags = |text: &str, mark: &str| -> BTreeSet<String> {
        let line = |line: &str| {
            let line = line.trim_start().strip_prefix(mark)?;
            let flag = line.split_once("--")?.1;
            let short = line.starts_with("--") || line.starts_with('-') && line[2..].starts_with(", --");
            let name: String = flag
                .chars()
                .take_while(|letter| letter.is_ascii_lowercase() || *letter == '-')
                .collect();
            // What wraps onto a line of its own is another name of the flag above.
            let is_alias = flag[name.len()..].starts_with(']');
            (short && !is_alias).then_some(name)
        };
        text.lines().filter_map(line).collect()
    };
    let missing: Vec<String> = flags(&table, "| `")
        .symmetric_difference(&flags(&help, ""))
        .cloned()
        .collect();
    assert!(
        missing.is_empty(),
        "run `python3 docs/settings.py PATH_OF_ERNN`: {missing:?}"
    );
}
