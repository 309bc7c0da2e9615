"""What is not byte for byte of Momus' making is somebody's: every place that a command writes to, in one table.

Each file is first somebody's, then a copy of what Momus writes, then Momus' own, then Momus' own with an edit.
"""

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from simulated_raters import Truth, simulated_answers
from typer.main import get_command

from momus.cli.app import app
from momus.errors import MomusError
from momus.files import write_json
from momus_people import read_study

COMMAND = get_command(app)
FEW = "--permutations 99 --resamples 99 --quiet -c length"
COMPARE = f"compare -f texts/fit.jsonl -r texts/real.jsonl -g m=texts/gen.jsonl {FEW} -o run"
STUDY = "study new run -r texts/real.jsonl -g m=texts/gen.jsonl --items 6 --raters 2 --judgements 1 --words 5 -o study"
FILTER = (
    "filter critic texts/gen.jsonl -r texts/real.jsonl --kept keep.jsonl --dropped drop.jsonl --fdr 0.5 --jobs 1 "
    "--overwrite --quiet"
)
CALIBRATE = "calibrate -r texts/real.jsonl -c length --defects none --splits 20 --permutations 99 -o rates"


@dataclass(frozen=True)
class Case:
    """A command, the options by which it is told where to write, and some of the files that it writes there."""

    command: str
    options: tuple[str, ...]
    files: tuple[str, ...]
    begun: str = ""
    """What makes a folder of Momus, in which a stranger's file can be."""


FIT = "fit length -f texts/fit.jsonl -o new --overwrite"
REVIEW = "review texts/gen.jsonl --body human.jsonl -c length --level 0.3 --save body --overwrite --sarif s.json -q"
FIGURES = tuple(f"drawn/overview.{suffix}" for suffix in ("csv", "svg", "png", "pdf"))
RATES = tuple(f"rates/{name}" for name in ("calibration.csv", "calibration.json"))
OF_RUN = ("run/verdicts.jsonl", "run/report.html", "run/critics/length/critic.json")
SCORE = "score critic texts/gen.jsonl -o rows"
CASES = (
    Case(f"{SCORE}.csv", ("score --out",), ("rows.csv",)),
    Case(f"{SCORE}.parquet", ("score --out",), ("rows.parquet",)),
    Case(f"{SCORE}.jsonl", ("score --out",), ("rows.jsonl",)),
    Case("show run --html -o page.html", ("show --out",), ("page.html",)),
    Case("show run --html", (), ("run/report.html",)),
    Case("figures run -o drawn --format svg,png,pdf", ("figures --out",), FIGURES),
    Case("gate run --max 9 --junit gate.xml", ("gate --junit",), ("gate.xml",)),
    Case("gate run --max 9 --sarif gate.sarif", ("gate --sarif",), ("gate.sarif",)),
    Case("gate run --max 9 --sequential looks.json", ("gate --sequential",), ("looks.json",)),
    Case("prepare sections.jsonl -o p.jsonl --overwrite --least-sections 1", ("prepare --out",), ("p.jsonl",)),
    Case(FILTER, ("filter --kept", "filter --dropped"), ("keep.jsonl", "drop.jsonl")),
    Case("study read study rater-1.json rater-2.json -o result.json", ("study read --out",), ("result.json",)),
    Case(CALIBRATE, ("calibrate --out",), RATES, CALIBRATE),
    Case(FIT, ("fit --out",), ("new/critic.json", "new/arrays.safetensors")),
    Case(
        REVIEW,
        ("review --save", "review --sarif"),
        ("s.json", "body/held-out.parquet", "body/human/length/critic.json"),
    ),
    Case(f"{COMPARE} --overwrite", ("compare --out", "demo --out"), OF_RUN),
)
FOLDERS = {"study new --out", "critics new --out", "ask --out"}
"""Options for folders and files that must be new or empty."""
PARTS = {"filter --scores"}
"""Folders of rows: files that Momus did not write stay among them, see `test_data_kept.py`."""
READ = {
    *("config", "rules", "reuse", "against", "trust", "fit"),
}
"""Options for paths that are read."""


def call(line):
    """The error of a command, or None if it did its work."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            COMMAND.main(line.split(), prog_name="momus", standalone_mode=False)
        except MomusError as error:
            return error
    return None


@pytest.fixture(scope="module")
def made(texts, tmp_path_factory):
    """A folder with texts, a critic, a run, and a study with the answers of its raters."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(texts, folder / "texts")
    rows = [{"id": str(i), "section_names": ["a", "b"], "sections": ["one two", "three"]} for i in range(8)]
    human = [{"text": " ".join(["word"] * (20 + i % 9))} for i in range(80)]
    (folder / "human.jsonl").write_text("".join(json.dumps(row) + "\n" for row in human), encoding="utf-8")
    (folder / "sections.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in ("fit length -f texts/fit.jsonl -o critic", COMPARE, STUDY):
            assert call(line) is None, line
        truth = Truth(effects={"real": 1.0, "m": 0.0})
        for answers in simulated_answers(read_study(Path("study")), truth, seed=1):
            write_json(Path(f"{answers['rater']}.json"), answers)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of all that, as the working folder."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def edits(path):
    """What a person may do to a file: a letter, a byte of theirs at the beginning, white space at the end."""
    content = path.read_bytes()
    yield content.replace(b"0", b"1", 1) if b"0" in content else content[1:]
    yield b"mine\n" + content
    if path.name != "looks.json":  # it travels between machines: a seal inside covers its content, not white space
        yield content + b"\n"
        yield content[:-1]


def refused(case, path):
    """Run a command that must leave a file as it is, and say so."""
    before = path.read_bytes()
    error = call(case.command)
    assert error is not None, f"{case.command} replaced {path}"
    assert error.hint
    assert path.read_bytes() == before, f"{case.command} changed {path}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command.split()[0]} {case.files[0]}")
def test_only_what_momus_wrote_is_replaced(case, here):
    if case.begun:
        assert call(case.begun) is None
    paths = [here / name for name in case.files]
    there = [path for path in paths if path.exists()]
    for path in paths:
        kept = path.read_bytes() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine\n")
        refused(case, path)
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
    assert call(case.command) is None
    assert call(case.command) is None, "what Momus wrote is replaced"
    for path in paths:
        own = path.read_bytes()
        for edited in filter(None, list(edits(path))):
            path.write_bytes(edited)
            refused(case, path)
        path.write_bytes(own)
    assert call(case.command) is None, "as it was written, it is Momus' own again"
    assert len(there) in (0, len(paths))


def test_a_copy_of_what_momus_writes_is_somebodys(here):
    assert call("show run --html -o page.html") is None
    assert call("score critic texts/gen.jsonl -o rows.parquet") is None
    for source, line in (
        ("page.html", "show run --html -o copy.html"),
        ("run/documents.parquet", "score critic texts/gen.jsonl -o copy.parquet"),
        ("rows.parquet", "score critic texts/gen.jsonl -o other.parquet"),
    ):
        copy = here / line.split()[-1]
        shutil.copy(here / source, copy)
        refused(Case(line, (), ()), copy)


def test_an_output_of_another_command_is_not_replaced(here):
    assert call("prepare sections.jsonl -o a.jsonl --overwrite --least-sections 1") is None
    refused(Case("score critic texts/gen.jsonl -o a.jsonl", (), ()), here / "a.jsonl")
    assert call("gate run --max 9 --junit page.html") is None
    refused(Case("show run --html -o page.html", (), ()), here / "page.html")


def test_suites_of_another_tool_in_junit_stay(here):
    gate = Case("gate run --max 9 --junit gate.xml", (), ())
    assert call(gate.command) is None
    content = (here / "gate.xml").read_bytes()
    (here / "gate.xml").write_bytes(content.replace(b"</testsuites>", b'<testsuite name="pytest"/></testsuites>'))
    refused(gate, here / "gate.xml")


@pytest.mark.parametrize("place", [".ready", ".next", ".next/critics/length", ".ready/critics"])
def test_notes_in_the_hidden_folders_of_a_run_stay(place, here):
    notes = here / "run" / place / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine", encoding="utf-8")
    for line in ("show run", "outliers run", "gate run --max 9"):
        assert call(line) is None
        assert notes.read_text(encoding="utf-8") == "mine"
    refused(Case(f"{COMPARE} --overwrite", (), ()), notes)
    if place.startswith(".next"):
        (here / "run" / ".next" / ".momus").write_text("run", encoding="utf-8")  # as of a run that was begun
        refused(Case(f"{COMPARE} --overwrite", (), ()), notes)


def test_notes_in_a_publication_that_was_interrupted_stay(here):
    run, ready = here / "run", here / "run" / ".ready"
    names = [*json.loads((run / "manifest.json").read_bytes())["files"], "manifest.json"]
    for name in names:
        (ready / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(run / name, ready / name)
    (ready / ".momus").write_text("run", encoding="utf-8")
    for name in ("notes.txt", "critics/notes.txt"):
        (ready / name).write_text("mine", encoding="utf-8")
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("also mine", encoding="utf-8")
    assert call("show run") is None
    for name in ("notes.txt", "critics/notes.txt"):
        assert (ready / name).read_text(encoding="utf-8") == "mine"
        assert (run / name).read_text(encoding="utf-8") == "also mine"
    assert call("show run") is None


def options(command, *names):
    """(command and option, name of the option) of all options for paths."""
    if hasattr(command, "list_commands"):
        context = command.context_class(command)
        for name in command.list_commands(context):
            yield from options(command.get_command(context, name), *names, name)
    for parameter in command.params:
        if parameter.param_type_name == "option" and "Path" in repr(parameter.type_descriptor):
            longest = max(parameter.opts, key=len)
            yield " ".join((*names, longest)), longest.removeprefix("--")


def test_the_table_names_every_option_for_an_output():
    known = {option for case in CASES for option in case.options} | FOLDERS | PARTS
    found = dict(options(COMMAND))
    assert {name for name, option in found.items() if option not in READ} - known == set()
    assert known - set(found) - FOLDERS == set()
