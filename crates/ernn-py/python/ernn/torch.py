"""The cells as ``torch.nn`` modules whose passes over whole sequences, forward and backward, are ernn's kernels.

Signature and results are those of ``torch.nn.RNN``, ``LSTM`` and ``GRU``::

    layer = ernn.torch.ERNN(input_size=9, hidden_size=80, rank=20, batch_first=True)
    output, h_n = layer(x)          # x [B, T, 9] -> output [B, T, 80], h_n [1, B, 80]

CPU tensors in float32 or float64. Sequences of unequal length go in as ``PackedSequence``. Parameters bear the names that they have in
ernn's model files (``W``, ``U``, ``b``, ...) with torch's endings ``_l0`` and ``_l0_reverse``; :class:`RNN`, :class:`LSTM` and
:class:`GRU` also take the ``state_dict`` of torch's own module.

Copied are the inputs into the kernels' layout (16 sequences or so side by side), the states out of it, and the gradients likewise;
with several layers or two directions also what goes from layer to layer. Tensors themselves share their memory with the kernels.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("ernn.torch needs PyTorch: pip install torch") from error

from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.utils.rnn import PackedSequence

from . import _ernn

__all__ = [
    "ERNN", "RNN", "LSTM", "GRU", "UGRNN", "FastRNN", "FastGRNN", "AntisymmetricRNN", "SpectralRNN",
]  # fmt: skip

State = Union[Tensor, Tuple[Tensor, Tensor]]


class _Rows(NamedTuple):
    """Where the rows of a flat array stand: step ``t`` of sequence ``b`` at ``starts[t] + b * stride``."""

    starts: np.ndarray
    stride: int


class _Call(NamedTuple):
    parameters: np.ndarray
    input: np.ndarray
    rows: _Rows
    lengths: np.ndarray
    reversed: bool
    initial: Optional[np.ndarray]
    output: np.ndarray
    keep: bool
    threads: int


class _AtOutput(NamedTuple):
    states: Optional[Tuple[np.ndarray, _Rows]]
    last: Optional[np.ndarray]
    last_memory: Optional[np.ndarray]
    at_input: Optional[np.ndarray]
    at_initial: bool
    threads: int


class _Batch(NamedTuple):
    """Sequences beside each other: ``[T, B, ...]``, or packed ``[steps of all, ...]``."""

    lengths: np.ndarray
    #: Of packed sequences, where each step starts, in rows.
    packed: Optional[np.ndarray]

    def rows(self, tensor: Tensor) -> Tuple[np.ndarray, _Rows]:
        """The memory of a tensor of such sequences, without a copy if each step's values stand together."""
        width = tensor.shape[-1]
        if tensor.stride(-1) != 1 and width > 1:
            tensor = tensor.contiguous()
        if self.packed is not None:
            tensor = tensor.contiguous()
            return _flat(tensor), _Rows(self.packed * width, width)
        steps, count = tensor.shape[:2]
        step, sequence = tensor.stride()[:2]
        extent = (steps - 1) * step + (count - 1) * sequence + width if steps and count else 0
        memory = tensor.detach().as_strided((extent,), (1,))
        return memory.numpy(), _Rows(np.arange(steps, dtype=np.int64) * step, sequence)

    def like(self, tensor: Tensor, width: int) -> Tensor:
        """Room for ``width`` values a step."""
        return tensor.new_empty((*tensor.shape[:-1], width))


def _flat(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().view(-1).numpy()


class _Pass(Function):
    """One direction of one layer over whole sequences."""

    @staticmethod
    def forward(ctx, layer, batch, reverse, keep, input, initial, *parameters):
        memory, rows = batch.rows(input)
        output = batch.like(input, layer.hidden)
        flat = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
        first = None if initial is None else _flat(initial)
        threads = torch.get_num_threads()
        call = _Call(flat.numpy(), memory, rows, batch.lengths, reverse, first, output.view(-1).numpy(), keep, threads)
        run = layer.forward64 if input.dtype == torch.float64 else layer.forward32
        last, tape = run(call)
        ctx.set_materialize_grads(False)
        ctx.tape, ctx.batch, ctx.layer = tape, batch, layer
        ctx.like, ctx.shapes = input.new_empty(0), [parameter.shape for parameter in parameters]
        ctx.input_shape = input.shape
        return output, torch.from_numpy(last).view(len(batch.lengths), -1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, at_output, at_last):
        if at_output is None and at_last is None:
            return (None,) * (6 + len(ctx.shapes))
        states = None if at_output is None else ctx.batch.rows(at_output)
        hidden = ctx.layer.hidden
        last = None if at_last is None else _flat(at_last[:, :hidden])
        has_memory = at_last is not None and at_last.shape[1] > hidden
        memory = _flat(at_last[:, hidden:]) if has_memory else None
        at_input = ctx.like.new_empty(ctx.input_shape) if ctx.needs_input_grad[4] else None
        written = None if at_input is None else at_input.view(-1).numpy()
        wants_initial = ctx.needs_input_grad[5]
        found, initial = ctx.tape.backward(
            _AtOutput(states, last, memory, written, wants_initial, torch.get_num_threads())
        )
        at_initial = torch.from_numpy(initial).view(len(ctx.batch.lengths), -1) if wants_initial else None
        parts = torch.from_numpy(found).split([shape.numel() for shape in ctx.shapes])
        at_parameters = [part.view(shape) for part, shape in zip(parts, ctx.shapes)]
        return None, None, None, None, at_input, at_initial, *at_parameters


class Recurrent(nn.Module):
    """What all modules of :mod:`ernn.torch` share.

    Parameters
    ----------
    input_size : int
        ``d``, values of a step.
    hidden_size : int
        ``D``.
    num_layers : int
        Layers on top of each other.
    bias : bool
        ``True``: all cells have one.
    batch_first : bool
        Whether input and output are ``[B, T, ...]`` rather than ``[T, B, ...]``; states are ``[.., B, D]`` either way.
    dropout : float
        Part of each layer's states but the last's that is dropped in training.
    bidirectional : bool
        A second cell in every layer that reads the sequences from their ends.
    device, dtype
        ``cpu``; ``torch.float32`` or ``torch.float64``.
    settings
        Settings of the cell by the names that they have in a run's ``config.toml``, e.g. ``rank=8``.

    Shapes
    ------
    input : ``[T, B, d]``, ``[B, T, d]`` with ``batch_first``, ``[T, d]`` for one sequence, or a ``PackedSequence``.
    hx : ``[layers * directions, B, D]``, of an LSTM a pair ``(h_0, c_0)``; zeros by default.
    output : ``[T, B, directions * D]``, or as the input was given.
    h_n : as ``hx``.
    """

    kind = ""
    #: Whether the state is a pair.
    has_memory = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Optional[torch.dtype] = None,
        **settings: Any,
    ):
        super().__init__()
        if not bias:
            raise ValueError("bias: found False, expected True: all cells have a bias")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: found {dropout}, expected a number from 0 up to, but not including, 1")
        if num_layers < 1:
            raise ValueError(f"num_layers: found {num_layers}, expected at least 1")
        if input_size < 1:
            raise ValueError(f"input_size: found {input_size}, expected at least 1")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.settings = settings
        directions = 2 if bidirectional else 1
        self._layers: List[_ernn.Layer] = []
        self._names: List[List[str]] = []
        for index in range(num_layers):
            inputs = input_size if index == 0 else directions * hidden_size
            layer = _ernn.Layer(self.kind, inputs, {"hidden": hidden_size, **self._defaults(hidden_size), **settings})
            for suffix in ("", "_reverse")[:directions]:
                self._layers.append(layer)
                self._names.append([f"{name}_l{index}{suffix}" for name, _ in layer.tensors()])
                for name, (_, shape) in zip(self._names[-1], layer.tensors()):
                    self.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    @staticmethod
    def _defaults(hidden_size: int) -> Dict[str, Any]:
        """Settings where the library's default does not fit every size."""
        return {}

    def reset_parameters(self) -> None:
        """Draws parameters as the cell's literature says; the seed comes from torch's generator."""
        for layer, names in zip(self._layers, self._names):
            seed = int(torch.randint(2**62, ()))
            found, start = torch.from_numpy(layer.initial(seed)), 0
            for name in names:
                parameter = getattr(self, name)
                with torch.no_grad():
                    parameter.copy_(found.narrow(0, start, parameter.numel()).view(parameter.shape))
                start += parameter.numel()

    def flatten_parameters(self) -> None:
        """Does nothing; for code that calls it on torch's modules."""

    def forward(self, input: Union[Tensor, PackedSequence], hx: Optional[State] = None):
        """Runs over whole sequences; see the class for shapes."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"input: found {input.dim()} dimensions, expected 3, or 2 for one sequence")
        single = input.dim() == 2
        if single:
            input = input.unsqueeze(1)
            hx = None if hx is None else self._each(hx, lambda state: state.unsqueeze(1))
        elif self.batch_first:
            input = input.transpose(0, 1)
        steps, count = input.shape[:2]
        if steps == 0:
            raise ValueError("input: found sequences of 0 steps, expected at least 1")
        output, last = self._run(input, _Batch(np.full(count, steps, dtype=np.int64), None), hx)
        if single:
            return output.squeeze(1), self._each(last, lambda state: state.squeeze(1))
        return (output.transpose(0, 1) if self.batch_first else output), last

    def _forward_packed(self, input: PackedSequence, hx: Optional[State]):
        data, sizes, order, back = input
        counts = sizes.numpy()
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        lengths = (counts[:, np.newaxis] > np.arange(counts[0])).sum(axis=0)
        if hx is not None and order is not None:
            hx = self._each(hx, lambda state: state.index_select(1, order))
        output, last = self._run(data, _Batch(lengths.astype(np.int64), starts.astype(np.int64)), hx)
        if back is not None:
            last = self._each(last, lambda state: state.index_select(1, back))
        return PackedSequence(output, sizes, order, back), last

    @staticmethod
    def _each(state: State, change) -> State:
        return change(state) if isinstance(state, Tensor) else (change(state[0]), change(state[1]))

    def _run(self, input: Tensor, batch: _Batch, hx: Optional[State]) -> Tuple[Tensor, State]:
        self._check(input)
        initial = self._initial(input, len(batch.lengths), hx)
        directions = 2 if self.bidirectional else 1
        last = []
        for index in range(self.num_layers):
            outputs = []
            for place in range(index * directions, (index + 1) * directions):
                first = None if initial is None else initial[place]
                output, state = self._pass(place, input, batch, place % directions == 1, first)
                outputs.append(output)
                last.append(state)
            input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
            if self.dropout > 0 and index + 1 < self.num_layers:
                input = nn.functional.dropout(input, self.dropout, self.training)
        states = torch.stack(last)
        if self.has_memory:
            return input, (states[..., : self.hidden_size], states[..., self.hidden_size :])
        return input, states

    def _pass(self, place: int, input: Tensor, batch: _Batch, reverse: bool, initial: Optional[Tensor]):
        parameters = [getattr(self, name) for name in self._names[place]]
        tensors = [tensor for tensor in (input, initial, *parameters) if tensor is not None]
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        return _Pass.apply(self._layers[place], batch, reverse, keep, input, initial, *parameters)

    def _check(self, input: Tensor) -> None:
        parameter = getattr(self, self._names[0][0])
        for name, tensor in (("input", input), ("parameters", parameter)):
            if tensor.device.type != "cpu":
                raise RuntimeError(f"{name}: found a tensor on {tensor.device}, expected the CPU: ernn's kernels run there")
        if input.dtype not in (torch.float32, torch.float64):
            raise TypeError(f"input: found {input.dtype}, expected torch.float32 or torch.float64")
        if parameter.dtype != input.dtype:
            raise TypeError(f"input: found {input.dtype}, expected {parameter.dtype} as the parameters")
        if input.shape[-1] != self.input_size:
            raise ValueError(f"input: found {input.shape[-1]} values a step, expected {self.input_size}")

    def _initial(self, input: Tensor, count: int, hx: Optional[State]) -> Optional[Tensor]:
        if hx is None:
            return None
        if isinstance(hx, Tensor) == self.has_memory:
            raise TypeError(f"hx: expected {'a pair (h_0, c_0)' if self.has_memory else 'one tensor'}")
        expected = (len(self._layers), count, self.hidden_size)
        for state in (hx,) if isinstance(hx, Tensor) else hx:
            if tuple(state.shape) != expected:
                raise ValueError(f"hx: found shape {list(state.shape)}, expected {list(expected)}")
            if state.dtype != input.dtype or state.device != input.device:
                raise TypeError(f"hx: found {state.dtype} on {state.device}, expected {input.dtype} on {input.device}")
        return hx if isinstance(hx, Tensor) else torch.cat(tuple(hx), -1)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        defaults = {"num_layers": 1, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        parts += [f"{name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value]
        return ", ".join(parts + [f"{name}={value!r}" for name, value in self.settings.items()])


class _LikeTorch(Recurrent):
    """A cell that torch has as well: its ``state_dict`` is understood."""

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, *rest: Any) -> None:
        for names in self._names:
            suffix = names[0][names[0].index("_l") + 1 :]
            if f"{prefix}weight_ih_{suffix}" in state_dict:
                self._take(state_dict, prefix, suffix)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _take(self, state_dict: Dict[str, Any], prefix: str, suffix: str) -> None:
        """Puts our tensors in the place of torch's."""
        take = state_dict.pop
        state_dict[f"{prefix}W_{suffix}"] = take(f"{prefix}weight_ih_{suffix}")
        state_dict[f"{prefix}U_{suffix}"] = take(f"{prefix}weight_hh_{suffix}")
        zeros = torch.zeros(getattr(self, f"b_{suffix}").shape)
        of_input, of_state = (take(f"{prefix}bias_{kind}_{suffix}", zeros) for kind in ("ih", "hh"))
        state_dict.update(self._biases(of_input, of_state, prefix, suffix))

    def _biases(self, of_input: Tensor, of_state: Tensor, prefix: str, suffix: str) -> Dict[str, Tensor]:
        # Only their sum ever counts.
        return {f"{prefix}b_{suffix}": of_input + of_state}


class ERNN(Recurrent):
    """Equilibriated recurrent network (Kag, Zhang, Saligrama 2019). ``rank`` (8), ``iterations`` (1), ``activation``, ``eta``, ...

    ``max_steps=T`` learns a step size for each of the first ``T`` steps; by default all steps share one an iteration.
    """

    kind = "ernn"

    @staticmethod
    def _defaults(hidden_size: int) -> Dict[str, Any]:
        return {"rank": min(8, hidden_size)}


class RNN(_LikeTorch):
    """``h' = tanh(W x + U h + b)``; ``nonlinearity="relu"`` as torch has it."""

    kind = "rnn"

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *rest, **settings):
        settings.setdefault("activation", nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, *rest, **settings)


class LSTM(_LikeTorch):
    """Long short-term memory; gates in torch's order. The state is a pair ``(h, c)``."""

    kind = "lstm"
    has_memory = True


class GRU(_LikeTorch):
    """Gated recurrent unit, reset after the product as torch's (``reset="before"`` for the paper's)."""

    kind = "gru"

    def _biases(self, of_input: Tensor, of_state: Tensor, prefix: str, suffix: str) -> Dict[str, Tensor]:
        if not hasattr(self, f"b_n_{suffix}"):
            raise ValueError("reset: found before, expected after, as torch's GRU has it")
        split = 2 * self.hidden_size
        both = torch.cat([of_input[:split] + of_state[:split], of_input[split:]])
        return {f"{prefix}b_{suffix}": both, f"{prefix}b_n_{suffix}": of_state[split:]}


class UGRNN(Recurrent):
    """Update-gate network (Collins, Sohl-Dickstein, Sussillo 2017)."""

    kind = "ugrnn"


class FastRNN(Recurrent):
    """FastRNN: a residual connection with two learned scalars (Kusupati et al. 2018)."""

    kind = "fastrnn"


class FastGRNN(Recurrent):
    """FastGRNN: one matrix for gate and candidate (Kusupati et al. 2018)."""

    kind = "fastgrnn"


class AntisymmetricRNN(Recurrent):
    """AntisymmetricRNN (Chang et al. 2019). ``epsilon``, ``gamma``."""

    kind = "antisymmetric"


class SpectralRNN(Recurrent):
    """SpectralRNN: singular values near 1 (Zhang, Lei, Dhillon 2018). ``reflections``, ``radius``."""

    kind = "spectral"
