"""The picture of the rooms is the one that the contracts and docstrings give, and every room is on it."""

import importlib.util
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


def test_the_map_names_files_that_exist():
    page = (ROOT / "docs" / "code-map.md").read_text(encoding="utf-8")
    for name in (
        "reading",
        "text",
        "critic",
        "inference",
        "laws",
        "verdicts",
        "runs",
        "engine",
        "report",
        "calibration",
        "controls",
    ):
        assert f"core/momus/{name}/" in page
        assert (ROOT / "core" / "momus" / name).is_dir()
    for path in ("runs/folder.py", "critic/saved.py", "report/words.py", "report/terminal.py"):
        assert path in page
        assert (ROOT / "core" / "momus" / path).is_file()
