"""The torch modules: gradients, equality with torch's own, packed sequences, and what surrounds a module."""

import copy
import io

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (just test-torch installs it)")

from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import ernn.torch

MODULES = [getattr(ernn.torch, name) for name in ernn.torch.__all__]
LIKE_TORCH = [(ernn.torch.RNN, nn.RNN), (ernn.torch.LSTM, nn.LSTM), (ernn.torch.GRU, nn.GRU)]
LENGTHS = [7, 5, 5, 1]

by_name = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
pairs = pytest.mark.parametrize("ours, theirs", LIKE_TORCH, ids=lambda module: module.__name__)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def small(module, **settings):
    """A layer whose parameters are all other than 0, in double precision."""
    layer = module(3, 4, dtype=torch.float64, **settings)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return layer


def both(ours, theirs, **settings):
    reference = theirs(3, 4, dtype=torch.float64, **settings)
    layer = ours(3, 4, dtype=torch.float64, **settings)
    layer.load_state_dict(reference.state_dict())
    return layer, reference


def flat(result):
    """All tensors of what a layer gives."""
    output, state = result
    output = output.data if isinstance(output, PackedSequence) else output
    return [output, *(state if isinstance(state, tuple) else [state])]


def assert_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def loss(result):
    """A number that every entry of the result has its own share in."""
    random = torch.Generator().manual_seed(7)
    return sum((tensor * torch.rand(tensor.shape, generator=random, dtype=tensor.dtype)).sum() for tensor in flat(result))


def state_like(layer, count):
    shape = (len(layer._layers), count, layer.hidden_size)
    states = tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(1 + layer.has_memory))
    return states if layer.has_memory else states[0]


# Gradients


@by_name
@pytest.mark.parametrize("settings", [{}, {"num_layers": 2, "bidirectional": True}], ids=["one", "stacked"])
def test_gradcheck(module, settings):
    # relu has a corner that a finite difference may step over.
    smooth = {"activation": "tanh"} if module is ernn.torch.ERNN else {}
    layer = small(module, **settings, **smooth)
    input = torch.randn(5, 3, 3, dtype=torch.float64, requires_grad=True)
    state = state_like(layer, 3)
    states = state if isinstance(state, tuple) else (state,)
    names = [name for name, _ in layer.named_parameters()]

    def run(input, *tensors):
        given = tensors[: len(states)]
        parameters = dict(zip(names, tensors[len(states) :]))
        hx = given if layer.has_memory else given[0]
        return tuple(flat(torch.func.functional_call(layer, parameters, (input, hx))))

    assert torch.autograd.gradcheck(run, (input, *states, *layer.parameters()))


@by_name
def test_gradcheck_of_packed_sequences(module):
    layer = small(module, **({"activation": "tanh"} if module is ernn.torch.ERNN else {}))
    packed = pack_padded_sequence(torch.randn(7, 4, 3, dtype=torch.float64), LENGTHS)
    data = packed.data.clone().requires_grad_()

    def run(data):
        return tuple(flat(layer(PackedSequence(data, packed.batch_sizes))))

    assert torch.autograd.gradcheck(run, (data,))


@pytest.mark.parametrize(
    "settings",
    [{"iterations": 3}, {"max_steps": 4}, {"rank": "full"}, {"sign": "minus", "start": "zero"}, {"projection": "identity"}],
    ids=str,
)
def test_gradcheck_of_ernn_settings(settings):
    layer = small(ernn.torch.ERNN, activation="tanh", rank=settings.pop("rank", 2), eta=0.3, **settings)
    input = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda input, *_: tuple(flat(layer(input))), (input, *layer.parameters()))


# Equality with torch


@pairs
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("settings", [{}, {"num_layers": 3}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True}], ids=str)
def test_outputs_and_gradients_are_torchs(ours, theirs, batch_first, settings):
    layer, reference = both(ours, theirs, batch_first=batch_first, **settings)
    input = torch.randn(6, 5, 3, dtype=torch.float64, requires_grad=True)
    state = state_like(layer, 6 if batch_first else 5)
    found, expected = layer(input, state), reference(input, state)
    assert_close(flat(found), flat(expected))
    states = state if isinstance(state, tuple) else (state,)
    wanted = [input, *states]
    assert_close(torch.autograd.grad(loss(found), wanted), torch.autograd.grad(loss(expected), wanted))


@pairs
def test_gradients_of_the_parameters_are_torchs(ours, theirs):
    layer, reference = both(ours, theirs)
    input = torch.randn(6, 5, 3, dtype=torch.float64)
    loss(layer(input)).backward()
    loss(reference(input)).backward()
    assert_close([layer.W_l0.grad, layer.U_l0.grad], [reference.weight_ih_l0.grad, reference.weight_hh_l0.grad])
    assert_close([layer.b_l0.grad], [reference.bias_ih_l0.grad])
    if ours is ernn.torch.GRU:
        assert_close([layer.b_n_l0.grad], [reference.bias_hh_l0.grad[8:]])


@pairs
@pytest.mark.parametrize("settings", [{}, {"num_layers": 2, "bidirectional": True}], ids=str)
@pytest.mark.parametrize("sorted", [True, False])
def test_packed_sequences_are_torchs(ours, theirs, settings, sorted):
    layer, reference = both(ours, theirs, **settings)
    input = torch.randn(7, 4, 3, dtype=torch.float64, requires_grad=True)
    lengths = LENGTHS if sorted else [5, 1, 7, 5]
    packed = pack_padded_sequence(input, lengths, enforce_sorted=sorted)
    state = state_like(layer, 4)
    found, expected = layer(packed, state), reference(packed, state)
    assert_close(flat(found), flat(expected))
    assert_close(pad_packed_sequence(found[0])[:1], pad_packed_sequence(expected[0])[:1])
    wanted = [input, *(state if isinstance(state, tuple) else (state,))]
    gradients = [torch.autograd.grad(loss(result), wanted, retain_graph=True) for result in (found, expected)]
    assert_close(*gradients)


@pairs
def test_one_sequence_without_a_batch_is_torchs(ours, theirs):
    layer, reference = both(ours, theirs)
    input = torch.randn(6, 3, dtype=torch.float64)
    assert_close(flat(layer(input)), flat(reference(input)))


def test_relu_rnn_is_torchs():
    layer, reference = both(ernn.torch.RNN, nn.RNN, nonlinearity="relu")
    input = torch.randn(6, 5, 3, dtype=torch.float64)
    assert_close(flat(layer(input)), flat(reference(input)))


@pairs
def test_single_precision_is_near_torchs(ours, theirs):
    reference = theirs(9, 80)
    layer = ours(9, 80)
    layer.load_state_dict(reference.state_dict())
    input = torch.randn(128, 40, 9)
    for one, other in zip(flat(layer(input)), flat(reference(input)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


# Memory and layout


@by_name
def test_views_give_what_their_copies_give(module):
    layer = small(module)
    whole = torch.randn(5, 6, 8, dtype=torch.float64)
    views = [whole[:, :, 2:5], whole[::2, 1:, :3], whole[0].expand(4, 6, 8)[..., 5:], whole.transpose(0, 1)[..., :3],
             whole.permute(2, 1, 0)[..., :3]]  # fmt: skip
    for view in views:
        assert_close(flat(layer(view)), flat(layer(view.contiguous())))


@by_name
def test_a_gradient_that_is_one_number_everywhere(module):
    layer = small(module, batch_first=True)
    input = torch.randn(4, 6, 3, dtype=torch.float64, requires_grad=True)
    mean = layer(input)[0].mean()
    output = layer(input)[0]
    spelled = (output * torch.full(output.shape, 1 / output.numel(), dtype=torch.float64)).sum()
    wanted = [input, *layer.parameters()]
    assert_close(torch.autograd.grad(mean, wanted), torch.autograd.grad(spelled, wanted))


def test_a_result_that_nobody_uses_has_no_gradient():
    layer = small(ernn.torch.LSTM)
    input = torch.randn(6, 2, 3, dtype=torch.float64)
    output, (h, c) = layer(input)
    (gradient,) = torch.autograd.grad(c.sum(), [layer.W_l0], retain_graph=True)
    again = torch.autograd.grad(c.sum(), [layer.W_l0])[0]
    torch.testing.assert_close(gradient, again, rtol=0, atol=0)
    assert gradient.abs().sum() > 0


def test_two_passes_at_once_keep_apart():
    layer = small(ernn.torch.GRU)
    first, second = torch.randn(2, 6, 5, 3, dtype=torch.float64)
    alone = torch.autograd.grad(layer(first)[0].sum(), [layer.W_l0])[0]
    kept, _ = layer(first)[0].sum(), layer(second)[0].sum()
    torch.testing.assert_close(torch.autograd.grad(kept, [layer.W_l0])[0], alone, rtol=0, atol=0)


def test_threads_change_no_bit():
    layer = ernn.torch.ERNN(9, 32, rank=8)
    input = torch.randn(20, 70, 9)
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            output, _ = layer(input)
            found.append([output, *torch.autograd.grad(output.square().sum(), list(layer.parameters()))])
    finally:
        torch.set_num_threads(threads)
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


# Around a module


@by_name
def test_state_dict_torch_save_and_deepcopy(module):
    layer = module(3, 4, num_layers=2, bidirectional=True)
    input = torch.randn(6, 5, 3)
    expected = flat(layer(input))
    other = module(3, 4, num_layers=2, bidirectional=True)
    other.load_state_dict(layer.state_dict())
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for again in (other, copy.deepcopy(layer), torch.load(file, weights_only=False)):
        for one, two in zip(flat(again(input)), expected, strict=True):
            assert torch.equal(one, two)


@by_name
def test_optimizers_lower_the_loss(module):
    layer, readout = module(3, 8, batch_first=True), nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*layer.parameters(), *readout.parameters()], lr=0.02)
    input = torch.randn(40, 10, 3)
    target = input.sum(dim=(1, 2), keepdim=False).unsqueeze(1) / 5
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        error = nn.functional.mse_loss(readout(layer(input)[1][-1][-1] if layer.has_memory else layer(input)[1][-1]), target)
        error.backward()
        optimizer.step()
        losses.append(error.item())
    assert losses[-1] < 0.5 * losses[0]


def test_the_seed_is_torchs():
    layers = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        layers.append(ernn.torch.ERNN(3, 4).W_l0)
    assert torch.equal(layers[0], layers[1]) and not torch.equal(layers[0], layers[2])


def test_dropout_falls_between_layers_in_training_alone():
    layer = ernn.torch.GRU(3, 8, num_layers=2, dropout=0.5)
    input = torch.randn(6, 5, 3)
    assert not torch.equal(layer(input)[0], layer(input)[0])
    layer.eval()
    assert torch.equal(layer(input)[0], layer(input)[0])


def test_no_gradient_is_kept_where_none_is_wanted():
    layer = ernn.torch.RNN(3, 4)
    with torch.no_grad():
        assert layer(torch.randn(6, 5, 3))[0].grad_fn is None
    layer.requires_grad_(False)
    assert not layer(torch.randn(6, 5, 3))[0].requires_grad


def test_what_does_not_fit_is_refused():
    layer = ernn.torch.LSTM(3, 4)
    input = torch.randn(6, 5, 3)
    with pytest.raises(RuntimeError, match="found a tensor on meta, expected the CPU"):
        layer(input.to("meta"))
    with pytest.raises(TypeError, match="float16, expected torch.float32 or torch.float64"):
        layer(input.half())
    with pytest.raises(TypeError, match="float64, expected torch.float32 as the parameters"):
        layer(input.double())
    with pytest.raises(ValueError, match="found 2 values a step, expected 3"):
        layer(input[..., :2])
    with pytest.raises(ValueError, match="0 steps"):
        layer(input[:0])
    with pytest.raises(ValueError, match="4 dimensions"):
        layer(input.unsqueeze(0))
    with pytest.raises(ValueError, match=r"hx: found shape \[1, 2, 4\], expected \[1, 5, 4\]"):
        layer(input, (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)))
    with pytest.raises(TypeError, match="pair"):
        layer(input, torch.zeros(1, 5, 4))
    for settings, words in [
        ({"bias": False}, "bias"),
        ({"dropout": 1.0}, "dropout"),
        ({"num_layers": 0}, "num_layers"),
        ({"rank": 5}, "rank: found 5, expected full or a number from 1 to the hidden size, 4"),
        ({"proj_size": 2}, "proj_size: found 2, expected no such setting for the cell lstm"),
    ]:
        with pytest.raises(ValueError, match=words):
            ernn.torch.LSTM(3, 4, **settings)


def test_repr_says_what_differs_from_the_defaults():
    assert repr(ernn.torch.ERNN(9, 80, rank=20, batch_first=True)) == "ERNN(9, 80, batch_first=True, rank=20)"


def test_weights_of_a_trained_model_go_into_a_module(small):
    from conftest import waves

    X, y = waves()
    small.set_params(differences=False, pooling="last", cell_settings={"steps": "per-step"})
    tensors = small.fit(X, y).model_.tensors()
    layer = ernn.torch.ERNN(2, 8, rank=2, max_steps=16)
    own = {f"{name.removeprefix('layers.0.')}_l0": torch.from_numpy(tensor) for name, tensor in tensors.items()
           if name.startswith("layers.0.")}  # fmt: skip
    layer.load_state_dict(own)
    normalized = (X - X[:, :, :].mean()) / X.std()
    assert layer(torch.from_numpy(normalized).transpose(0, 1))[0].shape == (16, 60, 8)
