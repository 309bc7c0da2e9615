"""Names of variables and functions say what they hold: those that could hold anything are kept out of the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VAGUE = {"found", "made", "given", "own", "part", "each"}
PART_OF_A_TEXT = (  # texts are read, scored and stored in parts: `momus.reading.parts.Part`, or the number of one
    "core/momus/reading/parts.py",
    "core/momus/reading/location.py",
    "core/momus/outliers/originals.py",
    "core/momus/reading/tables.py",
    "core/momus/engine/scoring.py",
    "core/momus/engine/worker.py",
    "core/momus/outliers/filtering.py",
    "core/momus/rows/folder.py",
    "core/momus/rows/plan.py",
    "core/momus/rows/store.py",
    "core/momus/rows/stored.py",
    "adapters/momus_adapters/ray_engine.py",
)
PART_OF_LOG_P = (  # the parts of log P(x), `momus.critic.powers.PARTS`
    "core/momus/verdicts/decomposition.py",
)


def _bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of all that is bound: variables, parameters, attributes, functions, classes, captures, aliases."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case (
                ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def _vague(path: Path) -> list[tuple[int, str]]:
    return [(line, name) for line, name in _bound(ast.parse(path.read_text())) if name.strip("_") in VAGUE]


@pytest.mark.parametrize("room", ["core", "critics", "adapters"])
def test_names_say_what_they_hold(room):
    hits = []
    for path in sorted((ROOT / room).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        allowed = {"part"} if place in (*PART_OF_A_TEXT, *PART_OF_LOG_P) else set()
        hits += [f"{place}:{line}: {name}" for line, name in _vague(path) if name not in allowed]
    assert not hits, "name what the value is, see VAGUE:\n" + "\n".join(hits)


def test_domain_uses_exist():
    assert all(any(name == "part" for _, name in _vague(ROOT / place)) for place in (*PART_OF_A_TEXT, *PART_OF_LOG_P))


def test_all_ways_to_bind_a_name_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(
        "import os as found\n"
        "def made(given, *, own=1, **part): ...\n"
        "for each in (): ...\n"
        "x.found = 1\n"
        "try: ...\nexcept OSError as _given: ...\n"
        "match x:\n    case [*made]: ...\n    case {'a': own}: ...\n"
        "y = [part for part in x]\n"
    )
    names = [name for _, name in sorted(_vague(path))]
    assert sorted(names) == sorted(
        ["found", "made", "given", "own", "part", "each", "found", "_given", "made", "own", "part"]
    )
