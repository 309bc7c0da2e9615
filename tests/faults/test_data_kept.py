"""Outputs never take the place of what is not theirs: most cases once destroyed data, with exit code 0."""

import json
import os
import shutil
import stat
import sys

import pytest
from simulated_raters import Truth, simulated_answers
from typer.testing import CliRunner

from momus.cli.app import app
from momus.engine.scoring import score_parts
from momus.errors import MomusError, StoreError, UsageError
from momus.files import write_json
from momus.runs.folder import RunFolder
from momus.runs.manifest import check_generation
from momus_people import read_study

FEW = ("--permutations", 99, "--resamples", 99, "-c", "length", "--quiet")
PARTS = ("--part-size", 5, "--jobs", 1, "--quiet")


def run(*words):
    """The outcome of a command that must not end in an internal error."""
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exception is None or isinstance(result.exception, MomusError | SystemExit), repr(result.exception)
    return result


def refusal(*words):
    result = run(*words)
    assert isinstance(result.exception, MomusError), result.output
    assert result.exception.hint
    return str(result.exception)


def contents(folder):
    """All files below a folder with their bytes and modes, and links with their targets."""
    return {
        path.relative_to(folder).as_posix(): (
            os.readlink(path) if path.is_symlink() else path.read_bytes(),
            stat.S_IMODE(path.lstat().st_mode),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope="module")
def made(texts, tmp_path_factory):
    """A folder with texts, a critic, a run, rows of two texts, and a study with the answers of its raters."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(texts, folder / "texts")
    rows = [{"id": str(i), "section_names": ["a", "b"], "sections": ["one two", "three"]} for i in range(8)]
    (folder / "sections.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fit, real, gen = (folder / "texts" / f"{name}.jsonl" for name in ("fit", "real", "gen"))
    assert run("fit", "length", "-f", fit, "-o", folder / "critic").exit_code == 0
    assert run("compare", "-f", fit, "-r", real, "-g", f"m={gen}", "-o", folder / "run", *FEW).exit_code == 0
    for name, text in (("real", real), ("m", gen)):
        assert run("score", folder / "critic", text, "-o", folder / f"rows-{name}", *PARTS).exit_code == 0
    new = ("--items", 6, "--raters", 2, "--judgements", 1, "--words", 5, "-o", folder / "study")
    assert run("study", "new", folder / "run", "-r", real, "-g", f"m={gen}", *new).exit_code == 0
    truth = Truth(effects={"real": 1.0, "m": 0.0})
    for answers in simulated_answers(read_study(folder / "study"), truth, seed=1):
        write_json(folder / f"{answers['rater']}.json", answers)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of all that, as the working folder; nothing in it may have changed at the end, but what a test names."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "thesis.html").write_text("<html>mine</html>", encoding="utf-8")
    (tmp_path / "here" / "thesis.csv").write_text("mine,1\n", encoding="utf-8")
    before = contents(tmp_path / "here")
    yield tmp_path / "here"
    after = contents(tmp_path / "here")
    assert {name: after.get(name) for name in before} == before


TEXTS = ("-f", "texts/fit.jsonl", "-r", "texts/real.jsonl", "-g", "m=texts/gen.jsonl")
ANSWERS = ("rater-1.json", "rater-2.json")
SCORE = ("score", "critic", "texts/gen.jsonl", "-o")
FILTER = ("filter", "critic", "texts/gen.jsonl", "-r", "texts/real.jsonl", "--fdr", 0.5, "--overwrite", "--quiet")
NOT_OURS = "as Momus wrote it"
LOST = {
    "rows over a run": ((*SCORE, "run", "--overwrite"), "holds a run"),
    "rows over a critic": ((*SCORE, "critic", "--overwrite"), "own input"),
    "rows over the rows that hold the critic": (
        ("score", "rows-m/critics/length", "texts/gen.jsonl", "-o", "rows-m", "--overwrite"),
        "its input rows-m/critics/length, which lies in it",
    ),
    "rows over texts": ((*SCORE, "texts", "--overwrite"), "which lies in it"),
    "a table over another": ((*SCORE, "thesis.csv"), NOT_OURS),
    "a run over the rows it reads": (
        ("compare", "-r", "rows-real", "-g", "m=rows-m", "-o", "rows-m", "--overwrite", *FEW[:4]),
        "own input",
    ),
    "a run over a study": (("compare", *TEXTS, *FEW, "-o", "study", "--overwrite"), "holds a study"),
    "a run over a critic": (("compare", *TEXTS, *FEW, "-o", "critic", "--overwrite"), "holds a fitted critic"),
    "a run in the folder of its text": (
        ("compare", "-r", "texts", "-g", "m=texts/gen.jsonl", "-o", "texts/run", *FEW),
        "a file of its input",
    ),
    "a demo over a run": (("demo", "-o", "run"), "but not one of `momus demo`"),
    "a critic over that of a run": (
        ("fit", "length", "-f", "texts/fit.jsonl", "-o", "run/critics/length"),
        "part of the run",
    ),
    "a calibration over a run": (("calibrate", "-r", "texts/real.jsonl", "-c", "length", "-o", "run"), "holds a run"),
    "a result over the key": (("study", "read", "study", *ANSWERS, "-o", "study/key.json"), "part of the study"),
    "a result over the study": (
        ("study", "read", "study", *ANSWERS, "-o", "study/study.json"),
        "is a part of the study",
    ),
    "a result over answers": (("study", "read", "study", *ANSWERS, "-o", "rater-1.json"), "own input"),
    "a study over a study": (("study", "new", "run", *TEXTS[2:], "-o", "study"), "not an empty folder"),
    "JUnit over a run": (("gate", "run", "--max", 9, "--junit", "run/run.json"), "part of the run"),
    "looks over a run": (("gate", "run", "--max", 9, "--sequential", "run/pairs.jsonl"), "part of the run"),
    "a report over a page": (("show", "run", "--html", "-o", "thesis.html"), NOT_OURS),
    "a report over a run": (("show", "run", "--html", "-o", "run/run.json"), "part of the run"),
    "a report over a table": (("show", "run", "--html", "-o", "thesis.csv"), NOT_OURS),
    "prepared documents over others": (
        ("prepare", "texts/fit.jsonl", "-o", "texts/gen.jsonl", "--overwrite"),
        NOT_OURS,
    ),
    "kept documents over the text": ((*FILTER, "--kept", "texts/gen.jsonl", "--dropped", "dropped.jsonl"), "own input"),
    "kept documents over a page": (
        (*FILTER, "--kept", "kept.jsonl", "--dropped", "thesis.jsonl"),
        NOT_OURS,
    ),
    "kept documents in the folder that is read": (
        ("filter", "critic", "texts", *FILTER[3:], "--kept", "texts/kept.jsonl", "--dropped", "dropped.jsonl"),
        "a file of its input texts",
    ),
    "kept documents among those of a pattern": (
        ("filter", "critic", "texts/*.jsonl", *FILTER[3:], "--kept", "texts/kept.jsonl", "--dropped", "dropped.jsonl"),
        "a file of its input texts/*.jsonl",
    ),
    "kept documents over records of others": (
        (*FILTER, "--kept", "theirs.jsonl", "--dropped", "dropped.jsonl"),
        NOT_OURS,
    ),
    "dropped documents over records of others": (
        (*FILTER, "--kept", "kept.jsonl", "--dropped", "theirs.jsonl"),
        NOT_OURS,
    ),
    "scores in the folder of the critic": (
        (*FILTER, "--kept", "kept.jsonl", "--dropped", "dropped.jsonl", "--scores", "critic/critics"),
        "",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_nothing_of_others_is_replaced(name, here):
    words, told = LOST[name]
    (here / "thesis.jsonl").write_text("mine\n", encoding="utf-8")
    (here / "theirs.jsonl").write_text('{"text": "mine"}\n', encoding="utf-8")
    (here / "work").mkdir()
    (here / "work" / "gate.json").write_text('{"mine": 1}\n', encoding="utf-8")
    before = contents(here)
    if told:
        assert told in refusal(*words)
    else:
        run(*words)
    assert {n: v for n, v in contents(here).items() if n in before} == before


def test_folders_of_others_that_have_our_names(here):
    for name in ("parts", "records", "critics", "rows", "cells", ".next", "raters"):
        (here / "work" / name).mkdir(parents=True)
        (here / "work" / name / "notes.txt").write_text("mine", encoding="utf-8")
    before = contents(here / "work")
    for words in (
        (*SCORE, "work", "--overwrite"),
        ("compare", *TEXTS, *FEW, "-o", "work", "--overwrite"),
        ("calibrate", "-r", "texts/real.jsonl", "-c", "length", "-o", "work"),
        ("fit", "length", "-f", "texts/fit.jsonl", "-o", "work"),
        ("study", "new", "run", *TEXTS[2:], "-o", "work"),
        ("critics", "new", "some-thing", "-o", "work"),
    ):
        refusal(*words)
        assert contents(here / "work") == before


def test_files_of_others_among_rows_stay(made, tmp_path):
    shutil.copytree(made / "rows-m", tmp_path / "rows")
    for name in ("notes.txt", "parts/notes.txt", "parts/00000.txt", "critics/notes.txt", "critics/length/notes.txt"):
        (tmp_path / "rows" / name).write_text("mine", encoding="utf-8")
    score_parts([made / "critic"], [made / "texts" / "real.jsonl"], tmp_path / "rows", overwrite=True)
    mine = [p for p in (tmp_path / "rows").rglob("*.txt") if p.read_text(encoding="utf-8") == "mine"]
    assert len(mine) == 5
    assert len(list((tmp_path / "rows" / "records").iterdir())) == 1, "the parts of before are gone"


def test_files_of_others_among_those_of_a_run_are_seen_before_it_is_replaced(made, tmp_path):
    shutil.copytree(made / "run", tmp_path / "run")
    texts = [str(made / "texts" / f"{name}.jsonl") for name in ("fit", "real", "gen")]
    words = (
        "compare",
        "-f",
        texts[0],
        "-r",
        texts[1],
        "-g",
        f"m={texts[2]}",
        *FEW,
        "-o",
        tmp_path / "run",
        "--overwrite",
    )
    for name in ("pairs.jsonl", "critics/length/notes.txt", "rows/notes.txt"):
        stray = tmp_path / "run" / name
        stray.parent.mkdir(exist_ok=True)
        stray.write_text("mine", encoding="utf-8")
        assert f"{name} is not of the run" in refusal(*words)
        assert stray.read_text(encoding="utf-8") == "mine"
        stray.unlink()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    assert run(*words).exit_code == 0
    assert (tmp_path / "run" / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_or_a_device_is_not_replaced(here):
    os.mkfifo("pipe.jsonl")
    nodes = ["pipe.jsonl"]
    try:
        os.mknod("node.jsonl", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        nodes.append("node.jsonl")
    except OSError:  # only an administrator may
        pass
    for name in nodes:
        mode = os.lstat(name).st_mode
        for words in (
            (*SCORE, name),
            (*FILTER, "--kept", name, "--dropped", "d.jsonl"),
            ("show", "run", "--html", "-o", name),
        ):
            assert f"{name} is a " in refusal(*words)
            assert os.lstat(name).st_mode == mode


@pytest.mark.parametrize("target", ["nowhere", "thesis.html"])
def test_no_output_goes_through_a_link(target, here):
    for suffix in ("jsonl", "csv", "html", "svg", "xml", "json", "md"):
        (here / f"link.{suffix}").symlink_to(target)
    (here / "link").symlink_to("nowhere")
    for words in (
        (*SCORE, "link.csv"),
        (*SCORE, "link"),
        (*FILTER, "--kept", "link.jsonl", "--dropped", "d.jsonl"),
        ("prepare", "texts/fit.jsonl", "-o", "link.jsonl", "--overwrite"),
        ("show", "run", "--html", "-o", "link.html"),
        ("gate", "run", "--max", 9, "--junit", "link.xml"),
        ("gate", "run", "--max", 9, "--sequential", "link.json"),
        ("study", "read", "study", *ANSWERS, "-o", "link.json"),
        ("study", "new", "run", *TEXTS[2:], "-o", "link"),
        ("compare", *TEXTS, *FEW, "-o", "link"),
        ("fit", "length", "-f", "texts/fit.jsonl", "-o", "link"),
        ("calibrate", "-r", "texts/real.jsonl", "-c", "length", "-o", "link"),
        ("critics", "new", "some-thing", "-o", "link"),
    ):
        refusal(*words)
    assert not (here / "nowhere").exists()


def test_an_output_that_is_replaced_keeps_its_mode(here):
    for words, name in (
        ((*SCORE, "rows.csv"), "rows.csv"),
        (("show", "run", "--html", "-o", "page.html"), "page.html"),
    ):
        assert run(*words).exit_code == 0
        (here / name).chmod(0o640)
        assert run(*words).exit_code == 0
        assert stat.S_IMODE((here / name).stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE ends the process elsewhere")
def test_a_full_disk_leaves_what_was_there(here):
    import resource

    again = {
        "rows.csv": (*SCORE, "rows.csv"),
        "page.html": ("show", "run", "--html", "-o", "page.html"),
        "result.json": ("study", "read", "study", *ANSWERS, "-o", "result.json"),
        "kept.jsonl": (*FILTER, "--kept", "kept.jsonl", "--dropped", "dropped.jsonl"),
        "new": ("fit", "length", "-f", "texts/fit.jsonl", "-o", "new", "--overwrite"),
        "other": ("compare", *TEXTS, *FEW, "-o", "other", "--overwrite"),
    }
    for words in again.values():
        assert run(*words).exit_code == 0
    before, limit = contents(here), resource.getrlimit(resource.RLIMIT_FSIZE)
    for name, words in again.items():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, limit[1]))
        try:
            result = CliRunner().invoke(app, list(map(str, words)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert isinstance(result.exception, StoreError | OSError), (name, result.output)
        after = contents(here)
        assert {n: v for n, v in after.items() if n in before} == before, name


def test_an_input_is_known_under_every_name(here, monkeypatch):
    os.link("texts/gen.jsonl", "hard.jsonl")
    for name in ("hard.jsonl", "./texts/../texts/gen.jsonl", here / "texts" / "gen.jsonl"):
        for text in ("texts/gen.jsonl", "texts/gen.jsonl#text", "texts/g*.jsonl"):
            with pytest.raises(UsageError, match="own input"):
                run_library(text, name)


def run_library(text, out):
    from momus.ownership import check_place

    check_place(out, [text])


@pytest.mark.slow
def test_a_repeated_command_is_not_refused(here):
    """What a command wrote is its own: without this, the cases above could pass by refusing everything."""
    (here / "README.md").write_text("# Mine\n", encoding="utf-8")
    for words in (
        (*SCORE, "rows.csv"),
        (*SCORE, "rows.parquet"),
        (*SCORE, "rows.jsonl"),
        (*SCORE, "rows", "--overwrite", *PARTS),
        (*FILTER, "--kept", "kept.jsonl", "--dropped", "dropped.jsonl"),
        ("prepare", "sections.jsonl", "-o", "p.jsonl", "--overwrite", "--least-sections", 1),
        ("compare", *TEXTS, *FEW, "-o", "other", "--overwrite"),
        ("compare", "-r", "rows-real", "-g", "m=rows-m", "-o", "other", "--overwrite", *FEW[:4]),
        ("show", "run", "--html", "-o", "page.html"),
        ("show", "run", "--html"),
        ("figures", "run", "-o", "figures"),
        ("figures", "run", "-o", "run/figures"),
        ("gate", "run", "--max", 9, "--junit", "gate.xml", "--sequential", "looks.json"),
        ("fit", "length", "-f", "texts/fit.jsonl", "-o", "new", "--overwrite"),
        ("calibrate", "-r", "texts/real.jsonl", "-c", "length", "--defects", "none", "--splits", 20, "-o", "rates"),
        ("study", "read", "study", *ANSWERS, "-o", "result.json"),
    ):
        for _ in range(2):
            result = run(*words)
            assert result.exit_code == 0, (words, result.output, result.exception)
    assert json.loads((here / "looks.json").read_text(encoding="utf-8"))["looks"]


def test_a_run_that_was_killed_before_it_had_begun_is_begun_again(tmp_path):
    run = tmp_path / "run"
    for again in ({}, {"resume": True}, {"overwrite": True}):
        begun = run / "..next.999999.00c0ffee.part" / "critics" / "length"
        begun.mkdir(parents=True)
        (begun / "arrays.safetensors").write_bytes(b"half")
        folder = RunFolder(run)
        folder.open_for_writing(**again)
        folder.begin(resume=again.get("resume", False))
        folder.release()
        assert [p.name for p in (run / ".next").iterdir()] == [".momus"]
        assert not begun.exists(), "what a killed process had begun is deleted"
        shutil.rmtree(run / ".next")


LEFT_BY_KILLS = [
    "rows/.fitted/critics/unigram/arrays.safetensors",
    "rows/.fitted/critics/unigram/.arrays.safetensors",
    "rows/real/critics/unigram/.arrays.safetensors",
    "critics/unigram/.arrays.safetensors",
    "critics/unigram/.saving.lock",
    "critics/unigram/.critic.json.1.a.part",
]


@pytest.mark.parametrize("name", LEFT_BY_KILLS)
def test_what_a_killed_run_leaves_is_its_own(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(b"begun")
    check_generation(tmp_path)
    (tmp_path / name).with_name("notes.txt").write_bytes(b"mine")
    with pytest.raises(StoreError, match=r"notes\.txt is not of the run"):
        check_generation(tmp_path)
