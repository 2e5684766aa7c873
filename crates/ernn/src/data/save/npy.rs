//! NumPy's arrays as bytes.

/// An array of single-precision numbers, `float32`.
pub(super) fn floats(shape: &[usize], values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    encode("<f4", shape, &bytes)
}

/// A vector of whole numbers, `int64`.
pub(super) fn wholes(values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    encode("<i8", &[values.len()], &bytes)
}

/// A vector of texts, each with room for the longest.
pub(super) fn texts(texts: &[String]) -> Vec<u8> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = Vec::with_capacity(4 * longest * texts.len());
    for (index, text) in texts.iter().enumerate() {
        bytes.extend(text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()));
        bytes.resize(4 * longest * (index + 1), 0);
    }
    encode(&format!("<U{longest}"), &[texts.len()], &bytes)
}

/// A file with one array, version 1 of the format: the values start at a multiple of 64 bytes.
pub(crate) fn encode(descr: &str, shape: &[usize], values: &[u8]) -> Vec<u8> {
    const START: usize = 10;
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ");
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    let end = (START + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', end - START - header.len() - 1));
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), values].concat()
}
