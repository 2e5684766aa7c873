use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::server::{Manner, Server};
use super::*;

/// MD5 of [`content`], found with Python's hashlib.
const MD5: &str = "c09b3c319a50c56f0b9e523afa50b018";
const NAME: &str = "set.bin";

/// 20,000 bytes that do not repeat soon.
fn content() -> Vec<u8> {
    (0..5000u32)
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect()
}

fn set(check: Check) -> Source {
    // The tests' sets live as long as their process.
    let files = Box::leak(Box::new([Remote {
        name: NAME,
        addresses: &[],
        check,
    }]));
    Source {
        names: &["set"],
        folder: "sets",
        license: "none",
        files,
        instead: None,
    }
}

/// Notes what happens, and stops after so many bytes.
struct Notes {
    text: String,
    received: u64,
    stop_after: u64,
}

impl Default for Notes {
    fn default() -> Self {
        Notes {
            text: String::new(),
            received: 0,
            stop_after: u64::MAX,
        }
    }
}

impl Watcher for Notes {
    fn started(&mut self, _: &str, done: u64, total: Option<u64>) {
        self.text += &format!("from {done} of {total:?}; ");
    }
    fn received(&mut self, bytes: u64) {
        self.received += bytes;
    }
    fn troubled(&mut self, _: &str) {
        self.text += "trouble; ";
    }
    fn finished(&mut self, _: &Path, fresh: bool) {
        self.text += if fresh { "fresh" } else { "there" };
    }
    fn stop(&self) -> bool {
        self.received >= self.stop_after
    }
}

/// A data folder of its own, and how it is filled.
struct Place {
    folder: tempfile::TempDir,
    force: bool,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sets")).unwrap();
        Place { folder, force: false }
    }

    fn path(&self, end: &str) -> PathBuf {
        self.folder.path().join("sets").join(format!("{NAME}{end}"))
    }

    fn fetch_watched(&self, server: &Server, check: Check, watcher: &mut dyn Watcher) -> Result<Ending> {
        let options = FetchOptions {
            folder: self.folder.path().to_owned(),
            mirror: Some(format!("{}/", server.address)),
            force: self.force,
            patience: Patience {
                silence: Duration::from_secs(60),
                attempts: 3,
                pause: Duration::from_millis(1),
            },
        };
        fetch(&set(check), &options, watcher)
    }

    /// What happened; the file must be whole and nothing else there.
    fn fetch(&self, server: &Server, check: Check) -> String {
        let mut notes = Notes::default();
        let ending = self.fetch_watched(server, check, &mut notes).unwrap();
        assert_eq!(ending, Ending::Complete(vec![self.path("")]));
        assert_eq!(fs::read(self.path("")).unwrap(), content());
        assert_eq!(fs::read_dir(self.folder.path().join("sets")).unwrap().count(), 1);
        notes.text
    }

    /// The error; there must be no file under the final name.
    fn refused(&self, server: &Server, check: Check) -> String {
        let error = self.fetch_watched(server, check, &mut ()).unwrap_err().to_string();
        assert!(!self.path("").exists());
        error
    }

    /// As a call that was stopped left it.
    fn begun(&self, bytes: usize, tag: Option<&str>) {
        fs::write(self.path(".part"), &content()[..bytes]).unwrap();
        if let Some(tag) = tag {
            fs::write(self.path(".part.tag"), tag).unwrap();
        }
    }
}

fn serve(manner: Manner) -> Server {
    Server::start(content(), manner)
}

#[test]
fn a_file_comes_whole_and_is_not_fetched_again() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "from 0 of Some(20000); fresh");
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "there");
    assert_eq!(server.requests().len(), 1);
    assert!(server.requests()[0].starts_with("GET /set.bin HTTP/1.1|"));
}

#[test]
fn a_begun_file_goes_on_if_the_server_has_the_same() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    place.begun(5000, Some("\"one\""));
    assert_eq!(place.fetch(&server, Check::Length), "from 5000 of Some(20000); fresh");
    let request = server.requests()[0].to_lowercase();
    assert!(
        request.contains("|range: bytes=5000-|") && request.contains("|if-range: \"one\""),
        "{request}"
    );
}

#[test]
fn a_begun_file_of_other_content_begins_anew() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    place.begun(5000, Some("\"older\""));
    assert_eq!(place.fetch(&server, Check::Length), "from 0 of Some(20000); fresh");
}

#[test]
fn without_a_tag_only_a_checksum_lets_a_begun_file_go_on() {
    let server = serve(Manner {
        tag: None,
        ..Manner::default()
    });
    let place = Place::new();
    place.begun(5000, None);
    assert_eq!(place.fetch(&server, Check::Length), "from 0 of Some(20000); fresh");
    let place = Place::new();
    place.begun(5000, None);
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "from 5000 of Some(20000); fresh");
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let server = serve(Manner {
        ranges: false,
        ..Manner::default()
    });
    let place = Place::new();
    place.begun(5000, Some("\"one\""));
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "from 0 of Some(20000); fresh");
}

#[test]
fn a_file_that_is_all_there_is_only_checked() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    place.begun(20_000, Some("\"one\""));
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "fresh");
    // Longer than the server's file is another file.
    let place = Place::new();
    place.begun(20_000, Some("\"one\""));
    fs::write(place.path(".part"), vec![0; 20_001]).unwrap();
    assert_eq!(
        place.fetch(&server, Check::Length),
        "trouble; from 0 of Some(20000); fresh"
    );
}

#[test]
fn a_broken_connection_is_tried_again_from_where_it_broke() {
    let server = serve(Manner {
        cuts: (4, 3000),
        ..Manner::default()
    });
    let happened = Place::new().fetch(&server, Check::Md5(MD5));
    assert!(
        happened.contains("trouble; from 3000 of Some(20000); trouble; from 6000"),
        "{happened}"
    );
    assert!(happened.ends_with("from 12000 of Some(20000); fresh"), "{happened}");
}

#[test]
fn a_connection_that_breaks_without_a_new_byte_is_given_up_and_what_came_is_kept() {
    let server = serve(Manner {
        cuts: (usize::MAX, 0),
        ..Manner::default()
    });
    let place = Place::new();
    place.begun(5000, Some("\"one\""));
    let error = place.refused(&server, Check::Md5(MD5));
    assert!(
        error.starts_with("set.bin cannot be downloaded: http://127.0.0.1:"),
        "{error}"
    );
    assert!(
        error.contains("5000 bytes are kept in ") && error.ends_with("the same command goes on from there"),
        "{error}"
    );
    assert_eq!(fs::metadata(place.path(".part")).unwrap().len(), 5000);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_silent_server_is_given_up() {
    let server = serve(Manner {
        silent_after: Some(1000),
        ..Manner::default()
    });
    let place = Place::new();
    let mut notes = Notes::default();
    let options = Patience {
        silence: Duration::from_millis(200),
        attempts: 1,
        pause: Duration::ZERO,
    };
    let fetched = fetch(
        &set(Check::Length),
        &FetchOptions {
            folder: place.folder.path().to_owned(),
            mirror: Some(server.address.clone()),
            force: false,
            patience: options,
        },
        &mut notes,
    );
    let error = fetched.unwrap_err().to_string();
    assert!(error.contains("no byte for 200ms; 1000 bytes are kept in "), "{error}");
}

#[test]
fn a_slow_server_is_waited_for() {
    let server = serve(Manner {
        pause: Duration::from_millis(5),
        ..Manner::default()
    });
    assert_eq!(
        Place::new().fetch(&server, Check::Md5(MD5)),
        "from 0 of Some(20000); fresh"
    );
}

#[test]
fn a_server_that_states_no_length_is_read_to_its_end() {
    let server = serve(Manner {
        length: false,
        ..Manner::default()
    });
    assert_eq!(Place::new().fetch(&server, Check::Md5(MD5)), "from 0 of None; fresh");
}

#[test]
fn redirects_are_followed_and_keep_the_range() {
    let server = serve(Manner {
        redirect: Some(format!("/{NAME}")),
        ..Manner::default()
    });
    let place = Place::new();
    place.begun(5000, Some("\"one\""));
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "from 5000 of Some(20000); fresh");
    assert!(server.requests()[1].starts_with("GET /name "));
}

#[test]
fn wrong_content_is_refused_and_removed() {
    let server = Server::start(vec![7; 20_000], Manner::default());
    let place = Place::new();
    let error = place.refused(&server, Check::Md5(MD5));
    assert!(
        error.contains("found MD5 ") && error.contains(&format!(", expected {MD5}")),
        "{error}"
    );
    assert_eq!(fs::read_dir(place.folder.path().join("sets")).unwrap().count(), 0);
}

#[test]
fn statuses_say_what_they_mean() {
    let refused = |status| {
        let server = serve(Manner {
            status: Some(status),
            ..Manner::default()
        });
        let error = Place::new().refused(&server, Check::Length);
        (error, server.requests().len())
    };
    let (error, requests) = refused(404);
    assert!(
        error.contains("found HTTP status 404 (no such file") && error.contains("--mirror"),
        "{error}"
    );
    assert_eq!(requests, 1);
    assert!(refused(403).0.contains("found HTTP status 403 (access denied)"));
    let (error, requests) = refused(503);
    assert!(
        error.contains("found HTTP status 503 (the server has a problem)"),
        "{error}"
    );
    assert_eq!(requests, 3);
}

#[test]
fn nobody_there_is_an_error() {
    let mut server = serve(Manner::default());
    server.address = "http://127.0.0.1:1".to_owned();
    let error = Place::new().refused(&server, Check::Length);
    assert!(error.contains("http://127.0.0.1:1/set.bin: "), "{error}");
}

#[test]
fn a_stopped_download_goes_on_in_the_next_call() {
    let server = serve(Manner {
        pause: Duration::from_millis(2),
        ..Manner::default()
    });
    let place = Place::new();
    let mut notes = Notes {
        stop_after: 1,
        ..Notes::default()
    };
    assert_eq!(
        place.fetch_watched(&server, Check::Md5(MD5), &mut notes).unwrap(),
        Ending::Stopped
    );
    assert!(!place.path("").exists());
    let kept = fs::metadata(place.path(".part")).unwrap().len();
    assert_eq!((kept > 0, kept), (true, notes.received));
    assert!(
        place
            .fetch(&server, Check::Md5(MD5))
            .ends_with(&format!("from {kept} of Some(20000); fresh"))
    );
}

#[test]
fn other_content_under_the_name_is_refused_and_forced_away() {
    let (mut place, server) = (Place::new(), serve(Manner::default()));
    fs::write(place.path(""), "mine").unwrap();
    let error = place
        .fetch_watched(&server, Check::Md5(MD5), &mut ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("with other content: found MD5") && error.ends_with("--force replaces it"),
        "{error}"
    );
    assert_eq!(fs::read(place.path("")).unwrap(), b"mine");
    place.force = true;
    assert_eq!(place.fetch(&server, Check::Md5(MD5)), "from 0 of Some(20000); fresh");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    std::os::unix::fs::symlink("/dev/full", place.path(".part")).unwrap();
    let error = place.refused(&server, Check::Md5(MD5));
    assert!(
        error.contains("set.bin.part: cannot write: No space left on device"),
        "{error}"
    );
}

#[test]
fn two_processes_do_not_write_into_one_file() {
    let (place, server) = (Place::new(), serve(Manner::default()));
    let other = partial::Partial::open(&place.path("")).unwrap();
    let error = place.refused(&server, Check::Length);
    assert!(error.ends_with("another process is downloading this file"), "{error}");
    other.discard();
}

#[test]
fn a_set_without_an_address_says_what_to_do() {
    let place = Place::new();
    let options = FetchOptions {
        folder: place.folder.path().to_owned(),
        mirror: None,
        force: false,
        patience: Patience::default(),
    };
    let error = fetch(source("yelp-5").unwrap(), &options, &mut ())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("yelp-5: there is no free address; agree to Yelp's terms at https://www.yelp.com/dataset"),
        "{error}"
    );
}

#[test]
fn the_watcher_is_asked_while_nothing_comes() {
    struct Impatient(Cell<u32>);
    impl Watcher for Impatient {
        fn stop(&self) -> bool {
            self.0.set(self.0.get() + 1);
            self.0.get() > 3
        }
    }
    let server = serve(Manner {
        silent_after: Some(0),
        ..Manner::default()
    });
    let ending = Place::new().fetch_watched(&server, Check::Length, &mut Impatient(Cell::new(0)));
    assert_eq!(ending.unwrap(), Ending::Stopped);
}
