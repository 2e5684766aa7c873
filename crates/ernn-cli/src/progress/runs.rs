//! Progress of many runs one after the other: a bar of all of them on a terminal, and what is left of their time everywhere.

use ernn::names::counted;
use indicatif::ProgressBar;

use super::line::Line;
use super::meter::{Meter, roughly};
use super::{Blink, bar, bar_look, clear};
use crate::output::say;
use crate::table::{columns_of, ending};
use crate::terminal::{self, COLUMNS};

/// Columns of a run's name beside the bar at most.
const LONGEST_NAME: usize = 28;

/// Runs done of runs in all; one under way counts by its part.
pub struct Runs {
    bar: Option<ProgressBar>,
    blink: Blink,
    /// Of the runs that this process does.
    meter: Meter,
    /// Those that are done, and all, as the library counts them.
    done: usize,
    runs: usize,
}

impl Default for Runs {
    /// None yet.
    fn default() -> Self {
        Runs {
            bar: None,
            blink: Blink::default(),
            meter: Meter::new(),
            done: 0,
            runs: 0,
        }
    }
}

impl Runs {
    /// Before the first run of this process: so many were done before.
    pub fn started(&mut self, done: usize, runs: usize) {
        (self.done, self.runs) = (done, runs);
        self.meter = Meter::of(done as f64, runs as f64);
        clear(self.bar.as_ref());
        self.bar = (done < runs).then(bar).flatten();
    }

    /// A run has come so far.
    pub fn under_way(&mut self, name: &str, share: f64) {
        self.meter.reached(self.done as f64 + share);
        let Some(bar) = self.bar.as_ref().filter(|_| self.blink.is_due()) else {
            return;
        };
        let line = Line::default()
            .part(0, format!("{} {:.0} %", ending(name, LONGEST_NAME), 100.0 * share))
            .part(1, self.left());
        let head = format!("{}/{}", self.done, counted(self.runs, "run"));
        bar.set_message(line.with_bar(&head, self.meter.share(), terminal::width() - 1, &bar_look()));
    }

    /// A run is over, the `done`th; the line says what came of it, and then what else there is room for, the most important first.
    pub fn run_done(&mut self, name: &str, done: usize, result: &str, others: &[String]) {
        self.done = done;
        self.meter.reached(self.done as f64);
        let count = format!("{done}/{}", self.runs);
        // A long path gives way to the result.
        let name = ending(name, COLUMNS.saturating_sub(columns_of(&format!("{count} : {result}"))));
        let mut line = Line::default()
            .part(0, format!("{count} {name}: {result}"))
            .part(1, self.left());
        for (rank, other) in (2..).zip(others) {
            line = line.part(rank, other);
        }
        say(&line.fitted(COLUMNS));
    }

    /// One run less to do here: another process does it.
    pub fn run_taken(&mut self) {
        self.meter.lessen(1.0);
    }

    /// `about 5 min left`, as long as runs are left and one was done.
    fn left(&self) -> String {
        let left = self.meter.left().filter(|_| self.meter.share() < 1.0);
        left.map_or_else(String::new, |time| format!("about {} left", roughly(time)))
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        clear(self.bar.as_ref());
    }
}
