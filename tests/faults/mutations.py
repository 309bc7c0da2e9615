"""Mutations of saved critics: damage to their files, and folders that somebody has written on purpose."""

import copy
import json
import random

import numpy as np
from safetensors.numpy import load_file, save_file

from momus.critic.saved import ARRAYS_NAME, DIGESTS, JSON_NAME, _content_digest
from momus.files import file_digest

KINDS = ["nan", "negative", "huge", "short", "column", "type", "gone", "extra", "shuffled", "empty", "other"]
ODD = [None, True, -1, 0, 1e308, -0.5, 2**70, "", "x", "\x1b[2J", [], {}, [[]], {"@array": "x"}, {"@float": "nan"}]


def damage(folder, rng: random.Random) -> str:
    """Change bytes of a file as a disk or a transfer does, and say how."""
    path = folder / rng.choice([JSON_NAME, ARRAYS_NAME])
    data = bytearray(path.read_bytes())
    kind = rng.choice(["cut", "flip", "flip", "swap", "zero", "number"])
    a, b = sorted(rng.sample(range(len(data)), 2))
    if kind == "cut":
        del data[a:]
    elif kind == "flip":
        data[a] ^= 1 << rng.randrange(8)
    elif kind == "swap":
        width = min(8, b - a, len(data) - b)
        data[a : a + width], data[b : b + width] = data[b : b + width], data[a : a + width]
    elif kind == "zero":
        data[a:b] = bytes(b - a)
    else:
        digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()] or [a]
        data[rng.choice(digits)] = ord(str(rng.randrange(10)))
    path.write_bytes(bytes(data))
    return f"{kind} {path.name} at {a}"


def forge(folder, rng: random.Random) -> str:
    """Change values and make the digests fit, as an author of a hostile folder does, and say what."""
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    arrays = load_file(folder / ARRAYS_NAME)
    how = _forge_array(arrays, rng) if arrays and rng.random() < 0.5 else _forge_json(content, rng)
    save_file(arrays, folder / ARRAYS_NAME)
    content[DIGESTS]["arrays"] = file_digest(folder / ARRAYS_NAME)
    content[DIGESTS]["content"] = _content_digest(content)
    (folder / JSON_NAME).write_text(json.dumps(content), encoding="utf-8")
    return how


def _forge_array(arrays, rng: random.Random) -> str:
    name = rng.choice(sorted(arrays))
    value = arrays[name].copy()
    kind = rng.choice(KINDS)
    place = rng.randrange(value.size) if value.size else 0
    if kind in ("nan", "negative", "huge") and value.size:
        number = {"nan": np.nan, "negative": -7, "huge": 2.0**62}[kind]
        if value.dtype.kind == "f":
            value.flat[place] = number
        else:
            value.flat[place] = np.array(0 if kind == "nan" else int(abs(number))).astype(value.dtype)
    elif kind == "short":
        value = value[:-1].copy()
    elif kind == "column":
        value = value[..., None].copy()
    elif kind == "type":
        value = value.astype(rng.choice([np.float32, np.int64, np.uint8, np.bool_, np.float16]))
    elif kind == "shuffled":
        value = np.random.default_rng(place).permutation(value.ravel()).reshape(value.shape)
    elif kind == "empty":
        value = value[:0].copy()
    elif kind == "other":
        value = arrays[rng.choice(sorted(arrays))].copy()
    arrays[name] = np.ascontiguousarray(value)
    if kind == "gone":
        del arrays[name]
    if kind == "extra":
        arrays["extra_"] = np.zeros(3)
    return f"array {name}: {kind}"


def _forge_json(content, rng: random.Random) -> str:
    spots = list(_spots({k: content[k] for k in ("params", "state", "critic", "class")}))
    path = rng.choice(spots)
    inner = content
    for step in path[:-1]:
        inner = inner[step]
    last, old = path[-1], copy.deepcopy(inner[path[-1]])
    kind = rng.choice(["odd", "odd", "gone", "renamed", "nudged"])
    if kind == "gone":
        del inner[last]
    elif kind == "renamed" and isinstance(inner, dict):
        inner[rng.choice(["fit_", "score", "__class__", "x_", "name", "_check_state"])] = inner.pop(last)
    elif kind == "nudged" and isinstance(old, int | float) and not isinstance(old, bool):
        inner[last] = old * rng.choice([-1, 2, 1000, 0]) + rng.choice([0, 1])
    else:
        inner[last] = rng.choice(ODD)
    now = inner.get(last) if isinstance(inner, dict) else None
    return f"json {'.'.join(map(str, path))}: {kind}, {str(old)[:30]!r} → {str(now)[:30]!r}"


def _spots(value, path=()):
    """Paths of all values within nested tables and lists, at most five of each list."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _spots(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value[:5]):
            yield from _spots(inner, (*path, i))
