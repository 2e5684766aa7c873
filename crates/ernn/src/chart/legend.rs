//! One legend for all charts of a figure: each name once, with its piece of line and its marker.

use super::draw::marker;
use super::svg::{SIZE, fitted, row, text, width};
use super::{Chart, Look};

/// Height of a row, length of the piece of line, distance to the name and to the next column.
const ROW: f64 = 22.0;
const PIECE: f64 = 40.0;
const GAP: f64 = 8.0;
const EDGE: f64 = 16.0;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    Line(Look),
    /// A line of so many points that it has no markers and no pattern.
    Thin(Look),
    Point(Look),
    Dot,
}

impl Sample {
    /// A row looks alike as a line and as a point.
    fn look(self) -> Option<Look> {
        match self {
            Sample::Line(look) | Sample::Thin(look) | Sample::Point(look) => Some(look),
            Sample::Dot => None,
        }
    }
}

/// The names of a figure, each once, in the order in which they come; not those of lines that are nowhere.
pub(super) fn entries(charts: &[Chart]) -> Vec<(&str, Sample)> {
    let mut entries: Vec<(&str, Sample)> = Vec::new();
    for chart in charts {
        let lines = chart.lines.iter().filter(|line| !line.points.is_empty()).map(|line| {
            let sample = if line.is_thin() {
                Sample::Thin(line.look)
            } else {
                Sample::Line(line.look)
            };
            (&line.name[..], sample)
        });
        let points = chart
            .points
            .iter()
            .map(|point| (&point.name[..], Sample::Point(point.look)));
        let dots = chart.dots.iter().map(|dot| (&dot.name[..], Sample::Dot));
        for (name, sample) in lines.chain(points).chain(dots) {
            let known = |entry: &(&str, Sample)| entry.0 == name && entry.1.look() == sample.look();
            if !name.is_empty() && !entries.iter().any(known) {
                entries.push((name, sample));
            }
        }
    }
    entries
}

/// The piece of line and the marker, in a place as high as a row.
fn sample(svg: &mut String, sample: Sample, (x, y): (f64, f64)) {
    let (middle, end) = (x + PIECE / 2.0, x + PIECE);
    match sample {
        Sample::Line(look) | Sample::Thin(look) => {
            let thin = matches!(sample, Sample::Thin(_));
            let class = format!("line c{} d{}", look.color, if thin { 0 } else { look.dash });
            row(
                svg,
                &format!("<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"/>"),
            );
            if !thin {
                marker(svg, look, (middle, y), false, "");
            }
        }
        Sample::Point(look) => marker(svg, look, (middle, y), false, ""),
        Sample::Dot => row(
            svg,
            &format!("<circle class=\"stands-out\" cx=\"{middle:.1}\" cy=\"{y:.1}\" r=\"5\"/>"),
        ),
    }
}

/// The legend for the foot of a picture of this width, and its height: as many columns as the longest name leaves room for.
pub(super) fn below(entries: &[(&str, Sample)], total: f64) -> (String, f64) {
    let mut svg = String::new();
    let longest = entries.iter().map(|(name, _)| width(name, SIZE)).fold(0.0, f64::max);
    if entries.is_empty() {
        return (svg, 0.0);
    }
    let column = (PIECE + 2.0 * GAP + longest + GAP).min(total - 2.0 * EDGE);
    let columns = (((total - 2.0 * EDGE) / column) as usize).clamp(1, entries.len());
    for (index, (name, kind)) in entries.iter().enumerate() {
        let x = EDGE + (index % columns) as f64 * column;
        let y = ROW * (0.5 + (index / columns) as f64);
        sample(&mut svg, *kind, (x, y));
        let room = column - PIECE - 2.0 * GAP;
        fitted(&mut svg, (x + PIECE + GAP, y + 4.5), "", name, (SIZE, room));
    }
    (svg, ROW * (entries.len().div_ceil(columns) as f64 + 0.5))
}

/// The legend as a list of a page, which wraps as the page is wide.
pub(super) fn list(entries: &[(&str, Sample)]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let item = |(name, kind): &(&str, Sample)| {
        let mut piece = String::new();
        sample(&mut piece, *kind, (0.0, ROW / 2.0));
        let name = super::escaped(name);
        format!(
            "<li><svg width=\"{PIECE}\" height=\"{ROW}\" viewBox=\"0 0 {PIECE} {ROW}\" aria-hidden=\"true\">\n{piece}</svg>{name}</li>\n"
        )
    };
    let items: String = entries.iter().map(item).collect();
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}

/// A line of text at the foot of a picture.
pub(super) fn caption(svg: &mut String, words: &str, (y, total): (f64, f64)) -> f64 {
    let mut line = String::new();
    let mut height = y;
    let mut lines = Vec::new();
    for word in words.split(' ') {
        let longer = if line.is_empty() {
            word.to_string()
        } else {
            format!("{line} {word}")
        };
        if !line.is_empty() && width(&longer, SIZE) > total - 2.0 * EDGE {
            lines.push(std::mem::replace(&mut line, word.to_string()));
        } else {
            line = longer;
        }
    }
    lines.push(line);
    for line in lines {
        height += ROW * 0.8;
        text(svg, (EDGE, height), "", &line);
    }
    height + ROW * 0.5 - y
}
