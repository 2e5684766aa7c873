//! Streams without an end, through the real binary: samples in, events out; on the host, in C and in a page.

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::browser::{DESK, PHONE, chromium, layout, profile_of, with_script};
use support::{Place, finish};

const RATE: usize = 16_000;

/// Soft noise that is the same every time.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / f64::from(1 << 24) - 0.5
    }
}

/// Adds a tone of 0.3 s.
fn tone(samples: &mut [f64], start: usize, hertz: f64, loud: f64) {
    for (n, sample) in samples[start..start + 3 * RATE / 10].iter_mut().enumerate() {
        *sample += loud * (std::f64::consts::TAU * hertz * n as f64 / RATE as f64).sin();
    }
}

fn noise(seed: u32, count: usize) -> Vec<f64> {
    let mut noise = Noise(seed);
    (0..count).map(|_| 300.0 * noise.next()).collect()
}

/// The samples of 16 bits, and a WAVE file of them.
fn whole(samples: &[f64]) -> Vec<i16> {
    samples.iter().map(|sample| sample.round() as i16).collect()
}

fn raw(samples: &[f64]) -> Vec<u8> {
    whole(samples).into_iter().flat_map(i16::to_le_bytes).collect()
}

fn wav(samples: &[f64]) -> Vec<u8> {
    support::wav(RATE as u32, &whole(samples))
}

const TONES: [(&str, f64); 2] = [("high", 2500.0), ("low", 400.0)];

/// Clips of a second with a tone anywhere in it, and of noise alone; a model of them in `run`.
fn trained() -> Place {
    let place = Place::new();
    for number in 0..24_usize {
        for (class, hertz) in TONES {
            let mut samples = noise(number as u32, RATE);
            let loud = 500.0 * (1.0 + (number % 5) as f64);
            tone(&mut samples, number * 400, hertz + 5.0 * (number % 7) as f64, loud);
            place.write(&format!("clips/{class}/{number}.wav"), wav(&samples));
        }
        let mut samples = noise(100 + number as u32, RATE);
        // A tone that is cut off is none.
        if number % 2 == 0 {
            let mut longer = noise(0, 2 * RATE);
            tone(&mut longer, RATE - RATE / 4, TONES[number / 2 % 2].1, 1500.0);
            samples = longer[RATE..].to_vec();
        }
        place.write(&format!("clips/background/{number}.wav"), wav(&samples));
    }
    place.ok("train clips --hidden 12 --min-steps 300 --validation 0.2 --out run");
    place
}

/// Twelve seconds with four tones; their names and ends.
fn recording() -> (Vec<f64>, Vec<(&'static str, f64)>) {
    let mut samples = noise(7, 12 * RATE);
    let mut events = Vec::new();
    for (second, place) in [(2, 0), (4, 1), (7, 1), (9, 0)] {
        let start = second * RATE + 3000;
        let (name, hertz) = TONES[place];
        tone(&mut samples, start, hertz, 1200.0);
        events.push((name, start as f64 / RATE as f64 + 0.3));
    }
    (samples, events)
}

/// The events that begin: when, and which.
fn begun(lines: &str) -> Vec<(f64, String)> {
    let rows = lines.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let begins = rows.filter(|row| row[2] == "begins");
    begins
        .map(|row| (row[0].parse().unwrap(), row[1].to_string()))
        .collect()
}

const LISTEN: &str = "predict run --stream --raw --window 1s --hop 100ms --events";

#[test]
fn sound_from_a_pipe_becomes_events() {
    let place = trained();
    let (samples, events) = recording();
    let done = place.piped(LISTEN, &raw(&samples));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.starts_with("end,event,change\n"), "{}", done.stdout);
    let found = begun(&done.stdout);
    let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
    let expected: Vec<&str> = events.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected, "{}", done.stdout);
    for ((at, name), (_, end)) in found.iter().zip(&events) {
        assert!((at - end).abs() < 0.9, "{name} at {at}, {end} would be right");
    }
    // A line a window, with the event that is under way.
    let windows = place.piped(&LISTEN.replace(" --events", ""), &raw(&samples)).stdout;
    let mut lines = windows.lines();
    assert_eq!(lines.next(), Some("end,class,event,p_background,p_high,p_low"));
    assert_eq!(lines.clone().count(), 110, "{windows}");
    assert!(lines.next().unwrap().starts_with("1.015,background,,"), "{windows}");
    let json = place.piped(&format!("{LISTEN} --format json"), &raw(&samples)).stdout;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["event"].as_str(), first["change"].as_str()),
        (Some("high"), Some("begins"))
    );
}

#[test]
fn recordings_with_known_events_choose_how_to_listen() {
    let place = trained();
    let (samples, events) = recording();
    place.write("long.wav", wav(&samples));
    let rows = events
        .iter()
        .map(|(name, end)| format!("{:.3},{end:.3},{name}\n", end - 0.3));
    place.write("long.csv", format!("start,end,label\n{}", rows.collect::<String>()));
    let before = place.read("run/model.safetensors");
    let evaluate = "evaluate run long.wav --labels long.csv --stream --window 1s --hop 100ms";
    let measured = place.json(evaluate);
    assert_eq!(measured["events"], 4);
    assert_eq!(measured["listening"]["background"][0], "background");
    assert_eq!(
        place.read("run/model.safetensors"),
        before,
        "measuring changes no model"
    );
    let chosen = place.json(&format!("{evaluate} --false-alarms 0"));
    assert_eq!(
        (&chosen["found"], &chosen["false_alarms_per_hour"]),
        (&4.into(), &0.0.into()),
        "{chosen}"
    );
    // The model knows now how to listen.
    let again = place.json("evaluate run long.wav --labels long.csv --stream");
    assert_eq!(again["listening"], chosen["listening"]);
    let heard = place.piped("predict run --stream --raw --events", &raw(&samples));
    assert_eq!(begun(&heard.stdout).len(), 4, "{}", heard.stdout);
    let said = place.ok("evaluate run long.wav --labels long.csv --stream").stdout;
    assert!(
        said.contains("4 of 4 found (100.0 %), 0.00 false alarms an hour"),
        "{said}"
    );
    place.fails(
        "evaluate run long.wav --stream",
        1,
        &["found recordings without labels", "--labels events.csv"],
    );
    place.write("short.wav", wav(&samples[..RATE / 2]));
    place.write("short.csv", "start,end,label\n0.1,0.2,low\n");
    place.fails(
        "evaluate run short.wav --labels short.csv --stream",
        1,
        &["found recordings of at most", "the window of 100"],
    );
    place.write("other.csv", "start,end,label\n1,2,bark\n");
    place.fails(
        "evaluate run long.wav --labels other.csv --stream",
        1,
        &["found an event \"bark\"", "background, high, low"],
    );
    place.fails(
        "evaluate run long.wav --labels long.csv --stream --false-alarms -1",
        2,
        &["0 or more"],
    );
    place.fails(
        "evaluate run long.wav --labels long.csv --stream --background bark",
        2,
        &["background", "bark"],
    );
    place.fails("evaluate run --stream", 2, &["expected MODEL DATA"]);
}

#[test]
fn windows_of_a_table_are_read_from_a_stream() {
    let place = Place::new();
    let mut text = String::from("time,x,state\n");
    for row in 0..2400 {
        let state = ["rest", "move"][row / 100 % 2];
        let x = (row as f64 * 0.9).sin() * [0.1, 1.0][row / 100 % 2];
        text += &format!("{},{x:.4},{state}\n", row as f64 / 20.0);
    }
    place.write("log.csv", text);
    place.ok("train log.csv --time time --rate 20 --window 1s --label state --min-steps 200 --out run");
    let lines: String = (0..300)
        .map(|row| format!("{:.4}\n", (row as f64 * 0.9).sin() * [0.1, 1.0][row / 100 % 2]))
        .collect();
    let said = place.piped("predict run --stream", lines.as_bytes()).stdout;
    assert_eq!(said.lines().next(), Some("end,class,event,p_move,p_rest"), "{said}");
    // A second each quarter of it.
    assert_eq!(said.lines().count(), 1 + 57, "{said}");
    assert!(said.lines().nth(1).unwrap().starts_with("1,rest,"), "{said}");
    let later = said.lines().find(|line| line.starts_with("9.")).unwrap();
    assert!(later.contains(",move,"), "{said}");
    // The state that runs on is there for whoever asks for it.
    let each = place.piped("predict run --stream --every 10", lines.as_bytes()).stdout;
    assert!(each.starts_with("step,class,"), "{each}");
    let both = place.piped("predict run --stream --every 10 --hop 5", lines.as_bytes());
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    let refused = place.piped("predict run --stream --raw", b"");
    assert!(
        refused.stderr.contains("was not trained on recordings of sound"),
        "{}",
        refused.stderr
    );
    let long = place.piped("predict run --stream --hop 2s", b"");
    assert!(
        long.stderr
            .contains("hop: found 40, expected 1 to the 20 steps of the window"),
        "{}",
        long.stderr
    );
    let refused = place.run("export run --to c --out ear --listen 1s,2s,3s");
    assert!(refused.stderr.contains("as in --listen 1s,250ms"), "{}", refused.stderr);
    let wrong = place.piped("predict run --stream", b"0.1\nx\n");
    assert!(
        wrong.code == Some(1) && wrong.stderr.contains("line 2"),
        "{}",
        wrong.stderr
    );
}

/// The C of a model of sound, fed with the samples of a recording, begins the events that the host begins.
#[test]
fn exported_c_hears_what_the_host_hears() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: no cc");
        return;
    }
    let place = trained();
    let (samples, _) = recording();
    place.ok("export run --to c --out ear --format int8 --calibrate clips --listen 1s,100ms");
    place.write(
        "ear/main.c",
        "#include \"ear.h\"\n#include <stdio.h>\nint main(void)\n{\n    static ear_sound sound; static ear_work work;\n    \
         static ear_windows windows; static ear_events events; static ear_scratch scratch;\n    \
         static ear_logit logits[EAR_OUTPUTS]; static int16_t block[77]; float features[EAR_INPUTS];\n    int count, steps = 0;\n    \
         if (ear_selftest()) return 1;\n    ear_sound_reset(&sound); ear_windows_reset(&windows); ear_events_reset(&events);\n    \
         while ((count = (int)fread(block, 2, 77, stdin)) > 0) {\n        const int16_t *samples = block;\n        \
         while (ear_sound_push(&sound, &work, &samples, &count, features)) {\n            steps++;\n            \
         if (ear_windows_push(&windows, &scratch, features, logits) == 1) {\n                \
         int place = ear_events_push(&events, logits);\n                \
         if (place >= 0) printf(\"%d,%s\\n\", steps, ear_class_names[place]);\n            }\n        }\n    }\n    return 0;\n}\n",
    );
    let files = [
        "main.c",
        "ear.c",
        "ear_sound.c",
        "ear_listen.c",
        "ear_info.c",
        "ear_selftest.c",
    ];
    let mut compiler = Command::new("cc");
    let compiled = compiler
        .args(["-std=c99", "-Wall", "-Werror", "-O2", "-o", "main"])
        .args(files);
    assert!(compiled.current_dir(place.path("ear")).status().unwrap().success());
    let mut child = Command::new(place.path("ear/main"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&raw(&samples)).unwrap();
    let done = finish(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(0));
    let on_device: Vec<(f64, String)> = done
        .stdout
        .lines()
        .map(|line| line.split_once(',').unwrap())
        .map(|(step, name)| ((step.parse::<f64>().unwrap() - 1.0) * 0.01 + 0.025, name.to_string()))
        .collect();
    let on_host = begun(&place.piped(LISTEN, &raw(&samples)).stdout);
    assert_eq!(on_device.len(), 4, "{on_device:?}");
    for ((device, name), (host, same)) in on_device.iter().zip(&on_host) {
        // Whole numbers may cross a threshold a window earlier or later.
        assert!(
            name == same && (device - host).abs() < 0.25,
            "{on_device:?} {on_host:?}"
        );
    }
}

/// The page hears in a recording, and through a microphone, what `ernn predict` hears.
#[test]
fn a_page_listens() {
    let tools = ["clang", "wasm-ld"];
    if tools
        .iter()
        .any(|tool| Command::new(tool).arg("--version").output().is_err())
    {
        println!("skipped: no clang or wasm-ld");
        return;
    }
    let Some(browser) = chromium() else { return };
    let place = trained();
    let (samples, _) = recording();
    place.ok("export run --to web --out ear --listen 1s,100ms");
    let on_host = begun(&place.piped(LISTEN, &raw(&samples)).stdout);
    // A recording.
    let bytes: Vec<String> = wav(&samples).iter().map(u8::to_string).collect();
    let post = "fetch('/done', { method: 'POST', body: live.events.map(event => event.name + '@' + event.time.toFixed(2)).join(' ') + \
                element('trouble').textContent })";
    let script = format!(
        "setTimeout(() => recording(new Uint8Array([{}]).buffer).then(() => {post}, error => {{ element('trouble').textContent = error; \
         {post} }}), 300)",
        bytes.join(",")
    );
    let title = posted(&browser, &place.text(with_script(&place, "ear/ear.html", &script)), &[]);
    let found: Vec<(&str, &str)> = title.split(' ').filter_map(|event| event.split_once('@')).collect();
    assert_eq!(found.len(), on_host.len(), "{title}");
    for ((name, at), (host, same)) in found.iter().zip(&on_host) {
        // The last bits of a float may move an event by a window.
        let apart = (at.parse::<f64>().unwrap() - host).abs();
        assert!(name == same && apart < 0.25, "{title}, {on_host:?}");
    }
    for size in [PHONE, DESK] {
        layout(&browser, &place, size, "ear/ear.html", "").check("ear/ear.html");
    }
    // A microphone, which the browser fills with a file; in real time, so that the page itself tells when it has heard.
    place.write("heard.wav", wav(&samples));
    let script = "let looks = 0; setTimeout(() => element('listen').click(), 300); setInterval(() => { \
                  const heard = live.events.map(event => event.name), trouble = element('trouble').textContent; \
                  if (heard.length >= 4 || trouble || live.step > 1500 || ++looks > 150) fetch('/done', { method: 'POST', \
                  body: heard.join(' ') + trouble + ' after ' + live.step }); }, 200)";
    let page = place.text(with_script(&place, "ear/ear.html", script));
    let file = format!(
        "--use-file-for-fake-audio-capture={}%noloop",
        place.path("heard.wav").display()
    );
    let microphone = [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        &file,
    ];
    let heard = posted(&browser, &page, &microphone);
    // A loaded machine drops samples of a microphone that is none; then some tone may be lost.
    let (heard, steps) = heard.split_once(" after ").unwrap();
    let names: Vec<&str> = on_host.iter().map(|(_, name)| name.as_str()).collect();
    let told = heard.split(' ').filter(|name| !name.is_empty());
    assert!(
        told.clone().count() > 0 && told.clone().all(|name| names.contains(&name)),
        "{heard}"
    );
    assert!(steps.parse::<usize>().unwrap() > 200, "{heard} after {steps} steps");
}

/// What a page posts that a browser shows; in real time, which sound needs.
fn posted(browser: &Path, page: &str, arguments: &[&str]) -> String {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut command, _profile) = profile_of(browser, DESK);
    let mut child = command
        .args(arguments)
        .args([
            "--autoplay-policy=no-user-gesture-required",
            "--remote-debugging-port=0",
        ])
        .arg(format!("http://{}/", server.local_addr().unwrap()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let heard = served(&server, page);
    child.kill().unwrap();
    child.wait().unwrap();
    heard
}

/// Serves a page until something is posted, which it gives.
fn served(server: &TcpListener, page: &str) -> String {
    for stream in server.incoming() {
        let mut stream = stream.unwrap();
        // A browser opens connections that it may need, and says nothing on them.
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        let (head, length) = loop {
            let count = stream.read(&mut piece).unwrap_or(0);
            request.extend(&piece[..count]);
            let text = String::from_utf8_lossy(&request).into_owned();
            if let Some(end) = text.find("\r\n\r\n") {
                let length = text.to_lowercase();
                let length = length
                    .split("content-length: ")
                    .nth(1)
                    .and_then(|rest| rest.split('\r').next());
                break (end + 4, length.map_or(0, |length| length.parse().unwrap()));
            }
            if count == 0 {
                break (request.len(), 0);
            }
        };
        while request.len() < head + length {
            let count = stream.read(&mut piece).unwrap_or(0);
            request.extend(&piece[..count]);
            if count == 0 {
                break;
            }
        }
        if request.is_empty() {
            continue;
        }
        let answer = |body: &str| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            )
        };
        if request.starts_with(b"POST") {
            stream.write_all(answer("").as_bytes()).unwrap();
            return String::from_utf8(request[head..].to_vec()).unwrap();
        }
        let own = request.starts_with(b"GET / ");
        stream
            .write_all(answer(if own { page } else { "" }).as_bytes())
            .unwrap();
    }
    unreachable!("a server goes on")
}
