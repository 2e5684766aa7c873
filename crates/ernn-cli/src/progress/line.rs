//! Lines that fit: parts that go when there is no room, a bar that takes what is left, a sparkline.

use crate::table::{columns_of, shortened};
use crate::terminal::Look;

/// A bar shorter than this says nothing.
const SHORTEST_BAR: usize = 8;
const LONGEST_BAR: usize = 30;

/// Parts of a line, the most important first, in the order in which they stand.
#[derive(Debug, Default)]
pub struct Line {
    parts: Vec<(u8, String)>,
}

impl Line {
    /// Adds a part; those of high ranks go first where a line is too long.
    pub fn part(mut self, rank: u8, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push((rank, text));
        }
        self
    }

    /// The parts that fit into so many columns, with commas between them.
    pub fn fitted(mut self, columns: usize) -> String {
        loop {
            let text = self.joined();
            let least = self.parts.iter().map(|(rank, _)| *rank).max().filter(|&rank| rank > 0);
            match least {
                Some(rank) if columns_of(&text) > columns => {
                    let last = self.parts.iter().rposition(|(other, _)| *other == rank);
                    last.map(|last| self.parts.remove(last));
                }
                _ => return shortened(&text, columns),
            }
        }
    }

    /// The same behind a head and a bar, which is left out before a part is.
    pub fn with_bar(self, head: &str, share: f64, columns: usize, bar: &Bar) -> String {
        let room = columns.saturating_sub(columns_of(head) + 1);
        let text = self.fitted(room);
        let room = room.saturating_sub(columns_of(&text) + 1);
        match room {
            0..SHORTEST_BAR => shortened(&format!("{head} {text}"), columns),
            _ => format!("{head} {} {text}", bar.drawn(share, room.min(LONGEST_BAR))),
        }
    }

    fn joined(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|(_, text)| text.as_str()).collect();
        texts.join(", ")
    }
}

/// How bars look here.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// Whether blocks can be shown.
    pub blocks: bool,
    pub colors: bool,
}

impl Bar {
    fn drawn(&self, share: f64, columns: usize) -> String {
        let full = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
        let (done, to_do) = if self.blocks { ("█", "░") } else { ("#", ".") };
        let done = Look::Hint.paint(&done.repeat(full), self.colors);
        done + &Look::Dim.paint(&to_do.repeat(columns - full), self.colors)
    }
}

/// The values from the first to the last, averaged to so many columns, between the lowest and the highest.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let columns = columns.min(values.len());
    let means = (0..columns).map(|column| {
        let own = &values[column * values.len() / columns..(column + 1) * values.len() / columns];
        own.iter().sum::<f64>() / own.len() as f64
    });
    let means: Vec<f64> = means.collect();
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |mean: &f64| {
        let share = (mean - lowest) / (highest - lowest);
        // Equal values lie on the ground.
        HEIGHTS[(share * 7.0).round() as usize]
    };
    means.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Bar = Bar {
        blocks: true,
        colors: false,
    };

    fn line() -> Line {
        Line::default()
            .part(0, "loss 0.1234")
            .part(1, "12 s left")
            .part(2, "validation 95.1 %")
            .part(3, "")
    }

    #[test]
    fn what_matters_least_goes_first() {
        assert_eq!(line().fitted(80), "loss 0.1234, 12 s left, validation 95.1 %");
        assert_eq!(line().fitted(30), "loss 0.1234, 12 s left");
        assert_eq!(line().fitted(12), "loss 0.1234");
        assert_eq!(line().fitted(6), "loss …");
    }

    #[test]
    fn a_bar_takes_what_is_left() {
        let shown = |columns| line().with_bar("epoch 3/6", 0.5, columns, &PLAIN);
        assert_eq!(
            shown(60),
            "epoch 3/6 ████░░░░ loss 0.1234, 12 s left, validation 95.1 %"
        );
        for columns in 1..200 {
            assert!(columns_of(&shown(columns)) <= columns, "{columns}");
        }
        assert_eq!(shown(20), "epoch 3/6 loss 0.12…");
        let colored = line().with_bar("epoch 3/6", 0.5, 80, &Bar { colors: true, ..PLAIN });
        assert_eq!(console::strip_ansi_codes(&colored), shown(80));
        let plain = Bar { blocks: false, ..PLAIN };
        assert!(line().with_bar("a", 0.5, 80, &plain).starts_with("a ####"));
    }

    #[test]
    fn a_sparkline_falls_with_the_loss() {
        assert_eq!(sparkline(&[8.0, 4.0, 2.0, 1.0], 10), "█▄▂▁");
        assert_eq!(sparkline(&[4.0, 4.0, 1.0, 1.0], 2), "█▁");
        assert_eq!(sparkline(&[2.0, 2.0], 10), "▁▁");
        assert_eq!(sparkline(&[f64::NAN, f64::INFINITY], 10), "");
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(sparkline(&vec![1.0; 1000], 12).chars().count(), 12);
    }
}
