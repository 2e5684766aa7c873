"""Rows at uneven times on an even grid, by numpy and scipy: the numbers in crates/ernn/src/data/recordings/tests/grid.rs.

python3 reference/recordings.py      (numpy, scipy)
"""

import numpy as np
from scipy.signal import resample_poly


def rows(count, apart):
    """Times with jitter that a test can make as well, and two tones."""
    index = np.arange(count, dtype=np.float64)
    times = apart * (index + 0.3 * np.sin(index))
    return times, (np.sin(2 * np.pi * 1.3 * times) + 0.5 * np.sin(2 * np.pi * 19.0 * times)).astype(np.float32)


def on_grid(times, values, rate, factor):
    steps = int(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    fine = times[0] + np.arange((steps - 1) * factor + 1) / (rate * factor)
    line = np.interp(fine, times, values.astype(np.float64))
    if factor == 1:
        return line
    return resample_poly(line, 1, factor, window=("kaiser", 5.0), padtype="edge")


if __name__ == "__main__":
    for name, rate, factor in [("up", 60.0, 1), ("down", 20.0, 3)]:
        times, values = rows(60, 0.02)
        found = on_grid(times, values, rate, factor)
        print(name, len(found), ", ".join(f"{x:.6f}" for x in found[:12]), "...", ", ".join(f"{x:.6f}" for x in found[-3:]))
