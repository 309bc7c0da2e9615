"""Kill workers and drivers of `momus score --parts` at random moments: a script of `test_shards.py`.

Arguments: how many drivers without workers, drivers with workers, and workers to kill, the seed, and a folder that
holds ``critic`` and ``text.jsonl``. Momus is imported once; each run is a fork. After each kill the run is resumed, and
its files must be those of a run that nobody disturbed. It prints how many kills met a running command.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from momus.engine.scoring import score_parts

DOCUMENTS = 20
"""Of a part."""


def score(folder, workers, resume=False):
    """Score the text in a fork; return its process number."""
    number = os.fork()
    if number == 0:
        try:
            texts = [folder / "text.jsonl"]
            score_parts([folder / "critic"], texts, folder / "out", workers=workers, part_size=DOCUMENTS, resume=resume)
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(9)
    return number


def ended(number):
    """Wait for a fork: whether it came to its end, and was not killed."""
    _, status = os.waitpid(number, 0)
    assert status in (0, signal.SIGKILL), f"the run ended with status {status}"
    return status == 0


def contents(folder):
    """All files, but locks and what a killed process was writing."""
    return {p.name: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith(".")}


def descendants(number):
    """Process numbers of all children of a process, and of theirs."""
    children = Path(f"/proc/{number}/task/{number}/children")
    try:
        found = [int(n) for n in children.read_text().split()]
    except OSError:
        return []
    return [*found, *(d for child in found for d in descendants(child))]


def workers_of(number):
    """Children of the fork server of a driver: processes that score parts."""
    return [d for child in descendants(number) for d in descendants(child)]


def kill_worker(number, rng, folder):
    """Kill one worker of a run that goes on; whether one was met."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = workers_of(number)
        if found and list((folder / "out/records").glob("*.json")):
            time.sleep(rng.uniform(0, 0.1))
            found = workers_of(number)
            if not found:
                return False
            os.kill(rng.choice(found), signal.SIGKILL)
            return True
        time.sleep(0.005)
    return False


def reached(folder, parts, number):
    """Wait until so many parts are finished, or the run has ended."""
    while len(list((folder / "out/records").glob("*.json"))) < parts and alive(number):
        time.sleep(0.001)


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main(alone, drivers, workers, seed, folder):
    rng, folder = random.Random(seed), Path(folder)
    assert ended(score(folder, 1))
    whole = contents(folder / "out")
    lines = sum(json.loads(p.read_text())["documents"] for p in (folder / "out/records").glob("*.json"))
    assert lines == len((folder / "text.jsonl").read_text().splitlines())
    met = {"drivers": 0, "workers": 0}
    for i, processes in enumerate([1] * alone + [2] * drivers):
        shutil.rmtree(folder / "out")
        number = score(folder, processes)
        reached(folder, rng.randrange(12), number)
        time.sleep(rng.uniform(0, 0.03))
        left = descendants(number)
        os.kill(number, signal.SIGKILL)
        met["drivers"] += not ended(number)
        what = f"kill {i} of a driver of {processes}"
        assert set(contents(folder / "out")) <= set(whole), what
        assert ended(score(folder, processes, resume=True)), what
        assert contents(folder / "out") == whole, f"{what}: other files"
        for process in left:  # may be writing its last part
            gone(process)
        assert contents(folder / "out") == whole, f"{what}: other files in the end"
        assert not list((folder / "out").rglob("*.part")), f"{what}: a temporary file stays"
    for i in range(workers):
        shutil.rmtree(folder / "out")
        number = score(folder, 2)
        met["workers"] += kill_worker(number, rng, folder)
        assert ended(number), f"kill {i} of a worker: the run did not end"
        assert contents(folder / "out") == whole, f"kill {i} of a worker: other files"
    print(json.dumps(met))


def gone(process):
    """Check that a worker of a killed driver ends by itself."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not alive(process):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {process} outlived its driver")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), sys.argv[5])
