"""A critic that fails: an error with its line where it was asked for, left out with a reason where it was not."""

import errno
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

import momus
from momus.calibration.calibrate import calibrate
from momus.cli.app import app
from momus.critic import registry
from momus.critic.registry import make_critics
from momus.engine.scoring import score_parts
from momus.errors import CriticError, FittingError, PluginError, StoreError, UsageError
from momus.outliers.filtering import filter_text
from momus.progress import Silent

SOURCE = '''
"""A critic of letters that fails where its parameter says."""
import os
import sys
import numpy as np
import momus
from momus.critic import EvidenceMixin, StatisticsMixin
from momus.critic.hooks import AdvancedMixin
from momus.estimator import parametrized


@parametrized
class Failing(momus.Critic[momus.Values], StatisticsMixin, EvidenceMixin, AdvancedMixin):
    """Number of letters."""

    name = "failing"
    axis = "letters"
    where: str = ""
    how: str = "raise"

    def fail(self, place):
        if self.where == place and self.how == "raise":
            raise ValueError("there are no letters")  # the line
        if self.where == place:
            {"exit": sys.exit, "_exit": os._exit}[self.how](0)

    def fit(self, real):
        print("fitting")
        self.fail("fit")
        self.mean_ = float(self.project(real).values.mean())
        return self

    def project(self, batch):
        if hasattr(self, "mean_"):
            self.fail("project")
        return momus.Values(np.array([float(len(d.text)) for d in batch]))

    def log_prior(self, z):
        self.fail("log_prior")
        return momus.LogPrior.of_vectors(-abs(z.values - self.mean_) / 10 - np.log(20))

    def sufficient_statistics(self, z):
        self.fail("sufficient_statistics")
        return {"letters": np.column_stack([z.values, np.ones(len(z))])}

    def statistics(self):
        return [momus.Statistic("letters", "letters", "value", self.mean_of)]

    def mean_of(self, rows):
        self.fail("statistics")
        return rows[:, 0] / rows[:, 1]

    def unscored(self, batch):
        self.fail("unscored")
        return [None] * len(batch)

    def evidence(self, real, generated):
        self.fail("evidence")
        return []

    def notes(self):
        self.fail("notes")
        return []

    def settle(self, texts):
        self.fail("settle")
        return False
'''
LINE = 1 + SOURCE.split("\n").index('            raise ValueError("there are no letters")  # the line')
PLACES = (
    "fit", "project", "log_prior", "sufficient_statistics", "statistics", "unscored", "evidence", "notes", "settle",
)  # fmt: skip
QUICK = {"permutations": 99, "resamples": 99, "reporter": Silent()}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Have the failing critic and length as all critics; return where the former is."""
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    monkeypatch.setattr(registry, "_LOCATED", {})
    location = f"{file}:Failing"
    registry.named(location)
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["failing", "length"])
    return location


def assert_left_out(run, words="there are no letters"):
    assert [r.name for r in run.results] == ["length"]
    (warning,) = (w for w in run.warnings if "'failing'" in w)
    assert words in warning
    assert f"mine.py:{LINE}" in warning or words != "there are no letters"


def arguments(written, where, how="raise", sizes=(40, 30, 30), **labels):
    return {**QUICK, **written(sizes, **labels), "config": {"failing": {"where": where, "how": how}}}


@pytest.mark.parametrize("where", PLACES)
def test_a_critic_that_fails_is_left_out_unless_it_was_asked_for(mine, written, where):
    given = arguments(written, where)
    assert_left_out(momus.compare(**given))
    with pytest.raises(CriticError, match="there are no letters") as caught:
        momus.compare(**given, critics=[mine])
    assert caught.value.exit_code == 4
    assert f"mine.py:{LINE}" in caught.value.message


@pytest.mark.parametrize("how", ["exit", "_exit"])
@pytest.mark.parametrize("where", ["fit", "project"])
def test_a_critic_cannot_end_the_program(mine, written, where, how):
    given = arguments(written, where, how)
    assert_left_out(momus.compare(**given), "tries to end the program (exit code 0)")
    with pytest.raises(CriticError, match="tries to end the program"):
        momus.compare(**given, critics=[mine])


@pytest.mark.parametrize("how", ["raise", pytest.param("exit", marks=pytest.mark.slow), "_exit"])
def test_so_in_several_processes(mine, written, how):
    words = "there are no letters" if how == "raise" else "tries to end the program (exit code 0)"
    assert_left_out(momus.compare(**arguments(written, "project", how), jobs=2), words)


@pytest.mark.parametrize(
    ("where", "jobs"),
    [
        ("fit", 1),
        ("project", 1),
        *(pytest.param(w, n, marks=pytest.mark.slow) for w, n in [("settle", 1), ("statistics", 1), ("project", 2)]),
    ],
)
def test_so_in_parts(mine, written, in_parts, tmp_path, where, jobs):
    given = arguments(written, where)
    in_parts()
    assert_left_out(momus.compare(**given, out=tmp_path / "run", jobs=jobs))
    with pytest.raises(CriticError, match="there are no letters"):
        momus.compare(**given, critics=[mine], jobs=jobs)


@pytest.mark.parametrize("where", ["fit", "log_prior"])
def test_so_in_a_comparison_with_text_of_a_model(mine, written, where):
    given = arguments(written, where, prompts=15)
    del given["fit"]
    given["against"] = {"old": given.pop("real")}
    assert_left_out(momus.compare(**given))


@pytest.mark.parametrize("where", ["fit", "log_prior"])
def test_so_in_a_calibration(mine, written, where):
    texts = written((60, 50, 30))
    options = {"splits": 100, "power_splits": 20, "defects": [], "reporter": Silent(), "fit": texts["fit"]}
    config = {"failing": {"where": where}}
    calibration = calibrate(texts["real"], config=config, **options)
    assert {cell.critic for cell in calibration.cells} == {"length"}
    assert any(w.startswith("Left out: 'failing' (") and "there are no letters" in w for w in calibration.warnings)
    with pytest.raises((CriticError, FittingError), match="there are no letters"):
        calibrate(texts["real"], config=config, critics=[mine], **options)


@pytest.fixture
def fitted(mine, tmp_path):
    """A folder of both critics, one of which fails when it scores, and a text."""
    texts = [f"{'ab ' * (i % 7 + 1)}x{i}" for i in range(60)]
    for critic in make_critics(["failing", "length"], {"failing": {"where": "log_prior"}}):
        critic.fit(texts).save(tmp_path / "run" / "critics" / critic.name)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"text": t + "."}) + "\n" for t in texts))
    return tmp_path


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_so_where_the_critics_of_a_run_score(fitted, workers):
    text, out = [fitted / "x.jsonl"], fitted / "rows"
    again = {"resume": True}
    for options in ({}, again, {"overwrite": True}, again):
        run = score_parts([fitted / "run"], text, out, workers=workers, part_size=20, **options)
        assert list(run.failed) == ["failing"]
        assert "there are no letters" in run.failed["failing"]
        assert {tuple(done.nats) for done in run.done} == {("length",)}
        assert run.kept == (len(run.done) if options == again else 0)
    named = [fitted / "run" / "critics" / name for name in ("failing", "length")]
    with pytest.raises(CriticError, match="there are no letters"):
        score_parts(named, text, fitted / "named")


def test_one_that_failed_is_tried_again_once_its_code_has_changed(fitted, mine):
    text, out = [fitted / "x.jsonl"], fitted / "rows"
    assert list(score_parts([fitted / "run"], text, out).failed) == ["failing"]
    file = fitted / "mine.py"
    file.write_text(SOURCE.replace("there are no letters", "there is none"))
    registry.named(mine)
    with pytest.raises(StoreError, match="changed since it was begun: the critic 'failing' \\(new\\)"):
        score_parts([fitted / "run"], text, out, resume=True)


def test_so_where_a_text_is_scored_without_a_folder(fitted):
    done = CliRunner().invoke(app, ["score", str(fitted / "run"), str(fitted / "x.jsonl")])
    assert done.exit_code == 0
    assert "length: Latent NLL" in done.output
    assert f"Left out: 'failing' (log_prior failed at mine.py:{LINE}" in " ".join(done.output.split())
    critic = fitted / "run" / "critics" / "failing"
    assert CliRunner().invoke(app, ["score", str(critic), str(fitted / "x.jsonl")]).exit_code != 0


def test_so_in_a_filter(fitted):
    text, out = [fitted / "x.jsonl"], [fitted / name for name in ("kept.jsonl", "dropped.jsonl", "scores")]
    for options in ({}, {"overwrite": True}):
        done = filter_text(text, [fitted / "run"], text, *out, fdr=0.2, **options)
        assert list(done.failed) == ["failing"]
        assert list(done.by_critic) == ["length"]


def test_a_critic_of_a_run_that_is_gone_is_left_out(fitted, monkeypatch):
    monkeypatch.setattr(registry, "_LOCATED", {})
    run = score_parts([fitted / "run"], [fitted / "x.jsonl"], fitted / "rows")
    assert "failing" in run.failed["failing"]
    with pytest.raises(PluginError):
        score_parts([fitted / "run" / "critics" / "failing"], [fitted / "x.jsonl"], fitted / "other")


def test_what_is_not_the_fault_of_a_critic_passes(mine, written, monkeypatch):
    given = arguments(written, "")
    (critic,) = make_critics(["failing"], {})
    for error in (KeyboardInterrupt(), MemoryError(), OSError(errno.ENOSPC, "No space left on device")):

        def interrupted(place, error=error):
            raise error

        critic.fail = interrupted
        with pytest.raises(type(error)):
            critic.fit(["one", "two"])

    def faulty(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("momus.engine.run_critic.judge", faulty)
    with pytest.raises(ZeroDivisionError):
        momus.compare(**given)


def test_what_a_critic_prints_goes_to_standard_error(mine, written, capsys):
    momus.compare(**arguments(written, ""), critics=[mine])
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("fitting")) == ("", 1)
    (critic,) = make_critics(["failing"], {"failing": {"where": "fit"}})
    outer = io.StringIO()
    with redirect_stdout(outer), pytest.raises(CriticError):
        critic.fit(["one", "two"])
    with redirect_stdout(outer):
        print("after")
    assert outer.getvalue() == "after\n", "output is as before, also after an error"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_that_a_critic_forks_can_end():
    code = (
        "import os\nfrom momus.foreign import contained\n"
        "with contained:\n    child = os.fork()\n    if not child: os._exit(3)\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "3"


@pytest.mark.parametrize("name", ["", "a/b", "..", None, 7])
def test_a_critic_needs_a_name(name, mine, tmp_path):
    class Nameless(type(make_critics(["failing"])[0])):
        pass

    Nameless.name = name
    with pytest.raises(UsageError, match="the name"):
        momus.compare(["a b", "c d"], {"g": ["e f"]}, critics=[Nameless()])
    file = tmp_path / "nameless.py"
    file.write_text(SOURCE.replace('"failing"', repr(name)))
    with pytest.raises(UsageError, match="the name"):
        registry.named(f"{file}:Failing")


@pytest.mark.parametrize("axis", ["", " ", "red\x1b[31m", "two\nlines", None, 7])
def test_a_critic_needs_an_axis_in_words(axis, mine, tmp_path):
    class Axisless(type(make_critics(["failing"])[0])):
        pass

    Axisless.axis = axis
    with pytest.raises(UsageError, match="the axis"):
        momus.compare(["a b", "c d"], {"g": ["e f"]}, critics=[Axisless()])
    file = tmp_path / "axisless.py"
    file.write_text(SOURCE.replace('"letters"\n    where', f"{axis!r}\n    where"))
    with pytest.raises(UsageError, match="the axis"):
        registry.named(f"{file}:Failing")


def test_commands_end_with_its_line_and_with_json_alone(tmp_path: Path):
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"text": "ab " * (i % 7 + 1)}) + "\n" for i in range(30)))
    (tmp_path / "exits.toml").write_text('[failing]\nwhere = "project"\nhow = "_exit"\n')

    def momus_(*words):
        command = [sys.executable, "-m", "momus", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    compared = ("compare", "-f", "x.jsonl", "-r", "x.jsonl", "-g", "x=x.jsonl", "-c", "./mine.py:Failing", "--json")
    few = ("--permutations", "99", "--resamples", "99")
    code, out, err = momus_(*compared, *few)
    assert code == 0
    assert json.loads(out)
    assert "fitting" in err
    code, out, err = momus_(*compared, *few, "--config", "exits.toml")
    assert (code, out) == (4, "")
    assert "critic 'failing': project failed at mine.py:" in err
