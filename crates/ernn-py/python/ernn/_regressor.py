"""The scikit-learn regressor."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np

try:
    from sklearn.base import RegressorMixin
    from sklearn.metrics import r2_score
    from sklearn.utils import check_array, check_consistent_length, column_or_1d
    from sklearn.utils.validation import assert_all_finite
except ImportError as error:
    raise ImportError("ernn.SequenceRegressor needs scikit-learn: pip install scikit-learn") from error

from ._estimator import Learned, SequenceEstimator
from ._model import STEP_NUMBERS, PathLike, shape_of_numbers, step_numbers
from ._sequences import Arrays, gather, threads


class SequenceRegressor(RegressorMixin, SequenceEstimator):
    """A recurrent network that says a number for each sequence, or for each step, trained as ``ernn train --target`` does.

    Parameters
    ----------
    loss : str
        What is made small, on the scale of the targets (a standard deviation of 1): ``mse`` (squared errors), ``mae`` (absolute ones) or
        ``huber`` (squared up to 1, absolute beyond).
    quantiles : list of float
        Which quantiles of the numbers are learned, rising between 0 and 1, by the pinball loss; without them the numbers.
    each_step : bool
        Whether each step has numbers (``--task steps``), and not each sequence. Then ``pooling`` says nothing, and training, noise and validation have
        the command's general defaults.
    **others
        Those of :class:`ernn.SequenceClassifier`, with the same names, meanings and defaults; but for ``calibrate``, ``class_weight`` and the three of a
        teacher, which are of classes.

    Attributes
    ----------
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

    def __init__(
        self,
        cell: str = "ernn",
        hidden: Optional[int] = None,
        rank: Union[int, str, None] = None,
        iterations: Optional[int] = None,
        layers: Optional[int] = None,
        *,
        activation: Optional[str] = None,
        cell_settings: Optional[Dict[str, Any]] = None,
        bidirectional: Optional[bool] = None,
        pooling: Optional[str] = None,
        dropout: Optional[float] = None,
        layer_dropout: Optional[float] = None,
        differences: Optional[bool] = None,
        compress: Optional[bool] = None,
        magnitudes: Optional[bool] = None,
        triads: Optional[str] = None,
        epochs: Optional[int] = None,
        min_steps: Optional[int] = None,
        max_steps: Optional[int] = None,
        batch_size: Optional[int] = None,
        learning_rate: Optional[float] = None,
        schedule: Optional[str] = None,
        halve_every: Optional[int] = None,
        optimizer: Optional[str] = None,
        momentum: Optional[float] = None,
        weight_decay: Optional[float] = None,
        clip_norm: Optional[float] = None,
        input_noise: Optional[float] = None,
        input_offset: Optional[float] = None,
        input_gain: Optional[float] = None,
        input_rotation: Optional[float] = None,
        input_crop: Optional[float] = None,
        input_shift: Optional[float] = None,
        input_warp: Optional[float] = None,
        input_mask_steps: Optional[float] = None,
        input_mask_channels: Optional[float] = None,
        average: Optional[float] = None,
        validation: Optional[float] = None,
        loss: Optional[str] = None,
        quantiles: Optional[Sequence[float]] = None,
        each_step: bool = False,
        sparsity: Optional[float] = None,
        quantize: Optional[str] = None,
        tbptt: Optional[int] = None,
        patience: Optional[int] = None,
        retrain: Optional[bool] = None,
        missing: Optional[str] = "refuse",
        channels_first: bool = False,
        random_state: Union[int, np.random.RandomState, None] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        progress: Optional[Callable[[Dict[str, Any]], Any]] = None,
        out: Optional[PathLike] = None,
    ):
        self.cell = cell
        self.hidden = hidden
        self.rank = rank
        self.iterations = iterations
        self.layers = layers
        self.activation = activation
        self.cell_settings = cell_settings
        self.bidirectional = bidirectional
        self.pooling = pooling
        self.dropout = dropout
        self.layer_dropout = layer_dropout
        self.differences = differences
        self.compress = compress
        self.magnitudes = magnitudes
        self.triads = triads
        self.epochs = epochs
        self.min_steps = min_steps
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.halve_every = halve_every
        self.optimizer = optimizer
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.clip_norm = clip_norm
        self.input_noise = input_noise
        self.input_offset = input_offset
        self.input_gain = input_gain
        self.input_rotation = input_rotation
        self.input_crop = input_crop
        self.input_shift = input_shift
        self.input_warp = input_warp
        self.input_mask_steps = input_mask_steps
        self.input_mask_channels = input_mask_channels
        self.average = average
        self.validation = validation
        self.loss = loss
        self.quantiles = quantiles
        self.each_step = each_step
        self.sparsity = sparsity
        self.quantize = quantize
        self.tbptt = tbptt
        self.patience = patience
        self.retrain = retrain
        self.missing = missing
        self.channels_first = channels_first
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.out = out

    def fit(self, X: Any, y: Any, groups: Any = None) -> "SequenceRegressor":
        """Trains on sequences ``X`` and numbers ``y`` ``[N]``, or several ``[N, T]``, in any unit: each is scaled to train, and predictions
        are in its unit.

        With ``each_step``, ``y`` has a number for each step, ``[N, T]`` or a list of arrays ``[T_i]``, or several, ``[N, T, K]`` or ``[T_i, K]``. A step
        with NaN has none: nothing is learned from it.

        ``X`` is an array ``[N, T, d]``, an array ``[N, T]`` of one channel, or a list of arrays ``[T_i, d]`` of unequal length.
        ``groups`` ``[N]`` says what each sequence belongs to (a person, a recording): those of one group stay on one side of the
        validation split.
        """
        if y is None:
            raise ValueError("SequenceRegressor requires y to be passed, but the target y is None")
        sequences = gather(X, self.channels_first)
        if self.each_step:
            numbers = _steps(y, sequences)
            if np.isnan(numbers).all():
                raise ValueError("y: found no step with a number, expected some")
            self._train(Learned(sequences, groups, step_numbers=numbers.reshape(-1)))
            return self
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            y = check_array(y, dtype=np.float64, input_name="y")
        else:
            y = column_or_1d(y, dtype=np.float64, warn=True)
            assert_all_finite(y, input_name="y")
        check_consistent_length(range(len(sequences)), y)
        self._train(Learned(sequences, groups, numbers=np.ascontiguousarray(y, dtype=np.float32).reshape(-1)))
        return self

    def _more_settings(self) -> Dict[str, Any]:
        if self.quantiles is None:
            return {}
        return {"quantiles": [float(quantile) for quantile in self.quantiles]}

    def predict(self, X: Any) -> np.ndarray:
        """Numbers (float32) of sequences, in the unit of ``y``: ``[N]``, of several ``[N, T]``, with one more axis for quantiles, which rise.

        With ``each_step`` those of each step: an array ``[N, T, ...]``, or a list of arrays ``[T_i, ...]`` where lengths differ.
        """
        sequences = self._gathered(X)
        if self.each_step:
            return step_numbers(self.model_._native, sequences, self.missing, threads(self.n_jobs))
        found = self.model_._native.predict_numbers(sequences, self.missing, threads(self.n_jobs))
        return found.reshape(len(sequences), *shape_of_numbers(self.model_._native))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of predictions, the mean of that of several numbers; of quantiles that of the one nearest to the median. With ``each_step`` over
        the steps that have numbers; ``sample_weight`` ``[N]`` says how much the steps of each sequence count."""
        found = self.predict(X)
        if self.each_step:
            sequences = self._gathered(X)
            y = _steps(y, sequences)
            found = np.concatenate(list(found))
            if sample_weight is not None:
                sample_weight = np.repeat(np.asarray(sample_weight, dtype=np.float64), np.diff(sequences.offsets))
        _, quantiles = self.model_._native.numbers
        if quantiles:
            found = found[..., int(np.argmin(np.abs(np.asarray(quantiles) - 0.5)))]
        if self.each_step:
            known = ~np.isnan(y[:, 0])
            sample_weight = None if sample_weight is None else sample_weight[known]
            y, found = y[known], found[known]
        return r2_score(y, found, sample_weight=sample_weight)

    @classmethod
    def load(cls, path: PathLike, **parameters: Any) -> "SequenceRegressor":
        """A fitted regressor from a model file or run folder. ``parameters`` are those of the constructor that matter when predicting:
        ``channels_first``, ``n_jobs``.
        """
        regressor = cls._loaded(path, ["regression", STEP_NUMBERS], "one of numbers", parameters)
        regressor.each_step = regressor.model_._native.task == STEP_NUMBERS
        return regressor

    def _of_steps(self) -> bool:
        return self.each_step


def _steps(y: Any, sequences: Arrays) -> np.ndarray:
    """The numbers of all steps one after the other, ``[steps, K]`` (float32); a step with a NaN has none."""
    rows: List[Any] = list(y)
    if len(rows) != len(sequences):
        raise ValueError(f"y: found numbers of {len(rows)} sequences, expected {len(sequences)} as in X")
    arrays = []
    for index, (row, steps) in enumerate(zip(rows, np.diff(sequences.offsets))):
        try:
            array = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y, sequence {index + 1}: expected numbers; {error}") from None
        if array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or len(array) != steps or array.shape[1] == 0 or (arrays and array.shape[1] != arrays[0].shape[1]):
            expected = f"({steps},), a number a step, or ({steps}, K)"
            raise ValueError(f"y, sequence {index + 1}: found shape {np.shape(row)}, expected {expected}")
        if np.isinf(array).any():
            raise ValueError(f"y, sequence {index + 1}: found infinity, expected finite numbers, or NaN where a step has none")
        arrays.append(array)
    numbers = np.concatenate(arrays).astype(np.float32)
    numbers[np.isnan(numbers).any(axis=1)] = np.nan
    return np.ascontiguousarray(numbers)
