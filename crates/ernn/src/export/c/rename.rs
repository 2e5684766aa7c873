//! The names of a model in C: templates begin all outer names with `ernn_`, their macros with `ERNN_`, and each model has its own
//! beginning instead, so that several stand in one program.

use crate::{Error, Result};

/// A template's text with the name of a model. In one pass: a name may contain `ernn_` itself.
pub(super) fn rename(text: &str, name: &str) -> String {
    let upper = name.to_uppercase();
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("ernn_").into_iter().chain(rest.find("ERNN_")).min() {
        renamed += &rest[..place];
        let is_macro = rest[place..].starts_with('E');
        renamed += if is_macro { &upper } else { name };
        rest = &rest[place + "ernn_".len()..];
        // The header's own name has nothing behind it.
        if !rest.starts_with(".h\"") {
            renamed.push('_');
        }
    }
    renamed + rest
}

/// The beginning of all names for an export into a folder of this name.
pub fn name_for(folder: &str) -> String {
    let mut name = String::new();
    for letter in folder.chars() {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_lowercase() || letter.is_ascii_digit() {
            name.push(letter);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name: String = name
        .trim_end_matches('_')
        .chars()
        .take(LONGEST_NAME - PREFIX.len())
        .collect();
    if name.is_empty() {
        return PREFIX.trim_end_matches('_').to_string();
    }
    if is_taken(&name) || !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        return format!("{PREFIX}{name}");
    }
    name
}

/// Stands before what is no name on its own.
const PREFIX: &str = "model_";

/// C promises that 63 characters of a name count; the longest ending takes some.
const LONGEST_NAME: usize = 40;

/// Names of headers of C, which a file of ours would hide, and of crates that every crate of Rust may see.
const TAKEN: [&str; 40] = [
    "assert",
    "complex",
    "ctype",
    "errno",
    "fenv",
    "float",
    "inttypes",
    "iso646",
    "limits",
    "locale",
    "math",
    "setjmp",
    "signal",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbool",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "tgmath",
    "threads",
    "time",
    "uchar",
    "wchar",
    "wctype",
    "unistd",
    "alloc",
    "core",
    "std",
    "test",
    "proc_macro",
    "ernn_core",
    "crate",
    "self",
    "super",
    "driver",
];

/// Words of Rust, which no crate may be called.
const WORDS: [&str; 36] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "true",
];

/// The rest of them.
const MORE_WORDS: [&str; 14] = [
    "struct", "trait", "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield", "module",
];

fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name) || WORDS.contains(&name) || MORE_WORDS.contains(&name)
}

/// Refuses a name that is none in C or Rust, or that something there has already.
pub(in crate::export) fn check_name(name: &str) -> Result<()> {
    let word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let expected = if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(word) {
        "a name of a-z, 0-9 and _, a letter first".to_string()
    } else if is_taken(name) {
        format!("another name: C or Rust has a header, a crate or a word of this one ({PREFIX}{name} is free)")
    } else if name.len() > LONGEST_NAME {
        format!("a name of at most {LONGEST_NAME} characters")
    } else {
        return Ok(());
    };
    Err::<(), Error>(Error::setting("name", name, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gets_the_models_beginning() {
        let template = "#include \"ernn_.h\"\n#ifndef ERNN_H\nint ernn_push(ernn_state *s, float x[ERNN_INPUTS]);";
        for name in ["a", "my_ernn_x", "ernn"] {
            let upper = name.to_uppercase();
            let expected = format!(
                "#include \"{name}.h\"\n#ifndef {upper}_H\nint {name}_push({name}_state *s, float x[{upper}_INPUTS]);"
            );
            assert_eq!(rename(template, name), expected);
        }
    }

    #[test]
    fn folders_give_names_that_c_and_rust_take() {
        for (folder, name) in [
            ("Wrist model", "wrist_model"),
            ("c", "c"),
            ("2-gru", "model_2_gru"),
            ("out.c", "out_c"),
            ("größe", "gr_e"),
            ("stdint", "model_stdint"),
            ("loop", "model_loop"),
            ("..", "model"),
            ("__x__", "x"),
            (&"9".repeat(60), &format!("model_{}", "9".repeat(34))),
        ] {
            assert_eq!(name_for(folder), name);
            assert!(check_name(&name_for(folder)).is_ok(), "{folder}");
        }
        for name in ["", "Ab", "1a", "a-b", "stdint", "fn", &"a".repeat(60)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
