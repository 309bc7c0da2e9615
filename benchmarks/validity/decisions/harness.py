"""Studies of decisions: replications with fixed seeds, kept on disk, and resumed by running again.

A study draws data in one setting and tests them; each replication returns named numbers. A replication depends only on
the study's name and its own number, so both engines see the same data, and neither the order nor the number of
processes changes a result.
"""

from __future__ import annotations

import inspect
import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from momus.critic import Statistic
from momus.inference import Design, TestResult, compare_rows
from momus.inference.samples import Rows
from momus.numeric.types import Ints

LEVEL = 0.05
ENGINES = ("before", "after", "trial")
"""``before``: the engine without families of rows; ``after``: the engine with them; ``trial``: either, not tabled."""
BATCH = 10
"""Replications that a process runs before it hands them over to be written."""
Record = dict[str, float]
"""Numbers of one replication by key; NaN where the quantity does not exist in it."""


@dataclass(frozen=True)
class Quantity:
    """What is reported of a key of the records: the ``share`` of replications (0 or 1 each), or the ``mean``.

    ``goal`` is the interval in which it should lie; None where there is no goal.
    """

    key: str
    name: str
    goal: tuple[float, float] | None = None
    kind: Literal["share", "mean"] = "share"


@dataclass(frozen=True)
class Draw:
    """One replication: its random numbers, its seed, and whether to decide as Momus did before."""

    rng: np.random.Generator
    seed: int
    before: bool
    folder: Path
    """Where data that all replications share are kept."""


@dataclass(frozen=True)
class Study:
    """One setting, its replication, and what is reported of it; ``most`` limits the replications of slow settings."""

    group: str
    name: str
    setting: str
    replicate: Callable[[Draw], Record]
    quantities: tuple[Quantity, ...]
    most: int = 100_000

    def run(self, seed: int, engine: str, folder: Path) -> Record:
        """Return the record of replication ``seed``."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return self.replicate(Draw(rng, seed, engine == "before", folder))


ALARM = Quantity("alarm", "p ≤ 0.05", (0.035, 0.065))
COVERED = Quantity("covered", "interval covers the truth", (0.93, 0.975))
CONFLICT = Quantity("conflict", "p ≤ 0.05 beside an interval that holds 0", (0.0, 0.0))


@cache
def accepted() -> frozenset[str]:
    """Names of the options that `compare_rows` has."""
    return frozenset(inspect.signature(compare_rows).parameters)


def check_engine(engine: str) -> None:
    """Refuse to label the results of one engine as those of the other."""
    if engine == "trial" or (engine == "after") == ("family" in accepted()):
        return
    found = "has" if "family" in accepted() else "lacks"
    raise SystemExit(
        f"--engine {engine}, but the Momus that is imported {found} the option `family` of compare_rows; put the "
        "folders core, critics and adapters of the other version on PYTHONPATH, or choose another --engine"
    )


def compared(
    statistic: Statistic,
    real: Rows,
    generated: Rows,
    *,
    seed: int,
    design: Design | None = None,
    permutations: int | None = 999,
    resamples: int | None = 999,
    family: int = 1,
) -> TestResult:
    """Test one statistic in one thread; None leaves a number to the engine's default."""
    options: dict[str, Any] = {"family": family, "threads": 1, "permutations": permutations, "resamples": resamples}
    options = {k: v for k, v in options.items() if k in accepted() and v is not None}
    key = statistic.rows
    (result,) = compare_rows([statistic], {key: real}, {key: generated}, design=design, seed=seed, **options)
    return result


def one_each(clusters: Ints, rng: np.random.Generator) -> Ints:
    """Row number of a random document of each cluster: (clusters,). Momus tested these alone before."""
    order = rng.permutation(len(clusters))
    return np.sort(order[np.unique(clusters[order], return_index=True)[1]])


def decided(result: TestResult, truth: float = 0.0) -> Record:
    """Return what a reader of the row sees: the alarm, whether the interval covers the truth, and both together."""
    p, low, high = (number(x) for x in (result.p, result.low, result.high))
    alarm, finite = p <= LEVEL, np.isfinite(low + high)
    return {
        "alarm": float(alarm),
        "p": p,
        "difference": number(result.difference),
        "covered": float(low <= truth <= high) if finite else np.nan,
        "conflict": float(alarm and low <= 0 <= high) if finite else np.nan,
    }


def number(value: float | None) -> float:
    """A number of a result; NaN for what does not exist."""
    return np.nan if value is None else value


def path_of(study: Study, engine: str, out: Path) -> Path:
    """The file of a study's records."""
    return out / engine / f"{study.name}.jsonl"


def kept(study: Study, engine: str, out: Path) -> list[dict[str, Any]]:
    """Read the finished replications: dictionaries of seed, seconds and values, in the order of seeds."""
    path = path_of(study, engine, out)
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    # a line that was cut off when a run was stopped is run again
    rows = {row["seed"]: row for row in (json.loads(line) for line in lines if line.endswith("}}"))}
    return [rows[seed] for seed in sorted(rows)]


def run_study(study: Study, engine: str, replications: int, out: Path, jobs: int) -> int:
    """Run the replications that are missing; return how many."""
    path = path_of(study, engine, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    finished = kept(study, engine, out)
    done = {row["seed"] for row in finished}
    missing = [seed for seed in range(min(replications, study.most)) if seed not in done]
    if not missing:
        return 0
    path.write_text("".join(json.dumps(row) + "\n" for row in finished), encoding="ascii")
    batches = [missing[i : i + BATCH] for i in range(0, len(missing), BATCH)]
    begun = shown = time.perf_counter()
    written = 0
    with path.open("a", encoding="ascii", buffering=1) as file:
        for rows in _batches(study, engine, out, batches, jobs):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            written += len(rows)
            if time.perf_counter() - shown > 20:
                shown = time.perf_counter()
                print(f"  {study.name}: {written:,} of {len(missing):,}, {shown - begun:.0f} s", flush=True)
    return written


def _batches(
    study: Study, engine: str, out: Path, batches: Sequence[list[int]], jobs: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of each batch of seeds as it is finished."""
    if jobs == 1:
        for batch in batches:
            yield run_batch(study, engine, out, batch)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(run_batch, study, engine, out, batch) for batch in batches]):
            yield future.result()


def run_batch(study: Study, engine: str, out: Path, seeds: list[int]) -> list[dict[str, Any]]:
    """Run replications, with the seconds that each took."""
    rows = []
    for seed in seeds:
        begun = time.perf_counter()
        values = study.run(seed, engine, out / "prepared")
        known = {k: float(v) if np.isfinite(v) else None for k, v in values.items()}
        rows.append({"seed": seed, "seconds": round(time.perf_counter() - begun, 4), "values": known})
    return rows
