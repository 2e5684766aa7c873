"""Writing of golden files: one safetensors file of many cases, described by JSON in its metadata."""

import json
import pathlib

import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "crates" / "ernn" / "tests" / "golden"


def case(name, settings, tensors, shared=None):
    """A case: its settings, its own tensors by role, and roles that other cases share (role -> name in the file)."""
    return {"name": name, "settings": settings, "own": tensors, "shared": shared or {}}


def write(file_name, cases, script, shared_tensors=None):
    """Writes `file_name`: tensor `<case>/<role>` for each own tensor, shared ones under their own names."""
    stored = dict(shared_tensors or {})
    described = []
    for entry in cases:
        roles = dict(entry["shared"])
        for role, tensor in entry["own"].items():
            roles[role] = f"{entry['name']}/{role}"
            assert roles[role] not in stored, f"two tensors {roles[role]}"
            stored[roles[role]] = tensor
        described.append({"name": entry["name"], **entry["settings"], "tensors": roles})
    stored = {name: tensor.detach().contiguous() for name, tensor in stored.items()}
    for name, tensor in stored.items():
        assert not tensor.is_floating_point() or torch.isfinite(tensor).all(), f"{name} is not finite"
    metadata = {"cases": json.dumps(described, separators=(",", ":")), "made_by": f"{script}, torch {torch.__version__}"}
    path = FOLDER / file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialize(stored, metadata))
    print(f"{path.name}: {len(described)} cases, {path.stat().st_size / 1000:.0f} kB")


def serialize(tensors, metadata):
    """The safetensors bytes with a sorted header, so that a second run gives the same file."""
    content = safetensors.torch.save(tensors, metadata)
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]
