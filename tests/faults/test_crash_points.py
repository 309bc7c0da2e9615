"""Every command is killed at each of its writes: it then resumes to the same result, and readers show whole results.

The states are those of `crashes.py`; the default run tries some of each command, the slow run all.
"""

import functools
import importlib.util
import io
import json
import shutil
import sys
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

_spec = importlib.util.spec_from_file_location("faults_crashes", Path(__file__).with_name("crashes.py"))
assert _spec is not None
assert _spec.loader is not None
crashes = importlib.util.module_from_spec(_spec)
sys.modules["faults_crashes"] = crashes
_spec.loader.exec_module(crashes)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved")

FEW = "--permutations 99 --resamples 99 --quiet -c length"
COMPARE = f"compare -f T/fit.jsonl -r T/real.jsonl -g m=T/gen.jsonl {FEW} -o R/run"
OTHER = f"compare -f T/fit.jsonl -r T/real.jsonl -g m=T/fit.jsonl {FEW} -o R/run"
FIT = "fit length -f T/fit.jsonl -o R/critic"
SCORED = "score R/critic T/gen.jsonl"
CALIBRATE = (
    "calibrate -f T/fit.jsonl -r T/real.jsonl -c length --defects none --splits 20 --permutations 99 -o R/folder"
)
STUDY = "study new D/run -r T/real.jsonl -g m=T/gen.jsonl --items 6 --raters 2 --judgements 1 --words 5"
PARTS = "score D/critic T/gen.jsonl -o R/parts --part-size 5 --quiet"
FROM_ROWS = "compare -r D/parts-of-real -g m=D/parts-of-m --permutations 99 --resamples 99 --quiet -o R/run"
TIMES = ("started", "seconds", "command", "set_at")
RUN_READERS = (
    "show R/run --all --json",
    "outliers R/run --json",
    "diff R/run D/run --json",
    "plan R/run --difference 0.5",
)


@dataclass(frozen=True)
class Case:
    """A command: what stood there before, how it is run again, and what reads its result.

    R is the folder that it writes to, T holds texts, D a finished run and a fitted critic.
    """

    command: str
    again: str
    before: str = ""
    readers: tuple[str, ...] = ()
    rewritten: bool = True
    """Whether running again gives the same bytes, so that files are compared; else what readers show."""
    once: bool = False
    """Whether a finished result is refused, and not written again."""
    always: bool = False
    """Whether readers show a whole result at every moment, and do not even refuse."""


CASES = {
    "fit": Case(FIT, f"{FIT} --overwrite", readers=(SCORED,)),
    "fit over another": Case(
        f"{FIT} --overwrite",
        "",
        before=FIT.replace("fit.jsonl", "real.jsonl"),
        readers=(SCORED,),
        always=True,
    ),
    "fit over another critic": Case(
        f"{FIT} --overwrite",
        "",
        before=FIT.replace("length", "unigram"),
        readers=(SCORED,),
        always=True,
    ),
    "fit in parts": Case(f"{FIT} --jobs 1", f"{FIT} --jobs 1 --overwrite", readers=(SCORED,)),
    "filter": Case(
        "filter D/critic T/gen.jsonl -r T/real.jsonl --kept R/keep.jsonl --dropped R/drop.jsonl --fdr 0.5 --jobs 1 "
        "--overwrite --quiet",
        "",
    ),
    "score": Case("score D/critic T/gen.jsonl -o R/rows.parquet", ""),
    "score csv": Case(
        "score D/critic T/gen.jsonl -o R/rows.csv", "", before="score D/critic T/fit.jsonl -o R/rows.csv"
    ),
    "prepare": Case(
        "prepare T/sections.jsonl -o R/a.jsonl --overwrite --fewest-tokens 1 --least-documents 1 --least-sections 2",
        "",
        readers=("fit length -f R/a.jsonl -o D/scratch",),
    ),
    "generate": Case(
        "generate 2-gram --fit T/fit.jsonl -n 5 -o R/a.jsonl",
        "generate 2-gram --fit T/fit.jsonl -n 5 -o R/a.jsonl --resume",
    ),
    "calibrate": Case(CALIBRATE, ""),
    "calibrate more": Case(CALIBRATE.replace("splits 20", "splits 30"), "", before=CALIBRATE),
    "compare": Case(COMPARE, f"{COMPARE} --resume", readers=RUN_READERS, rewritten=False),
    "compare over another": Case(
        f"{COMPARE} --overwrite", f"{COMPARE} --overwrite", before=OTHER, readers=RUN_READERS, rewritten=False
    ),
    "compare resumed": Case(
        f"{COMPARE} --resume", f"{COMPARE} --resume", before=OTHER, readers=RUN_READERS, rewritten=False
    ),
    "report": Case("show D/run --html -o R/page.html", ""),
    "figures": Case("figures D/run -o R/figures --format svg", ""),
    "gate": Case("gate D/run --max 9 --junit R/gate.xml --sequential R/looks.json", ""),
    "study new": Case(
        f"{STUDY} -o R/study", "", readers=("study read R/study D/rater-1.json D/rater-2.json --json",), once=True
    ),
    "study read": Case("study read D/study D/rater-1.json D/rater-2.json -o R/study.json", ""),
    "score in parts": Case(
        PARTS,
        f"{PARTS} --resume",
        readers=(f"{FROM_ROWS.replace('D/parts-of-m', 'R/parts').replace('-o R/run', '--no-out')} --json",),
    ),
    "compare from parts": Case(
        FROM_ROWS, f"{FROM_ROWS} --overwrite", readers=("show R/run --all --json",), rewritten=False
    ),
}


@functools.cache
def command_line():
    """The whole command, made once: Typer takes longer over it than most commands run."""
    return get_command(app)


QUICK = (
    "fit over another",
    "fit over another critic",
    "score csv",
    "generate",
    "calibrate more",
    "compare over another",
)
"""The cases of the default run: one for each way of writing."""


def run(words):
    """Run the command: its output, or None if it was refused with words."""
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()):
        try:
            command_line().main(words, prog_name="momus", standalone_mode=False)
        except MomusError:  # words, by the type
            return None
    return _timeless(output.getvalue())


def _timeless(output):
    """JSON without what two runs of one command do not share; other output as it is."""
    try:
        return _without_times(json.loads(output))
    except ValueError:
        return output


def _without_times(value):
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):  # and without the note that a critic was computed again, which a resumed run may lack
        return [_without_times(v) for v in value if not (isinstance(v, str) and " was computed again: " in v)]
    return value


def contents(root):
    """All files of a folder by name, but those of locks, and the times within."""
    files = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        if path.name.removeprefix(".").removesuffix(".momus") != "calibration.json":
            files[path.relative_to(root).as_posix()] = path.read_bytes()
        elif path.name == "calibration.json":
            kept = json.loads(path.read_bytes())
            files["calibration.json"] = {k: v for k, v in kept.items() if k != "signature"}
    return files


@dataclass(frozen=True)
class Place:
    """A folder with the folders T, D and R of the command lines."""

    folder: Path

    @property
    def paths(self):
        """The folders by letter."""
        return {"T": self.folder / "texts", "D": self.folder / "done", "R": self.folder / "root"}

    @classmethod
    def made(cls, folder, texts):
        """Fill T with texts, and D with two runs and a critic."""
        place = cls(folder)
        shutil.copytree(texts, place.paths["T"])
        lines = (texts / "fit.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [{"id": str(i), "section_names": ["a", "b"], "sections": [t, t[::-1]]} for i, t in enumerate(lines)]
        sections = "".join(json.dumps(row) + "\n" for row in rows)
        (place.paths["T"] / "sections.jsonl").write_text(sections, encoding="utf-8")
        fit = "fit length -f T/fit.jsonl -o D/critic"
        for command in (COMPARE.replace("R/run", "D/run"), OTHER.replace("R/run", "D/other"), fit):
            assert run(place.words(command)) is not None
        return place

    def words(self, command):
        """A command line with the folders put in."""
        words = command.split()
        for letter, path in self.paths.items():
            words = [str(path) if w == letter else w.replace(f"{letter}/", f"{path}/") for w in words]
        return words

    def more(self):
        """Add parts of both texts, a study of the run, and the answers of its raters."""
        parts = PARTS.replace("R/parts", "D/parts-of-m")
        commands = (parts, parts.replace("gen", "real").replace("-of-m", "-of-real"), f"{STUDY} -o D/study")
        for command in commands:
            assert run(self.words(command)) is not None
        done = self.paths["D"]
        truth = Truth(effects={"real": 1.0, "m": 0.0})
        for answers in simulated_answers(read_study(done / "study"), truth, seed=1):
            write_json(done / f"{answers['rater']}.json", answers)
        return self


@pytest.fixture(scope="module")
def more(place):
    """A place for commands that read what other commands wrote."""
    return place.more()


@pytest.fixture(scope="module")
def place(texts, tmp_path_factory):
    """A place for all tests."""
    return Place.made(tmp_path_factory.mktemp("crashes"), texts)


def seen(case, place):
    """What each reader shows; None for one that refuses."""
    return [run(place.words(reader)) for reader in case.readers]


def crash(name, place, copies, most):
    """Kill one command in all states, or in ``most`` of them, and check each; return the number of states tried."""
    case = CASES[name]
    root = place.paths["R"]
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    shown = []
    if case.before:
        assert run(place.words(case.before)) is not None
        shown.append(seen(case, place))
    with crashes.copied(root, copies) as states:
        assert run(place.words(case.command)) is not None
    whole = contents(root)
    shown.append(seen(case, place))
    assert None not in shown[-1], "readers read a finished result"
    chosen = states if most is None else states[:: max(1, len(states) // most)]
    for state in chosen:
        what = f"{name}: killed before {state.moment}, {state.torn or 'nothing'} half written"
        state.restore(root)
        for i, output in enumerate(seen(case, place)):
            refused = output is None and not case.always
            assert refused or output in [s[i] for s in shown], f"{what}: {case.readers[i]} shows another result"
        state.restore(root)  # a reader may have finished a publication
        if not (case.once and contents(root) == whole):
            assert run(place.words(case.again or case.command)) is not None, f"{what}: it cannot be run again"
        assert seen(case, place) == shown[-1], f"{what}: another result after it was run again"
        if case.rewritten:
            assert contents(root) == whole, f"{what}: other files after it was run again"
        left = [p for p in root.rglob("*") if p.name.endswith(".part")]
        assert left == [], f"{what}: a temporary file stays"
    return len(chosen)


@pytest.mark.parametrize("name", QUICK)
def test_killed_at_some_writes(name, place, tmp_path):
    assert crash(name, place, tmp_path, 2) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_killed_at_every_write(name, more, tmp_path, record_property):
    tried = crash(name, more, tmp_path, None)
    record_property("states", tried)
    print(f"{name}: {tried} states")
    assert tried >= 3
