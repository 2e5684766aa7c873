# %% [markdown]
# # Which cell, and how large?
# The classifier is one of scikit-learn's: pipelines, cross-validation and searches take it as it is.

# %%
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split

import ernn

# %% [markdown]
# Handwritten digits, read row by row: 8 steps of 8 pixels.

# %%
digits = load_digits()
X, y = digits.images.astype(np.float32), digits.target
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# %%
search = GridSearchCV(
    ernn.SequenceClassifier(epochs=10, random_state=0, n_jobs=1),
    {"cell": ["ernn", "gru"], "hidden": [16, 48]},
    cv=3,
)
search.fit(X, y)
for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
    print(f"{parameters}: {score:.3f}")

# %%
print(f"best on the test part: {search.score(X_test, y_test):.3f}")
assert search.score(X_test, y_test) > 0.85
