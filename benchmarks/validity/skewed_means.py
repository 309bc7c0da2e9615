"""Means of texts of other shapes and sizes: levels and power of the studentised test, with and without a transform.

Documents have values from two distributions, of equal means for levels, and `momus.inference.compare_rows` tests their
means. *T* is the studentised permutation test; *transformed* the test that Momus uses where one text has at least 1.5
times the documents of the other (`momus.inference.studentised`). Both see the same data.

Run:  python benchmarks/validity/skewed_means.py [--quick] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from null_and_power import write_between

from momus.critic.statistic import Statistic, mean
from momus.inference import compare_rows, studentised
from momus.numeric.types import Floats

MEAN = Statistic("mean", "x", "value", mean)
LEVELS = (0.05, 0.005, 0.001)
PERMUTATIONS = 1999
DRAW: Mapping[str, Callable[[np.random.Generator, int], Floats]] = {
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n) - 0.5),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "normal": lambda rng, n: 1 + rng.normal(size=n),
    "gamma, shape 2": lambda rng, n: rng.gamma(2.0, 0.5, size=n),
    "1 in 20": lambda rng, n: 20.0 * (rng.random(n) < 0.05),
    "1 in 20, 20 of 1": lambda rng, n: 1 + 0.05 * rng.normal(size=n) + 20.0 * ((rng.random(n) < 0.05) - 0.05),
}
"""Distributions of mean 1."""


@dataclass(frozen=True)
class Cell:
    """Distributions and sizes of both texts, and what is added to the generated one."""

    real: tuple[str, int]
    generated: tuple[str, int]
    shift: float = 0.0

    @property
    def label(self) -> str:
        """As in the table."""
        sides = " \\| ".join(f"{name} {n}" for name, n in (self.real, self.generated))
        return f"{sides} | {self.shift:+g}" if self.shift else f"{sides} | 0"


CELLS = (
    *(Cell(("log-normal", n), ("exponential", m)) for n in (8, 50, 500) for m in (8, 50, 500)),
    Cell(("log-normal", 50), ("normal", 500)),
    Cell(("gamma, shape 2", 50), ("log-normal", 500)),
    Cell(("exponential", 50), ("exponential", 500)),
    Cell(("log-normal", 50), ("log-normal", 50)),
    Cell(("log-normal", 8), ("log-normal", 50)),
    Cell(("normal", 8), ("normal", 50)),
    Cell(("1 in 20", 50), ("1 in 20", 500)),
    Cell(("1 in 20, 20 of 1", 8), ("normal", 50)),
    Cell(("1 in 20, 20 of 1", 8), ("1 in 20, 20 of 1", 8)),
)
"""Cells without a difference."""
SHIFTED = (
    *(Cell(("log-normal", 50), ("exponential", 500), d) for d in (-0.4, 0.4)),
    *(Cell(("exponential", 50), ("exponential", 500), d) for d in (-0.4, 0.4)),
    *(Cell(("log-normal", 50), ("log-normal", 500), d) for d in (-0.5, 0.5)),
    Cell(("normal", 20), ("normal", 200), 0.6),
    Cell(("log-normal", 50), ("log-normal", 50), 0.6),
)
"""Cells with one."""


def p_values(cell: Cell, seed: int) -> tuple[float, float]:
    """p of one pair of texts by T, and by the test that Momus uses."""
    rng = np.random.default_rng([seed, (*CELLS, *SHIFTED).index(cell)])
    sides = [DRAW[name](rng, n) for name, n in (cell.real, cell.generated)]
    sides[1] = sides[1] + cell.shift
    real, generated = ({"x": np.column_stack([x, np.ones(len(x))])} for x in sides)
    found = []
    for unequal in (np.inf, UNEQUAL):
        studentised.UNEQUAL = unequal
        (result,) = compare_rows([MEAN], real, generated, permutations=PERMUTATIONS, seed=seed, family=1, threads=1)
        found.append(result.p)
    return found[0], found[1]


UNEQUAL = studentised.UNEQUAL


def table(cells: Sequence[Cell], replications: int) -> str:
    """Share of pairs of texts with p up to each level."""
    heads = [f"{name}, {level:g}" for name in ("T", "transformed") for level in LEVELS]
    lines = [
        f"R = {replications:,}:",
        "",
        f"| real \\| generated | difference | {' | '.join(heads)} |",
        "|---|---:|" + "---:|" * len(heads),
    ]
    for cell in cells:
        p = np.array([p_values(cell, seed) for seed in range(replications)])  # (R, 2)
        shares = [float((p[:, k] <= level * (1 + 1e-9)).mean()) for k in (0, 1) for level in LEVELS]
        lines.append(
            f"| {cell.label} | {' | '.join(f'{s:.3f}' if i % 3 == 0 else f'{s:.4f}' for i, s in enumerate(shares))} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="50 replications")
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args(arguments)
    replications = 50 if a.quick else a.replications
    for name, cells in (("levels", CELLS), ("power", SHIFTED)):
        found = table(cells, replications if name == "levels" else max(replications // 2, 50))
        if a.write:
            write_between(a.write, f"skewed means, {name}", found)


if __name__ == "__main__":
    main()
