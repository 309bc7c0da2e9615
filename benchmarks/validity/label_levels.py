"""How often does the axis of a label differ between halves of one text, by the type of the labels?

Texts of 2,000 documents, labelled at random; five sizes, halves of documents and of whole groups of five, of which a
document has the label of its group in half of the cases. Level .05.

Few documents with few labels have few different tables, so that a valid test rejects in less than .05 of them. Two
checks say whether that is all: the level that a yes-no share can have, by enumeration, and the same test of labels of
which each is unsure by a random thousandth at most, which leaves no ties.

Run:  python benchmarks/validity/label_levels.py [--splits 1000] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import binom, hypergeom

from momus import Corpus, Document, Section
from momus.calibration import calibrate
from momus.progress import Silent
from momus.report.words.format import markdown_table

N, GROUP = 2000, 5
SIZES = ((20, 20), (50, 50), (100, 100), (200, 200), (50, 200))
MOVES = {"ask": {"ask": 0.2, "search": 0.8}, "search": {"search": 0.3, "answer": 0.7}, "answer": {"ask": 0.4, "": 0.6}}
Draw = Callable[[np.random.Generator], object]
PERMUTATIONS = 499
YES, UNSURE = 0.2, 1e-3
SET = (("short", 0.1), ("polite", 0.5), ("sure", 0.8))


def _moves(rng: np.random.Generator) -> list[str]:
    steps, step = [], "ask"
    while step:
        steps.append(step)
        step = str(rng.choice(list(MOVES[step]), p=list(MOVES[step].values())))
    return steps


def _unsure(rng: np.random.Generator, label: str, others: list[str]) -> dict[str, float]:
    """The label with a probability of nearly 1."""
    left = dict.fromkeys(others, 0.0) | {others[rng.integers(len(others))]: UNSURE * rng.random()}
    return {label: 1 - sum(left.values()), **left}


def _tone(rng: np.random.Generator) -> str:
    return str(rng.choice(["warm", "curt", "flat"], p=[0.6, 0.3, 0.1]))


def _unsure_tone(rng: np.random.Generator) -> dict[str, float]:
    tone = _tone(rng)
    return _unsure(rng, tone, [name for name in ("warm", "curt", "flat") if name != tone])


TYPES: dict[str, Draw] = {
    "category": _tone,
    "yes-no": lambda rng: bool(rng.random() < YES),
    "set": lambda rng: [n for n, p in SET if rng.random() < p],
    "number": lambda rng: round(float(rng.normal(3, 2)), 6),
    "share": lambda rng: round(float(rng.beta(2, 5)), 6),
    "sequence": _moves,
}
UNTIED: dict[str, Draw] = {
    "category": _unsure_tone,
    "yes-no": lambda rng: _unsure(rng, *(("yes", ["no"]) if rng.random() < YES else ("no", ["yes"]))),
    "set": lambda rng: {n: abs(float(rng.random() < p) - UNSURE * rng.random()) for n, p in SET},
}
"""The same labels, none of them sure."""


def attainable(real: int, generated: int) -> float:
    """How often the permutation test of a yes-no share rejects at .05: twice the smaller tail, all of it enumerated."""
    level = 0.0
    for total in range(real + generated + 1):
        split = hypergeom(real + generated, total, generated)
        k = np.arange(max(0, total - real), min(generated, total) + 1)
        p = np.minimum(2 * np.minimum(split.cdf(k), split.sf(k - 1)), 1.0)
        level += float(binom.pmf(total, real + generated, YES) * split.pmf(k)[p <= 0.05 + 1e-12].sum())
    return level


def text(draw: Draw, n: int, name: str, grouped: bool) -> Corpus:
    """Documents with labels, in groups or not."""
    rng = np.random.default_rng([n, grouped])
    of_group = [draw(rng) for _ in range(n // GROUP)]
    labels = [of_group[i // GROUP] if grouped and rng.random() < 0.5 else draw(rng) for i in range(n)]
    return Corpus.from_documents(
        (
            Document(
                f"{name}{i}",
                (Section(f"Document {i} of {name}."),),
                group=f"{name}{i // GROUP}" if grouped else None,
                fields={"tone": label if isinstance(label, str) else json.dumps(label)},
            )
            for i, label in enumerate(labels)
        ),
        name=name,
    )


def rates(kind: str, draw: Draw, grouped: bool, splits: int) -> list[float]:
    """Levels of one type of labels at all sizes."""
    real, fit = text(draw, N, "real", grouped), text(draw, N // 4, "fit", grouped)
    measured = calibrate(
        real,
        fit=fit,
        critics=["label-tone"],
        config={"label-tone": {"kind": kind}},
        sizes=list(SIZES),
        splits=splits,
        permutations=PERMUTATIONS,
        defects=[],
        by="group" if grouped else "document",
        reporter=Silent(),
    )
    return [cell.alarms(0.05) / cell.tested for cell in measured.cells]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/label-levels.md"))
    a = parser.parse_args()
    rows = []
    plan = [(kind, draw, grouped, "") for kind, draw in TYPES.items() for grouped in (False, True)]
    plan += [(kind, draw, False, ", no ties") for kind, draw in UNTIED.items()]
    for kind, draw, grouped, how in plan:
        levels = rates(kind, draw, grouped, a.splits)
        units = f"groups of {GROUP}" if grouped else f"documents{how}"
        rows.append([kind, units, *(f"{level:.3f}" for level in levels), f"{np.mean(levels):.3f}"])
        print(*rows[-1], sep=" | ", flush=True)
    limits = [attainable(*size) for size in SIZES]
    rows.append(["yes-no", "attainable", *(f"{level:.3f}" for level in limits), f"{np.mean(limits):.3f}"])
    heads = ["type", "units", *(f"{n} | {m}" for n, m in SIZES), "all"]
    error = np.sqrt(0.05 * 0.95 / a.splits)
    note = (
        f"`python benchmarks/validity/label_levels.py`; level .05, {a.splits:,} splits of each size, in units, so with "
        f"a standard error of {error:.3f}.\n\n*No ties*: every label is unsure, by a random number up to {UNSURE:g}. "
        f"*Attainable*: how often the permutation test of a share of {YES:.0%} rejects, over all tables of its size: "
        "small texts have few tables, and a test that never exceeds .05 falls short of it there."
    )
    a.out.write_text(f"# Levels of labels by type\n\n{note}\n\n{markdown_table(heads, rows)}\n")


if __name__ == "__main__":
    main()
