//! Charts as plain SVG text: no fonts to load, colors of their own for light and dark surroundings.
//!
//! ```text
//! lines, bands, bars, points -> Chart (axes, title) -> Figure (charts in a row, one legend) -> SVG file, or a piece of a page
//! ```
//!
//! What is drawn is the caller's to choose: `curves.svg` of a run and of a comparison, the figures of a report and of an analysis. What
//! holds for all of them is here: ticks at round numbers, texts that do not touch, a color for each kind of cell, words where there is
//! nothing to draw. `layout.rs` checks a picture by these rules.

mod draw;
pub mod layout;
mod legend;
mod look;
mod scale;
mod style;
mod svg;

pub use look::{Look, looks};
pub use scale::Scale;
pub use style::style;
pub use svg::escaped;
use svg::row;

/// Lines of more points have no markers and no pattern: they would lie upon themselves.
const THIN: usize = 400;

/// A line: its name, and its points. A line without a name stands in no legend.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend; may be empty.
    pub name: String,
    /// Color and pattern.
    pub look: Look,
    /// (x, y) in the units of the axes.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    fn is_thin(&self) -> bool {
        self.points.len() > THIN
    }
}

/// A region between two lines: place, lower value, upper value.
#[derive(Clone, Debug)]
pub struct Band {
    /// Color.
    pub look: Look,
    /// (x, lower y, upper y).
    pub points: Vec<(f64, f64, f64)>,
}

/// A bar of a histogram, from the axis upwards.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Left end on the axis.
    pub from: f64,
    /// Right end.
    pub to: f64,
    /// Upper end; the lower one is 0.
    pub height: f64,
}

/// A point with a name.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name, written beside it.
    pub name: String,
    /// Color and shape.
    pub look: Look,
    /// (x, y).
    pub place: (f64, f64),
    /// Hollow points are told from full ones without a color.
    pub hollow: bool,
}

/// A point that stands out from all lines.
#[derive(Clone, Debug)]
pub struct Dot {
    /// Its name in the legend.
    pub name: String,
    /// (x, y).
    pub place: (f64, f64),
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it measures, with the unit.
    pub title: String,
    /// Its ends, and how values lie between them.
    pub scale: Scale,
    /// What the whole numbers from 0 on are called, in the place of ticks; only of a vertical axis.
    pub names: Vec<String>,
}

impl Side {
    /// An axis with a title.
    pub fn new(title: impl Into<String>, scale: Scale) -> Self {
        Side {
            title: title.into(),
            scale,
            names: Vec::new(),
        }
    }
}

/// One coordinate system.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub across: Side,
    /// The vertical axis. Its title is below the chart's.
    pub up: Side,
    /// Drawn first, under everything else.
    pub bands: Vec<Band>,
    /// A histogram.
    pub bars: Vec<Bar>,
    /// Lines, the first one lowest.
    pub lines: Vec<Line>,
    /// Points with names.
    pub points: Vec<Point>,
    /// Drawn last, on everything else.
    pub dots: Vec<Dot>,
    /// A place of the axis to point out, with its name.
    pub best: Option<(f64, String)>,
}

impl Chart {
    /// A chart with nothing in it.
    pub fn new(title: impl Into<String>, across: Side, up: Side) -> Self {
        Chart {
            title: title.into(),
            across,
            up,
            bands: Vec::new(),
            bars: Vec::new(),
            lines: Vec::new(),
            points: Vec::new(),
            dots: Vec::new(),
            best: None,
        }
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let lines = self.lines.iter().flat_map(|line| &line.points).any(finite);
        let points = self.points.iter().any(|point| finite(&point.place));
        let dots = self.dots.iter().any(|dot| finite(&dot.place));
        !lines && !points && !dots && self.bars.iter().all(|bar| bar.height == 0.0)
    }
}

/// Width and height of the charts of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Two stand beside each other on a page.
    Wide,
    /// Three do, and a unit is as long upwards as across.
    Square,
}

impl Shape {
    fn size(self) -> (f64, f64) {
        match self {
            Shape::Wide => (440.0, 304.0),
            Shape::Square => (340.0, 382.0),
        }
    }

    fn columns(self) -> usize {
        match self {
            Shape::Wide => 2,
            Shape::Square => 3,
        }
    }
}

/// Charts that belong together, and share a legend.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows, for those who cannot see it.
    pub label: String,
    /// From left to right, then down.
    pub charts: Vec<Chart>,
    /// The size of each chart.
    pub shape: Shape,
    /// What it says, in words.
    pub caption: Option<String>,
}

impl Figure {
    /// Wide charts without a caption.
    pub fn new(label: impl Into<String>, charts: Vec<Chart>) -> Self {
        Figure {
            label: label.into(),
            charts,
            shape: Shape::Wide,
            caption: None,
        }
    }

    /// A picture that carries its style.
    pub fn svg(&self) -> String {
        let (wide, high) = self.shape.size();
        let columns = self.shape.columns().clamp(1, self.charts.len().max(1));
        let (width, rows) = (wide * columns as f64, self.charts.len().div_ceil(columns));
        let top = high * rows as f64;
        let (legend, legend_height) = legend::below(&legend::entries(&self.charts), width);
        let mut foot = String::new();
        let mut bottom = top + legend_height;
        if let Some(words) = &self.caption {
            bottom += legend::caption(&mut foot, words, (bottom, width));
        }
        let style = format!("<style>{}</style>\n", style());
        let mut svg = opening(&self.label, (width, bottom), &style);
        for (index, chart) in self.charts.iter().enumerate() {
            let (x, y) = (wide * (index % columns) as f64, high * (index / columns) as f64);
            row(&mut svg, &format!("<g transform=\"translate({x} {y})\">"));
            draw::draw(&mut svg, chart, self.shape);
            row(&mut svg, "</g>");
        }
        if !legend.is_empty() {
            row(&mut svg, &format!("<g transform=\"translate(0 {top})\">\n{legend}</g>"));
        }
        svg + &foot + "</svg>\n"
    }

    /// A piece of a page that has the [`style`]: each chart by itself, so that they stand below each other on a phone, and one legend.
    pub fn html(&self) -> String {
        let charts: String = self.charts.iter().map(|chart| self.piece(chart)).collect();
        let class = match (self.charts.len(), self.shape) {
            (1, _) => "charts one",
            (_, Shape::Wide) => "charts two",
            (_, Shape::Square) => "charts three",
        };
        let legend = legend::list(&legend::entries(&self.charts));
        let caption = self.caption.as_ref();
        let caption = caption.map_or_else(String::new, |words| {
            format!("<figcaption>{}</figcaption>\n", escaped(words))
        });
        format!("<figure class=\"figure\">\n<div class=\"{class}\">\n{charts}</div>\n{legend}{caption}</figure>\n")
    }

    fn piece(&self, chart: &Chart) -> String {
        let label = format!("{}: {}", self.label, chart.title);
        let mut svg = opening(&label, self.shape.size(), "");
        draw::draw(&mut svg, chart, self.shape);
        svg + "</svg>\n"
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn side(title: &str, scale: Scale) -> Side {
        Side::new(title, scale)
    }

    fn line(name: &str, look: Look, values: &[f64]) -> Line {
        let points = values.iter().enumerate();
        Line {
            name: name.to_string(),
            look,
            points: points.map(|(index, &value)| (1.0 + index as f64, value)).collect(),
        }
    }

    fn chart(lines: Vec<Line>) -> Chart {
        let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        let mut chart = Chart::new(
            "A title",
            side("epoch", Scale::Whole(1.0, 40.0)),
            side("loss", Scale::losses(values())),
        );
        chart.lines = lines;
        chart
    }

    #[test]
    fn many_lines_with_long_names_in_two_charts_keep_the_layout() {
        let values: Vec<f64> = (0..40).map(|index| 0.063 + 1e-4 * f64::from(index)).collect();
        let lines = || {
            let names = (0..15).map(|index| format!("a-very-long-name-of-a-row-in-a-comparison-{index}"));
            names
                .enumerate()
                .map(|(index, name)| line(&name, Look::new(index, 0), &values))
                .collect()
        };
        let mut figure = Figure::new("x", vec![chart(lines()), chart(lines())]);
        figure.caption = Some("A sentence that says what is seen, and goes on and on and on, ".repeat(4));
        figure.charts[0].best = Some((38.0, "best: epoch 38".to_string()));
        layout::check(&figure.svg());
        layout::check_page(&figure.html());
        for index in 0..15 {
            let name = format!("comparison-{index}</li>");
            assert_eq!(figure.html().matches(&name).count(), 1, "one legend for both");
        }
    }

    #[test]
    fn any_numbers_keep_the_layout() {
        for values in [
            &[0.063; 9][..],
            &[1e-12, 3e-12],
            &[1e9, 2e12],
            &[5.0],
            &[],
            &[f64::NAN, f64::INFINITY],
            &[2.0, 1.0, 0.5, 11431.0],
            &[-123456.7, 123456.7],
        ] {
            let figure = Figure::new("x", vec![chart(vec![line("a", Look::new(0, 0), values)])]);
            let svg = figure.svg();
            layout::check(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let finite = values.iter().any(|value| value.is_finite());
            assert_eq!(svg.contains(">none found<"), !finite, "{values:?}");
            assert_eq!(svg.contains("class=\"grid\""), finite, "no grid around nothing");
        }
    }

    #[test]
    fn names_are_text_and_no_markup() {
        let evil = "<script>&\"";
        let mut chart = chart(vec![
            line(evil, Look::new(0, 0), &[0.5]),
            line("b", Look::new(1, 0), &[0.5]),
        ]);
        chart.title = evil.to_string();
        chart.dots = vec![Dot {
            name: evil.to_string(),
            place: (1.0, 0.5),
        }];
        chart.best = Some((1.0, evil.to_string()));
        let figure = Figure::new(evil, vec![chart]);
        for text in [figure.svg(), figure.html()] {
            assert!(!text.contains("<script"), "{text}");
            assert!(text.contains("&lt;script&gt;&amp;&quot;"), "{text}");
        }
    }

    #[test]
    fn the_legend_has_the_names_that_are_seen() {
        let look = Look::new(0, 0);
        let mut chart = chart(vec![line("", look, &[0.5, 0.6]), line("nowhere", look, &[])]);
        assert!(
            !Figure::new("x", vec![chart.clone()])
                .html()
                .contains("class=\"legend\"")
        );
        chart.dots.push(Dot {
            name: "as trained".to_string(),
            place: (1.0, 0.5),
        });
        assert!(Figure::new("x", vec![chart]).html().contains("as trained</li>"));
    }
}
