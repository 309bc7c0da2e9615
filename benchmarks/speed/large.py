"""Time and peak memory of `momus compare` by number and length of documents, as a user runs it.

Texts are made: words drawn by a Zipf law, in JSON Lines. Each comparison is a separate command. Measured are its
wall time, the CPU time of all its processes, and the peak of their memory, together (sampled ten times a second) and of
the largest one.

    python benchmarks/speed/large.py                               # the cases of the table
    python benchmarks/speed/large.py --case short                  # one of them
    python benchmarks/speed/large.py --against OTHER/.venv/bin/python    # the same by another version, in turn

Results are appended to FOLDER/measured.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """Documents of each text and of the text to fit on, words of a document, and critics."""

    documents: int
    fitted: int
    words: int
    critics: str


FOUR = "length,unigram,rank-frequency,type-token"
CASES = {
    "short": Case(200_000, 20_000, 26, "length,unigram,rank-frequency"),
    "long": Case(10_000, 10_000, 497, FOUR),
    "longer": Case(50_000, 10_000, 497, FOUR),
    "million": Case(1_000_000, 20_000, 26, "length,unigram,rank-frequency"),
}
TYPES = 20_000


def write_text(path: Path, documents: int, words: int, seed: int, power: float = 1.0) -> None:
    """Write a text of made words, unless it is there."""
    if path.exists():
        return
    spelling, rng = np.random.default_rng(1), np.random.default_rng(seed)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    vocabulary = np.array(["".join(spelling.choice(letters, spelling.integers(2, 9))) for _ in range(TYPES)])
    shares = 1 / np.arange(1, TYPES + 1) ** power
    cumulated = np.cumsum(shares / shares.sum())
    temporary = path.with_suffix(".part")
    with temporary.open("w", encoding="utf-8") as file:
        for i in range(documents):
            size = max(3, int(rng.normal(words, 0.3 * words)))
            text = " ".join(vocabulary[np.searchsorted(cumulated, rng.random(size))])
            file.write(json.dumps({"id": f"{seed}-{i}", "text": f"{text}."}) + "\n")
    temporary.rename(path)


def resident(root: int) -> tuple[int, int]:
    """Resident memory of a process and of all below it: the sum and the largest, in bytes."""
    children: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                sizes[int(entry.name)] = int((entry / "statm").read_text().split()[1]) * page
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    todo, found = [root], []
    while todo:
        number = todo.pop()
        found.append(sizes.get(number, 0))
        todo += children.get(number, [])
    return sum(found), max(found)


def measured(python: str, name: str, folder: Path) -> dict[str, Any]:
    """Run one comparison by an interpreter, and measure it."""
    case = CASES[name]
    texts = {
        k: folder / f"{k}-{case.words}-{n}.jsonl"
        for k, n in (("fit", case.fitted), *((k, case.documents) for k in ("real", "generated")))
    }
    for seed, (k, path) in enumerate(texts.items(), 1):
        write_text(
            path, case.fitted if k == "fit" else case.documents, case.words, seed, 1.02 if k == "generated" else 1.0
        )
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    command = [
        python,
        "-m",
        "momus",
        "compare",
        "-f",
        texts["fit"],
        "-r",
        texts["real"],
        "-g",
        f"g={texts['generated']}",
    ]
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([*command, "-c", case.critics, "-o", out, "--quiet"], stdout=subprocess.DEVNULL)
    peaks = [0, 0]

    def watch() -> None:
        while process.poll() is None:
            peaks[:] = map(max, peaks, resident(process.pid))
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    watcher.join()
    if code:
        raise SystemExit(f"{name}: exit code {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = json.loads((out / "run.json").read_text())
    return {
        "case": name,
        "momus": run["momus"],
        "wall_s": round(time.perf_counter() - clock, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "peak_gb": round(peaks[0] / 1e9, 2),
        "largest_process_gb": round(peaks[1] / 1e9, 2),
        "seconds": run["seconds"],
    }


def main() -> None:
    """Measure, and print a line for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, action="append", help="default: all but million")
    parser.add_argument("--folder", type=Path, default=Path("large-benchmark"))
    parser.add_argument("--against", help="the interpreter of another version")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.case or [n for n in CASES if n != "million"]:
        for python in [args.against] * bool(args.against) + [sys.executable]:
            row = {"python": "this" if python == sys.executable else "other", **measured(python, name, args.folder)}
            print(json.dumps(row), flush=True)
            with (args.folder / "measured.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
