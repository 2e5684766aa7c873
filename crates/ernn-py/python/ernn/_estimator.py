"""What the scikit-learn estimators share: settings, training, streams, files."""

import json
import numbers
import os
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError("the estimators of ernn need scikit-learn: pip install scikit-learn") from error

from . import _ernn
from ._model import Model, PathLike, Stream, load
from ._sequences import Arrays, gather, threads


class Learned:
    """What the native side reads: sequences, and the class, the labels or the numbers of each, or the class or the numbers of each step."""

    def __init__(
        self,
        sequences: Arrays,
        groups: Any,
        *,
        labels: Optional[np.ndarray] = None,
        indicators: Optional[np.ndarray] = None,
        classes: Optional[List[str]] = None,
        weights: Optional[np.ndarray] = None,
        numbers: Optional[np.ndarray] = None,
        step_labels: Optional[np.ndarray] = None,
        step_numbers: Optional[np.ndarray] = None,
    ):
        self.sequences = sequences
        self.labels = None if labels is None else np.ascontiguousarray(labels).reshape(-1)
        self.indicators = None if indicators is None else np.ascontiguousarray(indicators, dtype=np.uint8).reshape(-1)
        self.classes = classes or []
        self.weights = weights
        self.numbers = numbers
        self.step_labels = step_labels
        self.step_numbers = step_numbers
        self.groups = None if groups is None else group_numbers(groups, len(sequences))


class SequenceEstimator(BaseEstimator):
    """An estimator of sequences. Its parameters are those of its ``__init__``."""

    def _train(self, data: Learned) -> None:
        settings = self._settings(data.sequences)
        settings.check()
        watch = _Watch(self.verbose, self.progress)
        out = None if self.out is None else os.fspath(self.out)
        native, report = _ernn.train(data, settings, threads(self.n_jobs), out, watch)
        self.n_features_in_ = data.sequences.features
        self.model_ = Model(native)
        self.history_: List[Dict[str, Any]] = watch.history
        self.n_iter_ = len(watch.history)
        self.report_ = json.loads(report)

    @classmethod
    def _loaded(cls, path: PathLike, tasks: Sequence[str], expected: str, parameters: Dict[str, Any]) -> Any:
        """A fitted estimator from a model file or run folder, whose task has to be one of these."""
        estimator = cls(**{"missing": None, **parameters})
        estimator.model_ = load(path)
        task = estimator.model_._native.task
        if task not in tasks:
            raise ValueError(f"{path}: found a model of {task}, expected {expected}")
        estimator.n_features_in_ = len(estimator.model_.feature_names)
        estimator.cell = estimator.model_.cells[0]
        return estimator

    def _gathered(self, X: Any) -> Arrays:
        check_is_fitted(self)
        sequences = gather(X, self.channels_first)
        if sequences.features != self.n_features_in_:
            raise ValueError(
                f"X has {sequences.features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input (channels of a step)"
            )
        return sequences

    def _more_settings(self) -> Dict[str, Any]:
        """Settings whose arguments have other names or values than the command's."""
        return {}

    def _of_steps(self) -> bool:
        """Whether there is an answer for each step."""
        return False

    def stream(self) -> Stream:
        """A stream at its beginning: steps go in one by one, see :class:`ernn.Stream`."""
        check_is_fitted(self)
        return self.model_.stream()

    def save(self, path: PathLike) -> None:
        """Writes the model as the command's file (``.safetensors``)."""
        check_is_fitted(self)
        self.model_.save(path)

    def _settings(self, sequences: Arrays) -> _ernn.Settings:
        settings = _ernn.Settings(len(sequences), sequences.longest, self._of_steps())
        arguments = self.get_params(deep=False)
        given = {name: arguments[name] for name in settings.names() if arguments.get(name) is not None}
        given["seed"] = self._seed()
        if self.patience and self.validation is None:
            # What is waited for has to be measured.
            given["validation"] = 0.2
        settings.apply({**given, **self._more_settings()})
        for name, value in (self.cell_settings or {}).items():
            settings.set_in_layers(name, value)
        if self.missing is not None:
            settings.set_missing(self.missing)
        return settings

    def _seed(self) -> int:
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.non_deterministic = False
        return tags


class _Watch:
    """Hears of a run on the thread that called ``fit``."""

    def __init__(self, verbose: int, progress: Optional[Callable[[Dict[str, Any]], Any]]):
        self.verbose = verbose
        self.progress = progress
        self.history: List[Dict[str, Any]] = []

    def __call__(self, kind: str, text: str) -> None:
        if kind == "warning":
            warnings.warn(text, stacklevel=5)
        elif kind == "started":
            self.say(text)
        else:
            record = json.loads(text)
            self.history.append(record)
            self.say(_line(record))
            if self.progress is not None:
                self.progress(record)

    def say(self, text: str) -> None:
        if self.verbose:
            print(text, flush=True)


def _line(record: Dict[str, Any]) -> str:
    again = "retraining, " if record["phase"] == "retrain" else ""
    line = f"{again}epoch {record['epoch']}: loss {record['train_loss']:.4f}"
    error = record.get("validation_root_mean_squared_error")
    if error is not None:
        return f"{line}, validation RMSE {error:.4g}"
    precision = record.get("validation_average_precision")
    if precision is not None:
        return f"{line}, validation mean average precision {100 * precision:.1f} %"
    line += f", train {100 * record['train_accuracy']:.1f} %"
    accuracy = record.get("validation_accuracy")
    return line if accuracy is None else f"{line}, validation {100 * accuracy:.1f} %"


def group_numbers(groups: Any, count: int) -> np.ndarray:
    """Groups ``[N]`` as numbers in order of first appearance, as the command counts those of a file."""
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.ndim != 1 or len(groups) != count:
        raise ValueError(f"groups: found shape {groups.shape}, expected ({count},), one group a sequence")
    missing = [group is None or group != group for group in groups.tolist()]
    if any(missing):
        raise ValueError(f"groups: found no group for sequence {missing.index(True) + 1}, expected one for each")
    numbers_: Dict[Any, int] = {}
    return np.array([numbers_.setdefault(group, len(numbers_)) for group in groups.tolist()], dtype=np.uint32)
