"""Files that a later command goes on from: cells of a calibration, and the state of a gate."""

import json
import random
from dataclasses import asdict

import pytest

from momus.calibration.cells import SplitCell
from momus.calibration.store import CellFolder
from momus.errors import StoreError
from momus.files import write_sealed
from momus.history.gate import add_look, read_looks
from momus.schema import read_json

CELL = SplitCell(
    "length",
    "latent_nll",
    "none",
    0.0,
    12,
    12,
    (0.25, None, 1.0),
    ("ks", "ks", "mean_length"),
    (0.5, None, -0.125),
    24,
)


def damaged(data, rng):
    """Bytes that were cut, flipped, or of which a digit was changed."""
    content = bytearray(data)
    kind = rng.choice(["cut", "flip", "digit"])
    if kind == "cut":
        return bytes(content[: rng.randrange(len(content))])
    if kind == "flip":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(content)
    content[rng.choice([i for i, b in enumerate(content) if chr(b).isdigit()])] = ord(str(rng.randrange(10)))
    return bytes(content)


def corrupt(path, read, times):
    """Damage a file so often: it is refused, or read as it was; the number of times that it was refused."""
    data, right, refused = path.read_bytes(), read(), 0
    rng = random.Random(path.name)
    for _ in range(times):
        path.write_bytes(damaged(data, rng))
        try:
            assert read() == right, path.read_bytes()
        except StoreError:
            refused += 1
    path.write_bytes(data)
    assert read() == right
    return refused


@pytest.mark.parametrize("times", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_damaged_cells_are_refused(tmp_path, times):
    folder = CellFolder(tmp_path, {"seed": 0})
    folder.keep(CELL)
    (path,) = tmp_path.rglob("*.json")
    assert corrupt(path, lambda: asdict(folder.find("none", 0.0, (12, 12))), times) > times * 0.8


@pytest.mark.parametrize("times", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_damaged_states_of_a_gate_are_refused(tmp_path, times):
    path = tmp_path / "looks.json"
    for i in range(3):
        add_look(path, read_looks(path, 0.05, f"run {i}"), 0.2 + 0.1 * i, f"run {i}")
    assert corrupt(path, lambda: read_looks(path, 0.05, "run 9").to_json(), times) > times * 0.8


def test_a_seal_is_of_the_content_not_of_the_spaces(tmp_path):
    write_sealed(tmp_path / "a", {"a": [1, 0.5, None, "é\ud800"]})

    def read_sealed(path):
        return read_json(path, dict, "write it again", sealed=True)

    content = read_sealed(tmp_path / "a")
    assert content == {"a": [1, 0.5, None, "é\ud800"]}
    stored = json.loads((tmp_path / "a").read_text(encoding="utf-8"))
    (tmp_path / "a").write_text(json.dumps(stored), encoding="utf-8")
    assert read_sealed(tmp_path / "a") == content
    for body in (json.dumps({**stored, "a": [1]}), json.dumps(content), "[]", "[" * 100_000 + "]" * 100_000):
        (tmp_path / "a").write_text(body, encoding="utf-8")
        with pytest.raises(StoreError, match=r"changed|deeply"):
            read_sealed(tmp_path / "a")
