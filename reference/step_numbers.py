"""The losses of numbers of steps of a plain RNN, in plain Python and double precision.

    python3 reference/step_numbers.py

Prints the numbers of crates/ernn/tests/step_numbers.rs. Steps without numbers (None) are in no sum and in no count. The formulas are those of
torch.nn.MSELoss, L1Loss and HuberLoss(delta=1), and of scikit-learn's mean_pinball_loss, over the steps that have numbers.
"""

import math

INPUTS, HIDDEN, TARGETS = 2, 3, 2
LENGTHS = [4, 2, 3]
WITHOUT = {(0, 1), (0, 3), (2, 0)}


def matrix(tensor, rows, columns):
    """The tensors of the model: W, U, b, and the readout's weight and bias, numbered from 0."""
    return [[0.6 * math.sin(1.7 * (row * columns + column) + tensor) for column in range(columns)] for row in range(rows)]


def value(sequence, step, channel):
    return math.cos(sequence + 0.7 * step + 2.1 * channel)


def number(sequence, step, target):
    return None if (sequence, step) in WITHOUT else round(3 * math.sin(1.3 * sequence + step + 0.4 * target), 3)


def product(rows, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in rows]


def outputs(count):
    """(output, true numbers) of each step that has numbers."""
    w, u, b = matrix(0, HIDDEN, INPUTS), matrix(1, HIDDEN, HIDDEN), matrix(2, 1, HIDDEN)[0]
    weight, bias = matrix(3, count, HIDDEN), matrix(4, 1, count)[0]
    for sequence, length in enumerate(LENGTHS):
        state = [0.0] * HIDDEN
        for step in range(length):
            x = [value(sequence, step, channel) for channel in range(INPUTS)]
            state = [math.tanh(sum(own)) for own in zip(product(w, x), product(u, state), b)]
            said = [sum(own) for own in zip(product(weight, state), bias)]
            true = [number(sequence, step, target) for target in range(TARGETS)]
            if true[0] is not None:
                yield said, true


LOSSES = {
    "mse": lambda e: e * e,
    "mae": abs,
    "huber": lambda e: e * e / 2 if abs(e) <= 1 else abs(e) - 0.5,
}
for name, loss in LOSSES.items():
    losses = [loss(a - b) for said, true in outputs(TARGETS) for a, b in zip(said, true)]
    print(name, repr(sum(losses) / len(losses)))
QUANTILES = [0.1, 0.8]
losses = [
    max(tau * (b - said[2 * target + place]), (tau - 1) * (b - said[2 * target + place]))
    for said, true in outputs(2 * TARGETS)
    for target, b in enumerate(true)
    for place, tau in enumerate(QUANTILES)
]
print("pinball", repr(sum(losses) / len(losses)))
