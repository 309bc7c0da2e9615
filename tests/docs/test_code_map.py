"""The picture of the rooms is the one that the contracts and docstrings give, and every room is on it."""

import ast
import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "figures" / "make_code_map.py"


def module():
    spec = importlib.util.spec_from_file_location("make_code_map", PATH)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_picture_is_up_to_date():
    assert module().PICTURE.read_text(encoding="utf-8") == module().draw(), f"run python {PATH.relative_to(ROOT)}"


def test_every_room_is_drawn_once():
    drawn = [room for floor in module().floors() for room in floor]
    folder = ROOT / "core" / "momus"
    rooms = {p.parent.name for p in folder.glob("*/__init__.py")} | {p.stem for p in folder.glob("[!_]*.py")}
    assert sorted(drawn) == sorted(rooms)


def page():
    return (ROOT / "docs" / "code-map.md").read_text(encoding="utf-8")


def test_the_map_names_files_and_rooms_that_exist():
    paths = set(re.findall(r"`((?:core|critics|adapters|examples|benchmarks)/[^`]*)`", page()))
    paths -= {"critics/momus_critics/NAME"}  # any name
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_functions_of_the_walk_exist():
    walk = re.findall(r"^\| `(\S+\.py)` \| `(\w+)` \|", page(), re.MULTILINE)
    assert 8 <= len(walk) <= 12
    for path, name in walk:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert any(isinstance(n, ast.FunctionDef) and n.name == name for n in ast.walk(tree)), f"{path}: {name}"
