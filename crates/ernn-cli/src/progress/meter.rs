//! How far something has come, in units of any kind: what is left of its time, and when a line about it is due.

use std::time::{Duration, Instant};

/// Units done of units in all, since a moment.
#[derive(Debug)]
pub struct Meter {
    since: Instant,
    /// Units that were done then: an earlier process did them, at a speed of its own.
    before: f64,
    done: f64,
    total: f64,
}

impl Meter {
    /// Nothing is done yet, of nothing.
    pub fn new() -> Self {
        Meter::of(0.0, 0.0)
    }

    /// So many units are done already.
    pub fn of(done: f64, total: f64) -> Self {
        Meter {
            since: Instant::now(),
            before: done,
            done,
            total,
        }
    }

    /// So many units are done now.
    pub fn reached(&mut self, done: f64) {
        self.done = done;
    }

    /// So many units less are to be done.
    pub fn lessen(&mut self, units: f64) {
        self.total -= units;
    }

    /// Part of all units that is done.
    pub fn share(&self) -> f64 {
        (self.done / self.total.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    /// The time that the rest takes at the speed so far; none before there is a speed.
    pub fn left(&self) -> Option<Duration> {
        time_left(self.since.elapsed(), self.done - self.before, self.total - self.done)
    }
}

fn time_left(elapsed: Duration, done: f64, to_do: f64) -> Option<Duration> {
    let left = elapsed.as_secs_f64() * to_do.max(0.0) / done;
    Duration::try_from_secs_f64(left).ok()
}

/// `12 s`, `5 min`, `3 h 05 min`: as exact as a guess can be.
pub fn roughly(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5400 => format!("{minutes} min"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// Lines off a terminal: the first one, then one a second or a tenth of the way, and the last one.
#[derive(Debug, Default)]
pub struct Pace {
    last: Option<(Instant, f64)>,
}

impl Pace {
    /// Whether a line is due at this part of the way; if so, it counts as written.
    pub fn is_due(&mut self, share: f64) -> bool {
        self.is_due_at(Instant::now(), share)
    }

    fn is_due_at(&mut self, now: Instant, share: f64) -> bool {
        let tenth = |share: f64| (10.0 * share + 1e-9).floor();
        let due = self.last.is_none_or(|(at, before)| {
            now.duration_since(at) >= Duration::from_secs(1) || tenth(share) != tenth(before)
        });
        if due {
            self.last = Some((now, share));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_a_unit_as_what_is_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(minute, 2.0, 6.0), Some(3 * minute));
        assert_eq!(time_left(minute, 2.0, 0.0), Some(Duration::ZERO));
        assert_eq!(time_left(minute, 0.0, 6.0), None);
        assert_eq!(time_left(minute, 0.0, 0.0), None);
        let mut meter = Meter::of(5.0, 10.0);
        assert_eq!((meter.share(), meter.left()), (0.5, None));
        meter.reached(20.0);
        assert_eq!((meter.share(), meter.left()), (1.0, Some(Duration::ZERO)));
        assert_eq!(Meter::new().share(), 0.0);
    }

    #[test]
    fn guesses_are_rough() {
        let text = |seconds: f64| roughly(Duration::from_secs_f64(seconds));
        assert_eq!(
            [0.2, 12.0, 100.0, 5399.0, 7260.0].map(text),
            ["1 s", "12 s", "2 min", "90 min", "2 h 01 min"]
        );
    }

    #[test]
    fn a_short_run_says_ten_lines_and_a_long_one_a_line_a_second() {
        let began = Instant::now();
        let mut pace = Pace::default();
        let due = (1..=100).filter(|&epoch| pace.is_due_at(began, f64::from(epoch) / 100.0));
        assert_eq!(due.collect::<Vec<_>>(), [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        let mut pace = Pace::default();
        let at = |tenth: u32| began + Duration::from_millis(100) * tenth;
        let due = (0..50).filter(|&tenth| pace.is_due_at(at(tenth), 0.01));
        assert_eq!(due.collect::<Vec<_>>(), [0, 10, 20, 30, 40]);
    }
}
