"""Kill workers and drivers that score texts in parts or compare them: a script of `test_row_kills.py`.

Arguments: what to run (``score`` or ``compare``), how many drivers without workers, drivers with workers, and workers
to kill, the seed, and a folder with the texts. Momus is imported once; each run is a fork. After each kill the run is
resumed, and its files must be those of a run that nobody disturbed. It prints how many kills met a running command.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

import momus
from momus.engine import large, scoring
from momus.engine.scoring import score_parts
from momus.progress import Silent

DOCUMENTS = 20
"""Of a part."""
DATED = ("run.json", "report.html", "manifest.json", "texts.parquet")
"""Files of a run that tell times or digests of files that do; manifests of rows are compared."""


def score(folder, workers, resume):
    """Score a text into a folder of rows."""
    texts = [folder / "real.jsonl"]
    score_parts([folder / "critic"], texts, folder / "out", workers=workers, part_size=DOCUMENTS, resume=resume)


def compare(folder, workers, resume):
    """Compare two texts that are scored in parts."""
    large.LARGE, scoring.PART_DOCUMENTS = 0, DOCUMENTS
    momus.compare(
        folder / "real.jsonl",
        {"a": folder / "a.jsonl"},
        fit=folder / "fit.jsonl",
        critics=["length", "unigram", "repetition"],
        out=folder / "out",
        resume=resume,
        jobs=workers,
        permutations=19,
        resamples=9,
        reporter=Silent(),
    )


def forked(work: Callable[..., None], folder, workers, resume=False):
    """Do this in a fork; return its process number."""
    number = os.fork()
    if number == 0:
        try:
            work(folder, workers, resume)
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
    """All files, but locks, what a killed process was writing, and what tells times."""
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith("."))
    dated = {folder / name for name in DATED} if (folder / "rows").is_dir() else set()
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths if p not in dated}


def finished(folder):
    """How many parts are finished; folders may vanish meanwhile."""
    walk = os.walk(folder / "out")
    return sum(name.endswith(".json") for place, _, names in walk if place.endswith("records") for name in names)


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
    while time.monotonic() < deadline and alive(number):
        if workers_of(number) and finished(folder):
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
    while finished(folder) < parts and alive(number):
        time.sleep(0.001)


def alive(number):
    """Whether a process runs."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def killed(process):
    """Kill a process; whether it was there."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def gone(process):
    """Check that a worker of a killed driver ends by itself."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not alive(process):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {process} outlived its driver")


def check_whole(folder):
    """Check that each document is there once, in the records or in the table of the run."""
    records = [json.loads(p.read_text()) for p in (folder / "out").rglob("records/*.json")]
    table = folder / "out/documents.parquet"
    texts = ["real", "a"] if table.exists() else ["real"]
    lines = sum(len((folder / f"{name}.jsonl").read_text().splitlines()) for name in texts)
    assert sum(record["documents"] for record in records) == lines
    if table.exists():
        rows = pq.read_table(table, columns=["corpus", "id", "critic"]).to_pylist()
        assert len({tuple(row.values()) for row in rows}) == len(rows) == 3 * lines


def main(what, alone, drivers, workers, seed, folder):
    import matplotlib.figure  # noqa: F401  what runs import late is imported once, before the forks

    import momus.report.page  # noqa: F401

    rng, folder, work = random.Random(seed), Path(folder), {"score": score, "compare": compare}[what]
    shutil.rmtree(folder / "out", ignore_errors=True)
    assert ended(forked(work, folder, 1))
    check_whole(folder)
    whole, parts = contents(folder / "out"), finished(folder)
    met = {"drivers": 0, "workers": 0}
    for i, processes in enumerate([1] * alone + [2] * drivers):
        shutil.rmtree(folder / "out")
        number = forked(work, folder, processes)
        reached(folder, rng.randrange(parts), number)
        # a comparison is killed while it tests and writes, too
        time.sleep(rng.uniform(0, 0.03 if what == "score" or i % 2 else 1.0))
        left = descendants(number)
        os.kill(number, signal.SIGKILL)
        if i % 2:  # its workers at the same moment, too; otherwise they end by themselves
            met["workers"] += sum(map(killed, left))
        met["drivers"] += not ended(number)
        kill = f"kill {i} of a driver of {processes}"
        assert ended(forked(work, folder, processes, resume=True)), kill
        assert contents(folder / "out") == whole, f"{kill}: other files"
        for process in left:  # may be writing its last part
            gone(process)
        assert contents(folder / "out") == whole, f"{kill}: other files in the end"
        assert not list((folder / "out").rglob("*.part")), f"{kill}: a temporary file stays"
    for i in range(workers):
        shutil.rmtree(folder / "out")
        number = forked(work, folder, 2)
        met["workers"] += kill_worker(number, rng, folder)
        assert ended(number), f"kill {i} of a worker: the run did not end"
        assert contents(folder / "out") == whole, f"kill {i} of a worker: other files"
    print(json.dumps(met))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6])
