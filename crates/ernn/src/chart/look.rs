//! How lines look: a color for each kind of cell, the same in every picture, and beside it a pattern and a marker for those who do not see it.

use crate::cell::CellConfig;

/// Colors on light and on dark paper, one for each kind of cell in the order of [`CellConfig::KINDS`].
///
/// Any two are apart for normal, protan, deutan and tritan eyes (simulated after Machado, Oliveira and Fernandes 2009), and each stands
/// out from its paper; the tests below hold how much.
pub(super) const COLORS: [(&str, &str); 11] = [
    ("#206dd7", "#2d82d5"),
    ("#0a140c", "#edd1c9"),
    ("#d548a1", "#eea9cb"),
    ("#701b6f", "#c1609a"),
    ("#780904", "#cd8d58"),
    ("#277237", "#8eca88"),
    ("#d16e27", "#9f7909"),
    ("#3f957a", "#90f491"),
    ("#425b5a", "#9c9485"),
    ("#c31c30", "#ff9246"),
    ("#083396", "#c2baef"),
];

/// The papers that they stand on.
pub(super) const PAPERS: (&str, &str) = ("#ffffff", "#0d1117");

/// Patterns of a line.
pub(super) const DASHES: [&str; 4] = ["none", "9 4", "2 4", "12 4 2 4"];

/// Outlines around 0, of about the same area: circle, square, triangle, diamond, plus, triangle downwards, cross, bar.
pub(super) const MARKERS: [&str; 8] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-5L4.6 3.4H-4.6Z",
    "M0-5L5 0L0 5L-5 0Z",
    "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
    "M0 5L4.6-3.4H-4.6Z",
    "M-4.6-2.4L-2.4-4.6L0-2.2L2.4-4.6L4.6-2.4L2.2 0L4.6 2.4L2.4 4.6L0 2.2L-2.4 4.6L-4.6 2.4L-2.2 0Z",
    "M-5.4-2H5.4V2H-5.4Z",
];

/// How a line, a band or a point looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub(super) color: usize,
    pub(super) dash: usize,
    pub(super) marker: usize,
}

impl Look {
    /// The variant of a kind: kinds differ in color and marker, variants in pattern and marker. Beyond the last color the kinds go on with
    /// other patterns.
    pub fn new(kind: usize, variant: usize) -> Self {
        let (colors, dashes, markers) = (COLORS.len(), DASHES.len(), MARKERS.len());
        Look {
            color: kind % colors,
            dash: (variant + kind / colors) % dashes,
            // After so many variants patterns and markers meet in other pairs.
            marker: (kind + variant + variant / markers) % markers,
        }
    }

    /// The variant of a cell.
    pub fn of_cell(name: &str, variant: usize) -> Self {
        let kind = CellConfig::KINDS.iter().position(|kind| *kind == name);
        Look::new(kind.unwrap_or(CellConfig::KINDS.len()), variant)
    }
}

/// The looks of rows by the names of their cells: rows of the same cell are variants.
pub fn looks<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<Look> {
    let mut before: Vec<&str> = Vec::new();
    let look = |cell: &'a str| {
        let variant = before.iter().filter(|name| **name == cell).count();
        before.push(cell);
        Look::of_cell(cell, variant)
    };
    cells.map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red, green and blue in linear light.
    type Light = [f64; 3];

    /// What normal, protan, deutan and tritan eyes make of it, at full strength.
    const EYES: [[Light; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    fn light(color: &str) -> Light {
        [1, 3, 5].map(|place| {
            let value = f64::from(u8::from_str_radix(&color[place..place + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn luminance([red, green, blue]: Light) -> f64 {
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(light(one)) + 0.05, luminance(light(other)) + 0.05);
        (one / other).max(other / one)
    }

    /// CIELAB under daylight.
    fn lab(light: Light, eye: &[Light; 3]) -> Light {
        let [red, green, blue] = eye.map(|row| {
            let sum: f64 = row.iter().zip(light).map(|(part, value)| part * value).sum();
            sum.clamp(0.0, 1.0)
        });
        let bend = |t: f64| {
            if t > 0.008856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = bend((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
        let y = bend(luminance([red, green, blue]));
        let z = bend((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn colors_are_apart_for_all_eyes_and_stand_out_from_their_paper() {
        let light_and_dark = [COLORS.map(|pair| pair.0), COLORS.map(|pair| pair.1)];
        for (colors, paper) in light_and_dark.into_iter().zip([PAPERS.0, PAPERS.1]) {
            for (index, color) in colors.iter().enumerate() {
                assert!(contrast(color, paper) >= 3.0, "{color} on {paper}");
                for other in &colors[..index] {
                    for (eye, least) in EYES.iter().zip([LEAST_NORMAL, LEAST, LEAST, LEAST]) {
                        let (a, b) = (lab(light(color), eye), lab(light(other), eye));
                        let apart: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(apart >= least, "{color} and {other}: {apart}");
                    }
                }
            }
        }
    }

    const LEAST_NORMAL: f64 = 20.0;
    const LEAST: f64 = 14.0;

    #[test]
    fn every_cell_has_its_color_and_no_two_of_many_lines_look_alike() {
        assert_eq!(COLORS.len(), CellConfig::KINDS.len());
        let mut all: Vec<Look> = Vec::new();
        for kind in CellConfig::KINDS {
            all.extend((0..32).map(|variant| Look::of_cell(kind, variant)));
        }
        for (index, look) in all.iter().enumerate() {
            assert!(!all[..index].contains(look), "{look:?}");
        }
        assert_ne!(Look::new(0, 0), Look::new(COLORS.len(), 0));
        let colors = |names: &[&str]| {
            looks(names.iter().copied())
                .iter()
                .map(|look| look.color)
                .collect::<Vec<_>>()
        };
        assert_eq!(colors(&["lstm", "ernn", "ernn"]), [6, 0, 0]);
        assert_eq!(colors(&["ernn", "lstm"]), [0, 6], "whatever else is in the picture");
    }

    #[test]
    fn neighbors_differ_in_more_than_their_color() {
        for kind in 1..COLORS.len() {
            let (one, other) = (Look::new(kind - 1, 0), Look::new(kind, 0));
            assert_ne!((one.dash, one.marker), (other.dash, other.marker));
        }
    }
}
