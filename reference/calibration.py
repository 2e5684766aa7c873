"""Temperature and expected calibration error by scipy and numpy.

    python3 reference/calibration.py

Prints the numbers of crates/ernn/src/evaluate/calibrate.rs. Sixty rows of three logits, each k / 16 by a rule that both write down; the
temperature is the minimum of the sum of cross-entropies and half the square of its logarithm, found by scipy's bounded search.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

N, C, BINS = 60, 3, 15
logits = np.array([[((row * 37 + column * 53 + row * row * 11) % 97) / 8.0 for column in range(C)] for row in range(N)])
labels = np.where(np.arange(N) % 4 == 0, (np.argmax(logits, axis=1) + 1) % C, np.argmax(logits, axis=1))


def loss(logarithm):
    return -log_softmax(logits / np.exp(logarithm), axis=1)[np.arange(N), labels].sum() + logarithm**2 / 2


def error(probabilities):
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.clip(np.ceil(confidence * BINS).astype(int), 1, BINS)
    return sum((bins == b).sum() * abs(confidence[bins == b].mean() - right[bins == b].mean()) for b in set(bins)) / N


found = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-12})
temperature = float(np.exp(found.x))
print(repr(temperature), repr(float(error(softmax(logits, axis=1)))), repr(float(error(softmax(logits / temperature, axis=1)))))
