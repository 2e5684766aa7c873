//! The time of a search: a training that would go beyond it is stopped after the batch under way, and how far it came tells how long it
//! would have taken.
//!
//! ```text
//! whole training = elapsed / share done
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ernn::train::{BatchProgress, Observer};

/// Watches one training.
pub(super) struct Clock<'a> {
    began: Instant,
    /// When it has to end; none where the number of trials decides.
    deadline: Option<Instant>,
    passes: usize,
    /// Someone asked the whole search to stop.
    asked: &'a AtomicBool,
    /// Stops this training alone.
    pub stop: Arc<AtomicBool>,
    share: f64,
    late: bool,
}

impl<'a> Clock<'a> {
    pub fn new(deadline: Option<Instant>, passes: usize, asked: &'a AtomicBool) -> Self {
        Clock {
            began: Instant::now(),
            deadline,
            passes,
            asked,
            stop: Arc::new(AtomicBool::new(asked.load(Ordering::Relaxed))),
            share: 0.0,
            late: false,
        }
    }

    /// Whether the time ran out, and nobody asked to stop.
    pub fn cut(&self) -> bool {
        self.late && !self.asked.load(Ordering::Relaxed)
    }

    /// Seconds of the whole training: those that it took, or, if it was stopped, would have taken.
    pub fn seconds(&self) -> f64 {
        let elapsed = self.began.elapsed().as_secs_f64();
        match self.late {
            true => elapsed / self.share.max(f64::MIN_POSITIVE),
            false => elapsed,
        }
    }
}

impl Observer for Clock<'_> {
    fn batch_done(&mut self, progress: &BatchProgress) {
        self.share = progress.share(self.passes);
        let asked = self.asked.load(Ordering::Relaxed);
        // What is done but for its end is not stopped.
        self.late = self.share < 1.0 && self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if self.late || asked {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use ernn::checkpoint::Phase;

    fn progress(batch: usize) -> BatchProgress {
        BatchProgress {
            phase: Phase::Select,
            epoch: 1,
            epochs: 1,
            batch,
            batches: 4,
            examples: 1,
            loss: 1.0,
        }
    }

    #[test]
    fn what_is_late_is_stopped_and_its_length_foretold() {
        let asked = AtomicBool::new(false);
        let mut never = Clock::new(None, 1, &asked);
        never.batch_done(&progress(1));
        assert!(!never.cut() && !never.stop.load(Ordering::Relaxed));
        let past = Instant::now().checked_sub(Duration::from_secs(1));
        let mut late = Clock::new(past, 1, &asked);
        late.batch_done(&progress(1));
        assert!(late.cut() && late.stop.load(Ordering::Relaxed));
        let (before, after) = (late.began.elapsed().as_secs_f64(), late.seconds());
        assert!(after >= 4.0 * before, "a quarter was done: {after}");
        let mut done = Clock::new(past, 1, &asked);
        done.batch_done(&progress(4));
        assert!(!done.cut() && !done.stop.load(Ordering::Relaxed));
    }

    #[test]
    fn who_asks_to_stop_cuts_nothing_short() {
        let asked = AtomicBool::new(false);
        let mut clock = Clock::new(None, 1, &asked);
        asked.store(true, Ordering::Relaxed);
        clock.batch_done(&progress(1));
        assert!(!clock.cut() && clock.stop.load(Ordering::Relaxed));
    }
}
