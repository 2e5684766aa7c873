//! A Rust crate of a model: the image, `ernn-core` to run it, and a self-test; `no_std`, no dependency beyond the folder.
//!
//! ```text
//! Cargo.toml   src/lib.rs   src/model.ernn   ernn-core/
//! ```

use std::fmt::Write;
use std::process::Command;

use super::listen::{Listens, TEST_WINDOWS};
use super::logits::Logits;
use super::target::{Files, Form};
use super::trial::{Trial, version};
use super::unit::{Unit, output_names};
use super::{Prepared, about};
use crate::Result;
use crate::data::TargetScale;
use crate::names::line;

/// The names of files of `ernn-core`, each with its text.
macro_rules! core {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../../ernn-core/src/", $name)))),*] };
}

/// The sources of `ernn-core`, which go along.
const CORE: [(&str, &str); 33] = core! {
    "lib.rs" "error.rs" "image.rs" "inputs.rs" "layer.rs" "math.rs" "pick.rs" "pooling.rs"
    "float/mod.rs" "float/deep.rs" "float/equilibrium.rs" "float/linear.rs" "float/gated.rs"
    "float/layer.rs" "float/leaky.rs" "float/session.rs" "float/watch.rs"
    "int/mod.rs" "int/deep.rs" "int/gated.rs" "int/layer.rs" "int/leaky.rs"
    "listen/mod.rs" "listen/events.rs" "listen/windows.rs"
    "int/math.rs" "int/matrix.rs" "int/session.rs" "int/state.rs"
    "sound/mod.rs" "sound/logarithm.rs" "sound/stream.rs" "sound/transform.rs"
};

pub(super) const FORM: Form = Form {
    name: "rust",
    help: "A folder with a no_std Rust crate",
    title: "the export to Rust",
    files,
    program: || version("cargo"),
    run: test,
    passed: "compiled, the self-test passes",
    untried: "no cargo was found: the crate was not compiled",
    size: |memory, _| memory.on_flash(memory.image, "the image"),
};

fn files(prepared: &Prepared) -> Result<Files> {
    let own = [
        ("Cargo.toml".to_string(), manifest(&prepared.options.name).into_bytes()),
        ("src/lib.rs".to_string(), library(prepared).into_bytes()),
        ("src/model.ernn".to_string(), prepared.image.clone()),
        ("ernn-core/Cargo.toml".to_string(), core_manifest().into_bytes()),
    ];
    let core = CORE
        .iter()
        .map(|(name, text)| (format!("ernn-core/src/{name}"), text.as_bytes().to_vec()));
    let sound = prepared.ears.as_ref();
    let sound = sound.map(|ears| ("src/sound.ernn".to_string(), ears.image().to_vec()));
    Ok((own.into_iter().chain(core))
        .chain(sound)
        .chain(prepared.vocabulary())
        .collect())
}

/// Runs the crate's own test.
fn test(_: &str, folder: &Trial, _: &Prepared) -> Result<Option<bool>> {
    let mut command = Command::new("cargo");
    command.args(["test", "--offline", "--quiet"]);
    // Settings of a build that runs this are not the crate's.
    command
        .env("CARGO_TARGET_DIR", folder.path.join("target"))
        .env_remove("RUSTFLAGS");
    let output = folder.run(&mut command, &[])?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        return Err(folder.problem(format!("cargo test failed: {}", said.trim())));
    }
    Ok(None)
}

fn manifest(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nernn-core = {{ path = \"ernn-core\" }}\n\n\
         [workspace]\n"
    )
}

fn core_manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "[package]\nname = \"ernn-core\"\nversion = \"{version}\"\nedition = \"2024\"\nrust-version = \"1.95\"\nlicense = \"MIT OR Apache-2.0\"\n"
    )
}

fn library(prepared: &Prepared) -> String {
    let saved = prepared.saved;
    let mut template = include_str!("rust_crate.txt").to_string();
    if prepared.plan.unit.is_some() {
        let class = "let class = session.class(&mut scratch, &mut logits)?;";
        let number = match prepared.plan.outputs {
            1 => "let number = value(&logits);",
            _ => "let numbers = values(&logits);",
        };
        let value = format!("session.logits(&mut scratch, &mut logits)?;\n//! {number}");
        template = template.replace(class, &value);
    }
    if prepared.plan.several {
        let class = "let class = session.class(&mut scratch, &mut logits)?;";
        let labels = "session.logits(&mut scratch, &mut logits)?;\n//! let labels = labels(&logits);";
        template = template.replace(class, labels);
    }
    let (code, number) = match prepared.logits {
        Logits::Float(_) => (template.clone(), "f32"),
        Logits::Whole(..) => (whole(&template, prepared.plan.narrow), "i32"),
    };
    let said = about::origin(saved, &prepared.options.about)
        .into_iter()
        .chain(about::output(saved))
        .chain(about::inputs(saved));
    let mut text: String = said.map(|said| format!("//! {said}\n")).collect();
    if !prepared.plan.tokens {
        text += &order(&saved.feature_names);
    }
    text += "//!\n";
    text += &code;
    let list = |names: &[String]| {
        names
            .iter()
            .map(|name| format!("{:?}", line(name)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = writeln!(
        text,
        "\n/// {} names, in the order of the logits.\npub const CLASSES: &[&str] = &[{}];",
        if prepared.plan.several { "Label" } else { "Class" },
        list(&saved.classes)
    );
    let inputs: &[String] = if prepared.plan.tokens {
        &[]
    } else {
        &saved.feature_names
    };
    let _ = writeln!(
        text,
        "\n/// Names of the values of a step, in their order; none of a model of tokens.\npub const INPUTS: &[&str] = &[{}];",
        list(inputs)
    );
    let scale = about::logit_scale(prepared.plan.format);
    let _ = writeln!(
        text,
        "\n/// What 1 is in a logit.\npub const LOGIT_SCALE: f32 = {scale}.0;"
    );
    text += &value(prepared, number);
    if prepared.plan.several {
        text += &labels(number);
    }
    if let Some(listens) = &prepared.listens {
        text += &listen(listens);
    }
    if let Some(ears) = &prepared.ears {
        text += &include_str!("rust_crate_sound.txt").replace("SOUND_SUM", &ears.test_sum().to_string());
    }
    let id = about::id(prepared);
    let _ = writeln!(
        text,
        "\n/// Of the same numbers the same.\npub const MODEL_ID: &str = \"{id}\";"
    );
    let _ = writeln!(text, "\n/// Sequences, and the logits after their last step.");
    let _ = writeln!(text, "const TESTS: &[(&[f32], [{number}; SIZES.outputs])] = &[");
    for (sequence, row) in prepared.tests() {
        let _ = writeln!(text, "    (&{sequence:?}, [{}]),", row.join(", "));
    }
    text + "];\n"
}

/// The function that makes the number of an output, and its test; nothing of a model of classes or labels.
fn value(prepared: &Prepared, number: &str) -> String {
    let Some(unit) = &prepared.plan.unit else {
        return String::new();
    };
    let [scale] = &unit.scales[..] else {
        return values(prepared, unit, number);
    };
    let (body, one) = match prepared.logits {
        Logits::Float(_) => ("logits[0]".to_string(), "logits[0]".to_string()),
        Logits::Whole(..) => {
            let [mean, deviation] = [scale.mean as f32, scale.deviation as f32];
            let made = format!("{mean:?} + {deviation:?} * (logits[0] as f32 / LOGIT_SCALE)");
            (made, format!("{:?}", unit.number(0, 1.0) as f32))
        }
    };
    let test = match prepared.logits {
        Logits::Float(_) => "assert_eq!(value(&[1.5]), 1.5);".to_string(),
        Logits::Whole(..) => {
            let bound = Unit::bound(scale);
            format!("assert!((value(&[65_536]) - {one}).abs() <= {bound:?});")
        }
    };
    format!(
        "\n/// The number that the model was trained for, in the unit of the training data.\n\
         pub fn value(logits: &[{number}; SIZES.outputs]) -> f32 {{\n    {body}\n}}\n\n\
         #[cfg(test)]\n#[test]\nfn an_output_becomes_the_number() {{\n    {test}\n}}\n"
    )
}

/// The function that makes the numbers of several outputs, their names, and its test.
fn values(prepared: &Prepared, unit: &Unit, number: &str) -> String {
    let names: Vec<String> = output_names(prepared.saved)
        .iter()
        .map(|name| format!("{name:?}"))
        .collect();
    let pair = |scale: &TargetScale| format!("({:?}, {:?})", scale.mean as f32, scale.deviation as f32);
    let scales: Vec<String> = unit.scales.iter().map(pair).collect();
    let (one, made, scales) = match prepared.logits {
        Logits::Float(_) => (
            "1.0",
            "for (value, logit) in values.iter_mut().zip(logits) {\n        *value = *logit;",
            String::new(),
        ),
        Logits::Whole(..) => (
            "65_536",
            "for ((value, logit), (mean, deviation)) in values.iter_mut().zip(logits).zip(SCALES) {\n        *value = mean + deviation * (*logit as f32 / LOGIT_SCALE);",
            format!(
                "\n/// Mean and deviation of the numbers of each output.\nconst SCALES: [(f32, f32); SIZES.outputs] = [{}];\n",
                scales.join(", ")
            ),
        ),
    };
    let (ordered, said) = match unit.quantiles {
        1 => (String::new(), ""),
        each => (
            format!(
                "    for row in values.chunks_mut({each}) {{\n        row.sort_unstable_by(f32::total_cmp);\n    }}\n"
            ),
            ", the quantiles of one in rising order",
        ),
    };
    let expected = match prepared.logits {
        Logits::Float(_) => vec![1.0; unit.scales.len()],
        Logits::Whole(..) => unit.numbers(unit.scales.iter().map(|_| 1.0)),
    };
    let bounds: Vec<f32> = unit.scales.iter().map(Unit::bound).collect();
    let names = names.join(", ");
    format!(
        "\n/// Names of the numbers, in their order.\npub const VALUES: [&str; SIZES.outputs] = [{names}];\n{scales}\n\
         /// The numbers that the model was trained for, in the units of the training data{said}.\n\
         pub fn values(logits: &[{number}; SIZES.outputs]) -> [f32; SIZES.outputs] {{\n    let mut values = [0.0; SIZES.outputs];\n    \
         {made}\n    }}\n{ordered}    values\n}}\n\n\
         #[cfg(test)]\n#[test]\nfn outputs_become_the_numbers() {{\n    let found = values(&[{one}; SIZES.outputs]);\n    \
         let (expected, bounds): ([f32; SIZES.outputs], [f32; SIZES.outputs]) = ({expected:?}, {bounds:?});\n    \
         for ((found, expected), bound) in found.iter().zip(expected).zip(bounds) {{\n        \
         assert!((found - expected).abs() <= bound);\n    }}\n}}\n"
    )
}

/// The functions that make labels and probabilities of logits, and their test.
fn labels(number: &str) -> String {
    let scaled = match number {
        "f32" => "logit".to_string(),
        _ => "logit as f32 / LOGIT_SCALE".to_string(),
    };
    let (zero, low) = match number {
        "f32" => ("0.0", "-1.0"),
        _ => ("0", "-65_536"),
    };
    format!(
        "\n/// Which labels hold: those whose probability is 1/2 or more; several can.\n\
         pub fn labels(logits: &[{number}; SIZES.outputs]) -> [bool; SIZES.outputs] {{\n    logits.map(|logit| logit >= {zero})\n}}\n\n\
         /// The probability of each label, whatever those of the others are.\n\
         pub fn probabilities(logits: &[{number}; SIZES.outputs]) -> [f32; SIZES.outputs] {{\n    \
         logits.map(|logit| ernn_core::math::sigmoid({scaled}))\n}}\n\n\
         #[cfg(test)]\n#[test]\nfn labels_hold_from_one_half_on() {{\n    \
         assert_eq!(labels(&[{zero}; SIZES.outputs]), [true; SIZES.outputs]);\n    \
         assert_eq!(labels(&[{low}; SIZES.outputs]), [false; SIZES.outputs]);\n    \
         assert!((probabilities(&[{low}; SIZES.outputs])[0] - 0.268_941_42).abs() < 1e-5);\n}}\n"
    )
}

/// Windows of a stream, and events.
fn listen(listens: &Listens) -> String {
    let rule = listens.way.rule(&listens.is_event);
    let fields = format!(
        "average: {}, on: {}, off: {}, least: {}, rest: {}, is_event: &{:?}",
        rule.average, rule.on, rule.off, rule.least, rule.rest, rule.is_event
    );
    include_str!("rust_crate_listen.txt")
        .replace("WINDOW_STEPS", &listens.way.window.to_string())
        .replace("EVERY_STEPS", &listens.way.hop.to_string())
        .replace("RULE_FIELDS", &fields)
        .replace("WINDOWS_OF_TEST", &TEST_WINDOWS.to_string())
        .replace("EVENTS_SUM", &listens.test_sum().to_string())
}

/// The inputs of a step, one a line with its place.
fn order(names: &[String]) -> String {
    let said = |(place, name): (usize, &String)| format!("//! - {place}: `{}`\n", line(name).replace('`', "'"));
    let lines: String = names.iter().enumerate().map(said).collect();
    format!("//!\n{lines}")
}

/// The template of a crate that computes with whole numbers.
fn whole(template: &str, narrow: bool) -> String {
    let number = if narrow { "i8" } else { "i16" };
    let session = format!(
        "pub use ernn_core::int::Model;\n\n/// A stream through the model.\npub type Session<'m, 's> = ernn_core::int::Session<'m, 's, {number}>;"
    );
    let text = template.replace("pub use ernn_core::float::{Model, Session};", &session);
    text.replace("[0.0; ", "[0; ")
}
