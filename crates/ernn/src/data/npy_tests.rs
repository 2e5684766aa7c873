use proptest::prelude::*;

use super::*;

/// A file with this header entry and these bytes.
pub(in super::super) fn file(descr: &str, fortran_order: bool, shape: &[usize], values: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), values].concat()
}

fn bytes_of(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

fn read_with(bytes: &[u8], features: Option<usize>) -> Result<Raw> {
    let options = OpenOptions {
        features,
        ..OpenOptions::default()
    };
    read(bytes, "a.npy".as_ref(), &options)
}

fn beside<'a>(labels: &'a Array<'a>) -> Beside<'a> {
    Beside {
        labels: Some(labels),
        ..Beside::default()
    }
}

/// Two rows in EdgeML's layout: labels 2 and -1, then 2 steps of 3 features.
fn edgeml_rows() -> [[f64; 7]; 2] {
    [
        [2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
        [-1.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    ]
}

#[test]
fn numbers_to_predict_stand_beside_or_in_the_first_column() {
    let mut options = OpenOptions {
        features: Some(3),
        ..OpenOptions::default()
    };
    options.table.target = vec!["Y".to_owned()];
    let values = file("|u1", false, &[2, 2, 1], &[1, 2, 3, 4]);
    let values = Array::parse(&values, "a.npz".as_ref(), "X").unwrap();
    let read = |numbers: &[f64]| {
        let bytes = file("<f8", false, &[2], &bytes_of(numbers.iter().copied()));
        sequences(&values, beside(&Array::parse(&bytes, "a.npz".as_ref(), "y")?), &options)
    };
    let raw = read(&[0.5, -3.0]).unwrap();
    assert_eq!((&raw.targets.numbers[..], raw.part.labels.len()), (&[0.5, -3.0][..], 0));
    assert!(raw.targets.wanted && raw.targets.first_missing.is_none());
    let missing = read(&[0.5, f64::NAN]).unwrap().targets.first_missing;
    assert_eq!(missing.as_deref(), Some(", array y, sequence 2"));
    let error = read(&[0.5, 1e60]).unwrap_err().to_string();
    assert!(error.starts_with("a.npz, array y, sequence 2: found 1"), "{error}");
    let several = |shape: &[usize]| {
        let bytes = file("<f8", true, shape, &bytes_of([1.0, 2.0, 10.0, 20.0].into_iter()));
        sequences(&values, beside(&Array::parse(&bytes, "a.npz".as_ref(), "y")?), &options)
    };
    assert_eq!(several(&[2, 2]).unwrap().targets.numbers, [1.0, 10.0, 2.0, 20.0]);
    let error = several(&[4, 1]).unwrap_err().to_string();
    assert!(error.contains("[4, 1], expected [2, targets]"), "{error}");
    let texts = file("|S2", false, &[2], b"b\0a\0");
    let texts = Array::parse(&texts, "a.npz".as_ref(), "y").unwrap();
    let error = sequences(&values, beside(&texts), &options).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.npz, array y, sequence 1: found text, expected a number, as --target says"
    );

    let rows = file("<f8", false, &[2, 7], &bytes_of(edgeml_rows().concat().into_iter()));
    let raw = super::read(&rows, "a.npy".as_ref(), &options).unwrap();
    assert_eq!(raw.targets.numbers, [2.0, -1.0]);
    options.table.target = vec!["speed".to_owned()];
    let error = super::read(&rows, "a.npy".as_ref(), &options).unwrap_err().to_string();
    assert!(error.contains("arrays, which have no columns, and --target"), "{error}");
}

#[test]
fn edgeml_layout_in_every_order_and_type() {
    let rows = edgeml_rows();
    let c_order: Vec<f64> = rows.concat();
    let fortran_order: Vec<f64> = (0..7).flat_map(|column| rows.map(|row| row[column])).collect();
    let doubles = bytes_of(c_order.iter().copied());
    let files = [
        file("<f8", false, &[2, 7], &doubles),
        file("<f8", true, &[2, 7], &bytes_of(fortran_order.into_iter())),
        file(
            ">f8",
            false,
            &[2, 7],
            &c_order.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<_>>(),
        ),
        file(
            "<f4",
            false,
            &[2, 7],
            &c_order
                .iter()
                .flat_map(|&value| (value as f32).to_le_bytes())
                .collect::<Vec<_>>(),
        ),
        file(
            ">f4",
            false,
            &[2, 7],
            &c_order
                .iter()
                .flat_map(|&value| (value as f32).to_be_bytes())
                .collect::<Vec<_>>(),
        ),
    ];
    for bytes in &files {
        let raw = read_with(bytes, Some(3)).unwrap();
        assert_eq!((raw.part.len(), raw.part.features, raw.part.length(0)), (2, 3, 2));
        assert_eq!(
            raw.part.values.numbers(),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
        );
        let sequences = raw.into_sequences().unwrap();
        assert_eq!(
            (sequences.classes, sequences.part.labels),
            (vec!["-1".to_owned(), "2".to_owned()], vec![1, 0])
        );
    }
}

#[test]
fn whole_number_and_half_types() {
    let cases: [(&str, Vec<u8>, [f32; 3]); 8] = [
        ("|i1", vec![1, 255, 128], [1.0, -1.0, -128.0]),
        ("|u1", vec![1, 255, 128], [1.0, 255.0, 128.0]),
        ("|b1", vec![1, 0, 1], [1.0, 0.0, 1.0]),
        (">i2", vec![0, 1, 255, 255, 128, 0], [1.0, -1.0, -32768.0]),
        ("<u2", vec![1, 0, 255, 255, 0, 128], [1.0, 65535.0, 32768.0]),
        (
            "<i4",
            [1i32, -2, 70000].iter().flat_map(|value| value.to_le_bytes()).collect(),
            [1.0, -2.0, 70000.0],
        ),
        (
            ">i8",
            [1i64, -2, 70000].iter().flat_map(|value| value.to_be_bytes()).collect(),
            [1.0, -2.0, 70000.0],
        ),
        // 1, -2 and the smallest subnormal.
        (
            "<f2",
            vec![0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00],
            [1.0, -2.0, 5.960_464_5e-8],
        ),
    ];
    for (descr, bytes, expected) in cases {
        let raw = read_with(&file(descr, false, &[1, 3, 1], &bytes), None).unwrap();
        assert_eq!(raw.part.values.numbers(), expected, "{descr}");
    }
    assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
}

#[test]
fn stacked_arrays_take_labels_of_any_type() {
    let values = bytes_of((0..12).map(f64::from));
    let values = file("<f8", false, &[2, 3, 2], &values);
    let path = "a.npy".as_ref();
    let array = Array::parse(&values, path, "").unwrap();
    let labels: [(Vec<u8>, [&str; 2]); 4] = [
        (
            file("<i8", false, &[2], &[7i64, -3].map(i64::to_le_bytes).concat()),
            ["7", "-3"],
        ),
        (
            file("<f8", false, &[2, 1], &bytes_of([1.0, 2.5].into_iter())),
            ["1", "2.5"],
        ),
        (file("|S3", false, &[2], b"ab\0xyz"), ["ab", "xyz"]),
        (
            file("<U2", false, &[2], b"j\0\0\0a\0\0\0\xe4\0\0\0\0\0\0\0"),
            ["ja", "ä"],
        ),
    ];
    for (bytes, names) in labels {
        let labels = Array::parse(&bytes, path, "").unwrap();
        let raw = sequences(&array, beside(&labels), &OpenOptions::default()).unwrap();
        assert_eq!(raw.labels.names, names);
        assert_eq!(raw.part.sequence(1), [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    }
    let wrong = file("<f8", false, &[3], &bytes_of([1.0; 3].into_iter()));
    let wrong = Array::parse(&wrong, path, "y").unwrap();
    let error = sequences(&array, beside(&wrong), &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "a.npy, array y: found labels of shape [3], expected [2], one label a sequence"
    );
}

#[test]
fn refusals_say_what_was_found_and_expected() {
    let zeros = |count: usize| bytes_of(std::iter::repeat_n(0.0, count));
    let whole = file("<f8", false, &[2, 7], &zeros(14));
    let cases: [(Vec<u8>, Option<usize>, &str); 12] = [
        (
            Vec::new(),
            None,
            "a.npy: found 0 bytes that are no NumPy array, expected an .npy file",
        ),
        (
            whole[..40].to_vec(),
            None,
            "a.npy: found 40 bytes that are no NumPy array, expected an .npy file",
        ),
        (
            whole[..whole.len() - 5].to_vec(),
            Some(3),
            "a.npy: found 107 bytes of values, expected 112 bytes for shape [2, 7] with 8 bytes a value",
        ),
        (
            [whole.as_slice(), &[0]].concat(),
            Some(3),
            "a.npy: found 113 bytes of values, expected 112 bytes for shape [2, 7] with 8 bytes a value",
        ),
        (
            file("<f8", false, &[usize::MAX, 7], &[]),
            None,
            "a.npy: found 0 bytes of values, expected more than 2^64 bytes for shape [18446744073709551615, 7] with 8 bytes a \
             value",
        ),
        (
            whole.clone(),
            None,
            "a.npy: found an array of shape [2, 7], a label and 6 values a row, expected to be told how many features a step \
             has (--features N); rows of a recording, [rows, channels], are cut with --window",
        ),
        (
            whole.clone(),
            Some(4),
            "a.npy: found an array of shape [2, 7], a label and 6 values a row, expected a multiple of 4 values behind the \
             label, as --features says",
        ),
        (
            file("<f8", false, &[14], &zeros(14)),
            None,
            "a.npy: found an array of shape [14], expected [sequences, steps, features], or [sequences, 1 + steps x features] \
             with the label first",
        ),
        (
            file("|O", false, &[2], &[0; 16]),
            None,
            "a.npy: found values of type \"'|O'\", expected whole numbers, floating-point numbers or text",
        ),
        (
            file("<f8", false, &[2, 0, 3], &[]),
            None,
            "a.npy: found an array of shape [2, 0, 3], expected no dimension of size 0",
        ),
        (
            file("<f8", false, &[1, 2, 1], &bytes_of([1.0, 1e300].into_iter())),
            None,
            "a.npy, sequence 1, step 2, channel 1: found 1e300, expected a finite number of at most 3.4e38 in size",
        ),
        (
            file("|S8", false, &[1, 2, 1], &[b'1'; 16]),
            None,
            "a.npy: found text, expected numbers",
        ),
    ];
    for (bytes, features, expected) in cases {
        let error = read_with(&bytes, features).unwrap_err().to_string();
        let expected = expected.replace("1e300", &1e300f64.to_string());
        assert_eq!(error, expected);
    }
    let gap = file("<f8", false, &[1, 4], &bytes_of([1.0, 2.0, f64::NAN, 3.0].into_iter()));
    let error = read_with(&gap, Some(1))
        .unwrap()
        .finish(Default::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("a.npy, row 1, column 3: the first of 1 missing values"),
        "{error}"
    );
    let unlabelled = file("<f8", false, &[1, 2], &bytes_of([f64::NAN, 2.0].into_iter()));
    let error = read_with(&unlabelled, Some(1)).unwrap_err().to_string();
    assert_eq!(error, "a.npy, sequence 1: found no label, expected a number or text");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), features: Option<usize>) {
        let _ = read_with(&bytes, features);
        let _ = read_with(&[b"\x93NUMPY\x01\x00".as_slice(), &bytes].concat(), features);
    }

    #[test]
    fn arbitrary_headers_never_panic(
        descr in "[<>|=]?[fiubSUOV][0-9]{0,2}",
        fortran_order: bool,
        shape in prop::collection::vec(0usize..5, 0..4),
        values in prop::collection::vec(any::<u8>(), 0..200),
        features in prop::option::of(0usize..4),
    ) {
        let _ = read_with(&file(&descr, fortran_order, &shape, &values), features);
        let needed: usize = shape.iter().product::<usize>() * 4;
        let exact: Vec<u8> = values.iter().copied().cycle().take(if values.is_empty() { 0 } else { needed }).collect();
        let _ = read_with(&file("<f4", fortran_order, &shape, &exact), features);
    }
}
