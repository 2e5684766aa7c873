//! Points with names: a size from left to right, on a logarithmic axis, and a value upwards. Models of one table differ in size by
//! factors.

use super::frame::{Frame, trimmed};
use super::{
    ANCHOR_END, ANCHOR_MIDDLE, BOTTOM, HEIGHT, LEFT, Look, PANEL, RIGHT, TOP, around, escaped, opening, row, text,
};

/// Height of a name, width of its letters, and its distance from the point.
const LETTERS: f64 = 14.0;
const LETTER: f64 = 7.5;
const GAP: f64 = 10.0;

/// A point.
pub(crate) struct Point {
    pub name: String,
    pub look: Look,
    /// Above 0.
    pub size: f64,
    pub value: f64,
    /// Hollow points are told from full ones without a color.
    pub hollow: bool,
}

/// Draws points for a page that has the style of drawings; `titles` are those of the value and of the size.
pub(crate) fn scatter(label: &str, titles: (&str, &str), points: &[Point]) -> String {
    let mut svg = opening(label, (PANEL, HEIGHT), "");
    let frame = Frame {
        left: 0.0,
        first: 0.0,
        last: 1.0,
        range: around(points.iter().map(|point| point.value)),
    };
    let sizes = Sizes::of(points);
    text(&mut svg, (LEFT, 26.0), " class=\"title\"", titles.0);
    frame.values_axis(&mut svg);
    for size in sizes.ticks() {
        text(
            &mut svg,
            (sizes.x(size), HEIGHT - BOTTOM + 18.0),
            ANCHOR_MIDDLE,
            &trimmed(size),
        );
    }
    text(
        &mut svg,
        ((LEFT + PANEL - RIGHT) / 2.0, HEIGHT - 8.0),
        ANCHOR_MIDDLE,
        titles.1,
    );
    for point in points {
        circle(&mut svg, point, (sizes.x(point.size), frame.y(point.value)));
    }
    names(&mut svg, points, &sizes, &frame);
    svg + "</svg>\n"
}

/// The logarithmic axis.
struct Sizes {
    low: f64,
    high: f64,
}

impl Sizes {
    /// From half the smallest size to twice the largest: names need room.
    fn of(points: &[Point]) -> Self {
        let sizes = points.iter().map(|point| point.size.max(1e-6));
        let (low, high) = sizes.fold((f64::INFINITY, 0.0_f64), |(low, high), size| {
            (low.min(size), high.max(size))
        });
        if low > high {
            return Sizes { low: 1.0, high: 100.0 };
        }
        Sizes {
            low: 0.7 * low,
            high: 2.0 * high,
        }
    }

    fn x(&self, size: f64) -> f64 {
        LEFT + (PANEL - LEFT - RIGHT) * (size.max(1e-6) / self.low).ln() / (self.high / self.low).ln()
    }

    /// 1, 2, 5 times powers of ten.
    fn ticks(&self) -> Vec<f64> {
        let powers = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        let all = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power)));
        all.filter(|size| (self.low..=self.high).contains(size)).collect()
    }
}

fn circle(svg: &mut String, point: &Point, (x, y): (f64, f64)) {
    let color = point.look.color;
    let class = if point.hollow {
        format!("line c{color}")
    } else {
        format!("f{color}")
    };
    let title = escaped(&format!(
        "{}: {}, {}",
        point.name,
        trimmed(point.size),
        trimmed(point.value)
    ));
    row(
        svg,
        &format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"><title>{title}</title></circle>"),
    );
}

/// The names of full points, moved downwards where they would lie on each other; at the right end they stand before their points.
fn names(svg: &mut String, points: &[Point], sizes: &Sizes, frame: &Frame) {
    let full = points.iter().filter(|point| !point.hollow);
    let mut places: Vec<(f64, f64, &Point)> = full
        .map(|point| (sizes.x(point.size), frame.y(point.value), point))
        .collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for (x, y, point) in places {
        let width = LETTER * point.name.chars().count() as f64;
        let before = x + GAP + width > PANEL;
        let start = if before { x - GAP - width } else { x + GAP };
        let meets = |&(left, right, height): &(f64, f64, f64), at: f64| {
            left < start + width && start < right && (height - at).abs() < LETTERS
        };
        let mut at = y + 4.5;
        while taken.iter().any(|name| meets(name, at)) {
            at += 1.0;
        }
        taken.push((start, start + width, at));
        let anchor = if before { ANCHOR_END } else { "" };
        let edge = if before { x - GAP } else { x + GAP };
        text(svg, (edge, at.clamp(TOP, HEIGHT - BOTTOM)), anchor, &point.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, size: f64, value: f64) -> Point {
        Point {
            name: name.to_string(),
            look: Look::new(0, 0),
            size,
            value,
            hollow: false,
        }
    }

    #[test]
    fn every_point_lies_inside_and_names_do_not_touch() {
        let mut points: Vec<Point> = (0..6)
            .map(|index| point(&format!("row-{index}"), 29.0, 91.0 + 0.01 * f64::from(index)))
            .collect();
        points.push(point("far", 500.0, 80.0));
        let svg = scatter("x", ("accuracy", "KB"), &points);
        assert_eq!(svg.matches("<circle").count(), 7);
        let names = svg
            .lines()
            .filter(|line| line.starts_with("<text") && line.contains(">row-"));
        let height = |line: &str| line.split("y=\"").nth(1)?.split('"').next()?.parse::<f64>().ok();
        let mut heights: Vec<f64> = names.filter_map(height).collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 6);
        assert!(
            heights.windows(2).all(|pair| pair[1] - pair[0] >= LETTERS - 0.1),
            "{heights:?}"
        );
    }

    #[test]
    fn draws_any_sizes() {
        for points in [
            vec![],
            vec![point("a", 5.0, 1.0)],
            vec![point("a", 0.0, 0.0), point("b", 1e6, 100.0)],
        ] {
            let svg = scatter("x", ("accuracy", "KB"), &points);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn ticks_of_a_logarithmic_axis() {
        let sizes = Sizes {
            low: 11.9,
            high: 1050.0,
        };
        assert_eq!(sizes.ticks(), [20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
    }
}
