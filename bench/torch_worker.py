"""Contestants in torch: nn.RNN (relu), nn.LSTM, nn.GRU; layers of torchrecurrent; ERNN as a loop over time; a large matrix
product.

    train:   forward, cross-entropy of a linear readout of the last state, backward, Adam
    forward: the same forward without gradients
"""

import importlib.metadata
import sys

import torch
import torchrecurrent

from worker import CLASSES, LEARNING_RATE, serve

# As ernn's default; theirs, 1 and 0, lets the states of a long sequence grow.
STABLE = {"epsilon": 0.1, "gamma": 0.01}


class TorchLayer(torch.nn.Module):
    """One of torch's own recurrent layers, or of torchrecurrent's, which loop over time in Python."""

    def __init__(self, request):
        super().__init__()
        layers = {
            "nn.RNN": lambda: torch.nn.RNN(request.d, request.D, nonlinearity="relu"),
            "nn.LSTM": lambda: torch.nn.LSTM(request.d, request.D),
            "nn.GRU": lambda: torch.nn.GRU(request.d, request.D),
            "torchrecurrent.FastRNN": lambda: torchrecurrent.FastRNN(request.d, request.D),
            # Its `nonlinearity` is the gate's, and tanh unless told otherwise.
            "torchrecurrent.FastGRNN": lambda: torchrecurrent.FastGRNN(request.d, request.D, nonlinearity="sigmoid"),
            "torchrecurrent.UGRNN": lambda: torchrecurrent.UGRNN(request.d, request.D),
            "torchrecurrent.AntisymmetricRNN": lambda: torchrecurrent.AntisymmetricRNN(request.d, request.D, **STABLE),
            "torchrecurrent.GatedAntisymmetricRNN": lambda: torchrecurrent.GatedAntisymmetricRNN(
                request.d, request.D, **STABLE),
        }
        self.layer = layers[request.cell]()

    def forward(self, x):
        return self.layer(x)[0][-1]


class ErnnLoop(torch.nn.Module):
    """ERNN, P = U = I + V H, start h_{k-1}, eta per iteration and step, ReLU: as the authors' code, U applied twice.

    `folded` forms P U = I + A H once a step, A = V (2 I + H V), as ernn does: what folding alone gives.
    """

    def __init__(self, request, folded):
        super().__init__()
        self.K, self.folded = request.K, folded
        parameter = lambda *shape: torch.nn.Parameter(0.1 * torch.randn(*shape))
        self.W, self.b = parameter(request.D, request.d), torch.nn.Parameter(torch.zeros(request.D))
        self.V, self.H = parameter(request.D, request.r), parameter(request.r, request.D)
        self.eta = torch.nn.Parameter(torch.full((request.K, request.T), 0.01))

    def forward(self, x):
        u = torch.nn.functional.linear(x, self.W, self.b)
        VT, HT = self.V.T, self.H.T
        if self.folded:
            u, VT = torch.addmm(u.flatten(0, 1), u.flatten(0, 1) @ HT, VT).view_as(u), 2 * VT + (VT @ HT) @ VT
        h = x.new_zeros(x.shape[1], self.W.shape[0])
        etas = self.eta.unbind(1)
        for u_k, eta in zip(u.unbind(0), etas):
            previous = h
            for eta_i in eta.unbind(0):
                z = h + previous
                a = z + (z @ HT) @ VT + u_k
                if not self.folded:
                    a = a + (a @ HT) @ VT
                h = h + eta_i * (torch.relu(a) - z)
        return h


def model_of(request):
    if request.cell in ("ernn", "ernn-folded"):
        return ErnnLoop(request, folded=request.cell == "ernn-folded")
    return TorchLayer(request)


def train(request):
    model, readout = model_of(request), torch.nn.Linear(request.D, CLASSES)
    optimizer = torch.optim.Adam([*model.parameters(), *readout.parameters()], lr=LEARNING_RATE)
    x = torch.randn(request.T, request.batch, request.d)
    targets = torch.randint(0, CLASSES, (request.batch,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(readout(model(x)), targets).backward()
        optimizer.step()

    return step


def forward(request):
    model, readout = model_of(request), torch.nn.Linear(request.D, CLASSES)
    x = torch.randn(request.T, request.batch, request.d)

    def step():
        with torch.no_grad():
            readout(model(x))

    return step


def product(request):
    """An f32 product of two T x T matrices: the machine's practical limit."""
    a, b = torch.randn(request.T, request.T), torch.randn(request.T, request.T)
    out = torch.empty(request.T, request.T)
    return lambda: torch.mm(a, b, out=out)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(0)
    serve(lambda request: {"train": train, "forward": forward, "product": product}[request.task](request),
          {"name": "torch", "version": torch.__version__, "simd": torch.backends.cpu.get_cpu_capability(),
           "layers": f"torchrecurrent {importlib.metadata.version('torchrecurrent')}"})
