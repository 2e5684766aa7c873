//! SVG as text: escaped names, and how wide a name is where no one knows the font.

use std::fmt::Write;

/// Height of plain letters and of a title's.
pub(super) const SIZE: f64 = 13.0;
pub(super) const TITLE_SIZE: f64 = 15.0;

/// Width of a letter beside its height: that of a digit in the widest of the usual fonts.
const LETTER: f64 = 0.64;

pub(super) const ANCHOR_END: &str = " text-anchor=\"end\"";
pub(super) const ANCHOR_MIDDLE: &str = " text-anchor=\"middle\"";

/// About how wide a text is, rather too much than too little.
pub(super) fn width(text: &str, size: f64) -> f64 {
    // Letters of East Asia and pictures stand in squares.
    let letter = |letter: char| if letter >= '\u{2e80}' { 1.1 } else { LETTER };
    size * text.chars().map(letter).sum::<f64>()
}

/// The text, or as much of its beginning as there is room for.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if width(&short, size) + 1.1 * size > room {
            short.pop();
            break;
        }
    }
    short.trim_end().to_string() + "…"
}

pub(super) fn row(svg: &mut String, text: &str) {
    writeln!(svg, "{text}").expect("writing to a string");
}

pub(super) fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, text: &str) {
    row(
        svg,
        &format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{}</text>", escaped(text)),
    );
}

/// As [`text`], cut where its room ends; the whole text is there for those who point at it.
pub(super) fn fitted(svg: &mut String, (x, y): (f64, f64), attributes: &str, whole: &str, (size, room): (f64, f64)) {
    let short = shortened(whole, size, room);
    if short == whole {
        return text(svg, (x, y), attributes, whole);
    }
    let (short, whole) = (escaped(&short), escaped(whole));
    row(
        svg,
        &format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{short}<title>{whole}</title></text>"),
    );
}

/// Text as it may stand in XML and HTML, in attributes, too; what would command a terminal or a page is written out.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in crate::names::lines(text).chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_its_room_ends() {
        assert_eq!(shortened("abc", 10.0, 30.0), "abc");
        let short = shortened("a name of many letters", 10.0, 60.0);
        assert!(short.ends_with('…') && width(&short, 10.0) < 66.0, "{short}");
        assert!(width("日本語", 10.0) > 30.0);
    }

    #[test]
    fn names_neither_end_a_tag_nor_turn_the_line_around() {
        assert_eq!(
            escaped("<b>&\"'\u{202e}\x1b\x07\u{85}"),
            "&lt;b&gt;&amp;&quot;&#39;\\u{202e}\\u{1b}\\u{7}\\u{85}"
        );
        assert_eq!(escaped("é 日本 ±"), "é 日本 ±");
    }
}
