//! Segments: runs of steps with one class, as they are and as a model says.
//!
//! ```text
//! overlap(a, b) = steps in both / steps in either
//! found at t     a segment said, in turn, whose best overlap with a true one of its class is at least t, and that one is not found yet
//! F1@t           2 found / (segments said + true segments)
//! ```
//!
//! The segmental F1 of Lea et al., "Temporal Convolutional Networks for Action Segmentation and Detection", CVPR 2017, which punishes
//! segments that are cut to pieces and forgives borders that are a little off. Windows that follow each other are put together before; a
//! step without a label ends a true segment and what is said there counts for nothing.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::{UNLABELLED, View};

/// Overlaps in percent at which segments are found.
const OVERLAPS: [u32; 3] = [10, 25, 50];

/// What became of the segments of a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Segments {
    /// True ones.
    pub segments: usize,
    /// What the model said.
    pub said: usize,
    /// Those that were found at overlaps of 10, 25 and 50 percent.
    pub found: [usize; 3],
    /// F1 at these overlaps.
    pub f1: [f64; 3],
    /// The first recordings, to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// Hours of steps with a label; none where nobody knows how many steps there are in an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<f64>,
}

/// What the steps of a recording are, and what they were called: runs of steps of one class as start, end and class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Runs of steps with a label.
    pub truth: Vec<[u32; 3]>,
    /// Runs of steps that were called the same.
    pub said: Vec<[u32; 3]>,
    /// None where nobody knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_a_step: Option<f64>,
}

/// Recordings with a timeline, and runs in it.
const TIMELINES: usize = 2;
const RUNS: usize = 200;

impl Timeline {
    fn of(labels: &[u32], said: &[u32]) -> Self {
        let runs = |classes: &[u32]| -> Vec<[u32; 3]> {
            let run = |segment: &Segment| [segment.start as u32, segment.end as u32, segment.class];
            segments(classes).iter().take(RUNS).map(run).collect()
        };
        let mut both = [runs(labels), runs(said)];
        // As far as both reach.
        let full = both.iter().filter(|runs| runs.len() == RUNS);
        if let Some(end) = full.filter_map(|runs| Some(runs.last()?[1])).min() {
            both.iter_mut().for_each(|runs| runs.retain(|run| run[0] < end));
        }
        let [truth, said] = both;
        Timeline {
            truth,
            said,
            seconds_a_step: None,
        }
    }
}

/// A run of steps with one class.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    class: u32,
    start: usize,
    end: usize,
}

impl Segments {
    /// Compares what was said at each step of each sequence with its labels.
    pub(super) fn of(part: &View, said: &[Vec<u32>]) -> Segments {
        let mut counts = [Counts::default(); 3];
        let mut timelines = Vec::new();
        for own in recordings(part) {
            let labels: Vec<u32> = own.clone().flat_map(|index| part.step_labels(index)).copied().collect();
            let called: Vec<u32> = said[own].concat();
            if timelines.len() < TIMELINES && labels.iter().any(|&label| label != UNLABELLED) {
                timelines.push(Timeline::of(&labels, &called));
            }
            for (counts, percent) in counts.iter_mut().zip(OVERLAPS) {
                counts.add(&labels, &called, f64::from(percent) / 100.0);
            }
        }
        let [first, ..] = counts;
        Segments {
            timelines,
            ..Segments::counted(first.segments, first.said, counts.map(|counts| counts.found))
        }
    }

    fn counted(segments: usize, said: usize, found: [usize; 3]) -> Segments {
        Segments {
            segments,
            said,
            found,
            f1: found.map(|found| 2.0 * found as f64 / (segments + said).max(1) as f64),
            timelines: Vec::new(),
            hours: None,
        }
    }

    /// Several parts as one.
    pub(super) fn pooled<'a>(parts: impl Iterator<Item = &'a Segments>) -> Segments {
        let (mut segments, mut said, mut found, mut hours) = (0, 0, [0; 3], Some(0.0));
        let mut timelines = Vec::new();
        for part in parts {
            // One of each fold, as many as there is room for.
            timelines.extend(part.timelines.first().filter(|_| timelines.len() < TIMELINES).cloned());
            hours = hours.zip(part.hours).map(|(sum, own)| sum + own);
            segments += part.segments;
            said += part.said;
            found = std::array::from_fn(|overlap| found[overlap] + part.found[overlap]);
        }
        Segments {
            timelines,
            hours,
            ..Segments::counted(segments, said, found)
        }
    }

    /// What was not found, at half overlap.
    pub fn missed(&self) -> usize {
        self.segments - self.found[2]
    }

    /// What was said and is not there, at half overlap.
    pub fn false_alarms(&self) -> usize {
        self.said - self.found[2]
    }
}

/// Sequences that follow each other, as one; each of the others for itself.
pub(super) fn recordings(part: &View) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for index in 0..part.len() {
        match all.last_mut() {
            Some(last) if part.follows(index) => last.end = index + 1,
            _ => all.push(index..index + 1),
        }
    }
    all
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    segments: usize,
    said: usize,
    found: usize,
}

impl Counts {
    fn add(&mut self, labels: &[u32], said: &[u32], overlap: f64) {
        let known = |(&said, &label): (&u32, &u32)| if label == UNLABELLED { UNLABELLED } else { said };
        let said: Vec<u32> = said.iter().zip(labels).map(known).collect();
        let truth = segments(labels);
        let mut taken = vec![false; truth.len()];
        let said = segments(&said);
        self.segments += truth.len();
        self.said += said.len();
        for said in said {
            let overlaps = truth.iter().map(|truth| said.overlap(truth));
            let best = overlaps.enumerate().fold(
                (0, 0.0),
                |best, (place, own)| if own > best.1 { (place, own) } else { best },
            );
            if best.1 > 0.0 && best.1 >= overlap && !taken[best.0] {
                taken[best.0] = true;
                self.found += 1;
            }
        }
    }
}

impl Segment {
    /// Steps in both over steps in either; nothing of another class.
    fn overlap(&self, other: &Segment) -> f64 {
        if self.class != other.class {
            return 0.0;
        }
        let both = self.end.min(other.end).saturating_sub(self.start.max(other.start));
        let either = self.end.max(other.end) - self.start.min(other.start);
        both as f64 / either as f64
    }
}

fn segments(classes: &[u32]) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    let mut start = 0;
    for run in classes.chunk_by(|a, b| a == b) {
        let segment = Segment {
            class: run[0],
            start,
            end: start + run.len(),
        };
        start = segment.end;
        all.extend((segment.class != UNLABELLED).then_some(segment));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Part;

    fn f1(labels: &[u32], said: &[u32], overlap: f64) -> f64 {
        let mut counts = Counts::default();
        counts.add(labels, said, overlap);
        Segments::counted(counts.segments, counts.said, [counts.found; 3]).f1[0]
    }

    /// By hand, and as Lea's script counts: 0 0 0 0 1 1 1 2 2 2 against two borders off by one and a segment cut in two.
    #[test]
    fn f1_of_segments() {
        let labels = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2];
        let said = [0, 0, 0, 1, 1, 1, 2, 2, 1, 2];
        // Said: 0 (3 of 4), 1 (2 of 4), 2 (1 of 4 steps in either), 1 (overlaps nothing of its own), 2 (1 of 3).
        assert!((f1(&labels, &said, 0.10) - 2.0 * 3.0 / 8.0).abs() < 1e-12);
        assert!((f1(&labels, &said, 0.50) - 2.0 * 2.0 / 8.0).abs() < 1e-12);
        assert!((f1(&labels, &said, 0.75) - 2.0 * 1.0 / 8.0).abs() < 1e-12);
        assert_eq!(f1(&labels, &labels, 1.0), 1.0);
        assert_eq!(
            f1(&[1, 1, 0, 0], &[0, 0, 1, 1], 0.1),
            0.0,
            "another class is no overlap"
        );
        assert_eq!(f1(&[], &[], 0.5), 0.0);
    }

    #[test]
    fn a_timeline_reaches_as_far_as_both_of_its_lines() {
        let labels: Vec<u32> = (0..900).map(|step| step / 300).collect();
        let said: Vec<u32> = (0..900).map(|step| step % 2).collect();
        let found = Timeline::of(&labels, &said);
        assert_eq!((found.truth.len(), found.said.len()), (1, 200));
        assert_eq!((found.truth[0], found.said[199]), ([0, 300, 0], [199, 200, 1]));
    }

    #[test]
    fn steps_without_a_label_count_for_nothing() {
        let labels = [0, 0, UNLABELLED, UNLABELLED, 1, 1];
        assert_eq!(f1(&labels, &[0, 0, 1, 0, 1, 1], 0.5), 1.0);
        assert_eq!(segments(&labels).len(), 2);
    }

    #[test]
    fn windows_that_follow_each_other_are_one() {
        let mut part = Part::new(1);
        for values in [[0.0; 4], [1.0; 4], [2.0; 4]] {
            part.push(&values, None, None);
        }
        part.step_labels = vec![0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0];
        part.follows = vec![false, true, false];
        let said = [vec![0, 0, 1, 1], vec![1, 1, 0, 0], vec![0, 0, 0, 0]];
        let found = Segments::of(&View::of(&part), &said);
        assert_eq!((found.segments, found.found, found.f1), (4, [4; 3], [1.0; 3]));
        part.follows.clear();
        assert_eq!(Segments::of(&View::of(&part), &said).segments, 5);
    }
}
