//! Our contestant in the side-by-side timings: answers requests line by line, see `bench/README.md` for the protocol.

mod contestant;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Instant;

use contestant::{Contestant, Request};
use serde_json::json;

/// Iterations that are run before the first timed ones.
const WARM_UP: usize = 3;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let isa = ernn::Isa::best().name();
    writeln!(
        out,
        "{}",
        json!({"name": "ernn", "version": env!("CARGO_PKG_VERSION"), "isa": isa})
    )?;
    out.flush()?;
    let mut contestants: HashMap<String, Contestant> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let answer = match answer(&line?, &mut contestants) {
            Ok(ms) => json!({"ms": ms}),
            Err(problem) => json!({"error": problem}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// Mean milliseconds an iteration.
fn answer(line: &str, contestants: &mut HashMap<String, Contestant>) -> Result<f64, String> {
    let (key, iterations) = line.trim().rsplit_once(' ').ok_or("found one word, expected ten")?;
    let iterations: usize = iterations
        .parse()
        .map_err(|_| format!("iterations: found {iterations}"))?;
    if !contestants.contains_key(key) {
        let mut contestant = Contestant::build(&Request::parse(key)?)?;
        (0..WARM_UP).for_each(|_| contestant.run());
        contestants.insert(key.to_string(), contestant);
    }
    let contestant = contestants.get_mut(key).ok_or("no contestant")?;
    let start = Instant::now();
    (0..iterations).for_each(|_| contestant.run());
    Ok(start.elapsed().as_secs_f64() * 1000.0 / iterations.max(1) as f64)
}
