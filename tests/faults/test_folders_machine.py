"""All commands that write, on one folder, with outputs and inputs that overlap at random.

A model knows what each file is: somebody's, or of the kind that a command wrote. After every step, whatever the
command said: nothing of anybody else's has changed, only what was asked for was written, and every folder that could be
read still can be, unless it was asked to be replaced.
"""

import functools
import io
import json
import os
import random
import shutil
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from simulated_raters import Truth, simulated_answers
from typer.main import get_command

from momus import load_critic, ownership, plugins
from momus.cli.app import app
from momus.errors import MomusError
from momus.files import write_json
from momus.rows.folder import RowFolder
from momus.rows.plan import Plan
from momus.runs.folder import RunFolder
from momus_people import read_study

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "ran", "all", "day", "rain", "fell"]
FEW = "--permutations 99 --resamples 99 --quiet --jobs 1 -c length"
PARTS = "--part-size 5 --jobs 1 --quiet"
TEMPLATE = (
    "fit length -f texts/fit.jsonl -o critic",
    f"compare -f texts/fit.jsonl -r texts/real.jsonl -g m=texts/gen.jsonl {FEW} -o run",
    f"score critic texts/real.jsonl -o rows {PARTS}",
    "study new run -r texts/real.jsonl -g m=texts/gen.jsonl --items 6 --raters 2 --judgements 1 --words 5 -o study",
    "score critic texts/gen.jsonl -o scores.csv",
)
STRANGERS = {
    "thesis.html": "<html>mine</html>",
    "thesis.csv": "mine,1\n",
    "thesis.jsonl": '{"mine": 1}\n',
    "thesis.json": '{"mine": 1}\n',
    "thesis.md": "# Mine\r\n",
    "work/gate.json": '{"mine": 1}\n',
    "run/notes.txt": "mine",
    "rows/parts/notes.txt": "mine",
    "critic/notes.txt": "mine",
    **{
        f"work/{name}/notes.txt": "mine" for name in ("parts", "records", "critics", "rows", "cells", ".next", "raters")
    },
}
INSIDE = (
    *(
        "texts",
        "texts/gen.jsonl",
        "texts/new.jsonl",
        "critic",
        "critic/critic.json",
        "critic/new",
        "run",
        "run/run.json",
    ),
    *(
        "run/report.html",
        "run/new.html",
        "run/pairs.jsonl",
        "run/critics/length",
        "run/rows",
        "run/figures",
        "run/.next",
    ),
    *(
        "rows",
        "rows/manifest.json",
        "rows/parts",
        "rows/parts/00000.parquet",
        "rows/critics/length",
        "rows/new",
        "study",
    ),
    *("study/key.json", "study/study.json", "study/raters", "study/raters/rater-1.html", "rater-1.json", "scores.csv"),
    *(name for name in STRANGERS if "/" not in name),
    *("work", "work/parts", "work/rows", "pipe.jsonl", "nowhere.jsonl", "link.html", "link", "to-texts", "to-run", "."),
)
NEW = ("new", "other", *(f"new.{suffix}" for suffix in ("html", "csv", "jsonl", "json", "md", "svg", "xml", "parquet")))


def out(*likely):
    """Where a command writes: in two of three cases a place that it can take, if nothing else is there yet."""
    good = st.sampled_from(likely)
    return st.one_of(good, good, st.sampled_from((*NEW, *INSIDE)))


FOLDER, TABLE, PAGE, LINES = (
    out("new", "other"),
    out("new.csv", "new.parquet"),
    out("new.html"),
    out("new.jsonl", "other.jsonl"),
)
TEXT = st.sampled_from(
    (
        *("texts/gen.jsonl", "texts/real.jsonl") * 3,
        "texts/gen.jsonl",
        "texts/real.jsonl",
        "texts",
        "texts/*.jsonl",
        "to-texts/gen.jsonl",
        "rows",
        "new",
        "new.jsonl",
    )
)
CRITIC = st.sampled_from(
    ("critic", "critic", "critic", "rows/critics/length", "run/critics/length", "run", "new", "rows")
)
RUN = st.sampled_from(("run", "run", "run", "to-run", "new", "other"))
MODE = st.sampled_from(("", "", "--overwrite", "--overwrite", "--resume"))


@functools.cache
def command_line():
    return get_command(app)


def call(line):
    """Run a command; whether it did its work. Any error but one in words is a failure."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            code = command_line().main(line.split(), prog_name="momus", standalone_mode=False)
        except (MomusError, click.ClickException, OSError):  # which the command line puts into words
            return False
        except SystemExit as end:
            code = end.code
    return not code


@functools.cache
def template():
    """A folder with texts, a critic, a run, rows, a study and its answers, a table, and files of somebody else."""
    folder = Path(tempfile.mkdtemp(prefix="momus-machine-"))
    here = Path.cwd()
    os.chdir(folder)
    try:
        Path("texts").mkdir()
        for name in ("fit", "real", "gen"):
            rng = random.Random(name)
            lines = [
                json.dumps({"id": f"{name}{i}", "text": " ".join(rng.choices(WORDS, k=rng.randint(5, 20)))})
                for i in range(24)
            ]
            Path("texts", f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows = [{"id": str(i), "section_names": ["a", "b"], "sections": ["one two", "three"]} for i in range(8)]
        Path("sections.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for line in TEMPLATE:
            assert call(line), line
        truth = Truth(effects={"real": 1.0, "m": 0.0})
        for answers in simulated_answers(read_study(Path("study")), truth, seed=1):
            write_json(Path(f"{answers['rater']}.json"), answers)
        for name, text in STRANGERS.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8", newline="")
        for name, target in (("link", "nowhere"), ("link.html", "thesis.html"), ("nowhere.jsonl", "nowhere")):
            Path(name).symlink_to(target)
        Path("to-texts").symlink_to("texts")
        Path("to-run").symlink_to("run")
        os.mkfifo("pipe.jsonl")
    finally:
        os.chdir(here)
    return folder


def seen():
    """What a look at each file, link and pipe tells of it: it changes whenever somebody writes there."""
    found = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            found[path[2:]] = status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns
    for name in ("to-texts", "to-run", "link"):
        found[name] = os.readlink(name), 0, 0, 0
    return found


def readable(folder):
    """Whether a folder of Momus can be read; None if it is none."""
    kind = ownership.kind_of(folder)
    try:
        if kind is ownership.CRITIC:
            load_critic(folder)
        elif kind is ownership.STUDY:
            read_study(folder)
        elif kind is ownership.ROWS:
            plan, rows = Plan.read(folder / "manifest.json"), RowFolder(folder)
            for part in range(len(plan)):
                rows.check_rows(part, rows.finished(part, plan.belongs(part)) or {"rows": {"sha256": ""}})
        elif kind is ownership.RUN:
            run = RunFolder(folder)
            run.results([critic["name"] for critic in run.read_run()["critics"]])
            run.read_verdicts()
        else:
            return None
    except MomusError:
        return False
    return True


def recorded(name):
    """The output that a hidden file is the record of; of others, their own name."""
    folder, file = os.path.split(name)
    return os.path.join(folder, file[1:-6]) if file.startswith(".") and file[1:].endswith(".momus") else name


COUNTS: Counter[str] = Counter()


class Folders(RuleBasedStateMachine):
    """The commands as rules; `kinds` is the model: what wrote each file that is not somebody's."""

    @initialize()
    def begin(self):
        self.before = Path.cwd()
        self.root = Path(tempfile.mkdtemp(prefix="momus-machine-"))
        os.rmdir(self.root)
        shutil.copytree(template(), self.root, symlinks=True, copy_function=self._copy)
        os.chdir(self.root)
        self.files, self.tried, self.refused = seen(), Counter(), set()
        self.kinds = {"scores.csv": "table"}
        self.theirs = {*STRANGERS, *(n for n in self.files if n.startswith(("texts/", "sections", "rater-")))}
        self.read = dict.fromkeys(("critic", "run", "rows", "study", "run/critics/length", "rows/critics/length"), True)

    @staticmethod
    def _copy(source, target):
        if os.path.isfile(source):
            return shutil.copy2(source, target)
        return os.mkfifo(target)

    def teardown(self):
        if hasattr(self, "root"):
            os.chdir(self.before)
            shutil.rmtree(self.root)

    def step(self, line, kind, *asked, beside=(), over=()):
        """Run a command that may write ``asked`` as files of a kind, or as folders, and files ``beside`` these.

        It may replace files of its own kind, and those of the kinds ``over``.

        A command that was refused is not run again, nor counted, while all files are as they were then.
        """
        if line in self.refused:
            return
        done = call(line)
        self.tried[kind] += 1
        COUNTS["steps"] += 1
        COUNTS["done" if done else "refused"] += 1
        COUNTS[line.split()[0] + (" done" if done else " refused")] += 1
        files = seen()
        changed = {name for name in {*files, *self.files} if files.get(name) != self.files.get(name)}
        roots = {os.path.relpath(os.path.realpath(a), self.root.resolve()): a for a in (*asked, *beside)}
        folders = {r for r in roots if self.kinds.get(r, kind) == kind or os.path.isdir(r)}
        for name in sorted(changed):
            of = recorded(name)
            under = [r for r in roots if of == r or of.startswith(f"{r}/") or r == "."]
            assert under, f"{line}: changed {name}, which nobody asked for"
            assert name not in self.theirs, f"{line}: changed {name}, which is somebody's"
            if name in self.files and name in roots and self.files[name][2]:  # an empty file is nobody's loss
                copies = "--overwrite" in line and self.kinds.get(name) == "records"  # which have any format
                assert self.kinds.get(name) in (kind, *over) or copies, (
                    f"{line}: replaced {name}, a {self.kinds.get(name, 'file of somebody')}"
                )
            if name in self.files and name not in files:
                assert under, f"{line}: deleted {name}"
        for name in roots:
            if name in changed and name in files:
                self.kinds[name] = kind
        for name in {*self.read, *(r for r in folders if os.path.isdir(r))}:
            if not any(c.startswith(f"{name}/") or name == "." for c in changed):
                continue
            now = readable(Path(name))
            asked = any(name == r or name.startswith(f"{r}/") for r in roots) and "--overwrite" in line
            partly = not done or now is None
            assert now or not self.read.get(name) or (asked and partly), f"{line}: {name} can no longer be read"
            if now is not None:
                self.read[name] = now
        assert not [name for name in files if name.endswith(".part")], f"{line}: a temporary file stays"
        self.refused = self.refused | {line} if not changed else set()
        self.files = files

    @rule(name=st.sampled_from(NEW))
    def tidy(self, name):
        """The user deletes an output, which makes room for others: no step of a command."""
        if os.path.isdir(name):
            shutil.rmtree(name)
        elif os.path.exists(name):
            os.unlink(name)
        else:
            return
        gone = [n for known in (self.kinds, self.read) for n in known if n == name or n.startswith(f"{name}/")]
        for n in gone:
            self.kinds.pop(n, None)
            self.read.pop(n, None)
        self.files, self.refused = seen(), set()

    @rule(text=TEXT, out=FOLDER, mode=st.sampled_from(("", "--overwrite")))
    def fit(self, text, out, mode):
        self.step(f"fit length -f {text} -o {out} {mode}", "critic", out)

    @rule(critic=CRITIC, text=TEXT, out=TABLE)
    def score(self, critic, text, out):
        if out.endswith((".csv", ".jsonl", ".parquet")):
            self.step(f"score {critic} {text} -o {out}", "table", out)

    @rule(critic=CRITIC, text=TEXT, out=FOLDER, mode=MODE)
    def score_parts(self, critic, text, out, mode):
        self.step(f"score {critic} {text} -o {out} {PARTS} {mode}", "rows", out)

    @rule(real=TEXT, generated=TEXT, out=FOLDER, mode=MODE, fitted=st.booleans())
    def compare(self, real, generated, out, mode, fitted):
        how = f"-f texts/fit.jsonl {FEW}" if fitted else FEW
        self.step(f"compare -r {real} -g m={generated} {how} -o {out} {mode}", "run", out)

    @rule(run=RUN, out=PAGE)
    def report(self, run, out):
        self.step(f"show {run} --html -o {out}", "report", out)

    @rule(run=RUN)
    @precondition(lambda self: self.tried["report"] < 4)
    def report_in_place(self, run):
        self.kinds |= {f"{name}/report.html": "report" for name in ("run", "new", "other")}
        self.step(f"show {run} --html", "report", f"{run}/report.html")

    @rule(run=RUN, out=FOLDER)
    @precondition(lambda self: self.tried["figures"] < 2)  # they take longest
    def figures(self, run, out):
        self.step(f"figures {run} -o {out} --format svg", "figures", out)

    @rule(run=RUN, junit=out("new.xml"), state=out("new.json", "other.json"))
    def gate(self, run, junit, state):
        known = dict(self.kinds)
        self.kinds[state] = self.kinds.get(state, "") if os.path.lexists(state) else "looks"
        both = {junit: "junit", state: "looks"}
        self.step_of_two(f"gate {run} --max 9 --junit {junit} --sequential {state}", both, known)

    def step_of_two(self, line, kinds, known):
        """As `step`, for outputs of several kinds: each file that is replaced must have been of its own."""
        before = self.files
        self.kinds = {**known, **{name: "both" for name, kind in kinds.items() if known.get(name) == kind}}
        self.step(line, "both", *kinds)
        for name in kinds:
            if self.kinds.get(name) == "both":
                self.kinds[name] = kinds[name]
        assert all(
            name not in before
            or not before[name][2]
            or known.get(name) in (None, kinds.get(name))
            or self.files.get(name) == before[name]
            for name in kinds
        )

    @rule(text=st.one_of(st.just("sections.jsonl"), TEXT), out=LINES, mode=st.sampled_from(("", "--overwrite")))
    def prepare(self, text, out, mode):
        self.step(f"prepare {text} -o {out} {mode} --least-sections 1", "prepared", out)

    @rule(text=TEXT, out=FOLDER)
    def calibrate(self, text, out):
        self.step(
            f"calibrate -r {text} -f texts/fit.jsonl -c length --defects none --splits 20 --permutations 99 -o {out}",
            "calibration",
            out,
        )

    @rule(run=RUN, text=TEXT, out=FOLDER)
    def study_new(self, run, text, out):
        few = "--items 6 --raters 2 --judgements 1 --words 5"
        self.step(f"study new {run} -r {text} -g m=texts/gen.jsonl {few} -o {out}", "study", out)

    @rule(study=st.sampled_from(("study", "new")), out=out("new.json"))
    def study_read(self, study, out):
        self.step(f"study read {study} rater-1.json rater-2.json -o {out}", "result", out)

    @rule(out=FOLDER)
    @precondition(lambda self: "package" not in self.tried)
    def new_critic(self, out):
        self.step(f"critics new some-thing -o {out}", "package", out)


def walk(least, number=0):
    """Run the machine, from another seed for each ``number``, until it has taken so many steps; how many."""
    COUNTS.clear()
    how = settings(
        max_examples=1 if least < 50 else 10,
        stateful_step_count=min(least, 50),
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    # no distribution is installed meanwhile: to describe plug-ins anew takes long
    with patch.object(plugins.Plugin, "of_entry", functools.cache(plugins.Plugin.of_entry)):
        for part in range(50):
            run_state_machine_as_test(seed(1000 * number + part)(type("Walk", (Folders,), {})), settings=how)
            if COUNTS["steps"] >= least:
                break
    return COUNTS["steps"]


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")


@pytest.mark.slow
@needs_pipes
def test_a_short_walk_over_all_commands_that_write():
    assert walk(25) >= 25


@needs_pipes
@pytest.mark.slow
@pytest.mark.parametrize("number", range(25))
def test_ten_thousand_steps(number, record_property):
    taken = walk(400, number)
    record_property("steps", taken)
    print(json.dumps(dict(sorted(COUNTS.items()))))
    assert taken >= 400
    assert COUNTS["done"] >= 80, "most overlaps are refused, but commands do their work too"
