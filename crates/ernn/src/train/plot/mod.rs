//! Lines over epochs as plain SVG text: two panels, no fonts to load, colors of its own for light and dark surroundings.
//!
//! `curves.svg` of a run and of a comparison are drawn here; what is drawn is theirs to choose.

mod frame;
mod legend;

use std::fmt::Write;

use frame::Frame;
use legend::below;

/// Size of the drawing without the legend, and of the plot area in each of its two panels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
const PANEL: f64 = WIDTH / 2.0;
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
  .mark { stroke: #57606a; stroke-dasharray: 4 4 }
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

/// One coordinate system.
pub(crate) struct Panel {
    pub title: &'static str,
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

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.points.iter().map(|point| point.1))
}

/// The whole picture. `label` says to those who cannot see it what it is.
pub(crate) fn draw(label: &str, panels: &[Panel; 2], legend: Legend) -> String {
    let epochs = panels.iter().flat_map(|panel| &panel.lines);
    let last = epochs
        .flat_map(|line| &line.points)
        .fold(1.0, |last, point| point.0.max(last));
    let names = match legend {
        Legend::Titles => &[][..],
        Legend::Below => &panels[0].lines[..],
    };
    let (below, legend_height) = below(names);
    let height = HEIGHT + legend_height;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{label}\">\n<style>{}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n",
        style()
    );
    for (panel, left) in panels.iter().zip([0.0, PANEL]) {
        let frame = Frame {
            left,
            last,
            range: panel.range,
        };
        frame.draw(&mut svg, panel, legend);
    }
    svg + &below + "</svg>\n"
}

/// Plain colors first, those for dark surroundings over them.
fn style() -> String {
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
    format!("{style}  @media (prefers-color-scheme: dark) {{{dark}  }}\n")
}

const ANCHOR_END: &str = " text-anchor=\"end\"";
const ANCHOR_MIDDLE: &str = " text-anchor=\"middle\"";

fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, text: &str) {
    row(
        svg,
        &format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{text}</text>"),
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
            range: (0.0, 1.0),
            lines: lines().collect(),
            mark: None,
        };
        let svg = draw("x", &[panel("Loss"), panel("Accuracy")], Legend::Below);
        for index in 0..15 {
            let name = format!(">antisymmetric-{index}</text>");
            assert_eq!(svg.matches(&name).count(), 1, "{index}");
        }
        let (_, height) = below(&panel("Loss").lines);
        assert_eq!(height, 4.5 * legend::ROW, "four columns");
        assert!(svg.contains(&format!("height=\"{}\"", HEIGHT + height)));
    }
}
