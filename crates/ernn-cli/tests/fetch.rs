//! `ernn data fetch` against a server on this machine.
#![cfg(feature = "fetch")]

mod support;
#[path = "../../ernn/src/fetch/server.rs"]
mod server;

use std::time::Duration;

use server::{Manner, Server};
use support::Place;

/// A set of one file without a published checksum.
const NAME: &str = "data/fsdd/free-spoken-digit-dataset-master.tar.gz";

fn content() -> Vec<u8> {
    (0..200_000u32).map(|number| (number % 251) as u8).collect()
}

fn serve(manner: Manner) -> Server {
    Server::start(content(), manner)
}

fn command(server: &Server) -> String {
    format!("data fetch fsdd --data-dir data --mirror {}", server.address)
}

#[test]
fn a_data_set_comes_into_its_folder_after_its_terms_were_said() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    let done = place.ok(&command(&server));
    assert_eq!(done.stdout, format!("{NAME}\n"));
    assert!(
        done.stderr.starts_with("terms of fsdd: CC BY-SA 4.0\ndownloading "),
        "{}",
        done.stderr
    );
    assert!(place.read(NAME) == content());
    let again = place.ok(&command(&server));
    assert!(again.stderr.contains(".tar.gz is there already"), "{}", again.stderr);
    assert_eq!(place.json(&command(&server))["files"][0], NAME);
}

#[test]
fn an_interrupted_download_goes_on() {
    let (place, server) = (
        Place::new(),
        serve(Manner {
            pause: Duration::from_millis(20),
            ..Manner::default()
        }),
    );
    let running = place.start_until(&command(&server), "downloading ");
    // Long enough for some of its four seconds' worth of bytes; how many does not matter.
    std::thread::sleep(Duration::from_millis(500));
    let done = running.interrupt();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    assert!(
        done.stderr.contains("hint: go on with the same command"),
        "{}",
        done.stderr
    );
    assert!(!place.path(NAME).exists());
    let kept = place.read(&format!("{NAME}.part"));
    assert!(!kept.is_empty() && content().starts_with(&kept), "{} bytes", kept.len());
    let done = place.ok(&command(&server));
    assert!(done.stderr.contains(", going on after 0."), "{}", done.stderr);
    assert!(place.read(NAME) == content());
}

#[test]
fn refusals() {
    let missing = serve(Manner {
        status: Some(404),
        ..Manner::default()
    });
    let place = Place::new();
    place.fails(
        &command(&missing),
        1,
        &["error: free-spoken", "404 (no such file", "--mirror"],
    );
    place.fails("data fetch fsdd", 2, &["no data folder", "--data-dir"]);
    place.fails(
        "data fetch vowels --data-dir d",
        2,
        &["found \"vowels\"", "one that can be downloaded: har-2"],
    );
    place.fails(
        "data fetch yelp-5 --data-dir d",
        1,
        &["no free address", "https://www.yelp.com/dataset"],
    );
}
