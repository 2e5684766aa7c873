//! Lines over epochs or seconds, points, and charts with free axes, as plain SVG text: no fonts to load, colors of its own for light and dark surroundings.
//!
//! `curves.svg` of a run and of a comparison and the figures of a report are drawn here; what is drawn is theirs to choose. A report
//! holds many drawings: it has the style once, and its drawings come without it.

mod chart;
mod frame;
mod legend;
mod scatter;

use std::fmt::Write;

pub(crate) use chart::{Band, Bar, Chart, Scale, Side, charts};
use frame::Frame;
use legend::below;
pub(crate) use scatter::{Point, scatter};

use crate::names;

/// Size of a panel, and of the margins around its plot area.
const HEIGHT: f64 = 360.0;
const PANEL: f64 = 480.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 44.0;

/// Line colors on light and on dark paper. Any two are at least 12 apart in CIELAB for normal, protan, deutan and tritan eyes
/// (simulated after Machado, Oliveira and Fernandes 2009). Variants that share a color differ in the pattern of their line.
const COLORS: [(&str, &str); 8] = [
    ("#0b63ce", "#6cb0ff"),
    ("#c4480a", "#ffa260"),
    ("#00805e", "#3fd0a3"),
    ("#b0408a", "#f39bd2"),
    ("#24292f", "#e6edf3"),
    ("#7d08fe", "#6240fb"),
    ("#c2b974", "#71596d"),
    ("#13c6f7", "#af4430"),
];

/// Patterns of a line.
const DASHES: [&str; 4] = ["none", "9 4", "2 4", "12 4 2 4"];

const STYLE: &str = "
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .paper { fill: #ffffff } .grid { stroke: #d8dee4 } .axis { stroke: #57606a }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round }
  .mark { stroke: #57606a; stroke-dasharray: 4 4 } .band { opacity: .18 } .thin { stroke-width: 1 }
";
const DARK_STYLE: &str = "
  text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d } .axis, .mark { stroke: #9198a1 }
";

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    color: usize,
    dash: usize,
}

impl Look {
    /// The variant of a kind: kinds differ in color, variants in the pattern of the line. Beyond the last color the kinds go
    /// on with other patterns.
    pub fn new(kind: usize, variant: usize) -> Self {
        Look {
            color: kind % COLORS.len(),
            dash: (variant + kind / COLORS.len()) % DASHES.len(),
        }
    }

    /// All looks, from that of [`Look::new`] on: other patterns of the color first, then other colors.
    pub fn all(kind: usize, variant: usize) -> impl Iterator<Item = Look> + Clone {
        let (colors, dashes) = (0..COLORS.len(), 0..DASHES.len());
        colors.flat_map(move |color| dashes.clone().map(move |dash| Look::new(kind + color, variant + dash)))
    }
}

/// One line of a panel: its name, and a value for each epoch that has one.
pub(crate) struct Line {
    pub name: String,
    pub look: Look,
    pub points: Vec<(f64, f64)>,
}

/// What runs from left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Axis {
    /// From 1 on.
    #[default]
    Epochs,
    /// From 0 on.
    Seconds,
}

impl Axis {
    fn first(self) -> f64 {
        match self {
            Axis::Epochs => 1.0,
            Axis::Seconds => 0.0,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Axis::Epochs => "epoch",
            Axis::Seconds => "seconds of training",
        }
    }
}

/// One coordinate system.
pub(crate) struct Panel<'a> {
    pub title: &'a str,
    pub axis: Axis,
    /// Lowest and highest value.
    pub range: (f64, f64),
    pub lines: Vec<Line>,
    /// An epoch to point out, with what it is.
    pub mark: Option<(f64, &'static str)>,
}

/// Where the lines' names stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Legend {
    /// In the line of each title, with the last values: for very few lines.
    Titles,
    /// Once below both panels, which have lines of the same names.
    Below,
}

/// From 0 to the highest value.
pub(crate) fn from_zero(lines: &[Line]) -> (f64, f64) {
    (0.0, values(lines).fold(0.0, f64::max).max(1e-9))
}

/// Up to 1, from a round number below the lowest value: the empty room below it would cost the differences above it.
pub(crate) fn share(lines: &[Line]) -> (f64, f64) {
    let lowest = values(lines).fold(1.0, f64::min);
    let floors = [0.9, 0.8, 0.6, 0.5, 0.4, 0.2];
    (floors.into_iter().find(|floor| *floor <= lowest).unwrap_or(0.0), 1.0)
}

/// From a round number below the lowest value to one above the highest.
pub(crate) fn around(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return (0.0, 1.0);
    }
    let step = frame::step((high - low).max(1e-6 * high.abs()).max(1e-9));
    let floor = (low / step - 1e-9).floor() * step;
    (floor, ((high / step + 1e-9).ceil() * step).max(floor + step))
}

pub(crate) fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.points.iter().map(|point| point.1))
}

/// The whole picture. `label` says to those who cannot see it what it is.
pub(crate) fn draw(label: &str, panels: &[Panel], legend: Legend) -> String {
    let style = format!("<style>{}</style>\n", style());
    draw_inside(label, panels, legend, &style)
}

/// The picture for a page that has the [`style`].
pub(crate) fn draw_inline(label: &str, panels: &[Panel], legend: Legend) -> String {
    draw_inside(label, panels, legend, "")
}

fn draw_inside(label: &str, panels: &[Panel], legend: Legend, style: &str) -> String {
    let width = PANEL * panels.len() as f64;
    let names = match legend {
        Legend::Titles => &[][..],
        Legend::Below => &panels[0].lines[..],
    };
    let (below, legend_height) = below(names, width);
    let mut svg = opening(label, (width, HEIGHT + legend_height), style);
    for (index, panel) in panels.iter().enumerate() {
        let frame = Frame {
            left: PANEL * index as f64,
            first: panel.axis.first(),
            last: last(panels),
            range: panel.range,
        };
        frame.draw(&mut svg, panel, legend);
    }
    svg + &below + "</svg>\n"
}

/// The end of the axis, the same for all panels.
fn last(panels: &[Panel]) -> f64 {
    let lines = panels.iter().flat_map(|panel| &panel.lines);
    let points = lines.flat_map(|line| &line.points);
    let least = panels.iter().map(|panel| panel.axis.first()).fold(0.0, f64::max);
    points.fold(least, |last, point| point.0.max(last))
}

/// The beginning of a drawing: its size, its style, its paper.
fn opening(label: &str, (width, height): (f64, f64), style: &str) -> String {
    let label = escaped(label);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{label}\">\n{style}\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n"
    )
}

/// Text as it may stand in XML and HTML, in attributes, too; what would command a terminal or a page is written out.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in names::lines(text).chars() {
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

/// Plain colors first, those for dark surroundings over them.
pub(crate) fn style() -> String {
    let mut dark = DARK_STYLE.to_string();
    let mut style = STYLE.to_string();
    for (index, (on_light, on_dark)) in COLORS.iter().enumerate() {
        let rule = |color| format!("  .c{index} {{ stroke: {color} }} .f{index} {{ fill: {color} }}\n");
        style += &rule(on_light);
        dark += &rule(on_dark);
    }
    for (index, dash) in DASHES.iter().enumerate() {
        style += &format!("  .d{index} {{ stroke-dasharray: {dash} }}\n");
    }
    format!("{style}  @media screen and (prefers-color-scheme: dark) {{{dark}  }}\n")
}

const ANCHOR_END: &str = " text-anchor=\"end\"";
const ANCHOR_MIDDLE: &str = " text-anchor=\"middle\"";

fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, text: &str) {
    row(
        svg,
        &format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{}</text>", escaped(text)),
    );
}

fn row(svg: &mut String, text: &str) {
    writeln!(svg, "{text}").expect("writing to a string");
}

#[cfg(test)]
mod tests {
    use super::frame::ticks;
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_top() {
        assert_eq!(ticks(0.0, 1.0).len(), 6);
        assert_eq!(ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 2.3), [0.0, 0.5, 1.0, 1.5, 2.0]);
    }

    fn line(name: &str, look: Look, values: &[f64]) -> Line {
        let points = values
            .iter()
            .enumerate()
            .map(|(index, &value)| (1.0 + index as f64, value));
        Line {
            name: name.to_string(),
            look,
            points: points.collect(),
        }
    }

    #[test]
    fn ranges_hold_all_values_and_end_at_ticks() {
        let lines = |values: &[f64]| vec![line("x", Look::new(0, 0), values)];
        for (lowest, floor) in [(0.95, 0.9), (0.9, 0.9), (0.7, 0.6), (0.55, 0.5), (0.3, 0.2), (0.1, 0.0)] {
            let range = share(&lines(&[1.0, lowest]));
            assert_eq!(range, (floor, 1.0));
            assert!((ticks(range.0, range.1).last().unwrap() - 1.0).abs() < 1e-9, "{floor}");
        }
        assert_eq!(from_zero(&lines(&[3.0, 7.0])), (0.0, 7.0));
        assert!(from_zero(&lines(&[])).1 > 0.0);
    }

    #[test]
    fn a_range_around_values_ends_at_ticks() {
        let around = |values: &[f64]| around(values.iter().copied());
        assert_eq!(around(&[91.3, 94.8]), (91.0, 95.0));
        assert_eq!(around(&[115.0, 480.0]), (100.0, 500.0));
        assert_eq!(around(&[]), (0.0, 1.0));
        for values in [&[5.0][..], &[0.0], &[-3.0, -3.0], &[1e-12, 1e12]] {
            let (low, high) = around(values);
            assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}");
            assert!(
                values.iter().all(|value| (low..=high).contains(value)),
                "{values:?}: {low} {high}"
            );
        }
    }

    #[test]
    fn names_are_text_and_no_markup() {
        let lines = || vec![line("<script>&\"", Look::new(0, 0), &[0.5])];
        let panel = Panel {
            title: "Loss",
            axis: Axis::Seconds,
            range: (0.0, 1.0),
            lines: lines(),
            mark: None,
        };
        let svg = draw("\"><b>", &[panel], Legend::Below);
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert_eq!(svg.matches("&lt;script&gt;&amp;&quot;").count(), 2);
    }

    #[test]
    fn no_two_of_many_lines_look_alike() {
        let kinds = 0..COLORS.len();
        let looks: Vec<Look> = kinds
            .flat_map(|kind| (0..DASHES.len()).map(move |variant| Look::new(kind, variant)))
            .collect();
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "{look:?}");
        }
        assert_ne!(Look::new(0, 0), Look::new(COLORS.len(), 0));
    }

    #[test]
    fn a_legend_below_names_every_line_inside_the_drawing() {
        let lines = || (0..15).map(|index| line(&format!("antisymmetric-{index}"), Look::new(index, 0), &[0.5, 0.6]));
        let panel = |title| Panel {
            title,
            axis: Axis::Epochs,
            range: (0.0, 1.0),
            lines: lines().collect(),
            mark: None,
        };
        let svg = draw("x", &[panel("Loss"), panel("Accuracy")], Legend::Below);
        for index in 0..15 {
            let name = format!(">antisymmetric-{index}</text>");
            assert_eq!(svg.matches(&name).count(), 1, "{index}");
        }
        let (_, height) = below(&panel("Loss").lines, 2.0 * PANEL);
        assert_eq!(height, 4.5 * legend::ROW, "four columns");
        assert!(svg.contains(&format!("height=\"{}\"", HEIGHT + height)));
    }
}
