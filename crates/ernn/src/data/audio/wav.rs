//! WAVE files: sound as it lies in most data sets.
//!
//! ```text
//! "RIFF" | size u32 | "WAVE" | chunks: name [4] | size u32 | bytes, then one more byte if the size is odd
//! "fmt " : code u16 | channels u16 | rate u32 | bytes a second u32 | bytes a frame u16 | bits u16 | ...
//!          extensible (code 0xFFFE): ... | 22 u16 | valid bits u16 | speakers u32 | code u16 and 14 bytes of a GUID
//! "data" : frames of one sample a channel, little endian: integers (8 bits unsigned, more signed) or IEEE 754
//! ```
//!
//! Integers become `value / 2^(bits - 1)`, so that 16 bits survive exactly; the channels are averaged to one. Writers that
//! stream leave the sizes at 0 or 0xFFFFFFFF: then the sound goes on to the end of the file.
//!
//! The crate `hound` 3.5 was tried first: it reads no 64-bit floating point, takes a streaming writer's size for
//! the truth, and does not say how much of a cut file is there.
//!
//! "Multimedia Programming Interface and Data Specifications 1.0", IBM and Microsoft, 1991; Microsoft, "WAVEFORMATEXTENSIBLE".

use std::path::Path;

use crate::{Error, Result};

/// One channel of sound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sound {
    /// Samples a second.
    pub rate: u32,
    /// `[samples]`, full scale is -1 to 1.
    pub samples: Vec<f32>,
}

/// What the format chunk says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Format {
    floating: bool,
    channels: usize,
    rate: u32,
    bits: usize,
}

/// The size that a writer leaves behind that never went back to its header.
const UNKNOWN: u32 = u32::MAX;

/// Reads a file.
///
/// # Errors
/// If it is no WAVE file, of a kind that is not read here, cut short, without samples, or holds NaN or infinity.
pub(crate) fn read(bytes: &[u8], path: &Path) -> Result<Sound> {
    let riff_size = check_start(bytes, path)?;
    let mut format = None;
    let mut at = 12;
    while let Some(header) = bytes.get(at..at + 8) {
        let (name, size) = (&header[..4], number(&header[4..]) as u32);
        let content = &bytes[at + 8..];
        if name == b"data" {
            let format =
                format.ok_or_else(|| Error::format(path, "", "a data chunk first", "a chunk \"fmt \" before it"))?;
            let streamed = size == UNKNOWN || size == 0 && matches!(riff_size, 0 | UNKNOWN);
            return samples(sound_bytes(content, size, streamed, &format, path)?, &format, path);
        }
        let content = content.get(..size as usize).ok_or_else(|| {
            let place = format!(", chunk \"{}\" at byte {at}", name.escape_ascii());
            cut(path, &place, content.len(), size)
        })?;
        if name == b"fmt " {
            format = Some(Format::parse(content, path)?);
        }
        at += 8 + size as usize + (size % 2) as usize;
    }
    let found = format!("the end after {} bytes", bytes.len());
    Err(Error::format(path, "", found, "a chunk \"data\" with the sound"))
}

fn cut(path: &Path, place: &str, found: usize, expected: u32) -> Error {
    let found = format!("{found} bytes before the end of the file");
    let expected = format!("{expected} as its size says: the file is cut short");
    Error::format(path, place, found, expected)
}

/// Little endian, at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Refuses what is not RIFF/WAVE, by name where it is known; gives the size that the file says it has.
fn check_start(bytes: &[u8], path: &Path) -> Result<u32> {
    let refuse = |found: &str| Err(Error::format(path, "", found, "a RIFF/WAVE file"));
    match (bytes.get(..4), bytes.get(8..12)) {
        (Some(b"RIFF"), Some(b"WAVE")) => Ok(number(&bytes[4..8]) as u32),
        (Some(b"RF64" | b"BW64"), _) => refuse("an RF64 file (more than 4 GiB)"),
        (Some(b"RIFX"), _) => refuse("a big-endian RIFX file"),
        (Some(b"RIFF"), Some(kind)) => refuse(&format!("a RIFF file of kind \"{}\"", kind.escape_ascii())),
        (Some(b"fLaC"), _) => refuse("a FLAC file"),
        (Some(b"OggS"), _) => refuse("an Ogg file"),
        (Some([b'I', b'D', b'3', _]), _) => refuse("an MP3 file"),
        (Some(start), Some(_)) => refuse(&format!("a file that starts with \"{}\"", start.escape_ascii())),
        _ => refuse(&format!("a file of {} bytes", bytes.len())),
    }
}

impl Format {
    fn parse(chunk: &[u8], path: &Path) -> Result<Format> {
        let refuse = |found: String, expected: &str| Err(Error::format(path, ", chunk \"fmt \"", found, expected));
        if chunk.len() < 16 {
            return refuse(format!("{} bytes", chunk.len()), "at least 16");
        }
        let field = |from: usize, to: usize| number(&chunk[from..to]) as usize;
        let [channels, rate, frame, bits] = [field(2, 4), field(4, 8), field(12, 14), field(14, 16)];
        let mut code = field(0, 2);
        if code == 0xFFFE {
            if chunk.len() < 40 {
                return refuse(format!("{} bytes of an extensible format", chunk.len()), "40");
            }
            code = field(24, 26);
        }
        let floating = match code {
            1 => false,
            3 => true,
            code => return refuse(codec(code), "integer or floating-point samples (code 1 or 3)"),
        };
        let sizes = if floating { "32 or 64" } else { "8, 16, 24 or 32" };
        // Fewer valid bits lie at the upper end of the bytes that hold them, so the value is right without asking for them.
        let bits = bits.next_multiple_of(8);
        if !(if floating {
            matches!(bits, 32 | 64)
        } else {
            matches!(bits, 8 | 16 | 24 | 32)
        }) {
            return refuse(format!("{bits} bits a sample"), sizes);
        }
        if channels == 0 || rate == 0 {
            return refuse(
                format!("{channels} channels, {rate} samples a second"),
                "at least one of each",
            );
        }
        if frame != channels * bits / 8 {
            let found = format!("{frame} bytes a frame of {channels} channels with {bits} bits");
            return refuse(found, &(channels * bits / 8).to_string());
        }
        Ok(Format {
            floating,
            channels,
            rate: rate as u32,
            bits,
        })
    }

    /// Bytes of one sample of every channel.
    fn frame(&self) -> usize {
        self.channels * self.bits / 8
    }
}

/// The compressions that a WAVE file may hold.
fn codec(code: usize) -> String {
    let name = match code {
        0x02 => "Microsoft ADPCM",
        0x06 => "A-law",
        0x07 => "mu-law",
        0x11 => "IMA ADPCM",
        0x31 => "GSM 6.10",
        0x50 | 0x55 => "MP3",
        _ => return format!("sound of code {code:#06x}"),
    };
    format!("{name} sound (code {code:#06x})")
}

/// The bytes of the samples: as many as the chunk says, or whole frames to the end of the file.
fn sound_bytes<'a>(rest: &'a [u8], size: u32, streamed: bool, format: &Format, path: &Path) -> Result<&'a [u8]> {
    const PLACE: &str = ", chunk \"data\"";
    let bytes = if streamed {
        &rest[..rest.len() - rest.len() % format.frame()]
    } else {
        rest.get(..size as usize)
            .ok_or_else(|| cut(path, PLACE, rest.len(), size))?
    };
    if !bytes.len().is_multiple_of(format.frame()) {
        let expected = format!("a multiple of {}, the bytes a frame", format.frame());
        return Err(Error::format(path, PLACE, format!("{size} bytes"), expected));
    }
    if bytes.is_empty() {
        return Err(Error::format(path, PLACE, "no sample", "at least one"));
    }
    Ok(bytes)
}

fn samples(bytes: &[u8], format: &Format, path: &Path) -> Result<Sound> {
    let decode = |scale: f32, value: fn(&[u8]) -> f32| mono(bytes, format, scale, value);
    let samples = match (format.floating, format.bits) {
        (false, 8) => decode(1.0 / 128.0, |b| f32::from(b[0]) - 128.0),
        (false, 16) => decode(1.0 / 32768.0, |b| f32::from(i16::from_le_bytes([b[0], b[1]]))),
        (false, 24) => decode(1.0 / 8_388_608.0, |b| {
            (i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8) as f32
        }),
        (false, _) => decode(1.0 / 2_147_483_648.0, |b| number(b) as u32 as i32 as f32),
        (true, 32) => decode(1.0, |b| f32::from_bits(number(b) as u32)),
        (true, _) => decode(1.0, |b| f64::from_bits(number(b)) as f32),
    };
    if let Some(position) = samples.iter().position(|sample| !sample.is_finite()) {
        let place = format!(", sample {}", position + 1);
        return Err(Error::format(path, place, samples[position], "a finite number"));
    }
    Ok(Sound {
        rate: format.rate,
        samples,
    })
}

/// Decodes and averages the channels.
fn mono(bytes: &[u8], format: &Format, scale: f32, value: fn(&[u8]) -> f32) -> Vec<f32> {
    let size = format.bits / 8;
    if format.channels == 1 {
        return bytes.chunks_exact(size).map(|sample| value(sample) * scale).collect();
    }
    let scale = scale / format.channels as f32;
    let frames = bytes.chunks_exact(format.frame());
    frames
        .map(|frame| frame.chunks_exact(size).map(value).sum::<f32>() * scale)
        .collect()
}

#[cfg(test)]
#[path = "wav_tests.rs"]
pub(super) mod tests;
