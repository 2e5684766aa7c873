"""Labels of which several can hold: the loss by its formula in double precision, the figures by scikit-learn.

    python3 reference/multi_label.py

Prints the numbers of crates/ernn/src/head/label_loss.rs and crates/ernn/src/evaluate/labels_tests.rs. The loss is that of
torch.nn.BCEWithLogitsLoss, with a weight for each label and each value of it a weighted mean.
"""

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, log_loss, precision_score, recall_score

LOGITS = np.array([[0.3, -1.2, 4.0], [0.75, -30.0, 2.5]])
TARGETS = np.array([[1, 0, 0], [1, 1, 0]])
WEIGHTS = np.array([[0.5, 2.0], [1.0, 1.5], [0.25, 3.0]])

probabilities = 1 / (1 + np.exp(-LOGITS))
losses = -np.log(np.where(TARGETS == 1, probabilities, 1 / (1 + np.exp(LOGITS))))
for name, weights in [("plain", np.ones_like(losses)), ("weighted", WEIGHTS[np.arange(3), TARGETS])]:
    loss = (weights * losses).sum() / weights.sum()
    slopes = weights * (probabilities - TARGETS) / weights.sum()
    print(name, repr(float(loss)), [float(slope) for slope in slopes.ravel()])

# Probabilities with ties, a label without a sequence, one that is never called.
SCORES = np.array(
    [
        [0.9, 0.2, 0.1, 0.4],
        [0.6, 0.7, 0.6, 0.1],
        [0.6, 0.7, 0.3, 0.3],
        [0.2, 0.1, 0.2, 0.2],
        [0.5, 0.7, 0.4, 0.45],
        [0.4, 0.3, 0.1, 0.3],
        [0.1, 0.9, 0.2, 0.2],
    ]
)
TRUTH = np.array(
    [[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 1]]
)
called = (SCORES >= 0.5).astype(int)
undefined = {"average": None, "zero_division": np.nan}
print("precision", precision_score(TRUTH, called, **undefined))
print("recall", recall_score(TRUTH, called, **undefined))
f1 = f1_score(TRUTH, called, **undefined)
print("f1", f1, "macro", repr(float(np.nanmean(f1))))
print("micro f1", repr(float(f1_score(TRUTH, called, average="micro"))))
print("exact match", repr(float((TRUTH == called).all(axis=1).mean())))
present = TRUTH.any(axis=0)
areas = average_precision_score(TRUTH[:, present], SCORES[:, present], average=None)
print("average precision", [float(area) for area in areas], "mean", repr(float(areas.mean())))
print("always the same", repr(float(average_precision_score(TRUTH[:, present], np.full_like(SCORES[:, present], 0.5)))))
print("loss", repr(float(np.mean([log_loss(TRUTH[:, label], SCORES[:, label], labels=[0, 1]) for label in range(4)]))))
