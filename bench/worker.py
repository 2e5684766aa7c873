"""The line protocol of a contestant process: what README.md calls a request comes in, a JSON object a line goes out."""

import json
import sys
import time
import traceback
from typing import NamedTuple

CLASSES = 10
LEARNING_RATE = 1e-3
# Untimed runs after a contestant is built: compilation, page faults, caches.
WARM_UP = 3


class Request(NamedTuple):
    """`<task> <cell> <T> <d> <D> <r> <K> <batch> <threads>`; r = 0 means a dense recurrent matrix."""

    task: str
    cell: str
    T: int
    d: int
    D: int
    r: int
    K: int
    batch: int
    threads: int


def parse(line):
    """A request and the number of iterations to time."""
    task, cell, *numbers = line.split()
    *numbers, iterations = (int(number) for number in numbers)
    return Request(task, cell, *numbers), iterations


def answer(runners, build, line):
    """Milliseconds an iteration; the first request of its kind builds and warms up."""
    request, iterations = parse(line)
    if request not in runners:
        # One at a time: a contestant's memory must not weigh on the next.
        runners.clear()
        runners[request] = build(request)
        for _ in range(WARM_UP):
            runners[request]()
    run = runners[request]
    start = time.perf_counter()
    for _ in range(iterations):
        run()
    return {"ms": (time.perf_counter() - start) / iterations * 1e3}


def serve(build, about):
    """Answers requests until the input ends. `build(request)` gives a function that runs one iteration and waits for it."""
    print(json.dumps(about), flush=True)
    runners = {}
    for line in sys.stdin:
        try:
            reply = answer(runners, build, line)
        except Exception as error:  # The orchestrator skips this contestant and goes on.
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
