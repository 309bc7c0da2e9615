"""Do intervals of labels that err hold the truth once a few true labels correct them, and how wide are they?

Two texts of 1,000 documents; a judge labels all, with other errors on each text, and 60 documents of each have true
labels, too. The interval of the difference in share of ``yes`` beside that of the true labels alone, and of the judge
alone; also over groups of five documents that share most of their label. A judge labels by a normal score above 0, or
gives the probability of yes that the score means where half of the documents were yes.

Run:  python benchmarks/validity/gold.py [--repeats 1000] [--out DIR]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from momus.critic.statistic import Statistic
from momus.inference.design import Design
from momus.inference.prediction_powered import corrected
from momus.inference.result import TestResult
from momus.inference.testing import compare_one
from momus.numeric.types import Floats, Ints
from momus.report.words.format import markdown_table

N, KNOWN, GROUP = 1000, 60, 5
SEED = 1
"""Seeds 0 and 7 served to choose how far corrections are widened, so they are not reported."""
Judge = tuple[tuple[float, float], tuple[float, float]]
JUDGES: dict[str, tuple[Judge, bool]] = {
    "sensitivity .8, specificity .7 and .9, .8": (((0.8, 0.7), (0.9, 0.8)), False),
    "the same, with probabilities": (((0.8, 0.7), (0.9, 0.8)), True),
    "sensitivity .95, specificity .9 and .9, .95": (((0.95, 0.9), (0.9, 0.95)), False),
    "errs on one text alone: 1, 1 and .7, .7": (((1.0, 1.0), (0.7, 0.7)), False),
}
"""Sensitivity and specificity on each text, and whether the judge gives probabilities."""
SHARES = ((0.3, 0.3), (0.3, 0.4))
YES = Statistic.share("yes", "yes", "yes")


def tested(sides: list[Floats], seed: int, groups: list[Ints] | None) -> TestResult:
    """The test of two texts of one column."""
    rows = [np.column_stack([side, np.ones(len(side))]) for side in sides]
    design = None if groups is None else Design.clusters(*groups)
    return compare_one(YES, rows[0], rows[1], permutations=999, seed=seed, design=design)


def judged(scores: Floats, judge: tuple[float, float], soft: bool) -> Floats:
    """Labels of documents, or probabilities: of N(Φ⁻¹(sensitivity), 1) if yes, of N(−Φ⁻¹(specificity), 1) if no."""
    if not soft:
        return (scores > 0).astype(float)
    a, b = norm.ppf(judge)
    return np.asarray(expit((a + b) * scores + (b**2 - a**2) / 2))


def once(rng: np.random.Generator, judge: Judge, soft: bool, shares: tuple[float, float], grouped: bool):
    """Labels corrected by gold, gold alone and the judge alone, of both texts."""
    columns: list[list[Floats]] = [[], [], []]
    for share, errors in zip(shares, judge, strict=True):
        y = (rng.random(N) < share).astype(float)
        if grouped:  # a document has the label of its group in half of the cases
            of_group = np.repeat(rng.random(N // GROUP) < share, GROUP)
            y = np.where(rng.random(N) < 0.5, of_group, y).astype(float)
        a, b = norm.ppf(errors)
        f = judged(np.where(y == 1, a, -b) + rng.normal(size=N), errors, soft)
        known = rng.choice(N, KNOWN, replace=False)
        ppi = corrected(f[:, None], y[known, None], known, np.full(KNOWN, N / KNOWN))[:, 0]
        for column, values in zip(columns, (ppi, y[known], f), strict=True):
            column.append(values)
    return columns


def correlation(judge: tuple[float, float], share: float, soft: bool) -> float:
    """The correlation of the truth with what can best be said of it, E[truth | label]."""
    sensitivity, specificity = judge
    if soft:
        a, b = norm.ppf(judge)
        s = np.linspace(-9.0, 9.0, 20_001)
        yes, both = share * norm.pdf(s - a), share * norm.pdf(s - a) + (1 - share) * norm.pdf(s + b)
        explained = float(np.trapezoid(yes**2 / both, s)) - share**2
        return float(np.sqrt(explained / (share * (1 - share))))
    yes = share * sensitivity + (1 - share) * (1 - specificity)
    return share * (sensitivity - yes) / float(np.sqrt(share * (1 - share) * yes * (1 - yes)))


def narrowest(judge: Judge, soft: bool, shares: tuple[float, float]) -> float:
    """Least width of an interval of the difference ÷ that of gold alone, of independent documents.

    The variance of a mean has the efficiency bound (1 − ρ²(1 − n/N)) σ²/n if labels are all that is known of the others
    (Robins, Rotnitzky & Zhao 1994).
    """
    variances = np.array([share * (1 - share) for share in shares])
    left = [1 - correlation(j, share, soft) ** 2 * (1 - KNOWN / N) for j, share in zip(judge, shares, strict=True)]
    return float(np.sqrt(variances @ left / variances.sum()))


def by_information(judge: tuple[float, float], share: float) -> float:
    """The same for one text and hard labels, by another way: the inverse Fisher information of all three parameters."""

    def log_cells(parameters: Floats) -> Floats:
        p, sensitivity, specificity = parameters
        joint = np.array([p * sensitivity, p * (1 - sensitivity), (1 - p) * (1 - specificity), (1 - p) * specificity])
        return np.log(np.concatenate([joint, [joint[0] + joint[2], joint[1] + joint[3]]]))  # with and without truth

    at, step = np.array([share, *judge]), 1e-6
    slopes = np.array([(log_cells(at + e) - log_cells(at - e)) / (2 * step) for e in step * np.eye(3)])  # (3, 6)
    weights = np.exp(log_cells(at)) * np.repeat([KNOWN, N - KNOWN], [4, 2])
    variance = np.linalg.inv(slopes * weights @ slopes.T)[0, 0]
    return float(np.sqrt(variance * KNOWN / (share * (1 - share))))


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gold.md"))
    a = parser.parse_args()
    rows = []
    for name, (judge, soft) in JUDGES.items():
        for shares in SHARES:
            for grouped in (False, True):
                rng = np.random.default_rng(SEED)
                covers, widths, rejected = np.zeros(3), np.zeros(2), 0
                numbers = [np.repeat(np.arange(N // GROUP), GROUP)] * 2 if grouped else None
                for seed in range(SEED * a.repeats, (SEED + 1) * a.repeats):
                    ppi, gold, alone = once(rng, judge, soft, shares, grouped)
                    results = tested(ppi, seed, numbers), tested(gold, seed, None), tested(alone, seed, numbers)
                    difference = shares[1] - shares[0]
                    covers += [r.low <= difference <= r.high for r in results]
                    widths += [r.high - r.low for r in results[:2]]
                    rejected += results[0].p <= 0.05
                cells = [f"{c / a.repeats:.3f}" for c in covers]
                ratio = f"{widths[0] / widths[1]:.2f}"
                kind = "groups of 5" if grouped else "documents"
                rho = " and ".join(f"{correlation(j, share, soft):.2f}" for j, share in zip(judge, shares, strict=True))
                bound = "" if grouped else f"{narrowest(judge, soft, shares):.2f}"
                row = [name, f"{shares[0]} and {shares[1]}", rho, kind, *cells, ratio, bound]
                rows.append([*row, f"{rejected / a.repeats:.3f}"])
                print(*rows[-1], sep=" | ", flush=True)
    heads = ["judge on each text", "true shares", "ρ", "units", "interval holds the truth", "gold alone", "judge alone"]
    heads += ["width ÷ gold alone", "least possible", "told apart"]
    note = f"`python benchmarks/validity/gold.py`; {N} | {N} documents, {KNOWN} | {KNOWN} true labels, R = {a.repeats}."
    rho, rest = correlation((0.8, 0.7), 0.3, False), 1 - KNOWN / N
    informed = by_information((0.8, 0.7), 0.3)
    factor, needed = np.sqrt(1 - rho**2 * rest), np.sqrt((1 - 0.75**2) / rest)
    bound = (
        "*Least possible*: no estimate that knows no more of the other documents than the judge's label has an "
        "interval narrower than √(1 − ρ²(1 − n/N)) times that of gold alone, where ρ is the correlation of label "
        "and truth, and n of N documents are gold (Robins, Rotnitzky & Zhao 1994). With sensitivity .8, "
        f"specificity .7 and a share of .3, ρ is {rho:.2f} and the factor {factor:.3f} (by the inverse Fisher "
        f"information of share, sensitivity and specificity: {informed:.3f}); one of .75 takes ρ = {needed:.2f}. Of "
        "probabilities, ρ is that of the truth and its best prediction. Intervals here are wider, as 60 documents tell "
        "neither λ nor the errors exactly: they are widened to hold the truth."
    )
    table = markdown_table(heads, rows)
    a.out.write_text(f"# Labels that err, corrected by true ones\n\n{note}\n\n{bound}\n\n{table}\n")


if __name__ == "__main__":
    main()
