"""Mistakes and hardships that once ended in an internal error, or in nothing at all: each is answered in words."""

import json
import math
import os
import random
import resource
import signal
import subprocess
import time

import pytest
from typer.testing import CliRunner

from momus.calibration.plan import CalibrationPlan
from momus.cli.app import app
from momus.errors import MomusError, StoreError, UsageError
from momus.history.rules import read_rules
from momus.reading import read_corpus
from momus.runs.folder import RunFolder
from momus.schema import SEAL, seal
from momus_critics.length import Length
from momus_people.answers import RaterAnswers
from momus_people.protocol import Protocol
from momus_people.result import analysed
from momus_people.study import read_study, write_study

from ..examples.people.studies import study


@pytest.mark.parametrize(
    "options", [{"max_failed": math.nan}, {"max_failed": math.inf}, {"max_failed": -0.1}, {"seed": -1}]
)
def test_a_study_is_not_read_with_such_options(options):
    with pytest.raises(UsageError, match=r"not a (share|seed)"):
        analysed(study(), RaterAnswers(), **options)


CHANGES = {
    "question": lambda c: c["protocol"].update(question="Is it long?"),
    "scale": lambda c: c["protocol"].update(scale=c["protocol"]["scale"][::-1]),
    "corpora": lambda c: c.update(corpora=["real", "model-x", "model-b"]),
    "labels": lambda c: c.update(labels=["a", "b"]),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_changed_study_is_refused(what, is_sealed, tmp_path):
    folder = tmp_path / "study"
    made = study()
    write_study(made, folder)
    assert read_study(folder).name == made.name
    key = json.loads((folder / "key.json").read_text())
    CHANGES[what](key)
    if is_sealed:
        key[SEAL] = seal({k: v for k, v in key.items() if k != SEAL})
    (folder / "key.json").write_text(json.dumps(key))
    if is_sealed and what != "corpora":
        assert read_study(folder)  # whoever seals it again may ask what they want; nothing contradicts itself
        return
    with pytest.raises(StoreError, match=r"changed or damaged|the corpora are") as error:
        read_study(folder)
    assert error.value.hint


def test_what_is_published_does_not_steer_the_reading(tmp_path):
    made = study()
    write_study(made, tmp_path / "study")
    (tmp_path / "study" / "study.json").unlink()
    assert read_study(tmp_path / "study").protocol == made.protocol


@pytest.mark.parametrize("question", ["", "  \n"])
def test_a_study_asks_something(question):
    with pytest.raises(UsageError, match="the question is empty"):
        Protocol(question=question)


@pytest.mark.parametrize("text", ["max = " + "[" * 5000, "[max." + ".".join("a" * 60) + "]\nx = 1", "alpha = true",
                                  "max = 1" + "0" * 400, "[[tool]]"])  # fmt: skip
def test_strange_rules_are_refused(text, tmp_path):
    path = tmp_path / ("pyproject.toml" if "tool" in text else "momus-gate.toml")
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_rules(path)
    assert error.value.hint


def test_sizes_beyond_memory_are_refused_at_once():
    with pytest.raises(UsageError, match="at most 1,000,000 documents"):
        CalibrationPlan(sizes=[(10**9, 10**9)], replacement=True).check(100)


def refusal(*words):
    error = CliRunner().invoke(app, [str(w) for w in words]).exception
    assert isinstance(error, MomusError)
    return f"{error.message} {error.hint}"


def test_an_unfinished_run_is_told_alike_by_all_who_meet_it(texts, tmp_path):
    run = RunFolder(tmp_path / "run")
    run.open_for_writing()
    run.begin(resume=False)
    run.release()
    compare = ("compare", "-r", texts / "real.jsonl", "-g", f"g={texts / 'gen.jsonl'}", "-c", "length", "--quiet")
    for words in (("show", run.path), ("gate", run.path, "--max", 9), (*compare, "--out", run.path)):
        told = refusal(*words)
        assert "run holds an unfinished run" in told
        assert "finish it with --resume" in told
    few = ("--permutations", 99, "--resamples", 99)
    assert CliRunner().invoke(app, [str(w) for w in (*compare, *few, "--out", run.path, "--resume")]).exit_code == 0
    assert "holds a run already" in refusal(*compare, "--out", run.path)


def test_folders_that_are_no_runs_or_no_texts_are_named(texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (
        ("fit", "length", "-f", texts / "fit.jsonl", "-o", "critic"),
        ("score", "critic", texts / "real.jsonl", "-o", "rows", "--quiet", "--jobs", 1),
    ):
        assert CliRunner().invoke(app, [str(w) for w in words]).exit_code == 0
    assert "rows: rows of scores, not a run give it to `momus compare`" in refusal("show", "rows")
    assert "critic: fitted critic, not a run" in refusal("show", "critic")
    compare = ("compare", "-g", f"g={texts / 'gen.jsonl'}", "--no-out")
    assert "critic: a folder of Momus (fitted critic)" in refusal(*compare, "-r", "critic")


@pytest.mark.parametrize(
    "words", [("-c", "length", "-c", "unigram"), ("--seed", "1", "--seed=2"), ("-r", "a", "--real", "b")]
)
def test_an_option_with_one_value_is_given_once(words):
    told = refusal("compare", "-g", "g=c", *words)
    assert "is given 2 times" in told


def test_a_filter_names_its_outputs(texts):
    real, made = texts / "real.jsonl", texts / "gen.jsonl"
    Length().fit(read_corpus(real)).save(texts / "critic")
    assert "--kept" in refusal("filter", texts / "critic", made, "-r", real, "--kept", "", "--dropped", "d.jsonl")


def finished(process, seconds=120):
    out, err = process.communicate(timeout=seconds)
    text = (out or b"").decode() + (err or b"").decode()
    assert "internal error" not in text
    assert "Traceback" not in text
    return process.returncode, text


PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.parametrize("kilobytes", [150_000, 400_000, 600_000])
def test_too_little_memory_to_start_is_said(kilobytes, momus_process, texts, tmp_path):
    """In 400 to 600 MB, OpenBLAS waits without end for memory while it is loaded."""
    words = ["compare", "-r", texts / "real.jsonl", "-g", f"g={texts / 'gen.jsonl'}", "-o", tmp_path / "run"]
    limits = (kilobytes << 10, kilobytes << 10)
    process = momus_process(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits), **PIPES)
    code, text = finished(process, seconds=60)
    assert code == 1
    assert f"the memory does not suffice: the address space is limited to {kilobytes >> 10} MB" in text
    assert "ulimit -v 2097152" in text


def test_a_closed_standard_input_is_an_empty_text(momus_process, tmp_path):
    words = ["compare", "-r", "-", "-g", "g=-", "-c", "length"]
    process = momus_process(*words, preexec_fn=lambda: os.close(0), **PIPES)
    code, text = finished(process)
    assert code == 3
    assert "standard input: the file is empty" in text


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(15, marks=pytest.mark.slow)])
def test_workers_that_are_starting_end_in_silence(times, momus_process, texts, tmp_path):
    rng = random.Random(0)
    for number in range(times):
        words = ["calibrate", "--real", texts / "real.jsonl", "--critics", "length,unigram", "--splits", "20"]
        words += ["--jobs", "2", "--out", tmp_path / str(number)]
        process = momus_process(*words, start_new_session=True, **PIPES)
        time.sleep(rng.uniform(1.5, 5))
        os.killpg(process.pid, signal.SIGINT)
        code, _ = finished(process)
        assert code in (0, 130), code
