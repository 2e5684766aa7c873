//! `ernn predict --stream` of a model of sequences: windows of a stream without an end, a line each, or a line for each event.

use std::io::{self, BufRead, Write};
use std::path::Path;

use ernn::Error;
use ernn::checkpoint::{Listening, SavedModel};
use ernn::data::{self, MissingPolicy, SoundRecipe};
use ernn::evaluate::{Event, Heard, Listener, called};
use serde_json::{Map, Value, json};

use super::listening::time;
use super::predict::{Form, Format, quoted, shown};
use super::predict_stream::{at, each_line};
use super::stream_steps::Steps;
use crate::failure::Result;
use crate::output::significant;

/// How the stream is read, and what is said of it.
pub struct Listen<'a> {
    pub saved: &'a SavedModel,
    pub listening: Listening,
    pub form: Form,
    /// Lines for events alone.
    pub events: bool,
    pub rate: Option<f64>,
    /// The steps are made of samples.
    pub raw: Option<SoundRecipe>,
    pub missing: MissingPolicy,
}

impl Listen<'_> {
    /// Runs until the input ends.
    pub fn run(&self, input: impl BufRead) -> Result<()> {
        let listener = Listener::new(self.saved, &self.listening)?;
        let mut out = io::stdout().lock();
        if self.form.format == Format::Csv {
            writeln!(out, "{}", shown(self.header(), self.form.format))?;
            out.flush()?;
        }
        match &self.raw {
            Some(recipe) => self.samples(recipe, listener, input, &mut out),
            None => self.lines(listener, input, &mut out),
        }
    }

    fn samples(
        &self,
        recipe: &SoundRecipe,
        mut listener: Listener,
        input: impl BufRead,
        out: &mut impl Write,
    ) -> Result<()> {
        let place = Path::new("standard input");
        data::hear(recipe, input, place, |step| {
            let heard = listener.push(step)?;
            self.say(heard, out)
                .map_err(Error::io(Path::new("standard output"), "write"))
        })?;
        Ok(())
    }

    fn lines(&self, mut listener: Listener, input: impl BufRead, out: &mut impl Write) -> Result<()> {
        let mut steps = Steps::new(self.saved, self.missing);
        each_line(input, |number, content| {
            if steps.is_break(content) {
                listener.reset();
                steps.reset();
                return Ok(());
            }
            let heard = steps.values(content).and_then(|values| listener.push(&values));
            Ok(self.say(heard.map_err(|error| at(number, error))?, out)?)
        })
    }

    fn header(&self) -> String {
        if self.events {
            return "end,event,change".to_string();
        }
        let names = self.saved.classes.iter();
        let names: String = names
            .map(|class| format!(",{}", quoted(&format!("p_{class}"))))
            .collect();
        format!("end,class,event{names}")
    }

    fn say(&self, heard: Option<Heard>, out: &mut impl Write) -> io::Result<()> {
        let Some(line) = heard.and_then(|heard| self.line(&heard)) else {
            return Ok(());
        };
        writeln!(out, "{}", shown(line, self.form.format))?;
        out.flush()
    }

    fn line(&self, heard: &Heard) -> Option<String> {
        let end = time(self.saved, self.rate, heard.step);
        let end = (end * 1e4).round() / 1e4;
        let class = |place: usize| &self.saved.classes[place];
        if self.events {
            let (event, change) = match heard.event {
                Event::Begins(place) => (class(place), "begins"),
                Event::Ends(place) => (class(place), "ends"),
                _ => return None,
            };
            return Some(match self.form.format {
                Format::Csv => format!("{end},{},{change}", quoted(event)),
                Format::Json => json!({"end": end, "event": event, "change": change}).to_string(),
            });
        }
        let event = match heard.event {
            Event::Begins(place) | Event::Lasts(place) => Some(class(place)),
            _ => None,
        };
        let shares = heard.prediction.probabilities.iter();
        let shares = shares.map(|&share| significant(share, self.form.digits));
        let said = called(self.saved, &heard.prediction);
        Some(match self.form.format {
            Format::Csv => {
                let event = event.map_or_else(String::new, |event| quoted(event).to_string());
                let shares: String = shares.map(|share| format!(",{share}")).collect();
                format!("{end},{},{event}{shares}", quoted(said))
            }
            Format::Json => {
                let shares: Map<String, Value> = self.saved.classes.iter().cloned().zip(shares).collect();
                json!({"end": end, "class": said, "event": event, "probabilities": shares}).to_string()
            }
        })
    }
}
