"""Spoken digits in a stream that does not end: clips to train on, and long recordings with pauses, noise and other words to listen to.

    python3 bench/listening.py FSDD_RECORDINGS WORDS OUT      # needs numpy
    ernn train OUT/clips --out RUN                            # and the other commands, which are printed

FSDD_RECORDINGS is the folder with 0_jackson_0.wav and so on, of which indices 0 to 4 are the test part, 5 to 9 choose the thresholds, and the
others are trained on; WORDS a folder with WAVE files of other words at 16,000 samples a second (a folder a word, as in Speech Commands), of
which every third is for training, every third for choosing and every third for the test. Clips are a second of 16,000 samples with the digit
anywhere in it; the class background has noise, other words, and digits that are cut off. Noise is drawn: white, pink or brown, 5 to 30
decibels below the words.
"""

import sys
import wave
from pathlib import Path

import numpy as np

RATE = 16_000
#: Minutes of a long recording, and seconds of pause between words.
MINUTES, PAUSE = 60, (1.0, 4.0)
CLIPS_A_WORD, BACKGROUND = 2, 1500


def read(path):
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
        if file.getframerate() == RATE:
            return samples
        assert 2 * file.getframerate() == RATE, path
    # Twice as many samples: zeros between, and what lies above 4,000 hertz taken away.
    spectrum = np.fft.rfft(samples)
    return 2 * np.fft.irfft(np.concatenate([spectrum, np.zeros(len(samples) - len(samples) // 2)]), 2 * len(samples))


def write(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(RATE)
        file.writeframes(np.clip(np.rint(samples), -32768, 32767).astype("<i2").tobytes())


def noise(random, count):
    """Of deviation 1: white, pink or brown."""
    spectrum = np.fft.rfft(random.normal(size=count))
    spectrum /= np.maximum(np.arange(len(spectrum)), 1) ** random.choice([0.0, 0.5, 1.0])
    samples = np.fft.irfft(spectrum, count)
    return samples / samples.std()


def level(random):
    """The deviation of a word, and of the noise below it."""
    loud = 10 ** random.uniform(2.8, 3.6)
    return loud, loud * 10 ** (-random.uniform(5, 30) / 20)


def at_level(samples, loud):
    return samples * loud / max(samples.std(), 1.0)


def place(random, word, cut=False):
    """A second of noise with the word anywhere in it; cut: most of the word lies outside."""
    loud, soft = level(random)
    out = soft * noise(random, 3 * RATE)
    word = at_level(word, loud)[:RATE]
    if cut:
        inside = int(len(word) * random.uniform(0.1, 0.4))
        start = RATE - (len(word) - inside) if random.random() < 0.5 else 2 * RATE - inside
    else:
        start = RATE + random.integers(0, RATE - len(word) + 1)
    out[start:start + len(word)] += word
    return out[RATE:2 * RATE]


def clips(digits, words, folder):
    random = np.random.default_rng(1)
    for path, samples in digits:
        for copy in range(CLIPS_A_WORD):
            write(folder / path.name[0] / f"{path.stem}_{copy}.wav", place(random, samples))
    for number in range(BACKGROUND):
        kind = number % 3
        if kind == 0:
            samples = level(random)[1] * noise(random, RATE)
        elif kind == 1:
            samples = place(random, words[random.integers(len(words))][1])
        else:
            samples = place(random, digits[random.integers(len(digits))][1], cut=True)
        write(folder / "background" / f"{number}.wav", samples)


def recording(digits, words, path, seed):
    """Minutes of noise with digits, and, if there are other words, one of them for each three; a table of events beside it."""
    random = np.random.default_rng(seed)
    samples = np.zeros(MINUTES * 60 * RATE)
    for start in range(0, len(samples), 60 * RATE):
        samples[start:start + 60 * RATE] = noise(random, 60 * RATE)
    at, rows = 2.0, ["start,end,label"]
    while at < MINUTES * 60 - 3:
        other = random.random() < 0.25 and bool(words)
        source, word = (words if other else digits)[random.integers(len(words if other else digits))]
        begin = int(at * RATE)
        # The noise of a minute is one; words are 5 to 30 decibels above it, as in the clips.
        samples[begin:begin + len(word)] += at_level(word, 10 ** (random.uniform(5, 30) / 20))
        end = at + len(word) / RATE
        if not other:
            rows.append(f"{at:.3f},{end:.3f},{source.name[0]}")
        at = end + random.uniform(*PAUSE)
    rows.append(f"{MINUTES * 60 - 2:.3f},{MINUTES * 60 - 1:.3f},background")
    write(path, samples * 300)
    path.with_suffix(".csv").write_text("\n".join(rows) + "\n")
    print(f"{path}: {len(rows) - 2} digits in {MINUTES} minutes")


def main(fsdd, others, out):
    out = Path(out)
    digits = [(path, read(path)) for path in sorted(Path(fsdd).glob("*.wav"))]
    words = [(path, read(path)) for path in sorted(Path(others).rglob("*.wav"))]
    index = lambda path: int(path.stem.split("_")[2])
    train = [(p, s) for p, s in digits if index(p) >= 10]
    choose = [(p, s) for p, s in digits if 5 <= index(p) < 10]
    test = [(p, s) for p, s in digits if index(p) < 5]
    clips(train, words[0::3], out / "clips")
    recording(choose, words[1::3], out / "choose.wav", 2)
    recording(test, words[2::3], out / "test.wav", 3)
    recording(choose, [], out / "alone_choose.wav", 4)
    recording(test, [], out / "alone_test.wav", 5)
    run = out / "run"
    print(f"ernn train {out}/clips --out {run}")
    print(f"ernn evaluate {run} {out}/choose.wav --labels {out}/choose.csv --stream --window 1s --hop 100ms --false-alarms 1")
    print(f"ernn evaluate {run} {out}/test.wav --labels {out}/test.csv --stream")


if __name__ == "__main__":
    main(*sys.argv[1:])
