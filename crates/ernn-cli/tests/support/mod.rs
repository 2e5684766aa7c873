//! The real binary in a folder of its own.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod browser;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A working folder for the command.
pub struct Place {
    folder: TempDir,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// The command with arguments separated by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ernn"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .env_remove("ERNN_DATA_DIR")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &str) -> Done {
        finish(self.command(arguments).output().unwrap())
    }

    /// Runs a command that must succeed.
    pub fn ok(&self, arguments: &str) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.code, Some(0), "ernn {arguments}\n{}", done.stderr);
        done
    }

    /// Runs a command with something on its standard input.
    pub fn piped(&self, arguments: &str, bytes: &[u8]) -> Done {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Beside reading: neither side waits for a full pipe. What refuses its arguments does not read.
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(bytes));
            finish(child.wait_with_output().unwrap())
        })
    }

    /// Runs a command that must succeed, and reads its JSON.
    pub fn json(&self, arguments: &str) -> Value {
        let done = self.ok(&format!("{arguments} --json"));
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", done.stdout))
    }

    /// Runs a command that must fail with this code and a message that has all these parts.
    pub fn fails(&self, arguments: &str, code: i32, parts: &[&str]) -> Done {
        let done = self.run(arguments);
        assert_eq!(
            done.code,
            Some(code),
            "ernn {arguments}\n{}{}",
            done.stdout,
            done.stderr
        );
        for part in parts {
            assert!(
                done.stderr.contains(part),
                "ernn {arguments}\nno `{part}` in: {}",
                done.stderr
            );
        }
        assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
        done
    }

    /// Starts a command and waits until a line of its stderr begins like this.
    pub fn start_until(&self, arguments: &str, beginning: &str) -> Running {
        let mut command = self.command(arguments);
        let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        running.wait_for(beginning);
        running
    }
}

/// A command under way; killed when dropped.
pub struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Running {
            child,
            stderr,
            said: String::new(),
        }
    }

    fn wait_for(&mut self, beginning: &str) {
        loop {
            let start = self.said.len();
            let read = self.stderr.read_line(&mut self.said).unwrap();
            assert!(read > 0, "ended before `{beginning}`: {}", self.said);
            if self.said[start..].starts_with(beginning) {
                return;
            }
        }
    }

    /// `kill -9`.
    pub fn kill(self) {}

    /// Ctrl-C.
    pub fn interrupt(mut self) -> Done {
        let process = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &process])
                .status()
                .unwrap()
                .success()
        );
        self.stderr.read_to_string(&mut self.said).unwrap();
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        Done {
            code: self.child.wait().unwrap().code(),
            stdout,
            stderr: std::mem::take(&mut self.said),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn finish(output: std::process::Output) -> Done {
    Done {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the collection of small inputs that broke other tools; none where the collection does not lie beside the
/// repository (it says so then).
pub fn case(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/cases")
        .join(name);
    if !path.is_file() {
        println!("skipped: no shared/cases/{name} beside the repository");
        return None;
    }
    Some(path.canonicalize().unwrap())
}

/// A long CSV of two easily told classes: `up` rises, `down` falls; lengths 3 to 7, two channels.
pub fn easy_csv(sequences: usize) -> String {
    let mut text = String::from("series,step,x,y,label\n");
    for series in 0..sequences {
        let (label, slope) = if series % 2 == 0 { ("up", 1.0) } else { ("down", -1.0) };
        for step in 0..3 + series % 5 {
            let wiggle = ((series * 7 + step * 3) % 11) as f64 / 11.0;
            let x = slope * step as f64 + wiggle;
            text += &format!("s{series},{step},{x},{wiggle},{label}\n");
        }
    }
    text
}

/// A WAVE file of one channel, 16 bits.
pub fn wav(rate: u32, samples: &[i16]) -> Vec<u8> {
    let size = 2 * samples.len() as u32;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + size).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(rate.to_le_bytes());
    bytes.extend((2 * rate).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(size.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}
