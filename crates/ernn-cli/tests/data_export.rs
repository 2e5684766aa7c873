//! `ernn data export`, with the real binary: a data set becomes a file from which the same model is trained.

mod support;

use support::{Place, easy_csv};

const TINY: &str = "--hidden 4 --rank 2 --epochs 2";

/// The parameters of a run's model.
fn parameters(place: &Place, folder: &str) -> Vec<f32> {
    let saved = ernn::checkpoint::SavedModel::load(&place.path(folder)).unwrap();
    saved.model.parameters().to_vec()
}

#[test]
fn the_same_model_is_trained_from_what_was_written() {
    let place = Place::new();
    place.ok(&format!("train japanese-vowels {TINY} --out own"));
    for (kind, out) in [("csv", "japanese-vowels-csv"), ("npz", "japanese-vowels.npz")] {
        let done = place.ok(&format!("data export japanese-vowels --to {kind}"));
        assert_eq!(done.stdout, format!("{out}\n"));
        assert!(
            done.stderr.contains(&format!("read it with: ernn train {out}\n")),
            "{}",
            done.stderr
        );
        // What the settings of a known set say, its path has to be told.
        place.ok(&format!("train --config own/config.toml ./{out} --out {kind}"));
        assert!(parameters(&place, kind) == parameters(&place, "own"), "{kind}");
    }
    let [own, again] = ["own", "csv"].map(|folder| place.json(&format!("evaluate {folder}"))["accuracy"].clone());
    assert_eq!(own, again);
    let mut names: Vec<_> = std::fs::read_dir(place.path("japanese-vowels-csv"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["test.csv", "train.csv"]);
}

#[test]
fn flags_of_reading_count_and_what_was_filled_is_said() {
    let place = Place::new();
    let rows = "series,step,time,x,speed\na,1,7,2,0.5\na,0,3,1,0.5\nb,0,4,,1e-7\nb,1,5,4,1e-7\n";
    place.write("in.csv", rows);
    place.fails(
        "data export in.csv --to csv --out out.csv --target speed --ignore time",
        1,
        &["missing"],
    );
    assert!(!place.path("out.csv").exists());
    let flags = "--missing previous --target speed --channels time,x";
    let done = place.ok(&format!("data export in.csv --to csv --out out.csv {flags}"));
    assert!(
        done.stderr.contains("note: 1 missing value filled as --missing says"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains("ernn train out.csv --target target --channels time,x"),
        "{}",
        done.stderr
    );
    assert_eq!(
        place.text("out.csv"),
        "series,step,time,x,target\na,0,3,1,0.5\na,1,7,2,0.5\nb,0,4,4,1e-7\nb,1,5,4,1e-7\n"
    );
    let [own, again] = [
        format!("in.csv {flags}"),
        "out.csv --target target --channels time,x".to_string(),
    ]
    .map(|source| {
        let mut facts = place.json(&format!("data info {source}"));
        facts["name"] = "".into();
        facts["target_names"] = "".into();
        facts["parts"][0]["filled"] = 0.into();
        facts
    });
    assert_eq!(own, again);
    // Recordings are written as the windows that they were cut into.
    let mut log = String::from("time,x,label\n");
    (0..64).for_each(|row| {
        log += &format!(
            "{},{},{}\n",
            row as f64 / 10.0,
            (row * 7) % 11,
            if row < 32 { "a" } else { "b" }
        )
    });
    place.write("log.csv", log);
    place.ok("data export log.csv --to npz --out log.npz --time time --window 8");
    let facts = place.json("data info log.npz");
    assert_eq!(
        (&facts["parts"][0]["shortest"], &facts["parts"][0]["longest"]),
        (&8.into(), &8.into())
    );
}

#[test]
fn nothing_is_replaced_unasked() {
    let place = Place::new();
    place.write("in.csv", easy_csv(6));
    place.write("out.csv", "mine");
    place.fails(
        "data export in.csv --to csv --out out.csv",
        2,
        &["--out: found out.csv, which is there", "--force"],
    );
    place.fails(
        "data export in.csv --to csv",
        2,
        &["--out: found in.csv, which is there"],
    );
    assert_eq!(place.text("out.csv"), "mine");
    place.ok("data export in.csv --to csv --out out.csv --force");
    assert!(place.text("out.csv").starts_with("series,step,x,y,label\n"));
    std::fs::create_dir(place.path("folder.npz")).unwrap();
    place.fails(
        "data export in.csv --to npz --out folder.npz --force",
        2,
        &["a folder is never replaced"],
    );
    place.fails(
        "data export in.csv --to npz --out x.csv",
        2,
        &["expected a name that ends in .npz"],
    );
    place.fails(
        "data export japanese-vowels --to csv --out folder.npz",
        2,
        &["which is there"],
    );
    place.write("t.txt", "a b a b\n");
    place.fails("data export t.txt --to csv --out t.csv", 1, &["found a text"]);
    place.fails(
        "data export in.csv --to csv --out new.csv --noise fixed",
        2,
        &["--noise does not go with"],
    );
    assert!(!place.path("new.csv").exists() && !place.path("t.csv").exists() && !place.path("x.csv").exists());
}
