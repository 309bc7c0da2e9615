"""What the first runs of a new user cost: all critics by default, with the command as it is typed.

* ``stories``: fitted on 200 human stories of some 200 words, 100 others against 100 of a model.
* ``versions``: 300 answers of one model against 300 of another to the same prompts, some 290 words each, ``--against``.

Each run is a separate process whose number of threads is not said. With several trees (folders of this repository at
other commits), their runs take turns, so that whatever else the machine does falls on all of them alike. CPU seconds
count all threads and processes; memory is the largest of one process.

Run:  python benchmarks/speed/first_runs.py [--tree now=. --tree before=../other] [--rounds 3] [--rows stories]
Data: ``human-vs-lm`` and ``answers`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from stories import MODELS, ROOMS, data

VERSIONS = ("Qwen1.5-7B-Chat", "Qwen1.5-72B-Chat")
Figures = dict[str, float]


def write_stories(folder: Path) -> list[str]:
    """Write the three texts of stories, and return the arguments of the comparison."""
    with gzip.open(data() / "human-vs-lm" / f"writing_{MODELS[0]}.json.gz", "rt", encoding="utf-8") as file:
        texts = json.load(file)
    sides = {"fit": texts["original"][:200], "real": texts["original"][200:300], "new": texts["sampled"][200:300]}
    for name, side in sides.items():
        _write(folder / f"{name}.jsonl", ({"id": f"{name}-{i}", "text": text} for i, text in enumerate(side)))
    return [
        a
        for name, role in zip(sides, ("--fit", "--real", "--generated"), strict=True)
        for a in (role, f"{'new=' if name == 'new' else ''}{folder / f'{name}.jsonl'}")
    ]


def write_versions(folder: Path) -> list[str]:
    """Write the answers of both versions, and return the arguments of the comparison."""
    for name in VERSIONS:
        with gzip.open(data() / "answers" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            _write(folder / f"{name}.jsonl", [json.loads(line) for line in file][:300])
    old, new = (folder / f"{name}.jsonl" for name in VERSIONS)
    return ["--against", f"old={old}", "--generated", f"new={new}"]


ARGUMENTS = {"stories": write_stories, "versions": write_versions}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def once(tree: Path, arguments: list[str], out: Path, jobs: int | None, cold: bool) -> Figures:
    """Run the command with the Momus of a tree: CPU seconds, wall seconds, megabytes; cold: no parse is kept."""
    path = os.pathsep.join(str(tree.resolve() / room) for room in ROOMS)
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | {"PYTHONPATH": path}
    env |= {"XDG_CACHE_HOME": f"{out}-cache"} if cold else {}
    command = [sys.executable, "-m", "momus", "compare", *arguments, "-o", str(out)]
    command += [] if jobs is None else ["--jobs", str(jobs)]
    clock = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:  # 1: a gate that was not asked for
        sys.exit(said.decode())
    seconds = time.perf_counter() - clock
    return {"cpu": used.ru_utime + used.ru_stime, "wall": seconds, "memory": used.ru_maxrss / 1024}


def p_values(out: Path) -> dict[tuple[str, str], float | None]:
    """The p-value of each row of a run."""
    lines = (out / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return {(v["critic"], v["statistic"]): v["p"] for v in map(json.loads, lines)}


def main() -> None:
    """Run all trees in turn, and print medians, and the critics of which p-values differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", action="append", metavar="NAME=FOLDER", help="a checkout to time; default: this one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", nargs="+", choices=list(ARGUMENTS), default=list(ARGUMENTS))
    parser.add_argument("--cold", action="store_true", help="parse the texts in each run, as the first one ever does")
    parser.add_argument("--jobs", type=int, help="processes; default: what the command takes")
    a = parser.parse_args()
    trees = dict(t.split("=", 1) for t in a.tree or [f"now={Path(__file__).parents[2]}"])
    print("| run | tree | CPU s | wall s | MB |\n|---|---|---:|---:|---:|")
    for row in a.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            arguments = ARGUMENTS[row](folder)
            runs: dict[str, list[Figures]] = {tree: [] for tree in trees}
            for k in range(a.rounds):
                for tree, path in trees.items():
                    runs[tree].append(once(Path(path), arguments, folder / f"{tree}-{k}", a.jobs, a.cold))
            for tree, found in runs.items():
                cpu, wall, memory = (median(r[k] for r in found) for k in ("cpu", "wall", "memory"))
                print(f"| {row} | {tree} | {cpu:.1f} | {wall:.1f} | {memory:.0f} |", flush=True)
            first, *others = (p_values(folder / f"{tree}-0") for tree in trees)
            for tree, p in zip(list(trees)[1:], others, strict=True):
                moved = sorted(
                    {critic for critic, s in first.keys() | p.keys() if first.get((critic, s)) != p.get((critic, s))}
                )
                print(f"\n{row}, {tree}: other p-values of {', '.join(moved) or 'no critic'}\n", flush=True)


if __name__ == "__main__":
    main()
