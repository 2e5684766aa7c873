"""The classifier for aeon: ``ernn.aeon.ErnnClassifier`` goes wherever aeon's classifiers go."""

from typing import Any, Dict, Optional

import numpy as np

try:
    from aeon.classification.base import BaseClassifier
except ImportError as error:
    raise ImportError("ernn.aeon needs aeon: pip install aeon") from error

from ._classifier import SequenceClassifier

__all__ = ["ErnnClassifier"]


class ErnnClassifier(BaseClassifier):
    """A recurrent network that classifies series, trained as :class:`ernn.SequenceClassifier` is.

    Parameters
    ----------
    cell : str
        Kind of the cells, ``ernn`` by default.
    settings : dict
        Further arguments of :class:`ernn.SequenceClassifier`, e.g. ``{"hidden": 64, "epochs": 50}``.
    random_state : int, RandomState or None
        The same int gives the same bits.
    n_jobs : int
        Threads that compute; -1: all.

    Attributes
    ----------
    classifier_ : :class:`ernn.SequenceClassifier`
        The fitted classifier.
    """

    _tags = {
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:multithreading": True,
        "X_inner_type": ["np-list", "numpy3D"],
    }

    def __init__(
        self, cell: str = "ernn", settings: Optional[Dict[str, Any]] = None, random_state: Any = None, n_jobs: int = 1
    ):
        self.cell = cell
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs
        super().__init__()

    def _fit(self, X, y):
        settings = self.settings or {}
        self.classifier_ = SequenceClassifier(
            self.cell, channels_first=True, random_state=self.random_state, n_jobs=self.n_jobs, **settings
        )
        self.classifier_.fit(X, y)
        return self

    def _predict(self, X) -> np.ndarray:
        return self.classifier_.predict(X)

    def _predict_proba(self, X) -> np.ndarray:
        return self.classifier_.predict_proba(X)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default"):
        return {"settings": {"hidden": 4, "rank": 2, "epochs": 2, "validation": 0.0}}
