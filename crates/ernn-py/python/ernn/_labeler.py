"""An estimator in the manner of scikit-learn that gives each step a class."""

import inspect
from typing import Any, List, Optional, Tuple

import numpy as np

try:
    from sklearn.base import ClassifierMixin
except ImportError as error:
    raise ImportError("ernn.SequenceLabeler needs scikit-learn: pip install scikit-learn") from error

from ._classifier import SequenceClassifier, class_names
from ._estimator import Learned, SequenceEstimator
from ._model import PathLike, labels_of
from ._sequences import UNLABELLED, Arrays, gather, parted, threads

_OF_SEQUENCES = {"pooling", "class_weight", "teacher", "teacher_weight", "teacher_temperature"}


def _signature() -> inspect.Signature:
    """That of the classifier, but for what goes with one answer a sequence."""
    own = inspect.signature(SequenceClassifier.__init__)
    kept = [parameter for name, parameter in own.parameters.items() if name not in _OF_SEQUENCES]
    smooth = inspect.Parameter("smooth", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Optional[bool])
    place = next(index for index, parameter in enumerate(kept) if parameter.name == "sparsity")
    return own.replace(parameters=[*kept[:place], smooth, *kept[place:]])


class SequenceLabeler(ClassifierMixin, SequenceEstimator):
    """A recurrent network that says a class for each step of a sequence, trained as ``ernn train --task steps`` does.

    Parameters
    ----------
    smooth : bool
        Whether a change of class costs something in answers, as much as gives the best segments of the validation sequences, so that they do
        not flicker (true).
    **others
        Those of :class:`ernn.SequenceClassifier`, with the same names and meanings; but for ``pooling``, ``class_weight`` and the three of a
        teacher, which are of sequences. Training, noise and validation have the command's general defaults.

    Attributes
    ----------
    classes_ : ndarray
        Labels in sorted order.
    model_ : :class:`ernn.Model`
    n_features_in_ : int
        Channels.
    n_iter_ : int
        Epochs that were run.
    history_ : list of dict
        The records of all epochs.
    report_ : dict
        What ``ernn train --json`` prints; its numbers are of the validation part, or of the training part where there is none.
    """

    def __init__(self, *arguments: Any, **parameters: Any):
        given = _signature().bind(self, *arguments, **parameters)
        given.apply_defaults()
        for name, value in list(given.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = _signature()  # type: ignore[attr-defined]

    def fit(self, X: Any, y: Any, groups: Any = None) -> "SequenceLabeler":
        """Trains on sequences ``X`` and labels ``y``, one a step: an array ``[N, T]`` or a list of arrays ``[T_i]``.

        ``X`` is an array ``[N, T, d]``, an array ``[N, T]`` of one channel, or a list of arrays ``[T_i, d]`` of unequal length. A step whose
        label is ``None``, NaN or an empty text has none: nothing is learned from it. ``groups`` ``[N]`` says what each sequence belongs to
        (a person, a recording): those of one group stay on one side of the validation split.
        """
        if y is None:
            raise ValueError("SequenceLabeler requires y to be passed, but the target y is None")
        sequences = gather(X, self.channels_first)
        labels, known = _steps(y, sequences)
        if not known.any():
            raise ValueError("y: found no step with a label, expected some")
        classes, numbers_ = np.unique(labels[known], return_inverse=True)
        steps = np.full(len(labels), UNLABELLED, dtype=np.uint32)
        steps[known] = numbers_
        self._train(Learned(sequences, groups, step_labels=steps, classes=class_names(classes)))
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> Any:
        """Labels of the steps: an array ``[N, T]``, or a list of arrays ``[T_i]`` where lengths differ."""
        sequences = self._gathered(X)
        return parted(self.classes_[self._predict(sequences)[0]], sequences.offsets)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the steps: an array ``[N, T, classes]``, or a list of arrays ``[T_i, classes]`` where lengths differ.

        They are what the model says of each step; with ``smooth`` a label may be another than the likeliest.
        """
        sequences = self._gathered(X)
        return parted(self._predict(sequences)[1], sequences.offsets)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the labelled steps whose label is right; ``sample_weight`` ``[N]`` says how much the steps of each sequence count."""
        sequences = self._gathered(X)
        labels, known = _steps(y, sequences)
        right = self.classes_[self._predict(sequences)[0]] == labels
        weights = None
        if sample_weight is not None:
            weights = np.repeat(np.asarray(sample_weight, dtype=np.float64), np.diff(sequences.offsets))[known]
        return float(np.average(right[known], weights=weights))

    @classmethod
    def load(cls, path: PathLike, **parameters: Any) -> "SequenceLabeler":
        """A fitted labeler from a model file or run folder. ``parameters`` are those of the constructor that matter when predicting:
        ``channels_first``, ``n_jobs``.
        """
        labeler = cls._loaded(path, ["step-classification"], "one with a class for each step", parameters)
        labeler.classes_ = labels_of(labeler.model_.classes)
        return labeler

    def _of_steps(self) -> bool:
        return True

    def _predict(self, sequences: Arrays) -> Tuple[np.ndarray, np.ndarray]:
        return self.model_._native.predict_steps(sequences, self.missing, threads(self.n_jobs))


def _steps(y: Any, sequences: Arrays) -> Tuple[np.ndarray, np.ndarray]:
    """The labels of all steps one after the other, and which of them are labels."""
    rows: List[Any] = list(y)
    if len(rows) != len(sequences):
        raise ValueError(f"y: found labels of {len(rows)} sequences, expected {len(sequences)} as in X")
    arrays = [np.asarray(row) for row in rows]
    for index, (array, steps) in enumerate(zip(arrays, np.diff(sequences.offsets))):
        if array.shape != (steps,):
            raise ValueError(f"y, sequence {index + 1}: found shape {array.shape}, expected ({steps},), a label a step")
    labels = np.concatenate(arrays)
    if labels.dtype == object:
        known = np.array([not (label is None or label != label or label == "") for label in labels.tolist()])
        return labels, known
    if labels.dtype.kind == "f":
        return labels, ~np.isnan(labels)
    return labels, labels != "" if labels.dtype.kind in "US" else np.ones(len(labels), dtype=bool)
