"""Many models: simultaneous ranks, and plans, on simulated documents.

Documents have values on several axes; the code that is measured is that of Momus (`ranks`, `plan`).

* Ranks: how often a simultaneous statement "nearer" is false for any pair of models. Ties count: the intervals must
  hold all ranks that tied models could have.
* Plans: a pilot is drawn, documents are planned for a true difference with 80 % power, and a new comparison of that
  size is drawn and tested.

Run:  python benchmarks/validity/models.py [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import stats

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, mean_gap
from momus.inference.result import TestResult
from momus.inference.testing import compare_rows
from momus.joint.axes import AxisRows
from momus.joint.planning import plan
from momus.joint.ranks import ALL_AXES, ranks
from momus.numeric.types import Floats
from momus.verdicts.verdict import Verdict

ALPHA = 0.05
MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
DIFFERENCE = Statistic("mean", "x", "value", mean)
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)
EDGES = stats.norm.ppf(np.arange(1, 20) / 20)
HEADER = "\n## Many axes and many models\n\n<!-- models -->\n<!-- end of models -->\n"


def rate(hits: int, n: int) -> str:
    """A share with its 95 % Clopper–Pearson interval."""
    interval = stats.binomtest(hits, n).proportion_ci(0.95, method="exact")
    return f"{hits / n:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def rows_of(statistic: Statistic, x: Floats) -> Floats:
    """Rows of documents with these values: [value, 1], or a count in one of 20 bins."""
    if statistic.kind == "value":
        return np.column_stack([x, np.ones(len(x))])
    return np.eye(len(EDGES) + 1)[np.searchsorted(EDGES, x)]


def axis_of(name: str, statistic: Statistic, values: dict[str, Floats]) -> AxisRows:
    """An axis whose documents are all scored."""
    scored = {c: np.ones(len(x), dtype=bool) for c, x in values.items()}
    return AxisRows(name, name, statistic, {c: rows_of(statistic, x) for c, x in values.items()}, scored, values)


SCENES: dict[str, tuple[float, ...]] = {
    "all equal to the real text": (0, 0, 0, 0, 0),
    "two on either side, tied": (-0.1, 0.1, 0.1, 0.5, -0.5),
    "spread": (0, 0.15, -0.3, 0.5, 0.8),
}


def false_order(nearer_ranks: list[tuple[int, int]], truth: Floats) -> bool:
    """Whether an interval lacks a rank that its model could have: ties may be ordered either way."""
    for (low, high), d in zip(nearer_ranks, truth, strict=True):
        if low > 1 + int((truth < d - 1e-12).sum()) or high < len(truth) - int((truth > d + 1e-12).sum()):
            return True
    return False


def rank_table(replications: int, n: int = 80) -> str:
    """Coverage of the simultaneous rank intervals, and their mean width."""
    heads = ["mean", "KS distance", "all axes (2 means, 1 KS)"]
    lines = ["| models | prompts | " + " | ".join(heads) + " | mean width |", "|---|---|" + "---:|" * 4]
    for label, shifts in SCENES.items():
        for shared in (True, False):
            rng = np.random.default_rng([2, shared])
            truth, misses, width = np.abs(np.array(shifts)), np.zeros(3, dtype=int), 0.0
            models = [f"m{k}" for k in range(len(shifts))]
            for r in range(replications):
                level = rng.normal(size=(n, 3)) * shared  # of prompts, which all corpora share
                values = {
                    c: level * np.sqrt(0.5) + rng.normal(size=(n, 3)) * np.sqrt(1 - 0.5 * shared) + d
                    for c, d in zip(["real", *models], (0.0, *shifts), strict=True)
                }
                axes = [
                    axis_of(name, s, {c: v[:, a] for c, v in values.items()})
                    for a, (name, s) in enumerate((("a", MEAN), ("b", KS), ("c", MEAN)))
                ]
                ids = {c: [str(i) if shared else None for i in range(n)] for c in values}
                found = ranks(axes, "real", models, ids, bands={"a": 0.2, "b": 0.1, "c": 0.2}, resamples=299, seed=r)
                by = {(row.axis, row.model): (row.rank_low, row.rank_high) for row in found.rows}
                for i, axis in enumerate(("a", "b", ALL_AXES)):
                    misses[i] += false_order([by[axis, m] for m in models], truth)
                width += np.mean([by[ALL_AXES, m][1] - by[ALL_AXES, m][0] for m in models])
            cells = [rate(replications - int(m), replications) for m in misses]
            kind = "shared" if shared else "none"
            lines.append(f"| {label} | {kind} | " + " | ".join(cells) + f" | {width / replications:.2f} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def verdict_of(result: TestResult) -> Verdict:
    """The headline row of one test."""
    of = {"critic": "x", "axis": "x", "unit": "", "generated": "g"}
    return Verdict(**vars(result), **of, unscored_real=0, unscored_generated=0, headline=True)


def planned(statistic: Statistic, n: int, shift: float, aimed: float, replications: int) -> tuple[int, Floats]:
    """How often a comparison of the planned size rejects, and the planned sizes."""
    rng = np.random.default_rng([3, n, statistic.kind == "value"])

    def test(size: int, permutations: int) -> TestResult:
        one, other = (rows_of(statistic, rng.normal(size=size) + d) for d in (0.0, shift))
        return compare_rows(
            [statistic], {"x": one}, {"x": other}, permutations=permutations, resamples=99, threads=1, seed=0
        )[0]

    hits, sizes = 0, np.zeros(replications)
    for r in range(replications):
        found = plan([verdict_of(test(n, 499))], difference=aimed)[0]
        sizes[r] = found.documents()[0]
        hits += test(int(sizes[r]), 999).p <= ALPHA
    return hits, sizes


def plan_table(replications: int) -> str:
    """Achieved power of planned comparisons."""
    lines = [
        "| statistic | pilot | true difference | planned documents: median, 5 to 95 % | achieved power (wanted 0.8) |",
        "|---|---:|---:|---:|---:|",
    ]
    cases = [
        *((DIFFERENCE, 40, 0.4), (DIFFERENCE, 100, 0.3), (DIFFERENCE, 200, 0.5), (MEAN, 40, 0.4), (MEAN, 200, 0.5)),
        *((KS, 60, 0.5), (KS, 100, 0.4), (KS, 200, 0.6)),
    ]
    for statistic, n, shift in cases:
        value = statistic.kind == "value"
        aimed = shift if value else float(np.max(stats.norm.cdf(EDGES) - stats.norm.cdf(EDGES - shift)))
        hits, sizes = planned(statistic, n, shift, aimed, replications)
        low, middle, high = np.quantile(sizes, [0.05, 0.5, 0.95])
        unit = "Hedges' g" if statistic is MEAN else "KS" if statistic is KS else "s.d. = 1"
        lines.append(
            f"| {statistic.name} | {n} \\| {n} | {aimed:.3f} ({unit}) | {middle:.0f}, {low:.0f} to {high:.0f} | "
            f"{rate(hits, replications)} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000, help="per row of the tables")
    parser.add_argument("--only", choices=["ranks", "plans"], help="print one table")
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    begun, r = time.perf_counter(), a.replications
    makers = {"ranks": rank_table, "plans": plan_table}
    tables = {name: make(r) for name, make in makers.items() if a.only in (None, name)}
    print(f"{time.perf_counter() - begun:.0f} s")
    if a.write and a.only is None:
        write(a.write, tables, r)


def write(page: Path, tables: dict[str, str], replications: int) -> None:
    """Insert the tables into the page."""
    from null_and_power import write_between

    text = f"""**Ranks.** Shares of simulated comparisons in which all simultaneous 95 % rank intervals of five models
hold every rank that the model could have (tied models could be ordered either way). 80 documents per corpus, 299
resamples, half of the variance between prompts where these are shared; R = {replications:,} per row. *Mean width* is
the mean number of ranks in an interval over all axes, less 1.

{tables["ranks"]}

**Plans.** Normal values; a pilot is drawn, documents are planned for the true difference (`momus plan --difference`),
and a new comparison of that size is tested at level {ALPHA}; R = {replications:,} per row.

{tables["plans"]}

Brackets are 95 % Clopper–Pearson intervals. Command:
`python benchmarks/validity/models.py --write benchmarks/validity/TABLES.md`
"""
    content = page.read_text(encoding="utf-8")
    if "<!-- models -->" not in content:
        page.write_text(content.rstrip("\n") + "\n" + HEADER, encoding="utf-8")
    write_between(page, "models", text)


if __name__ == "__main__":
    main()
