//! What the values of a column say about it while they are read: a clock, an identifier, an offset too large for 32 bits.
//!
//! A column that rises from row to row through several sequences is a clock or a number of the row. One that never changes within
//! a sequence and is another number in nearly every one names the sequence. Neither is a channel unless somebody says so.
//!
//! Values become numbers of 32 bits, which are `2^-23` of their size apart. A channel that moves by fewer than [`LEVELS`] such steps
//! around a large offset would be noise: 1700000000000 and 1700000000020 are one number.

use super::super::number::{Decimal, exact};

/// Rows below which nothing is said about a column: some numbers rise by chance.
const ROWS: usize = 16;
/// Sequences below which nothing is said about identifiers.
const SEQUENCES: usize = 8;
/// Numbers of 32 bits between the smallest and the largest value of a channel, at least.
const LEVELS: f64 = 16.0;

/// A column under observation.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    rises: bool,
    narrow: bool,
    last: f64,
    smallest: f64,
    largest: f64,
    rows: usize,
}

impl Channel {
    pub fn new() -> Channel {
        Channel {
            rises: true,
            narrow: true,
            last: f64::NEG_INFINITY,
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            rows: 0,
        }
    }

    /// Takes the next cell, in the order of the file. An ordinary channel is done with after a few.
    pub fn see(&mut self, text: &[u8], decimal: Decimal) {
        if !self.rises && !self.narrow {
            return;
        }
        let Some(number) = exact(text, decimal) else { return };
        self.rises &= number > self.last;
        self.last = number;
        self.smallest = self.smallest.min(number);
        self.largest = self.largest.max(number);
        self.narrow = self.largest - self.smallest < LEVELS * self.spacing();
        self.rows += 1;
    }

    /// The distance of neighboring numbers of 32 bits of the size of these values.
    fn spacing(&self) -> f64 {
        self.largest.abs().max(self.smallest.abs()) * f64::from(f32::EPSILON)
    }

    /// Rises from each row to the next.
    pub fn rises(&self) -> bool {
        self.rises && self.rows >= ROWS
    }

    /// The smallest and the largest value, where 32 bits hardly tell them apart.
    pub fn lost(&self) -> Option<(f64, f64)> {
        (self.narrow && self.rows > 1 && self.smallest < self.largest).then_some((self.smallest, self.largest))
    }
}

/// Whether a feature never changes within a sequence and is another number in nearly every one.
pub(super) fn identifies(values: &[&[f32]], features: usize, feature: usize) -> bool {
    let sequences = values.len();
    let longer = values.iter().filter(|own| own.len() > features).count();
    if sequences < SEQUENCES || 2 * longer < sequences {
        return false;
    }
    let mut firsts = Vec::new();
    for own in values {
        let mut own = own.iter().skip(feature).step_by(features).map(|value| value.to_bits());
        let Some(first) = own.next() else { continue };
        if own.any(|other| other != first) {
            return false;
        }
        firsts.push(first);
    }
    firsts.sort_unstable();
    firsts.dedup();
    10 * firsts.len() >= 9 * sequences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(values: impl IntoIterator<Item = f64>) -> Channel {
        let mut channel = Channel::new();
        for value in values {
            channel.see(value.to_string().as_bytes(), Decimal::Point);
        }
        channel
    }

    #[test]
    fn a_clock_rises() {
        assert!(channel((0..20).map(f64::from)).rises());
        assert!(!channel((0..10).map(f64::from)).rises(), "too few to say");
        assert!(!channel((0..20).map(|row| f64::from(row % 7))).rises());
        // In 32 bits neighbors would be equal.
        assert!(channel((0..20).map(|row| 1.7e12 + f64::from(row))).rises());
    }

    #[test]
    fn an_offset_too_large_is_found() {
        assert_eq!(channel([1.7e12, 1.7e12 + 20.0]).lost(), Some((1.7e12, 1.7e12 + 20.0)));
        assert_eq!(channel([7.1, 7.1, 7.1]).lost(), None, "constant");
        assert_eq!(channel([101_325.0, 101_326.0, 101_325.5]).lost(), None);
        assert_eq!(channel([0.0, 1e-30]).lost(), None);
        assert_eq!(channel([1.7e12]).lost(), None);
    }

    #[test]
    fn an_identifier_never_changes_and_differs() {
        let values = |own: &dyn Fn(usize) -> f32| -> Vec<Vec<f32>> {
            let step = |step: usize| [(step % 3) as f32, own(step / 2)];
            (0..10)
                .map(|sequence| [step(2 * sequence), step(2 * sequence + 1)].concat())
                .collect()
        };
        let identifies = |values: &[Vec<f32>], feature| {
            let values: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
            identifies(&values, 2, feature)
        };
        let unique = values(&|sequence| sequence as f32);
        assert!(identifies(&unique, 1) && !identifies(&unique, 0));
        assert!(!identifies(&values(&|sequence| (sequence % 4) as f32), 1));
        assert!(!identifies(&unique[..3], 1), "too few to say");
    }
}
