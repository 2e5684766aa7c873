//! Answers of windows become events.
//!
//! ```text
//! p[i]     = 2^15 e^(l[i] - max l) / sum          l: logits with 16 binary places
//! average  = mean of p over the last windows
//! begins   when the largest average, of a class that is an event, was at least `on` in `least` windows one after the other
//! ends     when the average of that class falls below `off`; then `rest` windows pass before another begins
//! ```

use crate::error::RunError;

/// `2^15 2^(-n / 32)`.
pub const EXPONENTIALS: [u16; 33] = [
    32_768, 32_066, 31_379, 30_706, 30_048, 29_405, 28_774, 28_158, 27_554, 26_964, 26_386, 25_821, 25_268, 24_726,
    24_196, 23_678, 23_170, 22_674, 22_188, 21_713, 21_247, 20_792, 20_347, 19_911, 19_484, 19_066, 18_658, 18_258,
    17_867, 17_484, 17_109, 16_743, 16_384,
];

/// `1 / ln 2` with 16 binary places.
const LOG2_E: u64 = 94_548;

/// A logit of floats as one with 16 binary places; beyond +-32767 that, and 0 where it is no number.
pub fn whole_logit(logit: f32) -> i32 {
    let size = crate::math::between(-32_767.0, 32_767.0, logit) * 65_536.0;
    if size < 0.0 {
        (size - 0.5) as i32
    } else {
        (size + 0.5) as i32
    }
}

/// The probability of each logit times 2^15; what is beyond the shorter of the two is left as it is.
pub fn probabilities(logits: &[i32], shares: &mut [u16]) {
    let top = logits.iter().copied().max().unwrap_or(0);
    let mut sum = 0_u32;
    for (share, logit) in shares.iter_mut().zip(logits) {
        *share = exponential(top.abs_diff(*logit));
        sum = sum.wrapping_add(u32::from(*share));
    }
    for (share, _) in shares.iter_mut().zip(logits) {
        *share = (u32::from(*share) << 15).checked_div(sum).unwrap_or(0) as u16;
    }
}

/// `2^15 e^-x` of an x with 16 binary places.
fn exponential(x: u32) -> u16 {
    let power = u64::from(x).wrapping_mul(LOG2_E) >> 16;
    let whole = power >> 16;
    let fraction = power as u32 & 0xffff;
    let line = (fraction >> 11) as usize;
    let [from, to] = [line, line.wrapping_add(1)].map(|place| u32::from(EXPONENTIALS.get(place).copied().unwrap_or(0)));
    let between = from.wrapping_sub(from.wrapping_sub(to).wrapping_mul(fraction & 0x7ff) >> 11);
    if whole > 15 {
        0
    } else {
        (between >> whole as u32) as u16
    }
}

/// When an event begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Windows that are averaged, at least 1.
    pub average: u16,
    /// The probability, times 2^15, from which on an event begins.
    pub on: u16,
    /// The probability, times 2^15, below which it ends; at most `on`.
    pub off: u16,
    /// Windows in a row that it takes to begin, at least 1.
    pub least: u16,
    /// Windows after an event in which none begins.
    pub rest: u16,
    /// For each class whether it is an event; those beyond the end are.
    pub is_event: &'a [bool],
}

/// What a window changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is no event.
    None,
    /// An event of this class begins.
    Begins(usize),
    /// It goes on.
    Lasts(usize),
    /// It has ended.
    Ends(usize),
}

/// What a stream of windows keeps to tell events, besides the probabilities of its last windows, numbers of the caller's:
/// `average` times as many as there are outputs, a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Windows in the ring, and the place of the next one.
    filled: usize,
    place: usize,
    /// The class whose event is under way.
    current: Option<usize>,
    /// The class that may begin one, and its windows so far.
    candidate: usize,
    count: u16,
    /// Windows that are to pass before one may begin.
    wait: u16,
}

impl Events {
    /// A stream at its beginning.
    pub const fn new() -> Self {
        Events {
            filled: 0,
            place: 0,
            current: None,
            candidate: 0,
            count: 0,
            wait: 0,
        }
    }

    /// Takes the logits of a window, with 16 binary places.
    ///
    /// # Errors
    /// If `shares` are not `average` times as many as the logits; nothing is taken then.
    pub fn push(&mut self, rule: &Rule, shares: &mut [u16], logits: &[i32]) -> Result<Event, RunError> {
        let length = usize::from(rule.average.max(1));
        let (found, expected) = (shares.len(), length.saturating_mul(logits.len()));
        let room = shares.chunks_exact_mut(logits.len().max(1)).nth(self.place);
        let Some(room) = room.filter(|_| found == expected) else {
            return Err(RunError::Length {
                what: "shares",
                found,
                expected,
            });
        };
        probabilities(logits, room);
        self.place = self.place.wrapping_add(1);
        self.filled = self.filled.max(self.place);
        if self.place >= length {
            self.place = 0;
        }
        Ok(self.decide(rule, shares, logits.len()))
    }

    fn decide(&mut self, rule: &Rule, shares: &[u16], outputs: usize) -> Event {
        let reaches = |class, threshold: u16| {
            self.sum(shares, outputs, class) >= u32::from(threshold).wrapping_mul(self.filled as u32)
        };
        if let Some(class) = self.current {
            if reaches(class, rule.off) {
                return Event::Lasts(class);
            }
            (self.current, self.wait, self.count) = (None, rule.rest, 0);
            return Event::Ends(class);
        }
        if self.wait > 0 {
            self.wait = self.wait.wrapping_sub(1);
            return Event::None;
        }
        let class = self.best(shares, outputs);
        let is_event = rule.is_event.get(class).copied().unwrap_or(true);
        if !is_event || !reaches(class, rule.on) {
            self.count = 0;
            return Event::None;
        }
        self.count = match class == self.candidate {
            true => self.count.saturating_add(1),
            false => 1,
        };
        self.candidate = class;
        if self.count < rule.least {
            return Event::None;
        }
        self.current = Some(class);
        Event::Begins(class)
    }

    /// The class with the largest average over the last windows, the first of equals, whether it is an event or not.
    fn best(&self, shares: &[u16], outputs: usize) -> usize {
        let mut best = (0, 0);
        for class in 0..outputs {
            let sum = self.sum(shares, outputs, class);
            if sum > best.1 {
                best = (class, sum);
            }
        }
        best.0
    }

    /// The sum of a class's probabilities over the last windows, times 2^15.
    fn sum(&self, shares: &[u16], outputs: usize, class: usize) -> u32 {
        let windows = shares.chunks_exact(outputs.max(1)).take(self.filled);
        let of_class = windows.filter_map(|window| window.get(class));
        of_class.fold(0, |sum, &share| sum.wrapping_add(u32::from(share)))
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn probabilities_are_those_of_double_precision() {
        for (place, &value) in EXPONENTIALS.iter().enumerate() {
            let exact = 32_768.0 * (-(place as f64) / 32.0).exp2();
            assert!((f64::from(value) - exact).abs() <= 0.5, "{place}: {exact}");
        }
        let mut state = 3_u32;
        for round in 0..500 {
            let logits: Vec<i32> = (0..1 + round % 13)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state as i32) >> (round % 14)
                })
                .collect();
            let mut found = std::vec![0; logits.len()];
            probabilities(&logits, &mut found);
            let top = f64::from(*logits.iter().max().unwrap());
            let exact: Vec<f64> = logits
                .iter()
                .map(|&logit| ((f64::from(logit) - top) / 65_536.0).exp())
                .collect();
            let sum: f64 = exact.iter().sum();
            for (found, exact) in found.iter().zip(exact) {
                let error = f64::from(*found) / 32_768.0 - exact / sum;
                assert!(error.abs() < 3e-4, "{logits:?}: {error}");
            }
        }
        assert_eq!(whole_logit(1.5), 98_304);
        assert_eq!(whole_logit(-1e30), -32_767 << 16);
        assert_eq!(whole_logit(f32::NAN), 0);
    }

    const SURE: i32 = 10 << 16;

    fn told(rule: Rule, said: &[usize]) -> Vec<Event> {
        let mut shares = std::vec![0; 3 * usize::from(rule.average)];
        let mut events = Events::new();
        said.iter()
            .map(|&class| {
                let mut logits = [0; 3];
                logits[class] = SURE;
                events.push(&rule, &mut shares, &logits).unwrap()
            })
            .collect()
    }

    #[test]
    fn an_event_begins_and_ends_once() {
        let rule = Rule {
            average: 1,
            on: 26_000,
            off: 16_000,
            least: 1,
            rest: 0,
            is_event: &[false, true, true],
        };
        use Event::{Begins, Ends, Lasts, None};
        assert_eq!(told(rule, &[0, 1, 1, 0, 0]), [None, Begins(1), Lasts(1), Ends(1), None]);
        let slow = Rule { least: 2, ..rule };
        assert_eq!(
            told(slow, &[1, 0, 1, 1, 2, 2, 2]),
            [None, None, None, Begins(1), Ends(1), None, Begins(2)]
        );
        let rested = Rule { rest: 2, ..rule };
        assert_eq!(
            told(rested, &[1, 2, 2, 2, 2]),
            [Begins(1), Ends(1), None, None, Begins(2)]
        );
        // One of three windows is no event, two of three are.
        let mean = Rule {
            average: 3,
            on: 20_000,
            off: 12_000,
            ..rule
        };
        let found = told(mean, &[0, 0, 1, 0, 1, 1, 0, 0]);
        assert_eq!(found, [None, None, None, None, Begins(1), Lasts(1), Lasts(1), Ends(1)]);
    }
}
