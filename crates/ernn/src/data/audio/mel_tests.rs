use ernn_core::sound::FrontEnd;

use super::*;

/// Noise with a few silent stretches, full scale 1.
fn noise(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as f32 / 65_536.0 - 0.5
    };
    (0..count)
        .map(|n| {
            if n % 4000 < 900 {
                0.0
            } else {
                (next() * 20_000.0).round() / 32_768.0
            }
        })
        .collect()
}

/// The formula on top of the file, as it stands there, in `f64` and with a plain Fourier sum.
fn plain(settings: &MelSettings, samples: &[f32]) -> Vec<f64> {
    let x: Vec<f64> = samples.iter().map(|&sample| f64::from(sample) * 32_768.0).collect();
    let pre_emphasis = f64::from(settings.pre_emphasis);
    let s: Vec<f64> = (0..x.len())
        .map(|n| x[n] - if n > 0 { pre_emphasis * x[n - 1] } else { 0.0 })
        .collect();
    let tau = std::f64::consts::TAU;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let hertz = |mel: f64| 700.0 * (10f64.powf(mel / 2595.0) - 1.0);
    let highest = mel(f64::from(settings.rate) / 2.0);
    let bin = |j: usize| {
        let at = hertz(highest * j as f64 / (settings.filters + 1) as f64);
        ((settings.nfft as f64 + 1.0) * at / f64::from(settings.rate)).floor()
    };
    let mut features = Vec::new();
    for f in 0..1 + (x.len().saturating_sub(settings.window)).div_ceil(settings.step) {
        let value = |n: usize| s.get(f * settings.step + n).copied().unwrap_or(0.0);
        let hamming = |n: usize| 0.54 - 0.46 * (tau * n as f64 / (settings.window - 1) as f64).cos();
        let power: Vec<f64> = (0..=settings.nfft / 2)
            .map(|k| {
                let angle = |n: usize| tau * ((k * n) % settings.nfft) as f64 / settings.nfft as f64;
                let real: f64 = (0..settings.window)
                    .map(|n| value(n) * hamming(n) * angle(n).cos())
                    .sum();
                let imaginary: f64 = (0..settings.window)
                    .map(|n| value(n) * hamming(n) * angle(n).sin())
                    .sum();
                (real * real + imaginary * imaginary) / settings.nfft as f64
            })
            .collect();
        for j in 0..settings.filters {
            let [left, center, right] = [bin(j), bin(j + 1), bin(j + 2)];
            let triangle = |k: f64| {
                if k >= left && k < center {
                    (k - left) / (center - left)
                } else if k >= center && k < right {
                    (right - k) / (right - center)
                } else {
                    0.0
                }
            };
            let energy: f64 = power
                .iter()
                .zip(0..)
                .map(|(power, k)| power * triangle(f64::from(k)))
                .sum();
            features.push((if energy == 0.0 { f64::EPSILON } else { energy } + 1e-10).ln());
        }
    }
    features
}

#[test]
fn features_are_the_formula() {
    let other = MelSettings {
        rate: 11_025,
        window: 200,
        step: 150,
        nfft: 256,
        filters: 20,
        pre_emphasis: 0.9,
    };
    for (settings, samples) in [
        (MelSettings::at(16_000), 2700),
        (MelSettings::at(8_000), 1000),
        (other, 1000),
    ] {
        let samples = noise(samples);
        let found = MelBank::new(&settings).unwrap().features(&samples);
        let expected = plain(&settings, &samples);
        assert_eq!(found.len(), expected.len());
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (f64::from(*found) - expected).abs() < 5e-3,
                "{settings:?}, {index}: {found} and {expected}"
            );
        }
    }
}

#[test]
fn frames_and_silence() {
    let settings = MelSettings::at(16_000);
    assert_eq!((settings.window, settings.step, settings.nfft), (400, 160, 512));
    let frames = [0, 1, 400, 401, 560, 561, 16_000].map(|samples| settings.frames(samples));
    assert_eq!(frames, [1, 1, 1, 2, 2, 3, 99]);
    let bank = MelBank::new(&settings).unwrap();
    for count in [0, 1, 16_000] {
        let features = bank.features(&vec![0.0; count]);
        assert_eq!(features.len(), settings.frames(count) * 32);
        assert!(features.iter().all(|feature| (feature + 23.025_85).abs() < 1e-4));
    }
}

#[test]
fn refuses_settings_that_make_no_sense() {
    let right = MelSettings::at(16_000);
    let refused = |settings: MelSettings| MelBank::new(&settings).err().unwrap().to_string();
    assert_eq!(
        refused(MelSettings {
            nfft: 256,
            ..right.clone()
        }),
        "nfft: found 256, expected at least the window of 400"
    );
    assert_eq!(
        refused(MelSettings {
            nfft: 500,
            ..right.clone()
        }),
        "nfft: found 500, expected a power of two from 8 to 32768"
    );
    assert_eq!(
        refused(MelSettings {
            step: 401,
            ..right.clone()
        }),
        "step: found 401, expected at most the window of 400"
    );
    assert_eq!(
        refused(MelSettings { step: 0, ..right }),
        "step: found 0, expected at least 1 sample"
    );
}

/// Whoever changes a byte is refused; whoever repairs the checksum gets features or a refusal, and no panic.
#[test]
fn damaged_tables_are_refused_or_used() {
    let settings = MelSettings {
        filters: 4,
        ..MelSettings::at(8_000)
    };
    let right = settings.image().unwrap();
    let samples: Vec<i16> = noise(200).iter().map(|sample| (sample * 32_768.0) as i16).collect();
    let (mut refused, mut used) = (0, 0);
    for place in (0..right.len()).step_by(3).chain(0..60) {
        for change in [1, 0x80, 0xff] {
            let mut bytes = right.clone();
            bytes[place] ^= change;
            assert!(FrontEnd::parse(&bytes).is_err(), "byte {place}");
            let sum = checksum(&bytes).to_le_bytes();
            bytes[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum);
            let Ok(front) = FrontEnd::parse(&bytes) else {
                refused += 1;
                continue;
            };
            let sizes = front.sizes();
            let (mut work, mut features) = (vec![0; sizes.work], vec![0.0; sizes.features]);
            let samples = &samples[..samples.len().min(sizes.samples)];
            front.features(7, samples, &mut work, &mut features).unwrap();
            used += 1;
        }
    }
    assert!(refused > 20 && used > 100, "{refused} {used}");
    for end in [0, 3, 39, 40, right.len() - 1] {
        assert!(FrontEnd::parse(&right[..end]).is_err());
    }
}
