"""Events of TensorBoard, written and read by TensorBoard's own package.

    pip install tensorboard setuptools
    python reference/tensorboard_events.py            writes crates/ernn/tests/golden/events.out.tfevents.golden
    python reference/tensorboard_events.py --read DIR prints the scalars that TensorBoard finds in a run folder

The file holds the events of `bytes_are_those_of_tensorboard` in crates/ernn/src/train/events.rs. A second run gives the same bytes.
"""

import json
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

START = 1_700_000_000.25
GOLDEN = pathlib.Path(__file__).parent.parent / "crates/ernn/tests/golden/events.out.tfevents.golden"


def epoch(number, time, retrained=False):
    """The event of an epoch."""
    scalars = {"loss/train": 1.5 / number}
    if not retrained:
        scalars |= {"loss/validation": 0.75, "accuracy/validation": 0.5}
    scalars |= {"accuracy/train": 0.25, "learning_rate": 0.01, "gradient_norm": 3.0}
    prefix = "retrain/" if retrained else ""
    values = [Summary.Value(tag=prefix + tag, simple_value=value) for tag, value in scalars.items()]
    return Event(wall_time=time, step=number, summary=Summary(value=values))


def write():
    events = [
        Event(wall_time=START, file_version="brain.Event:2"),
        epoch(1, START + 0.5),
        epoch(2, START + 1.0),
        epoch(300, START + 1.5, retrained=True),
    ]
    with open(GOLDEN, "wb") as file:
        writer = RecordWriter(file)
        for event in events:
            writer.write(event.SerializeToString())
        writer.flush()


def read(folder):
    found = EventAccumulator(folder)
    found.Reload()
    for tag in found.Tags()["scalars"]:
        points = [[event.step, event.value, event.wall_time] for event in found.Scalars(tag)]
        print(json.dumps({"tag": tag, "points": points}))


if __name__ == "__main__":
    read(sys.argv[2]) if sys.argv[1:2] == ["--read"] else write()
