# %% [markdown]
# # An ERNN layer in a torch model
# The layer goes where `torch.nn.LSTM` would; everything around it is torch's.

# %%
import torch
from torch import nn

import ernn.torch

torch.manual_seed(0)

# %% [markdown]
# The adding problem: a sequence of random numbers, two of which are marked; the answer is their sum.

# %%
def adding(count, steps=40):
    values = torch.rand(count, steps, 1)
    marks = torch.zeros(count, steps, 1)
    places = torch.stack([torch.randperm(steps)[:2] for _ in range(count)])
    marks.scatter_(1, places.unsqueeze(2), 1.0)
    return torch.cat([values, marks], dim=2), (values * marks).sum(dim=(1, 2))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = ernn.torch.ERNN(2, 48, rank=16, batch_first=True, eta=0.05)
        self.readout = nn.Linear(48, 1)

    def forward(self, x):
        _, h_n = self.layer(x)
        return self.readout(h_n[-1]).squeeze(1)


# %%
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x_test, y_test = adding(500)
for step in range(400):
    x, y = adding(64)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# %% [markdown]
# Always answering 1 has an error of 1/6.

# %%
with torch.no_grad():
    error = nn.functional.mse_loss(model(x_test), y_test).item()
print(f"mean squared error on the test part: {error:.4f} (a constant: {y_test.var():.4f})")
assert error < 0.5 * y_test.var().item()

# %%
torch.save(model.state_dict(), "adding.pt")
again = Model()
again.load_state_dict(torch.load("adding.pt"))
assert torch.equal(again(x_test), model(x_test))
