"""Gates and changes of an axis of several statistics, of which one is chosen by the data.

*Gate*: all statistics of an axis lie exactly at the limit of 0.5 bands, and the share of gates that fail is at most α.
*Change*: two texts of one model, whose distances to real text differ by chance alone; the mean of the change that is
told, ÷ the mean gap. Documents are normal values, 100 | 100, and statistics are independent.

Run:  python benchmarks/validity/gate_and_diff.py [--replications 1000] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import t
from tabulated import run
from winners import table_of

from momus.history.checks import Limited, decide_distances
from momus.history.kept import KeptRun
from momus.history.moves import _leading
from momus.history.rules import Limit, Rules
from momus.inference import holm
from momus.inference.intervals import of_effect
from momus.joint.gap import Gap
from momus.numeric.types import Floats
from momus.verdicts.table import adjust, with_leading
from momus.verdicts.verdict import Verdict

LIMIT, ALPHA, SIZE = 0.5, 0.05, 100
RULES = Rules(max=(Limit("*", LIMIT),))
STATISTICS = (1, 8, 30)
LIGHT = 20
"""Times as many replications of gates, which take less time."""
ROW = replace(table_of(np.zeros(1), np.random.default_rng(0))[0], critic="axis")


def run_of(effects: Floats, rng: np.random.Generator) -> KeptRun:
    """A run of one axis with a statistic for each effect."""
    rows = table_of(effects, rng, SIZE)
    p = holm([v.p or 0.0 for v in rows]).tolist()
    rows = [
        replace(
            v,
            critic="axis",
            headline=k == 0,
            leads=False,
            statistic=f"s{k}",
            p_in_axis=p[k],
            p_axis=min(p),
        )
        for k, v in enumerate(rows)
    ]
    corpora = [{"name": "real", "role": "real"}, {"name": "g", "role": "generated"}]
    return KeptRun(Path("run"), {"corpora": corpora}, adjust(with_leading(rows)))


def fails(statistics: int, rng: np.random.Generator) -> bool:
    """Whether a gate fails although all statistics lie at its limit."""
    run = run_of(np.full(statistics, LIMIT), rng)
    return decide_distances(run, ["g"], RULES, ALPHA, False)[0][0].status == "failed"


def level(statistics: int, replications: int) -> float:
    """The share of gates that fail at the limit: `fails` for many tables, of which only the largest effect is made.

    The decision about the others is the same, and none lies beyond the limit if the largest does not.
    """
    rng, freedom = np.random.default_rng(statistics), 2 * SIZE - 2
    factor, reach = 1 - 3 / (4 * freedom - 1), float(t.isf(0.025, freedom))
    hits = 0
    for _ in range(replications):
        spread = np.sqrt(rng.chisquare(freedom, statistics) / freedom)
        g = float((rng.normal(LIMIT, math.sqrt(2 / SIZE), statistics) / spread).max()) * factor
        low, high = of_effect(g, math.sqrt(2 / SIZE) * factor, freedom, reach)
        row = replace(ROW, effect=g, effect_low=low, effect_high=high, freedom=freedom)
        rule = Limited("max", "max 0.5", row, RULES.max[0], Gap.of(row), row, statistics)
        hits += rule.check(ALPHA).status == "failed"
    return hits / replications


def change(statistics: int, rng: np.random.Generator) -> tuple[float, float]:
    """The change that is told of two texts of one model, and the gap of the later one."""
    effects = np.full(statistics, LIMIT)
    runs = run_of(effects, rng), run_of(effects, rng)
    name = _leading(runs, "axis", ("g", "g"))
    one, other = (rows_of(run)[name].gap or 0.0 for run in runs)
    return other - one, other


def rows_of(run: KeptRun) -> dict[str, Verdict]:
    """Rows of the axis by statistic."""
    return run.rows("g")["axis"]


def table(replications: int) -> str:
    """Rates of failing gates, and mean changes ÷ mean gaps."""
    lines = [
        f"R = {replications:,} for changes, {LIGHT * replications:,} for gates (standard error 0.0015):",
        "",
        "| statistics of the axis | gate fails at its limit | change ÷ gap |",
        "|---:|---:|---:|",
    ]
    for n in STATISTICS:
        failed = level(n, LIGHT * replications)
        moved = np.mean([change(n, np.random.default_rng([seed, n, 1])) for seed in range(replications)], axis=0)
        lines.append(f"| {n} | {failed:.3f} | {moved[0] / moved[1]:+.3f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, "gate-and-diff", table, 1000)
