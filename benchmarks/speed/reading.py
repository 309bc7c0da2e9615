"""Processor seconds and memory of `momus.read_corpus`, beside another checkout of Momus.

    python benchmarks/speed/reading.py --beside CHECKOUT

100,000 records of some 40 words with a prompt, as JSON Lines, CSV, Parquet and one JSON list, and 300,000 in 30 files
of Parquet, made in a temporary folder. Both checkouts read each in turn, in processes of their own; of `RUNS` runs, the
least time counts and the largest memory.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

RUNS, RECORDS, SHARDS = 3, 100_000, 30
READ = """
import resource, sys, time
from momus.reading import read_corpus
start = time.process_time()
n = len(read_corpus(sys.argv[1]))
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, n)
"""


def made(folder: Path) -> list[Path]:
    """The files, from a fixed seed."""
    random = Random(0)
    words = [f"w{i}" if i % 3 else "the" for i in range(4000)]
    texts = [" ".join(random.choices(words, k=random.randint(20, 60))) + "." for _ in range(RECORDS)]
    rows = [{"id": str(i), "text": text, "prompt": f"question {i}", "n": i} for i, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "a.json").write_text(json.dumps(rows))
    with (folder / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    shards = folder / "shards"
    shards.mkdir()
    for k in range(SHARDS):
        some = [row | {"id": f"{k}-{row['id']}"} for row in rows[:10_000]]
        pq.write_table(pa.Table.from_pylist(some), shards / f"{k:02d}.parquet")
    return [*sorted(folder.glob("a.*")), shards]


def reading(path: Path, checkout: Path) -> tuple[float, int]:
    """Processor seconds, and MB at most, of one reading."""
    parts = os.pathsep.join(str(checkout / part) for part in ("core", "critics", "adapters"))
    environment = {**os.environ, "PYTHONPATH": parts, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], env=environment, capture_output=True, text=True, check=True
    )
    seconds, memory, _ = done.stdout.split()
    return float(seconds), int(memory)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--beside", type=Path, required=True, help="another checkout of Momus")
    checkouts = [Path(__file__).resolve().parents[2], parser.parse_args().beside.resolve()]
    print("| file | s | s beside | ratio of speeds | MB | MB beside |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for path in made(Path(folder)):
            runs = [[reading(path, checkout) for checkout in checkouts] for _ in range(RUNS)]
            (here, beside), memory = (
                (min(run[k][0] for run in runs) for k in range(2)),
                [max(run[k][1] for run in runs) for k in range(2)],
            )
            print(
                f"| {path.name} | {here:.2f} | {beside:.2f} | {beside / here:.2f} | {memory[0]} | {memory[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
