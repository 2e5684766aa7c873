//! Every target computes what the library computes.

use ernn::checkpoint::SavedModel;
use ernn::export::{Options, Samples, StateBits, Target, check_float, float_image, int_image, measure};
use ernn::model::Quantize;
use ernn_core::float::{Model, Session};

use crate::models::{Case, at_equilibrium, cases, derived, of_tokens};
use crate::{NUMBERS, Numbers, exported, has, models};

/// Differences in the last bits, over 64 steps; what an export allows is more.
const BOUND: f64 = 2e-5;

#[test]
fn every_cell_gives_the_librarys_logits_after_every_step() {
    for case in cases().into_iter().chain(derived()) {
        let samples = Samples::drawn(&case.model);
        let image = float_image(&case.model).unwrap();
        let parity =
            check_float(&case.model, &image, &samples).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(parity.largest_difference < BOUND, "{}: {parity:?}", case.name);
        assert_eq!(
            (parity.steps, parity.sequences, parity.other_classes),
            (1024, 16, 0),
            "{}",
            case.name
        );
    }
}

/// A model that was trained with rounded matrices has them everywhere, after a file and on a device too.
#[test]
fn models_that_round_their_matrices_do_so_everywhere() {
    for case in cases() {
        let mut config = case.model.model.config().clone();
        config.quantize = Quantize::Int8;
        let rounded = SavedModel {
            model: ernn::model::Model::from_parameters(config, case.model.model.parameters().to_vec()).unwrap(),
            ..case.model.clone()
        };
        let rounded = SavedModel::from_bytes("rounded".as_ref(), &rounded.to_bytes()).unwrap();
        let samples = Samples::drawn(&rounded);
        let check = |image: &[u8]| check_float(&rounded, image, &samples);
        let parity = check(&float_image(&rounded).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(parity.largest_difference < BOUND, "{}: {parity:?}", case.name);
        // The weights behind the rounded ones make another model.
        let other = check(&float_image(&case.model).unwrap());
        assert!(
            other.is_err() || other.is_ok_and(|parity| parity.largest_difference > BOUND),
            "{}",
            case.name
        );
    }
}

/// Device and library stop within the tolerance of the same equilibrium, and the states add up what is left.
#[test]
fn equilibria_are_those_of_the_library() {
    for case in at_equilibrium() {
        let samples = Samples::drawn(&case.model);
        let image = float_image(&case.model).unwrap();
        let parity =
            check_float(&case.model, &image, &samples).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(parity.largest_difference < 1e-4, "{}: {parity:?}", case.name);
        let error = int_image(&case.model, &samples, StateBits::Int16)
            .unwrap_err()
            .to_string();
        assert!(error.contains("without a bound"), "{error}");
    }
}

#[test]
fn tokens_go_through_the_embedding() {
    let model = of_tokens();
    let parity = check_float(&model, &float_image(&model).unwrap(), &Samples::drawn(&model)).unwrap();
    assert!(parity.largest_difference < BOUND, "{parity:?}");
}

#[test]
fn every_cell_in_c_gives_the_bits_of_the_rust_runtime() {
    if !has("cc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let tokens = Case {
        name: "tokens".to_string(),
        model: of_tokens(),
    };
    let all = cases().into_iter().chain(at_equilibrium()).chain(derived());
    for (index, case) in all.chain([tokens]).enumerate() {
        let samples = Samples::drawn(&case.model);
        for &numbers in case.numbers() {
            exported(
                &case,
                &samples,
                numbers,
                &folder.path().join(format!("{index}-{numbers:?}")),
            );
        }
    }
}

#[test]
fn a_rust_crate_passes_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    let of_numbers = || cases().swap_remove(0).model;
    let of_a_number = || models::of_a_number(300.0, 5.0);
    let several = |quantiles: &[f64]| models::of_several_numbers(&[(300.0, 5.0), (-2e-4, 1e-5)], quantiles);
    for (name, model, numbers) in [
        ("values", several(&[]), Numbers::Float),
        ("quantiles", several(&[0.1, 0.9]), Numbers::Float),
        ("quantiles_whole", several(&[0.1, 0.9]), Numbers::Int8),
        ("value", of_a_number(), Numbers::Float),
        ("value_whole", of_a_number(), Numbers::Int8),
        ("steps", models::of_step_numbers(&[(300.0, 5.0)], &[]), Numbers::Float),
        ("labels", models::of_labels(), Numbers::Float),
        ("labels_whole", models::of_labels(), Numbers::Int8),
        ("numbers", of_numbers(), Numbers::Float),
        ("tokens", of_tokens(), Numbers::Float),
        ("sound", models::of_sound(), Numbers::Int8),
        ("whole", of_numbers(), Numbers::Int8),
        ("states", of_numbers(), Numbers::Int8States),
        ("exact", at_equilibrium().swap_remove(0).model, Numbers::Float),
        ("derived", derived().swap_remove(6).model, Numbers::Int8),
    ] {
        let options = Options {
            name: name.to_string(),
            ..numbers.options()
        };
        let out = folder.path().join(name);
        let report = Target::Rust
            .write(&out, &model, &Samples::drawn(&model), &options)
            .unwrap();
        assert!(report.program.is_some(), "the tests themselves run under cargo");
        assert!(out.join("src/lib.rs").is_file() && !out.join("target").exists());
    }
}

/// In any unit: the self-test of the code calls the function that makes the number, and compares it.
#[test]
fn a_number_is_in_its_unit_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    for (place, (mean, deviation)) in [(300.0, 5.0), (-2e-4, 1e-5), (1e6, 2e5)].into_iter().enumerate() {
        let case = Case {
            name: format!("a number of {mean} +- {deviation}"),
            model: models::of_a_number(mean, deviation),
        };
        let samples = Samples::drawn(&case.model);
        let parity = check_float(&case.model, &float_image(&case.model).unwrap(), &samples).unwrap();
        assert!(
            parity.of_numbers && parity.largest_difference < BOUND,
            "{}: {parity:?}",
            case.name
        );
        let image = int_image(&case.model, &samples, StateBits::Int16).unwrap();
        let accuracy = measure(&case.model, &image, &samples).unwrap();
        assert!(
            accuracy.largest_difference < 0.02 && accuracy.saturations == 0,
            "{}: {accuracy:?}",
            case.name
        );
        for numbers in NUMBERS.into_iter().filter(|_| has("cc")) {
            let out = folder.path().join(format!("{place}-{numbers:?}"));
            exported(&case, &samples, numbers, &out);
            let header = std::fs::read_to_string(out.join("ernn.h")).unwrap();
            assert!(
                header.contains("float ernn_value(") && !header.contains("ernn_class"),
                "{header}"
            );
            assert_eq!(header.contains("ERNN_VALUE_MEAN"), numbers != Numbers::Float);
        }
    }
}

/// After every step a number of that step, in its unit: one and several, and quantiles in order.
#[test]
fn numbers_of_steps_are_in_their_units_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    let scales = [(300.0, 5.0), (-2e-4, 1e-5)];
    let forms = [
        (&scales[..1], &[][..]),
        (&scales, &[]),
        (&scales[1..], &[0.1, 0.5, 0.9]),
    ];
    for (place, (scales, quantiles)) in forms.into_iter().enumerate() {
        let case = Case {
            name: format!("{} numbers of steps, {} quantiles", scales.len(), quantiles.len()),
            model: models::of_step_numbers(scales, quantiles),
        };
        let samples = Samples::drawn(&case.model);
        let parity = check_float(&case.model, &float_image(&case.model).unwrap(), &samples).unwrap();
        assert!(parity.of_numbers && parity.largest_difference < BOUND, "{parity:?}");
        assert_eq!(parity.steps, 1024);
        let image = int_image(&case.model, &samples, StateBits::Int16).unwrap();
        let accuracy = measure(&case.model, &image, &samples).unwrap();
        assert!(
            accuracy.largest_difference < 0.02 && accuracy.saturations == 0,
            "{accuracy:?}"
        );
        for numbers in NUMBERS.into_iter().filter(|_| has("cc")) {
            let out = folder.path().join(format!("{place}-{numbers:?}"));
            exported(&case, &samples, numbers, &out);
            let header = std::fs::read_to_string(out.join("ernn.h")).unwrap();
            let one = scales.len() == 1 && quantiles.is_empty();
            assert_eq!(header.contains("float ernn_value("), one, "{header}");
            assert_eq!(header.contains("void ernn_values("), !one, "{header}");
            assert!(
                header.contains(" at each step") && header.contains("after each step"),
                "{header}"
            );
            assert!(!header.contains("ernn_class("), "{header}");
        }
    }
}

/// Of several numbers each has its unit, and quantiles that cross are put in order: the self-test compares what the code makes of them.
#[test]
fn several_numbers_are_in_their_units_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    let scales = [(300.0, 5.0), (-2e-4, 1e-5)];
    for (place, quantiles) in [&[][..], &[0.1, 0.5, 0.9]].into_iter().enumerate() {
        let case = Case {
            name: format!("two numbers, {} quantiles", quantiles.len()),
            model: models::of_several_numbers(&scales, quantiles),
        };
        let samples = Samples::drawn(&case.model);
        let parity = check_float(&case.model, &float_image(&case.model).unwrap(), &samples).unwrap();
        assert!(parity.of_numbers && parity.largest_difference < BOUND, "{parity:?}");
        let image = int_image(&case.model, &samples, StateBits::Int16).unwrap();
        let accuracy = measure(&case.model, &image, &samples).unwrap();
        assert!(
            accuracy.largest_difference < 0.02 && accuracy.saturations == 0,
            "{accuracy:?}"
        );
        for numbers in NUMBERS.into_iter().filter(|_| has("cc")) {
            let out = folder.path().join(format!("{place}-{numbers:?}"));
            exported(&case, &samples, numbers, &out);
            let text = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
            let header = text("ernn.h");
            assert!(
                header.contains("void ernn_values(") && !header.contains("ernn_value("),
                "{header}"
            );
            assert!(
                !header.contains("ernn_class(") && !header.contains("ernn_probabilities"),
                "{header}"
            );
            assert_eq!(header.contains("#define ERNN_QUANTILES 3"), !quantiles.is_empty());
            let first = if quantiles.is_empty() {
                "\"value1\""
            } else {
                "\"value1_q0.1\""
            };
            assert!(text("ernn_info.c").contains(first));
        }
    }
}

/// The C program calls the functions of labels and of probabilities after every step, and compares them.
#[test]
fn several_labels_can_hold_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case {
        name: "labels".to_string(),
        model: models::of_labels(),
    };
    let samples = Samples::drawn(&case.model);
    let parity = check_float(&case.model, &float_image(&case.model).unwrap(), &samples).unwrap();
    assert!(parity.of_labels && parity.other_classes == 0, "{parity:?}");
    let image = int_image(&case.model, &samples, StateBits::Int16).unwrap();
    let known = Samples {
        indicators: vec![vec![1, 0, 1]; samples.sequences.len()],
        ..samples.clone()
    };
    let accuracy = measure(&case.model, &image, &known).unwrap();
    assert!(
        accuracy.largest_difference < 0.02 && accuracy.float.is_some(),
        "{accuracy:?}"
    );
    for numbers in NUMBERS.into_iter().filter(|_| has("cc")) {
        let out = folder.path().join(format!("{numbers:?}"));
        exported(&case, &samples, numbers, &out);
        let header = std::fs::read_to_string(out.join("ernn.h")).unwrap();
        for part in ["int ernn_labels(", "int ernn_probabilities(", "one or several can hold"] {
            assert!(header.contains(part), "{header}");
        }
        assert!(!header.contains("ernn_class("), "{header}");
    }
}

/// The self-test of each export makes features of a sound, which must be the host's to the bit; the web's runs in `web.rs`.
#[test]
fn sound_becomes_the_features_of_the_training_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case {
        name: "sound".to_string(),
        model: models::of_sound(),
    };
    let samples = Samples::drawn(&case.model);
    for numbers in NUMBERS.into_iter().filter(|_| has("cc")) {
        let out = folder.path().join(format!("{numbers:?}"));
        exported(&case, &samples, numbers, &out);
        let header = std::fs::read_to_string(out.join("ernn.h")).unwrap();
        for part in [
            "int ernn_sound_push(",
            "#define ERNN_RATE 8000",
            "#define ERNN_HOP 80",
            "read_microphone(block)",
            "12 log-mel values, which are computed here",
        ] {
            assert!(header.contains(part), "{part}\n{header}");
        }
        // One bit of one table: the self-test says so.
        let source = out.join("ernn_sound.c");
        let text = std::fs::read_to_string(&source).unwrap();
        let other = text.replacen("hamming[100] = {\n    2621,", "hamming[100] = {\n    2622,", 1);
        assert_ne!(text, other, "{text}");
        for (text, right) in [(text, true), (other, false)] {
            std::fs::write(&source, text).unwrap();
            std::fs::write(
                out.join("main.c"),
                "#include \"ernn.h\"\nint main(void) { return ernn_selftest(); }\n",
            )
            .unwrap();
            let files = ["main.c", "ernn.c", "ernn_sound.c", "ernn_listen.c", "ernn_selftest.c"];
            let mut compiler = std::process::Command::new("cc");
            let compiled = compiler
                .args(["-o", "main"])
                .args(files)
                .current_dir(&out)
                .status()
                .unwrap();
            assert!(compiled.success());
            let run = std::process::Command::new(out.join("main")).status().unwrap();
            assert_eq!(run.success(), right, "{run}");
        }
    }
}

/// A hundredth of a deviation is little beside the number, and too much.
#[test]
fn numbers_are_compared_in_deviations() {
    let model = models::of_a_number(300.0, 5.0);
    let image = float_image(&model).unwrap();
    let mut other = model.clone();
    *other.model.parameters_mut().last_mut().unwrap() += 0.05;
    let error = check_float(&other, &image, &Samples::drawn(&model))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("numbers that differ from the library's by 9.9e-3 deviations"),
        "{error}"
    );
}

/// Two streams in turns, one of them saved and restored in another place.
#[test]
fn streams_do_not_meet() {
    for case in cases().into_iter().chain(derived()) {
        let image = float_image(&case.model).unwrap();
        let model = Model::parse(&image).unwrap();
        let sizes = model.sizes();
        let samples = Samples::drawn(&case.model);
        let alone = |sequence: &[f32]| {
            let (mut values, mut scratch, mut logits) =
                (vec![0.0; sizes.state], vec![0.0; sizes.scratch], vec![0.0; 4]);
            let mut session = Session::new(&model, &mut values).unwrap();
            sequence
                .chunks_exact(3)
                .for_each(|step| session.push(&mut scratch, step).unwrap());
            session.logits(&mut scratch, &mut logits).unwrap();
            logits
        };
        let [one, two] = [&samples.sequences[0], &samples.sequences[1]];
        let (mut a, mut b, mut scratch) = (
            vec![7.0; sizes.state],
            vec![7.0; sizes.state],
            vec![f32::NAN; sizes.scratch],
        );
        let mut steps = 0;
        Session::new(&model, &mut a).unwrap();
        let mut second = Session::new(&model, &mut b).unwrap();
        for (x, y) in one.chunks_exact(3).zip(two.chunks_exact(3)) {
            let mut elsewhere = a.clone();
            let mut first = Session::resume(&model, &mut elsewhere, steps).unwrap();
            first.push(&mut scratch, x).unwrap();
            steps = first.steps();
            a = elsewhere;
            second.push(&mut scratch, y).unwrap();
        }
        let mut logits = vec![0.0; 4];
        let first = Session::resume(&model, &mut a, steps).unwrap();
        first.logits(&mut scratch, &mut logits).unwrap();
        assert_eq!(logits, alone(one), "{}", case.name);
        second.logits(&mut scratch, &mut logits).unwrap();
        assert_eq!(logits, alone(two), "{}", case.name);
    }
}

/// Weights of 8 bits cost some accuracy of a logit, and nothing else may: a formula that is wrong costs far more. States of 8 bits cost up
/// to half their last bit a step.
#[test]
fn every_cell_in_whole_numbers_is_near_the_library() {
    for case in cases().into_iter().chain(derived()) {
        let samples = Samples::drawn(&case.model);
        // Cells that forget nothing add up the errors of all steps.
        let keeps = ["antisymmetric", "spectral"]
            .iter()
            .any(|cell| case.name.contains(cell));
        for (state, bound, of_keeping) in [(StateBits::Int16, 0.01, 0.2), (StateBits::Int8, 0.1, 0.7)] {
            let bound = if keeps { of_keeping } else { bound };
            let image =
                int_image(&case.model, &samples, state).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            let accuracy = measure(&case.model, &image, &samples).unwrap();
            assert!(
                accuracy.largest_difference < bound,
                "{} {state:?}: {accuracy:?}",
                case.name
            );
            assert_eq!(
                accuracy.saturations, 0,
                "{}: the data is that of the calibration",
                case.name
            );
        }
    }
}
