"""Time of reading 10,000 samples of a log of lm-evaluation-harness, beside PyArrow's parser of the same JSON.

    python benchmarks/speed/logs.py

The samples are those of tests/data/logs, repeated under new numbers. PyArrow parses the file into a table and stops
there; `momus.read_corpus` also checks each sample, chooses its answers, and builds a corpus with prompts. Both use one
thread; CPU time is what is left to compare on a machine that does other things too.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.json as pa_json

from momus.reading import read_corpus

SAMPLES = next((Path(__file__).parents[2] / "tests" / "data" / "logs" / "lm_eval").glob("samples_explain_*.jsonl"))
N, REPEATS = 10_000, 3


def seconds(read: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Wall and CPU times of some runs, after one that does not count."""
    read()
    wall, cpu = [], []
    for _ in range(REPEATS):
        start, used = time.perf_counter(), time.process_time()
        read()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return wall, cpu


def main() -> None:
    """Print the median and the range of both."""
    rows = [row for row in map(json.loads, SAMPLES.read_text().splitlines()) if row["filter"] == "whole"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SAMPLES.name
        path.write_text("".join(json.dumps(rows[i % len(rows)] | {"doc_id": i}) + "\n" for i in range(N)))
        print(f"{N:,} samples, {path.stat().st_size / 1e6:.1f} MB, {REPEATS} runs each")
        readings: dict[str, Callable[[], object]] = {
            "pyarrow.json": lambda: pa_json.read_json(path, pa_json.ReadOptions(use_threads=False, block_size=1 << 24)),
            "momus, plain JSON Lines": lambda: read_corpus(path, field="target"),
            "momus, lm-eval": lambda: read_corpus(f"lm-eval:{path}"),
        }
        for name, read in readings.items():
            wall, cpu = seconds(read)
            print(
                f"{name:24} wall {statistics.median(wall):6.2f} s ({min(wall):.2f} to {max(wall):.2f}), "
                f"CPU {statistics.median(cpu):5.2f} s ({min(cpu):.2f} to {max(cpu):.2f})"
            )


if __name__ == "__main__":
    main()
