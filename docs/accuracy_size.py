"""Draws accuracy against size for the README: docs/accuracy-size-light.svg and docs/accuracy-size-dark.svg.

    python3 docs/accuracy_size.py

The points are the results in `results/speech-10/honest/`: one point per row, the mean of its seeds. Sizes are 4 bytes
per parameter. A label goes to the first place near its point where it meets no other point and no other label; the
script fails if there is none.
"""

import json
import math
from collections import defaultdict
from pathlib import Path

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "results" / "speech-10" / "honest"

WIDTH, HEIGHT, FONT, SMALL = 640, 500, 19, 17
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 74, 104
KILOBYTES = (26.0, 420.0)
PERCENT = (78.0, 97.0)

# What a reader tells apart: color and shape together.
KINDS = [("ERNN", "circle"), ("cells with gates", "square"), ("other cells", "triangle")]
NAMES = {
    "ernn-k1": ("ERNN, K = 1", 0),
    "ernn-k3": ("ERNN, K = 3", 0),
    "ernn-k5": ("K = 5", 0),
    "ernn-exact": ("ERNN at its equilibrium", 0),
    "ugrnn": ("UGRNN", 1),
    "gru": ("GRU", 1),
    "lstm": ("LSTM", 1),
    "fastgrnn": ("FastGRNN", 1),
    "fastrnn": ("FastRNN", 2),
    "spectral": ("SpectralRNN", 2),
    "rnn": ("RNN", 2),
    "antisymmetric": ("AntisymmetricRNN", 2),
}
THEMES = {
    "light": {"paper": "#ffffff", "ink": "#1f2328", "faint": "#d5d9de", "quiet": "#59636e", "kinds": ["#0a5fd0", "#b35900", "#6b7280"]},
    "dark": {"paper": "#0d1117", "ink": "#e6edf3", "faint": "#30363d", "quiet": "#9aa4af", "kinds": ["#58a6ff", "#f0a04b", "#aab2bd"]},
}


def read():
    """Rows as (name, kind, kilobytes, percent)."""
    rows = defaultdict(list)
    for path in sorted(RESULTS.glob("*/*.json")):
        result = json.loads(path.read_text())
        rows[result["row"]].append((result["size_kb"], 100 * result["test"]))
    points = []
    for row, seeds in rows.items():
        name, kind = NAMES[row]
        points.append((name, kind, seeds[0][0], sum(percent for _, percent in seeds) / len(seeds)))
    return sorted(points, key=lambda point: -point[3])


def x_of(kilobytes):
    low, high = (math.log(value) for value in KILOBYTES)
    return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(kilobytes) - low) / (high - low)


def y_of(percent):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (percent - PERCENT[0]) / (PERCENT[1] - PERCENT[0])


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def place(points):
    """A label for each point: (anchor, x, y of the baseline)."""
    marks = [(x_of(kb) - 8, y_of(percent) - 8, x_of(kb) + 8, y_of(percent) + 8) for _, _, kb, percent in points]
    taken, labels = list(marks), []
    for name, _, kb, percent in points:
        x, y, wide = x_of(kb), y_of(percent), 0.56 * FONT * len(name)
        tries = [("start", x + 12, y + 6), ("end", x - 12, y + 6)]
        for up in (-14, 26, -20, 32):
            tries += [("middle", x, y + up), ("start", x - 4, y + up), ("end", x + 4, y + up), ("start", x + 8, y + up)]
        for anchor, at, base in tries:
            left = at - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            box = (left - 2, base - 0.78 * FONT, left + wide + 2, base + 0.24 * FONT)
            inside = box[0] > LEFT and box[2] < WIDTH and box[1] > TOP - 14 and box[3] < HEIGHT - BOTTOM
            if inside and not any(meet(box, other) for other in taken):
                taken.append(box)
                labels.append((anchor, at, base))
                break
        else:
            raise SystemExit(f"no place for the label {name}")
    return labels


def mark(shape, x, y, color, paper):
    style = f'fill="{color}" stroke="{paper}" stroke-width="1.5"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7.5" {style}/>'
    if shape == "square":
        return f'<rect x="{x - 6.5:.1f}" y="{y - 6.5:.1f}" width="13" height="13" {style}/>'
    return f'<path d="M{x:.1f} {y - 8:.1f}l8 14h-16z" {style}/>'


def draw(points, labels, theme):
    paper, ink, faint, quiet = (theme[name] for name in ("paper", "ink", "faint", "quiet"))
    colors = theme["kinds"]
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif" font-size="{FONT}" fill="{ink}" role="img">',
        "<title>Accuracy against size: spoken commands, ten words</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{paper}"/>',
        f'<text x="16" y="28" font-weight="600">Ten spoken words: accuracy against size</text>',
        f'<text x="16" y="52" font-size="{SMALL}" fill="{quiet}">test accuracy, %</text>',
    ]
    for percent in range(80, 97, 5):
        y = y_of(percent)
        out.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{faint}"/>')
        out.append(f'<text x="{LEFT - 10}" y="{y + 6:.1f}" text-anchor="end" font-size="{SMALL}" fill="{quiet}">{percent}</text>')
    out.append(f'<path d="M{LEFT} {floor}H{right}" stroke="{quiet}"/>')
    for kilobytes in (32, 64, 128, 256):
        x = x_of(kilobytes)
        out.append(f'<path d="M{x:.1f} {floor}v6" stroke="{quiet}"/>')
        out.append(f'<text x="{x:.1f}" y="{floor + 24}" text-anchor="middle" font-size="{SMALL}" fill="{quiet}">{kilobytes}</text>')
    out.append(f'<text x="{right}" y="{floor + 46}" text-anchor="end" font-size="{SMALL}" fill="{quiet}">size of the model, KB (each tick doubles it)</text>')
    for (name, kind, kb, percent), (anchor, at, base) in zip(points, labels):
        out.append(mark(KINDS[kind][1], x_of(kb), y_of(percent), colors[kind], paper))
        weight = ' font-weight="600"' if name == "ERNN, K = 1" else ""
        out.append(f'<text x="{at:.1f}" y="{base:.1f}" text-anchor="{anchor}" fill="{colors[kind] if kind < 2 else ink}"{weight}>{name}</text>')
    x = 24.0
    for (name, shape), color in zip(KINDS, colors):
        out.append(mark(shape, x, HEIGHT - 22, color, paper))
        out.append(f'<text x="{x + 16:.1f}" y="{HEIGHT - 16}" font-size="{SMALL}">{name}</text>')
        x += 56 + 0.5 * SMALL * len(name)
    return "\n".join(out) + "\n</svg>\n"


def main():
    points = read()
    labels = place(points)
    for name, theme in THEMES.items():
        (DOCS / f"accuracy-size-{name}.svg").write_text(draw(points, labels, theme))
    for name, _, kilobytes, percent in points:
        print(f"{name}: {percent:.1f} %, {kilobytes:.1f} KB")


main()
