//! Arrays, recordings, texts and pipes: read as their owner means them, or refused with what was understood.

mod support;

use support::{Place, case, easy_csv, finish, wav};

const QUICK: &str = "--epochs 2 --hidden 4 --rank 2";

/// A tone of a quarter of a second, 8,000 samples a second of 16 bits.
fn tone(frequency: f64) -> Vec<u8> {
    let sample = |n: u32| (9000.0 * (std::f64::consts::TAU * frequency * f64::from(n) / 8000.0).sin()) as i16;
    wav(8000, &(0..2000).map(sample).collect::<Vec<_>>())
}

/// The command with a cache of its own.
fn json(place: &Place, arguments: &str) -> (serde_json::Value, String) {
    let mut command = place.command(&format!("{arguments} --json"));
    let done = finish(command.env("XDG_CACHE_HOME", place.path("cache")).output().unwrap());
    assert_eq!(done.code, Some(0), "ernn {arguments}\n{}", done.stderr);
    (serde_json::from_str(&done.stdout).unwrap(), done.stderr)
}

#[test]
fn an_archive_with_groups_trains_as_the_same_table() {
    let (Some(archive), Some(table)) = (case("groups.npz"), case("groups.csv")) else {
        return;
    };
    let place = Place::new();
    let trained = |path: &std::path::Path| {
        let report = place.json(&format!("train {} {QUICK}", path.display()));
        let info = place.json(&format!("data info {}", path.display()));
        assert!(info["parts"][0]["groups"].as_u64() > Some(1), "{info}");
        [
            report["loss"].clone(),
            report["accuracy"].clone(),
            report["per_class"].clone(),
        ]
    };
    assert_eq!(trained(&archive), trained(&table));
}

#[test]
fn a_folder_of_the_ten_words_is_a_users_own() {
    let place = Place::new();
    let words = [
        "yes", "no", "up", "down", "left", "right", "stop", "bed", "cat", "happy",
    ];
    for (word, name) in words.iter().enumerate() {
        for take in 0..4 {
            let sound = tone(200.0 + 300.0 * word as f64 + f64::from(take));
            place.write(&format!("words/{name}/speaker{take}_nohash_0.wav"), sound);
        }
    }
    let (info, _) = json(&place, "data info words");
    assert_eq!(info["classes"].as_array().unwrap().len(), 10);
    let (report, _) = json(&place, &format!("train words {QUICK} --out run"));
    let own = place.json(&format!("train {} {QUICK} --out other", {
        place.write("any.csv", easy_csv(40));
        "any.csv"
    }));
    // The settings are those of any data of a person's own, not those of 9,618 recordings.
    assert_eq!(
        report["settings"]["training"]["batch_size"],
        own["settings"]["training"]["batch_size"]
    );
    assert_eq!(
        report["settings"]["model"]["pooling"],
        own["settings"]["model"]["pooling"]
    );
    // By its name the known set asks for the known recordings.
    place.fails("train speech-10 --data-dir .", 1, &["speech-10: no ", "12,188 in all"]);
}

#[test]
fn speakers_in_the_names_of_recordings() {
    let place = Place::new();
    for digit in 0..2 {
        for speaker in ["george", "jackson", "lucas"] {
            for take in 0..3 {
                let sound = tone(300.0 + 700.0 * f64::from(digit) + 10.0 * f64::from(take));
                place.write(&format!("spoken/{digit}/{digit}_{speaker}_{take}.wav"), sound);
            }
        }
    }
    let (info, said) = json(&place, "data info spoken");
    assert_eq!(info["parts"][0]["groups"], 0);
    assert!(
        said.contains("note: spoken: no speaker") && said.contains("--group-pattern '*_{group}_*'"),
        "{said}"
    );
    let (info, said) = json(&place, "data info spoken --group-pattern *_{group}_*");
    assert_eq!((&info["parts"][0]["groups"], &said[..]), (&3.into(), ""));
    let (report, _) = json(
        &place,
        &format!("train spoken --group-pattern *_{{group}}_* {QUICK} --out run"),
    );
    assert_eq!(report["settings"]["data"]["group_pattern"], "*_{group}_*");
    // The validation part is one speaker's.
    let (own, _) = json(&place, "evaluate run spoken --part validation");
    assert_eq!(own["examples"], 6);
    let mut refused = place.command("data info spoken --group-pattern x{group}");
    let refused = finish(refused.env("XDG_CACHE_HOME", place.path("cache")).output().unwrap());
    assert!(
        refused.code == Some(1) && refused.stderr.contains("names that all fit --group-pattern"),
        "{refused:?}"
    );
    let mut refused = place.command("data info spoken --group-pattern speaker");
    let refused = finish(refused.env("XDG_CACHE_HOME", place.path("cache")).output().unwrap());
    assert!(
        refused.code == Some(2) && refused.stderr.contains("expected one {group}"),
        "{refused:?}"
    );
}

#[test]
fn a_text_of_numbers_is_no_text() {
    let place = Place::new();
    place.write(
        "train.txt",
        "  1.0e+00 -6.4e-01 -6.4e-01\n  2.0e+00 -0.1 -0.2\n".repeat(20),
    );
    let parts = [
        "train.txt: found 40 lines of 3 numbers and no word",
        "table of numbers",
        ".tsv",
        "--vocabulary",
    ];
    place.fails("train train.txt", 1, &parts);
    place.fails("data info train.txt", 1, &parts);
    place.ok("data info train.txt --vocabulary 20");
    place.ok("data info train.txt --tokens characters");
    if let Some(path) = case("numbers_only.txt") {
        place.fails(
            &format!("train {}", path.display()),
            1,
            &["numbers_only.txt: found 12 lines of 3 numbers"],
        );
    }
}

#[test]
fn pipes_are_told_by_their_content() {
    let place = Place::new();
    let Some(path) = case("groups.npz") else { return };
    let bytes = std::fs::read(&path).unwrap();
    let path = path.display();
    let ok = |arguments: &str| {
        let done = place.piped(arguments, &bytes);
        assert_eq!(done.code, Some(0), "ernn {arguments}\n{}", done.stderr);
        done.stdout
    };
    ok(&format!("train /dev/stdin {QUICK} --out piped"));
    place.ok(&format!("train {path} {QUICK} --out run"));
    let expected = place.ok(&format!("predict run {path}")).stdout;
    for arguments in ["predict run /dev/stdin", "predict run -", "predict piped /dev/stdin"] {
        assert_eq!(ok(arguments), expected, "{arguments}");
    }
    let named = place.ok(&format!("evaluate run {path} --part validation")).stdout;
    assert_eq!(ok("evaluate run /dev/stdin --part validation"), named);
    let texts = format!("text,label\n{}", "good day,1\nbad,0\n".repeat(20));
    let done = place.piped(
        "train /dev/stdin --text-column text --epochs 1 --hidden 4",
        texts.as_bytes(),
    );
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// Ten seconds of silence with tones of two kinds, at 8,000 samples a second, and where they are, as Audacity writes it.
fn night(shift: usize) -> (Vec<u8>, String) {
    let mut samples = vec![0.0_f64; 80_000];
    let mut marks = String::new();
    for (place, (label, hertz)) in [("low", 300.0), ("high", 2500.0), ("low", 330.0), ("high", 2700.0)]
        .iter()
        .enumerate()
    {
        let start = 8_000 + 18_000 * place + 800 * shift;
        for (step, sample) in samples[start..start + 8_000].iter_mut().enumerate() {
            *sample = 9_000.0 * (step as f64 * hertz * std::f64::consts::TAU / 8_000.0).sin();
        }
        let [from, to] = [start, start + 8_000].map(|sample| sample as f64 / 8_000.0);
        marks += &format!("{from},{to},{label}\n");
    }
    let noise = |step: usize| ((step * 7919 + shift * 31) % 201) as f64 - 100.0;
    let samples: Vec<i16> = samples
        .iter()
        .enumerate()
        .map(|(step, sample)| (sample + noise(step)) as i16)
        .collect();
    (wav(8000, &samples), marks)
}

#[test]
fn long_recordings_of_sound_are_cut_and_answered_with_times() {
    let place = Place::new();
    let mut events = "recording,start,end,label\n".to_string();
    for person in 0..5 {
        let (sound, marks) = night(person);
        place.write(&format!("nights/p{person}.wav"), sound);
        events += &marks
            .lines()
            .map(|line| format!("p{person},{line}\n"))
            .collect::<String>();
    }
    place.write("events.csv", events);
    let info = place.ok("data info nights --window 500ms --hop 250ms --labels events.csv");
    assert!(info.stdout.contains("mel 1"), "{}", info.stdout);
    assert!(
        info.stderr.contains("at 100 Hz") && info.stderr.contains("50 steps (0.5 s)"),
        "{}",
        info.stderr
    );
    place.ok("train nights --window 500ms --hop 250ms --labels events.csv --epochs 12 --hidden 8 --out run");
    let (sound, marks) = night(6);
    place.write("new.wav", sound);
    let said = place.ok("predict run new.wav").stdout;
    let mut right = 0;
    for mark in marks.lines() {
        let cells: Vec<&str> = mark.split(',').collect();
        let [from, to] = [cells[0], cells[1]].map(|cell| cell.parse::<f64>().unwrap());
        for line in said.lines().skip(1) {
            let own: Vec<&str> = line.split(',').collect();
            let [start, end] = [own[1], own[2]].map(|cell| cell.parse::<f64>().unwrap());
            right += usize::from(start >= from && end <= to && own[3] == cells[2]);
        }
    }
    assert!(right >= 4, "{said}");
    assert_eq!(said, place.ok("predict run new.wav").stdout);
    place.fails(
        "train nights/p0.wav --epochs 1 --out no",
        1,
        &["p0.wav", "a recording of sound", "--window"],
    );
    place.fails(
        "train nights --window 1s --rate 50 --labels events.csv --out no",
        2,
        &["--rate", "sound"],
    );
    place.fails("train nights --window 1s --epochs 1 --out no", 1, &["label"]);
    place.write("nights/broken.wav", "RIFF");
    place.fails("data info nights --window 1s", 1, &["broken.wav"]);
    assert!(!place.path("no").exists());
}
