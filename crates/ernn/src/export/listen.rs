//! What an export of a model of sequences has besides: windows of a stream without an end, events, and numbers to test both with.

use ernn_core::listen::{Event, Events, copies};

use super::plan::Plan;
use super::{Format, Prepared, Samples, device_logits, int_logits};
use crate::Result;
use crate::checkpoint::{Listening, SavedModel};

/// Windows of the test of events.
pub(super) const TEST_WINDOWS: usize = 96;

/// How a model listens, where it can.
pub(super) struct Listens {
    pub way: Listening,
    /// For each class whether it is an event.
    pub is_event: Vec<bool>,
}

impl Listens {
    /// The way that was asked for; none of a model that does not give one of several classes for a sequence of numbers.
    ///
    /// # Errors
    /// If the way does not fit the model's classes.
    pub fn of(saved: &SavedModel, plan: &Plan, way: Option<&Listening>) -> Result<Option<Self>> {
        let classes = plan.outputs > 1 && plan.unit.is_none() && !plan.several && !plan.tokens;
        let Some(way) = way.filter(|_| classes && saved.classes.len() == plan.outputs) else {
            return Ok(None);
        };
        way.check(&saved.classes)?;
        Ok(Some(Listens {
            is_event: way.events_of(&saved.classes),
            way: way.clone(),
        }))
    }

    /// States that a stream has.
    pub fn copies(&self) -> usize {
        copies(self.way.window as u32, self.way.hop as u32)
    }

    /// What the events of drawn logits add up to.
    pub fn test_sum(&self) -> u32 {
        let (rule, outputs) = (self.way.rule(&self.is_event), self.is_event.len());
        let mut shares = vec![0; usize::from(rule.average) * outputs];
        let mut events = Events::new();
        let (mut state, mut sum) = (1_u32, 0_u32);
        let mut logits = vec![0; outputs];
        for window in 0..TEST_WINDOWS {
            for logit in logits.iter_mut().filter(|_| window % 3 == 0) {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *logit = 16 * ((state >> 16) as i32 - 32_768);
            }
            let event = events
                .push(&rule, &mut shares, &logits)
                .expect("as many numbers as outputs");
            let begun = if let Event::Begins(class) = event {
                class as u32 + 1
            } else {
                0
            };
            sum = sum.wrapping_mul(31).wrapping_add(begun);
        }
        sum
    }

    /// The logits, as text, of the second window of the steps that the self-test has, over and over.
    pub fn test_window(&self, prepared: &Prepared) -> Vec<String> {
        let features = prepared.samples.features;
        let steps: Vec<&[f32]> = prepared
            .tests()
            .flat_map(|(sequence, _)| sequence.chunks_exact(features))
            .collect();
        let (window, hop) = (self.way.window, self.way.hop);
        let sequence = steps.iter().cycle().skip(hop % steps.len()).take(window);
        let samples = Samples {
            sequences: vec![sequence.flat_map(|step| step.iter().copied()).collect()],
            labels: Vec::new(),
            indicators: Vec::new(),
            numbers: Vec::new(),
            ..prepared.samples.clone()
        };
        let last = (window - 1) * prepared.plan.outputs..;
        match prepared.plan.format {
            Format::Float => device_logits(&prepared.image, &samples)[0][last]
                .iter()
                .map(|logit| format!("{logit:?}"))
                .collect(),
            Format::Int8 => int_logits(&prepared.image, &samples).0[0][last]
                .iter()
                .map(i32::to_string)
                .collect(),
        }
    }
}
