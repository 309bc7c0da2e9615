"""The largest gap of a table: how far its size is from the truth, and how often its interval holds it.

Each axis is one value of every document, of 60 | 60 documents, and the texts lie apart by some standard deviations on
each. The axis with the largest gap is the one that a report tells first. *As measured* are its effect and the 95 %
interval of its own test; *after selection* what `momus.verdicts.table.held` makes of them.

Run:  python benchmarks/validity/winners.py [--replications 1000] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats
from tabulated import run

from momus.inference.intervals import of_effect
from momus.inference.result import Method
from momus.numeric.types import Floats
from momus.verdicts.table import held
from momus.verdicts.verdict import Verdict

ALPHA = 0.05
SIZE = 60
TABLES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "20 axes of 0.3": lambda rng: np.full(20, 0.3),
    "20 axes, half-normal 0.2": lambda rng: np.abs(0.2 * rng.normal(size=20)),
    "2 axes of 0.6 and 18 of 0": lambda rng: np.repeat([0.6, 0.0], [2, 18]),
    "5 axes of 0.6, 5 of 0.3, 10 of 0": lambda rng: np.repeat([0.6, 0.3, 0.0], [5, 5, 10]),
    "1 axis of 0.5": lambda rng: np.full(1, 0.5),
    "3 axes of 0.3": lambda rng: np.full(3, 0.3),
    "50 axes of 0.3": lambda rng: np.full(50, 0.3),
    "20 axes of 1": lambda rng: np.full(20, 1.0),
    "20 axes from 0 to 1": lambda rng: np.linspace(0, 1, 20),
}
"""True effects of the axes of a table."""


def table_of(effects: Floats, rng: np.random.Generator, n: int = SIZE) -> list[Verdict]:
    """Rows of a table of normal values, n | n, whose means lie so many standard deviations apart."""
    values = rng.normal(size=(2, len(effects), n)) + np.stack([np.zeros_like(effects), effects])[:, :, None]
    freedom = 2 * n - 2
    factor = (1 - 3 / (4 * freedom - 1)) / np.sqrt(values.var(axis=2, ddof=1).mean(axis=0))  # (axes,)
    difference = values[1].mean(axis=1) - values[0].mean(axis=1)
    error = np.sqrt(values.var(axis=2, ddof=1).sum(axis=0) / n)
    p = 2 * stats.t.sf(np.abs(difference / error), freedom)
    reach = float(stats.t.isf(ALPHA / 2, freedom))
    rows = []
    for k in range(len(effects)):
        low, high = of_effect(difference[k] * factor[k], error[k] * factor[k], freedom, reach)
        rows.append(Verdict(
            "mean", effect=difference[k] * factor[k], effect_low=low, effect_high=high, effect_kind="hedges_g",
            p=p[k], p_axis=p[k], p_in_axis=p[k], freedom=freedom, method=Method(test="permutation"),
            critic=str(k), axis=str(k), unit="document", generated="g", unscored_real=0, unscored_generated=0,
            headline=True, p_adjusted=p[k], band=1.0, leads=True,
        ))  # fmt: skip
    return rows


def winner(effects: Floats, rng: np.random.Generator) -> tuple[float, ...]:
    """True effect of the largest gap, its size as measured and after selection, and whether both intervals hold it."""
    rows = held(table_of(effects, rng))
    k = max(range(len(rows)), key=lambda k: rows[k].gap or 0.0)
    v = rows[k]
    assert v.effect is not None
    assert v.gap is not None
    low, high = v.leading_effect_interval or (np.nan, np.nan)
    plain = (v.effect_low or 0.0) <= effects[k] <= (v.effect_high or 0.0)
    # a size is told with its sign: one in the wrong direction is that of a negative effect
    return float(effects[k] * np.sign(v.effect)), v.gap, v.leading_gap or 0.0, plain, low <= effects[k] <= high


def measured(name: str, replications: int) -> Floats:
    """Means over replications of what `winner` tells, (5,)."""
    made = [(TABLES[name], np.random.default_rng([seed, *name.encode()])) for seed in range(replications)]
    return np.array([winner(effects(rng), rng) for effects, rng in made]).mean(axis=0)


def table(replications: int) -> str:
    """Printed size ÷ true size of the largest gap, and coverage of its interval."""
    lines = [
        f"R = {replications:,}, {SIZE} \\| {SIZE} documents:",
        "",
        "| true effects | as measured ÷ true | 95 % interval | after selection ÷ true | 95 % interval |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in TABLES:
        true, plain, after, covers, holds = measured(name, replications)
        lines.append(f"| {name} | {plain / true:.2f} | {covers:.3f} | {after / true:.2f} | {holds:.3f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, "winners", table, 1000)
