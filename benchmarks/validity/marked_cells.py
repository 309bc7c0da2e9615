"""What is printed has a level: false marks of whole tables, outliers of new authors.

``arrows``: tables of 20 axes through `momus.verdicts.judge`, `adjust` and `momus.report`. An axis has
a KS distance and a mean. Means are equal and spreads are not, so every axis differs and every arrow is false.
*Unadjusted* is an arrow wherever the interval of one cell excludes 0.
``authors``: the choice of outliers among documents of new authors, where real text has few authors.

Run:  python benchmarks/validity/marked_cells.py arrows authors [--quick] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from null_and_power import write_between

from momus import Corpus
from momus.calibration.rates import Rate
from momus.comparison import Comparison
from momus.critic import Critic, LogPrior, Reporting, Statistic, StatisticsMixin, Values
from momus.critic.scores import Scores
from momus.critic.statistic import kolmogorov_smirnov
from momus.numeric.types import Floats
from momus.outliers.conformal import Calibrated, largest_rank
from momus.runs.answer import answer_of
from momus.verdicts.judge import judge
from momus.verdicts.table import adjust

AXES, BINS = 20, 64
MEAN = Statistic.ratio("mean", "value", "mean", ("lower", "higher"))


class Spread(Critic[Values], StatisticsMixin):
    """One number per document, whose distribution decides and whose mean tells the direction."""

    name = "spread"
    axis = "a number"
    reporting = Reporting(headline="ks")

    def fit(self, real: Corpus) -> Spread:
        """Learn nothing: scores are drawn."""
        return self

    def project(self, batch: Corpus) -> Values:
        """The number of words, where there are texts."""
        return Values(np.array([[len(d.text.split())] for d in batch], dtype=float))

    def log_prior(self, latents: Values) -> LogPrior:
        """The negative distance to 0."""
        return LogPrior.of_vectors(-np.abs(latents.values[:, 0]))

    def sufficient_statistics(self, latents: Values) -> dict[str, Floats]:
        """Rows of the statistics."""
        return dict(scores_of("", latents.values[:, 0]).rows)  # type: ignore[arg-type]

    def statistics(self) -> Sequence[Statistic]:
        """The KS distance and the mean."""
        return (Statistic("ks", "bins", "distance", kolmogorov_smirnov), MEAN)


def scores_of(name: str, x: Floats) -> Scores:
    """Scores of documents with these values."""
    n = len(x)
    at = np.clip(((x + 6) / 12 * BINS).astype(np.int64), 0, BINS - 1)
    rows = {"bins": np.eye(BINS)[at], "value": np.column_stack([x, np.ones(n)])}
    ids = [str(i) for i in range(n)]
    return Scores("spread", name, ids, [None] * n, np.abs(x), np.ones(n, dtype=np.int64), [None] * n, rows)


def arrows(tables: int, n: int = 200) -> str:
    """Share of tables, and of cells, with an arrow; the headline rows of all differ."""
    false = {"unadjusted": [0, 0], "as printed": [0, 0]}
    differ = 0
    for seed in range(tables):
        rng = np.random.default_rng([seed, n])
        rows = []
        for k in range(AXES):
            real, generated = rng.normal(size=n), 2 * rng.normal(size=n)
            found = judge(
                Spread(), scores_of("real", real), scores_of("g", generated), permutations=999, resamples=9, seed=seed,
                family=AXES,
            )  # fmt: skip
            rows += [replace(v, critic=f"axis-{k}", axis=f"axis {k}") for v in found if v.statistic in ("ks", "mean")]
        answer = answer_of(Comparison(verdicts=adjust(rows)))
        cells = [c for axis in answer.axes for c in axis.cells]
        differ += sum(c.differs for c in cells)
        alone = [v.low is not None and v.high is not None and (v.low > 0 or v.high < 0) for v in rows if not v.headline]
        for name, marked in (("unadjusted", alone), ("as printed", [c.sign != 0 for c in cells])):
            false[name][0] += any(marked)
            false[name][1] += sum(marked)
    lines = [
        f"Tables of {AXES} axes, {n} \\| {n} documents, R = {tables:,}; {differ / tables / AXES:.3f} of the cells "
        "differ:",
        "",
        "| arrows | tables with a false one | cells with a false one |",
        "|---|---:|---:|",
    ]
    for name, (some, count) in false.items():
        lines.append(f"| {name} | {_rate(some, tables)} | {count / tables / AXES:.4f} |")
    return "\n".join(lines)


def _rate(count: int, n: int) -> str:
    rate = Rate.of(count, n)
    return f"{rate.share:.3f} [{rate.low:.3f}, {rate.high:.3f}]"


def authors(replications: int, n: int = 300) -> str:
    """Shares of the chosen documents that are not odd, and of the odd documents that are chosen."""
    lines = [
        f"{n} new documents of new authors, of which a share are odd by 6 standard deviations; R = {replications:,}:",
        "",
        "| authors × documents | ICC | odd | rate | by documents: false discoveries | found | by authors: false "
        "discoveries | found |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for k, each, icc, share, fdr in (
        (10, 30, 0.8, 0.1, 0.05),
        (10, 30, 0.5, 0.1, 0.1),
        (10, 30, 0.5, 0.3, 0.2),
        (60, 10, 0.5, 0.3, 0.1),
        (60, 10, 0.8, 0.3, 0.1),
        (200, 3, 0.8, 0.3, 0.05),
    ):
        rates: dict[str, list[tuple[float, float]]] = {"documents": [], "authors": []}
        names = [str(i // each) for i in range(k * each)]
        odd = np.arange(n) % 10 < 10 * share
        for seed in range(replications):
            rng = np.random.default_rng([seed, k, each])
            real, new = (_of_authors(rng, m, each, icc) for m in (k, -(-n // each)))
            new = new[:n] + 6 * odd[:, None]
            order = (each * rng.permutation(k)[:, None] + np.arange(each)).ravel()
            for kind, groups, by in (("documents", (), rng.permutation(k * each)), ("authors", names, order)):
                calibrated = Calibrated.of(real, (False,), by, groups)
                ranks = calibrated.judge(new).ranks
                counts = np.bincount(ranks, minlength=len(calibrated) + 2)
                chosen = ranks <= largest_rank(counts, len(calibrated), fdr)
                false = float((chosen & ~odd).sum() / max(chosen.sum(), 1))
                rates[kind].append((false, float(chosen[odd].mean())))
        cells = " | ".join(f"{v:.3f}" for kind in rates for v in np.mean(rates[kind], axis=0))
        lines.append(f"| {k} × {each} | {icc:g} | {share:g} | {fdr:g} | {cells} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _of_authors(rng: np.random.Generator, k: int, each: int, icc: float) -> Floats:
    return np.repeat(np.sqrt(icc) * rng.normal(size=k), each)[:, None] + np.sqrt(1 - icc) * rng.normal(
        size=(k * each, 1)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=("arrows", "authors"))
    parser.add_argument("--replications", type=int, default=1000, help="tables of arrows: a fifth of them")
    parser.add_argument("--quick", action="store_true", help="20 replications")
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args(arguments)
    r = 20 if a.quick else a.replications
    measured = {
        "arrows": lambda: arrows(max(r // 5, 10)),
        "authors": lambda: authors(r),
    }
    for part in a.parts:
        table = measured[part]()
        print(table, flush=True)
        if a.write:
            write_between(a.write, f"marked cells, {part}", table)


if __name__ == "__main__":
    main()
