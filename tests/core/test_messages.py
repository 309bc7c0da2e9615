"""Messages of the library name arguments; a command names its options in their place. Checks are in the library."""

import ast
import json
import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import momus
from momus.arguments import arg, as_options, options
from momus.cli.app import app
from momus.cli.help import options_of
from momus.comparison import read_comparison
from momus.engine.scoring import score_parts
from momus.errors import MomusError, UsageError
from momus.history.rules import Limit, Rules
from momus.joint.planning import plan
from momus.outliers.filtering import filter_text
from momus.processes import pool_of

ROOT = Path(__file__).parents[2]
ROOMS = [ROOT / "core/momus", ROOT / "critics", ROOT / "adapters", *ROOT.glob("examples/*/momus_*")]
OPTION = re.compile(r"(?<![\w-])--[a-z]")
FORMATTED = re.compile(r"(?<![\w(-])--$")
"""The end of a literal before the name of an option that is a variable."""
STYLES = {"page.py", "palette.py"}
"""Modules whose literals hold variables of style sheets."""


def literals(tree):
    """The strings of a module that are no docstrings."""
    docs = {
        id(body[0].value)
        for node in ast.walk(tree)
        for body in [getattr(node, "body", None)]
        if isinstance(body, list)
        for body in ([s] for s in body if isinstance(s, ast.Expr))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node


def test_no_message_outside_of_commands_names_an_option():
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value!r}"
        for room in ROOMS
        for path in sorted(room.rglob("*.py"))
        if "cli" not in path.parts and path.name not in {"command.py", *STYLES}
        for node in literals(ast.parse(path.read_text(encoding="utf-8")))
        if OPTION.search(node.value) or (node.value != "--" and FORMATTED.search(node.value))
    ]
    assert not named, "write arg('name'), see momus.arguments"


def command(name):
    return get_command(app).get_command(None, name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for name, word in (("fit", "sun"), ("real", "moon"), ("g", "star")):
        rows = [{"text": f"the {word} rose over hill number {i} " * (1 + i % 4)} for i in range(24)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "answers.jsonl").write_text('{"answer": "one text"}\n{"answer": "another"}\n' * 9, encoding="utf-8")
    texts = {name: str(folder / f"{name}.jsonl") for name in ("fit", "real", "g")}
    momus.compare(
        texts["real"], {"g": texts["g"]}, fit=texts["fit"], critics=["length"], out=folder / "run", permutations=99
    )
    return folder


def compared(folder, **wrong):
    real = None if "against" in wrong else str(folder / "real.jsonl")
    return momus.compare(real, {"g": str(folder / "g.jsonl")}, critics=["length"], **wrong)


COMPARE = ["compare", "-r", "real.jsonl", "-g", "g=g.jsonl", "-c", "length"]
WRONG = {
    "a chain without a reference": (lambda f: compared(f, chain=True), [*COMPARE, "--chain"]),
    "a chain of one version": (
        lambda f: compared(f, chain=True, against={"a": str(f / "real.jsonl")}),
        ["compare", "--against", "a=real.jsonl", "-g", "g=g.jsonl", "-c", "length", "--chain"],
    ),
    "folds without a reference": (lambda f: compared(f, folds=7), [*COMPARE, "--folds", "7"]),
    "resumed without a folder": (lambda f: compared(f, resume=True), [*COMPARE, "--resume"]),
    "overwritten without a folder": (lambda f: compared(f, overwrite=True), [*COMPARE, "--overwrite"]),
    "resumed and overwritten": (
        lambda f: compared(f, overwrite=True, resume=True, out=f / "run"),
        [*COMPARE, "--out", "run", "--overwrite", "--resume"],
    ),
    "a run that is there": (lambda f: compared(f, out="run"), [*COMPARE, "--out", "run"]),
    "no text": (
        lambda f: momus.compare(None, {"g": "g.jsonl"}, critics=["length"]),
        ["compare", "-g", "g=g.jsonl", "-c", "length"],
    ),
    "a register that is none": (lambda f: compared(f, register="x"), [*COMPARE, "--register", "x"]),
    "pairs where there are none": (lambda f: compared(f, paired=True), [*COMPARE, "--paired"]),
    "the output is an input": (lambda f: compared(f, out=f / "real.jsonl"), [*COMPARE, "-o", "real.jsonl"]),
    "rows resumed and overwritten": (
        lambda f: score_parts(["run"], ["g.jsonl"], "rows", resume=True, overwrite=True),
        ["score", "run", "g.jsonl", "-o", "rows", "--resume", "--overwrite"],
    ),
    "rows over their input": (
        lambda f: score_parts(["run"], ["g.jsonl"], "g.jsonl/rows"),
        ["score", "run", "g.jsonl", "-o", "g.jsonl/rows"],
    ),
    "an address without an engine": (
        lambda f: score_parts(["run"], ["g.jsonl"], "rows", address="h:1"),
        ["score", "run", "g.jsonl", "-o", "rows", "--address", "h:1"],
    ),
    "outputs of a filter that are one": (
        lambda f: filter_text(["g.jsonl"], ["run"], ["real.jsonl"], Path("a.jsonl"), Path("a.jsonl"), Path("s")),
        ["filter", "run", "g.jsonl", "-r", "real.jsonl", "--kept", "a.jsonl", "--dropped", "a.jsonl"],
    ),
    "an output of a filter without a name": (
        lambda f: filter_text(["g.jsonl"], ["run"], ["real.jsonl"], Path(), Path("a.jsonl"), Path("s")),
        ["filter", "run", "g.jsonl", "-r", "real.jsonl", "--kept", "", "--dropped", "a.jsonl"],
    ),
    "a power beyond 1": (
        lambda f: plan(read_comparison("run").verdicts, difference=0.2, power=2.0),
        ["plan", "run", "--difference", "0.2", "--power", "2"],
    ),
    "a limit that is no number": (lambda f: Limit.parse("length=x"), ["gate", "run", "--max", "length=x"]),
    "a requirement that is none": (lambda f: Rules(require=("x",)), ["gate", "run", "--require", "x"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_python_and_commands_refuse_the_same_in_the_same_words(case, folder, monkeypatch):
    call, words = WRONG[case]
    monkeypatch.chdir(folder)
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, MomusError), refused
    with pytest.raises(type(refused)) as plain:
        call(Path())
    assert not OPTION.search(str(plain.value))
    with as_options(options_of(command(words[0]))), pytest.raises(type(refused)) as spelled:
        call(Path())
    assert str(refused) == str(spelled.value)
    assert not options(), "a command that has ended leaves no options behind"


def test_an_error_in_a_worker_names_what_the_main_process_names():
    with as_options({"fit": "--fit"}), pool_of(1, print) as pool:
        assert pool.submit(arg, "fit").result() == "--fit"
    with pool_of(1, print) as pool:
        assert pool.submit(arg, "fit").result() == "fit="


def test_a_warning_names_what_its_reader_may_write(folder):
    with pytest.raises(MomusError, match=r"field='answer'"):
        momus.compare(folder / "answers.jsonl", {"g": folder / "g.jsonl"})
    with pytest.raises(UsageError, match=r"reading=ReadingOptions\(field=…\)"):
        compared(folder, field="answer")
    shown = CliRunner().invoke(app, ["compare", "-r", str(folder / "answers.jsonl"), "-g", f"g={folder / 'g.jsonl'}"])
    assert "--field answer" in str(shown.exception)
