//! One request, in a thread of its own, so that neither a silent server nor Ctrl-C has to wait for it.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use ureq::http::{Response, header};
use ureq::{Agent, Body};

/// What comes of a request, in this order: a head, bytes, the end; or something breaks.
pub(super) enum Event {
    Head(Head),
    Bytes(Vec<u8>),
    End,
    Broken(String),
}

/// What the answer says about itself.
#[derive(Debug)]
pub(super) struct Head {
    pub status: u16,
    /// Bytes of this answer.
    pub length: Option<u64>,
    /// Of `Content-Range: bytes 10-19/20`: 10 and 20; of `bytes */20`: none and 20.
    pub range: (Option<u64>, Option<u64>),
    /// A text that the server has for exactly this content: a strong `ETag`, or the date of the last change.
    pub tag: Option<String>,
}

/// Abandoned threads, which nobody listens to, end after so long a silence.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
const PIECE: usize = 1 << 16;
/// Pieces that may wait for the disk.
const WAITING: usize = 8;

/// Asks for a file from byte `from` on; with a tag only if it is still the same file.
pub(super) fn start(address: &str, from: u64, tag: Option<&str>) -> Receiver<Event> {
    let (sender, receiver) = sync_channel(WAITING);
    let (address, tag) = (address.to_owned(), tag.map(str::to_owned));
    // A receiver that is gone is how the thread is told to stop, so that failing to send is no error.
    thread::spawn(move || match request(&address, from, tag.as_deref()) {
        Ok(response) => drop(pass_on(response, &sender)),
        Err(error) => drop(sender.send(Event::Broken(error.to_string()))),
    });
    receiver
}

fn request(address: &str, from: u64, tag: Option<&str>) -> Result<Response<Body>, ureq::Error> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(LONGEST_SILENCE))
        .timeout_per_read(Some(LONGEST_SILENCE))
        .user_agent(concat!("ernn/", env!("CARGO_PKG_VERSION")))
        .build();
    // As it is stored: a server that packs on the way would change lengths and checksums.
    let mut request = Agent::new_with_config(config)
        .get(address)
        .header(header::ACCEPT_ENCODING, "identity");
    if from > 0 {
        request = request.header(header::RANGE, format!("bytes={from}-"));
        if let Some(tag) = tag {
            request = request.header(header::IF_RANGE, tag);
        }
    }
    request.call()
}

/// Ends early if nobody listens any more.
fn pass_on(response: Response<Body>, sender: &SyncSender<Event>) -> Option<()> {
    sender.send(Event::Head(head(&response))).ok()?;
    let mut body = response.into_body().into_reader();
    loop {
        let mut piece = vec![0; PIECE];
        let event = match body.read(&mut piece) {
            Ok(0) => Event::End,
            Ok(read) => {
                piece.truncate(read);
                Event::Bytes(piece)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Event::Broken(error.to_string()),
        };
        let last = !matches!(event, Event::Bytes(_));
        sender.send(event).ok()?;
        if last {
            return Some(());
        }
    }
}

fn head(response: &Response<Body>) -> Head {
    let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let etag = text(header::ETAG).filter(|tag| !tag.starts_with("W/"));
    Head {
        status: response.status().as_u16(),
        length: text(header::CONTENT_LENGTH).and_then(|length| length.trim().parse().ok()),
        range: text(header::CONTENT_RANGE).map_or((None, None), content_range),
        tag: etag.or_else(|| text(header::LAST_MODIFIED)).map(str::to_owned),
    }
}

fn content_range(text: &str) -> (Option<u64>, Option<u64>) {
    let Some((span, total)) = text.trim().strip_prefix("bytes ").and_then(|rest| rest.split_once('/')) else {
        return (None, None);
    };
    let from = span.split('-').next().and_then(|from| from.trim().parse().ok());
    (from, total.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_nonsense_is_none() {
        assert_eq!(content_range("bytes 10-19/20"), (Some(10), Some(20)));
        assert_eq!(content_range("bytes */20"), (None, Some(20)));
        assert_eq!(content_range("bytes 0-9/*"), (Some(0), None));
        assert_eq!(content_range("pages 1-2/3"), (None, None));
    }
}
