"""Contestants in JAX: ERNN as lax.scan over time in jit; the training step is value_and_grad and Adam in one jit."""

import functools

import jax
import jax.numpy as jnp

from worker import CLASSES, LEARNING_RATE, serve


def initial(request, key):
    keys = iter(jax.random.split(key, 8))
    draw = lambda *shape: 0.1 * jax.random.normal(next(keys), shape)
    D, d, r = request.D, request.d, request.r
    return {"W": draw(D, d), "b": jnp.zeros(D), "V": draw(D, r), "H": draw(r, D),
            "eta": jnp.full((request.T, request.K), 0.01, jnp.float32), "readout": draw(CLASSES, D), "bias": jnp.zeros(CLASSES)}


def logits(p, x, folded):
    """The same ERNN as in torch_worker.py: P = U = I + V H, start h_{k-1}, ReLU; U applied twice unless folded."""
    u = x @ p["W"].T + p["b"]
    VT, HT = p["V"].T, p["H"].T
    if folded:
        u, VT = u + (u @ HT) @ VT, 2 * VT + (VT @ HT) @ VT

    def step(h, inputs):
        u_k, eta = inputs
        previous = h
        for i in range(eta.shape[0]):
            z = h + previous
            a = z + (z @ HT) @ VT + u_k
            if not folded:
                a = a + (a @ HT) @ VT
            h = h + eta[i] * (jax.nn.relu(a) - z)
        return h, None

    h, _ = jax.lax.scan(step, jnp.zeros((x.shape[1], p["W"].shape[0])), (u, p["eta"]))
    return h @ p["readout"].T + p["bias"]


def loss(p, x, targets, folded):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits(p, x, folded)), targets[:, None], axis=1).mean()


@functools.partial(jax.jit, static_argnames="folded", donate_argnums=0)
def adam_step(state, x, targets, folded):
    p, m, v, t = state
    g = jax.grad(loss)(p, x, targets, folded)
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    scale, root = LEARNING_RATE / (1 - 0.9**t), jnp.sqrt(1 - 0.999**t)
    p = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) / root + 1e-8), p, m, v)
    return p, m, v, t


def build(request):
    folded = {"ernn": False, "ernn-folded": True}[request.cell]
    keys = jax.random.split(jax.random.key(0), 3)
    p = initial(request, keys[0])
    x = jax.random.normal(keys[1], (request.T, request.batch, request.d))
    if request.task == "forward":
        run = jax.jit(functools.partial(logits, folded=folded))
        return lambda: run(p, x).block_until_ready()
    targets = jax.random.randint(keys[2], (request.batch,), 0, CLASSES)
    zeros = lambda: jax.tree.map(jnp.zeros_like, p)
    state = [(p, zeros(), zeros(), jnp.zeros((), jnp.float32))]

    def step():
        state[0] = adam_step(state[0], x, targets, folded)
        jax.block_until_ready(state[0])

    return step


if __name__ == "__main__":
    serve(build, {"name": "jax", "version": jax.__version__})
