//! `ernn data fetch`: a known data set from its public address into the data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use ernn::data::OpenOptions;
use ernn::fetch::{self, Ending, FetchOptions, Patience, Watcher};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::run_settings::stop_on_signals;
use crate::failure::{Failure, Result};
use crate::output::{self, Level, say};
use crate::terminal::Stream;

/// Arguments of `ernn data fetch`.
#[derive(Args)]
pub struct Arguments {
    /// Known name of the data set
    name: String,
    /// Folder of known data sets, where it goes (also read from ERNN_DATA_DIR)
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Another place that has the files under their names, instead of the public address
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Download what is there already, from its beginning
    #[arg(long)]
    force: bool,
    /// Print one JSON object with the files
    #[arg(long)]
    json: bool,
}

/// Runs `ernn data fetch`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let source = fetch::source(&arguments.name)?;
    let reading = OpenOptions {
        data_dir: arguments.data_dir.clone(),
        ..OpenOptions::default()
    };
    let folder = reading
        .data_folder()
        .ok_or_else(|| Failure::Usage("no data folder: name one with --data-dir or ERNN_DATA_DIR".to_string()))?;
    let options = FetchOptions {
        folder,
        mirror: arguments.mirror.clone(),
        force: arguments.force,
        patience: Patience::default(),
    };
    say(&format!("terms of {}: {}", arguments.name, source.license));
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop, "stopping");
    match fetch::fetch(source, &options, &mut Progress::new(stop))? {
        Ending::Stopped => Err(Failure::Interrupted("the same command".to_string())),
        Ending::Complete(files) if arguments.json => {
            Ok(output::print_json(&json!({"name": arguments.name, "files": files}))?)
        }
        Ending::Complete(files) => {
            let lines: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            Ok(output::print(&lines.join("\n"))?)
        }
    }
}

/// A bar on a terminal, elsewhere a line a file.
struct Progress {
    stop: Arc<AtomicBool>,
    on_terminal: bool,
    bar: ProgressBar,
}

impl Progress {
    fn new(stop: Arc<AtomicBool>) -> Self {
        Progress {
            stop,
            on_terminal: Stream::Err.is_terminal() && output::says(Level::Normal),
            bar: ProgressBar::hidden(),
        }
    }
}

impl Progress {
    fn clear(&self) {
        output::set_bar(None);
        self.bar.finish_and_clear();
    }
}

impl Watcher for Progress {
    fn started(&mut self, file: &str, done: u64, total: Option<u64>) {
        if !self.on_terminal {
            let from = if done > 0 {
                format!(", going on after {}", megabytes(done))
            } else {
                String::new()
            };
            let size = total.map_or_else(|| "size unknown".to_string(), megabytes);
            return say(&format!("downloading {file} ({size}){from}"));
        }
        let template = match total {
            Some(_) => {
                "{prefix} {wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left"
            }
            None => "{prefix} {decimal_bytes}, {decimal_bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        self.clear();
        // Bytes of an earlier call say nothing about the speed of this one.
        self.bar = ProgressBar::new(total.unwrap_or(0))
            .with_style(style)
            .with_prefix(file.to_string());
        self.bar.set_position(done);
        self.bar.reset_eta();
        output::set_bar(Some(self.bar.clone()));
    }

    fn received(&mut self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn troubled(&mut self, text: &str) {
        say(&format!("warning: {text}"));
    }

    fn verifying(&mut self, file: &str) {
        self.clear();
        say(&format!("checking {file}"));
    }

    fn finished(&mut self, path: &Path, fresh: bool) {
        if !fresh {
            say(&format!("{} is there already", path.display()));
        }
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
