//! Images that were cut, changed, or written by something later are refused; none brings the runtime to a panic.

use ernn::export::{Samples, StateBits, float_image, int_image};
use ernn_core::float::{Model, Session};
use ernn_core::image::{CHECKSUM_AT, checksum};
use ernn_core::{ParseError, RunError, Sizes, int};
use proptest::prelude::*;

use crate::models::{at_equilibrium, cases, derived, of_tokens, thinned};

/// Of every model in `f32`, then of those with bounded states in `int8`, with states of either width in turns.
fn images() -> Vec<Vec<u8>> {
    let cases = cases()
        .into_iter()
        .chain(derived())
        .chain(thinned(50, 9))
        .chain(thinned(3, 33).into_iter().take(6));
    let mut models: Vec<_> = cases.map(|case| case.model).collect();
    models.push(of_tokens());
    let exact = at_equilibrium();
    let float = exact.iter().map(|case| &case.model).chain(&models);
    let float = float.map(|model| float_image(model).unwrap());
    let int = models
        .iter()
        .zip([StateBits::Int16, StateBits::Int8].into_iter().cycle());
    let int = int.map(|(model, state)| int_image(model, &Samples::drawn(model), state).unwrap());
    float.chain(int).collect()
}

/// With the checksum that the bytes have now.
fn signed(mut image: Vec<u8>) -> Vec<u8> {
    if image.len() >= CHECKSUM_AT + 4 {
        let sum = checksum(&image);
        image[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
    }
    image
}

/// Whether someone who believes the header would take so much memory.
fn affordable(sizes: Sizes) -> bool {
    let most = 1 << 22;
    [sizes.state, sizes.scratch, sizes.inputs, sizes.outputs]
        .iter()
        .all(|&size| size <= most)
}

/// Parses, and runs whatever was taken; it may be anything but a panic.
fn run(image: &[u8]) -> Result<(), ParseError> {
    match Model::parse(image) {
        Err(ParseError::Format { .. }) => return run_int(image),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    let model = Model::parse(image)?;
    let sizes = model.sizes();
    if !affordable(sizes) {
        return Ok(());
    }
    let (mut values, mut scratch) = (vec![0.0; sizes.state], vec![0.0; sizes.scratch]);
    let mut logits = vec![0.0; sizes.outputs];
    let mut session = Session::new(&model, &mut values).unwrap();
    for step in 0..3 {
        let _ = session.push(&mut scratch, &vec![step as f32; sizes.inputs]);
        let _ = session.push_token(&mut scratch, step);
        // Forged weights may well give logits that are no numbers.
        let class = session.class(&mut scratch, &mut logits);
        assert!(matches!(class, Ok(_) | Err(RunError::Logit { .. })), "{class:?}");
    }
    Ok(())
}

fn run_int(image: &[u8]) -> Result<(), ParseError> {
    let model = int::Model::parse(image)?;
    match model.state_bits() {
        8 => run_states(&model, [0, 0x55, i8::MIN, i8::MAX]),
        _ => run_states(&model, [0, 0x5555, i16::MIN, i16::MAX]),
    }
}

fn run_states<S: int::State>(model: &int::Model, starts: [S; 4]) -> Result<(), ParseError> {
    let sizes = model.sizes();
    if !affordable(sizes) {
        return Ok(());
    }
    let (mut values, mut scratch) = (vec![S::default(); sizes.state], vec![0; sizes.scratch]);
    let mut logits = vec![0; sizes.outputs];
    for start in starts {
        values.fill(start);
        let mut session = int::Session::resume(model, &mut values, 0, u32::MAX - 1).unwrap();
        for step in 0..3 {
            let _ = session.push(&mut scratch, &vec![1e30 * (step as f32 - 1.0); sizes.inputs]);
            let _ = session.push_token(&mut scratch, step);
            session.class(&mut scratch, &mut logits).unwrap();
        }
    }
    Ok(())
}

/// Whether neither format takes it.
fn refused(image: &[u8]) -> bool {
    Model::parse(image).is_err() && int::Model::parse(image).is_err()
}

#[test]
fn every_cut_is_refused() {
    for image in images() {
        run(&image).unwrap();
        for length in 0..image.len() {
            assert!(refused(&image[..length]), "cut to {length} bytes");
        }
        let longer = [&image[..], &[0; 4]].concat();
        assert!(matches!(Model::parse(&longer), Err(ParseError::Length { .. })));
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let mut images = images();
    for mut image in [images.swap_remove(0), images.pop().unwrap()] {
        for bit in 0..8 * image.len() {
            image[bit / 8] ^= 1 << (bit % 8);
            assert!(refused(&image), "bit {bit}");
            image[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_later_version_is_named() {
    let mut image = images().swap_remove(0);
    image[4] = 2;
    let error = Model::parse(&image).unwrap_err();
    assert_eq!(error, ParseError::Version { found: 2, known: 1 });
    assert_eq!(
        error.to_string(),
        "version 2 of the format, and only versions up to 1 are known"
    );
    // Even where a later version has a shorter header.
    assert_eq!(Model::parse(&image[..8]).unwrap_err(), error);
}

#[test]
fn what_is_no_model_is_named() {
    assert_eq!(Model::parse(b"").unwrap_err(), ParseError::Magic);
    assert_eq!(Model::parse(b"PK a zip").unwrap_err(), ParseError::Magic);
    let mut image = images().swap_remove(0);
    image[6] = 9;
    assert_eq!(
        Model::parse(&signed(image)).unwrap_err(),
        ParseError::Format { found: 9 }
    );
}

#[test]
fn a_session_refuses_what_does_not_fit() {
    let image = images().swap_remove(0);
    let model = Model::parse(&image).unwrap();
    let sizes = model.sizes();
    assert!(Session::new(&model, &mut []).is_err());
    let (mut values, mut scratch) = (vec![0.0; sizes.state], vec![0.0; sizes.scratch]);
    let mut session = Session::new(&model, &mut values).unwrap();
    session.push(&mut scratch, &[1.0, 2.0, 3.0]).unwrap();
    let before = session.values().to_vec();
    let error = session.push(&mut scratch, &[1.0, f32::NAN, 3.0]).unwrap_err();
    assert_eq!(error.to_string(), "value 2 of the input is not a finite number");
    let error = session.push(&mut scratch, &[1.0]).unwrap_err();
    assert_eq!(error.to_string(), "input: found 1 numbers, expected 3");
    assert_eq!(session.push_token(&mut scratch, 0).unwrap_err(), RunError::Kind);
    assert!(session.push(&mut [], &[1.0, 2.0, 3.0]).is_err());
    assert!(session.logits(&mut scratch, &mut [0.0]).is_err());
    assert_eq!(
        (session.values(), session.steps()),
        (&before[..], 1),
        "a refused step changes nothing"
    );
}

/// A state of other bits than the image says is refused.
#[test]
fn a_state_has_the_bits_of_its_model() {
    let model = of_tokens();
    let image = int_image(&model, &Samples::drawn(&model), StateBits::Int8).unwrap();
    let model = int::Model::parse(&image).unwrap();
    let mut values = vec![0_i16; model.sizes().state];
    let error = int::Session::new(&model, &mut values).unwrap_err();
    assert_eq!(error.to_string(), "state: found numbers of 16 bits, expected 8");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Words of header, records and entries replaced by chance, under a right checksum.
    #[test]
    fn forged_images_do_not_panic(which in 0_usize..1000, changes in prop::collection::vec((0_usize..400, any::<u32>(), 0_u32..3), 1..5)) {
        let images = IMAGES.get_or_init(images);
        let mut image = images[which % images.len()].clone();
        for (at, value, size) in changes {
            let at = at % (image.len() / 4) * 4;
            // Small numbers are likelier to be taken.
            let value = [value, value % 100, value % 4][size as usize];
            image[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let _ = run(&signed(image));
    }

    #[test]
    fn any_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), headed in any::<bool>()) {
        if headed && bytes.len() > 12 {
            bytes[..8].copy_from_slice(b"ERNN\x01\0\0\0");
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
        }
        let _ = run(&signed(bytes));
    }
}

static IMAGES: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
