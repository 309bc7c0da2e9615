"""Ranks of two models that are equally far from real text: how often one is called significantly nearer.

Rows go through `momus.joint.ranks.ranks`, as those of a run do. *Equal*: both models have one distribution; *opposite*:
one is shifted up and the other down; *shapes*: one is shifted, the other stretched so that its KS distance is the same.
The goal is at most 0.05, for either model. Power: the nearer of two models at half the distance.

Run:  python benchmarks/validity/equal_ranks.py [--quick] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from null_and_power import write_between
from scipy import stats

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, total_variation
from momus.inference.matching import Names
from momus.joint.axes import AxisRows
from momus.joint.ranks import ranks
from momus.numeric.types import Floats

BINS, RESAMPLES = 64, 199
STATISTICS = (
    Statistic("KS", "bins", "distance", kolmogorov_smirnov),
    Statistic("TVD", "bins", "distance", total_variation),
    Statistic("mean", "value", "value", mean, effect="hedges_g"),
)
STRETCHED = 1.6


def _shift() -> float:
    """The shift that has the KS distance of a normal distribution stretched by `STRETCHED`."""
    x = np.linspace(-6, 6, 20001)
    distance = float(np.abs(stats.norm.cdf(x) - stats.norm.cdf(x / STRETCHED)).max())
    return float(2 * stats.norm.ppf((1 + distance) / 2))


@dataclass(frozen=True)
class Cell:
    """Documents of the real text and of each model, and shift and scale of both models."""

    label: str
    n: int
    m: int
    one: tuple[float, float]
    other: tuple[float, float]


CELLS = tuple(
    Cell(label, n, m, one, other)
    for n, m in ((50, 50), (200, 200))
    for label, one, other in (
        ("equal, none", (0.0, 1.0), (0.0, 1.0)),
        ("equal, 0.3", (0.3, 1.0), (0.3, 1.0)),
        ("opposite, 0.3", (0.3, 1.0), (-0.3, 1.0)),
        ("shapes (KS equal)", (_shift(), 1.0), (0.0, STRETCHED)),
        ("half the distance", (0.3, 1.0), (0.6, 1.0)),
    )
)


def rows_of(statistic: Statistic, values: Floats) -> Floats:
    """Rows of documents: [value, 1], or a one in the column of their bin."""
    if statistic.rows == "value":
        return np.column_stack([values, np.ones(len(values))])
    at = np.clip(((values + 4) / 8 * BINS).astype(np.int64), 0, BINS - 1)
    return np.eye(BINS)[at]


def nearer(cell: Cell, statistic: Statistic, seed: int) -> tuple[bool, bool]:
    """Whether each model is called significantly nearer than the other."""
    rng = np.random.default_rng([seed, CELLS.index(cell)])
    sides = {"real": rng.normal(size=cell.n)}
    for name, (shift, scale) in (("one", cell.one), ("other", cell.other)):
        sides[name] = shift + scale * rng.normal(size=cell.m)
    scored = {name: np.ones(len(x), dtype=bool) for name, x in sides.items()}
    rows = {name: rows_of(statistic, x) for name, x in sides.items()}
    names: dict[str, Names] = {name: [None] * len(x) for name, x in sides.items()}
    axis = AxisRows("a", "a", statistic, rows, scored, sides)
    found = ranks([axis], "real", ["one", "other"], names, resamples=RESAMPLES, seed=seed)
    by = {row.model: row for row in found.of("a")}
    return by["one"].rank_high == 1, by["other"].rank_high == 1


def table(replications: int) -> str:
    """Shares of simulated runs in which the first, the second model is called significantly nearer."""
    lines = [
        f"First \\| second of two models called significantly nearer, R = {replications:,}:",
        "",
        f"| real \\| models | truth | {' | '.join(s.name for s in STATISTICS)} |",
        "|---|---|" + "---:|" * len(STATISTICS),
    ]
    for cell in CELLS:
        cells = []
        for s in STATISTICS:
            if cell.label.startswith("shapes") and s.name != "KS":
                cells.append("–")
                continue
            one, other = np.mean([nearer(cell, s, seed) for seed in range(replications)], axis=0)
            cells.append(f"{one:.3f} \\| {other:.3f}")
        lines.append(f"| {cell.n} \\| {cell.m} | {cell.label} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="50 replications")
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args(arguments)
    found = table(50 if a.quick else a.replications)
    if a.write:
        write_between(a.write, "equal ranks", found)


if __name__ == "__main__":
    main()
