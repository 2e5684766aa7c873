use proptest::prelude::*;

use super::*;

/// A chunk with its padding byte.
fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut bytes = [name, &(content.len() as u32).to_le_bytes()[..], content].concat();
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes
}

fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let content = chunks.concat();
    [
        b"RIFF",
        &(content.len() as u32 + 4).to_le_bytes()[..],
        b"WAVE",
        &content,
    ]
    .concat()
}

fn fmt(code: u16, channels: u16, rate: u32, bits: u16) -> Vec<u8> {
    let frame = channels * bits.next_multiple_of(8) / 8;
    let mut content = Vec::new();
    [code, channels]
        .iter()
        .for_each(|field| content.extend(field.to_le_bytes()));
    [rate, rate * u32::from(frame)]
        .iter()
        .for_each(|field| content.extend(field.to_le_bytes()));
    [frame, bits]
        .iter()
        .for_each(|field| content.extend(field.to_le_bytes()));
    content
}

fn extensible(code: u16, channels: u16, rate: u32, bits: u16) -> Vec<u8> {
    let mut content = fmt(0xFFFE, channels, rate, bits);
    content.extend([22, 0, bits as u8, 0, 4, 0, 0, 0]);
    content.extend(code.to_le_bytes());
    content.extend(b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71");
    content
}

fn file(format: Vec<u8>, data: &[u8]) -> Vec<u8> {
    riff(&[chunk(b"fmt ", &format), chunk(b"data", data)])
}

/// A file of one channel with 16 bits a sample.
pub(in crate::data) fn sixteen_bits(rate: u32, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    file(fmt(1, 1, rate, 16), &data)
}

fn parse(bytes: &[u8]) -> std::result::Result<Sound, String> {
    read(bytes, Path::new("a.wav")).map_err(|error| error.to_string())
}

fn samples_of(bytes: &[u8]) -> Vec<f32> {
    parse(bytes).unwrap().samples
}

#[test]
fn every_kind_of_sample() {
    // code, bits, one frame a number, the samples
    let table: [(u16, u16, Vec<u8>, [f32; 3]); 6] = [
        (1, 8, vec![0, 128, 192], [-1.0, 0.0, 0.5]),
        (1, 16, vec![0, 0x80, 1, 0, 0, 0x40], [-1.0, 1.0 / 32768.0, 0.5]),
        (
            1,
            24,
            vec![0, 0, 0x80, 1, 0, 0, 0, 0, 0x40],
            [-1.0, 1.0 / 8_388_608.0, 0.5],
        ),
        (1, 32, vec![0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x40], [-1.0, 0.0, 0.5]),
        (
            3,
            32,
            [-1.0f32, 0.25, 1.5]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            [-1.0, 0.25, 1.5],
        ),
        (
            3,
            64,
            [-1.0f64, 0.25, 1.5]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            [-1.0, 0.25, 1.5],
        ),
    ];
    for (code, bits, data, expected) in table {
        for format in [fmt(code, 1, 16_000, bits), extensible(code, 1, 16_000, bits)] {
            let sound = parse(&file(format, &data)).unwrap();
            assert_eq!(
                (sound.rate, &sound.samples[..]),
                (16_000, &expected[..]),
                "code {code}, {bits} bits"
            );
        }
    }
}

#[test]
fn fewer_valid_bits_lie_at_the_upper_end() {
    assert_eq!(
        samples_of(&file(fmt(1, 1, 8000, 12), &[0x10, 0, 0, 0x40])),
        [16.0 / 32768.0, 0.5]
    );
}

#[test]
fn channels_are_averaged() {
    let data: Vec<u8> = [8192i16, 16384, -8192, 8192]
        .iter()
        .flat_map(|sample| sample.to_le_bytes())
        .collect();
    assert_eq!(samples_of(&file(fmt(1, 2, 8000, 16), &data)), [0.375, 0.0]);
    let data: Vec<u8> = [128, 192, 0, 192, 192, 192].to_vec();
    assert_eq!(samples_of(&file(fmt(1, 3, 8000, 8), &data)), [-0.5 / 3.0, 0.5]);
}

#[test]
fn other_chunks_and_padding_are_skipped() {
    let chunks = [
        chunk(b"LIST", b"odd"),
        chunk(b"fmt ", &[fmt(1, 1, 8000, 8), vec![0, 0]].concat()),
        chunk(b"fact", b"four"),
        chunk(b"data", &[192]),
        chunk(b"LIST", b"behind"),
    ];
    assert_eq!(samples_of(&riff(&chunks)), [0.5]);
}

#[test]
fn streamed_sound_goes_to_the_end() {
    let right = sixteen_bits(8000, &[16384; 5]);
    for (riff_size, data_size) in [(u32::MAX, u32::MAX), (0, 0), (u32::MAX, 0), (44, u32::MAX)] {
        let mut bytes = right.clone();
        bytes[4..8].copy_from_slice(&riff_size.to_le_bytes());
        bytes[40..44].copy_from_slice(&data_size.to_le_bytes());
        assert_eq!(samples_of(&bytes), [0.5; 5], "sizes {riff_size} and {data_size}");
        bytes.pop();
        assert_eq!(samples_of(&bytes), [0.5; 4], "a frame that is cut");
    }
    let mut empty = right;
    empty[40..44].copy_from_slice(&0u32.to_le_bytes());
    assert_eq!(
        parse(&empty).unwrap_err(),
        "a.wav, chunk \"data\": found no sample, expected at least one"
    );
}

#[test]
fn refusals_say_what_was_found_and_expected() {
    let right = sixteen_bits(8000, &[1; 100]);
    let with_start = |start: &[u8; 4]| [start, &right[4..]].concat();
    let table: [(Vec<u8>, &str); 15] = [
        (
            right[..143].to_vec(),
            ", chunk \"data\": found 99 bytes before the end of the file, expected 200 as its size says: the file is cut short",
        ),
        (
            right[..30].to_vec(),
            ", chunk \"fmt \" at byte 12: found 10 bytes before the end of the file, expected 16 as its size says: the file is cut short",
        ),
        (
            right[..36].to_vec(),
            ": found the end after 36 bytes, expected a chunk \"data\" with the sound",
        ),
        (
            right[..7].to_vec(),
            ": found a file of 7 bytes, expected a RIFF/WAVE file",
        ),
        (
            with_start(b"RF64"),
            ": found an RF64 file (more than 4 GiB), expected a RIFF/WAVE file",
        ),
        (with_start(b"fLaC"), ": found a FLAC file, expected a RIFF/WAVE file"),
        (
            with_start(b"ab\n\xff"),
            ": found a file that starts with \"ab\\n\\xff\", expected a RIFF/WAVE file",
        ),
        (
            riff(&[chunk(b"data", &[0])]),
            ": found a data chunk first, expected a chunk \"fmt \" before it",
        ),
        (
            file(fmt(6, 1, 8000, 8), &[0]),
            ", chunk \"fmt \": found A-law sound (code 0x0006), expected integer or floating-point samples (code 1 or 3)",
        ),
        (
            file(extensible(0x55, 1, 8000, 16), &[0]),
            ", chunk \"fmt \": found MP3 sound (code 0x0055), expected integer or floating-point samples (code 1 or 3)",
        ),
        (
            file(fmt(1, 1, 8000, 64), &[0]),
            ", chunk \"fmt \": found 64 bits a sample, expected 8, 16, 24 or 32",
        ),
        (
            file(fmt(3, 1, 8000, 16), &[0]),
            ", chunk \"fmt \": found 16 bits a sample, expected 32 or 64",
        ),
        (
            file(fmt(1, 0, 8000, 16), &[0]),
            ", chunk \"fmt \": found 0 channels, 8000 samples a second, expected at least one of each",
        ),
        (
            file(fmt(1, 2, 8000, 16), &[0; 6]),
            ", chunk \"data\": found 6 bytes, expected a multiple of 4, the bytes a frame",
        ),
        (
            file(fmt(3, 1, 8000, 32), &f32::NAN.to_le_bytes()),
            ", sample 1: found NaN, expected a finite number",
        ),
    ];
    for (bytes, expected) in table {
        assert_eq!(parse(&bytes).unwrap_err(), format!("a.wav{expected}"));
    }
}

proptest! {
    #[test]
    fn damage_is_refused_or_read_but_never_panics(
        at in 0usize..60, byte in any::<u8>(), end in 0usize..=60, code in 0u16..4, bits in 0u16..70, channels in 0u16..4
    ) {
        let mut bytes = file(fmt(code, channels, 8000, bits), &[7; 16]);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(end);
        let _ = parse(&bytes);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = parse(&[b"RIFF\0\0\0\0WAVE".to_vec(), bytes.clone()].concat());
        let _ = parse(&bytes);
    }
}
