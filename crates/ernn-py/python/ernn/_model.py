"""Trained models: what ``ernn train`` leaves behind, and what the classifier holds."""

import os
import warnings
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _ernn
from ._sequences import Arrays, gather, parted, threads

PathLike = Union[str, "os.PathLike[str]"]

# The task of models whose labels do not exclude each other.
MULTI_LABEL = "multi-label"
# The task of models that say numbers at each step.
STEP_NUMBERS = "step-regression"


class Model:
    """A trained model, ready for raw (not normalized) sequences. See :func:`load`."""

    def __init__(self, native: _ernn.Model):
        self._native = native

    @property
    def classes(self) -> List[str]:
        """Class names in the order of the probabilities."""
        return self._native.classes

    @property
    def feature_names(self) -> List[str]:
        """Names of the channels."""
        return self._native.feature_names

    @property
    def cells(self) -> List[str]:
        """Kind of each layer, e.g. ``["ernn"]``."""
        return self._native.cells

    @property
    def parameter_count(self) -> int:
        """Numbers in the model."""
        return self._native.parameter_count

    @property
    def settings(self) -> str:
        """The complete settings of its run in TOML, as ``config.toml``; empty for a model that another program trained."""
        return self._native.settings

    def tensors(self) -> Dict[str, np.ndarray]:
        """Copies of its tensors (float32) by their names in the file, e.g. ``layers.0.W`` and ``readout.weight``."""
        return self._native.tensors()

    def predict_proba(
        self, X: Any, *, channels_first: bool = False, missing: Optional[str] = None, n_jobs: Optional[int] = None
    ) -> np.ndarray:
        """Probabilities ``[N, classes]`` (float64) of sequences ``X``: ``[N, T, d]``, ``[N, T]`` or a list of ``[T_i, d]``. Where several
        labels can hold, each has its own, and they do not sum to 1.

        ``missing`` is ``"refuse"``, ``"interpolate"``, ``"previous"`` or ``"zero"``; by default what the model's run did.
        """
        if self._native.task == MULTI_LABEL:
            return self._native.predict_labels(self._gathered(X, channels_first), missing, threads(n_jobs))
        return self._predict(X, channels_first, missing, n_jobs)[1]

    def predict(
        self, X: Any, *, channels_first: bool = False, missing: Optional[str] = None, n_jobs: Optional[int] = None
    ) -> np.ndarray:
        """Labels ``[N]`` of the likeliest classes: integers if all class names are, else the names; of a model of numbers the numbers
        (float32), of numbers of steps ``[N, T]``, or a list of ``[T_i]`` where lengths differ; where several labels can hold 0 or 1 for each, ``[N, labels]``. Arguments as :meth:`predict_proba`.
        """
        if self._native.task == "regression":
            sequences = self._gathered(X, channels_first)
            return self._native.predict_numbers(sequences, missing, threads(n_jobs)).reshape(len(sequences), *shape_of_numbers(self._native))
        if self._native.task == STEP_NUMBERS:
            return step_numbers(self._native, self._gathered(X, channels_first), missing, threads(n_jobs))
        if self._native.task == MULTI_LABEL:
            probabilities = self.predict_proba(X, channels_first=channels_first, missing=missing, n_jobs=n_jobs)
            return (probabilities >= 0.5).astype(np.int64)
        return labels_of(self.classes)[self._predict(X, channels_first, missing, n_jobs)[0]]

    def _predict(
        self, X: Any, channels_first: bool, missing: Optional[str], n_jobs: Optional[int]
    ) -> Tuple[np.ndarray, np.ndarray]:
        return self._native.predict(self._gathered(X, channels_first), missing, threads(n_jobs))

    def _gathered(self, X: Any, channels_first: bool) -> Arrays:
        sequences = gather(X, channels_first)
        note = self._native.length_note(sequences.longest)
        if note:
            warnings.warn(note, stacklevel=4)
        return sequences

    def stream(self) -> "Stream":
        """A stream at its beginning: steps go in one by one, probabilities come out."""
        return Stream(self)

    def save(self, path: PathLike) -> None:
        """Writes a model file (``.safetensors``) that the command reads: ``ernn predict``, ``evaluate``, ``export``, ..."""
        self._native.save(os.fspath(path))

    def export_c(self, path: PathLike, name: str = "ernn") -> Optional[str]:
        """Writes a new folder with the model as C99 in single precision, compared with this library before it is there.

        ``name`` is the beginning of all names in it. Returns the compiler that has compiled it and run its self-test, or
        ``None`` where there is none. For eight-bit numbers use ``ernn export --to c --format int8``.
        """
        return self._native.export("c", os.fspath(path), name)

    def __reduce__(self):
        return Model, (self._native,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._native.to_bytes() == other._native.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cells = ", ".join(self.cells)
        return f"<ernn.Model: {cells}, {self.parameter_count} parameters, {len(self.classes)} classes>"


class Stream:
    """A model that reads steps as they come; memory does not grow. Made by :meth:`Model.stream`.

    After each step it says, to the bit, what the model says about the whole sequence up to there.
    """

    def __init__(self, model: Model):
        self._labels = labels_of(model.classes).tolist()
        self._stream = model._native.stream()
        self._says_numbers = model._native.task in ("regression", STEP_NUMBERS)
        self._shape = shape_of_numbers(model._native)
        self._says_labels = model._native.task == MULTI_LABEL

    @property
    def steps(self) -> int:
        """Steps since the beginning."""
        return self._stream.steps

    def push(self, step: Any) -> Any:
        """One step of raw values ``[d]``; gives the likeliest class after it, as :meth:`Model.predict` does, and the probabilities
        ``[classes]``; of a model of numbers the number; where several labels can hold a list of those found, and the probabilities.
        """
        values = np.ascontiguousarray(step, dtype=np.float32).reshape(-1)
        if self._says_numbers:
            numbers = self._stream.push_numbers(values)
            return np.reshape(numbers, self._shape).astype(np.float32) if self._shape else numbers[0]
        if self._says_labels:
            shares = self._stream.push_labels(values)
            return [label for label, share in zip(self._labels, shares) if share >= 0.5], shares
        number, probabilities = self._stream.push(values)
        label = self._labels[number] if self._labels else str(number)
        return label, probabilities

    def reset(self) -> None:
        """The next step is a first one."""
        self._stream.reset()


def labels_of(names: List[str]) -> np.ndarray:
    """The labels of a model file: integers if all class names are, else the names."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return np.asarray(names)
    same = [str(number) for number in numbers] == list(names)
    try:
        return np.asarray(numbers if same else names, dtype=np.int64 if same and numbers else None)
    except OverflowError:
        return np.asarray(names)


def load(path: PathLike) -> Model:
    """Reads a model file, or the model in the run folder of ``ernn train``.

    Raises ``FileNotFoundError``, ``OSError``, or ``ValueError`` if it is not a model.
    """
    return Model(_ernn.Model.load(os.fspath(path)))


def shape_of_numbers(native: Any) -> Tuple[int, ...]:
    """The shape of the numbers that a model of numbers says of a sequence: none of one number, else targets, quantiles, or both."""
    targets, quantiles = native.numbers
    return ((targets,) if targets > 1 else ()) + ((len(quantiles),) if quantiles else ())


def step_numbers(native: Any, sequences: Arrays, missing: Optional[str], threads_: int) -> Any:
    """The numbers that a model of numbers of steps says: an array ``[N, T, ...]``, or a list of arrays ``[T_i, ...]``."""
    found = native.predict_step_numbers(sequences, missing, threads_)
    return parted(found.reshape(sequences.offsets[-1], *shape_of_numbers(native)), sequences.offsets)
