//! Charts with two free axes, linear or logarithmic: lines, bands and bars, several charts in a grid.

use super::frame::step;
use super::legend::below;
use super::{
    ANCHOR_END, ANCHOR_MIDDLE, BOTTOM, HEIGHT, LEFT, Line, Look, PANEL, RIGHT, TOP, around, escaped, opening, row,
    style, text,
};

/// What an axis shows, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From, to.
    Linear(f64, f64),
    /// From, to, both above 0; values below are drawn at the lower end.
    Logarithmic(f64, f64),
}

impl Scale {
    /// A linear axis that holds all values.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let (low, high) = around(values.iter().copied());
        // Nothing is shown below 0 where nothing is there.
        let above = values.iter().all(|value| *value >= 0.0);
        Scale::Linear(if above { low.max(0.0) } else { low }, high)
    }

    /// A logarithmic axis of whole powers of ten that holds all values above `floor`.
    pub fn logarithmic(values: impl Iterator<Item = f64>, floor: f64) -> Self {
        let values = values.filter(|value| value.is_finite()).map(|value| value.max(floor));
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return Scale::Logarithmic(0.1, 10.0);
        }
        let low = low.log10().floor();
        Scale::Logarithmic(10f64.powf(low), 10f64.powf(high.log10().ceil().max(low + 1.0)))
    }

    /// Part of the way from the lower to the upper end.
    fn share(self, value: f64) -> f64 {
        match self {
            Scale::Linear(low, high) => (value - low) / (high - low),
            Scale::Logarithmic(low, high) => (value.max(low) / low).ln() / (high / low).ln(),
        }
    }

    /// Places of the grid with their names.
    fn ticks(self) -> Vec<(f64, String)> {
        match self {
            Scale::Linear(low, high) => {
                let step = step(high - low);
                let decimals = (-step.log10() + 1e-9).ceil().max(0.0) as usize;
                let first = (low / step - 1e-9).ceil();
                let count = ((high / step + 1e-9).floor() - first).max(0.0) as usize;
                let place = |index: usize| (first + index as f64) * step;
                (0..=count)
                    .map(|index| (place(index), format!("{:.decimals$}", place(index) + 0.0)))
                    .collect()
            }
            Scale::Logarithmic(low, high) => {
                let ends = (low.log10().floor() as i32, high.log10().ceil() as i32);
                let factors: &[f64] = if ends.1 - ends.0 > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let stride = ((ends.1 - ends.0) as usize).div_ceil(8).max(1);
                let powers = (ends.0..=ends.1).step_by(stride);
                let places = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
                let inside = places.filter(|place| (low * 0.999..=high * 1.001).contains(place));
                inside.map(|place| (place, power_name(place))).collect()
            }
        }
    }
}

/// `0.02`, `500`, `1e-6`.
fn power_name(value: f64) -> String {
    if (1e-3..1e5).contains(&value) {
        format!("{value}")
    } else {
        format!("{value:.0e}")
    }
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub title: &'a str,
    pub scale: Scale,
}

/// A region between two lines: place, lower value, upper value.
pub(crate) struct Band {
    pub look: Look,
    pub points: Vec<(f64, f64, f64)>,
}

/// A bar of a histogram, from the axis upwards.
pub(crate) struct Bar {
    pub from: f64,
    pub to: f64,
    pub height: f64,
}

/// One coordinate system.
pub(crate) struct Chart<'a> {
    pub title: String,
    pub across: Side<'a>,
    /// Its title stands behind the chart's.
    pub up: Side<'a>,
    pub bands: Vec<Band>,
    pub bars: Vec<Bar>,
    pub lines: Vec<Line>,
    /// Points to stand out, with their names.
    pub marks: Vec<(f64, f64, String)>,
}

impl Chart<'_> {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (across, up) = (self.across.scale.share(x), self.up.scale.share(y));
        (
            LEFT + (PANEL - LEFT - RIGHT) * across.clamp(-0.5, 1.5),
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up.clamp(-0.2, 1.1),
        )
    }

    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let places = finite.map(|point| self.place(point));
        places
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn draw(&self, svg: &mut String) {
        text(svg, (LEFT, 22.0), " class=\"title\"", &self.title);
        text(svg, (LEFT, 42.0), "", self.up.title);
        self.axes(svg);
        for bar in &self.bars {
            let ((left, top), (right, bottom)) = (self.place((bar.from, bar.height)), self.place((bar.to, 0.0)));
            let size = format!(
                "width=\"{:.1}\" height=\"{:.1}\"",
                (right - left).max(0.5),
                (bottom - top).max(0.0)
            );
            row(
                svg,
                &format!("<rect class=\"f0\" x=\"{left:.1}\" y=\"{top:.1}\" {size}/>"),
            );
        }
        for band in &self.bands {
            let upper = band.points.iter().map(|&(x, _, high)| (x, high));
            let lower = band.points.iter().rev().map(|&(x, low, _)| (x, low));
            let path = self.path(upper.chain(lower));
            row(
                svg,
                &format!("<polygon class=\"band f{}\" points=\"{path}\"/>", band.look.color),
            );
        }
        for line in &self.lines {
            let (path, name) = (self.path(line.points.iter().copied()), escaped(&line.name));
            // Lines of very many points would lie upon themselves.
            let thin = if line.points.len() > 400 { " thin" } else { "" };
            let class = format!("line c{} d{}{thin}", line.look.color, line.look.dash);
            row(
                svg,
                &format!("<polyline class=\"{class}\" points=\"{path}\"><title>{name}</title></polyline>"),
            );
        }
        for (x, y, name) in &self.marks {
            let (x, y) = self.place((*x, *y));
            let name = escaped(name);
            row(
                svg,
                &format!("<circle class=\"f4\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{name}</title></circle>"),
            );
        }
    }

    fn axes(&self, svg: &mut String) {
        let (left, right, bottom) = (LEFT, PANEL - RIGHT, HEIGHT - BOTTOM);
        for (value, name) in self.up.scale.ticks() {
            let y = bottom - (bottom - TOP) * self.up.scale.share(value);
            row(
                svg,
                &format!("<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>"),
            );
            text(svg, (left - 8.0, y + 4.5), ANCHOR_END, &name);
        }
        for (value, name) in self.across.scale.ticks() {
            let x = left + (right - left) * self.across.scale.share(value);
            row(
                svg,
                &format!("<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"),
            );
            text(svg, (x, bottom + 18.0), ANCHOR_MIDDLE, &name);
        }
        row(
            svg,
            &format!("<line class=\"axis\" x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>"),
        );
        text(
            svg,
            ((left + right) / 2.0, HEIGHT - 8.0),
            ANCHOR_MIDDLE,
            self.across.title,
        );
    }
}

/// Draws charts in rows of `columns`; the names of the lines of the first one stand below if they are several. `alone`: the drawing
/// carries its style, else it stands on a page that has it. `label` says to those who cannot see it what it is.
pub(crate) fn charts(label: &str, charts: &[Chart], columns: usize, alone: bool) -> String {
    let columns = columns.clamp(1, charts.len().max(1));
    let width = PANEL * columns as f64;
    let rows = charts.len().div_ceil(columns);
    let names = charts.first().map_or(&[][..], |chart| &chart.lines);
    let (legend, legend_height) = if names.len() > 1 {
        below(names, width)
    } else {
        Default::default()
    };
    let style = if alone {
        format!("<style>{}</style>\n", style())
    } else {
        String::new()
    };
    let mut svg = opening(label, (width, HEIGHT * rows as f64 + legend_height), &style);
    for (index, chart) in charts.iter().enumerate() {
        let (x, y) = (PANEL * (index % columns) as f64, HEIGHT * (index / columns) as f64);
        row(&mut svg, &format!("<g transform=\"translate({x} {y})\">"));
        chart.draw(&mut svg);
        row(&mut svg, "</g>");
    }
    if !legend.is_empty() {
        let y = HEIGHT * rows.saturating_sub(1) as f64;
        row(&mut svg, &format!("<g transform=\"translate(0 {y})\">{legend}</g>"));
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside() {
        assert_eq!(names(Scale::Linear(-0.3, 0.4)), ["-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(names(Scale::Linear(0.0, 784.0)), ["0", "200", "400", "600"]);
        assert_eq!(
            names(Scale::Logarithmic(1.0, 100.0)),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(
            names(Scale::Logarithmic(1e-6, 1.0)),
            ["1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1"]
        );
        assert!(names(Scale::Logarithmic(1e-300, 1e300)).len() < 12);
        assert_eq!(
            Scale::linear([0.0, 0.57].into_iter()),
            Scale::Linear(0.0, 0.6000000000000001)
        );
        assert_eq!(
            Scale::linear([-0.1, f64::NAN, 0.57].into_iter()),
            Scale::Linear(-0.2, 0.6000000000000001)
        );
    }

    #[test]
    fn a_logarithmic_axis_holds_its_values_and_stops_at_the_floor() {
        assert_eq!(
            Scale::logarithmic([0.02, 30.0].into_iter(), 1e-12),
            Scale::Logarithmic(0.01, 100.0)
        );
        let Scale::Logarithmic(low, high) = Scale::logarithmic([0.0, 0.5, f64::INFINITY].into_iter(), 1e-12) else {
            panic!("a logarithmic axis")
        };
        assert!((low / 1e-12 - 1.0).abs() < 1e-9 && high == 1.0, "{low} {high}");
        assert_eq!(
            Scale::logarithmic([1.0].into_iter(), 1e-12),
            Scale::Logarithmic(1.0, 10.0)
        );
    }

    #[test]
    fn what_is_no_number_is_left_out_and_names_are_no_markup() {
        let line = |name: &str| Line {
            name: name.to_string(),
            look: Look::new(0, 0),
            points: vec![(1.0, 0.5), (2.0, f64::NAN), (3.0, f64::INFINITY), (4.0, 0.0)],
        };
        let side = |title| Side {
            title,
            scale: Scale::Logarithmic(0.1, 10.0),
        };
        let chart = Chart {
            title: "<b>".to_string(),
            across: side("step"),
            up: side("value"),
            bands: vec![Band {
                look: Look::new(0, 0),
                points: vec![(1.0, f64::NAN, 2.0)],
            }],
            bars: Vec::new(),
            lines: vec![line("<script>"), line("b")],
            marks: vec![(1.0, 1.0, "start".to_string())],
        };
        let svg = charts("x", &[chart], 3, true);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<b>") && !svg.contains("<script"),
            "{svg}"
        );
        assert!(svg.contains(">b</text>"), "the legend names every line");
    }
}
