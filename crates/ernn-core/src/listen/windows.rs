//! When windows of a stream begin.

/// How many windows are under way at a time: the copies of a state that a stream needs.
pub const fn copies(window: u32, every: u32) -> usize {
    match every {
        0 => 0,
        _ => window.div_ceil(every) as usize,
    }
}

/// Windows of `window` steps, of which one begins every `every` steps.
///
/// Before each step [`Windows::step`] says which copy of the state begins with it. The copies that have begun and have fewer than `window`
/// steps take the step; the one that has `window` steps then has the answer of its window.
///
/// ```
/// use ernn_core::listen::{Windows, copies};
///
/// const COPIES: usize = copies(4, 2);
/// let mut windows = Windows::new(4, 2);
/// let mut steps = [4; COPIES]; // None has begun.
/// let mut ended = 0;
/// for _ in 0..10 {
///     if let Some(copy) = windows.step() {
///         steps[copy] = 0;
///     }
///     for steps in steps.iter_mut().filter(|steps| **steps < 4) {
///         *steps += 1;
///         ended += u32::from(*steps == 4);
///     }
/// }
/// assert_eq!(ended, 4); // After steps 4, 6, 8 and 10.
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    every: u32,
    copies: usize,
    /// Steps until the next window begins.
    wait: u32,
    /// The copy that it will be.
    next: usize,
}

impl Windows {
    /// A stream at its beginning; a window begins with its first step.
    pub fn new(window: u32, every: u32) -> Self {
        Windows {
            every: every.max(1),
            copies: copies(window, every.max(1)),
            wait: 0,
            next: 0,
        }
    }

    /// Counts a step; gives the copy that begins with it, if one does.
    pub fn step(&mut self) -> Option<usize> {
        let begins = (self.wait == 0).then_some(self.next);
        if begins.is_some() {
            self.wait = self.every;
            self.next = self.next.wrapping_add(1);
            if self.next >= self.copies {
                self.next = 0;
            }
        }
        self.wait = self.wait.wrapping_sub(1);
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn copies_begin_in_turn_and_none_while_its_window_is_under_way() {
        for (window, every) in [(4, 2), (5, 2), (3, 3), (7, 1), (1, 1)] {
            let mut windows = Windows::new(window, every);
            let mut last = std::vec![None; copies(window, every)];
            let begun: Vec<u32> = (0..40)
                .filter(|&step| {
                    let copy = windows.step();
                    if let Some(last) = copy.and_then(|copy| last.get_mut(copy)) {
                        assert!(last.is_none_or(|last| step - last >= window), "{window} {every}");
                        *last = Some(step);
                    }
                    copy.is_some()
                })
                .collect();
            let expected: Vec<u32> = (0..40).step_by(every as usize).collect();
            assert_eq!(begun, expected, "{window} {every}");
        }
    }
}
