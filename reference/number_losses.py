"""Losses of numbers by their formulas in double precision, in plain Python.

    python3 reference/number_losses.py

Prints the numbers of crates/ernn/src/head/number_loss.rs. The formulas are those of torch.nn.MSELoss, L1Loss and HuberLoss(delta=1).
"""

PREDICTIONS = [0.3, -1.2, 4.0, 0.75, 1.5, -3.0]
TARGETS = [1.0, -1.0, 2.5, 0.5, 0.5, -1.75]

LOSSES = {
    "Mse": (lambda e: e * e, lambda e: 2 * e),
    "Mae": (abs, lambda e: (e > 0) - (e < 0)),
    "Huber": (lambda e: e * e / 2 if abs(e) <= 1 else abs(e) - 0.5, lambda e: min(1.0, max(-1.0, e))),
}

errors = [found - target for found, target in zip(PREDICTIONS, TARGETS)]
for name, (loss, slope) in LOSSES.items():
    mean = sum(map(loss, errors)) / len(errors)
    print(name, repr(mean), [slope(error) / len(errors) for error in errors])
