//! A stream without an end: windows of it are classified, and events told.

use ernn_core::listen::{Event, Events, Windows, copies, whole_logit};

use super::{Prediction, Stream, must_be};
use crate::checkpoint::{Listening, SavedModel};
use crate::data::Task;
use crate::{Error, Result};

/// A model of sequences that reads raw steps as they come, without an end. Memory does not grow.
#[derive(Clone, Debug)]
pub struct Listener<'a> {
    listening: Listening,
    windows: Windows,
    streams: Vec<Stream<'a>>,
    events: Events,
    is_event: Vec<bool>,
    shares: Vec<u16>,
    steps: usize,
}

/// What a window gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The last step of the window, from 1.
    pub step: usize,
    /// What the model says about the window.
    pub prediction: Prediction,
    /// What that changes.
    pub event: Event,
    /// The logits of the window with 16 binary places.
    pub logits: Vec<i32>,
}

impl Listener<'static> {
    /// A stream at its beginning that keeps its model.
    ///
    /// # Errors
    /// As [`Listener::new`].
    pub fn owned(saved: &SavedModel, listening: &Listening) -> Result<Self> {
        Self::of(saved, listening, Stream::owned(saved.clone()))
    }
}

impl<'a> Listener<'a> {
    /// A stream at its beginning.
    ///
    /// # Errors
    /// If the model does not give one of several classes for a sequence, reads sequences from both ends, or the way of listening does not fit it.
    pub fn new(saved: &'a SavedModel, listening: &Listening) -> Result<Self> {
        Self::of(saved, listening, Stream::new(saved))
    }

    fn of(saved: &SavedModel, listening: &Listening, stream: Result<Stream<'a>>) -> Result<Self> {
        must_be(saved, Task::Classification)?;
        listening.check(&saved.classes)?;
        if saved.model.config().embedding.is_some() {
            let problem = "found a model of texts, expected one of numbers or sound: a text has an end";
            return Err(Error::data("the model", problem));
        }
        let copies = copies(listening.window as u32, listening.hop as u32);
        Ok(Listener {
            windows: Windows::new(listening.window as u32, listening.hop as u32),
            streams: vec![stream?; copies],
            events: Events::new(),
            is_event: listening.events_of(&saved.classes),
            shares: vec![0; usize::from(listening.average.max(1)) * saved.classes.len()],
            listening: listening.clone(),
            steps: 0,
        })
    }

    /// The next step is a first one.
    pub fn reset(&mut self) {
        self.streams.iter_mut().for_each(Stream::reset);
        self.windows = Windows::new(self.listening.window as u32, self.listening.hop as u32);
        self.events = Events::new();
        self.steps = 0;
    }

    /// Steps since the beginning.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// One step with raw values; gives what a window says that ends with it.
    ///
    /// # Errors
    /// As [`Stream::push`]; refused values change nothing.
    pub fn push(&mut self, values: &[f32]) -> Result<Option<Heard>> {
        // A copy that is not under way has no step; what it refuses, it refuses before anything changes.
        let mut windows = self.windows;
        let begins = windows.step();
        let mut ended = None;
        for (place, stream) in self.streams.iter_mut().enumerate() {
            let anew = begins == Some(place);
            if !anew && !(1..self.listening.window).contains(&stream.steps()) {
                continue;
            }
            if anew {
                stream.reset();
            }
            stream.push(values)?;
            if stream.steps() == self.listening.window {
                ended = Some(place);
            }
        }
        self.windows = windows;
        self.steps += 1;
        let Some(stream) = ended.map(|place| &self.streams[place]) else {
            return Ok(None);
        };
        let logits: Vec<i32> = stream.logits().iter().map(|&logit| whole_logit(logit)).collect();
        let prediction = stream.prediction().expect("a model of classes, after a step");
        let rule = self.listening.rule(&self.is_event);
        let event = self
            .events
            .push(&rule, &mut self.shares, &logits)
            .expect("as many logits as classes");
        Ok(Some(Heard {
            step: self.steps,
            prediction,
            event,
            logits,
        }))
    }
}
