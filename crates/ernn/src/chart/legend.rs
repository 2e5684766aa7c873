//! The names of the lines.

use super::{ANCHOR_END, HEIGHT, LEFT, Line, RIGHT, row, text};

/// A row of the legend, and the length of the piece of line in it.
pub(super) const ROW: f64 = 24.0;
const PIECE: f64 = 34.0;
/// Wider than any letter of the font is on average: names must not run into each other.
const LETTER: f64 = 8.0;

/// The names with their last values, the last one at `end`. Each has room for letters as wide as they come, because not every
/// viewer can be trusted with several colors in one text.
pub(super) fn last_values(svg: &mut String, lines: &[Line], mut end: f64) {
    for line in lines.iter().rev() {
        let Some((_, value)) = line.points.last() else {
            continue;
        };
        let (name, color) = (format!("{} {value:.3}", line.name), line.look.color);
        text(svg, (end, 26.0), &format!(" class=\"f{color}\"{ANCHOR_END}"), &name);
        end -= LETTER * (name.chars().count() + 1) as f64;
    }
}

/// The legend under all panels, in columns as wide as the longest name asks for, and its height.
pub(super) fn below(lines: &[Line], width: f64) -> (String, f64) {
    let mut svg = String::new();
    let longest = lines.iter().map(|line| line.name.chars().count()).max();
    let Some(longest) = longest else {
        return (svg, 0.0);
    };
    let column = PIECE + LETTER * (longest as f64 + 3.0);
    let columns = (((width - LEFT - RIGHT) / column) as usize).clamp(1, lines.len());
    for (index, Line { name, look, .. }) in lines.iter().enumerate() {
        let x = LEFT + (index % columns) as f64 * column;
        let y = HEIGHT + ROW * (0.5 + (index / columns) as f64);
        let class = format!("line c{} d{}", look.color, look.dash);
        let end = x + PIECE;
        row(
            &mut svg,
            &format!("<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"/>"),
        );
        text(&mut svg, (end + LETTER, y + 4.5), "", name);
    }
    (svg, ROW * (lines.len().div_ceil(columns) as f64 + 0.5))
}
