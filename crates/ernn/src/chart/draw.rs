//! One coordinate system: title, axes, grid, bands, bars, lines, points.

use super::look::MARKERS;
use super::scale::Tick;
use super::svg::{ANCHOR_END, ANCHOR_MIDDLE, SIZE, TITLE_SIZE, escaped, fitted, row, shortened, text, width};
use super::{Chart, Line, Look, Shape};

const RIGHT: f64 = 18.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 46.0;
/// Distance between the names of ticks, across and upwards.
const ACROSS_GAP: f64 = 10.0;
const UP_GAP: f64 = 24.0;
/// Markers of a line, beside that of its end.
const MARKED: usize = 4;

/// The place of the axes in the picture.
struct Frame<'a> {
    chart: &'a Chart,
    left: f64,
    right: f64,
    bottom: f64,
    up: Vec<Tick>,
}

/// Draws a chart whose corner is at 0.
pub(super) fn draw(svg: &mut String, chart: &Chart, shape: Shape) {
    let (total, height) = shape.size();
    let mut bottom = height - BOTTOM;
    let pitch = |ticks: &[Tick]| {
        let places = ticks
            .iter()
            .map(|tick| (bottom - TOP) * chart.up.scale.share(tick.value));
        apart(places, |_| UP_GAP)
    };
    let up = match chart.up.names.is_empty() {
        true => chart.up.scale.ticks(pitch),
        false => named(&chart.up.names, bottom - TOP),
    };
    let widest = up.iter().map(|tick| width(&tick.name, SIZE)).fold(24.0, f64::max);
    let (left, right) = (16.0 + widest, total - RIGHT);
    if shape == Shape::Square {
        bottom = TOP + (right - left);
    }
    let frame = Frame {
        chart,
        left,
        right,
        bottom,
        up,
    };
    let room = total - 16.0 - RIGHT;
    fitted(svg, (16.0, 22.0), " class=\"title\"", &chart.title, (TITLE_SIZE, room));
    if !chart.up.title.is_empty() {
        fitted(svg, (16.0, 41.0), " class=\"soft\"", &chart.up.title, (SIZE, room));
    }
    if chart.is_empty() {
        frame.nothing(svg);
        return;
    }
    frame.axes(svg);
    frame.areas(svg);
    for (index, line) in chart.lines.iter().enumerate() {
        frame.line(svg, line, index);
    }
    frame.points(svg);
}

/// Room for a name at the left.
const NAME: f64 = 96.0;

/// Names from 0 on, every so many of them as there is room for.
fn named(names: &[String], height: f64) -> Vec<Tick> {
    let fit = (height / UP_GAP).floor().max(1.0);
    let stride = ((names.len().saturating_sub(1)) as f64 / fit).ceil().max(1.0) as usize;
    let tick = |(value, name): (usize, &String)| Tick {
        value: value as f64,
        name: shortened(name, SIZE, NAME),
    };
    names.iter().enumerate().step_by(stride).map(tick).collect()
}

/// Whether the places of ticks are as far from each other as their names ask for.
fn apart(places: impl Iterator<Item = f64>, needed: impl Fn(usize) -> f64) -> bool {
    let places: Vec<f64> = places.collect();
    let pairs = places.windows(2).enumerate();
    pairs
        .into_iter()
        .all(|(index, pair)| pair[1] - pair[0] >= needed(index))
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.chart.across.scale.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - TOP) * self.chart.up.scale.share(value)
    }

    /// The middle of the axes.
    fn center(&self) -> f64 {
        (self.left + self.right) / 2.0
    }

    /// A frame without a grid, and words.
    fn nothing(&self, svg: &mut String) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        row(
            svg,
            &format!("<line class=\"axis\" x1=\"{left:.1}\" y1=\"{bottom}\" x2=\"{right:.1}\" y2=\"{bottom}\"/>"),
        );
        let middle = (TOP + bottom) / 2.0;
        text(svg, (self.center(), middle), ANCHOR_MIDDLE, "none found");
    }

    fn axes(&self, svg: &mut String) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        for tick in &self.up {
            let y = self.y(tick.value);
            row(
                svg,
                &format!("<line class=\"grid\" x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>"),
            );
            let attributes = format!(" class=\"tick up\"{ANCHOR_END}");
            text(svg, (left - 8.0, y + 4.5), &attributes, &tick.name);
        }
        for tick in self.across() {
            let x = self.x(tick.value);
            row(
                svg,
                &format!("<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"),
            );
            let attributes = format!(" class=\"tick across\"{ANCHOR_MIDDLE}");
            text(svg, (x, bottom + 19.0), &attributes, &tick.name);
        }
        row(
            svg,
            &format!("<line class=\"axis\" x1=\"{left:.1}\" y1=\"{bottom}\" x2=\"{right:.1}\" y2=\"{bottom}\"/>"),
        );
        let attributes = format!(" class=\"soft\"{ANCHOR_MIDDLE}");
        let room = 2.0 * (right + RIGHT - self.center());
        fitted(
            svg,
            (self.center(), bottom + 37.0),
            &attributes,
            &self.chart.across.title,
            (SIZE, room),
        );
    }

    /// Ticks whose names neither touch each other nor leave the picture.
    fn across(&self) -> Vec<Tick> {
        let fit = |ticks: &[Tick]| {
            let widths: Vec<f64> = ticks.iter().map(|tick| width(&tick.name, SIZE)).collect();
            let needed = |index: usize| (widths[index] + widths[index + 1]) / 2.0 + ACROSS_GAP;
            let inside = ticks
                .iter()
                .zip(&widths)
                .all(|(tick, width)| self.x(tick.value) + width / 2.0 < self.right + RIGHT);
            inside && apart(ticks.iter().map(|tick| self.x(tick.value)), needed)
        };
        self.chart.across.scale.ticks(fit)
    }

    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let places = finite.map(|(x, y)| format!("{:.1},{:.1}", self.x(x), self.y(y)));
        places.collect::<Vec<_>>().join(" ")
    }

    /// Bars and bands, which lie under the lines.
    fn areas(&self, svg: &mut String) {
        for bar in &self.chart.bars {
            let (left, right, top) = (self.x(bar.from), self.x(bar.to), self.y(bar.height));
            let (width, height) = ((right - left).max(0.5), (self.bottom - top).max(0.0));
            row(
                svg,
                &format!(
                    "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
                ),
            );
        }
        for band in &self.chart.bands {
            let upper = band.points.iter().map(|&(x, _, high)| (x, high));
            let lower = band.points.iter().rev().map(|&(x, low, _)| (x, low));
            let path = self.path(upper.chain(lower));
            row(
                svg,
                &format!("<polygon class=\"band f{}\" points=\"{path}\"/>", band.look.color),
            );
        }
    }

    fn line(&self, svg: &mut String, line: &Line, index: usize) {
        let finite = line.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let points: Vec<(f64, f64)> = finite.copied().collect();
        let thin = line.is_thin();
        if points.len() > 1 {
            let (path, name) = (self.path(points.iter().copied()), escaped(&line.name));
            let (dash, thin) = if thin { (0, " thin") } else { (line.look.dash, "") };
            let class = format!("line c{} d{dash}{thin}", line.look.color);
            row(
                svg,
                &format!("<polyline class=\"{class}\" points=\"{path}\"><title>{name}</title></polyline>"),
            );
        }
        let marked = if thin { Vec::new() } else { marked(points.len(), index) };
        for place in marked {
            let (x, y) = points[place];
            marker(svg, line.look, (self.x(x), self.y(y)), false, &line.name);
        }
    }

    /// The height of a label between two places, where the fewest points of lines are.
    fn free_height(&self, left: f64, right: f64) -> f64 {
        let points = self.chart.lines.iter().flat_map(|line| &line.points);
        let places = points.map(|&(x, y)| (self.x(x), self.y(y)));
        let near: Vec<f64> = places
            .filter(|(x, _)| (left..=right).contains(x))
            .map(|(_, y)| y)
            .collect();
        let heights = LABEL_HEIGHTS.map(|share| TOP + 12.0 + share * (self.bottom - TOP - 18.0));
        let covered = |height: f64| {
            near.iter()
                .filter(|y| (height - 16.0..height + 8.0).contains(*y))
                .count()
        };
        heights
            .into_iter()
            .min_by_key(|height| covered(*height))
            .unwrap_or(TOP + 12.0)
    }

    /// Points, dots that stand out, and the line that says which is the best.
    fn points(&self, svg: &mut String) {
        if let Some((place, name)) = &self.chart.best {
            let x = self.x(*place);
            row(
                svg,
                &format!(
                    "<line class=\"mark\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{:.1}\"/>",
                    self.bottom
                ),
            );
            let over = x + 6.0 + width(name, SIZE) > self.right + RIGHT - 4.0;
            let (x, anchor) = if over { (x - 6.0, ANCHOR_END) } else { (x + 6.0, "") };
            let wide = width(name, SIZE);
            let left = if over { x - wide } else { x };
            let y = self.free_height(left, left + wide);
            text(svg, (x, y), &format!(" class=\"label\"{anchor}"), name);
        }
        for point in &self.chart.points {
            let (x, y) = point.place;
            let title = format!("{}: {}, {}", point.name, plain(x), plain(y));
            marker(svg, point.look, (self.x(x), self.y(y)), point.hollow, &title);
        }
        for dot in &self.chart.dots {
            let (x, y, name) = (self.x(dot.place.0), self.y(dot.place.1), escaped(&dot.name));
            row(
                svg,
                &format!(
                    "<circle class=\"stands-out\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"><title>{name}</title></circle>"
                ),
            );
        }
    }
}

/// Heights of the label of the best place, as parts of the way down: the first that the lines leave free.
const LABEL_HEIGHTS: [f64; 4] = [0.0, 1.0, 0.5, 0.25];

/// The points of a line that have markers: its end, and some on the way, which differ from line to line.
fn marked(count: usize, index: usize) -> Vec<usize> {
    if count <= 2 {
        return (0..count).collect();
    }
    let offset = (0.5 + 0.382 * index as f64).fract();
    let some = (0..MARKED).map(|place| ((place as f64 + offset) * (count - 1) as f64 / MARKED as f64) as usize);
    let mut all: Vec<usize> = some.chain([count - 1]).collect();
    all.dedup();
    all
}

/// The marker of a look; hollow ones are told from full ones without a color.
pub(super) fn marker(svg: &mut String, look: Look, (x, y): (f64, f64), hollow: bool, name: &str) {
    let (shape, color) = (MARKERS[look.marker], look.color);
    let class = if hollow {
        format!("hollow c{color}")
    } else {
        format!("marker f{color}")
    };
    let title = match name {
        "" => String::new(),
        name => format!("<title>{}</title>", escaped(name)),
    };
    row(
        svg,
        &format!("<path class=\"{class}\" transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\">{title}</path>"),
    );
}

/// Three decimals at most.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
