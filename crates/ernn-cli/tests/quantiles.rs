//! Quantiles and several numbers to predict, with the real binary.

mod support;

use serde_json::Value;
use support::Place;

const QUICK: &str = "--hidden 6 --rank 2 --epochs 6 --batch-size 16 --validation 0.25";

/// Waves; the numbers are how fast they are, and how high.
fn waves(series: usize) -> String {
    let mut text = String::from("series,step,x,hertz,height\n");
    for one in 0..series {
        let (hertz, height) = (
            5.0 + (one * 37 % 101) as f64 / 10.0,
            1.0 + (one * 53 % 97) as f64 / 97.0,
        );
        for step in 0..20 {
            let angle = 0.0628 * hertz * step as f64 + one as f64;
            text += &format!("s{one},{step},{:.4},{hertz},{height:.4}\n", height * angle.sin());
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("waves.csv", waves(80));
    place
}

fn columns(line: &str) -> Vec<f64> {
    line.split(',').skip(1).map(|text| text.parse().unwrap()).collect()
}

#[test]
fn quantiles_are_trained_predicted_and_exported() {
    let place = place();
    let data = "waves.csv --target hertz --ignore height";
    let done = place
        .ok(&format!("train {data} --quantiles 0.1,0.5,0.9 {QUICK} --out run"))
        .stdout;
    for part in [
        "RMSE ",
        ", R2 ",
        "\nquantiles: pinball loss ",
        " of the numbers from q0.1 to q0.9 (right would be 80.0 %)",
    ] {
        assert!(done.contains(part), "{done}");
    }
    assert!(place.text("run/config.toml").contains("quantiles = [0.1, 0.5, 0.9]"));
    let report: Value = serde_json::from_str(&place.text("run/result.json")).unwrap();
    assert_eq!(
        report["numbers"]["quantiles"],
        place.json("evaluate run")["numbers"]["quantiles"]
    );
    assert_eq!(report["loss"], report["numbers"]["quantiles"]["mean_pinball_loss"]);
    let said = place.ok("predict run waves.csv").stdout;
    assert!(said.starts_with("sequence,q0.1,q0.5,q0.9\ns0,"), "{said}");
    assert_eq!(said.lines().count(), 81);
    assert!(said.lines().skip(1).all(|line| columns(line).is_sorted()), "{said}");
    let json = place.ok("predict run waves.csv --format json").stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(
        first["value"]["q0.9"].as_f64().map(|value| value as f32),
        Some(columns(said.lines().nth(1).unwrap())[2] as f32)
    );
    let inspected = place.ok("inspect run").stdout;
    assert!(
        inspected.contains("3 numbers, ") && inspected.contains("quantiles: 0.1, 0.5, 0.9"),
        "{inspected}"
    );
    let onnx = place.ok("export run --to onnx --out model.onnx");
    let onnx = format!("{}{}", onnx.stdout, onnx.stderr);
    assert!(
        onnx.contains("value [batch, 3]") && onnx.contains("value: q0.1, q0.5, q0.9"),
        "{onnx}"
    );
    place.ok("export run --to c --out c --format int8 --calibrate waves.csv");
    let header = place.text("c/c.h");
    assert!(
        header.contains("c_values(") && header.contains("value 0: \"q0.1\""),
        "{header}"
    );
    // Folds and an ensemble put the same figures together.
    let folds = place.json(&format!(
        "train {data} --quantiles 0.1,0.9 --folds 4 --no-final {QUICK} --out folds"
    ));
    assert!(
        folds["folds"]["pooled"]["numbers"]["quantiles"]["coverage"].is_number(),
        "{folds}"
    );
    assert!(
        place
            .text("folds/folds/predictions.csv")
            .starts_with("sequence,fold,group,number,prediction q0.1,prediction q0.9\n")
    );
    place.ok(&format!(
        "train {data} --quantiles 0.1,0.9 --ensemble 2 {QUICK} --out several"
    ));
    assert!(
        place
            .ok("predict several waves.csv")
            .stdout
            .starts_with("sequence,q0.1,q0.9\n")
    );
}

#[test]
fn a_stream_says_quantiles_in_order() {
    let place = place();
    place.ok(&format!(
        "train waves.csv --target hertz --ignore height --quantiles 0.25,0.75 {QUICK} --out run"
    ));
    let steps: String = waves(1)
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).unwrap().to_string() + "\n")
        .collect();
    place.write("steps.txt", steps);
    let mut command = place.command("predict run --stream --every 20");
    command.stdin(std::fs::File::open(place.path("steps.txt")).unwrap());
    let streamed = support::finish(command.output().unwrap()).stdout;
    let whole = place.ok("predict run waves.csv").stdout;
    assert!(streamed.starts_with("step,q0.25,q0.75\n20,"), "{streamed}");
    assert_eq!(
        columns(streamed.lines().nth(1).unwrap()),
        columns(whole.lines().nth(1).unwrap())
    );
}

#[test]
fn several_numbers_are_trained_and_predicted_each_in_its_unit() {
    let place = place();
    let done = place
        .ok(&format!("train waves.csv --target hertz,height {QUICK} --out run"))
        .stdout;
    assert!(done.contains("always the means of the training part: RMSE "), "{done}");
    let table: Vec<&str> = done
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("target"))
        .collect();
    assert!(
        table[1].trim_start().starts_with("hertz ") && table[2].trim_start().starts_with("height "),
        "{done}"
    );
    assert!(
        place
            .text("run/config.toml")
            .contains("target = [\"hertz\", \"height\"]")
    );
    let report = place.json("evaluate run");
    let targets = report["numbers"]["targets"].as_array().unwrap();
    let error = |target: &Value| target["root_mean_squared_error"].as_f64().unwrap();
    let together = (targets.iter().map(|target| error(target).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert!((error(&report["numbers"]) - together).abs() < 1e-9, "{report}");
    assert!(error(&targets[1]) < 1.0, "{report}");
    let said = place.ok("predict run waves.csv").stdout;
    assert!(said.starts_with("sequence,hertz,height\ns0,"), "{said}");
    assert!(
        said.lines()
            .skip(1)
            .all(|line| columns(line)[0] > 3.0 && columns(line)[1] < 3.0),
        "{said}"
    );
    let info = place.ok("data info waves.csv --target hertz,height").stdout;
    assert!(
        info.contains("to learn: hertz, height for each sequence") && info.contains("  height: mean 1."),
        "{info}"
    );
    assert!(
        place
            .ok("inspect run")
            .stdout
            .contains("height that were trained on: mean 1.")
    );
    place.ok("export run --to c --out c");
    assert!(place.text("c/c_info.c").contains("\"hertz\",\n    \"height\","));
    let both = place.ok(&format!(
        "train waves.csv --target hertz,height --quantiles 0.1,0.9 --loss mse {QUICK} --out both"
    ));
    assert!(both.stdout.contains("pinball loss"), "{}", both.stdout);
    let said = place.ok("predict both waves.csv").stdout;
    assert!(
        said.starts_with("sequence,hertz_q0.1,hertz_q0.9,height_q0.1,height_q0.9\n"),
        "{said}"
    );
    place.ok("train --config both/config.toml --out again");
    assert!(place.read("both/model.safetensors") == place.read("again/model.safetensors"));
    place.fails(
        "evaluate run waves.csv --target hertz --ignore height",
        1,
        &["80 numbers for 80 sequences, expected 2 each"],
    );
}

#[test]
fn quantiles_that_are_none_are_refused() {
    let place = place();
    let train = "train waves.csv --target hertz --ignore height";
    for quantiles in ["0.9,0.1", "0,0.5", "0.5,1.5"] {
        place.fails(
            &format!("{train} --quantiles {quantiles}"),
            2,
            &["quantiles: found", "each larger than the one before"],
        );
    }
    place.fails(&format!("{train} --quantiles half"), 2, &["half"]);
    place.fails(
        &format!("{train} --quantiles 0.5 --loss mae"),
        2,
        &["loss: found mae beside quantiles"],
    );
    place.fails(
        "train japanese-vowels --quantiles 0.5",
        2,
        &["--quantiles does not go with"],
    );
}
