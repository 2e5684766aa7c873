//! Events that a listening model tells, beside those that were: misses, false alarms, and the way of listening that gives the best of both.
//!
//! ```text
//! an event is found       if one of its class was told by a window, of those that were averaged, that has a step of it
//! a false alarm           is what was told besides, a second telling of the same event too
//! latency                 from the end of an event to the end of the window that told it
//! ```

use ernn_core::listen::{Event, Events};
use serde::Serialize;

use super::Listener;
use crate::checkpoint::{Listening, SavedModel, WorkingPoint};
use crate::data::{LabelledStreams, UNLABELLED};
use crate::{Error, Result};

/// A recording as its windows: for each its last step and its logits, with 16 binary places.
type Windows = Vec<(usize, Vec<i32>)>;

/// An event of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
struct True {
    class: usize,
    /// Its first step, from 0, and the step behind its last one.
    start: usize,
    end: usize,
}

/// Recordings that a model has listened to: what its windows said, and the events that were.
#[derive(Clone, Debug)]
pub struct Detection {
    classes: usize,
    is_event: Vec<bool>,
    listening: Listening,
    recordings: Vec<(Windows, Vec<True>)>,
    steps: usize,
    /// Steps a second.
    rate: f64,
}

/// A threshold and what it gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The averaged probability from which on an event begins.
    pub on: f64,
    /// What it gives.
    #[serde(flatten)]
    pub found: WorkingPoint,
}

impl Detection {
    /// Listens to recordings.
    ///
    /// # Errors
    /// If the model cannot listen, a label is none of its classes, or the rate of the steps is not known.
    pub fn of(saved: &SavedModel, listening: &Listening, streams: &LabelledStreams) -> Result<Self> {
        let source = &streams.sequences.source;
        let problem = |problem: String| Error::data(source, problem);
        let rate = streams.rate.ok_or_else(|| {
            problem("found no rate, expected --rate with the steps a second, to count events an hour".to_string())
        })?;
        let part = &streams.sequences.part;
        let class_of: Vec<Option<usize>> = (streams.sequences.classes.iter())
            .map(|name| saved.classes.iter().position(|class| class == name))
            .collect();
        if let Some(place) = class_of.iter().position(Option::is_none) {
            let (found, expected) = (&streams.sequences.classes[place], saved.classes.join(", "));
            return Err(problem(format!(
                "found an event \"{found}\", expected classes of the model: {expected}"
            )));
        }
        if part.step_labels.len() != part.steps() {
            let expected =
                "labels of their steps: --labels events.csv (start, end, label), or a column with --label-column";
            return Err(problem(format!("found recordings without labels, expected {expected}")));
        }
        if part.longest() < listening.window {
            let (found, expected) = (part.longest(), listening.window);
            return Err(problem(format!(
                "found recordings of at most {found} steps, expected one as long as the window of {expected}"
            )));
        }
        let is_event = listening.events_of(&saved.classes);
        let mut recordings = Vec::with_capacity(part.len());
        for sequence in 0..part.len() {
            let mut listener = Listener::new(saved, listening)?;
            let mut windows = Vec::new();
            for row in part.sequence(sequence).chunks_exact(part.features) {
                if let Some(heard) = listener.push(row)? {
                    windows.push((heard.step, heard.logits));
                }
            }
            let labels = &part.step_labels[part.offsets[sequence]..part.offsets[sequence + 1]];
            let class = |label: u32| (label != UNLABELLED).then(|| class_of[label as usize]).flatten();
            let events = runs(
                labels
                    .iter()
                    .map(|&label| class(label).filter(|&class| is_event[class])),
            );
            recordings.push((windows, events));
        }
        if recordings.iter().all(|(_, events)| events.is_empty()) {
            return Err(problem(
                "found no event, expected labels of some (--labels events.csv)".to_string(),
            ));
        }
        Ok(Detection {
            classes: saved.classes.len(),
            is_event,
            listening: listening.clone(),
            recordings,
            steps: part.steps(),
            rate,
        })
    }

    /// What a way of listening to these windows gives.
    pub fn measured(&self, listening: &Listening) -> WorkingPoint {
        let mut latencies = Vec::new();
        let (mut events, mut false_alarms) = (0, 0);
        for (windows, truth) in &self.recordings {
            events += truth.len();
            let mut open = vec![true; truth.len()];
            for (class, at) in self.told(listening, windows) {
                let averaged = usize::from(listening.average.max(1)) + usize::from(listening.least.max(1)) - 2;
                let from = at.saturating_sub(listening.window + averaged * listening.hop);
                let fits = |event: &True| event.class == class && event.start < at && event.end > from;
                match (0..truth.len()).find(|&place| open[place] && fits(&truth[place])) {
                    Some(place) => {
                        open[place] = false;
                        latencies.push((at as f64 - truth[place].end as f64) / self.rate);
                    }
                    None => false_alarms += 1,
                }
            }
        }
        latencies.sort_by(f64::total_cmp);
        let hours = self.steps as f64 / self.rate / 3600.0;
        WorkingPoint {
            hours,
            events,
            found: latencies.len(),
            false_alarms_per_hour: f64::from(false_alarms) / hours,
            latency: latencies.get(latencies.len() / 2).copied().unwrap_or(0.0),
        }
    }

    /// The class of each event that is told, and the last step of the window that tells it.
    fn told(&self, listening: &Listening, windows: &Windows) -> Vec<(usize, usize)> {
        let rule = listening.rule(&self.is_event);
        let mut shares = vec![0; usize::from(rule.average) * self.classes];
        let mut events = Events::new();
        let begun = windows.iter().filter_map(|(step, logits)| {
            match events
                .push(&rule, &mut shares, logits)
                .expect("as many logits as classes")
            {
                Event::Begins(class) => Some((class, *step)),
                _ => None,
            }
        });
        begun.collect()
    }

    /// Misses against false alarms: a point for each of some thresholds, rising.
    pub fn curve(&self, listening: &Listening) -> Vec<Point> {
        thresholds()
            .map(|on| Point {
                on,
                found: self.measured(&with(listening, on)),
            })
            .collect()
    }

    /// The way of listening that finds the most events with at most so many false alarms an hour, of equals the one with the fewest, then the
    /// quickest. If none is that background, the quietest.
    pub fn choose(&self, false_alarms_per_hour: f64) -> Listening {
        // All of the best, which differ in their thresholds alone.
        let mut best: Vec<Listening> = Vec::new();
        let mut best_key = [f64::INFINITY; 4];
        for (average, least) in AVERAGED {
            for on in thresholds() {
                let way = Listening {
                    average,
                    least,
                    ..self.listening.clone()
                };
                let way = with(&way, on);
                let point = self.measured(&way);
                let over = (point.false_alarms_per_hour - false_alarms_per_hour).max(0.0);
                let key = [over, -(point.found as f64), point.false_alarms_per_hour, point.latency];
                let way = Listening {
                    chosen: Some(point),
                    ..way
                };
                match key.partial_cmp(&best_key) {
                    Some(std::cmp::Ordering::Less) => (best, best_key) = (vec![way], key),
                    Some(std::cmp::Ordering::Equal) if (best[0].average, best[0].least) == (average, least) => {
                        best.push(way)
                    }
                    _ => {}
                }
            }
        }
        // The middle one is far from both ends, where events or false alarms begin.
        best.swap_remove(best.len() / 2)
    }
}

/// Windows that are averaged, and that must say so one after the other.
const AVERAGED: [(u16, u16); 10] = [
    (1, 1),
    (2, 1),
    (3, 1),
    (4, 1),
    (6, 1),
    (8, 1),
    (1, 2),
    (2, 2),
    (3, 2),
    (4, 2),
];

fn thresholds() -> impl Iterator<Item = f64> {
    let near_one = [0.92, 0.94, 0.96, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995];
    (4..=18).map(|twentieth| f64::from(twentieth) / 20.0).chain(near_one)
}

/// The same with another threshold; an event ends at half of it.
fn with(listening: &Listening, on: f64) -> Listening {
    Listening {
        on,
        off: on / 2.0,
        ..listening.clone()
    }
}

/// Runs of equal classes.
fn runs(classes: impl Iterator<Item = Option<usize>>) -> Vec<True> {
    let mut found: Vec<True> = Vec::new();
    let mut last = None;
    for (step, class) in classes.enumerate() {
        match class {
            Some(_) if class == last => found.last_mut().expect("a run").end = step + 1,
            Some(class) => found.push(True {
                class,
                start: step,
                end: step + 1,
            }),
            None => {}
        }
        last = class;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> Listening {
        Listening {
            hop: 2,
            average: 1,
            on: 0.5,
            off: 0.25,
            rest: 0,
            ..Listening::of_window(4, &[])
        }
    }

    /// Windows that say a class each, two steps apart, of a recording of 3,600 steps a second: an hour is a step.
    fn detection(said: &[usize], truth: &[(usize, usize, usize)]) -> Detection {
        let logits = |class: usize| (0..3).map(|other| if other == class { 2 << 16 } else { 0 }).collect();
        let windows = said
            .iter()
            .enumerate()
            .map(|(place, &class)| (4 + 2 * place, logits(class)));
        let truth = truth.iter().map(|&(class, start, end)| True { class, start, end });
        Detection {
            classes: 3,
            is_event: vec![false, true, true],
            listening: listening(),
            recordings: vec![(windows.collect(), truth.collect())],
            steps: 100,
            rate: 100.0 / 3600.0,
        }
    }

    #[test]
    fn misses_false_alarms_and_latency_are_counted() {
        // Windows end after steps 4, 6, 8, .. 16.
        let detection = detection(&[0, 1, 1, 0, 2, 0, 1], &[(1, 3, 6), (2, 30, 40), (2, 9, 11)]);
        let found = detection.measured(&listening());
        assert_eq!((found.hours, found.events, found.found), (1.0, 3, 2));
        // The 1 of the last window is nobody's.
        assert_eq!(found.false_alarms_per_hour, 1.0);
        // 6 - 6 and 12 - 11 steps.
        assert_eq!(found.latency, 36.0);
        // The same event, told twice.
        let twice = detection_of_two();
        let found = twice.measured(&listening());
        assert_eq!((found.found, found.false_alarms_per_hour), (1, 1.0));
    }

    fn detection_of_two() -> Detection {
        detection(&[1, 0, 1], &[(1, 2, 8)])
    }

    #[test]
    fn the_chosen_way_keeps_the_bound() {
        // A single window of class 1 is wrong, two in a row are right.
        let said = [0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0];
        let detection = detection(&said, &[(1, 10, 16)]);
        let chosen = detection.choose(0.0);
        let point = chosen.chosen.unwrap();
        assert_eq!((point.found, point.false_alarms_per_hour), (1, 0.0), "{chosen:?}");
        assert_eq!(point, detection.measured(&chosen));
        // A window is sure by 0.79: of all thresholds up to there, which give the same, the middle one.
        assert!((0.4..0.6).contains(&chosen.on), "{chosen:?}");
        let curve = detection.curve(&chosen);
        let own = curve.iter().find(|point| point.on == chosen.on).unwrap();
        assert_eq!(own.found, point);
    }

    #[test]
    fn runs_are_of_one_class() {
        let run = |class, start, end| True { class, start, end };
        let found = runs([None, Some(1), Some(1), Some(2), None, Some(2)].into_iter());
        assert_eq!(found, [run(1, 1, 3), run(2, 3, 4), run(2, 5, 6)]);
    }
}
