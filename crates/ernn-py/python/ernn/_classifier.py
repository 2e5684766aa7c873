"""The scikit-learn classifier."""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np

try:
    from sklearn.base import ClassifierMixin
    from sklearn.utils import check_consistent_length, column_or_1d
    from sklearn.utils.class_weight import compute_sample_weight
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError("ernn.SequenceClassifier needs scikit-learn: pip install scikit-learn") from error

from ._estimator import Learned, SequenceEstimator
from ._model import MULTI_LABEL, PathLike, labels_of
from ._sequences import Arrays, gather, threads


class SequenceClassifier(ClassifierMixin, SequenceEstimator):
    """A recurrent network that classifies sequences, trained as the command ``ernn train`` does.

    Every argument that is ``None`` has the command's default for data of one's own. Settings bear the names that they have in a
    run's ``config.toml``.

    Parameters
    ----------
    cell : str
        ``ernn``, ``rnn``, ``fastrnn``, ``fastgrnn``, ``ugrnn``, ``gru``, ``lstm``, ``antisymmetric``,
        ``gated-antisymmetric``, ``spectral`` or ``deep-transition``.
    hidden : int
        Size D of the hidden state (64).
    rank : int or "full"
        Rank of the recurrent matrix (16 for ``ernn``, full for others).
    iterations : int
        Inner iterations K of a step of ``ernn`` (1).
    layers : int
        Layers on top of each other (1).
    activation : str
        ``relu``, ``tanh``, ``sigmoid``, ``hard-tanh`` or ``hard-sigmoid``.
    cell_settings : dict
        Further settings of the cell, e.g. ``{"eta": 0.03, "steps": "per-iteration"}``.
    bidirectional : bool
        A second cell in every layer that reads the sequences from their ends.
    pooling : str
        What the readout sees: ``last`` (state), ``mean`` (of all states), or side by side ``mean-max`` (and each unit's largest
        value; the default), ``mean-max-last``, ``mean-std-max`` (and the standard deviation).
    dropout, layer_dropout : float
        Parts that are dropped in training: of what the readout sees; of each layer's states.
    differences, compress, magnitudes : bool
        Further channels that the model derives itself, streams and exports too: first differences (by default); small motions, the asinh of what
        a channel is above its running mean; lengths of triads.
    triads : str
        Triads by the numbers of their channels, such as ``"1,2,3;4,5,6"``; otherwise all channels go by threes.
    epochs : int
        Passes over the training part (60; without ``min_steps`` so many, neither more nor fewer).
    min_steps : int
        Steps of the optimizer at least, which few sequences get more epochs for (1500); 0: none.
    max_steps : int
        Steps of the optimizer at most, but for those of one epoch; 0: no ceiling.
    batch_size : int
        Sequences a step (32).
    learning_rate : float
        Learning rate of the first epoch (5e-3).
    schedule : str
        ``step`` (halved every ``halve_every`` epochs), ``cosine`` or ``constant``.
    halve_every : int
        Epochs until the learning rate is halved (20).
    optimizer : str
        ``adam``, ``adamw`` or ``sgd``.
    momentum : float
        With ``optimizer="sgd"``: part of the last step that goes on.
    weight_decay : float
        Pull of the matrices towards zero.
    clip_norm : float
        Largest norm of a gradient (1); 0: no limit.
    input_noise, input_offset, input_gain : float
        Standard deviation of noise, and of an offset of each channel, added to the normalized inputs in training, and of the logarithm of a factor
        of each channel.
    input_rotation : float
        Standard deviation (rad, about each axis) of a random rotation of the triads of each device in training.
    input_crop, input_shift, input_warp : float
        Largest share of a sequence that is cut off at its ends, and by which it comes earlier or later, in training; standard deviation of the
        logarithm of the speed at which it runs.
    input_mask_steps, input_mask_channels : float
        Largest share of the steps, and of the channels, that is masked in training.
    average : float
        How much of the running average of the weights stays at a step (0.99); the average is what is selected. 0: the last weights.
    validation : float
        Part of the sequences that selects the best epoch (none of fewer than 500 sequences, else 0.2); 0: none.
    calibrate : bool
        Whether the outputs are scaled in the end, by the validation sequences, so that probabilities are frequencies (true; without validation
        sequences nothing is scaled).
    class_weight : "balanced" or dict
        Whether rare classes weigh more, or a weight for each class.
    sparsity : float
        Share of zeros in each matrix of the cells in the end.
    quantize : str
        ``int8``: matrices of the cells are rounded as a device will have them, in training and later.
    teacher : list of paths
        Run folders, ensembles or model files whose averaged probabilities are learned beside the labels.
    teacher_weight, teacher_temperature : float
        Their share of the loss (0.5), and what logits are divided by before they are compared (2).
    tbptt : int
        Steps through which gradients flow back at most; 0: all.
    patience : int
        Epochs without a better one after which training stops; 0: never.
    retrain : bool
        Whether to train anew on all sequences in the end.
    missing : str
        What to do about NaN: ``refuse`` (an error with its place), ``interpolate``, ``previous`` or ``zero``.
    channels_first : bool
        Whether ``X`` is ``[N, d, T]`` (a list of ``[d, T_i]``), as aeon has it.
    random_state : int, RandomState or None
        An int is the command's ``--seed``: the same int gives the same bits, with any number of threads.
    n_jobs : int or None
        Threads that compute; ``None`` or -1: all that this process may use.
    verbose : int
        1: a line an epoch.
    progress : callable
        Called after each epoch with its record, a dict as a line of ``metrics.jsonl``; an exception stops the run.
    out : path
        A new folder for the run, as ``ernn train --out`` leaves one; ``None``: no files.

    Attributes
    ----------
    classes_ : array ``[classes]``
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
        calibrate: Optional[bool] = None,
        class_weight: Union[str, Dict[Any, float], None] = None,
        sparsity: Optional[float] = None,
        quantize: Optional[str] = None,
        teacher: Optional[Sequence[PathLike]] = None,
        teacher_weight: Optional[float] = None,
        teacher_temperature: Optional[float] = None,
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
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.sparsity = sparsity
        self.quantize = quantize
        self.teacher = teacher
        self.teacher_weight = teacher_weight
        self.teacher_temperature = teacher_temperature
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SequenceClassifier":
        """Trains on sequences ``X`` and labels ``y`` ``[N]``; or ``[N, labels]`` of 0 and 1 (scikit-learn's multilabel-indicator format),
        where a sequence has none, one or several labels. The columns of a DataFrame name them.

        ``X`` is an array ``[N, T, d]``, an array ``[N, T]`` of one channel, or a list of arrays ``[T_i, d]`` of unequal length.
        ``sample_weight`` ``[N]`` says how much each sequence counts in the training loss; it does not change which epoch is the
        best, nor the normalization. ``groups`` ``[N]`` says what each sequence belongs to (a person, a recording): those of one
        group stay on one side of the validation split.
        """
        if y is None:
            raise ValueError("SequenceClassifier requires y to be passed, but the target y is None")
        sequences = gather(X, self.channels_first)
        if type_of_target(y, input_name="y") == "multilabel-indicator":
            return self._fit_labels(sequences, y, sample_weight, groups)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(range(len(sequences)), y)
        classes, labels = np.unique(y, return_inverse=True)
        weights = self._weights(sample_weight, y)
        data = Learned(sequences, groups, labels=labels.astype(np.uint32), classes=class_names(classes), weights=weights)
        self._train(data)
        self.classes_ = classes
        return self

    def _fit_labels(self, sequences: Arrays, y: Any, sample_weight: Any, groups: Any) -> "SequenceClassifier":
        if sample_weight is not None:
            raise ValueError("sample_weight: found weights, expected none where several labels can hold")
        if self.class_weight is not None and self.class_weight != "balanced":
            raise ValueError(f"class_weight: found {self.class_weight}, expected balanced or None where several labels can hold")
        names = getattr(y, "columns", None)
        y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        check_consistent_length(range(len(sequences)), y)
        classes = np.arange(y.shape[1]) if names is None else np.asarray(names)
        self._train(Learned(sequences, groups, indicators=y, classes=class_names(classes)))
        self.classes_ = classes
        self._label_type = y.dtype
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities ``[N, classes]`` of sequences, in the order of ``classes_``; of several labels each for itself."""
        if self._has_several():
            sequences = self._gathered(X)
            return self.model_._native.predict_labels(sequences, self.missing, threads(self.n_jobs))
        return self._predict(X)[1]

    def predict(self, X: Any) -> np.ndarray:
        """Labels ``[N]`` of sequences; where several can hold 0 or 1 for each, ``[N, labels]``: 1 from a probability of 0.5 on."""
        if self._has_several():
            return (self.predict_proba(X) >= 0.5).astype(getattr(self, "_label_type", np.int64))
        numbers_, _ = self._predict(X)
        return self.classes_[numbers_]

    @classmethod
    def load(cls, path: PathLike, **parameters: Any) -> "SequenceClassifier":
        """A fitted classifier from a model file or run folder.

        The labels are integers if all class names are, else texts. ``parameters`` are those of the constructor that matter when
        predicting: ``channels_first``, ``n_jobs``.
        """
        classifier = cls._loaded(path, ["classification", MULTI_LABEL], "one of classes or labels", parameters)
        classifier.classes_ = labels_of(classifier.model_.classes)
        return classifier

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _has_several(self) -> bool:
        check_is_fitted(self)
        return self.model_._native.task == MULTI_LABEL

    def _predict(self, X: Any):
        sequences = self._gathered(X)
        return self.model_._native.predict(sequences, self.missing, threads(self.n_jobs))

    def _more_settings(self) -> Dict[str, Any]:
        given: Dict[str, Any] = {}
        if self.teacher is not None:
            given["teacher"] = [os.fspath(run) for run in self.teacher]
        if self.class_weight == "balanced":
            given["class_weights"] = "balanced"
        return given

    def _weights(self, sample_weight: Any, y: np.ndarray) -> Optional[np.ndarray]:
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise ValueError(f"class_weight: found {self.class_weight}, expected balanced, a dict or None")
        by_class = None if isinstance(self.class_weight, str) else self.class_weight
        if sample_weight is None and by_class is None:
            return None
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(len(y), float(weights))
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, found {weights.ndim} dimensions")
        if len(weights) != len(y):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({len(y)},)!")
        if by_class is not None:
            weights = weights * compute_sample_weight(by_class, y)
        return weights.astype(np.float32)


def class_names(classes: np.ndarray) -> List[str]:
    """Labels as the texts that the model file has; whole numbers without a decimal point."""
    whole = classes.dtype.kind == "f" and bool(np.all(classes == np.round(classes)))
    names = [str(int(label)) if whole else str(label) for label in classes]
    if len(set(names)) != len(names):
        raise ValueError(f"y: found labels that look alike as texts ({', '.join(names)}), expected distinct ones")
    return names
