"""The contestants of the benchmark of defaults that are Python packages. Run as a program it does one job, in a process of its own:

    python bench/defaults_models.py '{"kind": "minirocket", "train": "X_TRAIN.ts", "test": "X_TEST.ts", "seed": 1, "folds": 0}'

and prints one line of JSON. Processor times are those of this process from the numbers in memory to the model, and from there to the
classes; what has to be compiled is compiled on a few sequences before.
"""

import json
import math
import sys
import time
import warnings

import numpy as np

import defaults_sets as sets

#: Of the longer sequence, to each side.
DTW_WINDOW = 0.1
HIDDEN, BATCH, LEARNING_RATE, CLIP, LEAST_STEPS, LEAST_EPOCHS = 64, 32, 5e-3, 1.0, 1500, 60


def padded(sequences, steps):
    """One array [sequences, channels, steps]: zeros behind shorter ones, longer ones than all of the training part are cut. MiniRocket by
    folds of the training parts: PickupGestureWiimoteZ 83 % with zeros, 80 % with each sequence's mean, 67 % with its last value;
    JapaneseVowels 97, 96 and 96 %, PLAID 91, 86 and 81 %."""
    return np.stack([np.pad(s[:, :steps], ((0, 0), (0, max(0, steps - s.shape[1])))) for s in sequences])


class Convolutions:
    """aeon's ROCKET family with its default settings. Sequences of unequal length are padded."""

    def __init__(self, kind, seed):
        from aeon.classification import convolution_based as aeon
        kinds = {"minirocket": "MiniRocketClassifier", "multirocket": "MultiRocketClassifier", "multirocket-hydra": "MultiRocketHydraClassifier"}
        self.model = getattr(aeon, kinds[kind])(n_jobs=1, random_state=seed)

    def fit(self, sequences, labels):
        self.steps = max(9, max(s.shape[1] for s in sequences))
        self.model.fit(padded(sequences, self.steps).astype(np.float32), np.array(labels))

    def predict(self, sequences):
        return self.model.predict(padded(sequences, self.steps).astype(np.float32))

    def values(self):
        """Numbers that a deployed model needs: the readout and the kernels' dilations, channels and biases. Scaling folds into the readout,
        and the 84 kernels are code."""
        model = self.model
        readout = model.classifier if hasattr(model, "classifier") else model.pipeline_[-1]
        transforms = [part for part in vars(model).values() if hasattr(part, "transform") and not hasattr(part, "scale_")]
        kernels = [getattr(part, name, ()) for part in transforms for name in ("parameters", "parameter", "parameter1")]
        hydra = [part._hydra for part in transforms if hasattr(part, "_hydra")]
        torches = [tensor.numel() for part in hydra for tensor in (part.W, *part.idx)]
        return readout.coef_.size + np.size(readout.intercept_) + sum(np.size(a) for k in kernels for a in (k or ())) + sum(torches)


class NearestNeighbor:
    """aeon's nearest neighbor by DTW, unequal lengths as they are. The model is the training part."""

    def __init__(self, seed):
        from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
        self.model = KNeighborsTimeSeriesClassifier(n_neighbors=1, distance="dtw", distance_params={"window": DTW_WINDOW}, n_jobs=1)

    @staticmethod
    def collection(sequences):
        return np.stack(sequences) if len({s.shape for s in sequences}) == 1 else list(sequences)

    def fit(self, sequences, labels):
        self.size = sum(s.size for s in sequences) + len(labels)
        self.model.fit(self.collection(sequences), np.array(labels))

    def predict(self, sequences):
        return self.model.predict(self.collection(sequences))

    def values(self):
        return self.size


class TorchRecurrent:
    """torch's LSTM or GRU of 64, normalized channels, mean of the states, Adam with a cosine from 5e-3 to 0 over at least 1,500 steps and
    60 epochs, gradients clipped at 1, the last weights. Unequal lengths are padded, and the padding masked."""

    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed

    def fit(self, sequences, labels):
        import torch
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        steps = np.concatenate(sequences, axis=1)
        self.mean, deviation = steps.mean(axis=1), steps.std(axis=1)
        self.scale = 1 / np.where(deviation > 0, deviation, 1)
        self.classes = sorted(set(labels))
        self.cell = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[self.kind](len(steps), HIDDEN, batch_first=True)
        self.readout = torch.nn.Linear(HIDDEN, len(self.classes))
        weights = [*self.cell.parameters(), *self.readout.parameters()]
        inputs, lengths = self.tensors(sequences)
        targets = torch.tensor([self.classes.index(label) for label in labels])
        batches = math.ceil(len(labels) / BATCH)
        epochs = max(LEAST_EPOCHS, math.ceil(LEAST_STEPS / batches))
        optimizer = torch.optim.Adam(weights, lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * batches)
        for _ in range(epochs):
            for batch in torch.randperm(len(labels)).split(BATCH):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(self.logits(inputs[batch], lengths[batch]), targets[batch]).backward()
                torch.nn.utils.clip_grad_norm_(weights, CLIP)
                optimizer.step()
                schedule.step()

    def tensors(self, sequences):
        """Normalized sequences [N, T, d], zeros behind their ends, and the lengths."""
        import torch
        normal = [torch.tensor(((s.T - self.mean) * self.scale), dtype=torch.float32) for s in sequences]
        return torch.nn.utils.rnn.pad_sequence(normal, batch_first=True), torch.tensor([len(s) for s in normal])

    def logits(self, inputs, lengths):
        import torch
        longest = int(lengths.max())
        states, _ = self.cell(inputs[:, :longest])
        mask = (torch.arange(longest)[None, :] < lengths[:, None]).unsqueeze(-1)
        return self.readout((states * mask).sum(dim=1) / lengths[:, None])

    def predict(self, sequences):
        import torch
        inputs, lengths = self.tensors(sequences)
        with torch.no_grad():
            chosen = [self.logits(i, n).argmax(dim=1) for i, n in zip(inputs.split(256), lengths.split(256))]
        return np.array([self.classes[c] for c in torch.cat(chosen).tolist()])

    def values(self):
        return sum(p.numel() for module in (self.cell, self.readout) for p in module.parameters())


def make(kind, seed):
    if kind == "dtw":
        return NearestNeighbor(seed)
    if kind in ("lstm", "gru"):
        return TorchRecurrent(kind, seed)
    return Convolutions(kind, seed)


def warm_up(kind, part):
    """Compiles: aeon's functions are compiled when they are called first. Torch has nothing to compile."""
    if kind in ("lstm", "gru"):
        return
    first = {}
    for place, label in enumerate(part.labels):
        first.setdefault(label, []).append(place)
    few = [place for places in list(first.values())[:2] for place in places[:2]]
    model = make(kind, 0)
    model.fit([part.sequences[p] for p in few], [part.labels[p] for p in few])
    model.predict([part.sequences[p] for p in few[:2]])


def judge(kind, seed, train, test):
    """Trains on one part and names the classes of the other: hits, model, both processor times."""
    model = make(kind, seed)
    began = time.process_time()
    model.fit(*train)
    trained = time.process_time()
    named = model.predict(test.sequences)
    ended = time.process_time()
    return sum(str(a) == b for a, b in zip(named, test.labels)), model, trained - began, ended - trained


def by_folds(kind, seed, folds, train):
    """Stratified folds of the training part: every sequence is judged once, by a model that has not seen it."""
    from sklearn.model_selection import StratifiedKFold
    hits, times = 0, np.zeros(2)
    for kept, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(train.labels)), train.labels):
        parts = [sets.Part([train.sequences[p] for p in places], [train.labels[p] for p in places]) for places in (kept, held)]
        found, model, *spent = judge(kind, seed, *parts)
        hits, times = hits + found, times + spent
    return hits, model, *times


def main():
    warnings.simplefilter("ignore")
    job = json.loads(sys.argv[1])
    train = sets.read_ts(job["train"])
    warm_up(job["kind"], train)
    if job["folds"]:
        judged, (hits, model, *times) = train, by_folds(job["kind"], job["seed"], job["folds"], train)
    else:
        judged = sets.read_ts(job["test"])
        hits, model, *times = judge(job["kind"], job["seed"], train, judged)
    print(json.dumps({"accuracy": hits / len(judged.labels), "size_kb": int(model.values()) * 4 / 1024,
                      "train_cpu_s": float(times[0]), "predict_cpu_s": float(times[1])}))


if __name__ == "__main__":
    main()
