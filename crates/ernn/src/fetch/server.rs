//! A server of one file on this machine, with the habits and faults of real ones.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How it answers.
#[derive(Clone)]
pub struct Manner {
    /// Understands `Range` and `If-Range`.
    pub ranges: bool,
    /// States the length.
    pub length: bool,
    /// Its word for the content.
    pub tag: Option<String>,
    /// The first so many answers with content break off after so many bytes.
    pub cuts: (usize, usize),
    /// Instead of content.
    pub status: Option<u16>,
    /// Sends those who ask for this path to `/name`.
    pub redirect: Option<String>,
    /// Waits before each kilobyte.
    pub pause: Duration,
    /// Says nothing more after the first bytes of an answer, and does not hang up.
    pub silent_after: Option<usize>,
}

impl Default for Manner {
    fn default() -> Self {
        Manner {
            ranges: true,
            length: true,
            tag: Some("\"one\"".to_owned()),
            cuts: (0, 0),
            status: None,
            redirect: None,
            pause: Duration::ZERO,
            silent_after: None,
        }
    }
}

/// The server; it lives as long as the process.
pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves `content` at every path.
    pub fn start(content: Vec<u8>, manner: Manner) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&requests);
        thread::spawn(move || {
            let mut cuts_left = manner.cuts.0;
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that hangs up is what some tests are about.
                let _ = answer(stream, &content, &manner, &mut cuts_left, &noted);
            }
        });
        Server { address, requests }
    }

    /// The requests so far, as they came, without line ends.
    #[allow(dead_code, reason = "the command's tests do not look at requests")]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    content: &[u8],
    manner: &Manner,
    cuts_left: &mut usize,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let request: Vec<String> = BufReader::new(&stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    requests.lock().unwrap().push(request.join("|"));
    let header = |wanted: &str| {
        let lines = request.iter().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.to_owned())
            .next()
    };
    let path = request
        .first()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or_default();
    let mut stream = &stream;
    if manner.redirect.as_deref() == Some(path) {
        return write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: /name\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    if let Some(status) = manner.status {
        return write!(
            stream,
            "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let same = header("If-Range").is_none_or(|tag| Some(tag) == manner.tag);
    let from = header("Range").filter(|_| manner.ranges && same);
    let from: Option<usize> = from.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let total = content.len();
    let mut head = match from {
        Some(from) if from >= total => {
            return write!(
                stream,
                "HTTP/1.1 416 No\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Some(from) => format!(
            "HTTP/1.1 206 Partial\r\nContent-Range: bytes {from}-{}/{total}\r\n",
            total - 1
        ),
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    let body = &content[from.unwrap_or(0)..];
    if manner.length {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    if let Some(tag) = &manner.tag {
        head += &format!("ETag: {tag}\r\n");
    }
    write!(stream, "{head}Connection: close\r\n\r\n")?;
    let cut = *cuts_left > 0;
    *cuts_left -= usize::from(cut);
    let body = if cut {
        &body[..manner.cuts.1.min(body.len())]
    } else {
        body
    };
    send(stream, body, manner)
}

fn send(mut stream: &TcpStream, body: &[u8], manner: &Manner) -> std::io::Result<()> {
    if let Some(bytes) = manner.silent_after {
        stream.write_all(&body[..bytes])?;
        // The client hangs up at some time, and then this read ends.
        let mut nothing = [0];
        return std::io::Read::read(&mut stream, &mut nothing).map(drop);
    }
    for piece in body.chunks(1024) {
        thread::sleep(manner.pause);
        stream.write_all(piece)?;
    }
    Ok(())
}
