"""Slices and wins: how often something is said of a text without change, and how often of one whose slice is broken.

Lengths of documents are lognormal (σ = 0.6). Without change, both texts are drawn from one source: as pairs of answers
to one prompt, as groups of four prompts that share a length, or as texts without prompts in common. A broken slice
loses 40 % of each of its answers; the others keep theirs, or are drawn anew. The gate has the rule
``not-beyond-itself``: one band is as far as 95 % of random halves of the old text lie apart.

Run:  python benchmarks/validity/slices.py [--runs 300] [--out benchmarks/results/slices.md]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from winners import table_of
from yardsticks import wilson

from momus import Corpus, Document
from momus.critic import Statistic, StatisticCritic
from momus.critic.scores import Scores
from momus.history.gate import OF_SLICES
from momus.history.kept import KeptRun
from momus.history.rules import Limit, Rules
from momus.history.slice_checks import Bound, decide_slices, p_beyond
from momus.joint.axes import AxisRows
from momus.joint.better import Preference
from momus.joint.nearer import nearer_in_slices
from momus.joint.partners import interval
from momus.joint.ranks import Joint
from momus.joint.slice_tests import slices_of
from momus.joint.slices import Slices, codes_of, together
from momus.numeric.types import Floats
from momus.report.words.slices import slice_sentences
from momus.verdicts.settings import Settings

SIGMA, LOSS, LEVELS = 0.6, 0.4, (0.05, 0.01)
MEAN = "mean_length"


class Words(StatisticCritic):
    """The number of words, which the scores hold already."""

    name, axis, question = "length", "length of documents", "How long?"

    def fit(self, real: Corpus) -> Words:
        """Nothing to learn."""
        return self

    def sufficient_statistics(self, latents: object) -> dict[str, Floats]:
        """Not called: scores are built here."""
        return {}

    def statistics(self) -> tuple[Statistic, ...]:
        """Mean length."""
        return (Statistic.ratio(MEAN, "words", "mean length", ("shorter", "longer"), unit="words"),)


def scores(name: str, values: Floats, prompts: bool, groups: list[str]) -> Scores:
    """Scores of documents with these values."""
    n = len(values)
    rows = {"words": np.column_stack([values, np.ones(n)])}
    names = [f"p{i}" if prompts else None for i in range(n)]
    ids = [f"{name}{i}" for i in range(n)]
    return Scores("length", name, ids, names, np.zeros(n), np.ones(n, int), [None] * n, rows, groups=groups)


def judged(old: Floats, new: Floats, kinds: list[str], design: str, seed: int) -> Slices:
    """The slices of two texts of given lengths."""
    groups = [f"g{i // 4}" for i in range(len(old))] if design == "groups" else []
    sides = [scores(name, v, design != "documents", groups) for name, v in (("old", old), ("new", new))]
    fields = [
        Corpus.from_documents([Document(f"{name}{i}", (), fields={"kind": k}) for i, k in enumerate(kinds)], name)
        for name in ("old", "new")
    ]
    (slices,) = together(slices_of(Words(), sides, codes_of(("kind",), fields), Settings(seed=seed)), 0.05)
    return slices


def lengths(rng: np.random.Generator, n: int, design: str) -> Floats:
    """Lengths of one text; those of a group are alike."""
    shared = rng.normal(size=-(-n // 4)).repeat(4)[:n] if design == "groups" else 0.0
    weight = 0.6 if design == "groups" else 0.0
    return np.exp(4 + SIGMA * (weight * shared + math.sqrt(1 - weight**2) * rng.normal(size=n)))


def fails(slices: Slices, old: Floats, level: float) -> bool:
    """Whether the gate fails: a difference is shown to be beyond one band of the whole text."""
    band = 1.96 * 2 * float(old.std()) / math.sqrt(len(old))
    return any(p_beyond(slices, c, Bound("require", "", 1.0, band)) <= level for c in slices.cells)


def share(hits: int, runs: int) -> str:
    """A share with Wilson's interval."""
    low, high = wilson(hits, runs)
    return f"{hits / runs:.3f} [{low:.3f}, {high:.3f}]"


def unchanged(runs: int, n: int, slices: int, design: str) -> list[str]:
    """A row of the table of texts without change."""
    counts = np.zeros(5, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices])
        old, new = (lengths(rng, n, design) for _ in range(2))
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        found = judged(old, new, kinds, design, seed)
        smallest = min(c.p for c in found.cells)
        counts += [*(smallest <= a for a in LEVELS), bool(found.outstanding()), *(fails(found, old, a) for a in LEVELS)]
    return [design, f"{n:,}", str(slices), *(share(int(c), runs) for c in counts)]


def broken(runs: int, n: int, slices: int, design: str, anew: bool) -> list[str]:
    """A row of the table of texts with one broken slice."""
    counts = np.zeros(3, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 1])
        old = lengths(rng, n, design)
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        new = np.where(np.array(kinds) == "k0", (1 - LOSS) * old, lengths(rng, n, design) if anew else old)
        found = judged(old, new, kinds, design, seed)
        named = [line.startswith("By kind, new differs only in k0,") for line in slice_sentences([found], "old")]
        other = any(c.name != "k0" for c in found.outstanding())
        counts += [fails(found, old, LEVELS[0] * OF_SLICES / (1 + OF_SLICES)), any(named), other]
    size = f"{kinds.count('k0')} of {n}"
    return [design, size, str(slices), "drawn anew" if anew else "kept", *(share(int(c), runs) for c in counts)]


LIMIT = 20.0
"""Percent of the reference by which a text may be worse where that is decided by preferences."""


def gated(rules: Rules, joint: Joint) -> set[str]:
    """The axes and slices that fail a gate by what is better, at the level that slices have."""
    row = replace(table_of(np.zeros(1), np.random.default_rng(0))[0], critic="length", axis="length", generated="new")
    corpora = [{"name": "old", "role": "real"}, {"name": "new", "role": "generated"}]
    run = KeptRun(Path("run"), {"corpora": corpora, "against": "old"}, [replace(row, statistic=MEAN, reference="old")])
    run.__dict__["joint"] = joint  # as if it were read
    checks, _ = decide_slices(run, ["new"], rules, LEVELS[0] * OF_SLICES / (1 + OF_SLICES))
    return {c.axis for c in checks if c.status == "failed"}


def required(runs: int, n: int, slices: int, fall: float, everywhere: bool) -> list[str]:
    """A row of the table of gates that pass only if no slice is shown to be worse than the limit, of one that is."""
    rules = Rules(
        max=(Limit.parse(f"length={LIMIT} % worse"),), better=(Preference.parse("length=more"),), require=("not-worse",)
    )
    counts = np.zeros(2, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 3])
        old = lengths(rng, n, "pairs")
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        # answers to one prompt are alike, and those of a slice fall
        fell = np.where((np.array(kinds) == "k0") | everywhere, 1 - fall, 1.0)
        new = old * fell * np.exp(0.2 * rng.normal(size=n) - 0.02)
        failed = gated(rules, Joint(slices=(judged(old, new, kinds, "pairs", seed),)))
        counts += [not failed, any(axis.endswith("in k0") for axis in failed)]
    where = "all" if everywhere else "one"
    return [f"{n:,}", str(slices), f"{100 * fall:g} % in {where}", *(share(int(c), runs) for c in counts)]


def nearness(runs: int, n: int, slices: int, loss: float) -> list[str]:
    """A row of the table of gates that fail if a slice is shown to be farther from people than the reference."""
    rules, counts = Rules(better=(Preference.parse("length=nearer:human"),)), np.zeros(3, dtype=int)
    statistic, names = Words().statistics()[0], ("real", "old", "new")
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 4])
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        values = dict(zip(names, (lengths(rng, n, "pairs") for _ in names), strict=True))
        values["new"] = np.where(np.array(kinds) == "k0", 1 - loss, 1.0) * values["new"]
        texts = [
            Corpus.from_documents(
                [Document(f"{i}", (), prompt=f"p{i}", fields={"kind": k}) for i, k in enumerate(kinds)], x
            )
            for x in names
        ]
        rows = {x: np.column_stack([v, np.ones(n)]) for x, v in values.items()}
        axis = AxisRows("length", "length", statistic, rows, {x: np.ones(n, dtype=bool) for x in names}, values)
        codes = codes_of(("kind",), texts)
        near = nearer_in_slices([axis], {"length": 0.1}, texts, codes, Settings(seed=seed))
        sliced = judged(values["old"], values["new"], kinds, "pairs", seed)
        failed = gated(rules, Joint(slices=(sliced,), nearer_in_slices=near))
        here = any(axis.endswith("in k0") for axis in failed)
        counts += [bool(failed), here, len(failed) > here]
    lost = f"{100 * loss:g} % in one" if loss else "nothing"
    return [f"{n:,}", str(slices), lost, *(share(int(c), runs) for c in counts)]


def wins(runs: int, n: int, grouped: bool, true: float) -> list[str]:
    """A row of the table of intervals of wins: how often they hold the true share."""
    from scipy.stats import norm

    groups = np.arange(n) // 4 if grouped else np.arange(n)
    weight, held = 0.6 if grouped else 0.0, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, 2])
        shared = rng.normal(size=n)[groups]
        value = weight * shared + math.sqrt(1 - weight**2) * rng.normal(size=n)
        low, high = interval(value < norm.ppf(true), groups, 0.05)
        held += low <= true <= high
    return [f"{n:,}", "groups of 4" if grouped else "prompts", f"{true:g}", share(held, runs)]


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/slices.md"))
    asked = parser.parse_args()
    runs, start = asked.runs, time.process_time()
    sizes = ((200, 5), (200, 10), (1000, 20), (1000, 50))
    level = [
        unchanged(runs, n, k, d)
        for d in ("pairs", "groups", "documents")
        for n, k in sizes
        if d != "groups" or n // k >= 40
    ]
    power = [
        broken(runs, 200, 10, "pairs", False),
        broken(runs, 200, 10, "pairs", True),
        broken(runs, 1000, 10, "pairs", True),
        broken(runs, 1000, 10, "documents", True),
        broken(runs, 1000, 50, "pairs", False),
    ]
    must = [
        required(4 * runs, n, k, fall, everywhere)
        for n, k in ((200, 5), (1000, 10))
        for fall, everywhere in ((0.0, False), (LIMIT / 100, False), (LIMIT / 100, True), (2 * LIMIT / 100, False))
    ]
    near = [nearness(runs, n, k, loss) for n, k in ((200, 5), (200, 10), (1000, 10)) for loss in (0.0, LOSS)]
    shares = [wins(4 * runs, n, g, t) for n in (100, 200) for g in (False, True) for t in (0.5, 0.8)]
    said = ["said to differ, .05", "said to differ, .01", "named in a sentence", "gate fails, .05", "gate fails, .01"]
    text = f"""# Slices and wins

Written by `benchmarks/validity/slices.py`: {runs} runs a row, one statistic (length, lognormal), 999 relabellings,
{time.process_time() - start:.0f} CPU s. Intervals are Wilson's, 95 %.

## Texts without change

{table(["design", "documents", "slices", *said], level)}
## One slice loses 40 % of each answer

The gate decides slices at four fifths of .05, since the axes of the whole text have the rest. Within the broken slice,
new answers are cut from the old ones; in the others they are kept, or drawn anew.

{table(["design", "broken", "slices", "others", "gate fails", "slice named", "another slice named"], power)}
## What must be shown in each slice

`--better length=more --max "length={LIMIT:g} % worse" --require not-worse`, {4 * runs:,} runs a row: pairs of answers
whose lengths are alike (σ = 0.2), of which one slice, or all, fall. A gate that passes although a slice fell by the limit
or more is in error, which is to happen in four fifths of .05 at most.

{table(["prompts", "slices", "fall", "gate passes", "the slice fails"], must)}
## Nearness to people in each slice

`--better length=nearer:human`, {runs:,} runs a row: people, the reference and the new text are drawn from one source,
and the new text loses 40 % of one slice, or nothing.

{table(["prompts", "slices", "loses", "gate fails", "by that slice", "by another"], near)}
## Shares of wins: the interval holds the true share

{4 * runs:,} runs a row.

{table(["prompts", "units", "share", "holds"], shares)}"""
    asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
