//! One coordinate system: title, axes, grid and lines.

use super::legend::last_values;
use super::{
    ANCHOR_END, ANCHOR_MIDDLE, Axis, BOTTOM, HEIGHT, LEFT, Legend, Line, Look, PANEL, Panel, RIGHT, TOP, escaped, row,
    text,
};

/// A panel's place in the drawing.
pub(super) struct Frame {
    pub left: f64,
    pub first: f64,
    pub last: f64,
    pub range: (f64, f64),
}

impl Frame {
    fn x(&self, place: f64) -> f64 {
        // A single epoch stands at the left end; seconds may be fractions.
        let length = match self.last - self.first {
            length if length > 0.0 => length,
            _ => 1.0,
        };
        self.left + LEFT + (PANEL - LEFT - RIGHT) * (place - self.first) / length
    }

    pub fn y(&self, value: f64) -> f64 {
        let (floor, ceiling) = self.range;
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - floor) / (ceiling - floor)
    }

    /// Left and right end of the axis.
    fn ends(&self) -> (f64, f64) {
        (self.left + LEFT, self.left + PANEL - RIGHT)
    }

    pub fn draw(&self, svg: &mut String, panel: &Panel, legend: Legend) {
        let (start, end) = self.ends();
        text(svg, (start, 26.0), " class=\"title\"", panel.title);
        if legend == Legend::Titles {
            last_values(svg, &panel.lines, end);
        }
        self.values_axis(svg);
        self.horizontal_axis(svg, panel.axis);
        if let Some((epoch, name)) = panel.mark {
            let (x, top, bottom) = (self.x(epoch), self.y(self.range.1), self.y(self.range.0));
            let place = format!("x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"");
            row(
                svg,
                &format!("<line class=\"mark\" {place}><title>{name}: {epoch}</title></line>"),
            );
        }
        panel.lines.iter().for_each(|line| self.line(svg, line));
    }

    pub fn values_axis(&self, svg: &mut String) {
        let (floor, ceiling) = self.range;
        let (start, end) = self.ends();
        for value in ticks(floor, ceiling) {
            let (y, class) = (self.y(value), if value == floor { "axis" } else { "grid" });
            let place = format!("x1=\"{start:.1}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\"");
            row(svg, &format!("<line class=\"{class}\" {place}/>"));
            text(svg, (start - 8.0, y + 4.5), ANCHOR_END, &trimmed(value));
        }
    }

    fn horizontal_axis(&self, svg: &mut String, axis: Axis) {
        let shown = |place: &f64| axis == Axis::Seconds || (*place > 1.0 && place.fract() == 0.0);
        let round = ticks(0.0, self.last.max(1e-9)).into_iter().filter(shown);
        let first = (axis == Axis::Epochs).then_some(1.0);
        for place in first.into_iter().chain(round) {
            let at = (self.x(place), HEIGHT - BOTTOM + 18.0);
            text(svg, at, ANCHOR_MIDDLE, &trimmed(place));
        }
        let (start, end) = self.ends();
        text(svg, ((start + end) / 2.0, HEIGHT - 8.0), ANCHOR_MIDDLE, axis.title());
    }

    fn line(&self, svg: &mut String, line: &Line) {
        let Look { color, dash } = line.look;
        let point = |&(epoch, value): &(f64, f64)| format!("{:.1},{:.1}", self.x(epoch), self.y(value));
        match &line.points[..] {
            [] => {}
            // A line through one point would not be seen.
            [(epoch, value)] => {
                let (x, y, name) = (self.x(*epoch), self.y(*value), escaped(&line.name));
                let place = format!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"");
                row(
                    svg,
                    &format!("<circle class=\"f{color}\" {place}><title>{name}</title></circle>"),
                );
            }
            points => {
                let path: Vec<String> = points.iter().map(point).collect();
                let (path, name) = (path.join(" "), escaped(&line.name));
                let class = format!("line c{color} d{dash}");
                row(
                    svg,
                    &format!("<polyline class=\"{class}\" points=\"{path}\"><title>{name}</title></polyline>"),
                );
            }
        }
    }
}

/// About five round numbers from `low`, which is one, to `high`.
pub(super) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let step = step(high - low);
    let count = ((high - low) / step + 1e-9).floor() as usize;
    (0..=count).map(|index| low + index as f64 * step).collect()
}

/// A round number, about a fifth of a length.
pub(super) fn step(length: f64) -> f64 {
    let raw = length / 5.0;
    let magnitude = 10f64.powf(raw.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude);
    round.into_iter().find(|step| *step >= raw * 0.999).unwrap_or(raw)
}

pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
