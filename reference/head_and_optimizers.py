"""Golden values of readout, cross-entropy, optimizers, clipping and schedules, by torch.

    python reference/head_and_optimizers.py

writes crates/ernn/tests/golden/head.safetensors and optim.safetensors. What each holds: reference/README.md. Torch's own
modules and optimizers compute everything; nothing here repeats a formula. Seeds are fixed: a second run gives the same bytes.
"""

import torch

import golden

STEPS = 20
INPUTS, CLASSES, SEQUENCES = 21, 5, 12


def head_case(name, dtype, generator, weights=None, logit_scale=1.0):
    """One readout with cross-entropy: values in, loss and gradients out."""
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
    weight = (draw(CLASSES, INPUTS) * logit_scale).requires_grad_()
    bias = draw(CLASSES).requires_grad_()
    states = draw(SEQUENCES, INPUTS).requires_grad_()
    targets = torch.randint(0, CLASSES, (SEQUENCES,), generator=generator)
    class_weights = None if weights is None else torch.tensor(weights, dtype=dtype)
    logits = torch.nn.functional.linear(states, weight, bias)
    logits.retain_grad()
    loss = torch.nn.CrossEntropyLoss(weight=class_weights)(logits, targets)
    loss.backward()
    tensors = {
        "weight": weight, "bias": bias, "states": states, "logits": logits, "loss": loss.reshape(1),
        "probabilities": torch.softmax(logits, dim=1), "targets": targets.to(torch.int32),
        "grad.weight": weight.grad, "grad.bias": bias.grad, "grad.states": states.grad, "grad.logits": logits.grad,
    }
    if weights is not None:
        tensors["class_weights"] = class_weights
    settings = {"inputs": INPUTS, "classes": CLASSES, "weighted": weights is not None}
    return golden.case(name, settings, tensors)


def head_cases():
    generator = torch.Generator().manual_seed(1)
    weights = [0.5, 2.0, 1.0, 0.0, 3.25]
    for dtype, suffix in [(torch.float64, "f64"), (torch.float32, "f32")]:
        yield head_case(f"plain.{suffix}", dtype, generator)
        yield head_case(f"weighted.{suffix}", dtype, generator, weights)
        yield head_case(f"large_logits.{suffix}", dtype, generator, weights, logit_scale=300.0)


def training_case(name, dtype):
    """Readout, weighted loss, clipping, Adam and a step schedule together for 20 steps: a golden loss curve."""
    generator = torch.Generator().manual_seed(2)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
    linear = torch.nn.Linear(INPUTS, CLASSES, dtype=dtype)
    with torch.no_grad():
        linear.weight.copy_(0.3 * draw(CLASSES, INPUTS))
        linear.bias.copy_(draw(CLASSES))
    start = torch.cat([linear.weight.detach().flatten(), linear.bias.detach()])
    states = draw(STEPS, SEQUENCES // 2, INPUTS)
    targets = torch.randint(0, CLASSES, (STEPS, SEQUENCES // 2), generator=generator)
    class_weights = torch.tensor([0.5, 2.0, 1.0, 0.25, 3.25], dtype=dtype)
    settings = {"learning_rate": 0.05, "max_norm": 0.5, "every": 8, "factor": 0.5, "inputs": INPUTS, "classes": CLASSES}
    optimizer = torch.optim.Adam(linear.parameters(), lr=settings["learning_rate"])
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, settings["every"], settings["factor"])
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(linear(states[step]), targets[step], weight=class_weights)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(linear.parameters(), settings["max_norm"]))
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    return golden.case(name, settings, {
        "start": start, "states": states, "targets": targets.to(torch.int32), "class_weights": class_weights,
        "losses": torch.stack(losses), "norms": torch.stack(norms),
        "end": torch.cat([linear.weight.detach().flatten(), linear.bias.detach()]),
    })


# Tensors of the optimizers' model: shape, whether weight decay applies, factor of the learning rate.
SPANS = [([4, 5], True, 1.0), ([7], False, 1.0), ([3, 2], True, 0.1)]

OPTIMIZERS = {
    "adam": ("adam", torch.optim.Adam, {"lr": 0.01}),
    "adam_l2": ("adam", torch.optim.Adam, {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1}),
    "adamw": ("adamw", torch.optim.AdamW, {"lr": 0.01}),
    "adamw_strong": ("adamw", torch.optim.AdamW, {"lr": 0.05, "betas": (0.7, 0.99), "eps": 1e-6, "weight_decay": 0.3}),
    "sgd": ("sgd", torch.optim.SGD, {"lr": 0.05}),
    "sgd_momentum": ("sgd", torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.02}),
    "sgd_nesterov": ("sgd", torch.optim.SGD,
                     {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.02, "nesterov": True}),
}


def our_settings(kind, options):
    """The same settings under the names of `ernn::optim::OptimizerConfig`."""
    settings = {"kind": kind}
    for name, value in options.items():
        if name == "betas":
            settings["beta1"], settings["beta2"] = value
        elif name != "lr":
            settings[{"eps": "epsilon"}.get(name, name)] = value
    return settings


def parameter_groups(optimizer, tensors, options):
    """One torch parameter group per span."""
    decay = options.get("weight_decay", optimizer([torch.zeros(1)], **options).defaults["weight_decay"])
    return [
        {"params": [tensor], "lr": options["lr"] * scale, "weight_decay": decay if decays else 0.0}
        for tensor, (_, decays, scale) in zip(tensors, SPANS)
    ]


def optimizer_case(name, dtype, suffix):
    kind, optimizer_class, options = OPTIMIZERS[name]
    generator = torch.Generator().manual_seed(3)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
    tensors = [draw(*shape).requires_grad_() for shape, _, _ in SPANS]
    flat = lambda values: torch.cat([value.detach().flatten() for value in values])
    start = flat(tensors)
    optimizer = optimizer_class(parameter_groups(optimizer_class, tensors, options), **options)
    gradients, expected = [], []
    for step in range(STEPS):
        # Magnitudes from 1e-3 to 10, some steps exactly 0.
        size = 0.0 if step == 7 else 10.0 ** (step % 5 - 3)
        for tensor in tensors:
            tensor.grad = size * draw(*tensor.shape)
        gradients.append(flat([tensor.grad for tensor in tensors]))
        optimizer.step()
        expected.append(flat(tensors))
    settings = {
        "optimizer": our_settings(kind, options), "learning_rate": options["lr"],
        "spans": [{"shape": shape, "decay": decays, "learning_rate_scale": scale} for shape, decays, scale in SPANS],
    }
    # Every case of one type draws the same gradients: stored once.
    shared = {f"shared/start.{suffix}": start, f"shared/gradients.{suffix}": torch.stack(gradients)}
    roles = {"start": f"shared/start.{suffix}", "gradients": f"shared/gradients.{suffix}"}
    return shared, golden.case(f"{name}.{suffix}", settings, {"parameters": torch.stack(expected)}, roles)


def clipping_case(dtype, suffix):
    """20 gradients of rising length; the first are short enough to stay."""
    generator = torch.Generator().manual_seed(4)
    max_norm = 2.5
    before, after, norms = [], [], []
    for step in range(STEPS):
        gradient = (torch.randn(30, generator=generator, dtype=torch.float64) * 0.1 * 1.5 ** step).to(dtype)
        parameter = torch.zeros(30, dtype=dtype)
        parameter.grad = gradient.clone()
        norms.append(torch.nn.utils.clip_grad_norm_([parameter], max_norm))
        before.append(gradient)
        after.append(parameter.grad)
    return golden.case(f"clipping.{suffix}", {"max_norm": max_norm}, {
        "before": torch.stack(before), "after": torch.stack(after), "norms": torch.stack(norms),
    })


def schedule_cases():
    schedulers = torch.optim.lr_scheduler
    cases = [
        ("step", {"kind": "step", "every": 3, "factor": 0.5}, lambda o: schedulers.StepLR(o, 3, 0.5)),
        ("step_tenth", {"kind": "step", "every": 7, "factor": 0.1}, lambda o: schedulers.StepLR(o, 7, 0.1)),
        ("cosine", {"kind": "cosine", "epochs": STEPS}, lambda o: schedulers.CosineAnnealingLR(o, STEPS)),
        ("cosine_floor", {"kind": "cosine", "epochs": STEPS, "floor": 1e-4},
         lambda o: schedulers.CosineAnnealingLR(o, STEPS, eta_min=1e-4)),
        ("constant", {"kind": "constant"}, lambda o: schedulers.LambdaLR(o, lambda epoch: 1.0)),
    ]
    for name, settings, scheduler in cases:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.03)
        schedule = scheduler(optimizer)
        rates = []
        for _ in range(STEPS + 1):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        rates = torch.tensor(rates, dtype=torch.float64)
        yield golden.case(f"schedule_{name}", {"schedule": settings, "learning_rate": 0.03}, {"rates": rates})


def optimizer_cases():
    shared, cases = {}, []
    for dtype, suffix in [(torch.float64, "f64"), (torch.float32, "f32")]:
        for name in OPTIMIZERS:
            inputs, case = optimizer_case(name, dtype, suffix)
            assert all(torch.equal(shared.get(key, value), value) for key, value in inputs.items())
            shared.update(inputs)
            cases.append(case)
        cases.append(clipping_case(dtype, suffix))
    return shared, cases


if __name__ == "__main__":
    torch.set_num_threads(1)
    script = "reference/head_and_optimizers.py"
    training = [training_case("training.f64", torch.float64), training_case("training.f32", torch.float32)]
    golden.write("head.safetensors", [*head_cases(), *training], script)
    shared, cases = optimizer_cases()
    golden.write("optim.safetensors", [*cases, *schedule_cases()], script, shared)
