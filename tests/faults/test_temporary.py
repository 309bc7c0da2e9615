"""Temporary files: private, gone after a signal, and deleted at the next start after a kill."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from momus.errors import StoreError
from momus.outputs import replacing, write_text
from momus.ownership import PART

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, modes and flock")

SECRET = "a secret of the user"
WRITER = f"""
import time
from pathlib import Path
import pyarrow.csv
from momus.cli import main

def write_csv(table, path):
    Path(path).write_text({SECRET!r})
    print(path, flush=True)
    time.sleep(60)

pyarrow.csv.write_csv = write_csv
main()
"""


@pytest.fixture
def writer(texts, tmp_path):
    """Start ``momus score --out``, which waits while it writes: (process, its temporary file, its target)."""
    from typer.testing import CliRunner

    from momus.cli.app import app

    words = ["fit", "length", "--fit", str(texts / "fit.jsonl"), "--out", str(tmp_path / "critic")]
    assert CliRunner().invoke(app, words).exit_code == 0
    target = tmp_path / "rows.csv"

    def start():
        words = ["score", tmp_path / "critic", texts / "gen.jsonl", "--out", target]
        command = [sys.executable, "-c", WRITER, *map(str, words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        assert line, process.stderr.read()
        return process, Path(line.strip()), target

    return start


@pytest.mark.slow
def test_a_signal_leaves_no_temporary_file(writer):
    process, temporary, target = writer()
    assert temporary.read_text(encoding="utf-8") == SECRET
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert list(target.parent.glob(f"*{PART}")) == list(target.parent.glob(f".*{PART}")) == []
    assert not target.exists()


@pytest.mark.slow
def test_a_kill_leaves_one_that_the_next_start_deletes(writer):
    process, temporary, target = writer()
    with replacing(target) as other:  # it is held by a process that lives: nobody deletes it
        assert temporary.exists()
        other.write_text("of another process", encoding="utf-8")
    process.kill()
    process.communicate(timeout=60)
    assert temporary.read_text(encoding="utf-8") == SECRET
    with replacing(target) as own:
        assert not temporary.exists()
        own.write_text("rows", encoding="utf-8")
    assert [p.name for p in target.parent.iterdir() if p.is_file()] == [target.name]


def test_only_leftovers_are_deleted(tmp_path):
    target = tmp_path / "a.csv"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    others = [f".a.csv.{os.getpid()}.x{PART}", f".b.csv.{dead.pid}.x{PART}", f".a.csv.{PART}", f".a.csv.x.y{PART}"]
    for name in others:
        (tmp_path / name).write_text("mine", encoding="utf-8")
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    link = tmp_path / f".a.csv.{dead.pid}.link{PART}"
    link.symlink_to(tmp_path / "precious")
    left = tmp_path / f".a.csv.{dead.pid}.x{PART}"
    left.write_text("left", encoding="utf-8")
    write_text(target, "new")
    assert not left.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*others, "precious", link.name, "a.csv"])
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such a number counts as in use")
def test_a_process_that_nobody_waited_for_has_ended(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
        left = tmp_path / f".a.csv.{ended.pid}.x{PART}"
        left.write_text("left", encoding="utf-8")
        write_text(tmp_path / "a.csv", "new")
    assert not left.exists()


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_finished_files_have_the_usual_mode(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "a") as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
            temporary.write_text("x", encoding="utf-8")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_threads_that_write_one_file_do_not_mix(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    def write(i):
        with replacing(tmp_path / "a") as temporary:
            temporary.write_text(f"{i}" * 10_000, encoding="utf-8")
            time.sleep(0.001)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(64)))
    text = (tmp_path / "a").read_text(encoding="utf-8")
    assert len(set(text[:10])) <= 2
    assert text == text[: 1 if text[0] * 10_000 == text else 2] * 10_000
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_link_is_no_page(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="is a link"):
        write_text(tmp_path / "a", "text")
