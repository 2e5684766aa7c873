"""Pinball losses and coverage by scikit-learn and numpy.

    pip install scikit-learn && python3 reference/pinball.py

Prints the numbers of crates/ernn/src/head/pinball.rs (the first part) and crates/ernn/src/evaluate/quantiles.rs (the second).
"""

import numpy as np
from sklearn.metrics import mean_pinball_loss

TARGETS = [1.0, -1.0, 2.5, 0.5, 0.5, -1.75]
PREDICTIONS = [0.3, -1.2, 4.0, 0.5, 1.5, -3.0]
QUANTILES = [0.1, 0.5, 0.9]

losses = [mean_pinball_loss(TARGETS, PREDICTIONS, alpha=quantile) for quantile in QUANTILES]
print("pinball.rs:", *map(repr, map(float, losses)), "mean", repr(float(np.mean(losses))))

TRUE = np.array([3.0, -0.5, 2.0, 7.0, 4.25])
SAID = np.array([[2.0, 2.5, 3.5], [-0.25, 0.0, 0.5], [1.0, 2.0, 2.0], [6.0, 8.0, 9.0], [4.0, 4.5, 5.0]])
losses = [mean_pinball_loss(TRUE, SAID[:, place], alpha=quantile) for place, quantile in enumerate(QUANTILES)]
covered = np.mean((SAID[:, 0] <= TRUE) & (TRUE <= SAID[:, -1]))
print("quantiles.rs:", *map(repr, map(float, losses)), "mean", repr(float(np.mean(losses))), "coverage", float(covered))
