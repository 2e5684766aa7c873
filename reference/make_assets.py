"""Makes the data sets that the library carries inside itself, crates/ernn/assets/*.bin.gz.

    python reference/make_assets.py AEON_WHEEL SCIKIT_LEARN_WHEEL OUT_FOLDER

The wheels come from PyPI (`pip download --no-deps aeon==1.6.0 scikit-learn==1.9.1`); nothing is installed and only
the standard library is used. Running it again gives the same bytes.

Format, before gzip, little-endian (read by crates/ernn/src/data/builtin.rs):

    u32 features, divisor, classes, train sequences, test sequences
    u16 steps of each sequence                train first, then test
    u8  class of each sequence                0 .. classes - 1
    u8  planes[4][values]                     byte 0 of all values, byte 1 of all values, ...

where value number i belongs to (channel, step), channel by channel within a sequence, and holds
zigzag(q[step] - q[step - 1]) with q = the value times `divisor`, an integer, and q[-1] = 0. The steps of a channel are
close together, so the upper planes are nearly constant and gzip removes them.
"""

import csv
import gzip
import io
import struct
import sys
import zipfile
from decimal import Decimal
from pathlib import Path


def japanese_vowels(wheel):
    """[(sequence, label)] of the official training and test part; a sequence is a list of channels."""
    parts = []
    with zipfile.ZipFile(wheel) as archive:
        for part in ("TRAIN", "TEST"):
            name = f"aeon/datasets/data/JapaneseVowels/JapaneseVowels_{part}.ts"
            lines = archive.read(name).decode().split("@data")[1].split()
            cases = []
            for line in lines:
                *channels, label = line.split(":")
                cases.append(([channel.split(",") for channel in channels], int(label) - 1))
            parts.append(cases)
    assert [len(part) for part in parts] == [270, 370], "official split"
    return parts


def digits(wheel):
    """The 1,797 images row by row, one pixel a step; the last 360 in file order are the test part."""
    with zipfile.ZipFile(wheel) as archive:
        text = gzip.decompress(archive.read("sklearn/datasets/data/digits.csv.gz")).decode()
    cases = [([row[:64]], int(float(row[64]))) for row in csv.reader(io.StringIO(text))]
    assert len(cases) == 1797, "images"
    return [cases[:-360], cases[-360:]]


def pack(parts, divisor, classes):
    cases = [case for part in parts for case in part]
    features = len(cases[0][0])
    out = struct.pack("<5I", features, divisor, classes, len(parts[0]), len(parts[1]))
    out += b"".join(struct.pack("<H", len(channels[0])) for channels, _ in cases)
    out += bytes(label for _, label in cases)
    steps = []
    for channels, _ in cases:
        assert len(channels) == features
        for channel in channels:
            previous = 0
            for text in channel:
                scaled = Decimal(text) * divisor
                assert scaled == int(scaled), f"{text} is not a multiple of 1/{divisor}"
                delta = int(scaled) - previous
                previous = int(scaled)
                steps.append(2 * delta if delta >= 0 else -2 * delta - 1)
    for plane in range(4):
        out += bytes(step >> (8 * plane) & 255 for step in steps)
    return gzip.compress(out, 9, mtime=0)


def main():
    aeon, scikit_learn, folder = sys.argv[1:]
    for name, content in (
        ("japanese-vowels", pack(japanese_vowels(aeon), 1_000_000, 9)),
        ("digits", pack(digits(scikit_learn), 1, 10)),
    ):
        path = Path(folder) / f"{name}.bin.gz"
        path.write_bytes(content)
        print(f"{path}: {len(content)} bytes")


main()
