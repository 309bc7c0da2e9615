"""Signals, workers that outlive nobody, and locks that one process holds at a time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from momus.errors import StoreError
from momus.locking import Lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and flock")

RACER = """
import sys, time
from pathlib import Path
from momus.errors import StoreError
from momus.locking import Lock
folder, number, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
won = twice = 0
while won < rounds:  # whoever holds it may be put to sleep for as long as all tries of another take
    try:
        lock = Lock(folder / ".lock", "folder").acquire()
    except StoreError:
        continue
    won += 1
    try:
        (folder / "inside").touch(exist_ok=False)  # fails if another process is inside
        (folder / "inside").unlink()
    except FileExistsError:
        twice += 1
    lock.release()
print(won, twice)
"""


def test_400_races_for_a_lock_have_one_winner_each(tmp_path):
    racers = [
        subprocess.Popen([sys.executable, "-c", RACER, str(tmp_path), str(n), "100"], stdout=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    counts = [tuple(map(int, racer.communicate(timeout=60)[0].split())) for racer in racers]
    assert [won for won, _ in counts] == [100] * 4
    assert sum(twice for _, twice in counts) == 0
    assert not (tmp_path / ".lock").exists()


def test_a_lock_with_any_content_is_free_if_nobody_holds_it(tmp_path):
    for content in (b"", b"\xff\0", b"1", b"99999999999999999999", b"x" * 10_000):
        (tmp_path / ".lock").write_bytes(content)
        lock = Lock(tmp_path / ".lock", "folder").acquire()
        assert (tmp_path / ".lock").read_bytes() == str(os.getpid()).encode()
        with pytest.raises(StoreError, match=f"folder is in use by process {os.getpid()}"):
            Lock(tmp_path / ".lock", "folder").acquire()
        lock.release()
        lock.release()


def test_a_lock_does_not_follow_a_link(tmp_path):
    (tmp_path / "precious").write_text("x", encoding="utf-8")
    (tmp_path / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError, match="cannot be written"):
        Lock(tmp_path / ".lock", "folder").acquire()
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "x"


def children(parent):
    """Process numbers of the children of a process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = status.read_text(encoding="utf-8", errors="replace").partition(" (")
        except OSError:
            continue
        if rest.rpartition(") ")[2].split()[1] == str(parent) and rest.rpartition(") ")[2][0] != "Z":
            found.append(int(number))
    return found


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.fixture
def calibration(texts, tmp_path, momus_process):
    """A calibration that would take minutes, once it has begun to measure: (process, its folder)."""
    out = tmp_path / "c"

    def start(jobs):
        words = ["-f", texts / "fit.jsonl", "-r", texts / "real.jsonl", "-c", "length,unigram"]
        words += ["--defects", "none", "--splits", "100000", "--permutations", "9999", "-o", out, "-j", str(jobs)]
        process = momus_process("calibrate", *words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60

        def begun():  # the folder is there, and the server has forked the workers
            forked = [worker for child in children(process.pid) for worker in children(child)]
            return (out / "cells").exists() and len(forked) >= jobs * (jobs > 1)

        while not begun() and time.monotonic() < end:
            time.sleep(0.05)
        assert process.poll() is None, process.stderr.read()
        assert begun()
        time.sleep(0.3)
        return process, out

    return start


@pytest.mark.parametrize("name", ["SIGTERM", *(pytest.param(n, marks=pytest.mark.slow) for n in ("SIGHUP", "SIGINT"))])
def test_signals_end_a_command_as_an_interruption_does(name, calibration):
    process, out = calibration(1)
    process.send_signal(getattr(signal, name))
    told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 128 + getattr(signal, name)
    assert "to resume" in told
    assert "Traceback" not in told
    assert not (out / ".lock").exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_workers_die_with_a_killed_parent_and_the_folder_is_free(calibration):
    process, out = calibration(2)
    workers = children(process.pid)
    assert len(workers) >= 2
    with pytest.raises(StoreError, match=f"in use by process {process.pid}"):
        Lock(out / ".lock", "folder").acquire()
    process.kill()
    process.wait(30)
    end = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert [worker for worker in workers if alive(worker)] == []
    Lock(out / ".lock", "folder").acquire().release()


SLEEPER = """
import time
import momus.cli.show as show
from momus.cli import main
def stubborn(run):
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        time.sleep(60)  # a clean-up that takes too long
show.run_folder = stubborn
main()
"""


@pytest.mark.slow
def test_a_second_interruption_stops_at_once():
    process = subprocess.Popen([sys.executable, "-c", SLEEPER, "show", "x"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    for _ in range(20):  # on a busy machine, signals that come close together count as one
        process.send_signal(signal.SIGINT)
        try:
            process.wait(1)
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.wait(1) == 130
    process.stdout.close()


def test_an_ignored_hangup_stays_ignored(momus_process):
    """As under ``nohup``: the handlers of the command leave it alone."""
    script = "from momus.cli.boundary import Interruption; import signal, os; Interruption().install()\n"
    script += "os.kill(os.getpid(), signal.SIGHUP); print('here')"
    ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, **ignore)
    assert done.stdout == b"here\n"
