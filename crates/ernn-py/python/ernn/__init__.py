"""Small recurrent networks on long sequences: ERNN and its peers, trained fast.

- :class:`ernn.SequenceClassifier`: a scikit-learn classifier of sequences.
- :class:`ernn.SequenceRegressor`: a scikit-learn regressor, a number for each sequence, or for each step.
- :class:`ernn.SequenceLabeler`: in the manner of scikit-learn, a class for each step.
- :func:`ernn.windows`: logs, as tables or DataFrames, cut into windows with labels, groups and times.
- :func:`ernn.load`: a model that the command ``ernn train`` or a classifier has saved.
- :mod:`ernn.torch`: the cells as ``torch.nn`` modules with autograd.
- :mod:`ernn.aeon`: the classifier for aeon.

scikit-learn, torch and aeon are imported when their parts are used, not before.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._ernn import DivergedError, __version__
from ._model import Heard, Listener, Model, Stream, load
from ._recordings import Windows, windows

if TYPE_CHECKING:
    from . import aeon, torch
    from ._classifier import SequenceClassifier
    from ._labeler import SequenceLabeler
    from ._regressor import SequenceRegressor

__all__ = [
    "DivergedError", "Heard", "Listener", "Model", "SequenceClassifier", "SequenceLabeler", "SequenceRegressor", "Stream", "Windows",
    "__version__", "aeon", "load", "torch", "windows",
]


def __getattr__(name: str):
    if name == "SequenceClassifier":
        return _import_module("._classifier", __name__).SequenceClassifier
    if name == "SequenceLabeler":
        return _import_module("._labeler", __name__).SequenceLabeler
    if name == "SequenceRegressor":
        return _import_module("._regressor", __name__).SequenceRegressor
    if name in ("torch", "aeon"):
        return _import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
