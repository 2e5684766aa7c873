//! What stands behind stdout and stderr: a terminal or not, its colors, its width.

use std::env;
use std::io::{self, IsTerminal};

use console::Term;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// Columns of a line where nobody knows better, and of a result wherever it goes.
pub const COLUMNS: usize = 80;

impl Stream {
    /// Whether a person looks at it.
    pub fn is_terminal(self) -> bool {
        match self {
            Stream::Out => io::stdout().is_terminal(),
            Stream::Err => io::stderr().is_terminal(),
        }
    }

    /// Whether colors are wanted and can be shown: `NO_COLOR` and `CLICOLOR_FORCE` say so, else a terminal that is not dumb has them.
    pub fn has_colors(self) -> bool {
        wants_colors(|name| env::var(name).ok(), self.is_terminal())
    }
}

/// The rule of <https://no-color.org> and <https://bixense.com/clicolors>.
fn wants_colors(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name, expected: &str| variable(name).is_some_and(|value| value == expected);
    if set("NO_COLOR") {
        return false;
    }
    if set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") {
        return true;
    }
    is_terminal && !is("TERM", "dumb") && !is("CLICOLOR", "0")
}

/// Columns of the terminal behind stderr, or behind stdout.
pub fn width() -> usize {
    let sizes = [Term::stderr(), Term::stdout()]
        .into_iter()
        .filter_map(|term| term.size_checked());
    let mut columns = sizes
        .map(|(_, columns)| usize::from(columns))
        .filter(|&columns| columns > 0);
    columns.next().unwrap_or(COLUMNS)
}

/// Whether the locale has the characters of bars and sparklines.
pub fn has_blocks() -> bool {
    is_unicode(|name| env::var(name).ok())
}

/// The first of these variables that is set decides, as for the C library; Windows has none of them, and its terminals have blocks.
fn is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|text| !text.is_empty()));
    locale.map_or(cfg!(windows), |locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// A look that stands out on light and on dark backgrounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    #[default]
    Plain,
    Bold,
    Dim,
    Error,
    Warning,
    Hint,
}

impl Look {
    /// The text in this look, if there are colors.
    pub fn paint(self, text: &str, colors: bool) -> String {
        let code = match self {
            Look::Bold => "1",
            Look::Dim => "2",
            Look::Error => "1;31",
            Look::Warning => "33",
            Look::Hint => "36",
            Look::Plain => return text.to_string(),
        };
        match colors {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |asked| {
            let found = variables.iter().find(|(name, _)| *name == asked);
            found.map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn colors_are_there_where_they_are_wanted() {
        assert!(wants_colors(of(&[("TERM", "xterm")]), true));
        assert!(wants_colors(of(&[("NO_COLOR", "")]), true));
        assert!(wants_colors(of(&[("CLICOLOR_FORCE", "1")]), false));
        assert!(!wants_colors(of(&[]), false));
        assert!(!wants_colors(of(&[("CLICOLOR_FORCE", "0")]), false));
        assert!(!wants_colors(of(&[("TERM", "dumb")]), true));
        assert!(!wants_colors(of(&[("CLICOLOR", "0")]), true));
        assert!(!wants_colors(of(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), true));
    }

    #[test]
    fn the_locale_says_whether_blocks_can_be_shown() {
        assert!(is_unicode(of(&[("LANG", "de_DE.UTF-8")])));
        assert!(is_unicode(of(&[("LC_ALL", "C.utf8"), ("LANG", "C")])));
        assert!(!is_unicode(of(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")])));
    }

    #[test]
    fn a_look_needs_colors() {
        assert_eq!(Look::Bold.paint("a", false), "a");
        assert_eq!(Look::Bold.paint("a", true), "\u{1b}[1ma\u{1b}[0m");
        assert_eq!(Look::Plain.paint("a", true), "a");
    }
}
