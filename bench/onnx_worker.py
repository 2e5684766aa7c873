"""Contestants in ONNX Runtime: one sequence forward through the file FOLDER/SHAPE-CELL.onnx that `onnx_models.py` has exported.

    onnx_worker.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnxruntime

from worker import serve

# Shapes by steps, inputs and hidden size.
import contestants as field

NAMES = {(shape.T, shape.d, shape.D): name for name, shape in field.SHAPES.items()}


def build(request):
    name = NAMES[request.T, request.d, request.D]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = request.threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    path = pathlib.Path(sys.argv[1]) / f"{name}-{request.cell}.onnx"
    runtime = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    values = np.random.default_rng(1).uniform(-1, 1, (request.batch, request.T, request.d)).astype(np.float32)
    inputs = {"input": values, "sequence_lens": np.full(request.batch, request.T, np.int32)}
    return lambda: runtime.run(["logits"], inputs)


if __name__ == "__main__":
    serve(build, {"name": "onnxruntime", "version": onnxruntime.__version__})
