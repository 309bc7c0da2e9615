"""No public name moves by accident."""

import json
import runpy
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


def test_public_names_and_signatures_are_those_of_the_release():
    kept = json.loads((DATA / "api.json").read_text(encoding="utf-8"))
    now = runpy.run_path(str(DATA / "make_api.py"))["api"]()
    moved = {
        f"{module}.{name}": (kept.get(module, {}).get(name), now.get(module, {}).get(name))
        for module in kept.keys() | now.keys()
        for name in kept.get(module, {}).keys() | now.get(module, {}).keys()
        if kept.get(module, {}).get(name) != now.get(module, {}).get(name)
    }
    assert not moved, "if this is meant: python tests/data/make_api.py, and a line in CHANGELOG.md"
