"""Time of all critics on short stories: 500 real ones against two models' continuations of 500 each.

Each run is a separate process. With several trees (folders of this repository at other commits), their runs take
turns, so that whatever else the machine does falls on all of them alike. CPU seconds count all threads, wall seconds
what a user waits for on this machine.

Run:  python benchmarks/speed/stories.py [--tree now=. --tree before=../other] [--rounds 3] [--profile]
Data: ``human-vs-lm`` under MOMUS_DATA, else ../shared/data.
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
from pathlib import Path
from statistics import median
from typing import Any

MODELS = ("gpt2-xl", "gpt-neox-20b")
ROOMS = ("core", "critics", "adapters")


def data() -> Path:
    """Folder of the data sets."""
    return Path(os.environ.get("MOMUS_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def write_texts(folder: Path, documents: int) -> None:
    """Write the human stories of the first model's file, and the continuations by both models."""
    for model in MODELS:
        with gzip.open(data() / "human-vs-lm" / f"writing_{model}.json.gz", "rt", encoding="utf-8") as file:
            texts = json.load(file)
        sides = {model: texts["sampled"]} | ({"real": texts["original"]} if model == MODELS[0] else {})
        for name, side in sides.items():
            lines = [json.dumps({"id": f"{name}-{i}", "text": text}) for i, text in enumerate(side[:documents])]
            (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def once(folder: Path, out: Path, profile: bool, jobs: int = 1, critics: list[str] | None = None) -> dict[str, Any]:
    """Compare, and return seconds by stage, CPU seconds, and the p-values of all rows."""
    import cProfile
    import pstats

    begun, clock = time.process_time(), time.perf_counter()
    import momus

    profiler = cProfile.Profile() if profile else None
    if profiler is not None:
        profiler.enable()
    texts = {m: folder / f"{m}.jsonl" for m in MODELS}
    more: dict[str, Any] = {} if jobs == 1 else {"jobs": jobs}  # earlier versions have no jobs
    found = momus.compare(folder / "real.jsonl", texts, critics=critics, out=out, seed=0, reporter=_silent(), **more)
    if profiler is not None:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumtime").print_stats(120)
    return {
        "cpu": time.process_time() - begun + sum(os.times()[2:4]),
        "wall": time.perf_counter() - clock,
        "critics": len(found.results),
        "stages": found.signature["seconds"],
        "p": {f"{v.critic} {v.statistic} {v.generated}": v.p for v in found.verdicts},
    }


def _silent() -> Any:
    from momus.progress import Silent

    return Silent()


def in_process(tree: Path, folder: Path, out: Path, more: list[str]) -> dict[str, Any]:
    """Run `once` with the Momus of a tree, in a separate process."""
    path = os.pathsep.join(str(tree.resolve() / room) for room in ROOMS)
    command = [sys.executable, __file__, "--texts", str(folder), "--out", str(out), *more]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Run all trees in turn and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", action="append", metavar="NAME=FOLDER", help="a checkout to time; default: this one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--profile", action="store_true", help="profile one run of this checkout instead")
    parser.add_argument("--critics", help="comma-separated; default: all that fit")
    parser.add_argument("--jobs", type=int, default=1, help="processes of the checkout of this file; others have one")
    parser.add_argument("--texts", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    a = parser.parse_args()
    critics = a.critics.split(",") if a.critics else None
    if a.texts is not None:
        print(json.dumps(once(a.texts, a.out, False, a.jobs, critics)))
        return
    trees = dict(t.split("=", 1) for t in a.tree or [f"now={Path(__file__).parents[2]}"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder, a.documents)
        if a.profile:
            print({k: v for k, v in once(folder, folder / "run", True, critics=critics).items() if k != "p"})
            return
        runs: dict[str, list[dict[str, Any]]] = {tree: [] for tree in trees}
        for k in range(a.rounds):
            for tree, path in trees.items():
                more = ["--critics", a.critics] * (critics is not None)
                if Path(path).resolve() == Path(__file__).resolve().parents[2]:
                    more += ["--jobs", str(a.jobs)]
                runs[tree].append(in_process(Path(path), folder, folder / f"{tree}-{k}", more))
                last = runs[tree][-1]
                print(f"{tree}: {last['cpu']:.1f} s CPU, {last['wall']:.1f} s wall", file=sys.stderr, flush=True)
    print("| tree | critics | CPU s | wall s | of it testing |\n|---|---:|---:|---:|---:|")
    for tree, found in runs.items():
        cpu, wall = (median(r[k] for r in found) for k in ("cpu", "wall"))
        testing = median(r["stages"]["testing"] for r in found)
        print(f"| {tree} | {found[0]['critics']} | {cpu:.1f} | {wall:.1f} | {testing:.1f} |")
    first, *others = (found[0]["p"] for found in runs.values())
    for tree, p in zip(list(runs)[1:], others, strict=True):
        differ = [row for row in first if first[row] != p.get(row)]
        print(f"{tree}: {len(differ)} of {len(first)} rows have another p" + (f", e.g. {differ[0]}" if differ else ""))


if __name__ == "__main__":
    main()
