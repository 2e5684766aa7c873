"""Derived channels by their formulas alone, in double precision, without ernn: the numbers in crates/ernn/src/data/derived_tests.rs.

python3 reference/inputs.py
"""

import math

SEQUENCES = [
    [[0.5, 9.81, -1.0], [0.7, 9.80, -1.5], [0.4, 9.85, 2.0], [0.9, 9.70, 0.0], [0.9, 9.81, 1.0]],
    [[-3.0, 9.0, 0.25], [2.0, 9.9, 0.25], [2.5, 9.8, 0.75]],
]


def high_pass(channel):
    """x_t - m_t, m_t = 0.9 m_{t-1} + 0.1 x_t, m_0 = x_1."""
    mean, found = channel[0], []
    for x in channel:
        mean = 0.9 * mean + 0.1 * x
        found.append(x - mean)
    return found


def scale(channel):
    """A fifth of the median size of what is not 0; each first step is."""
    passed = [x for sequence in SEQUENCES for x in high_pass([step[channel] for step in sequence])]
    sizes = sorted(abs(x) for x in passed if abs(x) > 1e-12)
    return sizes[len(sizes) // 2] / 5.0


def derive(steps, scales):
    """Raw, differences, compressed, magnitude of the three."""
    before = [steps[0]] + steps[:-1]
    passed = list(zip(*(high_pass([step[channel] for step in steps]) for channel in range(3))))
    for step, last, high in zip(steps, before, passed):
        differences = [x - y for x, y in zip(step, last)]
        compressed = [math.asinh(x / s) for x, s in zip(high, scales)]
        yield step + differences + compressed + [math.hypot(*step)]


if __name__ == "__main__":
    scales = [scale(channel) for channel in range(3)]
    print("scales", [float(f"{s:.6g}") for s in scales])
    for sequence in SEQUENCES:
        for row in derive(sequence, scales):
            print([float(f"{x:.6g}") for x in row])
