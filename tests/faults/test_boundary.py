"""Faults of disks, terminals and memory end in words and an exit code; a fault of the program in one line."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from momus.cli import boundary, main
from momus.errors import MomusError, UsageError

FEW = ("--permutations", 99, "--resamples", 99)
PIPE = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process: (exit code, standard error)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["momus", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "run/a"), 5, "run/a: No space left on device"),
        (OSError(errno.EROFS, "Read-only file system", "run/a"), 5, "read-only"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "gone"), 5, "gone: No such file"),
        (OSError(errno.ENOSPC, "No space left on device"), 5, "standard output, or the temporary folder"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), 5, "utf-8 cannot write"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), 5, "not valid utf-8"),
        (MemoryError(), 1, "the memory does not suffice"),
        (RecursionError("x"), 5, "nested too deeply"),
        (pa.ArrowInvalid("Parquet magic bytes not found"), 5, "magic bytes"),
        (ConnectionResetError(104, "Connection reset by peer"), 1, "the connection failed"),
        (UsageError("wrong", hint="right"), 2, "wrong\n  → right"),
    ],
)
def test_faults_of_the_system_are_worded(error, code, told, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["momus", "show"])
    known = boundary.worded(error)
    assert isinstance(known, MomusError)
    assert known.exit_code == code
    assert told in str(known)
    assert known.hint


def commands(texts, fitted, run, out):
    """Each command that writes, into the folder ``out``."""
    corpora = ("-f", texts / "fit.jsonl", "-r", texts / "real.jsonl")
    return {
        "fit": ("fit", "length", "--fit", texts / "fit.jsonl", "--out", out / "critic"),
        "score": ("score", fitted, texts / "gen.jsonl", "--out", out / "rows.parquet"),
        "score to csv": ("score", fitted, texts / "gen.jsonl", "--out", out / "rows.csv"),
        "calibrate": ("calibrate", *corpora, "-c", "length", "--defects", "none", "--splits", 20, "-o", out / "c"),
        "compare": (
            "compare",
            *corpora,
            "-g",
            f"m={texts / 'gen.jsonl'}",
            "-c",
            "length",
            "-q",
            "-o",
            out / "run",
            *FEW,
        ),
        "report": ("show", run, "--html", "--out", out / "page.html"),
    }


@pytest.fixture(scope="module")
def finished(texts, tmp_path_factory):
    """A fitted critic and a run."""
    from typer.testing import CliRunner

    from momus.cli.app import app

    out = tmp_path_factory.mktemp("finished")
    for name in ("fit", "compare"):
        words = commands(texts, out / "critic", out / "run", out)[name]
        assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    return out / "critic", out / "run"


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE ends the process elsewhere")
@pytest.mark.parametrize("limit", [300, 20_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 3000))])
def test_a_disk_that_takes_no_more_is_worded_at_every_write(limit, texts, finished, tmp_path, call):
    """The system itself refuses writes beyond a size, in every file: of the output, and temporary ones."""
    resource = pytest.importorskip("resource")  # Unix only
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    failed = 0
    for name, words in commands(texts, *finished, tmp_path).items():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            code, told = call(*words)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert code in (0, 3, 5), (name, code, told)
        assert "internal error" not in told, (name, told)
        assert code == 0 or "too large" in told.lower(), (name, told)
        failed += code != 0
        if code == 0:  # nothing is half written: what was written can be read
            assert list(tmp_path.rglob("*.part")) == []
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
    assert failed >= (6 if limit < 1000 else 2)


def unwritable(kind, folder):
    """A place for output that the system refuses, even to an administrator if it can."""
    if kind == "name too long":
        return folder / ("n" * 300)
    if kind == "file":
        (folder / "file").write_text("x", encoding="utf-8")
        return folder / "file"
    kernel = Path("/sys/kernel")
    if kernel.is_dir():
        return kernel
    (folder / "locked").mkdir(mode=0o500)
    if os.access(folder / "locked", os.W_OK):
        pytest.skip("an administrator may write everywhere, and there is no /sys")
    return folder / "locked"


@pytest.mark.parametrize("kind", ["not permitted", "name too long", "file"])
def test_places_that_cannot_be_written_are_named(kind, texts, finished, tmp_path, call):
    out = unwritable(kind, tmp_path)
    for name, words in commands(texts, *finished, out).items():
        code, told = call(*words)
        assert code == 5, (name, told)
        assert str(out)[:60] in told, (name, told)
        assert "→" in told


def test_a_fault_of_the_program_is_told_without_what_it_says(capsys):
    with pytest.raises(ValueError, match="text") as caught:
        raise ValueError("text of a secret document")
    assert boundary.report_error(caught.value) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert "internal error, ValueError at " in told
    assert "secret" not in told


@pytest.mark.parametrize(("debug", "shown"), [("1", True), ("", False), ("0", False)])
def test_a_developer_sees_the_traceback(debug, shown, monkeypatch, call):
    monkeypatch.setenv("MOMUS_DEBUG", debug)
    monkeypatch.setattr("momus.cli.show.run_folder", lambda run: 1 / 0)
    code, told = call("show", "x")
    assert code == 1
    assert "internal error, ZeroDivisionError" in told
    assert ("Traceback" in told) == shown


def test_the_library_raises_what_happened(monkeypatch):
    """Only the command line puts programming errors into words."""
    from momus import Corpus
    from momus_critics.length import Length

    monkeypatch.setattr(Length, "project", lambda self, batch: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Length().fit(Corpus.from_texts(["a b", "c d e"] * 5)).score(Corpus.from_texts(["a"]))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_and_closed_outputs(momus_process):
    with open("/dev/full", "w") as full:
        process = momus_process("--help", stdout=full, stderr=subprocess.PIPE)
    assert b"No space left on device" in process.communicate(timeout=60)[1]
    assert process.returncode == 5
    process = momus_process("--help", stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


def test_a_reader_that_leaves_is_no_error(momus_process):
    process = momus_process("--help", **PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0


@pytest.mark.slow
def test_a_command_whose_reader_left_ends_as_it_would_have(finished, momus_process):
    for words, code in ((("show", finished[1], "--all"), 0), (("gate", finished[1], "--max", "0"), 7)):
        process = momus_process(*map(str, words), **PIPE)
        process.stdout.close()
        told = process.stderr.read()
        assert process.wait(60) == code
        assert b"pipe" not in told.lower()


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.slow)])
def test_terminals_that_do_not_know_a_character(encoding, momus_process, tmp_path):
    path = tmp_path / "日本"
    process = momus_process("show", path, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}, **PIPE)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 5
    assert b"\\u65e5\\u672c" in told
    assert b"Traceback" not in told


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_names_that_are_not_utf8(momus_process, texts, tmp_path):
    name = os.fsdecode(b"caf\xe9.jsonl")
    shutil.copy(texts / "gen.jsonl", tmp_path / name)
    words = ["-f", texts / "fit.jsonl", "-r", texts / "real.jsonl", "-g", f"a={tmp_path / name}", "-c", "length"]
    words += ["--permutations", "99", "--resamples", "99", "-q", "-o", tmp_path / "run"]
    process = momus_process("compare", *words, **PIPE)
    told = process.communicate(timeout=100)[1]
    assert process.returncode == 0, told
    process = momus_process("fit", "length", "--fit", tmp_path / os.fsdecode(b"no\xff"), "-o", tmp_path / "c", **PIPE)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 3
    assert b"Traceback" not in told
