//! How long a pass over the data is repeated: epochs, or as many as a number of optimizer steps asks for.
//!
//! ```text
//! epochs = max(epochs, ceil(min_steps / batches)), at most max(1, floor(max_steps / batches))
//! ```
//!
//! batches: those of one epoch, each an optimizer step. A run that is stretched or shortened so keeps the shape of its schedule: what
//! the schedule says of an epoch of the settings holds for the same share of the run.

use super::TrainingSettings;
use crate::batch::Streams;
use crate::data::{Task, View};

/// Epochs of a stretched run are measured and written down about this often: with a few sequences an epoch is a step or two, and a
/// thousand measurements would cost more than the steps.
const MOST_RECORDS: usize = 150;

/// The length of one pass of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    /// Epochs to do.
    pub epochs: usize,
    /// Epochs between two measurements.
    pub stride: usize,
    /// Epochs of the settings, which the schedule counts.
    scheduled: usize,
    /// Epochs that those were stretched or shortened to.
    planned: usize,
}

impl Length {
    /// The length of a pass with so many batches an epoch.
    pub fn planned(settings: &TrainingSettings, batches: usize) -> Self {
        let batches = batches.max(1);
        let mut epochs = settings.epochs.max(settings.min_steps.div_ceil(batches));
        if settings.max_steps > 0 {
            epochs = epochs.min((settings.max_steps / batches).max(1));
        }
        let stride = match epochs > settings.epochs {
            true => epochs.div_ceil(MOST_RECORDS),
            false => 1,
        };
        Length {
            epochs,
            stride,
            scheduled: settings.epochs,
            planned: epochs,
        }
    }

    /// The same, but for fewer epochs: a second pass is as long as the first came.
    pub fn cut_to(self, epochs: usize) -> Self {
        Length { epochs, ..self }
    }

    /// The epoch, from 0, that the schedule of the settings counts for an epoch of the run, from 0.
    pub fn scheduled(&self, epoch: usize) -> usize {
        match self.planned == self.scheduled {
            true => epoch,
            false => (epoch as u128 * self.scheduled as u128 / self.planned as u128) as usize,
        }
    }

    /// The last epoch, from 1, of the stretch that begins with this one: it is measured.
    pub fn last_of_stretch(&self, first: usize) -> usize {
        (first + self.stride - 1).min(self.epochs)
    }
}

/// How a text is cut; none for other data.
pub(super) fn streams(settings: &TrainingSettings, task: Task, fit: &View) -> Option<Streams> {
    (task == Task::NextToken).then(|| Streams::new(fit.steps(), settings.batch_size, settings.window()))
}

/// Batches of one epoch.
pub(super) fn batches(settings: &TrainingSettings, task: Task, fit: &View) -> usize {
    streams(settings, task, fit).map_or_else(|| fit.len().div_ceil(settings.batch_size), |streams| streams.batches())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::RunConfig;

    fn length(epochs: usize, least: usize, most: usize, batches: usize) -> Length {
        let mut settings = RunConfig::defaults("mine.csv").training;
        settings.epochs = epochs;
        settings.min_steps = least;
        settings.max_steps = most;
        Length::planned(&settings, batches)
    }

    #[test]
    fn steps_are_a_floor_and_a_ceiling() {
        let epochs = |least, most, batches| length(60, least, most, batches).epochs;
        assert_eq!(epochs(0, 0, 7), 60);
        assert_eq!(epochs(1500, 0, 1), 1500);
        assert_eq!(epochs(1500, 0, 7), 215);
        assert_eq!(epochs(1500, 0, 25), 60, "as many by itself");
        assert_eq!(epochs(1500, 0, 1000), 60);
        assert_eq!(epochs(0, 1000, 100), 10);
        assert_eq!(epochs(1500, 1000, 7), 142, "the ceiling is the stronger one");
        assert_eq!(epochs(0, 10, 100), 1, "no less than an epoch");
    }

    #[test]
    fn the_schedule_keeps_its_shape() {
        let plain = length(60, 0, 0, 7);
        assert!((0..200).all(|epoch| plain.scheduled(epoch) == epoch));
        let stretched = length(60, 1500, 0, 1);
        let third = |epoch| stretched.scheduled(epoch) / 20;
        assert_eq!([0, 499, 500, 999, 1000, 1499].map(third), [0, 0, 1, 1, 2, 2]);
        let shortened = length(60, 0, 30, 1);
        assert_eq!([0, 9, 10, 29].map(|epoch| shortened.scheduled(epoch)), [0, 18, 20, 58]);
    }

    #[test]
    fn a_stretched_run_is_measured_now_and_then() {
        for (least, batches) in [(1500, 1), (1500, 7), (100_000, 1), (61, 1), (3000, 2)] {
            let length = length(60, least, 0, batches);
            let (mut done, mut records) = (0, 0);
            while done < length.epochs {
                done = length.last_of_stretch(done + 1);
                records += 1;
            }
            assert_eq!(done, length.epochs);
            assert!(records <= MOST_RECORDS && records > MOST_RECORDS / 3, "{records}");
        }
        assert_eq!(length(1000, 0, 0, 1).stride, 1, "as the settings say");
    }
}
