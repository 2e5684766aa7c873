//! One file: attempts, addresses, what goes on and what begins anew.
//!
//! ```text
//! 206 from where we are          append
//! 200, 206 from somewhere else   begin anew
//! 416                            all of it is there, or begin anew
//! 429, 5xx, silence, cut off     try again, and go on; give up after some attempts without a new byte
//! others, wrong content          the next address
//! ```

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::partial::Partial;
use super::transfer::{Event, Head, start};
use super::verify::mismatch;
use super::{Check, FetchOptions, Remote, Watcher};
use crate::{Error, Result};

/// How often the watcher is asked whether to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// Why an attempt did not bring the whole file.
enum Trouble {
    /// The watcher wants no more.
    Stopped,
    /// Another attempt may do.
    Broken(String),
    /// This address does not have the file.
    Refused(String),
    /// Nothing that another address could help.
    Local(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Local(error)
    }
}

/// Downloads a file that is not there yet; `false` if the watcher stopped it.
pub(super) fn download(
    remote: &Remote,
    target: &Path,
    options: &FetchOptions,
    watcher: &mut dyn Watcher,
) -> Result<bool> {
    if target.exists() && !options.force {
        check_present(remote, target, watcher)?;
        watcher.finished(target, false);
        return Ok(true);
    }
    let mut partial = Partial::open(target)?;
    if options.force {
        partial.begin(None)?;
    }
    let mut refusals: Vec<String> = Vec::new();
    for address in addresses(remote, options) {
        match from_address(&address, remote, &mut partial, options, watcher) {
            Ok(()) => {
                partial.finish(target)?;
                watcher.finished(target, true);
                return Ok(true);
            }
            Err(Trouble::Stopped) => return Ok(false),
            Err(Trouble::Local(error)) => return Err(error),
            Err(Trouble::Broken(text) | Trouble::Refused(text)) => refusals.push(format!("{address}: {text}")),
        }
    }
    let kept = match partial.length() {
        0 => {
            partial.discard();
            String::new()
        }
        bytes => format!(
            "; {bytes} bytes are kept in {}, and the same command goes on from there",
            partial.path().display()
        ),
    };
    Err(Error::Fetch {
        file: remote.name.to_owned(),
        problem: refusals.join("; ") + &kept,
    })
}

fn addresses(remote: &Remote, options: &FetchOptions) -> Vec<String> {
    match &options.mirror {
        Some(mirror) => vec![format!("{}/{}", mirror.trim_end_matches('/'), remote.name)],
        None => remote.addresses.iter().map(|&address| address.to_owned()).collect(),
    }
}

/// A file that is there must have the right content, too.
fn check_present(remote: &Remote, target: &Path, watcher: &mut dyn Watcher) -> Result<()> {
    watcher.verifying(remote.name);
    let file = File::open(target).map_err(Error::io(target, "read"))?;
    match mismatch(remote.check, target, file)? {
        None => Ok(()),
        Some(text) => Err(Error::data(
            target.display(),
            format!("a file of this name is there, with other content: {text}; --force replaces it"),
        )),
    }
}

/// Attempts until the file is there and right.
fn from_address(
    address: &str,
    remote: &Remote,
    partial: &mut Partial,
    options: &FetchOptions,
    watcher: &mut dyn Watcher,
) -> std::result::Result<(), Trouble> {
    let patience = options.patience;
    let mut failed = 0;
    loop {
        let before = partial.length();
        match attempt(address, remote, partial, patience.silence, watcher) {
            Err(Trouble::Broken(text)) => {
                failed = if partial.length() > before { 1 } else { failed + 1 };
                if failed >= patience.attempts {
                    return Err(Trouble::Broken(text));
                }
                watcher.troubled(&format!("{address}: {text}; trying again"));
                pause(patience.pause * failed, watcher)?;
            }
            outcome => {
                outcome?;
                break;
            }
        }
    }
    watcher.verifying(remote.name);
    match mismatch(remote.check, partial.path(), partial.content()?)? {
        None => Ok(()),
        Some(text) => {
            partial.begin(None)?;
            Err(Trouble::Refused(text))
        }
    }
}

fn pause(time: Duration, watcher: &dyn Watcher) -> std::result::Result<(), Trouble> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if watcher.stop() {
            return Err(Trouble::Stopped);
        }
        thread::sleep(GLANCE.min(end.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

/// One request; at its end all bytes that the server announced are there.
fn attempt(
    address: &str,
    remote: &Remote,
    partial: &mut Partial,
    silence: Duration,
    watcher: &mut dyn Watcher,
) -> std::result::Result<(), Trouble> {
    // Bytes without a tag may be those of another file; a checksum would tell, a length would not.
    if partial.tag().is_none() && remote.check == Check::Length {
        partial.begin(None)?;
    }
    let events = start(address, partial.length(), partial.tag());
    let head = match next(&events, silence, watcher)? {
        Event::Head(head) => head,
        Event::Broken(text) => return Err(Trouble::Broken(text)),
        Event::Bytes(_) | Event::End => return Err(Trouble::Broken("an answer without a head".to_owned())),
    };
    let Some(total) = take_head(&head, partial)? else {
        return Ok(());
    };
    watcher.started(remote.name, partial.length(), total);
    loop {
        match next(&events, silence, watcher)? {
            Event::Bytes(bytes) => {
                partial.append(&bytes)?;
                watcher.received(bytes.len() as u64);
            }
            Event::Broken(text) => return Err(Trouble::Broken(text)),
            Event::Head(_) => {}
            Event::End => break,
        }
    }
    match total {
        Some(total) if total != partial.length() => Err(Trouble::Broken(format!(
            "found {} bytes, expected {total}",
            partial.length()
        ))),
        _ => Ok(()),
    }
}

/// Waits for what comes next.
fn next(events: &Receiver<Event>, silence: Duration, watcher: &dyn Watcher) -> std::result::Result<Event, Trouble> {
    let end = Instant::now() + silence;
    loop {
        if watcher.stop() {
            return Err(Trouble::Stopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        match events.recv_timeout(left.min(GLANCE)) {
            Ok(event) => return Ok(event),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                return Err(Trouble::Broken(format!("no byte for {silence:?}")));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Broken("the connection ended".to_owned())),
        }
    }
}

/// Makes the partial file fit to what comes: its length in the end if the server says so; none if nothing has to come.
fn take_head(head: &Head, partial: &mut Partial) -> std::result::Result<Option<Option<u64>>, Trouble> {
    match (head.status, head.range) {
        (206, (Some(from), total)) if from == partial.length() => Ok(Some(total)),
        (200, _) => {
            partial.begin(head.tag.as_deref())?;
            Ok(Some(head.length))
        }
        (416, (_, Some(total))) if total == partial.length() => Ok(None),
        (206 | 416, _) => {
            partial.begin(None)?;
            Err(Trouble::Broken(
                "the server's file is another one than before".to_owned(),
            ))
        }
        (status @ (408 | 429 | 500..=599), _) => Err(Trouble::Broken(described(status))),
        (status, _) => Err(Trouble::Refused(described(status))),
    }
}

fn described(status: u16) -> String {
    let reason = match status {
        401 | 403 => " (access denied)",
        404 | 410 => " (no such file; the set may have moved: name another place with --mirror)",
        429 => " (too many requests)",
        500..=599 => " (the server has a problem)",
        _ => "",
    };
    format!("found HTTP status {status}{reason}, expected 200 or 206")
}
